// Tests the transfer of an area when the store or the connection fails: missing tiles are reported, and only these are
// fetched the next time.
import assert from 'node:assert/strict'
import { HttpCouch } from '../../client/mirror/http.js'
import { StoreReset, Transfer, readState } from '../../client/offline/transfer.js'
import { Selection } from '../../core/mirror/index.js'
import { Store } from '../../loader/index.js'
import { receivedBytes } from '../client/requests.js'
import { publishFunctions } from '../support/published.js'
import { startFront } from '../support/client/front.js'
import { usePouches } from '../support/client/pouches.js'
import { json, onEachStore, request } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { assertDeviceHolds } from '../support/offline/naive-area.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 10

const isBulk = ({ path }) => path.startsWith('_bulk_get?')
const asksFor = (entry, id) => isBulk(entry) && entry.body.docs.some(doc => doc.id === id)

onEachStore('the transfer of an area', backend => {
  const pouch = usePouches()
  let url, front, store
  const area = { layer: 'osm', selection: new Selection({ layers: ['osm'] }) }
  const write = (year, seed) => store.write(square({ layer: 'osm', side: SIDE, time: T(year), seed }))

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', {})
    await write(2023, (x, y) => x * SIDE + y)
    await publishFunctions(store)
    front = await startFront(url)
  })
  afterEach(() => front.close())

  const couch = (options = {}) => new HttpCouch(front.accountUrl, { firstDelay: 5, ...options })
  const transfer = (db, { limits, ...options } = {}) => new Transfer({
    couch: couch(), db, area, limits: { batch: 10, smallBytes: 1, batchMost: 10, retryDelay: 1, ...limits }, ...options
  })
  const fetchedIds = () => front.requests().filter(isBulk).flatMap(({ body }) => body.docs.map(({ id }) => id))

  it('skips tiles that the store cannot read, and fetches only these the next time', async () => {
    const db = pouch()
    const bad = ['osm:5:2:3', 'osm:5:7:7']
    const removeRule = front.rule(entry => bad.some(id => asksFor(entry, id)) &&
      { status: 500, body: '{"error":"internal","reason":"a shard is damaged"}' })
    const reportedIds = []
    const firstResult = await transfer(db, { onFailed: tile => reportedIds.push(tile.id) }).run()
    assert.deepEqual(firstResult.failed.map(({ id }) => id).sort(), bad)
    assert.deepEqual(reportedIds.sort(), bad)
    assert.ok(firstResult.failed.every(({ rev, error, reason }) => /^1-/.test(rev) && error && reason))
    assert.deepEqual([firstResult.isComplete, firstResult.counts.tiles], [false, SIDE * SIDE - 2])
    assert.deepEqual((await readState(db)).failed.map(({ id }) => id).sort(), bad, 'remembered where the tiles are')

    front.forget()
    assert.deepEqual((await transfer(db).run()).failed.map(({ id }) => id).sort(), bad, 'still not')
    removeRule()
    front.forget()
    const lastResult = await transfer(db).run()
    assert.deepEqual(fetchedIds().sort(), bad, 'nothing else is asked for')
    assert.deepEqual([lastResult.isComplete, lastResult.failed], [true, []])
    assert.deepEqual(lastResult.counts, await assertDeviceHolds(db, url, area))
    front.forget()
    await transfer(db).run()
    assert.deepEqual(fetchedIds(), [])
  })

  it('skips a document that breaks every answer that contains it', async () => {
    const db = pouch()
    front.rule(entry => asksFor(entry, 'osm:5:4:4') && { cut: 200 })
    const { failed, counts } = await transfer(db).run()
    assert.deepEqual([failed.map(({ id }) => id), counts.tiles], [['osm:5:4:4'], SIDE * SIDE - 1])
  })

  it('reports no failed tile when the store is away, and continues afterwards', async () => {
    const db = pouch()
    let answered = 0
    front.rule(entry => { if (isBulk(entry) && ++answered === 5) return front.stop() })
    const failed = []
    const interrupted = transfer(db, { couch: couch({ retries: 2 }), onFailed: tile => failed.push(tile) })
    await assert.rejects(interrupted.run(), { code: 'UNREACHABLE' })
    assert.deepEqual(failed, [])
    const { tiles } = interrupted.progress()
    assert.ok(tiles >= 10 && tiles < SIDE * SIDE, `${tiles} tiles`)
    await front.restart()
    front.forget()
    const { counts, isComplete } = await transfer(db).run()
    assert.equal(isComplete, true)
    assert.ok(fetchedIds().length <= SIDE * SIDE + 2 - tiles,
      `${fetchedIds().length} documents asked for again of ${tiles} that were there`)
    assert.deepEqual(counts, await assertDeviceHolds(db, url, area))
  })

  it('reports no failed tile when the store answers only with errors', async () => {
    const db = pouch()
    front.rule(entry => isBulk(entry) && { status: 500, body: '{"error":"internal"}' })
    const failed = []
    await assert.rejects(transfer(db, { couch: couch({ retries: 1 }), onFailed: tile => failed.push(tile) }).run(),
      { code: 'COUCHDB_ERROR' })
    assert.deepEqual(failed, [])
  })

  it('ends with ABORTED when its signal aborts, and completes the area the next time', async () => {
    const db = pouch()
    const stop = new AbortController()
    const broken = transfer(db, { signal: stop.signal, onProgress: ({ tiles }) => { if (tiles >= 30) stop.abort() } })
    await assert.rejects(broken.run(), { code: 'ABORTED' })
    const { doc_count: count } = await db.info()
    assert.ok(count >= 30 && count < SIDE * SIDE)
    await assert.rejects(transfer(db, { signal: stop.signal }).run(), { code: 'ABORTED' })
    assert.equal((await transfer(db).run()).counts.tiles, SIDE * SIDE)
  })

  it('copies tiles of another area on the device, and fetches only the rest', async () => {
    const [lender, db] = [pouch(), pouch()]
    const half = { layer: 'osm', selection: {
      ...area.selection, has: id => area.selection.has(id), layers: new Set(['osm']), zooms: { min: 5, max: 5 }
    } }
    await transfer(lender, { area: half }).run()
    await write(2024, (x, y) => x < 2 ? 500 + x * SIDE + y : undefined)
    front.forget()
    const { counts, changed } = await transfer(db, { others: [lender] }).run()
    const heads = fetchedIds().filter(id => !id.includes('@') && id.startsWith('osm:'))
    assert.equal(heads.length, 2 * SIDE, 'only those that the other has not')
    assert.equal(changed.tiles, SIDE * SIDE + 2 * SIDE)
    assert.deepEqual(counts, await assertDeviceHolds(db, url, area))
  })

  it('reads only the changes when they are few, and lists the area again when they are many', async () => {
    const db = pouch()
    await transfer(db).run()
    await write(2024, (x, y) => x === 1 ? 700 + y : undefined)
    front.forget()
    const { changed, counts } = await transfer(db).run()
    assert.equal(changed.tiles, 2 * SIDE, 'heads, and what they were before')
    assert.ok(!front.requests().some(({ body }) => body?.queries?.[0]?.group_level), 'nothing was listed')
    assert.deepEqual(counts, await assertDeviceHolds(db, url, area))

    const { rows } = await json(`${url}/_all_docs?startkey="osm:5:8:"&endkey="osm:5:8:~"`)
    for (const { id, value: { rev } } of rows) await store.couch.put({ _id: id, _rev: rev, _deleted: true })
    front.forget()
    const relisted = await transfer(db, { limits: { feed: 5, feedShare: 0 } }).run()
    assert.ok(front.requests().some(({ body }) => body?.queries?.[0]?.group_level), 'it was listed')
    assert.equal(relisted.counts.tiles, SIDE * SIDE - SIDE)
    assert.deepEqual(relisted.counts, await assertDeviceHolds(db, url, area))
  })

  it('fetches the new image of a version that was deleted and rewritten with the same length', async () => {
    const db = pouch()
    await write(2024, (x, y) => x < 3 ? 500 + x * SIDE + y : undefined)
    await transfer(db).run()
    for (const limits of [{}, { feed: 0, feedShare: 0 }]) {
      for (const id of [`osm:5:1:1@${T(2023)}`, 'osm:5:2:2', 'osm:5:7:7']) {
        const { _rev, ...doc } =
          await json(`${url}/${encodeURIComponent(id)}?attachments=true`, { headers: { accept: 'application/json' } })
        const { data } = doc._attachments.tile
        const changedImage = Buffer.from(data, 'base64')
        changedImage[changedImage.length - 20] ^= 1
        await store.couch.put({ _id: id, _rev, _deleted: true })
        const image = { content_type: 'image/png', data: changedImage.toString('base64') }
        await store.couch.put({ ...doc, _attachments: { tile: image } })
      }
      const { counts } = await transfer(db, { limits }).run()
      assert.deepEqual(counts, await assertDeviceHolds(db, url, area))
    }
  })

  describe('over a connection that breaks', () => {
    const LARGE = 40
    const limits = { page: 100, batch: 20, smallBytes: 1, batchMost: 20, retryDelay: 1, noting: 0 }
    const tiles = (z, seed) =>
      square({ layer: 'osm', z, side: LARGE, time: T(2023 + seed), seed: (x, y) => seed * 2000 + x * LARGE + y })
    const listings = () => front.requests()
      .filter(({ kind, body }) => kind === 'index' && body.queries[0].reduce === false)
    beforeEach(() => store.write(tiles(6, 0)))

    it('adapts the number of tiles in a request to the connection', async () => {
      const db = pouch()
      const wholeTransfer = new Transfer({ couch: couch(), db: pouch(), area })
      await wholeTransfer.run()
      const bytes = receivedBytes(front.requests())
      front.forget()
      front.rule(entry => isBulk(entry) && { cut: 40e3 })
      const { counts, failed } = await new Transfer({ couch: couch(), db, area, limits: { retryDelay: 1 } }).run()
      assert.deepEqual([counts, failed], [await assertDeviceHolds(db, url, area), []])
      const received = receivedBytes(front.requests())
      assert.ok(received < 2 * bytes, `${received} bytes came, ${bytes} are needed`)
    })

    it('continues the listing where it stopped, with changes before and after that place', async () => {
      const db = pouch()
      const listAll = async database => { await transfer(database, { limits }).run(); return receivedBytes(listings()) }
      const bytes = await listAll(pouch())
      for (const rounds of [1, 2]) {
        front.forget()
        let answered = 0
        front.rule(entry => { if (isBulk(entry) && ++answered === 30) return front.stop() })
        await assert.rejects(transfer(db, { couch: couch({ retries: 1 }), limits }).run(), { code: 'UNREACHABLE' })
        await front.restart()
        front.reset()
        const { next } = await readState(db)
        assert.ok(next && next[0] === 6 && next[1] >= 8 * rounds, JSON.stringify(next))
        const seed = (x, y) => {
          if (x === 1 && y === 5) return null
          return y === 3 && x % 7 === 0 ? 9000 * rounds + x : undefined
        }
        await store.write(square({ layer: 'osm', z: 6, side: LARGE, time: T(2023 + rounds), seed }))
        for (const id of [`osm:6:1:${6 + rounds}`, `osm:6:39:${6 + rounds}`]) {
          await store.couch.put({ _id: id, _rev: (await json(`${url}/${id}`))._rev, _deleted: true })
        }
      }
      const { counts } = await transfer(db, { limits }).run()
      assert.deepEqual(counts, await assertDeviceHolds(db, url, area))
      const listed = receivedBytes(listings())
      assert.ok(listed < bytes * 2 / 3, `${listed} bytes were listed, ${bytes} are all`)
      assert.equal((await readState(db)).next, undefined)
    })

    it('skips a tile that fails, and fetches it later, even if the listing stopped behind it', async () => {
      const db = pouch()
      let answered = 0
      const removeFault = front.rule(entry => asksFor(entry, 'osm:6:0:7') &&
        { status: 500, body: '{"error":"internal"}' })
      const removeStop = front.rule(entry => { if (isBulk(entry) && ++answered === 60) return front.stop() })
      await assert.rejects(transfer(db, { couch: couch({ retries: 1 }), limits }).run(), { code: 'UNREACHABLE' })
      await front.restart()
      removeStop()
      assert.deepEqual((await readState(db)).failed.map(({ id }) => id), ['osm:6:0:7'])
      const { isComplete, failed } = await transfer(db, { limits }).run()
      assert.deepEqual([isComplete, failed.map(({ id }) => id)], [false, ['osm:6:0:7']])
      removeFault()
      const { counts } = await transfer(db, { limits }).run()
      assert.deepEqual(counts, await assertDeviceHolds(db, url, area))
    })
  })

  it('fails with StoreReset for a store that was created again, and changes nothing', async () => {
    const db = pouch()
    await transfer(db).run()
    const { update_seq: before } = await db.info()
    await request(url, { method: 'DELETE' })
    store = await Store.create(url)
    await store.defineLayer('osm', {})
    await publishFunctions(store)
    await assert.rejects(transfer(db).run(), StoreReset)
    assert.deepEqual([(await db.info()).update_seq, fetchedIds().length], [before, SIDE * SIDE + 2])
    assert.equal((await transfer(pouch()).run()).counts.tiles, 0)
  })

  it('counts the tiles again after an interrupted refresh', async () => {
    const db = pouch()
    await transfer(db).run()
    const stop = new AbortController()
    await store.write(square({ layer: 'osm', side: SIDE, time: T(2024), seed: x => x < 4 ? null : undefined }))
    let calls = 3
    await assert.rejects(transfer(db, { signal: stop.signal, onProgress: () => { if (!calls--) stop.abort() } }).run(),
      { code: 'ABORTED' })
    assert.equal((await readState(db)).counts, undefined)
    const { counts } = await transfer(db).run()
    assert.deepEqual(counts, await assertDeviceHolds(db, url, area))
    assert.deepEqual((await readState(db)).counts, counts)
  })

  it('ends at once when its database is closed', async () => {
    const db = pouch()
    const running = transfer(db, { onProgress: ({ tiles }) => { if (tiles === 30) db.close() } }).run()
    await assert.rejects(running, { code: 'ABORTED' })
  })
}, { timeout: 20000 })
