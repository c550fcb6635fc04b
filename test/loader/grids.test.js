// Layers in other grids than Web Mercator: loaded from a WMTS in several editions, exported, mirrored and backed up.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import {
  backup, checkUpstream, copyLayer, diff, exportLayer, gridOf, load, mirror, openSource, parseArea, restore
} from '../../loader/index.js'
import { Store } from '../../loader/store/index.js'
import { getMapAddress, tileAddress } from '../../core/upstream-address.js'
import { rectangleOf } from '../../loader/load/upstream/image.js'
import { verifyFile } from '../../loader/check/files/index.js'
import { Report } from '../../loader/check/files/report.js'
import { writeArchive, writeMbtiles } from '../sources/archive-writers.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { loadFrom } from '../support/memory-source.js'
import { publishFunctions } from '../support/published.js'
import { townGrid } from '../support/samples.js'
import { startServer } from '../support/server.js'

const TIMES = ['2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/** A tile matrix set without a registered name. Its first zoom is 2. */
const customGrid = townGrid([[100, 3, 2], [40, 7, 5], [10, 27, 17]])

const cases = [
  { name: 'LV95', grid: 'LV95', bbox: [7.40, 46.90, 7.50, 46.97], half: [7.40, 46.90, 7.42, 46.97], zooms: {
    min: 14, max: 20
  } },
  { name: 'WorldCRS84Quad', grid: 'WorldCRS84Quad', bbox: [0, 40, 15, 50], half: [0, 40, 2, 50], zooms: {
    min: 1, max: 7
  } },
  { name: 'a set as JSON', grid: customGrid, bbox: [5.2, 52.25, 5.3, 52.3], half: [5.2, 52.25, 5.22, 52.3], zooms: {
    min: 2, max: 4
  } }
]

/** Draws an image whose colour encodes the tile and its edition. */
async function draw (z, x, y, edition) {
  const create = { width: 256, height: 256, channels: 3, background: { r: z * 8 + edition, g: x % 256, b: y % 256 } }
  return sharp({ create }).png().toBuffer()
}

const isNew = (x, y, edition) => edition === 0 || (x + y) % 3 === edition

/** Returns the edition whose image a tile shows. */
const shownAt = (x, y, edition) => isNew(x, y, edition) ? edition : shownAt(x, y, edition - 1)

/** Starts a WMTS with one layer in one tile matrix set. @param {import('../../core/grids/grid.js').Grid} grid */
async function startWmts (grid, { isRest = true, prefix = '' } = {}) {
  const requests = []
  let edition = 0
  const urn = grid.crs === 'OGC:CRS84' ? 'urn:ogc:def:crs:OGC:1.3:CRS84' : `urn:ogc:def:crs:EPSG::${grid.crs.slice(5)}`
  const matrices = grid.matrices.map(
    ({ id, origin, columns, rows, scaleDenominator }) =>
      `<TileMatrix><ows:Identifier>${prefix}${id}</ows:Identifier><ScaleDenominator>${scaleDenominator.toFixed(7)}</` +
        (`ScaleDenominator><TopLeftCorner>${(grid.northingFirst ? [...origin].reverse() : origin).join(' ')}</` +
          (`TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight><MatrixWidth>${columns}</MatrixWidth>` +
            `<MatrixHeight>${rows}</MatrixHeight></TileMatrix>`))
  ).join('')
  const { url: origin, close } = await startServer(async (req, res) => {
    const url = new URL(req.url ?? '', 'http://here')
    const query = Object.fromEntries([...url.searchParams].map(([key, value]) => [key.toLowerCase(), value]))
    if (url.pathname.endsWith('.xml') || query.request === 'GetCapabilities') {
      const base = `http://${req.headers.host}`
      const resource =
        `<ResourceURL format="image/png" resourceType="tile" template="${base}/t/{Style}/{Time}/{TileMatrixSet}/` +
          `{TileMatrix}/{TileRow}/{TileCol}.png"/>`
      res.setHeader('content-type', 'application/xml')
      return res.end(`<?xml version="1.0"?><Capabilities xmlns="http://www.opengis.net/wmts/1.0"
          xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink">
        <ows:OperationsMetadata><ows:Operation name="GetTile"><ows:DCP><ows:HTTP>
        <ows:Get xlink:href="${base}/wmts?map=a&amp;"/>
        </ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata>
        <Contents><Layer><ows:Title>Old maps</ows:Title><ows:Identifier>Maps.Old</ows:Identifier>
        <Style isDefault="true"><ows:Identifier>light</ows:Identifier></Style><Format>image/png</Format>
        <Dimension><ows:Identifier>Time</ows:Identifier><Default>current</Default><Value>current</Value></Dimension>
        <TileMatrixSetLink><TileMatrixSet>their-set</TileMatrixSet></TileMatrixSetLink>${isRest ? resource : ''}</Layer>
        <TileMatrixSet><ows:Identifier>their-set</ows:Identifier><ows:SupportedCRS>${urn}</ows:SupportedCRS>
        ${matrices}</TileMatrixSet></Contents></Capabilities>`)
    }
    const [, , style, time, set, matrix, row, file] = url.pathname.split('/')
    const target = isRest ? { set, matrix, row: +row, column: parseInt(file) }
      : { set: query.tilematrixset, matrix: query.tilematrix, row: +query.tilerow, column: +query.tilecol }
    requests.push(isRest ? `${style} ${time} ${target.set}` : `${query.style} ${query.layer} ${target.set}`)
    const z = grid.zoomOf(target.matrix.slice(prefix.length))
    if (z === undefined || !grid.has(z, target.column, target.row)) return res.writeHead(404).end()
    res.setHeader('content-type', 'image/png')
    return res.end(await draw(z, target.column, target.row, shownAt(target.column, target.row, edition)))
  })
  return {
    url: origin,
    asked: requests,
    show: number => { edition = number },
    close
  }
}

onEachStore('a layer in another grid', backend => {
  let folder
  let stores
  before(async () => { folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-grids-')) })
  after(() => rm(folder, { recursive: true }))
  beforeEach(() => { stores = [] })
  afterEach(async () => { for (const store of stores) await store.destroy() })

  async function newStore () {
    const url = await backend.database()
    const store = Object.assign(await Store.create(url), { at: url })
    stores.push(store)
    await publishFunctions(store)
    return store
  }

  /** Reads the digest of every tile as of a time, by z/x/y. */
  async function readDigests (store, layer, time) {
    const digests = {}
    for await (const tile of store.fetch(store.list(layer, { time }))) {
      digests[`${tile.z}/${tile.x}/${tile.y}`] = tile.digest
    }
    return digests
  }

  for (const { name, grid: field, bbox, half, zooms } of cases) {
    it(`${name}: keeps every pixel in its history, exports, mirrors and backup`, async () => {
      const grid = gridOf({ grid: field })
      const area = parseArea({ bbox: /** @type {any} */ (bbox), grid })
      const wmts = await startWmts(grid)
      const store = await newStore()
      try {
        for (const [edition, time] of TIMES.entries()) {
          wmts.show(edition)
          const summary = await loadFrom(store, `${wmts.url}/caps.xml`, { layer: 'old', time },
            { layer: 'old', area: parseArea({ bbox: /** @type {any} */ (bbox) }), zooms })
          assert.equal(summary.failed, 0)
          assert.equal(summary.tiles, area.count(zooms))
        }
        assert.deepEqual([...new Set(wmts.asked)], ['light current their-set'])
      } finally {
        await wmts.close()
      }
      const doc = await store.layer('old')
      assert.deepEqual(gridOf(doc).matrices.map(({ span }) => Math.round(span[0] * 1e6)),
        grid.matrices.map(({ span }) => Math.round(span[0] * 1e6)))
      if (typeof field === 'string') assert.equal(doc.grid, field)
      assert.equal(area.within(doc.bounds).count(zooms), area.count(zooms), 'its bounds touch every tile')

      // at each time, the layer shows the images that the WMTS drew
      for (const [edition, time] of TIMES.entries()) {
        const expected = {}
        for (let z = zooms.min; z <= zooms.max; z++) {
          for (const { x, y } of area.tiles(z)) expected[`${z}/${x}/${y}`] =
            (await sharp(await draw(z, x, y, shownAt(x, y, edition))).raw().toBuffer()).subarray(0, 3).join()
        }
        const actual = {}
        for await (const tile of store.fetch(store.list('old', { time }))) {
          actual[`${tile.z}/${tile.x}/${tile.y}`] = (await sharp(tile.bytes).raw().toBuffer()).subarray(0, 3).join()
        }
        assert.deepEqual(actual, expected, time)
      }
      const history = {}
      for (const time of TIMES) history[time] = await readDigests(store, 'old', time)

      // exports in every format, loaded again
      const files = [['a.mbtiles', {}], ['b.pmtiles', {}], ['c', {}], ['d', { scheme: 'tms' }]]
      for (const [file, options] of files) {
        const target = path.join(folder, `${name.length}-${file}`)
        await exportLayer(store, 'old', target, { time: TIMES[1], ...options })
        const copyName = file.replace(/\W/g, '-')
        const summary =
          await loadFrom(store, target, { layer: copyName, time: TIMES[1] }, { layer: copyName, ...options })
        assert.deepEqual([summary.failed, summary.warnings], [0, undefined], file)
        assert.deepEqual(await readDigests(store, copyName), history[TIMES[1]], file)
        assert.deepEqual(gridOf(await store.layer(copyName)).set.tileMatrices, gridOf(doc).set.tileMatrices)
        const report = new Report()
        await verifyFile(target, { report, ...options })
        assert.deepEqual(report.kinds, {}, file)
      }

      // mirrors of a part and of the whole layer
      const selection = { area: parseArea({ bbox: /** @type {any} */ (half) }) }
      const [part, copy] = [await newStore(), await newStore()]
      await mirror(store.at, part.at, { layers: ['old'], ...selection })
      const halfArea = parseArea({ bbox: /** @type {any} */ (half), grid })
      for (const time of TIMES) {
        const entries = Object.entries(history[time])
        const inside = entries.filter(([place]) => halfArea.has(...place.split('/').map(Number)))
        assert.ok(inside.length > 0 && inside.length < entries.length)
        assert.deepEqual(Object.entries(await readDigests(part, 'old', time)), inside)
      }
      await mirror(store.at, copy.at, { layers: ['old'] })
      assert.deepEqual(await readDigests(copy, 'old', TIMES[0]), history[TIMES[0]])

      const backupFile = path.join(folder, `${name.length}.backup`)
      await backup(store, backupFile)
      const restoredUrl = await backend.database()
      await restore([backupFile], restoredUrl, { rights: 'give' })
      const restored = await Store.open(restoredUrl)
      stores.push(restored)
      for (const time of TIMES) assert.deepEqual(await readDigests(restored, 'old', time), history[time])
      assert.deepEqual((await restored.layer('old')).grid, doc.grid)
    }).timeout(120000)
  }

  it('is loaded from a WMTS with query parameters and other names of matrices', async () => {
    const grid = gridOf({ grid: 'WorldCRS84Quad' })
    const wmts = await startWmts(grid, { isRest: false, prefix: 'EPSG:4326:' })
    const store = await newStore()
    try {
      const summary = await loadFrom(store, `${wmts.url}/wmts?SERVICE=WMTS&REQUEST=GetCapabilities`,
        { layer: 'world', time: TIMES[0] }, { layer: 'world', zooms: { min: 0, max: 3 } })
      assert.deepEqual([summary.tiles, summary.failed], [2 + 8 + 32, 0])
      assert.deepEqual([...new Set(wmts.asked)], ['light Maps.Old their-set'])
      const { bounds, minzoom, maxzoom, name, grid: field } = await store.layer('world')
      assert.deepEqual({ bounds, minzoom, maxzoom, name, field },
        { bounds: [-180, -90, 180, 90], minzoom: 1, maxzoom: 3, name: 'Old maps', field: 'WorldCRS84Quad' })
    } finally {
      await wmts.close()
    }
  })

  const codeIn = text => /\[(\w+)\]$/m.exec(text)?.[1]
  const sourceOf = (z, x, y) => (
    { name: 'one', fields: {}, async * tiles () { yield { z, x, y, read: () => draw(z, x, y, 0) } }, close () {} }
  )

  it('keeps its grid once it has tiles', async () => {
    const store = await newStore()
    await load(store, sourceOf(18, 30, 20), { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    assert.equal((await store.layer('alps')).grid, 'LV95')
    await assert.rejects(store.defineLayer('alps', { grid: 'WorldCRS84Quad' }), { code: 'OTHER_GRID' })
    await assert.rejects(load(store, { ...sourceOf(18, 30, 20), fields: { grid: 'DE_EPSG_25832_ADV' } },
      { layer: 'alps', time: TIMES[1] }), { code: 'OTHER_GRID' })
    await load(store, sourceOf(18, 31, 20), { layer: 'alps', time: TIMES[1] })
    assert.equal((await store.stats('alps')).tiles, 2)
    // a layer in Web Mercator keeps its grid too; without tiles the grid may change
    await load(store, sourceOf(3, 1, 1), { layer: 'plain', time: TIMES[0] })
    await assert.rejects(store.defineLayer('plain', { grid: 'LV95' }), { code: 'OTHER_GRID' })
    await store.defineLayer('empty', { grid: 'LV95' })
    assert.equal((await store.defineLayer('empty', { grid: 'WebMercatorQuad' })).grid, undefined)
  })

  it('is the grid of files without one: for a plan, for a set of editions, and for the load itself', async () => {
    const store = await newStore()
    await load(store, sourceOf(18, 30, 20), { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    const { bounds } = await store.layer('alps')
    const file = path.join(folder, 'alps-2023.pmtiles')
    await writeFile(file, writeArchive({ tiles: { '18/30/20': await draw(18, 30, 20, 1) } }))
    const run = (source, ...options) =>
      runCommand(['load', source, '--layer', 'alps', '--db', store.at, '--json', ...options])

    // MBTiles count rows from the south, writeMbtiles those of Web Mercator
    const southRow = gridOf({ grid: 'LV95' }).whole(18).y1 - 20
    const y = 2 ** 18 - 1 - southRow
    const southTiles = [{ z: 18, x: 30, y, bytes: await draw(18, 30, 20, 1) }]
    const mbtiles = writeMbtiles(path.join(folder, 'alps.mbtiles'), southTiles)
    const plan = await run(mbtiles, '--time', '2022-06', '--complete', '--dry-run')
    assert.equal(plan.code, 0, plan.err)
    assert.deepEqual([JSON.parse(plan.out).bounds, JSON.parse(plan.out).gone], [bounds, 0])

    const dated = await run(file, '--dated', '--bbox', bounds.join())
    assert.deepEqual([dated.code, dated.err], [0, ''])
    const single = await run(file, '--time', '2024')
    assert.deepEqual([single.code, single.err], [0, ''])
    assert.deepEqual((await store.editions('alps')).map(({ time, tiles }) => [time, tiles]).sort(),
      [[TIMES[0], 1], [TIMES[1], 1], [TIMES[2], 1]])
  })

  it('is compared by a dry run as by the load: an empty layer takes the grid of the source', async () => {
    const store = await newStore()
    await load(store, sourceOf(18, 30, 20), { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    await store.defineLayer('empty', { grid: 'WorldCRS84Quad' })
    const run = (...argv) => runCommand(['load', ...argv, '--time', '2023', '--db', store.at])
    const other = path.join(folder, 'other.pmtiles')
    await writeFile(other, writeArchive({ tiles: { '3/1/1': await draw(3, 1, 1, 0) } }))
    for (const argv of [
      [other, '--layer', 'alps', '--grid', 'WorldCRS84Quad'], ['--source-layer', 'alps', '--layer', 'tile']
    ]) {
      const planned = await run(...argv, '--dry-run')
      const loaded = await run(...argv)
      assert.deepEqual([planned.code, planned.err], [1, loaded.err], argv.join(' '))
      assert.equal(codeIn(loaded.err), argv.includes('tile') ? 'BAD_LAYER' : 'OTHER_GRID')
    }
    const plan = await run('--source-layer', 'alps', '--layer', 'empty', '--dry-run', '--json')
    assert.deepEqual([plan.code, JSON.parse(plan.out).bounds], [0, (await store.layer('alps')).bounds])
    assert.equal((await store.layer('empty')).grid, 'WorldCRS84Quad')
    assert.equal((await run('--source-layer', 'alps', '--layer', 'empty')).code, 0)
    assert.equal((await store.layer('empty')).grid, 'LV95')
  })

  it('is planned, and found empty, although the source has tiles outside of it', async () => {
    const store = await newStore()
    await load(store, sourceOf(18, 30, 20), { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    const { bounds } = await store.layer('alps')
    const file = path.join(folder, 'outside')
    const image = await draw(18, 30, 20, 1)
    for (const place of ['18/30/20', '18/39/20', '29/5/5']) {
      await mkdir(path.join(file, path.dirname(place)), { recursive: true })
      await writeFile(path.join(file, `${place}.png`), image)
    }
    const run = (...argv) =>
      runCommand(['load', file, '--layer', 'alps', '--time', '2023', '--db', store.at, '--dry-run', '--json', ...argv])
    const plan = await run()
    assert.deepEqual([plan.code, plan.err], [0, ''])
    assert.deepEqual([JSON.parse(plan.out).tiles, JSON.parse(plan.out).bounds], [3, bounds])
    const empty = await run('--bbox', '10,46,10.1,46.1')
    assert.equal(JSON.parse(empty.err).error, 'SOURCE_EMPTY')
  })

  it('does not become the grid of a source that is certain to be in Web Mercator', async () => {
    const store = await newStore()
    await load(store, sourceOf(18, 30, 20), { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    await load(store, sourceOf(18, 30, 20), { layer: 'plain', time: TIMES[0] })
    const { bounds } = await store.layer('alps')
    const wmts = await startWmts(gridOf())
    const server = await startServer((req, res) =>
      res.end(JSON.stringify({ tilejson: '3.0.0', tiles: [`${wmts.url}/{z}/{x}/{y}.png`], minzoom: 18, maxzoom: 18 })))
    const area = ['--bbox', bounds.join(), '--zoom', '18']
    try {
      for (const argv of [
        ['--source-layer', 'plain'], ['--source-layer', 'plain', '--bbox=-180,85,-179,86'],
        [`${wmts.url}/caps.xml`, ...area], [`${server.url}/map.json`, ...area]
      ]) {
        const { code, err } = await runCommand(['load', ...argv, '--layer', 'alps', '--time', '2023', '--db', store.at])
        assert.deepEqual([code, codeIn(err)], [1, 'OTHER_GRID'], `${argv[0]}: ${err}`)
      }
      const part = { area: parseArea({ bbox: bounds }), zooms: { min: 18, max: 18 } }
      for (const [name, options] of [
        [store.at, { from: { layer: 'plain' } }], [`${wmts.url}/caps.xml`, part], [`${server.url}/map.json`, part]
      ]) {
        await assert.rejects(loadFrom(store, name, { layer: 'alps', time: TIMES[1] }, options), { code: 'OTHER_GRID' })
      }
      assert.equal((await store.stats('alps')).tiles, 1)
      // the command has the last word about the grid of a TileJSON
      const { fields, total } = await openSource(`${server.url}/map.json`, { ...part, grid: 'LV95' })
      assert.deepEqual([fields.grid, total], ['LV95', part.area.in(gridOf({ grid: 'LV95' })).count(part.zooms)])
    } finally {
      await Promise.all([wmts.close(), server.close()])
    }
  })

  it('refuses a tile outside its grid', async () => {
    const store = await newStore()
    const summary = await load(store, {
      ...sourceOf(18, 30, 20),
      async * tiles () {
        yield * sourceOf(18, 30, 20).tiles()
        yield * sourceOf(18, 39, 20).tiles()
      }
    }, { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    assert.deepEqual([summary.tiles, summary.failed], [2, 1])
    assert.match(summary.failures[0].reason, /zoom 18 of LV95 has columns 0 to 37/)
  })

  it('cannot be compared with a layer of a different grid, nor copied into it', async () => {
    const store = await newStore()
    await load(store, sourceOf(18, 30, 20), { layer: 'alps', time: TIMES[0], fields: { grid: 'LV95' } })
    await load(store, sourceOf(3, 1, 1), { layer: 'plain', time: TIMES[0] })
    await assert.rejects(diff(store, 'alps', 'plain'), { code: 'OTHER_GRID' })
    await assert.rejects(copyLayer(store, 'alps', 'plain'), { code: 'OTHER_GRID' })
  })
})

describe('an upstream of a layer in another grid', () => {
  const addressOf = (layer, tile) => {
    const grid = gridOf(layer)
    const settings = checkUpstream(layer.upstream, grid)
    if (settings.type !== 'wms') return tileAddress(settings, tile, 256, grid)
    const rectangle = rectangleOf({ z: tile.z, x0: tile.x, y0: tile.y, x1: tile.x, y1: tile.y }, 256, 0, grid)
    return decodeURIComponent(getMapAddress(settings, rectangle, 256, grid))
  }
  const wms = { type: 'wms', url: 'http://h/wms', layers: 'a' }

  it('is asked in the coordinate system of the grid, with the axis order of the WMS version', () => {
    const boxOf = (grid, tile, options = {}) => {
      const query = new URL(addressOf({ grid, upstream: { ...wms, ...options } }, tile)).searchParams
      return `${query.get('CRS') ?? query.get('SRS')} ${query.get('BBOX')}`
    }
    assert.equal(boxOf('LV95', { z: 18, x: 0, y: 0 }), 'EPSG:2056 2420000,1337200,2432800,1350000')
    assert.equal(boxOf('EuropeanETRS89_LAEAQuad', { z: 0, x: 0, y: 0 }), 'EPSG:3035 1000000,2000000,5500000,6500000')
    assert.equal(boxOf('EuropeanETRS89_LAEAQuad', { z: 0, x: 0, y: 0 }, { version: '1.1.1' }),
      'EPSG:3035 2000000,1000000,6500000,5500000')
    assert.equal(boxOf('WorldCRS84Quad', { z: 1, x: 1, y: 0 }), 'CRS:84 0,-90,180,90')
    assert.equal(boxOf('WorldCRS84Quad', { z: 1, x: 1, y: 0 }, { srs: 'EPSG:4326' }), 'EPSG:4326 -90,0,90,180')
    assert.equal(boxOf('WorldCRS84Quad', { z: 1, x: 1, y: 0 }, { version: '1.1.1' }), 'EPSG:4326 0,-90,180,90')
    for (const srs of ['EPSG:3857', 'EPSG:4326', 'EPSG:21781']) {
      assert.throws(() => addressOf({ grid: 'LV95', upstream: { ...wms, srs } }, { z: 18, x: 0, y: 0 }),
        { code: 'BAD_UPSTREAM', message: /must be EPSG:2056/ })
    }
  })

  it('gets addresses with the names of its matrices, and with rows from the south for TMS', () => {
    const wmts = { type: 'wmts', url: 'http://h/{TileMatrixSet}/{TileMatrix}/{TileCol}/{TileRow}.png' }
    assert.equal(addressOf({ grid: 'WorldCRS84Quad', upstream: wmts }, { z: 1, x: 1, y: 0 }),
      'http://h/WorldCRS84Quad/0/1/0.png')
    assert.equal(addressOf({ grid: 'LV95', upstream: { ...wmts, matrixSet: 'a', matrix: { 18: 'x' } } },
      { z: 18, x: 3, y: 2 }), 'http://h/a/x/3/2.png')
    assert.equal(addressOf({ grid: 'LV95', upstream: { type: 'tms', url: 'http://h/{z}/{x}/{y}.png' } },
      { z: 18, x: 3, y: 0 }), 'http://h/18/3/24.png')
  })
})
