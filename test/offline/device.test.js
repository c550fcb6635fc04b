// Tests what Device reads from the databases of a device. This file uses LevelDB; layers.test.js uses IndexedDB.
import assert from 'node:assert/strict'
import { OfflineStore } from '../../client/offline/index.js'
import { DatabaseReader } from '../../client/offline/database-reader.js'
import { Device } from '../../client/offline/device.js'
import { digestOf } from '../../client/mirror/digest.js'
import { HttpCouch } from '../../client/mirror/http.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { layerId, tileId, versionId } from '../../core/index.js'
import { Store, publish } from '../../loader/index.js'
import { assertPicture, bytesOf } from '../client/pictures.js'
import { T, history, picture } from '../support/client/gallery.js'
import { PouchDB, usePouches } from '../support/client/pouches.js'
import { as, onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'

/** Makes the document of a tile as a store writes it. */
async function tile (step, [z, x, y], { current = true, gone = false } = {}) {
  const _id = current ? tileId('a', z, x, y) : versionId('a', z, x, y, T(step))
  const fields = { _id, type: 'tile', layer: 'a', z, x, y, current, time: T(step) }
  const image = { content_type: 'image/png', data: picture(step, z, x, y) }
  return gone ? { ...fields, gone } : { ...fields, _attachments: { tile: image } }
}

describe('a device', () => {
  const pouch = usePouches()
  const PLACE = [7, 3, 9]
  const COLUMN = { z: 7, x: 3, y0: 9, y1: 9 }

  /** Opens a device with one database for each part: its documents, and fields that differ from the defaults. */
  async function openDevice (...parts) {
    const databases = []
    for (const { docs = [], ...fields } of parts) {
      const db = pouch()
      await db.bulkDocs(docs)
      databases.push({ db, area: { name: 'x' }, holds: () => true, isComplete: true, hasHistory: true, ...fields })
    }
    return Object.assign(new Device({ ready: Promise.resolve(), databases: () => databases }), { parts: databases })
  }
  const summaryOf = ([versions]) =>
    versions.map(({ time, current, gone }) => `${time.slice(8, 10)}${current ? ' head' : ''}${gone ? ' gone' : ''}`)

  it('lists versions by rows as numbers, although ids are sorted as text', async () => {
    const rows = [1, 8, 9, 10, 11, 80, 90, 91, 99, 100, 101, 102, 127]
    const docs = await Promise.all(rows.flatMap(y => [tile(2, [7, 3, y]), tile(1, [7, 3, y], { current: false })]))
    const device = await openDevice({ docs })
    for (const [y0, y1] of [[0, 127], [9, 10], [8, 100], [9, 9], [100, 102], [2, 7], [1, 1], [99, 127], [12, 79]]) {
      const [list] = await device.versions('a', [{ z: 7, x: 3, y0, y1 }])
      assert.deepEqual(list.map(({ y, time }) => [y, time]),
        rows.filter(y => y >= y0 && y <= y1).flatMap(y => [[y, T(1)], [y, T(2)]]), `${y0} to ${y1}`)
    }
    assert.deepEqual(await device.versions('b', [COLUMN]), [[]])
    assert.deepEqual(await device.versions('a', []), [])
  })

  it('lists a version once that is a head in one area and past in another', async () => {
    const oldPart = { docs: [await tile(1, PLACE)], hasHistory: false }
    const freshPart = { docs: [await tile(3, PLACE), await tile(1, PLACE, { current: false }),
      await tile(2, PLACE, { current: false, gone: true })] }
    for (const parts of [[oldPart, freshPart], [freshPart, oldPart]]) {
      assert.deepEqual(summaryOf(await (await openDevice(...parts)).versions('a', [COLUMN])),
        ['01', '02 gone', '03 head'])
    }
  })

  it('distinguishes two images of the same time in two areas by their digest', async () => {
    const otherDoc = { ...await tile(1, PLACE), _attachments: (await tile(7, PLACE))._attachments }
    const freshPart = { docs: [otherDoc] }
    const oldPart = { docs: [await tile(3, PLACE), await tile(1, PLACE, { current: false })] }
    const device = await openDevice(freshPart, oldPart)
    const [[version]] = await device.versions('a', [COLUMN])
    assert.deepEqual([version.time, version.digest], [T(1), digestOf(picture(7, ...PLACE))])
    await assertPicture(await device.tile(version), 7, ...PLACE)
    const outdatedDevice = await openDevice(oldPart)
    assert.equal(await outdatedDevice.tile(version), undefined, 'what is as long and as old is not it')
    assert.ok(await outdatedDevice.tile({ ...version, digest: digestOf(picture(1, ...PLACE)) }))
  })

  it('returns an image by its revision, or by its time when the head has changed', async () => {
    const device = await openDevice({ docs: [await tile(1, PLACE)] })
    const [{ db }] = device.parts
    const [[version]] = await device.versions('a', [COLUMN])
    const blob = await device.tile(version)
    assert.ok(blob instanceof Blob)
    assert.equal(blob.type, 'image/png')
    await assertPicture(blob, 1, ...PLACE)
    // a refresh stores the past version beside the head, and a compaction removes the old head
    await db.put(await tile(1, PLACE, { current: false }))
    await db.put({ ...await tile(2, PLACE), _rev: version.rev })
    await db.compact()
    await assertPicture(await device.tile(version), 1, ...PLACE)
    assert.equal(await device.tile({ ...version, time: T(7) }), undefined, 'no other image for it')
    // the head of an area that was not refreshed may be a past version in the store
    const outdatedDevice = await openDevice({ docs: [await tile(1, PLACE)] })
    await assertPicture(await outdatedDevice.tile({ ...version, current: false, rev: '1-other' }), 1, ...PLACE)
    assert.deepEqual(await outdatedDevice.holds('a', [version, { ...version, rev: '1-other' }]), [true, false])
  })

  it('returns no image for a tile that is gone or a document that is not a tile', async () => {
    const device = await openDevice({ docs: [
      await tile(2, PLACE, { gone: true }), await tile(1, PLACE, { current: false }), { _id: 'a:7:3:10' },
      { _id: 'a:7:3:11', type: 'tile', time: T(1) }, { _id: 'a:7:3:x', type: 'tile', time: T(1) }
    ] })
    const [list] = await device.versions('a', [{ z: 7, x: 3, y0: 9, y1: 12 }])
    assert.deepEqual(list.map(({ y, time, gone }) => [y, time, gone]),
      [[9, T(1), false], [9, T(2), true], [11, T(1), true]])
    assert.deepEqual([await device.head('a', ...PLACE), await device.tile(list[1])], [undefined, undefined])
  })

  it('answers from the databases that it has left when others are closed, removed or cannot be opened', async () => {
    const device = await openDevice({ docs: [await tile(1, PLACE)] },
      { docs: [await tile(2, PLACE), { _id: layerId('a'), type: 'layer', layer: 'a' }] })
    const [[older, newer]] = await device.versions('a', [COLUMN])
    assert.equal(newer.time, T(2))
    const reads = Promise.all([device.versions('a', [COLUMN]), device.tile(newer),
      device.head('a', ...PLACE), device.extent('a'), device.stats('a'), device.layers()])
    await device.parts[1].db.destroy()
    await reads
    assert.deepEqual((await device.versions('a', [COLUMN]))[0].map(({ time }) => time), [T(1)])
    assert.equal(await device.tile(newer), undefined)
    assert.ok(await device.tile(older))
    await device.parts[0].db.close()
    assert.deepEqual([await device.versions('a', [COLUMN]), await device.head('a', ...PLACE),
      await device.extent('a'), await device.layer('a'), await device.layers()], [[[]], undefined, null, undefined, []])
    assert.equal((await device.stats('a')).versions, 0)
    const broken = new Device({ ready: Promise.reject(new Error('no storage')), databases: () => [] })
    assert.deepEqual([await broken.versions('a', [COLUMN]), await broken.layer('a'), await broken.extent('a')],
      [[[]], undefined, null])
  })

  it('lists its layers, with the newer one of two documents of a layer', async () => {
    const doc = { _id: layerId('a'), type: 'layer', layer: 'a', name: 'old' }
    const device = await openDevice({ docs: [doc] }, { docs: [doc, { _id: layerId('b'), type: 'layer', layer: 'b' }] })
    await device.parts[1].db.put({ ...doc, name: 'new', _rev: (await device.parts[1].db.get(doc._id))._rev })
    assert.deepEqual([(await device.layer('a')).name, (await device.layers()).map(({ layer, name }) => [layer, name])],
      ['new', [['a', 'new'], ['b', undefined]]])
  })
})

onEachStore('a downloaded area', backend => {
  const folder = useFolder()
  const WEST = [-170, -86, -10, 86]
  let url, offline

  before(async () => {
    url = await backend.database()
    const store = await Store.create(url)
    await store.defineLayer('deep', { minzoom: 4, maxzoom: 5 })
    const tiles = Array.from({ length: 32 }, (_, y) => [[5, 3, y], [5, 20, y], ...(y < 16 ? [[4, 1, y]] : [])]).flat()
    await store.write(await history('deep', { 1: tiles, 2: tiles.filter(([, , y]) => y % 3), 4: [[5, 3, 9, true]] }))
    await publish(store)
  })
  beforeEach(() => { offline = new OfflineStore({ remote: url, name: `${folder.dir}/device`, PouchDB }) })
  afterEach(() => offline.close())

  it('has the same versions, images, times and figures as the store', async () => {
    const area = await offline.areas.add({ name: 'west', layer: 'deep', bbox: WEST, zooms: '4-5', history: true })
    await area.download()
    const { headers } = new HttpCouch(url)
    const couch = new CouchSource(as(url), { fetchOptions: { headers } })
    const columns = [{ z: 5, x: 3, y0: 1, y1: 30 }, { z: 4, x: 1, y0: 2, y1: 12 }, { z: 5, x: 4, y0: 2, y1: 30 }]
    const [storeVersions, deviceVersions] =
      [await couch.versions('deep', columns), await offline.device.versions('deep', columns)]
    assert.deepEqual(deviceVersions, storeVersions)
    for (const version of storeVersions.flat().filter(({ gone }) => !gone)) {
      const blob = await offline.device.tile(version)
      assert.deepEqual([blob?.type, blob && await bytesOf(blob)],
        ['image/png', await bytesOf(await couch.tile(version))], JSON.stringify(version))
    }
    assert.deepEqual(await offline.device.extent('deep'), await couch.extent('deep'))
    const { tiles, versions, bytes } = area.status()
    const stats = await offline.device.stats('deep')
    assert.deepEqual([
      stats.tiles, stats.versions, stats.bytes, stats.zooms.map(({ z, x0, x1, y1 }) => [z, x0, x1, y1])
    ], [tiles, versions, bytes, [[4, 1, 1, 15], [5, 3, 3, 31]]])
  })

  it('returns an image in less than 20 ms in the median', async () => {
    await (await offline.areas.add({ name: 'west', layer: 'deep', bbox: WEST, zooms: '4-5', history: true })).download()
    const columns = [{ z: 5, x: 3, y0: 0, y1: 31 }, { z: 4, x: 1, y0: 0, y1: 15 }]
    const versions = (await offline.device.versions('deep', columns)).flat().filter(({ gone }) => !gone)
    const times = []
    for (const version of versions) {
      const start = performance.now()
      await offline.device.tile(version)
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    assert.ok(times[times.length >> 1] < 20, `${times[times.length >> 1]} ms`)
  })
})

describe('an image that a compaction removes during a read', () => {
  /** Makes a reader of a database that returns these documents one after the other. */
  const readerOf = docs => DatabaseReader.of({ once () { return this }, get: async () => docs.shift() ??
    Promise.reject(Object.assign(new Error('missing'), { status: 404 })) })
  const EMPTY = Buffer.alloc(0)
  const doc = async (rev, data) => ({
    ...await tile(1, [7, 3, 9]), _rev: rev,
    _attachments: { tile: { content_type: 'image/png', digest: digestOf(picture(1, 7, 3, 9)), data } }
  })

  it('is read again, and is undefined when its document is gone', async () => {
    const image = picture(1, 7, 3, 9)
    const storedImage = await readerOf([await doc('1-a', EMPTY), await doc('2-b', image)]).image('a:7:3:9')
    assert.deepEqual([storedImage?.version.rev, storedImage && await bytesOf(storedImage.blob)], ['2-b', image])
    assert.equal(await readerOf([await doc('1-a', EMPTY)]).image('a:7:3:9', '1-a'), undefined)
    assert.equal(await readerOf(Array(9).fill(await doc('1-a', EMPTY))).image('a:7:3:9'),
      undefined, 'never nothing as an image')
  })
})
