// A layer whose newest tiles are dated in the future: loads, check and doctor warn.
import assert from 'node:assert/strict'
import { check, doctor, load, publish } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'

const [NOW, FAR] = ['2024-01-01T00:00:00Z', '2204-01-01T00:00:00Z']

onEachStore('tiles that are dated in the future', backend => {
  let store, url
  useStore(backend, { fill: (...own) => { [store, url] = own } })

  const loaded = (seed, time) => load(store, memorySource({ '3/1/2': seed }), { layer: 'osm', time })
  const found = async () => {
    const { findings } = await doctor(url)
    return findings.find(({ check: what }) => what === 'osm: editions')
  }

  it('cause a warning in the load that writes them and in later loads, not in earlier loads', async () => {
    assert.equal((await loaded(1, NOW)).warnings, undefined)
    const [made] = (await loaded(2, FAR)).warnings ?? []
    assert.deepEqual([made?.code, made?.details], ['FUTURE_TIME', { layer: 'osm', time: FAR }])
    assert.match(made?.advice, /tilecouch remove/)
    const [met] = (await loaded(3, '2025-01-01T00:00:00Z')).warnings ?? []
    assert.deepEqual([met?.code, met?.details.newest], ['FUTURE_TIME', FAR])
    assert.match(met?.message, /2204-01-01T00:00:00Z/)
  })

  it('are reported by check and doctor, once for each edition and each tile without an edition', async function () {
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
})
