// Tests how a check walks over a layer in a store: pages, areas, the time index, and documents that change meanwhile.
import assert from 'node:assert/strict'
import { compareIds, parseArea, tileId, versionId } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { walkDefaults } from '../../loader/check/walk.js'
import { Timelines } from '../../loader/check/tile.js'
import { random as seeded } from '../../bench/tiles.js'
import { onEachStore } from '../support/backends.js'
import { flipped, findings, tile } from '../support/sample-tiles.js'
import { publishFunctions } from '../support/published.js'
import { useStore } from '../support/store.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']

describe('versions that are read in the order of their ids', () => {
  it('are grouped by tile, with at most seven tiles open at once', () => {
    const next = seeded(3)
    const rows = [...new Set(Array.from({ length: 300 }, () => Math.floor(10 ** (next() * 6))))]
    const docs = rows.flatMap(y => ['', T1, T2, T3].filter(() => next() < 0.7)
      .map(time => ({ time, y, x: Math.floor(next() * 3) + 1 })))
      .map(({ time, x, y }) => {
        const _id = time ? versionId('osm', 20, x, y, time) : tileId('osm', 20, x, y)
        return { address: { layer: 'osm', z: 20, x, y, ...(time && { time }) }, doc: { _id, time: time || T3 } }
      })
    docs.sort((a, b) => compareIds(a.doc._id, b.doc._id))
    const timelines = new Timelines()
    const groups = []
    let open = 0
    let most = 0
    const seenIds = new Set()
    for (const { address, doc } of docs) {
      const id = tileId('osm', 20, address.x, address.y)
      if (!seenIds.has(id)) open++
      seenIds.add(id)
      const finished = timelines.add(address, doc)
      open -= finished.length
      most = Math.max(most, open)
      groups.push(...finished)
    }
    groups.push(...timelines.end())
    const expected = new Map()
    for (const { address, doc } of docs) {
      const id = tileId('osm', 20, address.x, address.y)
      expected.set(id, [...expected.get(id) ?? [], doc._id])
    }
    assert.deepEqual(Object.fromEntries(groups.map(({ id, versions }) => [id, versions.map(({ doc }) => doc._id)])),
      Object.fromEntries(expected))
    assert.equal(groups.length, expected.size, 'each tile once')
    assert.ok(most <= 7, `${most} open at once`)
  })
})

onEachStore('the walk of a check over a layer', backend => {
  let store
  const { page } = walkDefaults
  useStore(backend, { async fill (newStore) {
    store = newStore
    await store.defineLayer('osm', {})
  } })
  beforeEach(() => { walkDefaults.page = 7 }) // so a tile and its past lie on different pages
  afterEach(() => { walkDefaults.page = page })

  const column = async (x, times, rows = 24, z = 8) => {
    for (const [index, time] of times.entries()) {
      await store.write(await Promise.all(Array.from({ length: rows },
        async (_, y) => ({ layer: 'osm', z, x, y, time, bytes: await tile(index * 1000 + y) }))))
    }
  }
  const check = options => findings({ store, layer: 'osm' }, { decode: false, ...options })
  const remove = async id => store.couch.request(
    { method: 'DELETE', path: encodeURIComponent(id), qs: { rev: (await store.couch.get(id))._rev } }
  )

  it('reads all versions in pages, and finds missing heads among rows that begin with the same digits', async () => {
    await column(1, [T1, T2])
    const { summary, said } = await check()
    assert.deepEqual([said, summary.tiles, summary.checked.documents, summary.checked.contents], [[], 24, 48, 48])
    for (const y of [1, 10, 2, 11]) await remove(`osm:8:1:${y}`)
    assert.deepEqual((await check()).said, [1, 10, 11, 2].map(y => `no-head osm:8:1:${y}`))
  })

  it('reads only the given zooms and area', async () => {
    await column(1, [T1], 20)
    await column(2, [T1], 20)
    await column(1, [T1], 4, 5)
    await column(3, [T1], 4, 5)
    for (const id of ['osm:8:1:3', 'osm:8:2:3', 'osm:5:1:0', 'osm:5:3:0']) {
      await store.couch.put({ ...await store.couch.get(id), current: false })
    }
    const tilesAndIds = async options => {
      const { said, summary } = await check(options)
      return [summary.tiles, said.map(text => text.split(' ')[1])]
    }
    assert.deepEqual(await tilesAndIds({ zooms: { min: 5, max: 5 } }), [8, ['osm:5:1:0', 'osm:5:3:0']])
    assert.deepEqual(await tilesAndIds({ zooms: { min: 6, max: 7 } }), [0, []])
    // column 1 at zoom 5 is columns 8 to 15 at zoom 8
    const area = parseArea({ bbox: [-168.7, 80, -157.6, 86] })
    assert.deepEqual(await tilesAndIds({ area }), [4, ['osm:5:1:0']])
    const { columns } = walkDefaults
    walkDefaults.columns = 0 // as for an area too wide for one request per column
    try {
      assert.deepEqual(await tilesAndIds({ area }), [4, ['osm:5:1:0']])
    } finally {
      walkDefaults.columns = columns
    }
  })

  it('decodes only the versions that were shown at a given time', async () => {
    await column(1, [T1, T2, T3], 10)
    const counts = async time => {
      const { summary } = await findings({ store, layer: 'osm', time })
      return [summary.what, summary.checked.documents, summary.checked.contents]
    }
    assert.deepEqual(await counts('2022'), ['osm@2022', 30, 10])
    assert.deepEqual(await counts('2020'), ['osm@2020', 30, 0])
    await assert.rejects(counts('soon'), { code: 'BAD_TIME' })
  })

  it('finds no fault in a tile that is written at the same time', async () => {
    await column(1, [T1], 24)
    let pages = 0
    store.couch.request = async request => {
      const answer = await Couch.prototype.request.call(store.couch, request)
      // a head of the first page moves to the past, which a later page reads
      if (request.qs?.limit === walkDefaults.page && ++pages === 1) {
        for (const time of [T2, T3]) {
          await store.write([{ layer: 'osm', z: 8, x: 1, y: 1, time, bytes: await tile(1 + time.charCodeAt(3)) }])
        }
      }
      return answer
    }
    const { said, summary } = await check()
    assert.deepEqual([said, summary.tiles, summary.checked.documents],
      [[], 24, 26], 'an old head and two newer versions in its past were seen')
  })

  it('compares the time index and its sums with the documents', async () => {
    await column(1, [T1, T2], 20)
    await publishFunctions(store)
    assert.deepEqual((await check()).said, [])
    const ddoc = await store.couch.get('_design/versions')
    const map = ddoc.views.by_tile.map
    const put = async text => store.couch.put({ ...ddoc, _rev: (await store.couch.get('_design/versions'))
      ._rev, views: { ...ddoc.views, by_tile: { map: text, reduce: '_count' } } })
    await put(map.replace("if (doc.type !== 'tile') return", "if (doc.type !== 'tile' || doc.y === 3) return"))
    assert.deepEqual((await check()).said, ['not-in-index osm:8:1:3', `not-in-index osm:8:1:3@${T1}`])
    await put(map.replace('bytes: image ? image.length : 0', 'bytes: image ? image.length + (doc.y === 4 ? 1 : 0) : 0'))
    const { found } = await check()
    assert.deepEqual(found.map(({ where }) => where), ['osm:8:1:4', `osm:8:1:4@${T1}`])
    assert.match(found[0].why, /^bytes \d+, the document says \d+$/)
    await put(map.replace('(function (doc) {',
      "(function (doc) {\n  if (doc.y === 5) emit([doc.layer, 8, 1, 500, doc.time], {})"))
    assert.deepEqual((await check()).said, ['index-too-long osm'])
    await put(map)
    const versions = await store.couch.get('_design/versions')
    const byArea = { map: versions.views.by_area.map.replace('image.length)', '7)'), reduce: '_stats' }
    await store.couch.put({ ...versions, views: { ...versions.views, by_area: byArea } })
    const { found: sums } = await check()
    assert.deepEqual(
      sums.map(({ code, where, why }) => [
        code, where, /^versions\/by_area: zoom 8: 20 with 140 bytes, there are 20 with \d+ bytes$/.test(why)
      ]), [['wrong-sums', 'osm', true]]
    )
  })

  /** Changes the answers of the store to `_bulk_get`. */
  const changeAnswers = change => {
    store.couch.request = async request => {
      const ask = () => Couch.prototype.request.call(store.couch, request)
      return request.path === '_bulk_get' ? change(ask, request) : ask()
    }
  }

  it('finds images whose bytes do not match their digest or length', async () => {
    await column(1, [T1], 20)
    changeAnswers(async ask => (await ask()).map(row => {
      const { doc } = row
      if (!doc?._attachments) return row
      const { data } = doc._attachments.tile
      if (doc.y === 3) doc._attachments.tile.data = flipped(data, data.indexOf('IDAT') + 9)
      if (doc.y === 4) doc._attachments.tile.data = data.subarray(0, -1)
      return row
    }))
    assert.deepEqual((await check()).said,
      ['truncated-tile osm:8:1:4', 'wrong-digest osm:8:1:3', 'wrong-digest osm:8:1:4', 'wrong-length osm:8:1:4'])
  })

  it('finds documents that the server cannot read or has no answer for, and reads the others', async () => {
    await column(1, [T1], 20)
    const { retries } = store.couch.options
    store.couch.options.retries = 0
    changeAnswers((ask, { body }) => {
      if (body.docs.some(({ id }) => id === 'osm:8:1:13')) {
        throw Object.assign(new Error('badmatch'), { code: 'COUCHDB_ERROR' })
      }
      return ask()
    })
    const first = await check()
    assert.deepEqual([first.said, first.summary.checked.contents], [['unreadable-tile osm:8:1:13'], 20])
    Object.assign(store.couch.options, { retries, firstDelay: 1 })
    let requests = 0
    changeAnswers(async ask => {
      requests++
      return (await ask()).map(row => ['osm:8:1:13', 'osm:8:1:7'].includes(row.id)
        ? { id: row.id, error: 'timeout', reason: 'a shard is away' } : row)
    })
    const { said, summary } = await check()
    assert.deepEqual([said, summary.checked.contents],
      [['unreadable-tile osm:8:1:13', 'unreadable-tile osm:8:1:7'], 20])
    assert.ok(requests < 10, `${requests} requests`)
  })

  it('skips a document that is deleted while it is read', async () => {
    await column(1, [T1], 20)
    changeAnswers(async ask => {
      if (await store.couch.get('osm:8:1:7')) await remove('osm:8:1:7')
      return ask()
    })
    assert.deepEqual((await check()).said, [])
  })

  it('reports the total number of tiles if the store has its views', async () => {
    await column(1, [T1, T2], 10)
    await column(1, [T1], 4, 5)
    await store.write([{ layer: 'osm', z: 8, x: 1, y: 3, time: T3, gone: true }])
    const totals = async options => {
      const totalsSeen = new Set()
      await check({ ...options, onProgress: ({ total }) => totalsSeen.add(total) })
      return [...totalsSeen]
    }
    assert.deepEqual(await totals(), [undefined])
    await publishFunctions(store)
    assert.deepEqual(await totals(), [24])
    assert.deepEqual(await totals({ zooms: { min: 5, max: 6 } }), [4])
  })

  it('stops with a summary when its signal aborts', async () => {
    await column(1, [T1], 30)
    const stop = new AbortController()
    const stopped = findings({ store, layer: 'osm' },
      { signal: stop.signal, onProgress: ({ tiles }) => { if (tiles === 5) stop.abort() } })
    const error = await stopped.then(() => assert.fail('it went on'), reason => reason)
    assert.deepEqual([error.code, error.summary.tiles, error.summary.kind], ['ABORTED', 5, 'layer'])
  })

  it('fails with UNREACHABLE when the server is gone', async () => {
    await column(1, [T1], 5)
    store.couch.options.retries = 0
    store.couch.request = request => request.path === '_bulk_get' || request.path === ''
      ? Promise.reject(Object.assign(new Error('cannot reach'), { code: 'UNREACHABLE' }))
      : Couch.prototype.request.call(store.couch, request)
    try {
      await assert.rejects(check(), { code: 'UNREACHABLE' })
    } finally {
      delete store.couch.request
    }
  })
})
