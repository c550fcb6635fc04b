// Reports of differences: lists and polygons of tiles, in files that appear when they are complete, and differences of
// features.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { gridOf, tileBounds } from '../../core/index.js'
import { GeoJsonReport, ListReport } from '../../loader/export/diff/reports.js'
import { diffFeatures, parseArea } from '../../loader/index.js'
import { FeatureDiff } from '../../core/features.js'
import { featureDefaults } from '../../loader/export/diff/features.js'
import { useFolder } from '../support/folder.js'
import { townGrid } from '../support/samples.js'
import { ogrinfo, skip } from '../support/tools.js'
import { pattern } from '../support/pattern.js'
import { TIMES, openStore } from '../support/diff-model.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { png } from '../support/tiles.js'
import { encodeTile, packTile } from '../support/vector-tile.js'

const [T1, T2, T3, T4] = TIMES
const change = (z, x, y, fields = {}) => (
  { z, x, y, change: 'changed', from: { z, x, y, time: T3, size: 10 }, to: { z, x, y, time: T4, size: 20 }, ...fields }
)
const corners = [change(3, 0, 0), change(3, 7, 7), change(3, 4, 2)]

// The signed area of a ring in degrees, relative to its first corner. It is positive for a counterclockwise ring.
function area (ring) {
  const relative = ring.map(([x, y]) => [x - ring[0][0], y - ring[0][1]])
  return relative.slice(1).reduce((sum, [x, y], index) => sum + relative[index][0] * y - x * relative[index][1], 0) / 2
}

describe('the tiles that differ', () => {
  const folder = useFolder()
  const read = name => readFileSync(folder.path(name), 'utf8')

  async function geojson (changes, options = {}) {
    const report = await GeoJsonReport.open(folder.path('g.geojson'), { name: 'osm@2023 -> osm', ...options })
    for (const tileChange of changes) await report.add(tileChange)
    await report.finish()
    return { report, collection: JSON.parse(read('g.geojson')) }
  }

  it('are not written through a link in the place of the unfinished file', async () => {
    folder.write({ theirs: 'theirs' })
    symlinkSync(folder.path('theirs'), folder.path('list.jsonl.part'))
    const report = await ListReport.open(folder.path('list.jsonl'), process.stdout)
    await report.add(change(3, 1, 2))
    await report.finish()
    assert.deepEqual([read('theirs'), read('list.jsonl').length > 9], ['theirs', true])
  })

  it('are JSON lines with both times and a number of bytes', async () => {
    const report = await ListReport.open(folder.path('list.jsonl'), process.stdout)
    for (const tileChange of [change(3, 1, 2), change(3, 1, 3, { change: 'added', from: undefined }),
      change(3, 1, 4, { change: 'removed', to: undefined, since: T4 })]) await report.add(tileChange)
    assert.ok(!existsSync(folder.path('list.jsonl')), 'not before it is whole')
    await report.finish()
    assert.deepEqual(read('list.jsonl').trimEnd().split('\n').map(line => JSON.parse(line)), [
      { z: 3, x: 1, y: 2, change: 'changed', from: T3, to: T4, bytes: 20 },
      { z: 3, x: 1, y: 3, change: 'added', from: null, to: T4, bytes: 20 },
      { z: 3, x: 1, y: 4, change: 'removed', from: T3, to: T4, bytes: 10 }
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
      assert.deepEqual(properties, { z, x, y, change: 'changed', from: T3, to: T4, bytes: 20 })
    }
    const [west, south, east, north] = collection.bbox
    assert.deepEqual([west, east, south], [-180, 180, -north])
  })

  it('are cut at the antimeridian in a grid whose tiles cross it', async () => {
    const [matrix] = townGrid([[2000, 2, 1]]).tileMatrices
    const fiji = { id: 'Fiji', crs: 'EPSG:32760', tileMatrices: [{ ...matrix, pointOfOrigin: [0, 8400000] }] }
    const { collection } = await geojson([change(1, 0, 0), change(1, 1, 0)], { grid: gridOf({ grid: fiji }) })
    const [uncut, cut] = collection.features.map(feature => feature.geometry)
    assert.deepEqual([uncut.type, cut.type], ['Polygon', 'MultiPolygon'])
    assert.ok(cut.coordinates.every(([ring]) => area(ring) > 0), 'the outlines go counterclockwise')
    const [[east], [west]] = cut.coordinates
    assert.deepEqual([east[1][0], west[0][0]], [180, -180])
    assert.ok(east[0][0] > 0 && west[1][0] < 0)
  })

  it('share their edges with their neighbours, at the deepest zoom as well', async () => {
    for (const z of [0, 1, 14, 30]) {
      const tilesPerRow = 2 ** z
      const x = Math.floor(tilesPerRow / 3)
      const tiles = [[x, x], [Math.min(x + 1, tilesPerRow - 1), x], [x, Math.min(x + 1, tilesPerRow - 1)]]
      const { collection } = await geojson(tiles.map(([column, row]) => change(z, column, row)))
      const [tileRing, rightRing, belowRing] = collection.features.map(feature => feature.geometry.coordinates[0])
      for (const ring of [tileRing, rightRing, belowRing]) assert.ok(area(ring) > 0, `zoom ${z}`)
      if (z === 0) continue
      assert.equal(tileRing[1][0], rightRing[0][0])
      assert.equal(tileRing[0][1], belowRing[2][1])
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
    assert.deepEqual((await geojson([])).collection,
      { type: 'FeatureCollection', name: 'osm@2023 -> osm', features: [] })
    const shallow = Array.from({ length: 3000 }, (_, index) => change(8, index % 256, index >> 8))
    assert.equal((await geojson([...shallow, change(9, 1, 1), ...shallow])).collection.features.length, 1)
  })

  it('can be read by GDAL', async function () {
    const tool = ogrinfo()
    if (!tool) return skip(this, 'GDAL (ogrinfo) is not here')
    await geojson([...corners, change(3, 2, 2, { change: 'removed', to: undefined })])
    const { status, stdout, stderr } =
      spawnSync(tool, ['-so', '-al', folder.path('g.geojson')], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.match(stdout, pattern(
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
        folder.path('g.geojson')], { encoding: 'utf8' })
    if (valid.status === 0 && /bad/.test(valid.stdout)) assert.match(valid.stdout, /bad \(Integer\) = 0/)
  })

  it('leave an older file as it was when they are discarded', async () => {
    const file = folder.path('g.geojson')
    writeFileSync(file, 'old')
    const report = await GeoJsonReport.open(file, { name: 'x' })
    await report.add(corners[0])
    assert.equal(read('g.geojson'), 'old')
    await report.discard()
    assert.deepEqual([readdirSync(folder.dir), read('g.geojson')], [['g.geojson'], 'old'])
  })

  it('are written by one program at a time', async () => {
    const file = folder.path('list.jsonl')
    const report = await ListReport.open(file, process.stdout)
    await assert.rejects(ListReport.open(file, process.stdout),
      { code: 'TARGET_UNWRITABLE', message: /writes it already/ })
    await report.finish()
    await (await ListReport.open(file, process.stdout)).finish()
    await assert.rejects(ListReport.open(folder.path('no/where'), process.stdout),
      { code: 'TARGET_UNWRITABLE' })
    await assert.rejects(ListReport.open(folder.dir, process.stdout), { code: 'TARGET_EXISTS', message: /folder/ })
    assert.deepEqual(readdirSync(folder.dir), ['list.jsonl'])
  })
})

const places = [[2, 1, 1], ...[[4, 6], [4, 7], [5, 6], [5, 7], [10, 10]].map(([x, y]) => [4, x, y])]

/** The roads and shops of a tile at a time. Roads have ids, shops have none; each place changes in its own way. */
function contentOf (index, time) {
  const isLater = time === T2
  if (index === 4 && isLater) return undefined
  const road =
    (id, length, properties) => ({ id, type: 'LineString', lines: [[[0, 100 * id], [length, 100 * id]]], properties })
  const shop = (x, name) => ({ type: 'Point', lines: [[[x, 50]]], properties: { name } })
  return {
    roads: [road(1, 4096, { name: 'Main' }), road(10 + index, 900, { lanes: isLater && index === 2 ? 4 : 2 }),
      ...(isLater ? [road(7, 300)] : [])],
    shops: [shop(20, 'Baker'), shop(30, isLater && index === 1 ? 'Bank' : 'Bar')]
  }
}

onEachStore('differences of features in a store', backend => {
  const folder = useFolder()
  let store, db
  before(async () => {
    store = await openStore(backend)
    await store.defineLayer('roads')
    for (const time of [T1, T2]) {
      await store.write(places.map(([z, x, y], index) => {
        const content = contentOf(index, time)
        return { layer: 'roads', z, x, y, time, ...(content ? { bytes: packTile(content) } : { gone: true }) }
      }))
    }
    db = new URL(store.couch.access.path, await backend.url()).href
  })

  /** The features that differ in the given places, in the order of ids. The tile of zoom 2 must not count. */
  function expectedFeatures (indexes = [5, 1, 2, 3, 4]) {
    const featureDiff = new FeatureDiff()
    for (const index of indexes) {
      const [z, x, y] = places[index]
      const [before, after] = [T1, T2].map(time => contentOf(index, time))
        .map(content => content && encodeTile(content))
      featureDiff.add({ z, x, y }, before, after)
    }
    return [...featureDiff.features()]
  }

  it('are taken from the changed tiles of the deepest zoom, joined across tiles, also in small batches', async () => {
    const { features, ...summary } = await diffFeatures(store, 'roads@2021', 'roads')
    assert.deepEqual([...features], expectedFeatures())
    assert.deepEqual(summary, {
      zoom: 4, tiles: 5, missing: 0, unreadable: [],
      layers: { roads: { added: 1, removed: 1, changed: 2 }, shops: { added: 0, removed: 2, changed: 1 } }
    })
    const { batch } = featureDefaults
    try {
      featureDefaults.batch = 2
      assert.deepEqual([...(await diffFeatures(store, 'roads@2021', 'roads')).features], expectedFeatures())
    } finally {
      featureDefaults.batch = batch
    }
  })

  it('are limited to zooms and an area, and fail with TOO_MANY_FEATURES above a limit', async () => {
    const { zoom } = await diffFeatures(store, 'roads@2021', 'roads', { zooms: { min: 0, max: 3 } })
    assert.equal(zoom, 2)
    const { features } =
      await diffFeatures(store, 'roads@2021', 'roads', { area: parseArea({ bbox: [50, -60, 60, -50] }) })
    assert.deepEqual([...features], expectedFeatures([5]))
    const empty = await diffFeatures(store, 'roads@2021', 'roads@2021')
    assert.deepEqual([empty.zoom, empty.layers, [...empty.features]], [undefined, {}, []])
    const { most } = featureDefaults
    try {
      featureDefaults.most = 3
      await assert.rejects(diffFeatures(store, 'roads@2021', 'roads'), { code: 'TOO_MANY_FEATURES' })
    } finally {
      featureDefaults.most = most
    }
  })

  it('cannot be taken from images, and name damaged tiles', async () => {
    await store.defineLayer('images')
    await store.write([{ layer: 'images', z: 4, x: 1, y: 1, time: T1, bytes: png(1) }])
    await assert.rejects(diffFeatures(store, 'images@2020', 'images'), { code: 'NOT_VECTOR_TILES', message: /4\/1\/1/ })
    await store.defineLayer('damaged')
    const damaged = gzipSync(Buffer.from('1a057802120901', 'hex'))
    await store.write([
      { layer: 'damaged', z: 4, x: 1, y: 1, time: T1, bytes: damaged },
      { layer: 'damaged', z: 4, x: 2, y: 1, time: T1, bytes: packTile(contentOf(0, T1)) }
    ])
    const { features, unreadable } = await diffFeatures(store, 'damaged@2020', 'damaged')
    assert.deepEqual([unreadable, [...features].length], [['4/1/1'], 4])
  })

  const tilecouch = (...argv) => runCommand([...argv, '--db', db])

  it('are written by tilecouch diff --features, with a table by source layer', async () => {
    const file = folder.path('changed.geojson')
    const { code, out } = await tilecouch('diff', 'roads@2021', 'roads', '--features', file)
    assert.equal(code, 0)
    assert.match(out, pattern(
      /changed\.geojson: features of 5 tiles of zoom 4\n/,
      /source layer +added +removed +changed\n/,
      /roads +1 +1 +2\n/,
      /shops +0 +2 +1\n/
    ))
    const { type, name, features } = JSON.parse(readFileSync(file, 'utf8'))
    assert.deepEqual([type, name, features],
      ['FeatureCollection', 'roads@2021 -> roads', JSON.parse(JSON.stringify(expectedFeatures()))])

    const piped = await tilecouch('diff', 'roads@2021', 'roads', '--features', '-')
    assert.equal(JSON.parse(piped.out).features.length, features.length)
    assert.match(piped.err, /5 tiles of zoom 4/)
    const { features: summary } =
      JSON.parse((await tilecouch('diff', 'roads@2021', 'roads', '--features', file, '--without-ids', '--json')).out)
    assert.equal(summary.layers.roads.added, 4, 'one in each later tile')
    assert.match((await tilecouch('diff', 'roads', 'roads', '--features', file)).out,
      /changed\.geojson: features: none differ/)
  })

  it('leave no file behind after an error, and conflicting options are refused', async () => {
    const file = folder.path('none.geojson')
    const { code, err } = await tilecouch('diff', 'images@2020', 'images', '--features', file)
    assert.deepEqual([code, existsSync(file), existsSync(`${file}.part`)], [1, false, false])
    assert.match(err, /NOT_VECTOR_TILES/)
    for (const argv of [['--without-ids'], ['--features', '-', '--json'],
      ['--features', '-', '--report', '-'], ['--features', file, '--report', file]]) {
      assert.match((await tilecouch('diff', 'roads@2021', 'roads', ...argv)).err, /BAD_OPTION/)
    }
  })
})
