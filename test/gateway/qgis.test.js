// Tests with QGIS, which drive-qgis.py runs without a window: layer files, WMTS, vector tiles and lists of connections,
// from a real gateway and directly from CouchDB.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import sharp from 'sharp'
import { until } from '../../bench/wait.js'
import { gridOf } from '../../core/index.js'
import { signToken } from '../../loader/store/token.js'
import { startGateway } from '../../server/gateway/index.js'
import { as, onEachStore, put, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { qgisPython, skip } from '../support/tools.js'
import { packTile } from '../support/vector-tile.js'
import { town } from './wmts/service.js'
import { EDGE, OTHERS, YEARS, color, startWorld } from './wmts/world.js'

const SCRIPT = fileURLToPath(new URL('drive-qgis.py', import.meta.url))
const NAME = '<b>&"Evil"]]>\u0000 \' map'
const EDITIONS = 300

/** The middles of the tiles of zoom 2, in a picture of the world with tiles of 256 pixels. */
const PLACES = Array.from({ length: 16 }, (_, n) => [n >> 2, n & 3])
const WORLD =
  { extent: [-EDGE, -EDGE, EDGE, EDGE], size: [1024, 1024], at: PLACES.map(([x, y]) => [256 * x + 128, 256 * y + 128]) }
const worldAt = (...time) => ({ ...WORLD, time: time.length === 1 ? [time[0], time[0]] : time })
const pictureOf = year => PLACES.map(([x, y]) => color(2, x, y, year))
const NOTHING = PLACES.map(() => [255, 255, 255])

/** Layers in other grids. The last one has a grid of its own and a hostile name. */
const GRIDS = { ...OTHERS, town: { name: NAME, grid: { ...town, id: 'To-wn.1_a:b' }, minzoom: 2, maxzoom: 3 } }
const SYSTEMS =
  { swiss: 'EPSG:2056', europe: 'EPSG:3035', arctic: 'EPSG:5041', degrees: 'OGC:CRS84', town: 'EPSG:28992' }

/** In which each edition is shown, from its next second. */
const PERIODS = [
  ['2024-06-01T00:00:01Z', ''], ['2023-06-01T00:00:01Z', '2024-05-31T23:59:59.000Z'],
  ['2022-06-01T00:00:01Z', '2023-05-31T23:59:59.000Z']
]

/** Samples the deepest zoom of a layer at its own resolution: five pixels of each tile, and their colours by year. */
function mapOf (layer) {
  const grid = gridOf(GRIDS[layer])
  const { z, columns, rows } = grid.matrix(GRIDS[layer].maxzoom)
  const tiles = Array.from({ length: columns * rows }, (_, n) => [n % columns, Math.floor(n / columns)])
  const [left, , , top] = grid.extent(z, 0, 0)
  const [, bottom, right] = grid.extent(z, columns - 1, rows - 1)
  const inTile = [[128, 128], [1, 1], [254, 1], [1, 254], [254, 254]]
  return {
    picture: {
      crs: grid.crs, extent: [left, bottom, right, top], size: [256 * columns, 256 * rows],
      at: tiles.flatMap(([x, y]) => inTile.map(([i, j]) => [256 * x + i, 256 * y + j]))
    },
    in: year => tiles.flatMap(([x, y]) => inTile.map(() => year ? color(z, x, y, year) : [255, 255, 255]))
  }
}

onEachStore('QGIS', backend => {
  const folder = useFolder()
  let world, couch

  before(async function () {
    this.timeout(60000)
    if (!qgisPython()) skip(this, 'QGIS is not installed: set QGIS_PYTHON to a python that has qgis.core')
    world = await startWorld(await backend.database(), GRIDS)
    const { store } = world
    await put(`${store.url}/_security`, { members: { names: [], roles: [] } })
    couch = `${as(store.url)}/_design/tiles/_rewrite/`
    await store.defineLayer('big', {
      name: NAME, description: NAME, attribution: '<a href="x">© Us &amp; them</a>',
      format: 'png', tileSize: 512, minzoom: 0, maxzoom: 1
    })
    const square = async rgb => sharp(
      { create: { width: 512, height: 512, channels: 3, background: { r: rgb, g: rgb, b: rgb } } }
    ).png().toBuffer()
    await store.write([{ layer: 'big', z: 0, x: 0, y: 0, time: '2023-01-01T00:00:00Z', bytes: await square(50) }])
    await store.write([{ layer: 'big', z: 1, x: 0, y: 0, time: '2023-01-01T00:00:00Z', bytes: await square(100) }])
    await store.write([{ layer: 'big', z: 1, x: 0, y: 0, time: '2024-01-01T00:00:00Z', gone: true }])
    for (const year of [2023, 2024]) await store.putEdition('big', `${year}-01-01T00:00:00Z`, { complete: false })
    await store.defineLayer('roads', { format: 'pbf', minzoom: 0, maxzoom: 0 })
    const area = [[0, 0], [4096, 0], [4096, 4096], [0, 4096]]
    for (const [year, edge] of [[2023, 4096], [2024, 2048]]) {
      const lines = [area.map(([x, y]) => [Math.min(x, edge), y])]
      const time = `${year}-01-01T00:00:00Z`
      const bytes = packTile({ land: [{ type: 'Polygon', lines }] })
      await store.write([{ layer: 'roads', z: 0, x: 0, y: 0, time, bytes }])
      await store.putEdition('roads', time, { complete: false })
    }
    await store.defineLayer('hourly', { format: 'png', minzoom: 0, maxzoom: 5 })
    const first = Date.parse('2024-01-01T00:00:00Z')
    await store.write([{ layer: 'hourly', z: 0, x: 0, y: 0, time: '2024-01-01T00:00:00Z', bytes: await square(10) }])
    await store.defineLayer('hourly-swiss', { format: 'png', ...OTHERS.swiss })
    for (const layer of ['hourly', 'hourly-swiss']) {
      for (let hour = 0; hour < EDITIONS; hour++) {
        await store.putEdition(layer, new Date(first + 3600000 * hour).toISOString().replace('.000', ''),
          { complete: false })
      }
    }
    await store.defineLayer('shapes', { format: 'pbf', grid: 'LV95' })
    await store.defineLayer('empty', { format: 'png' })
    await until(async () => (await fetch(new URL('empty.json', gateway()))).status === 200, { what: 'the layers' })
  })
  after(() => world?.close())

  const gateway = () => new URL('/', world.gateway.url).href
  const bases = () => ({ gateway: gateway(), couch })

  /** Runs a task in QGIS and returns its result. */
  function qgis (task) {
    const home = path.join(folder.dir, 'home')
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const env =
      { ...process.env, QT_QPA_PLATFORM: 'offscreen', HOME: home, XDG_CONFIG_HOME: home, XDG_RUNTIME_DIR: home }
    const child = spawn(qgisPython(), [SCRIPT], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    const [out, err] = [[], []]
    child.stdout.on('data', part => out.push(part))
    child.stderr.on('data', part => err.push(part))
    child.stdin.end(JSON.stringify(task))
    return new Promise((resolve, reject) => child.on('close', () => {
      const text = String(Buffer.concat(out))
      try {
        resolve(JSON.parse(text.slice(text.lastIndexOf('\n{') + 1)))
      } catch {
        reject(new Error(`${text}\n${Buffer.concat(err)}`))
      }
    }))
  }

  async function save (base, name) {
    const response = await fetch(new URL(name, base))
    assert.equal(response.status, 200, `${base}${name}`)
    const file = path.join(folder.dir, name.replace(/:|\?.*/g, ''))
    writeFileSync(file, Buffer.from(await response.arrayBuffer()))
    return file
  }

  const drawFile = async (base, name, draw = [], extra = {}) => qgis({ qlr: await save(base, name), draw, ...extra })

  it('shows each edition from its time until the next one, with the pixels of the store', async () => {
    for (const [baseName, base] of Object.entries(bases())) {
      const [first, second, third] = YEARS.map(year => `${year}-06-01T00:00:00Z`)
      // a frame of the temporal controller begins with its first moment and ends before its last one
      const draw = [worldAt(first, second), worldAt(second, third), worldAt(third, '2025-06-01T00:00:00Z'),
        worldAt('2021-06-01T00:00:00Z', first), worldAt('2024-05-31T23:59:59Z'),
        worldAt(third, '2024-06-01T00:00:01Z'), worldAt('2030-01-01T00:00:00Z'), WORLD]
      const { loaded, tree, layers, drawn } = await drawFile(base, 'world.qlr', draw)
      assert.equal(loaded, true)
      const maps = [2024, 2023, 2022].map(year => ({ layer: `The world, ${year}-06-01`, ticked: true }))
      assert.deepEqual(tree, [{ group: 'The world', ticked: true, choice: false, of: maps }])
      assert.deepEqual(layers.map(({ source, ...layerFields }) => layerFields), PERIODS.map(period => ({
        name: `The world, ${period[0].slice(0, 10)}`, valid: true, crs: 'EPSG:3857',
        abstract: '', rights: ['© Somebody'], period
      })))
      const shownYears = drawn.map(picture => YEARS.find(year => isDeepStrictEqual(pictureOf(year), picture)) ??
        (isDeepStrictEqual(picture, NOTHING) ? 'nothing' : picture))
      assert.deepEqual(shownYears, [2022, 2023, 2024, 'nothing', 2023, 2024, 2024, 2024], baseName)
    }
  }).timeout(60000)

  it('shows the file of one time without a time range', async () => {
    for (const base of Object.values(bases())) {
      const { tree, layers, drawn } = await drawFile(base, 'world@2023.qlr', [WORLD, worldAt('2030-01-01T00:00:00Z')])
      assert.deepEqual(tree, [{ layer: 'The world, 2023', ticked: true }])
      assert.equal(layers[0].period, null)
      assert.deepEqual(drawn, [pictureOf(2023), pictureOf(2023)])
    }
  }).timeout(30000)

  it('shows tiles of 512 pixels, nothing where a tile is gone, and a hostile name', async () => {
    for (const [baseName, base] of Object.entries(bases())) {
      // the upper left tile of zoom 1
      const picture = year => ({
        extent: [-EDGE, 0, 0, EDGE], size: [512, 512], at: [[256, 256]],
        time: [`${year}-01-01T00:00:00Z`, `${year + 1}-01-01T00:00:00Z`]
      })
      const { layers, drawn } = await drawFile(base, 'big.qlr', [picture(2023), picture(2024)])
      assert.deepEqual(drawn, [[[100, 100, 100]], [[255, 255, 255]]], baseName)
      const name = NAME.replace('\u0000', '\ufffd')
      assert.deepEqual([layers[0].name, layers[0].abstract, layers[0].rights],
        [`${name}, 2024-01-01`, name, ['© Us & them']])
    }
  }).timeout(30000)

  for (const [layer, { grid }] of Object.entries(GRIDS)) {
    it(`shows each edition in the grid ${grid.id ?? grid}, pixel by pixel`, async () => {
      const map = mapOf(layer)
      const mapAt = (...time) => ({ ...map.picture, time: time.length === 1 ? [time[0], time[0]] : time })
      const [first, second, third] = YEARS.map(year => `${year}-06-01T00:00:00Z`)
      const draw = [mapAt(first, second), mapAt(second, third), mapAt(third, '2025-06-01T00:00:00Z'),
        mapAt('2021-06-01T00:00:00Z', first), mapAt('2024-05-31T23:59:59Z'), map.picture]
      const { loaded, layers, drawn } = await drawFile(gateway(), `${layer}.qlr`, draw)
      assert.equal(loaded, true)
      const name = (GRIDS[layer].name ?? layer).replace('\u0000', '\ufffd')
      assert.deepEqual(layers.map(({ source, ...layerFields }) => layerFields), PERIODS.map(period => ({
        name: `${name}, ${period[0].slice(0, 10)}`, valid: true, crs: SYSTEMS[layer], abstract: '', rights: [], period
      })))
      assert.deepEqual(drawn, [2022, 2023, 2024, undefined, 2023, 2024].map(year => map.in(year)))
      const snapshot = await drawFile(gateway(), `${layer}@2023.qlr`, [map.picture, mapAt('2030-01-01T00:00:00Z')])
      assert.deepEqual([snapshot.layers[0].period, snapshot.drawn], [null, [map.in(2023), map.in(2023)]])
    }).timeout(60000)
  }

  /** Starts another gateway for the store, passes its URL to a function, and closes the gateway. */
  async function withGateway (options, use) {
    const otherGateway = await startGateway({ db: world.store.url, port: 0, logLevel: 'silent', ...options })
    await use(new URL('/', otherGateway.url).href).finally(() => otherGateway.close())
  }

  it('shows a private layer in another grid, with the token of its file', async () => {
    const accessKeys = { one: 'k'.repeat(40) }
    const token = signToken({ layers: ['swiss'], until: Math.floor(Date.now() / 1000) + 3600 }, accessKeys, 'one')
    const map = mapOf('swiss')
    await withGateway({ privateLayers: ['swiss'], accessKeys }, async base => {
      assert.equal((await fetch(`${base}swiss.qlr`)).status, 401)
      for (const [file, year] of [['swiss.qlr', 2024], ['swiss@2022.qlr', 2022]]) {
        const { drawn } = await drawFile(base, `${file}?token=${token}`, [map.picture])
        assert.deepEqual(drawn, [map.in(year)], file)
      }
    })
  }).timeout(30000)

  it('ticks only the newest of the times of vector tiles', async () => {
    // only from a gateway: CouchDB sends gzipped tiles as stored, and QGIS 3.22 does not unpack them
    const picture = { extent: WORLD.extent, size: [256, 256], at: [[64, 128], [192, 128]] }
    const newest = await drawFile(gateway(), 'roads.qlr', [picture])
    const past = await drawFile(gateway(), 'roads@2023.qlr', [picture])
    const times = [{ layer: 'roads, 2024-01-01', ticked: true }, { layer: 'roads, 2023-01-01', ticked: false }]
    assert.deepEqual(newest.tree, [{ group: 'roads', ticked: true, choice: true, of: times }])
    const isWhite = rgb => rgb.every(value => value === 255)
    assert.deepEqual([...newest.drawn[0], ...past.drawn[0]].map(isWhite), [false, true, false, false])
  }).timeout(30000)

  it(`opens a layer of ${EDITIONS} editions in ten seconds, with only the newest map ticked`, async () => {
    for (const [base, name] of [[gateway(), 'hourly'], [couch, 'hourly'], [gateway(), 'hourly-swiss']]) {
      const { seconds, tree, layers } = await drawFile(base, `${name}.qlr`)
      assert.ok(seconds < 10, `it took ${seconds} s`)
      assert.equal(layers.length, EDITIONS + 1)
      assert.ok(layers.every(({ valid }) => valid))
      const [{ choice, of: [newest, { of: editions, ...group }] }] = tree
      assert.deepEqual([choice, newest, group],
        [true, { layer: name, ticked: true }, { group: `${name} (${EDITIONS})`, ticked: false, choice: false }])
      assert.ok(editions.every(({ ticked }) => ticked))
      assert.deepEqual([editions[0].layer, editions.at(-1).layer],
        [`${name}, 2024-01-13T11:00:00Z`, `${name}, 2024-01-01`])
    }
  }).timeout(60000)

  it(`downloads the capabilities once for ${EDITIONS} editions in another grid, from the public address`, async () => {
    const target = { base: '' }
    const requests = []
    const proxy = await startServer(async (req, res) => {
      const answer = await fetch(target.base + String(req.url).slice('/gis/'.length), { headers: req.headers })
      requests.push({ url: String(req.url), status: answer.status })
      const headers = ['etag', 'content-type', 'cache-control'].map(name => [name, answer.headers.get(name) ?? ''])
      res.writeHead(answer.status, Object.fromEntries(headers)).end(Buffer.from(await answer.arrayBuffer()))
    })
    const common = 'contextualWMSLegend=0&crs=EPSG:2056&dpiMode=7&format=image/png&layers=hourly-swiss&styles=default'
    const url = `${proxy.url}/gis/wmts`
    await withGateway({ publicUrl: `${proxy.url}/gis` }, async base => {
      target.base = base
      const { layers } = await drawFile(base, 'hourly-swiss.qlr')
      const times = ['', '&tileDimensions=Time%3D2024-01-13T11:00:00Z']
      assert.deepEqual([layers[0], layers[1]].map(({ source }) => source),
        times.map(time => `${common}${time}&tileMatrixSet=LV95_Level16&url=${url}/1.0.0/WMTSCapabilities.xml`))
      assert.equal(requests.length, EDITIONS + 1)
      assert.deepEqual([...new Set(requests.map(proxyRequest => proxyRequest.url))],
        ['/gis/wmts/1.0.0/WMTSCapabilities.xml'])
      assert.deepEqual(requests.filter(({ status }) => status !== 304).map(({ status }) => status), [200])
      const [layer] = (await drawFile(base, 'hourly-swiss@2024-01-02.qlr')).layers
      assert.equal(layer.source,
        `${common}&tileMatrixSet=LV95_Level16&url=${url}@2024-01-02/1.0.0/WMTSCapabilities.xml`)
    }).finally(() => proxy.close())
  }).timeout(60000)

  it('draws a WMTS at a time of its dimension', async () => {
    const url = new URL('wmts/1.0.0/WMTSCapabilities.xml', gateway()).href
    for (const [time, year] of [['2023-06-01T00:00:00Z', 2023], ['current', 2024]]) {
      const wmts = {
        crs: 'EPSG:3857', dpiMode: 7, format: 'image/png', layers: 'world',
        styles: 'default', tileMatrixSet: 'GoogleMapsCompatible_Level2', tileDimensions: `Time=${time}`, url
      }
      const { layers, drawn } = await qgis({ wmts, draw: [WORLD] })
      assert.equal(layers[0].valid, true)
      assert.deepEqual(drawn, [pictureOf(year)], time)
    }
  }).timeout(30000)

  it('reads the lists of connections', async () => {
    const files = {}
    for (const kind of ['xyz', 'vector-tiles', 'wmts']) files[kind] = await save(gateway(), `qgis-${kind}.xml`)
    const { connections } = await qgis({ connections: files })
    const [xyz, vector, wms] = ['xyz', 'vector-tile', 'wms'].map(kind => `qgis/connections-${kind}`)
    const pick = start => Object.fromEntries(Object.entries(connections)
      .filter(([key]) => key.startsWith(start)).map(([key, value]) => [key.slice(start.length + 1), value]))
    assert.deepEqual(pick(`${xyz}/The world (world)`),
      { url: `${gateway()}world/{z}/{x}/{y}.png`, zmin: '0', zmax: '2', tilePixelRatio: '1' })
    assert.deepEqual(pick(`${xyz}/${NAME.replace('\u0000', '\ufffd')} (big)`),
      { url: `${gateway()}big/{z}/{x}/{y}.png`, zmin: '0', zmax: '1', tilePixelRatio: '2' })
    assert.deepEqual(pick(`${vector}/roads`),
      { url: `${gateway()}roads/{z}/{x}/{y}.pbf`, zmin: '0', zmax: '0', styleUrl: `${gateway()}roads/style.json` })
    assert.equal(pick(wms)['tilecouch/url'], `${gateway()}wmts/1.0.0/WMTSCapabilities.xml`)
    assert.ok(!Object.keys(connections).some(key => /swiss|shapes/.test(key)),
      'QGIS knows such addresses in Web Mercator only')
  }).timeout(30000)

  it('gets an error with a code for layers and times that it cannot show', async () => {
    for (const base of Object.values(bases())) {
      for (const [name, status, code] of [['nope.qlr', 404, 'LAYER_NOT_FOUND'],
        ['shapes.qlr', 501, 'QGIS_GRID'], ['world@24.qlr', 400, 'BAD_TIME'], ['World.qlr', 400, 'BAD_LAYER']]) {
        const response = await fetch(new URL(String(name), base))
        assert.deepEqual([response.status, (await response.json()).error], [status, code], `${base}${name}`)
      }
    }
    const { error, reason } = await (await fetch(`${couch}swiss.qlr`)).json()
    assert.equal(error, 'QGIS_GRID')
    assert.match(reason, /gateway \(tilecouch serve\)/)
    const proxied = await request(`${couch}world.qlr`, { headers: { 'x-forwarded-for': '10.0.0.1' } })
    assert.deepEqual([proxied.status, (await proxied.json()).error], [501, 'ADDRESS_UNKNOWN'])
  })

  it('gets the same file from CouchDB and the gateway, with its name', async () => {
    for (const layer of ['world', 'world@2023-06-01T06:00:00Z', 'big', 'roads', 'empty', 'hourly']) {
      const name = `${layer}.qlr`
      const [gatewayFile, couchFile] = await Promise.all(Object.values(bases()).map(async base => {
        const response = await fetch(new URL(name, base))
        const text = (await response.text()).replaceAll(base, 'BASE/')
        const { headers } = response
        return { text, disposition: headers.get('content-disposition'), type: headers.get('content-type') }
      }))
      assert.deepEqual(gatewayFile, couchFile)
      assert.equal(gatewayFile.disposition, `attachment; filename="${name.replaceAll(':', '')}"`)
    }
  })
})
