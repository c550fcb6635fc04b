// Tests the registry of areas, also after another program wrote to it or a process was killed. The other suites test
// parts of areas: their specification, transfer rate, connection and letters.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { OfflineStore } from '../../client/offline/index.js'
import { readSpec } from '../../client/offline/area-spec.js'
import { TransferRate } from '../../client/offline/area-transfer.js'
import { Connection } from '../../client/offline/connection.js'
import { LetterReader } from '../../client/offline/letter-reader.js'
import { TilecouchError } from '../../core/index.js'
import { createGate } from '../support/client/front.js'
import { PouchDB } from '../support/client/pouches.js'
import { backends } from '../support/backends.js'
import { box, outcome, useShelf } from '../support/offline/shelf.js'
import { packTile } from '../support/vector-tile.js'
import { yearStart } from '../support/tiles.js'

describe('the registry of areas', function () {
  this.timeout(20000)
  const shelf = useShelf(backends[0])
  const spec = { name: 'Area', layer: 'osm', bbox: box([0, 3], [0, 3]), zooms: 6 }
  let offline
  beforeEach(async () => { offline = await shelf.open() })

  /** Runs a task on the database of the registry while no OfflineStore is open. */
  async function editRegistry (task) {
    await offline.close()
    const db = new PouchDB(shelf.path('field'))
    await task(db)
    await db.close()
    offline = await shelf.open()
  }
  const docsOf = db => db.allDocs({ include_docs: true }).then(({ rows }) => rows.map(({ doc }) => doc))

  it('stores one document for each area, without credentials', async () => {
    await offline.close()
    const { port, pathname } = new URL(shelf.front.url)
    const remote = `http://anna:s3cret@127.0.0.1:${port}${pathname}`
    offline = await shelf.open({ remote, fetchOptions: { headers: { 'X-Key': 'hunter2' } } })
    const events = []
    offline.on('areas progress tiles failure online',
      event => events.push({ ...event, area: event.area?.status(), areas: undefined }))
    const area = await offline.areas.add(spec)
    await area.download()
    shelf.front.rule(() => ({ status: 401, body: '{"error":"unauthorized","reason":"no"}' }))
    const error = await area.refresh().then(() => undefined, reason => reason)
    assert.deepEqual([error.code, error.details.url], ['UNAUTHORIZED', offline.remote])
    const docs = await docsOf(offline.registry.db)
    assert.deepEqual(docs.map(({ _id }) => _id), [`area:${area.id}`])
    for (const text of [JSON.stringify(docs), JSON.stringify(events),
      JSON.stringify(area.status()), error.stack, JSON.stringify(error.details), offline.remote]) {
      assert.ok(!/anna|s3cret|hunter2/.test(text), text)
    }
    assert.equal(offline.fetchOptions.headers.authorization, `Basic ${btoa('anna:s3cret')}`)
  })

  it('is reopened after the device was full, also for calls during its close', async () => {
    const area = await offline.areas.add(spec)
    const { registry } = offline
    const { db } = registry
    const closing = createGate()
    const { close } = db
    db.close = async () => {
      closing.open()
      await new Promise(resolve => setImmediate(resolve)) // other calls read the registry meanwhile
      return close.call(db)
    }
    const failure = (message, name) => Promise.reject(Object.assign(new Error(message), { name }))
    db.allDocs = () => failure('the quota has been exceeded', 'QuotaExceededError')
    db.get = () => closing.opened.then(() => failure('The database connection is closing.', 'InvalidStateError'))
    const [storedArea, storedAreas] = await Promise.all([registry.get(area.id), registry.list()])
    assert.deepEqual([storedArea?.name, storedAreas.length], [spec.name, 1])
    assert.notEqual(registry.db, db)
  })

  it('is read again when the first read failed', async () => {
    await offline.close()
    let failures = 1
    /** @param {any[]} args */
    const Failing = function (...args) {
      const db = new PouchDB(...args)
      const { allDocs } = db
      db.allDocs = (...query) => failures-- > 0 ? Promise.reject(new Error('not yet')) : allDocs.apply(db, query)
      return db
    }
    const failingStore =
      new OfflineStore({ remote: shelf.front.url, name: shelf.path('field'), PouchDB: /** @type {any} */ (Failing) })
    try {
      await assert.rejects(failingStore.ready, { code: 'COUCHDB_ERROR' })
      await failingStore.ready
      assert.equal((await failingStore.areas.add(spec)).name, spec.name)
    } finally {
      await failingStore.close()
    }
  })

  it('keeps the changes that another writer makes at the same time', async () => {
    const area = await offline.areas.add(spec)
    const { db } = offline.registry
    const { get } = db
    let isBetween = true
    db.get = async (...args) => { // another writer stores a change between the read and the write
      const doc = await get.apply(db, args)
      if (isBetween) {
        isBetween = false
        await db.put({ ...doc, note: 'by hand' })
      }
      return doc
    }
    await area.live(true)
    db.get = get
    const { note, live } = await db.get(`area:${area.id}`)
    assert.deepEqual([note, live], ['by hand', true])
    await Promise.all(Array.from({ length: 8 }, (_, index) => area.rename(`Name ${index}`)))
    assert.equal((await db.get(`area:${area.id}`)).name, area.name)
  })

  it('keeps other documents and invalid areas, and does not list them', async () => {
    const area = await offline.areas.add(spec)
    await editRegistry(db => db.bulkDocs([
      { _id: 'note', text: 'x' }, { _id: 'area:zzz' },
      { _id: 'area:00000000', type: 'area', name: 'Bad', spec: { layer: 'osm' }, created: '' }
    ]))
    assert.deepEqual(offline.areas.list().map(({ id }) => id), [area.id])
    assert.equal((await docsOf(offline.registry.db)).length, 4)
  })

  it('finishes a removal that stopped before or after the database was deleted', async () => {
    const [first, second] = [await offline.areas.add(spec), await offline.areas.add({ ...spec, name: 'Two' })]
    for (const area of [first, second]) await area.download()
    await editRegistry(async db => {
      for (const doc of await docsOf(db)) await db.put({ ...doc, state: 'removing' })
      await rm(shelf.path(`field-${second.id}`), { recursive: true })
    })
    assert.deepEqual([offline.areas.list(), offline.databases('osm'), await docsOf(offline.registry.db)], [[], [], []])
    assert.deepEqual([first, second].map(({ id }) => existsSync(shelf.path(`field-${id}`))), [false, false])
    assert.equal((await (await offline.areas.add(spec)).download()).tiles, 16)
  })

  it('continues from the tiles of an area when its own figures are older, and anew without its database', async () => {
    const { id } = await offline.areas.add(spec)
    await offline.areas.get(id).download()
    // the figures in the registry are older than the database
    const olderFigures = { state: 'incomplete', tiles: 3, versions: 3, bytes: 5 }
    await editRegistry(async db => db.put({ ...await db.get(`area:${id}`), ...olderFigures }))
    shelf.front.forget()
    const status = await offline.areas.get(id).download()
    assert.deepEqual([status.state, status.tiles, status.versions, shelf.asked()], ['complete', 16, 16, []])

    await editRegistry(() => rm(shelf.path(`field-${id}`), { recursive: true }))
    const area = offline.areas.get(id)
    assert.deepEqual([area.state, area.status().tiles, area.status().updated], ['new', 0, undefined])
    assert.deepEqual((({ state, tiles }) => [state, tiles])(await area.download()), ['complete', 16])
  })

  it('is shared by two stores of one process', async () => {
    const other = await shelf.open()
    const area = await offline.areas.add(spec)
    assert.deepEqual([await outcome(other.areas.add(spec)), other.areas.get('Area').id], ['AREA_EXISTS', area.id])
    const statuses = await Promise.all([area.download(), other.areas.get('Area').download()])
    assert.deepEqual(statuses.map(({ state, tiles }) => [state, tiles]), [['complete', 16], ['complete', 16]])
    assert.equal(shelf.asked().length, 16)
    const added = await Promise.all([offline, other].map(store => outcome(store.areas.add({ ...spec, name: 'Same' }))))
    assert.deepEqual(added.map(result => typeof result).sort(), ['object', 'string'])
  })

  it('ignores tiles that users edited in an earlier release, and is deleted with them and all areas', async () => {
    const image = { content_type: 'image/png', data: Buffer.from('edited').toString('base64') }
    await editRegistry(async registry => {
      await registry.put({ _id: '_local/edits', made: yearStart(2031) })
      const edits = new PouchDB(shelf.path('field-edits'))
      await edits.bulkDocs([
        { _id: 'layer:osm', type: 'layer', layer: 'osm', name: 'Edited', maxzoom: 9 },
        {
          _id: `edition:osm@${yearStart(2031)}`, type: 'edition', layer: 'osm', time: yearStart(2031),
          upload: { to: 'x', left: {} }
        },
        { _id: 'osm:6:1:1', type: 'tile', layer: 'osm', z: 6, x: 1, y: 1, current: true, time: yearStart(2031),
          upload: { error: 'REFUSED' }, _attachments: { tile: image } }
      ])
      await edits.close()
    })
    assert.deepEqual([await offline.device.layers(), await offline.device.head('osm', 6, 1, 1)], [[], undefined])
    const area = await offline.areas.add(spec)
    await area.download()
    assert.equal((await offline.device.head('osm', 6, 1, 1)).version.time, yearStart(2024))
    assert.deepEqual([(await offline.device.layer('osm')).name, await offline.device.extent('osm')],
      [undefined, { first: yearStart(2024), last: yearStart(2024) }])
    assert.equal(existsSync(shelf.path('field-edits')), true, 'what was not sent is not thrown away')
    await offline.destroy()
    assert.deepEqual(['field', `field-${area.id}`, 'field-edits'].map(name => existsSync(shelf.path(name))),
      [false, false, false])
  })

  it('refuses a missing PouchDB, an unknown adapter and a bad address', () => {
    for (const [options, code] of [[{ PouchDB: undefined }, 'NO_POUCHDB'],
      [{ PouchDB, adapter: 'idb' }, 'NO_POUCHDB'], [{ PouchDB, remote: 'x' }, 'BAD_DATABASE']]) {
      assert.throws(() => new OfflineStore({ remote: 'http://127.0.0.1:1/db', name: shelf.path('none'), ...options }),
        { code })
    }
  })
})

describe('the specification of an area', () => {
  const bboxOf = spec => readSpec({ layer: 'osm', zooms: 3, ...spec }).bbox
  const bounds = (west, south, east, north) =>
    ({ getWest: () => west, getSouth: () => south, getEast: () => east, getNorth: () => north })

  it('accepts boxes and polygons in the forms of Leaflet and GeoJSON', () => {
    const box1 = [5, 45, 11, 48]
    for (const spec of [
      { bbox: box1 }, { bbox: '5,45,11,48' }, { bounds: [[45, 5], [48, 11]] }, { bounds: [[48, 5], [45, 11]] },
      { bounds: bounds(5, 45, 11, 48) }, { bounds: [{ lat: 45, lng: 5 }, { lat: 48, lng: 11 }] }
    ]) assert.deepEqual(bboxOf(spec), box1, JSON.stringify(spec))
    const polygon = { type: 'Polygon', coordinates: [[[5, 45], [11, 45], [11, 48], [5, 45]]] }
    assert.deepEqual(readSpec({ layer: 'osm', zooms: [0, 14], polygon }),
      { layer: 'osm', polygon, zooms: { min: 0, max: 14 }, history: false })
  })

  it('normalizes boxes of any copy of the world, also across the antimeridian', () => {
    assert.deepEqual(bboxOf({ bounds: bounds(365, 45, 371, 48) }), [5, 45, 11, 48])
    assert.deepEqual(bboxOf({ bounds: bounds(170, -20, 190, 20) }), [170, -20, -170, 20])
    assert.deepEqual(bboxOf({ bounds: bounds(-500, -95, 500, 95) }), [-180, -90, 180, 90])
  })

  it('accepts zooms as text, object or array, and refuses others with BAD_ZOOM', () => {
    for (const zooms of ['3-7', { min: 3, max: 7 }, [3, 7]]) {
      assert.deepEqual(readSpec({ layer: 'osm', bbox: '0,0,1,1', zooms }).zooms, { min: 3, max: 7 })
    }
    for (const zooms of [[1], [1, 2, 3], [5, 2], 'x', {}, null, true]) {
      assert.throws(() => readSpec({ layer: 'osm', bbox: '0,0,1,1', zooms }), { code: 'BAD_ZOOM' })
    }
  })
})

describe('the meter of a transfer', () => {
  it('reports the rate of the last seconds and the remaining time', () => {
    const meter = new TransferRate()
    meter.mark(0, 0)
    assert.deepEqual(meter.forecast({ bytes: 100000, transfer: 200000 }, 0, 500),
      { rate: undefined, remaining: undefined })
    for (let time = 100; time <= 20000; time += 100) meter.mark(time * 5, time)
    assert.deepEqual(meter.forecast({ bytes: 100000, transfer: 200000 }, 50000, 20000), { rate: 5000, remaining: 20 })
    assert.equal(meter.forecast({ bytes: 100000, transfer: 200000 }, 100000, 20000).remaining, 0)
    assert.ok(/** @type {number} */ (meter.rate(25000)) < 3000, 'it falls when nothing comes')
  })

  it('reports a rate of 0 when nothing has arrived in its window', () => {
    const meter = new TransferRate()
    meter.mark(0, 0)
    meter.mark(50000, 1000)
    assert.equal(meter.rate(40000), 0)
  })
})

describe('the connection to a store', () => {
  const unreachable = new TilecouchError('UNREACHABLE', { url: 'x', why: 'refused' })

  it('stays online when its own older request fails after another was answered', async () => {
    const changes = []
    let fail
    const request = () => new Promise((resolve, reject) => { fail = () => reject(unreachable) })
    const connection = new Connection(/** @type {any} */ ({ request }), isOnline => changes.push(isOnline))
    connection.report(false) // starts its own requests
    connection.report(true) // the answer to another request
    fail()
    await new Promise(setImmediate)
    connection.close()
    assert.deepEqual(changes, [false, true])
  })

  it('stays online when a request fails that began before the last answer', async () => {
    const changes = []
    const request = () => new Promise(() => {}) // its own requests are not answered
    const connection = new Connection(/** @type {any} */ ({ request }), isOnline => changes.push(isOnline))
    let fail
    const lateRequest = connection.watch(() => new Promise((resolve, reject) => { fail = () => reject(unreachable) }))
    await connection.watch(async () => 'an answer')
    fail()
    await assert.rejects(lateRequest, { code: 'UNREACHABLE' })
    assert.deepEqual(changes, [true])
    await assert.rejects(connection.watch(async () => { throw unreachable }), { code: 'UNREACHABLE' })
    connection.close()
    assert.deepEqual(changes, [true, false])
  })
})

describe('the letters of an area', () => {
  it('are noted again with the next tiles when a note failed', async () => {
    const data = packTile({ place: [{ type: 'Point', lines: [[[1, 1]]], properties: { name: 'Łódź' } }] })
    const doc =
      { _id: 'osm:3:0:0', _attachments: { tile: { content_type: 'application/vnd.mapbox-vector-tile', data } } }
    const source = { name: 'a store', fetch: async () => ({ docs: [doc], bytes: 0 }) }
    let [notes, isFull] = [0, true]
    const reader = new LetterReader(source, async () => {
      notes++
      if (isFull) throw new Error('the device is full')
    })
    reader.begin({})
    await assert.rejects(reader.fetch([], {}), /full/)
    await assert.rejects(reader.fetch([], {}), /full/)
    isFull = false
    assert.deepEqual((await reader.fetch([], {})).docs, [doc])
    await reader.fetch([], {})
    assert.equal(notes, 3)
  })
})
