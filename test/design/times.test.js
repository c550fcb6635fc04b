import assert from 'node:assert/strict'
import fc from 'fast-check'
import { countTiles, tileBounds, tileRanges } from '../../core/index.js'
import { errorOf, rewritten, runList } from '../support/design-functions.js'

const degrees = limit => fc.integer({ min: -limit * 1e6, max: limit * 1e6 }).map(value => value / 1e6)
const anywhere = fc.tuple(degrees(180), degrees(90), degrees(180), degrees(90))
  .map(([w, a, e, b]) => [w, Math.min(a, b), e, Math.max(a, b)])
const onEdges = fc.tuple(fc.nat(8), fc.nat(8), fc.nat(8), fc.nat(8)).map(([a, b, c, d]) => {
  const [, , , north] = tileBounds(3, 0, Math.min(b, d))
  const [, , , south] = tileBounds(3, 0, Math.max(b, d))
  return [a * 45 - 180, south, c * 45 - 180, north]
})
const bbox = fc.oneof(anywhere, onEdges)

const T1 = '2024-01-01T00:00:00Z'
const T2 = '2024-02-01T00:00:00Z'
const row = (x, y, time = T1, bytes = 10) => ({
  id: `osm:3:${x}:${y}@${time}`, key: ['osm', 3, x, y, time], value: { rev: '1-a', bytes, expires: null, gone: false }
})

/** Array keys as CouchDB orders them, as far as these tests need it: numbers, then objects; the shorter first. */
function compareKeys (a, b) {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const rank = value => typeof value === 'object' ? 2 : typeof value === 'string' ? 1 : 0
    if (rank(a[at]) !== rank(b[at])) return rank(a[at]) - rank(b[at])
    if (a[at] !== b[at] && rank(a[at]) < 2) return a[at] < b[at] ? -1 : 1
  }
  return a.length - b.length
}

describe('times of a view of the map', () => {
  it('are counted over exactly the tiles that core counts, for any box', () => {
    const world = Array.from({ length: 64 }, (_, index) => row(index >> 3, index & 7))
    fc.assert(fc.property(bbox, box => {
      const { query } = rewritten(`/osm/times.json?bbox=${box}&z=3`)
      const [startkey, endkey] = [JSON.parse(query.startkey), JSON.parse(query.endkey)]
      const range = world.filter(({ key }) => compareKeys(startkey, key) <= 0 && compareKeys(key, endkey) <= 0)
      const wanted = countTiles(box, { min: 3, max: 3 })
      assert.deepEqual(runList('times', range, query).json.times, [{ time: T1, tiles: wanted, bytes: 10 * wanted }])
    }), { numRuns: 300 })
  })

  it('ask for the columns and rows that core works out, at any zoom', () => {
    fc.assert(fc.property(anywhere, fc.nat(30), (box, z) => {
      fc.pre(box[0] <= box[2])
      const { query } = rewritten(`/osm/times.json?bbox=${box}&z=${z}`)
      const [first] = tileRanges(box, z)
      assert.equal(query.rows, `${first.y0}-${first.y1}`)
      assert.equal(query.columns.split('-')[0], String(first.x0))
    }), { numRuns: 300 })
  })

  it('need a zoom with a box, and refuse boxes that core refuses', () => {
    assert.equal(errorOf(rewritten('/osm/times.json?bbox=1,2,3,4')), 'BAD_ZOOM')
    for (const z of ['31', '-1', 'a', '1.5', '']) {
      assert.equal(errorOf(rewritten(`/osm/times.json?z=${z}`)), 'BAD_ZOOM', z)
    }
    for (const text of ['', ',,,', '1,2,3', '1,2,,4', '1,2,3,x',
      '-181,0,0,1', '0,0,181,1', '0,2,0,1', '0,-91,0,0', '0,0,0,91', '0,-Infinity,0,0', '1,2,3,4,5']) {
      assert.equal(errorOf(rewritten(`/osm/times.json?bbox=${text}&z=3`)), 'BAD_BBOX', text)
    }
  })
})

describe('the list of times', () => {
  it('sums the tiles and bytes of each time, oldest first', () => {
    const { json, headers } = runList('times', [row(0, 0, T2, 5), row(0, 1, T1, 7), row(1, 0, T2, 1)],
      { layer: 'osm', z: '3', columns: '0-1', rows: '0-1' })
    assert.deepEqual(json,
      { layer: 'osm', z: 3, times: [{ time: T1, tiles: 1, bytes: 7 }, { time: T2, tiles: 2, bytes: 6 }] })
    assert.equal(headers['Content-Type'], 'application/json')
  })

  it('leaves out tiles outside the columns and rows of the view', () => {
    const rows = [row(0, 5), row(1, 0), row(1, 1), row(1, 2), row(2, 1), row(7, 1)]
    assert.equal(runList('times', rows, { layer: 'osm', z: '3', columns: '1-2', rows: '1-1' }).json.times[0].tiles, 2)
    assert.equal(runList('times', rows, { layer: 'osm', z: '3', columns: '7-1', rows: '1-1' }).json.times[0].tiles,
      2, 'over the antimeridian')
  })

  it('reads reduced rows of by_time, of the whole layer or of one zoom', () => {
    const reduced = (key, count, sum) => ({ key, value: { count, sum } })
    const layer = [reduced(['osm', T1], 3, 30), reduced(['osm', T2], 1, 10)]
    assert.deepEqual(runList('times', layer, { layer: 'osm', z: '' }).json,
      { layer: 'osm', times: [{ time: T1, tiles: 3, bytes: 30 }, { time: T2, tiles: 1, bytes: 10 }] })
    const zooms = [reduced(['osm', T1, 2], 1, 10), reduced(['osm', T1, 3], 2, 20), reduced(['osm', T2, 2], 1, 10)]
    assert.deepEqual(runList('times', zooms, { layer: 'osm', z: '2' }).json.times,
      [{ time: T1, tiles: 1, bytes: 10 }, { time: T2, tiles: 1, bytes: 10 }])
  })

  it('is empty when the view has no tiles', () => {
    assert.deepEqual(runList('times', [], { layer: 'osm', z: '3', columns: '0-1', rows: '0-1' }).json,
      { layer: 'osm', z: 3, times: [] })
  })
})
