// QGIS without a window: layer files with their times, also in other grids, WMTS, vector tiles and lists of
// connections, on a real gateway and directly on CouchDB.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import sharp from 'sharp'
import { gridOf } from '../../core/index.js'
import { signToken } from '../../loader/store/token.js'
import { startGateway } from '../../server/gateway/index.js'
import { as, onEachStore, put, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { qgisPython, skip } from '../support/tools.js'
import { packTile } from '../support/vector-tile.js'
import { town } from './wmts/service.js'
import { OTHERS, YEARS, color, startWorld } from './wmts/world.js'

const EDGE = 20037508.342789244
const SCRIPT = fileURLToPath(new URL('drive-qgis.py', import.meta.url))
const NAME = '<b>&"Evil"]]>\u0000 \' map'
const EDITIONS = 300

/** The middles of the tiles of zoom 2, in a picture of the world with tiles of 256 pixels. */
const PLACES = Array.from({ length: 16 }, (_, n) => [n >> 2, n & 3])
const WORLD =
  { extent: [-EDGE, -EDGE, EDGE, EDGE], size: [1024, 1024], at: PLACES.map(([x, y]) => [256 * x + 128, 256 * y + 128]) }
const at = (...time) => ({ ...WORLD, time: time.length === 1 ? [time[0], time[0]] : time })
const pictureOf = year => PLACES.map(([x, y]) => color(2, x, y, year))
const NOTHING = PLACES.map(() => [255, 255, 255])

/** Layers in other grids; the last one in a set of a user, with a hostile name. */
const GRIDS = { ...OTHERS, town: { name: NAME, grid: { ...town, id: 'To-wn.1_a:b' }, minzoom: 2, maxzoom: 3 } }
const SYSTEMS =
  { swiss: 'EPSG:2056', europe: 'EPSG:3035', arctic: 'EPSG:5041', degrees: 'OGC:CRS84', town: 'EPSG:28992' }

/** All tiles of the deepest zoom of a layer, pixel on pixel: the middle of each and a pixel near each corner. */
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
      await store.write([
        { layer: 'roads', z: 0, x: 0, y: 0, time: `${year}-01-01T00:00:00Z`, bytes: packTile(
          { land: [{ type: 'Polygon', lines }] }
        ) }
      ])
      await store.putEdition('roads', `${year}-01-01T00:00:00Z`, { complete: false })
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
    const deadline = Date.now() + 10000
    while ((await fetch(new URL('empty.json', gateway()))).status !== 200) {
      assert.ok(Date.now() < deadline, 'the gateway has seen the layers')
    }
  })
  after(() => world?.close())

  const gateway = () => new URL('/', world.gateway.url).href
  const bases = () => ({ gateway: gateway(), couch })

  /** What QGIS makes of a task. */
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

  const drawnFrom = async (base, name, draw = [], more = {}) => qgis({ qlr: await save(base, name), draw, ...more })

  it('shows each edition from its time until the next one, with the pixels of the store', async () => {
    for (const [what, base] of Object.entries(bases())) {
      const [first, second, third] = YEARS.map(year => `${year}-06-01T00:00:00Z`)
      // a frame of the temporal controller begins with its first moment and ends before its last one
      const draw = [at(first, second), at(second, third), at(third, '2025-06-01T00:00:00Z'), at('2021-06-01T00:00:00Z',
        first), at('2024-05-31T23:59:59Z'), at(third, '2024-06-01T00:00:01Z'), at('2030-01-01T00:00:00Z'), WORLD]
      const { loaded, tree, layers, drawn } = await drawnFrom(base, 'world.qlr', draw)
      assert.equal(loaded, true)
      assert.deepEqual(tree, [
        { group: 'The world', ticked: true, choice: false, of: [
          2024, 2023, 2022
        ].map(year => ({ layer: `The world, ${year}-06-01`, ticked: true })) }
      ])
      assert.deepEqual(layers.map(({ source, ...rest }) => rest),
      [['2024-06-01T00:00:01Z', ''], ['2023-06-01T00:00:01Z', '2024-05-31T23:59:59.000Z'],
        ['2022-06-01T00:00:01Z', '2023-05-31T23:59:59.000Z']].map(period => ({
        name: `The world, ${period[0].slice(0, 10)}`, valid: true, crs: 'EPSG:3857',
        abstract: '', rights: ['© Somebody'], period
      })))
      const shown = drawn.map(picture => YEARS.find(year => isDeepStrictEqual(pictureOf(year), picture)) ??
        (isDeepStrictEqual(picture, NOTHING) ? 'nothing' : picture))
      assert.deepEqual(shown, [2022, 2023, 2024, 'nothing', 2023, 2024, 2024, 2024], what)
    }
  }).timeout(60000)

  it('shows the file of one time without a time range', async () => {
    for (const base of Object.values(bases())) {
      const { tree, layers, drawn } = await drawnFrom(base, 'world@2023.qlr', [WORLD, at('2030-01-01T00:00:00Z')])
      assert.deepEqual(tree, [{ layer: 'The world, 2023', ticked: true }])
      assert.equal(layers[0].period, null)
      assert.deepEqual(drawn, [pictureOf(2023), pictureOf(2023)])
    }
  }).timeout(30000)

  it('shows tiles of 512 pixels, nothing where a tile is gone, and a hostile name', async () => {
    for (const [what, base] of Object.entries(bases())) {
      // the upper left tile of zoom 1
      const picture = year => (
        { extent: [-EDGE, 0, 0, EDGE], size: [512, 512], at: [[256, 256]], time: [
          `${year}-01-01T00:00:00Z`, `${year + 1}-01-01T00:00:00Z`
        ] }
      )
      const { layers, drawn } = await drawnFrom(base, 'big.qlr', [picture(2023), picture(2024)])
      assert.deepEqual(drawn, [[[100, 100, 100]], [[255, 255, 255]]], what)
      const name = NAME.replace('\u0000', '\ufffd')
      assert.deepEqual([layers[0].name, layers[0].abstract, layers[0].rights],
        [`${name}, 2024-01-01`, name, ['© Us & them']])
    }
  }).timeout(30000)

  for (const [layer, { grid }] of Object.entries(GRIDS)) {
    it(`shows each edition in the grid ${grid.id ?? grid}, pixel by pixel`, async () => {
      const map = mapOf(layer)
      const then = (...time) => ({ ...map.picture, time: time.length === 1 ? [time[0], time[0]] : time })
      const [first, second, third] = YEARS.map(year => `${year}-06-01T00:00:00Z`)
      const draw = [then(first, second), then(second, third), then(third, '2025-06-01T00:00:00Z'),
        then('2021-06-01T00:00:00Z', first), then('2024-05-31T23:59:59Z'), map.picture]
      const { loaded, layers, drawn } = await drawnFrom(gateway(), `${layer}.qlr`, draw)
      assert.equal(loaded, true)
      const name = (GRIDS[layer].name ?? layer).replace('\u0000', '\ufffd')
      assert.deepEqual(layers.map(({ source, ...rest }) => rest),
      [['2024-06-01T00:00:01Z', ''], ['2023-06-01T00:00:01Z', '2024-05-31T23:59:59.000Z'],
        ['2022-06-01T00:00:01Z', '2023-05-31T23:59:59.000Z']].map(period => ({
        name: `${name}, ${period[0].slice(0, 10)}`, valid: true, crs: SYSTEMS[layer], abstract: '', rights: [], period
      })))
      assert.deepEqual(drawn, [2022, 2023, 2024, undefined, 2023, 2024].map(year => map.in(year)))
      const one = await drawnFrom(gateway(), `${layer}@2023.qlr`, [map.picture, then('2030-01-01T00:00:00Z')])
      assert.deepEqual([one.layers[0].period, one.drawn], [null, [map.in(2023), map.in(2023)]])
    }).timeout(60000)
  }

  /** Runs something with another gateway in front of the store. */
  async function withGateway (options, use) {
    const other = await startGateway({ db: world.store.url, port: 0, logLevel: 'silent', ...options })
    await use(new URL('/', other.url).href).finally(() => other.close())
  }

  it('shows a private layer in another grid, with the token of its file', async () => {
    const accessKeys = { one: 'k'.repeat(40) }
    const token = signToken({ layers: ['swiss'], until: Math.floor(Date.now() / 1000) + 3600 }, accessKeys, 'one')
    const map = mapOf('swiss')
    await withGateway({ privateLayers: ['swiss'], accessKeys }, async base => {
      assert.equal((await fetch(`${base}swiss.qlr`)).status, 401)
      for (const [file, year] of [['swiss.qlr', 2024], ['swiss@2022.qlr', 2022]]) {
        const { drawn } = await drawnFrom(base, `${file}?token=${token}`, [map.picture])
        assert.deepEqual(drawn, [map.in(year)], file)
      }
    })
  }).timeout(30000)

  it('ticks only the newest of the times of vector tiles', async () => {
    // from a gateway: CouchDB answers gzipped tiles as they are, which QGIS 3.22 does not unpack
    const picture = { extent: WORLD.extent, size: [256, 256], at: [[64, 128], [192, 128]] }
    const [now, then] =
      [await drawnFrom(gateway(), 'roads.qlr', [picture]), await drawnFrom(gateway(), 'roads@2023.qlr', [picture])]
    assert.deepEqual(now.tree, [
      { group: 'roads', ticked: true, choice: true, of: [
        { layer: 'roads, 2024-01-01', ticked: true }, { layer: 'roads, 2023-01-01', ticked: false }
      ] }
    ])
    const isWhite = rgb => rgb.every(value => value === 255)
    assert.deepEqual([...now.drawn[0], ...then.drawn[0]].map(isWhite), [false, true, false, false])
  }).timeout(30000)

  it(`opens a layer of ${EDITIONS} editions in ten seconds, with only the newest map ticked`, async () => {
    for (const [base, name] of [[gateway(), 'hourly'], [couch, 'hourly'], [gateway(), 'hourly-swiss']]) {
      const { seconds, tree, layers } = await drawnFrom(base, `${name}.qlr`)
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

  it(`downloads the capabilities once for ${EDITIONS} editions in another grid, from the public address`,
    async () => {
    const target = { base: '' }
    const seen = []
    const proxy = await startServer(async (req, res) => {
      const answer = await fetch(target.base + String(req.url).slice('/gis/'.length), { headers: req.headers })
      const { headers, status } = answer
      seen.push({ url: String(req.url), status })
      res.writeHead(status, { etag: headers.get('etag') ?? '', 'content-type': headers.get('content-type') ??
        '', 'cache-control': headers.get('cache-control') ?? '' }).end(Buffer.from(await answer.arrayBuffer()))
    })
    const common = 'contextualWMSLegend=0&crs=EPSG:2056&dpiMode=7&format=image/png&layers=hourly-swiss&styles=default'
    const url = `${proxy.url}/gis/wmts`
    await withGateway({ publicUrl: `${proxy.url}/gis` }, async base => {
      target.base = base
      const { layers } = await drawnFrom(base, 'hourly-swiss.qlr')
      assert.deepEqual([layers[0], layers[1]].map(({ source }) => source), [
        '', '&tileDimensions=Time%3D2024-01-13T11:00:00Z'
      ].map(time => `${common}${time}&tileMatrixSet=LV95_Level16&url=${url}/1.0.0/WMTSCapabilities.xml`))
      assert.equal(seen.length, EDITIONS + 1)
      assert.deepEqual([...new Set(seen.map(one => one.url))], ['/gis/wmts/1.0.0/WMTSCapabilities.xml'])
      assert.deepEqual(seen.filter(({ status }) => status !== 304).map(({ status }) => status), [200])
      const [one] = (await drawnFrom(base, 'hourly-swiss@2024-01-02.qlr')).layers
      assert.equal(one.source, `${common}&tileMatrixSet=LV95_Level16&url=${url}@2024-01-02/1.0.0/WMTSCapabilities.xml`)
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
    const behind = await request(`${couch}world.qlr`, { headers: { 'x-forwarded-for': '10.0.0.1' } })
    assert.deepEqual([behind.status, (await behind.json()).error], [501, 'ADDRESS_UNKNOWN'])
  })

  it('gets the same file from CouchDB and the gateway, with its name', async () => {
    for (
      const name of ['world.qlr', 'world@2023-06-01T06:00:00Z.qlr', 'big.qlr', 'roads.qlr', 'empty.qlr', 'hourly.qlr']
    ) {
      const [mine, theirs] = await Promise.all(Object.values(bases()).map(async base => {
        const response = await fetch(new URL(name, base))
        const disposition = response.headers.get('content-disposition')
        return { text: (await response.text())
          .replaceAll(base, 'BASE/'), disposition, type: response.headers.get('content-type') }
      }))
      assert.deepEqual(mine, theirs)
      assert.equal(mine.disposition, `attachment; filename="${name.replaceAll(':', '')}"`)
    }
  })
})
