// Tests which of device and network an offline source asks first, and its answers when one of them fails or does not
// answer. The second suite tests bulk answers with errors for some documents.
import assert from 'node:assert/strict'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { HttpCouch } from '../../client/mirror/http.js'
import { OfflineStore } from '../../client/offline/index.js'
import { OfflineSource } from '../../client/offline/offline-source.js'
import { StoreListing } from '../../client/offline/store-listing.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { Selection } from '../../core/mirror/index.js'
import { Store, publish } from '../../loader/index.js'
import { assertPicture } from '../client/pictures.js'
import { T, history, tilesOf } from '../support/client/gallery.js'
import { startFront } from '../support/client/front.js'
import { PouchDB } from '../support/client/pouches.js'
import { onEachStore } from '../support/backends.js'
import { startFaulty, wrongOnce } from '../support/faulty-store.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { square } from '../support/tiles.js'

const WEST = [-179, -84, -1, 84]
const WHOLE = { name: 'whole', layer: 'osm', bbox: WEST, zooms: '3', history: true }
const HEADS = { name: 'heads', layer: 'osm', bbox: WEST, zooms: '3' }
const INSIDE = { z: 3, x: 1, y0: 0, y1: 7 }
const OUTSIDE = { z: 3, x: 6, y0: 0, y1: 7 }

onEachStore('offline sources of layers', backend => {
  const folder = useFolder()
  let url, store, front, offline
  const timeout = 1500 * TIME_FACTOR

  before(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 4 })
    await store.write(await history('osm', { 1: tilesOf(3), 2: tilesOf(3), 3: [[4, 2, 2]] }))
    await publish(store)
    front = await startFront(url)
  })
  beforeEach(async () => {
    const { headers } = new HttpCouch(url)
    const fetchOptions = { headers }
    offline = new OfflineStore({ remote: front.url, name: `${folder.dir}/device`, PouchDB, fetchOptions })
    await offline.ready
    const couch = new CouchSource(front.url, { timeout, fetchOptions })
    source = (read, options) =>
      new OfflineSource({ offline, layer: 'osm', read, couch, limits: { networkTimeout: 150 }, ...options })
  })
  afterEach(async () => {
    front.reset()
    await front.restart().catch(() => {}) // it may be running already
    await offline.close()
  })
  after(() => front.close())
  /** @type {(read?: string, options?: object) => OfflineSource} */
  let source

  async function take (...specs) {
    for (const spec of specs) await (await offline.areas.add(spec)).download()
    front.forget()
  }
  const disconnect = () => front.stop()
  const ignoreRequests = () => front.rule(() => new Promise(() => {}))
  /** The versions on the device, which come before the answer of the network. */
  const readEarly = (reader, columns) => new Promise((resolve, reject) => {
    reader.versions('osm', columns, undefined, { onEarly: resolve }).catch(reject)
  })
  const timesOf = list => list.filter(({ y }) => y === 2).map(({ time }) => time)

  it('request only columns outside of all areas, and the past of areas that lack it', async () => {
    await take(WHOLE)
    const reader = source()
    const [list] = await reader.versions('osm', [INSIDE])
    assert.equal(list.length, 16)
    assert.equal((await reader.layer('osm')).minzoom, 3)
    assert.deepEqual(await reader.extent('osm'), { first: T(1), last: T(2) })
    await assertPicture(await reader.tile(list[0]), 1, 3, 1, 0)
    assert.ok(reader.isFromDevice(await reader.tile(list[0])))
    assert.deepEqual(front.requests(), [])
    const [inside, outside] = await source().versions('osm', [INSIDE, OUTSIDE])
    assert.deepEqual([timesOf(inside), timesOf(outside)], [[T(1), T(2)], [T(1), T(2)]])
    assert.deepEqual(front.requests('index').map(({ body }) => body.queries.map(({ startkey }) => startkey[2])), [[6]])
    await assertPicture(await source().tile(outside[0]), 1, 3, 6, 0)
    await offline.areas.get('whole').remove()
    await take(HEADS)
    assert.deepEqual(timesOf((await source().versions('osm', [INSIDE]))[0]), [T(1), T(2)])
    assert.equal(front.requests('index').length, 1)
  })

  it('answer from the device when the network is away, and mark the answer as incomplete', async () => {
    await take(HEADS)
    await disconnect()
    const [inside, outside] = await readEarly(source(), [INSIDE, OUTSIDE])
    assert.deepEqual([timesOf(inside.versions), inside.isWhole, outside.versions.length, outside.isWhole],
      [[T(2)], false, 0, false])
    await assertPicture(await source().tile(inside.versions[0]), 2, 3, 1, 0)
    await assert.rejects(source().versions('osm', [INSIDE, OUTSIDE]), { code: 'UNREACHABLE' })
    await assert.rejects(source().versions('osm', [OUTSIDE]), { code: 'UNREACHABLE' })
    await assert.rejects(source('device', { layer: 'else' }).layer('else'), { code: 'UNREACHABLE' })
    assert.equal(offline.isOnline, false)
  })

  it('report the versions of the device early, before the network answers', async () => {
    await take(HEADS)
    ignoreRequests()
    const earlyAnswers = await readEarly(source(), [INSIDE])
    assert.deepEqual([timesOf(earlyAnswers[0].versions), earlyAnswers[0].isWhole], [[T(2)], false])
    await assertPicture(await source().tile(earlyAnswers[0].versions[0]), 2, 3, 1, 0)
    front.reset()
    let earlyCount = 0
    const [versions] = await source().versions('osm', [INSIDE], undefined, { onEarly: () => { earlyCount++ } })
    assert.deepEqual([timesOf(versions), earlyCount], [[T(1), T(2)], 1])
    await disconnect()
    await assert.rejects(source().versions('osm', [INSIDE], undefined, { onEarly () {} }), { code: 'UNREACHABLE' })
  })

  it('report the versions of the device early also if an area has all of them', async () => {
    await take(WHOLE)
    let earlyAnswers
    await source().versions('osm', [INSIDE], undefined, { onEarly: answers => { earlyAnswers = answers } })
    assert.deepEqual(earlyAnswers?.map(({ versions, isWhole }) => [timesOf(versions), isWhole]), [[[T(1), T(2)], true]])
    assert.deepEqual(front.requests('index'), [])
  })

  it('read the network first by the option network, and the device when it fails or is slow', async () => {
    await take(HEADS)
    const reader = source('network')
    assert.deepEqual(timesOf((await reader.versions('osm', [INSIDE]))[0]), [T(1), T(2)])
    assert.ok(front.requests('index').length)
    ignoreRequests()
    const start = performance.now()
    const [{ versions, isWhole }] = await readEarly(reader, [INSIDE])
    assert.deepEqual([timesOf(versions), isWhole], [[T(2)], false])
    assert.equal((await reader.layer('osm')).minzoom, 3)
    assert.ok(performance.now() - start < timeout, 'before the network is given up')
    front.reset()
    await disconnect()
    await until(() => offline.isOnline === false || reader.versions('osm', [INSIDE]).then(() => false, () => false))
    const [{ versions: [version] }] = await readEarly(reader, [INSIDE])
    await assertPicture(await reader.tile(version), 2, 3, 1, 0)
  })

  it('read only the device, and send no request, by the option only', async () => {
    await take(HEADS)
    const reader = source('only')
    assert.deepEqual((await reader.versions('osm', [INSIDE, OUTSIDE])).map(timesOf), [[T(2)], []])
    assert.deepEqual(await reader.extent('osm'), { first: T(2), last: T(2) })
    await assert.rejects(reader.tile(
      { layer: 'osm', z: 3, x: 6, y: 1, time: T(1), rev: '1-a', bytes: 1, gone: false, current: false, expires: null }
    ), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(source('only', { layer: 'else' }).layer('else'), { code: 'NOT_ON_DEVICE', status: 404 })
    const stop = new AbortController()
    assert.deepEqual(await reader.changes('osm', 'now', stop.signal), { since: 'device', tiles: [], layer: false })
    const waiting = reader.changes('osm', 'device', stop.signal)
    stop.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    assert.deepEqual(front.requests().filter(({ kind }) => kind !== 'layer'),
      [], 'but for whether the store is there, which the OfflineStore asks')
  })

  it('request tiles that changed in the store, until the device has them too', async () => {
    await take({ ...WHOLE, bbox: [-89, -84, -1, 84] })
    const reader = source()
    const stop = new AbortController()
    const { since } = await reader.changes('osm', 'now', stop.signal)
    await store.write(await history('osm', { 5: [[3, 2, 2]] }))
    await until(async () => (await reader.changes('osm', since, stop.signal, { past: true })).tiles.length)
    front.forget()
    const [near, changed] = await reader.versions('osm', [{ z: 3, x: 3, y0: 0, y1: 7 }, { z: 3, x: 2, y0: 0, y1: 7 }])
    assert.deepEqual([timesOf(near), timesOf(changed)], [[T(1), T(2)], [T(1), T(2), T(5)]])
    await assertPicture(await reader.tile(changed.findLast(({ y }) => y === 2)), 5, 3, 2, 2)
    assert.deepEqual(front.requests().map(({ kind }) => kind), ['index', 'tile'])
    await offline.areas.get('whole').refresh()
    front.forget()
    const [refreshed] = await reader.versions('osm', [{ z: 3, x: 2, y0: 0, y1: 7 }])
    assert.deepEqual(timesOf(refreshed), [T(1), T(2), T(5)])
    await assertPicture(await reader.tile(refreshed.findLast(({ y }) => y === 2)), 5, 3, 2, 2)
    assert.deepEqual(front.requests(), [])
  })

  it('send no request for the newest tiles of an area without past, until they change in the store', async () => {
    await take(HEADS)
    const reader = source('device', { newestOnly: true })
    assert.deepEqual(timesOf((await reader.versions('osm', [INSIDE]))[0]), [T(2)])
    assert.equal((await reader.extent('osm'))?.first, T(2))
    assert.deepEqual(front.requests(), [])
    const stop = new AbortController()
    const { since } = await reader.changes('osm', 'now', stop.signal)
    await store.write(await history('osm', { 6: [[3, 0, 2]] }))
    await until(async () => (await reader.changes('osm', since, stop.signal, { past: true })).tiles.length)
    assert.deepEqual(timesOf((await reader.versions('osm', [{ ...INSIDE, x: 0 }]))[0]), [T(1), T(2), T(6)])
  })

  it('read from the network when the area is removed or the device is closed meanwhile', async () => {
    await take(WHOLE)
    const reader = source()
    const [list] = await reader.versions('osm', [INSIDE])
    const removed = offline.areas.get('whole').remove()
    for (const version of list) {
      await assertPicture(await reader.tile(version), +version.time.slice(8, 10), 3, 1, version.y)
    }
    await removed
    await offline.close()
    assert.deepEqual(timesOf((await reader.versions('osm', [INSIDE]))[0]), [T(1), T(2)])
    await assertPicture(await reader.tile(list.at(-1)), 2, 3, 1, 7)
    assert.deepEqual(await source('only').versions('osm', [INSIDE]), [[]])
  })

  it('refuse an unknown value of the option read', () => {
    assert.throws(() => source('first'), { code: 'BAD_OPTION' })
  })
})

onEachStore('a device at a store whose bulk answers have errors or lack rows', backend => {
  const fixture = useStore(backend, { published: 'functions', fill: async store => {
    await store.defineLayer('osm', { format: 'png' })
    await store.putEdition('osm', T(1), {})
    await store.write(square({ layer: 'osm', time: T(1), side: 3, seed: (x, y) => x * 3 + y }))
  } })
  let faulty, http
  beforeEach(async () => {
    faulty = await startFaulty(fixture.url)
    http = new HttpCouch(faulty.url, { firstDelay: 2, longestDelay: 4 })
  })
  afterEach(() => faulty.close())

  it('finds every stored document, and reports only missing documents as missing', async () => {
    faulty.fault = wrongOnce()
    const ids = ['osm:5:0:0', 'osm:5:1:1', 'osm:5:2:2', 'osm:5:9:9', 'layer:osm']
    assert.deepEqual((await http.docs(ids)).map(({ doc, deleted }) => [doc?._id, deleted]),
      ids.map(id => [id === 'osm:5:9:9' ? undefined : id, false]))
    assert.deepEqual((await http.docs(['osm:5:8:8'])).map(({ doc, deleted }) => [doc, deleted]),
      [[undefined, false]], 'of a single one, too')
    const ranges = await http.queries('_all_docs', ids.map(id => ({ startkey: id, endkey: id })))
    assert.deepEqual(ranges.map(rows => rows.length), [1, 1, 1, 0, 1])
    assert.ok(faulty.faults >= ids.length)
  })

  it('lists every document of a layer that is not a tile', async () => {
    const listIds = async () => (await new StoreListing(http, new Selection({ layers: ['osm'] })).layerDocuments())
      .documents.map(({ id }) => id)
    const expected = await listIds()
    assert.deepEqual(expected, ['tilecouch', 'layer:osm', `edition:osm@${T(1)}`])
    faulty.fault = wrongOnce()
    assert.deepEqual(await listIds(), expected)
    assert.ok(faulty.faults > 0)
  })

  it('fails with the ids of documents that never get an answer', async () => {
    faulty.fault = ({ id }) => id === 'osm:5:1:1' ? 'missing' : undefined
    await assert.rejects(http.docs(['osm:5:0:0', 'osm:5:1:1']), error => {
      assert.deepEqual([error.code, error.details.ids], ['NO_ANSWER', ['osm:5:1:1']])
      return true
    })
  }).timeout(20000)
})
