// Tests mirrors of a store in a PouchDB and back, with every kind of document. PouchDB runs in Node, on LevelDB.
import assert from 'node:assert/strict'
import { Mirror, mirror } from '../../client/mirror/index.js'
import { Store } from '../../loader/index.js'
import { differences } from '../mirror/compare.js'
import { as, json, onEachStore, post, request } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { PouchDB, everything, usePouches } from '../support/client/pouches.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 6

const bulk = (url, docs) => post(`${url}/_bulk_docs`, { docs, new_edits: false })
const readWithData = (url, id) => json(`${url}/${id}?attachments=true`, { headers: { accept: 'application/json' } })
const text = data => ({ content_type: 'text/plain', data: Buffer.from(data).toString('base64') })

/** Fills a store with editions of two layers, conflicts, deleted documents and documents of other programs. */
async function fillStore (url) {
  const store = await Store.create(url)
  await store.defineLayer('osm', {})
  await store.defineLayer('sat', {})
  for (const year of [2022, 2023, 2024]) {
    const seed = (x, y) => {
      if (x === 1 && year > 2022) return null
      return y % 2 ? year + x : x * SIDE + y
    }
    await store.write(square({ layer: 'osm', time: T(year), side: SIDE, seed }))
  }
  await store.write(square({ layer: 'sat', time: T(2024), side: 3, seed: (x, y) => 500 + x * SIDE + y }))
  const id = 'osm:5:0:1'
  const head = await readWithData(url, id)
  await bulk(url, [
    { ...head, _rev: '2-aaaa', _revisions: { start: 2, ids: ['aaaa', 'bbbb'] }, time: T(2020), _attachments: {
      tile: { content_type: 'image/png', data: head._attachments.tile.data }
    } },
    { _id: 'sat:5:2:2', _rev: '3-cccc', _revisions: { start: 3, ids: ['cccc', 'dddd', 'eeee'] }, _deleted: true },
    { _id: 'osm:5:7:7', _rev: '2-ffff', _revisions: { start: 2, ids: ['ffff', '9999'] }, _deleted: true },
    { _id: 'a note/ä ☕', _rev: '1-abcd', _revisions: { start: 1, ids: ['abcd'] }, _attachments: {
      'long.txt': text('coffee '.repeat(500)), empty: text('')
    } }
  ])
  return store
}

onEachStore('a mirror of a store in a PouchDB', backend => {
  let url
  const pouch = usePouches()
  const withoutDesigns = { filter: ({ _id: id }) => !id.startsWith('_design/') }

  before(async () => {
    url = await backend.database()
    await fillStore(url)
  })

  it('equals a PouchDB.replicate: documents, revisions, conflicts, deletions and attachments', async () => {
    const [mirrored, replicated] = [pouch(), pouch()]
    const status = await mirror(url, mirrored)
    await PouchDB.replicate(url, replicated, withoutDesigns)
    assert.deepEqual(await everything(mirrored), await everything(replicated))
    const { docs_written: written } = await PouchDB.replicate(url, mirrored, withoutDesigns)
    assert.equal(written, 0, 'nothing is left to do for PouchDB')
    const second = await mirror(url, replicated)
    assert.deepEqual([second.missing, second.docs, second.bytes], [0, 0, 0], 'nor for us after PouchDB')
    assert.deepEqual([status.refused, status.absent], [0, 0])
    const { _attachments: notes } = await mirrored.get('a note/ä ☕', { attachments: true, binary: true })
    assert.equal(notes['long.txt'].data.toString(), 'coffee '.repeat(500))
  })

  it('becomes an equal store when it is mirrored to a new database', async () => {
    const middle = pouch()
    await mirror(url, middle)
    const copy = await backend.database()
    await request(copy, { method: 'PUT' })
    await mirror(middle, copy)
    const different = await differences(url, copy)
    // PouchDB sets revpos to the revision in which it received the attachment
    assert.deepEqual(different.filter(line => !/revpos is/.test(line)), [])
    const backStatus = await mirror(copy, middle)
    assert.deepEqual([backStatus.missing, backStatus.docs], [0, 0])
  })

  it('reads only changed documents, without images that did not change', async () => {
    const source = await backend.database()
    const store = await fillStore(source)
    const copy = pouch()
    const first = await mirror(source, copy)
    assert.equal((await mirror(source, copy)).changes, 0, 'it goes on where it was')
    const heads = await Promise.all([2, 3, 4, 5].map(x => json(`${source}/osm:5:${x}:2`)))
    for (const head of heads) await store.couch.put({ ...head, expires: T(2030) })
    const second = await mirror(source, copy)
    assert.equal(second.docs, 4)
    assert.ok(second.bytes < 4 * 750, `${second.bytes} bytes for four documents without images`)
    const [{ _id: id }] = heads
    const image = Buffer.from(await copy.getAttachment(id, 'tile')) // PouchDB adds a field `type` to the buffer
    assert.equal((await copy.get(id)).expires, T(2030))
    assert.deepEqual(image, Buffer.from((await readWithData(source, id))._attachments.tile.data, 'base64'))
    assert.ok(first.bytes > 20 * second.bytes)
    await copy.compact()
    assert.ok(image.equals(await copy.getAttachment(id, 'tile')), 'also when its old revision is gone')
  })

  it('reads an attachment again that the PouchDB does not know by its digest', async () => {
    const source = await backend.database()
    const store = await fillStore(source)
    const copy = pouch()
    await mirror(source, copy)
    const note = await json(`${source}/a%20note%2F%C3%A4%20%E2%98%95`)
    // CouchDB computes the digest of the compressed text, PouchDB that of the text: it knows no such attachment
    await store.couch.put({ ...note, more: 1 })
    assert.equal((await mirror(source, copy)).docs, 1)
    const { more, _attachments: notes } = await copy.get('a note/ä ☕', { attachments: true, binary: true })
    assert.deepEqual([more, notes['long.txt'].data.toString()], [1, 'coffee '.repeat(500)])
  })

  it('contains only the layers, area, zooms and times of its options', async () => {
    const idsOf = async options => {
      const db = pouch()
      await mirror(url, db, options)
      return (await db.allDocs()).rows.map(({ id }) => id).filter(id => id.startsWith('osm:') || id.startsWith('sat:'))
    }
    assert.deepEqual(await idsOf({ layers: ['sat'], current: true, bbox: [-180, 80, -160, 85] }),
      ['sat:5:0:0', 'sat:5:0:1', 'sat:5:0:2', 'sat:5:1:0', 'sat:5:1:1', 'sat:5:1:2'])
    assert.deepEqual(await idsOf({ zooms: '0-4' }), [])
    const polygon = { type: 'Polygon', coordinates: [[[-179, 84.9], [-170, 84.9], [-170, 84.8], [-179, 84.9]]] }
    assert.deepEqual(await idsOf({ layers: ['osm'], polygon }), ['osm:5:0:0'])
    const since = await idsOf({ layers: ['osm'], since: '2023-06-01' })
    assert.ok(since.includes(`osm:5:2:1@${T(2023)}`), 'what was to be seen then')
    assert.ok(!since.includes(`osm:5:2:1@${T(2022)}`), 'and not what was gone by then')
    assert.ok(since.includes('osm:5:2:1'))
  })

  it('counts the missing documents and writes nothing in a dry run', async () => {
    const db = pouch()
    const { missing, docs } = await mirror(url, db, { dryRun: true })
    assert.ok(missing > 50)
    const { doc_count: count } = await db.info()
    assert.deepEqual([docs, count], [0, 0])
    await assert.rejects(db.get('_local/tilecouch'), { status: 404 })
  })

  it('writes nothing to the store', async () => {
    const before = await json(url)
    await mirror(url, pouch())
    const after = await json(url)
    assert.equal(after.update_seq, before.update_seq)
    assert.equal((await request(`${url}/_local/tilecouch`)).status, 404)
  })

  it('reports its sides without the user name and the password', async () => {
    const { from, to } = new Mirror(as(url, 'somebody', 'se:cr%2Fet'), pouch())
    assert.match(from, /^http:\/\/127\.0\.0\.1:\d+\/\w+$/)
    assert.match(to, /^PouchDB /)
  })

  if (backend.supports.users) it('needs a user name and password to read a private store', async () => {
    const closed = await backend.database()
    const store = await Store.create(closed, { public: false })
    await store.defineLayer('osm', {})
    await assert.rejects(mirror(as(closed), pouch()),
      ({ code, message }) => code === 'FORBIDDEN' && !/admin|test@/.test(message))
    await assert.rejects(mirror(as(closed, 'stranger', 'wrong'), pouch()), { code: 'UNAUTHORIZED' })
    assert.equal((await mirror(closed, pouch())).docs, 2)
  })
})
