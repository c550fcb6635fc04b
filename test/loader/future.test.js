// A layer whose newest tiles are dated in the future: loads, check and doctor warn.
import assert from 'node:assert/strict'
import { check, doctor, load, publish } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { writeMbtiles } from '../sources/mbtiles-writer.js'
import { useFolder } from '../support/answering-server.js'

const [NOW, FAR] = ['2024-01-01T00:00:00Z', '2204-01-01T00:00:00Z']
const sourceOf =
  seed => ({ name: 'x', fields: {}, async * tiles () { yield { z: 3, x: 1, y: 2, read: async () => png(seed) } } })

onEachStore('tiles that are dated in the future', backend => {
  const folder = useFolder()
  const own = useStore(backend)
  let store, url
  beforeEach(() => { ({ store, url } = own) })

  const loaded = (seed, time) => load(store, sourceOf(seed), { layer: 'osm', time })
  const found = async () => {
    const { findings } = await doctor(url)
    return findings.find(({ check: what }) => what === 'osm: editions')
  }

  it('are named by the load that makes them, by every load that meets them, and not by others', async () => {
    assert.equal((await loaded(1, NOW)).warnings, undefined)
    const [made] = (await loaded(2, FAR)).warnings ?? []
    assert.deepEqual([made?.code, made?.details], ['FUTURE_TIME', { layer: 'osm', time: FAR }])
    assert.match(made?.advice, /tilecouch remove/)
    const [met] = (await loaded(3, '2025-01-01T00:00:00Z')).warnings ?? []
    assert.deepEqual([met?.code, met?.details.newest], ['FUTURE_TIME', FAR])
    assert.match(met?.message, /2204-01-01T00:00:00Z/)
  })

  it('are named by check and doctor: an edition once, a tile without one by itself', async function () {
    this.timeout(30000)
    await loaded(1, FAR)
    await store.write([{ layer: 'osm', z: 3, x: 1, y: 3, time: '2205-01-01T00:00:00Z', bytes: png(2) }])
    await publish(store)
    const { kinds, examples } = await check(store)
    assert.equal(kinds['future-time'], 2)
    assert.equal(examples['future-time'].level ?? 'warning', 'warning')
    assert.match(String((await found())?.found), /2205-01-01T00:00:00Z/)
    assert.equal((await found())?.state, 'warning')
    const [met] = (await loaded(3, NOW)).warnings ?? []
    assert.equal(met?.details.newest, '2205-01-01T00:00:00Z', 'also without an edition')
  })

  it('are warned of on the command line, before and after a load', async () => {
    writeMbtiles(`${folder.dir}/x.mbtiles`, [{ z: 0, x: 0, y: 0, bytes: png(1) }])
    const run = (...argv) => runCommand(['load', `${folder.dir}/x.mbtiles`, '--layer', 'osm', '--db', url, ...argv])
    const made = await run('--time', '2204')
    assert.equal(made.code, 0, made.err)
    for (const text of [made.out, made.err]) {
      assert.match(text, /WARNING: 2204-01-01T00:00:00Z is in the future: .*\n {2}If that time is a mistake/)
    }
    const met = JSON.parse((await run('--time', '2024', '--json')).out)
    assert.deepEqual(met.warnings.map(({ error }) => error), ['FUTURE_TIME'])
    assert.match(met.warnings[0].reason, /2204-01-01T00:00:00Z/)
  })
})
