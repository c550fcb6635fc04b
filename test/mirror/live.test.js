// A mirror that goes on: what is changed at the source is soon at the target, and how far it is behind is no guess.
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { json, onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import { T1, T2, follow, limits } from '../support/bad-lines.js'

const tile = (x, time, seed = x) => ({ layer: 'osm', z: 8, x, y: 1, time, bytes: png(seed) })
const quick = { limits: { ...limits, checkpoint: 100, heartbeat: 200 } }

onEachStore('a live mirror', backend => {
  let from, to, store, mirror, link

  beforeEach(async () => {
    from = await backend.database()
    to = await backend.database()
    store = await Store.create(from)
    await store.defineLayer('osm', { format: 'png' })
    await store.write([0, 1, 2, 3].map(x => tile(x, T1)))
    await request(to, { method: 'PUT' })
  })
  afterEach(async () => {
    await mirror?.stop()
    await link?.close()
    mirror = link = undefined
  })

  const has = async id => (await request(`${to}/${encodeURIComponent(id)}`)).status === 200
  const same = async () => assert.deepEqual(await differences(from, to), [])

  it('gets new tiles, new versions, deletions and later versions', async () => {
    mirror = follow(from, to, quick)
    await until(() => mirror.is('following'))
    await store.write([tile(9, T1)])
    await until(() => has('osm:8:9:1'))
    await store.write([tile(9, T2, 90)])
    await until(() => has(`osm:8:9:1@${T1}`))
    const { _rev: rev } = await json(`${from}/osm%3A8%3A0%3A1`)
    await request(`${from}/osm%3A8%3A0%3A1?rev=${rev}`, { method: 'DELETE' })
    await until(async () => !await has('osm:8:0:1'))
    await store.write([tile(0, T2, 50)])
    await until(() => has('osm:8:0:1'))
    await until(() => mirror.status().lag === 0)
    await same()
  })

  it('gets a change at once, not at the next poll', async () => {
    mirror = follow(from, to, { limits: { ...quick.limits, poll: 60000 } })
    await until(() => mirror.is('following'))
    const began = performance.now()
    await store.write([tile(7, T1)])
    await until(() => has('osm:8:7:1'))
    assert.ok(performance.now() - began < 8000 * TIME_FACTOR)
  })

  it('reports its lag while the source is away, and 0 when it is complete again', async () => {
    link = await startLink(from)
    mirror = follow(link.url, to, quick)
    await until(() => mirror.is('following'))
    assert.equal(mirror.status().lag, 0)
    await link.cut()
    await until(() => mirror.is('away'))
    await store.write([tile(20, T1), tile(1, T2, 70)])
    const { lag } = mirror.status()
    await until(() => mirror.status().lag > lag + 0.2)
    assert.equal(mirror.status().error, 'UNREACHABLE')
    await link.restore()
    await until(() => mirror.is('following') && mirror.status().lag === 0, { timeout: 20000 })
    await same()
    assert.deepEqual([...new Set(mirror.states.map(({ state }) => state))], ['following', 'away'])
  })

  it('writes its state to the target', async () => {
    link = await startLink(from)
    mirror = follow(link.url, to, { ...quick, about: { from: 'there', to: 'here', live: true } })
    const written = async () => (await json(`${to}/_local/${mirror.status().checkpoint}`))
    await until(async () => mirror.is('following') && (await written()).state === 'following')
    const { noted, up_to_date: upToDate, live, history } = await written()
    assert.ok(live && history.length && noted >= upToDate)
    await until(async () => (await written()).noted > noted) // it still runs, although nothing happens
    await link.cut()
    await until(async () => (await written()).error === 'UNREACHABLE')
    assert.equal((await written()).state, 'away')
  })

  it('fills a target that is deleted and created again while it runs', async () => {
    mirror = follow(from, to, quick)
    await until(() => mirror.is('following'))
    await request(to, { method: 'DELETE' })
    await until(() => mirror.is('away'), { timeout: 20000 })
    await request(to, { method: 'PUT' })
    await until(() => mirror.is('following'), { timeout: 20000 })
    await until(async () => !(await differences(from, to)).length)
  })
})
