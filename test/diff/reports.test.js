// What differs, tile by tile: lines and polygons, in files that appear whole.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import path from 'node:path'
import { tileBounds } from '../../core/index.js'
import { GeoJsonReport, ListReport } from '../../loader/export/diff/reports.js'
import { useFolder } from '../support/folder.js'
import { ogrinfo, skip } from '../support/tools.js'
import { pattern } from '../support/pattern.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const change = (z, x, y, fields = {}) => (
  { z, x, y, change: 'changed', from: { z, x, y, time: T1, size: 10 }, to: { z, x, y, time: T2, size: 20 }, ...fields }
)
const corners = [change(3, 0, 0), change(3, 7, 7), change(3, 4, 2)]

// of a ring in degrees, seen from its first corner; positive when it goes counterclockwise
function area (ring) {
  const seen = ring.map(([x, y]) => [x - ring[0][0], y - ring[0][1]])
  return seen.slice(1).reduce((sum, [x, y], index) => sum + seen[index][0] * y - x * seen[index][1], 0) / 2
}

describe('the tiles that differ', () => {
  const folder = useFolder()
  const read = name => readFileSync(path.join(folder.dir, name), 'utf8')

  async function geojson (changes, options = {}) {
    const report = await GeoJsonReport.open(path.join(folder.dir, 'g.geojson'), { name: 'osm@2023 -> osm', ...options })
    for (const each of changes) await report.add(each)
    await report.finish()
    return { report, collection: JSON.parse(read('g.geojson')) }
  }

  it('are not written through a link in the place of the unfinished file', async () => {
    folder.write({ theirs: 'theirs' })
    symlinkSync(path.join(folder.dir, 'theirs'), path.join(folder.dir, 'list.jsonl.part'))
    const report = await ListReport.open(path.join(folder.dir, 'list.jsonl'), process.stdout)
    await report.add(change(3, 1, 2))
    await report.finish()
    assert.deepEqual([read('theirs'), read('list.jsonl').length > 9], ['theirs', true])
  })

  it('are JSON lines with both times and a number of bytes', async () => {
    const report = await ListReport.open(path.join(folder.dir, 'list.jsonl'), process.stdout)
    for (const each of [change(3, 1, 2), change(3, 1, 3, { change: 'added', from: undefined }),
      change(3, 1, 4, { change: 'removed', to: undefined, since: T2 })]) await report.add(each)
    assert.ok(!existsSync(path.join(folder.dir, 'list.jsonl')), 'not before it is whole')
    await report.finish()
    assert.deepEqual(read('list.jsonl').trimEnd().split('\n').map(line => JSON.parse(line)), [
      { z: 3, x: 1, y: 2, change: 'changed', from: T1, to: T2, bytes: 20 },
      { z: 3, x: 1, y: 3, change: 'added', from: null, to: T2, bytes: 20 },
      { z: 3, x: 1, y: 4, change: 'removed', from: T1, to: T2, bytes: 10 }
    ])
    assert.deepEqual(readdirSync(folder.dir), ['list.jsonl'])
  })

  it('go to standard output no faster than they are read', async () => {
    const stdout = new PassThrough({ highWaterMark: 100 })
    const report = await ListReport.open('-', stdout)
    const written = []
    const writing =
      (async () => { for (let y = 0; y < 8; y++) { await report.add(change(3, 0, y)); written.push(y) } })()
    await new Promise(resolve => { setImmediate(resolve) })
    assert.equal(written.length, 0, 'the first line fills it')
    let text = ''
    stdout.on('data', chunk => { text += chunk })
    await writing
    await report.finish()
    assert.equal(text.trimEnd().split('\n').length, 8)
    assert.ok(stdout.writable, 'others write there, too')
  })

  it('are polygons as in RFC 7946, and none crosses the antimeridian', async () => {
    const { collection } = await geojson(corners)
    assert.deepEqual(Object.keys(collection), ['type', 'name', 'features', 'bbox'])
    assert.equal(collection.features.length, 3)
    for (const [index, { type, geometry: { type: kind, coordinates }, properties }] of collection.features.entries()) {
      const { z, x, y } = corners[index]
      assert.deepEqual([type, kind, coordinates.length], ['Feature', 'Polygon', 1])
      const [ring] = coordinates
      assert.equal(ring.length, 5)
      assert.deepEqual(ring[0], ring[4])
      assert.ok(area(ring) > 0, 'the outline goes counterclockwise')
      assert.ok(ring.every(([lon, lat]) => Math.abs(lon) <= 180 && Math.abs(lat) <= 90))
      const [west, south, east, north] = tileBounds(z, x, y)
      const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} ${b}`)
      close(ring[0][0], west); close(ring[0][1], south); close(ring[2][0], east); close(ring[2][1], north)
      assert.deepEqual(properties, { z, x, y, change: 'changed', from: T1, to: T2, bytes: 20 })
    }
    const [west, south, east, north] = collection.bbox
    assert.deepEqual([west, east, south], [-180, 180, -north])
  })

  it('share their edges with their neighbours, at the deepest zoom as well', async () => {
    for (const z of [0, 1, 14, 30]) {
      const across = 2 ** z
      const x = Math.floor(across / 3)
      const tiles = [[x, x], [Math.min(x + 1, across - 1), x], [x, Math.min(x + 1, across - 1)]]
      const { collection } = await geojson(tiles.map(([column, row]) => change(z, column, row)))
      const [one, right, below] = collection.features.map(feature => feature.geometry.coordinates[0])
      for (const ring of [one, right, below]) assert.ok(area(ring) > 0, `zoom ${z}`)
      if (z === 0) continue
      assert.equal(one[1][0], right[0][0])
      assert.equal(one[0][1], below[2][1])
    }
  })

  it('are polygons of the deepest zoom, in any order of zooms, or of every zoom', async () => {
    const changes =
      [change(1, 0, 0), change(10, 5, 5), change(11, 1, 1), change(11, 1, 2), change(2, 0, 0), change(9, 9, 9)]
    const { collection, report } = await geojson(changes)
    assert.deepEqual(collection.features.map(({ properties: { z, x, y } }) => [z, x, y]), [[11, 1, 1], [11, 1, 2]])
    assert.deepEqual([report.tiles, report.zoom], [2, 11])
    assert.deepEqual(collection.bbox, [tileBounds(11, 1, 1),
      tileBounds(11, 1, 2)].reduce((a, b) => [a[0], b[1], a[2], a[3]]).map(value => +value.toFixed(10)))
    const every = await geojson(changes, { everyZoom: true })
    assert.deepEqual([every.collection.features.length, every.report.tiles, every.report.zoom], [6, 6, undefined])
  })

  it('are an empty collection when nothing differs', async () => {
    const { collection } = await geojson([])
    assert.deepEqual(collection, { type: 'FeatureCollection', name: 'osm@2023 -> osm', features: [] })
  })

  it('are replaced in the file by those of a deeper zoom', async () => {
    const shallow = Array.from({ length: 3000 }, (_, index) => change(8, index % 256, index >> 8))
    const { collection } = await geojson([...shallow, change(9, 1, 1), ...shallow])
    assert.equal(collection.features.length, 1)
  })

  it('can be read by GDAL', async function () {
    const tool = ogrinfo()
    if (!tool) return skip(this, 'GDAL (ogrinfo) is not here')
    await geojson([...corners, change(3, 2, 2, { change: 'removed', to: undefined })])
    const { status, stdout, stderr } =
      spawnSync(tool, ['-so', '-al', path.join(folder.dir, 'g.geojson')], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.match(stdout,
      pattern(
        /Layer name: osm@2023 -> osm\n/,
        /Geometry: Polygon\n/,
        /Feature Count: 4\n/,
        /Extent: \(-180\.0+, -85\.05\d*\) - \(180\.0+, 85\.05\d*\)/
      ))
    assert.match(stdout, /z: Integer/)
    assert.match(stdout, /from: DateTime/)
    assert.equal(stderr, '')
    const valid = spawnSync(tool,
      ['-q', '-dialect', 'SQLite', '-sql',
        'SELECT count(*) AS bad FROM "osm@2023 -> osm" WHERE NOT ST_IsValid(geometry)',
        path.join(folder.dir, 'g.geojson')], { encoding: 'utf8' })
    if (valid.status === 0 && /bad/.test(valid.stdout)) assert.match(valid.stdout, /bad \(Integer\) = 0/)
  })

  it('leave an older file as it was when they are discarded', async () => {
    const file = path.join(folder.dir, 'g.geojson')
    writeFileSync(file, 'old')
    const report = await GeoJsonReport.open(file, { name: 'x' })
    await report.add(corners[0])
    assert.equal(read('g.geojson'), 'old')
    await report.discard()
    assert.deepEqual([readdirSync(folder.dir), read('g.geojson')], [['g.geojson'], 'old'])
  })

  it('are written by one program at a time', async () => {
    const file = path.join(folder.dir, 'list.jsonl')
    const report = await ListReport.open(file, process.stdout)
    await assert.rejects(ListReport.open(file, process.stdout),
      { code: 'TARGET_UNWRITABLE', message: /writes it already/ })
    await report.finish()
    await (await ListReport.open(file, process.stdout)).finish()
    await assert.rejects(ListReport.open(path.join(folder.dir, 'no/where'), process.stdout),
      { code: 'TARGET_UNWRITABLE' })
    await assert.rejects(ListReport.open(folder.dir, process.stdout), { code: 'TARGET_EXISTS', message: /folder/ })
    assert.deepEqual(readdirSync(folder.dir), ['list.jsonl'])
  })
})
