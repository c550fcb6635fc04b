// The mistakes of the first hour in one table, each typed on every store: what is typed, and the cause and the remedy
// that are printed. mistakes.test.js looks closer at some of them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createListener } from 'node:net'
import path from 'node:path'
import sharp from 'sharp'
import { flipY, parseArea } from '../../core/index.js'
import { createProgram } from '../../loader/cli/program.js'
import { Store } from '../../loader/store/index.js'
import { serverCommands } from '../../server/commands.js'
import { noiseTile } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { memory, runAtTerminal, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { writeMbtiles } from '../sources/mbtiles-writer.js'
import { vectorTile } from '../support/sample-tiles.js'
import { pattern } from '../support/pattern.js'

const BERN = [7.3, 46.9, 7.5, 47]
const GDAL = /\n {4}gdal2tiles\.py --xyz -w none \S+ \S+-tiles\n {4}tilecouch load \S+-tiles --layer NAME\n$/
const NOT_TILES = /^tilecouch: .* \[SOURCE_NOT_TILES\]\n {2}.*:\n {4}/m

const image = (side, format = 'png') =>
  sharp({ create: { width: side, height: side, channels: 3, background: '#123456' } }).toFormat(format).toBuffer()

/** Tiles of Bern, as files. */
function bern (folder,
  { place = ({ z, x, y }) => [z, x, y], seed = 0, beside = true, bytes = number => png(number) } = {}) {
  const files = beside ? { [`${folder}/metadata.json`]: JSON.stringify({ bounds: BERN }) } : {}
  for (let z = 3; z <= 9; z++) {
    for (const tile of parseArea({ bbox: BERN }).tiles(z)) {
      files[`${folder}/${place(tile).join('/')}.png`] = bytes(seed + tile.x + tile.y)
    }
  }
  return files
}

const fromSouth = ({ z, x, y }) => [z, x, flipY(z, y)]
const oneTile = async bytes => ({ 'map/1/0/0.png': await bytes })
const style = sources => JSON.stringify({ version: 8, sources, layers: [] })
const load = (source, ...more) => ['load', source, '--layer', 'osm', '--time', '2024', ...more]

/**
 * @typedef {object} Mistake
 * @property {string[] | ((server: string) => string[])} typed server: address of a web server
 * @property {Record<string, any> | ((folder: string) => any)} [files] in the folder in which it is typed
 * @property {string[]} [before] typed before
 * @property {Record<string, string | ((server: string) => string)>} [pages] of the web server
 * @property {string} [answer] typed at the terminal
 * @property {string | null} [db] instead of the database; null: none is named
 * @property {number} [code]
 * @property {RegExp[]} says cause and remedy
 * @property {string[]} [layers] that are there afterwards; unless given, there is no store
 */

const town = { files: bern('tiles'), before: load('tiles') }
const hill = { a: { type: 'raster', tiles: ['https://a.example.org/{z}/{x}/{y}.png'] }, b: {
  type: 'raster', url: 'https://b.example.org/map.json'
} }

/** @type {Record<string, Mistake>} */
const mistakes = {
  // nothing dangerous by accident
  'removing a layer in a script': {
    ...town,
    typed: ['remove', 'osm', '--all'],
    says: [/nothing was removed: nobody confirmed it \[NOT_CONFIRMED\]/,
      /Look first with --dry-run\. At a terminal the command asks; in scripts add --yes\./],
    layers: ['osm']
  },
  'removing another layer than was meant': {
    ...town,
    typed: ['remove', 'osm', '--all'],
    answer: 'town',
    says: [/^Removing from osm: \d+ versions of \d+ tiles/m,
      /To go on, type osm: tilecouch: nothing was removed: the answer was not osm \[NOT_CONFIRMED\]/, /--dry-run/],
    layers: ['osm']
  },
  'pruning with rules in a script': {
    typed: ['prune', 'osm', '--keep-last', '1'], says: [/\[NOT_CONFIRMED\]/, /add --yes/]
  },
  'pruning what has expired in a script': {
    typed: ['prune', '--all', '--expired'], says: [/\[NOT_CONFIRMED\]/, /add --yes/]
  },
  'loading something private into a new database': {
    files: bern('tiles'),
    typed: load('tiles'),
    code: 0,
    says: [/ is new\. When this command ends, everybody who can reach it may read it; --private keeps it closed\./,
      /may read it now\. `tilecouch access --private` closes it\./],
    layers: ['osm']
  },
  'naming a server and no database': {
    files: bern('tiles'),
    typed: load('tiles'),
    db: 'http://127.0.0.1:1/',
    says: [/http:\/\/127\.0\.0\.1:1\/ names a server and no database/,
      /add the name of one, such as http:\/\/127\.0\.0\.1:1\/tiles \[NO_DATABASE_NAMED\]/]
  },
  'loading files that are no images': {
    files: bern('pages', { bytes: () => Buffer.from('<html>') }),
    typed: load('pages'),
    says: [
      / failed:\n {4}osm:\d:\d+:\d+ {2}not a tile image: it starts "<html>" \[UNKNOWN_IMAGE\], and \d+ more like it\n/,
      /Tiles are PNG, JPEG, WebP/
    ],
    layers: []
  },

  // where tiles lie, and what they are
  'rows that are counted from the south': {
    files: bern('tms', { place: fromSouth }),
    typed: load('tms'),
    code: 0,
    says: [
      /^First tiles: the South Atlantic Ocean\n/m,
      pattern(
        /rows look counted from the wrong side: .* counted from the other side, in Switzerland, near Bern, and its /,
        /metadata say so\n/
      ),
      pattern(
        /remove this edition with `tilecouch remove osm --edition 2024-01-01T00:00:00Z`, and load it with --scheme /,
        /tms\.\n/
      )
    ],
    layers: ['osm']
  },
  'rows that are counted otherwise than in the layer': {
    files: { ...bern('tiles'), ...bern('tms', { place: fromSouth, beside: false }) },
    before: load('tiles'),
    typed: ['load', 'tms', '--layer', 'osm', '--time', '2025'],
    code: 0,
    says: [/and the other editions of the layer lie there\n/,
      /load it with --scheme tms\. If the other editions are wrong, remove those\./],
    layers: ['osm']
  },
  'z/y/x instead of z/x/y': {
    files: bern('zyx', { place: ({ z, x, y }) => [z, y, x] }),
    typed: load('zyx'),
    code: 0,
    says: [/columns and rows look exchanged \(z\/y\/x instead of z\/x\/y\)/, /rename the files to z\/x\/y/],
    layers: ['osm']
  },
  'tiles of another size than the others': {
    files: async () => ({ 'map/1/0/0.png': await image(512), 'map/1/0/1.png': await image(256) }),
    typed: load('map'),
    says: [/osm:1:0:1 {2}the tile is 256 x 256 pixels, those of the layer "osm" are 512 x 512 \[TILE_SIZE\]\n/,
      /Load it as another layer\./],
    layers: ['osm']
  },
  'tiles of two sizes, which were accepted': {
    files: async () => ({ 'map/1/0/0.png': await image(512), 'map/1/0/1.png': await image(256) }),
    typed: load('map', '--any-size'),
    code: 0,
    says: [
      /the tiles have several sizes: .*(512 x 512 pixels; .*256 x 256|256 x 256 pixels; .*512 x 512) pixels/,
      /Load each size as a layer of its own/
    ],
    layers: ['osm']
  },
  'a tile of more than 1 MB': {
    files: () => oneTile(noiseTile(1, 1.2e6)),
    typed: load('map'),
    code: 0,
    says: [/1 tile of more than 1 MB: 1\/0\/0 has 1\.2 MB/, /smaller as JPEG or WebP/],
    layers: ['osm']
  },
  'JPEGs that are called .png': {
    files: () => oneTile(image(256, 'jpeg')),
    typed: load('map'),
    code: 0,
    says: [/1 tile is jpg, but called \.png, such as 1\/0\/0/, /`tilecouch layer osm --tile-format jpg`/],
    layers: ['osm']
  },

  // what holds no tiles
  'a GeoTIFF': {
    files: { 'dem.tif': 'II*\0rest' }, typed: load('dem.tif'), says: [NOT_TILES, /is a TIFF image/, GDAL]
  },
  'a single image': { files: () => image(256)
    .then(bytes => ({ 'photo.png': bytes })), typed: load('photo.png'), says: [NOT_TILES, /is a single image/, GDAL] },
  'a QGIS project': { files: { 'town.qgz': 'PK\x03\x04' }, typed: load('town.qgz'), says: [
    NOT_TILES, /is a QGIS project/, /Generate XYZ tiles \(MBTiles\)/
  ] },
  'a layer definition of QGIS': {
    files: {
      'town.qlr': '<qlr><maplayer><datasource>type=xyz&amp;url=https://t.example.org/%7Bz%7D/%7Bx%7D/%7By%7D.png</' +
        'datasource></maplayer></qlr>'
    },
    typed: load('town.qlr'),
    says: [NOT_TILES, /is a layer definition of QGIS/,
      /tilecouch load "https:\/\/t\.example\.org\/{z}\/{x}\/{y}\.png" --layer NAME --bbox/]
  },
  'a shapefile': { files: { 'roads.shp': Buffer.from('0000270a0000000000', 'hex') }, typed: load('roads.shp'), says: [
    NOT_TILES, /is a shapefile/, /ogr2ogr -f MBTILES roads\.mbtiles roads\.shp/
  ] },
  GeoJSON: { files: {
    'roads.geojson': '{"type":"FeatureCollection","features":[]}'
  }, typed: load('roads.geojson'), says: [NOT_TILES, /is GeoJSON/, /tippecanoe -zg -o roads\.mbtiles roads\.geojson/] },
  'a map style of several sources': { files: { 'style.json': style(hill) }, typed: load('style.json'), says: [
    NOT_TILES, /is a map style/, /tilecouch load https:\/\/b\.example\.org\/map\.json --layer NAME/
  ] },
  'a bucket of Amazon': { typed: load('s3://maps/town.mbtiles'), says: [
    NOT_TILES, /in object storage/, /aws s3 cp s3:\/\/maps\/town\.mbtiles \./
  ] },
  'a bucket of Google': { typed: load('gs://maps/planet.pmtiles'), says: [
    NOT_TILES, /over HTTPS/, /tilecouch load https:\/\/storage\.googleapis\.com\/maps\/planet\.pmtiles/
  ] },
  'the address of a WMS': {
    typed: load('https://maps.example.org/wms?SERVICE=WMS&REQUEST=GetCapabilities'),
    says: [NOT_TILES, /is a WMS/, /"type":"wms".*> upstream\.json\n {4}tilecouch load --upstream upstream\.json/]
  },
  'the address of a WMS as an upstream': {
    typed: ['layer', 'relief', '--upstream', 'https://maps.example.org/wms?SERVICE=WMS&LAYERS=hill'],
    says: [NOT_TILES, /is a WMS/, /echo '{"type":"wms",.*"layers":"hill"}' > upstream\.json\n/]
  },
  'the address of a WMS, without parameters': {
    pages: {
      '/maps/wms': '<WMS_Capabilities version="1.3.0"><Capability><Layer><Layer><Name>hill</Name></Layer></Layer></' +
        'Capability></WMS_Capabilities>'
    },
    typed: server => load(`${server}/maps/wms`),
    says: [NOT_TILES, /is a WMS/, /tilecouch load --upstream upstream\.json/]
  },
  'vector tiles, which the viewer does not draw': {
    files: at => {
      writeMbtiles(path.join(at, 'roads.mbtiles'), [{ z: 0, x: 0, y: 0, bytes: vectorTile() }], { format: 'pbf' })
    },
    typed: load('roads.mbtiles'),
    code: 0,
    says: [/MapLibre, OpenLayers and QGIS draw vector tiles; the viewer shows when they changed\./],
    layers: ['osm']
  },
  'a TileJSON, which is loaded': {
    pages: { '/map.json': server =>
      JSON.stringify({ tilejson: '3.0.0', tiles: [`${server}/xyz/{z}/{x}/{y}.png`], minzoom: 0, maxzoom: 1 }) },
    typed: server => load(`${server}/map.json`),
    code: 0,
    says: [/^osm@2024-01-01T00:00:00Z: 5 tiles /m],
    layers: ['osm']
  },

  // time, failures, options, stores
  'no time': {
    files: bern('survey-2022-06-01'),
    typed: ['load', 'survey-2022-06-01', '--layer', 'osm'],
    code: 0,
    says: [
      /^Time: \S+Z\. This is the time of the load: neither --time nor the source says when the map looked like this\./m,
      /stop and add --time 2022-06-01\./
    ],
    layers: ['osm']
  },
  'two loads of one time': {
    files: { ...bern('tiles'), ...bern('others', { seed: 5000 }) },
    before: load('tiles'),
    typed: load('others'),
    says: [
      pattern(
        / failed:\n/,
        / {4}osm:\S+ {2}\S+ already has another image at 2024-01-01T00:00:00Z \[VERSION_TAKEN\], and \d+ more like /,
        /it\n/
      ), /later --time; or remove the edition first: `tilecouch remove osm --edition 2024-01-01T00:00:00Z`\./
    ],
    layers: ['osm']
  },
  'a mistyped option': { typed: ['load', 'tiles', '--layr', 'osm'], code: 2, says: [
    /^error: unknown option '--layr'\n\(Did you mean --layer\?\)/
  ] },
  'no store': {
    typed: ['info'], db: null,
    says: [/no store was named, and there is none in \.\/data \[DATABASE_NOT_FOUND\]/,
      /Name a store with --db or COUCHDB_URL\. To create one: `tilecouch load`/]
  }
}

/** Runs tests in a folder without settings of a store. */
function useOwnFolder () {
  const home = process.cwd()
  const named = process.env.COUCHDB_URL
  afterEach(() => { // before the folder is removed
    process.chdir(home)
    if (named !== undefined) process.env.COUCHDB_URL = named
  })
  const folder = useFolder()
  beforeEach(() => {
    delete process.env.COUCHDB_URL
    process.chdir(folder.dir)
  })
  return folder
}

onEachStore('a mistake, typed', backend => {
  const folder = useOwnFolder()
  /** @type {import('node:http').Server} */
  let web
  let url, server, pages
  beforeEach(async () => {
    url = await backend.database()
    web = createServer(({ url: asked = '' }, response) => {
      const page = pages[asked.split('?')[0]]
      if (page) return void response.end(typeof page === 'function' ? page(server) : page)
      if (asked.startsWith('/xyz/')) return void response.writeHead(200, { 'content-type': 'image/png' }).end(png(1))
      response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await once(web, 'listening')
    server = `http://127.0.0.1:${/** @type {any} */ (web.address()).port}`
  })
  afterEach(async () => {
    web.closeAllConnections()
    await new Promise(resolve => { web.close(resolve) })
  })

  for (const [
    mistake, { files = {}, before: first, typed, answer, db, code = 1, says, layers, pages: own = {} }
  ] of Object.entries(mistakes)) {
    it(`is answered: ${mistake}`, async () => {
      pages = own
      folder.write(await (typeof files === 'function' ? files(folder.dir) : files) ?? {})
      if (first) assert.equal((await runCommand([...first, '--db', url])).code, 0)
      const target = db === null ? [] : ['--db', db ?? url]
      const argv = [...typeof typed === 'function' ? typed(server) : typed, ...target]
      const printed = await (answer === undefined ? runCommand(argv) : runAtTerminal(argv, answer))
      const text = printed.err + printed.out
      assert.equal(printed.code, code, text)
      for (const what of says) assert.match(text, what)
      if (layers) assert.deepEqual((await (await Store.open(url)).layers()).map(({ layer }) => layer), layers)
      else assert.equal((await request(url)).status, 404, 'no store is made')
      assert.ok(!existsSync(path.join(folder.dir, 'data')))
    })
  }
}, { timeout: 60000 })

describe('a port that is taken', function () {
  this.timeout(60000)
  const folder = useOwnFolder()

  it('is named by tilecouch up, and later commands find the store on the other one', async () => {
    const listener = createListener(socket => socket.resume()) // it answers nothing
    // or somebody else has it
    await new Promise(
      resolve => { listener.once('error', resolve).listen(5984, '127.0.0.1', () => resolve(undefined)) }
    )
    const [stdout, stderr] = [memory(), memory()]
    const streams = /** @type {any} */ ({ stdout, stderr })
    const openEmbedded = async () => assert.fail('the store runs')
    folder.write({ '.couchapprc': JSON.stringify({ env: { default: { db: 'http://localhost:5984/tiles' } } }) })
    const ended = createProgram({ streams, openEmbedded, more: serverCommands }).run(['up', '--no-demo'])
    try {
      await until(() => stdout.text.includes('Ctrl-C stops'), { timeout: 50000 })
      assert.match(stdout.text,
        /\n {2}Port 5984 is taken by .+, so this store listens on \d+\.\n {2}Commands in this folder find it there; /)
      folder.write(bern('tiles'))
      const { code, err } = await runCommand(load('tiles'))
      assert.equal(code, 0, err)
      assert.match(err, /^Store: http:\/\/127\.0\.0\.1:\d+\/tiles \(`tilecouch up` in \.\/data\)\n/)
      assert.match((await runCommand(['info'])).out, /^osm /m)
    } finally {
      process.emit('SIGINT')
      assert.equal(await ended, 0, stderr.text)
      await new Promise(resolve => { listener.close(resolve) })
    }
  })
})
