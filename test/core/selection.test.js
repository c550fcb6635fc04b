// The selection of documents that a mirror copies, compared with a simple model.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { parseArea, tileId, versionId } from '../../core/index.js'
import { CouchClient } from '../../core/couch/client.js'
import { Selection, visiblePastDefaults, visiblePastOf } from '../../core/mirror/index.js'
import { belonging } from '../mirror/naive.js'
import { codeOf } from '../support/samples.js'

const times = ['2019', '2020', '2021', '2022', '2023'].map(year => `${year}-01-01T00:00:00Z`)
const EUROPE = [-11.3, 35.2, 30.7, 60.1]

// rows of one to three digits: in the order of ids, other rows stand between neighbours
const place = fc.record(
  { layer: fc.constantFrom('osm', 'day'), z: fc.constantFrom(0,
    4, 7), x: fc.constantFrom(0, 8, 65, 66), y: fc.constantFrom(0, 1, 2, 4, 10, 11, 12, 40, 41, 100, 101, 110) }
)
  .filter(({ z, x, y }) => x < 2 ** z && y < 2 ** z)
const state = fc.record(
  { past: fc.subarray(times), head: fc.option(fc.constantFrom(...times)), rev: fc.constantFrom('1-a', '2-b') }
)
const store = fc.uniqueArray(fc.tuple(place, state),
  { selector: ([{ layer, z, x, y }]) => tileId(layer, z, x, y), maxLength: 40 }).map(documentsOf)
const anySelection = fc.record({
  layers: fc.constantFrom(['osm'], ['day', 'osm'], ['none']),
  bbox: fc.constantFrom(EUROPE, [170.3, -60.2, 179.9, 20.1], [-179.9, -85, 179.9, 85]),
  zooms: fc.constantFrom({ min: 0, max: 4 }, { min: 7, max: 7 }),
  current: fc.constant(true),
  since: fc.constantFrom(...times, '2020-07-01T00:00:00Z', '2030-01-01T00:00:00Z')
}, { requiredKeys: [] })

function documentsOf (tiles) {
  const docs = [
    'osm', 'day'
  ].flatMap(layer => [{ _id: `layer:${layer}`, type: 'layer', layer }, {
    _id: `edition:${layer}@${times[0]}`, type: 'edition', layer, time: times[0]
  }, { _id: `style:${layer}@${times[1]}`, type: 'style', layer, time: times[1] }])
  const tile = ([{ layer, z, x, y }, { past, head, rev }]) => {
    const fields = { type: 'tile', layer, z, x, y }
    const earlier = past.filter(time => !head || time <= head)
    return [
      ...earlier.map(time => ({ _id: versionId(layer, z, x, y, time), _rev: '1-a', ...fields, time, current: false })),
      ...(head ? [{ _id: tileId(layer, z, x, y), _rev: rev, ...fields, time: head, current: true }] : [])
    ]
  }
  return [{ _id: 'tilecouch', type: 'store' }, { _id: '_design/tiles' },
    ...docs, ...tiles.flatMap(tile)].map(doc => ({ _rev: '1-a', ...doc }))
}

const selectionOf = ({ bbox, ...fields }) => new Selection({ ...fields, ...(bbox && { area: parseArea({ bbox }) }) })

/** A client of a simulated CouchDB, which answers from memory. */
function serve (docs) {
  const stored = new Map(docs.map(doc => [doc._id, doc]))
  const ids = [...stored.keys()].sort()
  const range = ({ startkey, endkey, descending, skip = 0, limit }) => {
    const [low, high] = descending ? [endkey, startkey] : [startkey, endkey]
    const idsInRange = ids.filter(id => id >= low && id <= high)
    return { rows: (descending ? idsInRange.reverse() : idsInRange).slice(skip, skip + limit).map(id => ({ id })) }
  }
  const paths = []
  const leafOf = id => stored.has(id) ? { ok: stored.get(id) } : { error: { id, error: 'not_found' } }
  const couch = new CouchClient({
    url: 'http://here/db',
    async exchange ({ url, body }) {
      paths.push(url.pathname.slice('/db/'.length))
      const { queries, docs: wantedDocs } = JSON.parse(body)
      const results = queries ? queries.map(range) : wantedDocs.map(({ id }) => ({ id, docs: [leafOf(id)] }))
      return { status: 200, bytes: Buffer.from(JSON.stringify({ results })) }
    }
  })
  return Object.assign(couch, { asked: paths })
}

/** The ids that a mirror takes from the change feed of a store, and the paths of its requests. */
async function takeFrom (docs, selection) {
  const couch = serve(docs)
  const ids = new Set()
  const doubtful = []
  for (const { _id: id, _rev: rev } of docs) {
    const { take, lookUp } = selection.decide({ id, revs: [rev], deleted: false })
    assert.equal(take, selection.has(id) === true, id)
    if (take) ids.add(id)
    if (lookUp) doubtful.push(id)
  }
  if (selection.since) for (const { id } of await visiblePastOf(couch, selection.since)(doubtful)) ids.add(id)
  return { ids, asked: couch.asked }
}

describe('A selection', () => {
  it('decides from ids as a simple model does from whole documents', async () => {
    await fc.assert(fc.asyncProperty(store, anySelection, async (docs, options) => {
      const { ids } = await takeFrom(docs, selectionOf(options))
      const expected = Object.keys(options).length ? belonging(docs, options)
        : new Set(docs.map(({ _id: id }) => id).filter(id => !id.startsWith('_')))
      assert.deepEqual([...ids].sort(), [...expected].sort())
    }), { numRuns: 300 })
  })

  it('decides the same when the past needs more requests than the usual ones', async () => {
    const savedDefaults = { ...visiblePastDefaults }
    Object.assign(visiblePastDefaults, { depth: 1, slack: 0, ranges: 3, docs: 2 })
    try {
      await fc.assert(fc.asyncProperty(store, fc.constantFrom(...times), async (docs, since) => {
        const { ids } = await takeFrom(docs, new Selection({ since }))
        assert.deepEqual([...ids].sort(), [...belonging(docs, { since })].sort())
      }), { numRuns: 200 })
    } finally {
      Object.assign(visiblePastDefaults, savedDefaults)
    }
  })

  it('asks about the past of a thousand neighbours in three requests', async () => {
    const docs = documentsOf(
      Array.from({ length: 1000 },
        (_, index) => [{ layer: 'osm', z: 12, x: 2000 + Math.floor(index / 100), y: 1000 + index % 100 },
          { past: times.slice(0, 2), head: times[4], rev: '2-b' }])
    )
    const { ids, asked: paths } = await takeFrom(docs, new Selection({ since: '2022' }))
    assert.equal(ids.size, 7 + 2000)
    assert.deepEqual(paths, ['_all_docs/queries', '_bulk_get', '_bulk_get'])
  })

  it('ignores documents whose ids resemble versions', async () => {
    const strangers = ['osm:4:8:8@', 'osm:4:8:8@2020', 'osm:4:8:8@2021-13-01T00:00:00Z',
      'osm:4:8:8@2021-06-01T00:00:00Z/../x', 'osm:4:8:8@2021-06-01T00:00:00Z@2021']
    const docs = [...documentsOf(
      [[{ layer: 'osm', z: 4, x: 8, y: 8 }, { past: times.slice(0, 2), head: times[4], rev: '2-b' }]]
    ), ...strangers.map(id => ({ _id: id, _rev: '1-a' }))]
    const { ids } = await takeFrom(docs, new Selection({ since: '2021-07-01', layers: ['osm'] }))
    assert.deepEqual([...ids].filter(id => id.includes('8:8@')), [`osm:4:8:8@${times[1]}`])
  })

  it('has the same key for the same documents, and another for others', () => {
    const area = parseArea({ bbox: '1,2,3,4' })
    const keyLists = [
      [{ layers: ['b', 'a'] }, { layers: ['a', 'b', 'a'] }],
      [{ zooms: { min: 1, max: 2 } }, { zooms: { max: 2, min: 1 } }],
      [{ area }, { area: parseArea({ bbox: [1, 2, 3, 4] }) }],
      [{ since: '2024' }, { since: '2024-01-01' }, { since: '2024-01-01T00:00:00Z' }],
      [{ current: true }, { current: true, since: '2024' }],
      [{}, { layers: [] }, { current: false }]
    ].map(list => list.map(options => new Selection(options).key))
    for (const keys of keyLists) assert.equal(new Set(keys).size, 1, keys.join(' '))
    assert.equal(new Set(keyLists.map(([key]) => key)).size, keyLists.length)
  })

  it('takes no document with a malformed id into a part', () => {
    const strange = [
      '', ' ', 'osm', 'osm:', 'osm:1:0', 'osm:1:0:0:0', 'osm:01:0:0',
      'osm:1:2:0', 'osm:1:0:-1', 'osm:1:0:1e0', 'osm:31:0:0', 'OSM:1:0:0', 'layer:1:0:0', 'edition:1:0:0',
      'osm:1:0:0@', 'osm:1:0:0@2024', 'osm:1:0:0@2024-02-30T00:00:00Z',
      'osm:1:0:0@2024-01-01T00:00:00Z ', 'osm:1:0:0\n', 'osm:1:0:0@2024-01-01T00:00:00Z\n',
      'layer:', 'layer:OSM', 'layer:layer', 'layer:osm@2024', 'layer:osm\n',
      'edition:osm', 'edition:osm@', 'edition:osm@2024', 'edition:@2024-01-01T00:00:00Z',
      'edition:osm@2024-01-01T00:00:00Z\n', 'style:osm', 'style:osm@',
      'style:osm@2024', 'style:Osm@2024-01-01T00:00:00Z',
      '__proto__', 'constructor', 'tilecouch ', '_design/tiles', 'a'.repeat(1e6),
      `osm:1:0:0@${'2'.repeat(1e6)}`, 'ösm:1:0:0', '\u0000', '💣:1:0:0'
    ]
    for (const options of [{ zooms: { min: 0, max: 30 } }, { layers: ['osm'] }, { since: '2020' }, { current: true }]) {
      const selection = new Selection(options)
      for (const id of strange) {
        assert.equal(selection.has(id), false, `${JSON.stringify(id).slice(0, 60)} with ${JSON.stringify(options)}`)
        assert.deepEqual(selection.decide({ id, revs: ['1-a'], deleted: true }), { take: false, lookUp: false })
      }
    }
    assert.equal(new Selection().has('_design/tiles'), false, 'code is never taken')
    assert.equal(new Selection().has('osm:1:2:0'), true, 'all is all')
  })

  it('refuses bad names of layers and bad times', () => {
    assert.equal(codeOf(() => new Selection({ layers: ['../etc'] })), 'BAD_LAYER')
    assert.equal(codeOf(() => new Selection({ since: 'yesterday' })), 'BAD_TIME')
    assert.equal(codeOf(() => new Selection({ current: true, since: 'yesterday' })), 'BAD_TIME')
  })

  it('asks again whenever a change may uncover a version that was hidden', () => {
    const since = times[2]
    const selection = new Selection({ since, zooms: { min: 1, max: 1 } })
    const decide = (id, revs, deleted = false) => Object.values(selection.decide({ id, revs, deleted })).join()
    assert.equal(decide('osm:1:0:0', ['1-a']), 'true,false', 'a head as it was made')
    assert.equal(decide('osm:1:0:0', ['2-a']), 'true,true', 'a head that may have been an older one')
    assert.equal(decide('osm:1:0:0', ['1-a', '1-b']), 'true,true', 'heads of two masters')
    assert.equal(decide('osm:1:0:0', ['1-a'], true), 'true,true', 'a head that is no more')
    assert.equal(decide(`osm:1:0:0@${since}`, ['1-a']), 'true,false', 'what was in force from that very moment')
    assert.equal(decide(`osm:1:0:0@${since}`, ['2-a'], true), 'true,true', 'and is no more')
    assert.equal(decide(`osm:1:0:0@${times[3]}`, ['2-a'], true), 'true,false', 'what came later hides nothing of then')
    assert.equal(decide(`osm:1:0:0@${times[1]}`, ['1-a']), 'false,true', 'an older one')
    assert.equal(decide(`osm:1:0:0@${times[1]}`, ['2-a'], true), 'true,true', 'an older one that is no more')
    assert.equal(decide('osm:2:0:0', ['2-a'], true), 'false,false', 'another zoom')
    assert.equal(decide('layer:osm', ['2-a'], true), 'true,false', 'a layer')
  })

  it('checks an id in less than 50 microseconds', () => {
    const round = {
      type: 'Polygon',
      coordinates: [Array.from({ length: 501 },
        (_, index) => [10 + 5 * Math.cos(index * Math.PI / 250), 50 + 3 * Math.sin(index * Math.PI / 250)])]
    }
    const selection =
      new Selection({ layers: ['osm'], area: parseArea({ polygon: round }), zooms: { min: 0, max: 16 }, since: '2021' })
    const rounds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(nth => {
      const ids = Array.from({ length: 5000 },
        (_,
          index) =>
            `osm:14:${8410 + 10 * nth + Math.floor(index / 500)}:${5000 + index % 500}` +
              `${index % 2 ? `@${times[index % 5]}` : ''}`)
      const start = performance.now()
      const count = ids.filter(id => selection.has(id)).length
      return { each: (performance.now() - start) * 1000 / ids.length, count, of: ids.length }
    })
    assert.ok(rounds.some(({ count, of: total }) => count > 1000 && count < total), JSON.stringify(rounds))
    const best = Math.min(...rounds.map(({ each }) => each)) // about 5 µs; other processes may slow down single rounds
    assert.ok(best < 50, `${best.toFixed(1)} µs an id`)
  })
})
