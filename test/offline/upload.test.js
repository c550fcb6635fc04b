// What was made on devices, sent to a store that others write to as well: every way to meet there comes to what a load
// of the same tiles in the same order comes to.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { asOf, tileId } from '../../core/index.js'
import { Store, resolve } from '../../loader/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { furnish } from '../client/support/designs.js'
import { startFront } from '../client/support/front.js'
import { takeImages } from '../client/support/pouches.js'
import { as, json, onEachStore, request } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { png, square } from '../support/tiles.js'
import { madeOn, useDevices } from './support/devices.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 13999)
const RUNS = +(process.env.TILECOUCH_UPLOADS ?? 4)
const T = year => `${year}-01-01T00:00:00Z`
const YEARS = [2020, 2021, 2022, 2023].map(T)
const place = ({ x, y = 0, z = 5 }) => ({ layer: 'osm', z, x, y })
const version = ({ x, time, image }) => ({ ...place({ x }), time, ...(image === null ? { gone: true } : { bytes: png(image) }) })

onEachStore('an edition sent to a store', backend => {
  const device = useDevices()
  let url, store

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { name: 'The map' })
  })

  /** Tile -> time -> digest, and which is the head; nothing of who wrote it when. */
  const contents = async of => new Map([...await checkInvariants(of)].map(([id, versions]) => (
    [id, versions.map(({ time, current, bytes }) => `${time} ${current ? 'head' : 'past'} ${bytes ? digestOf(bytes) : 'gone'}`).sort()]
  )))
  /** Tile -> what it shows as of each year. */
  const shown = async of => new Map([...await checkInvariants(of)].map(([id, versions]) => {
    const said = versions.map(({ time, bytes }) => ({ time, digest: bytes && digestOf(bytes) })).sort((a, b) => a.time < b.time ? -1 : 1)
    return [id, YEARS.map(year => asOf(said, year)?.digest ?? 'gone')]
  }))
  const began = async (offline, year, more) => offline.edits.begin({ layer: 'osm', time: T(year), ...more })

  it('comes to a document as a load writes it', async () => {
    await store.write(square({ layer: 'osm', time: T(2023), side: 3, seed: (x, y) => x * 3 + y }))
    const offline = await device(url)
    const edition = await began(offline, 2024, { title: 'Flight 7', source: 'drone' })
    await edition.putAll([
      { ...place({ x: 0 }), image: png(50) }, { ...place({ x: 1 }), image: png(3) }, { ...place({ x: 2 }), gone: true }, { ...place({ x: 9 }), image: png(51) },
      { ...place({ x: 40, y: 41, z: 7 }), image: png(52) }
    ])
    const progress = []
    const { state, sent, tiles, here } = await edition.upload({ onProgress: status => progress.push(status) })
    assert.deepEqual([state, sent, tiles, here], ['gone', 0, 0, 0], 'nothing of it is left where no area wants it')
    assert.deepEqual(progress.map(({ tiles: done, total }) => [done, total.tiles]), [[5, 5]])
    const { stored, ...head } = await json(`${url}/osm:5:0:0`)
    assert.ok(Date.parse(stored) > Date.now() - 60000)
    assert.deepEqual(Object.keys(head).filter(field => !field.startsWith('_')).sort(), ['current', 'layer', 'run', 'time', 'type', 'x', 'y', 'z'])
    const { started, finished, ...fields } = await store.edition('osm', T(2024))
    assert.deepEqual(fields, {
      layer: 'osm', time: T(2024), title: 'Flight 7', source: 'drone', complete: false,
      tiles: 5, created: 2, advanced: 2, backfilled: 0, unchanged: 1, failed: 0, missing: 0, gone: 1, bytes: 3 * png(50).length
    })
    assert.ok(started <= finished)
    const { name, minzoom, maxzoom, format } = await store.layer('osm')
    assert.deepEqual([name, minzoom, maxzoom, format], ['The map', 5, 7, 'png'])
    assert.deepEqual((await contents(url)).get('osm:5:0:0'), [`${T(2023)} past ${digestOf(png(0))}`, `${T(2024)} head ${digestOf(png(50))}`])
  })

  it('is decided about by what the store holds, whatever the device knows', async () => {
    const offline = await device(url)
    const [old, middle, recent] = await Promise.all([2020, 2022, 2024].map(year => began(offline, year)))
    await store.write([version({ x: 0, time: T(2023), image: 1 }), version({ x: 1, time: T(2022), image: 2 }), version({ x: 2, time: T(2024), image: 3 })])
    for (const edition of [old, middle, recent]) for (const x of [0, 1, 2]) await edition.put(5, x, 0, png(10 + x))
    const refused = []
    for (const edition of [recent, old, middle]) await edition.upload({ onFailure: failure => refused.push([edition.time, failure.x, failure.code]) })
    assert.deepEqual(refused, [[T(2024), 2, 'VERSION_TAKEN'], [T(2022), 1, 'VERSION_TAKEN']])
    const [kept] = [await contents(url)]
    assert.deepEqual(kept.get('osm:5:0:0').map(line => line.slice(0, 25)), [`${T(2020)} past`, `${T(2022)} past`, `${T(2023)} past`, `${T(2024)} head`], 'that it was the same in 2022 is known by its version')
    assert.ok(kept.get('osm:5:1:0').includes(`${T(2022)} past ${digestOf(png(2))}`))
    assert.ok(kept.get('osm:5:2:0').includes(`${T(2024)} head ${digestOf(png(3))}`))
  })

  it('keeps what is refused, says so, tries it again, and lets it become another edition', async () => {
    await store.write([version({ x: 0, time: T(2024), image: 1 })])
    const offline = await device(url)
    const edition = await began(offline, 2024)
    await edition.put(5, 0, 0, png(2))
    await edition.put(5, 1, 0, png(3))
    for (let round = 0; round < 2; round++) {
      const { state, sent, refused, unsent } = await edition.upload()
      assert.deepEqual([state, sent, refused, unsent], ['open', 1, 1, 0])
      assert.deepEqual((await store.edition('osm', T(2024))).failed, 1)
    }
    const later = await offline.edits.begin({ layer: 'osm', time: '2024-01-02' })
    for await (const { z, x, y, code, image } of edition.tiles({ state: 'refused' })) {
      assert.equal(code, 'VERSION_TAKEN')
      await later.put(z, x, y, await image())
      await edition.remove(z, x, y)
    }
    assert.equal((await later.upload()).state, 'gone')
    assert.deepEqual([(await edition.status()).state, await offline.edits.list()], ['gone', []], 'and nothing is left of the first')
    assert.deepEqual((await contents(url)).get('osm:5:0:0'), [`${T(2024)} past ${digestOf(png(1))}`, `2024-01-02T00:00:00Z head ${digestOf(png(2))}`])
  })

  it('makes a layer that nobody had, as it is described', async () => {
    const offline = await device(url)
    const edition = await offline.edits.begin({ layer: 'flights', time: '2024', fields: { name: 'Flights', attribution: 'me' } })
    await edition.put(9, 100, 200, png(1))
    await edition.upload()
    const { name, attribution, minzoom, maxzoom, format } = await store.layer('flights')
    assert.deepEqual([name, attribution, minzoom, maxzoom, format], ['Flights', 'me', 9, 9, 'png'])
  })

  it('stays until the areas have it, and then goes', async () => {
    await store.write(square({ layer: 'osm', time: T(2023), side: 4, seed: (x, y) => x * 4 + y }))
    await furnish(store)
    const offline = await device(url)
    const area = await offline.areas.add({ name: 'corner', layer: 'osm', bbox: [-180, 79, -150, 85.05], zooms: 5, history: true })
    await area.download()
    const edition = await began(offline, 2024)
    await edition.putAll([{ ...place({ x: 0 }), image: png(50) }, { ...place({ x: 1 }), gone: true }, { ...place({ x: 20 }), image: png(51) }])
    const seen = async () => Promise.all([0, 1, 2].map(async x => {
      const found = await offline.device.head('osm', 5, x, 0)
      return found && digestOf(Buffer.from(await found.blob.arrayBuffer()))
    }))
    const now = [digestOf(png(50)), undefined, digestOf(png(8))]
    assert.deepEqual(await seen(), now)
    const { state, here, sent } = await edition.upload()
    assert.deepEqual([state, here, sent], ['sent', 2, 3], 'the one outside of every area has gone')
    assert.deepEqual(await seen(), now)
    let watching = true
    const watch = (async () => { while (watching) assert.deepEqual(await seen(), now, 'at every moment') })()
    await area.refresh()
    await offline.edits.removeArrived('osm')
    watching = false
    await watch
    assert.deepEqual([(await madeOn(offline)).size, await offline.edits.list()], [0, []])
    assert.deepEqual(await seen(), now)
    const [versions] = await offline.device.versions('osm', [{ z: 5, x: 0, y0: 0, y1: 0 }])
    assert.deepEqual(versions.map(({ time, current }) => [time, current]), [[T(2023), false], [T(2024), true]])
    await assert.rejects((await began(offline, 2024)).put(5, 0, 0, png(52)), { code: 'VERSION_TAKEN' }, 'the area knows it now')
  })

  it('takes former heads from the areas, and does not fetch them again', async () => {
    await store.write(square({ layer: 'osm', time: T(2023), side: 4, seed: (x, y) => x * 4 + y }))
    await furnish(store)
    const front = await startFront(url, { files: async () => ({}) })
    try {
      const { username, password } = new URL(url)
      const offline = await device(as(front.url, username, password))
      await (await offline.areas.add({ name: 'corner', layer: 'osm', bbox: [-180, 80, -150, 85.05], zooms: 5 })).download()
      const edition = await began(offline, 2024)
      await edition.putAll([0, 1, 2].map(x => ({ ...place({ x }), image: png(50 + x) })))
      front.forget()
      await edition.upload()
      assert.equal(front.requests().filter(({ path }) => /attachments=true/.test(path)).length, 0)
      assert.ok((await contents(url)).get('osm:5:1:0').includes(`${T(2023)} past ${digestOf(png(4))}`))
    } finally {
      await front.close()
    }
  })

  it('leaves a tile whose image a compaction takes while it is read to the next upload', async () => {
    const offline = await device(url)
    const edition = await began(offline, 2024)
    await edition.putAll([{ ...place({ x: 0 }), image: png(50) }, { ...place({ x: 1 }), image: png(51) }, { ...place({ x: 2 }), gone: true }])
    const [{ db }] = offline.edits.databases()
    const takes = takeImages(db, 'allDocs', ({ rows }) => rows.map(({ doc }) => doc))
    const progress = []
    const first = await edition.upload({ onProgress: status => progress.push(status.tiles) })
    assert.equal(takes(), 1)
    assert.deepEqual([first.state, first.sent, first.unsent, first.refused, progress], ['open', 2, 1, 0, [2]])
    assert.deepEqual([...(await contents(url)).keys()].sort(), ['osm:5:1:0', 'osm:5:2:0'], 'nothing, and no empty image')
    const { state, sent } = await edition.upload()
    assert.deepEqual([state, sent], ['gone', 0])
    const arrived = await contents(url)
    assert.deepEqual([0, 1].map(x => arrived.get(`osm:5:${x}:0`)), [50, 51].map(image => [`${T(2024)} head ${digestOf(png(image))}`]))
    assert.equal((await store.edition('osm', T(2024))).tiles, 3)
  })

  it('reads a former head again whose image a compaction takes in the area', async () => {
    await store.write([version({ x: 0, time: T(2023), image: 1 }), version({ x: 1, time: T(2023), image: 2 })])
    await furnish(store)
    const offline = await device(url)
    await (await offline.areas.add({ name: 'corner', layer: 'osm', bbox: [-180, 80, -150, 85.05], zooms: 5 })).download()
    const edition = await began(offline, 2024)
    await edition.putAll([{ ...place({ x: 0 }), image: png(50) }, { ...place({ x: 1 }), image: png(51) }])
    const [{ db }] = offline.databases('osm').filter(({ area }) => area)
    const takes = takeImages(db, 'get', doc => [doc])
    await edition.upload()
    assert.equal(takes(), 1)
    const arrived = await contents(url)
    assert.deepEqual([0, 1].map(x => arrived.get(`osm:5:${x}:0`)), [[1, 50], [2, 51]].map(
      ([past, head]) => [`${T(2023)} past ${digestOf(png(past))}`, `${T(2024)} head ${digestOf(png(head))}`]
    ))
  })

  it('is what loads in the same order come to, whatever devices and loaders do', async function () {
    this.timeout(120000)
    const at = fc.nat(1)
    const time = fc.integer({ min: 2020, max: 2023 }).map(T)
    const image = fc.option(fc.nat(3), { freq: 6 })
    const step = fc.oneof(
      { arbitrary: fc.record({ does: fc.constant('make'), at, x: fc.nat(1), time, image }), weight: 6 },
      { arbitrary: fc.record({ does: fc.constant('send'), at, time }), weight: 3 },
      { arbitrary: fc.record({ does: fc.constant('load'), x: fc.nat(1), time, image }), weight: 2 },
      { arbitrary: fc.record({ does: fc.constant('resolve') }), weight: 1 }
    )
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24, size: 'max' }), async steps => {
      const address = await backend.database()
      const here = await Store.create(address)
      await furnish(here)
      const model = new Model()
      const devices = [await device(address), await device(address)]
      /** What each device has to send. @type {Map<string, any>[]} */
      const waiting = [new Map(), new Map()]
      const send = async (who, when) => {
        const edition = await devices[who].edits.get('osm', when)
        const wanted = new Map()
        for (const [key, one] of waiting[who]) {
          if (one.time !== when) continue
          if (model.load(one) === 'taken') wanted.set(key, 'VERSION_TAKEN')
          else waiting[who].delete(key)
        }
        const refused = []
        await edition?.upload({ onFailure: ({ x, code }) => refused.push([`${x} ${when}`, code]) })
        assert.deepEqual(refused.sort(), [...wanted].sort())
      }
      const atLast = [0, 1].flatMap(one => [2020, 2021, 2022, 2023].map(year => ({ does: 'send', at: one, time: T(year) })))
      for (const { does, at: who, ...more } of [...steps, ...atLast]) {
        if (does === 'make') {
          const edition = await devices[who].edits.begin({ layer: 'osm', time: more.time })
          await (more.image === null ? edition.gone(5, more.x, 0) : edition.put(5, more.x, 0, png(more.image)))
          waiting[who].set(`${more.x} ${more.time}`, more)
        } else if (does === 'send') await send(who, more.time)
        else if (does === 'load') {
          const taken = model.load(more) === 'taken'
          assert.equal((await here.write([version(more)])).failed, taken ? 1 : 0)
        } else assert.equal((await resolve(here)).conflicts, 0, 'there is nothing to put right')
      }
      assert.deepEqual(await shown(address), model.contents())
      for (const [who, offline] of devices.entries()) assert.equal([...(await madeOn(offline)).values()].flat().length, waiting[who].size, 'what was refused is there, and nothing else')
      for (const offline of devices) await offline.close()
      await request(address, { method: 'DELETE' })
    }), { numRuns: RUNS, seed: SEED })
  })
})

/**
 * What loads said, on plain values: who repeats the newest has it noted there, and another content of that time may
 * still come.
 */
class Model {
  /** @type {Map<string, {time: string, digest: string | null, isNoted: boolean}[]>} */
  tiles = new Map()

  load ({ x, time, image }) {
    const id = tileId('osm', 5, x, 0)
    const said = this.tiles.get(id) ?? []
    const digest = image === null ? null : digestOf(png(image))
    const same = said.find(one => one.time === time)
    if (same && !same.isNoted && same.digest !== digest) return 'taken'
    if (same?.digest === digest) return 'unchanged'
    const newest = said.at(-1)
    const isNoted = Boolean(newest && newest.time < time && newest.digest === digest)
    this.tiles.set(id, [...said.filter(one => one !== same), { time, digest, isNoted }].sort((a, b) => a.time < b.time ? -1 : 1))
    return 'new'
  }

  contents () {
    return new Map([...this.tiles].map(([id, said]) => [id, YEARS.map(year => said.filter(({ time }) => time <= year).at(-1)?.digest ?? 'gone')]))
  }
}
