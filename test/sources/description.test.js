// A TileJSON, a map style or another description as a source. Its addresses, zooms, bounds and name are used.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { parseArea } from '../../core/index.js'
import { openSource } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { publishedStore } from '../support/published.js'
import { LOOPBACK } from '../support/upstream-server.js'
import { runCommand } from '../support/cli.js'
import { loadFrom } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { square } from '../support/tiles.js'
import { onEachStore } from '../support/backends.js'
import { QUICK, useSeeding } from '../support/seeding.js'
import { pattern } from '../support/pattern.js'
import { startServer } from '../support/server.js'
import { openWmts } from '../../loader/load/sources/wmts.js'

const T1 = '2023-01-01T00:00:00Z'
const BOX = [0, 0, 44, 40]
const part = { area: parseArea({ bbox: BOX }), zooms: { min: 2, max: 4 } }

onEachStore('a description of tiles', backend => {
  const map = useSeeding(backend)
  const folder = useFolder()
  /**
   * Documents by path. The server answers every other path with the tile of the upstream.
   * @type {Record<string, {body: string | Buffer, status?: number, headers?: any}>}
   */
  let documents
  /** @type {{url: string, headers: any}[]} */
  let requests
  let server, url
  beforeEach(async () => {
    documents = {}
    requests = []
    server = await startServer(async ({ url: target = '', headers }, response) => {
      requests.push({ url: target, headers })
      const document = documents[target.split('?')[0]]
      if (document) return response.writeHead(document.status ?? 200, document.headers).end(document.body)
      const answer = await fetch(map.upstream.url + target)
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(Buffer.from(await answer.arrayBuffer()))
    })
    url = server.url
  })
  afterEach(() => server.close())

  const template = () => `${url}/xyz/{z}/{x}/{y}.png`
  const tileJson = fields => ({
    tilejson: '3.0.0', tiles: [template()], minzoom: 2, maxzoom: 4,
    bounds: BOX, name: 'Map', attribution: '© Map', ...fields
  })
  const serve = (pathname, body, options) => {
    documents[pathname] =
      { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body), ...options }
    return url + pathname
  }
  const open = async (name, options) => {
    const source = await openSource(name, { fetching: QUICK, ...options })
    await source.close()
    return source
  }
  const loadSource = (name, options) =>
    loadFrom(map.store, name, { layer: 'map', time: T1 }, { fetching: QUICK, ...options })
  const refusalOf = (name, options) => open(name, options).then(() => assert.fail(`${name} was opened`), error => error)

  it('is loaded with its template, zooms, bounds, name and attribution', async () => {
    const time = { name: 'Map, 2023', 'tilecouch:name': 'Map', time: '2023' } // as a gateway answers for a time
    assert.equal((await open(serve('/map@2023.json', tileJson(time)))).fields.name, 'Map')
    const result = await loadSource(serve('/map.json', tileJson()))
    assert.deepEqual([result.created, result.failed], [part.area.count(part.zooms), 0])
    const { name, attribution, minzoom, maxzoom } = await map.store.layer('map')
    assert.deepEqual([name, attribution, minzoom, maxzoom], ['Map', '© Map', 2, 4])
    assert.deepEqual((await map.store.head('map', 4, 8, 7)).bytes, await map.upstream.tile(4, 8, 7))
    assert.equal((await map.store.edition('map', T1)).source, template())
  })

  it('gives only the requested area and zooms, and refuses those that it does not have', async () => {
    const name = serve('/map.json', tileJson())
    assert.equal((await open(name, { bbox: [0, 0, 10, 10], zooms: { min: 0, max: 3 } })).total,
      parseArea({ bbox: [0, 0, 10, 10] }).count({ min: 2, max: 3 }))
    assert.equal((await refusalOf(name, { bbox: [100, 0, 110, 10] })).code, 'BAD_AREA')
    assert.equal((await refusalOf(name, { zooms: { min: 5, max: 6 } })).code, 'BAD_AREA')
  })

  it('may count rows from the south, unless a scheme is given', async () => {
    const name = serve('/map.json', tileJson({ tiles: [`${url}/tms/{z}/{x}/{y}.png`], scheme: 'tms' }))
    await loadSource(name)
    assert.deepEqual((await map.store.head('map', 4, 8, 7)).bytes, await map.upstream.tile(4, 8, 7))
    const flipped = await openSource(name, { fetching: QUICK, scheme: 'xyz' })
    const { value: first } = await flipped.tiles()[Symbol.asyncIterator]().next()
    assert.deepEqual(await first.read(), await map.upstream.tile(2, 2, 2))
    await flipped.close()
  })

  it('may have a relative tile address, and any name', async () => {
    for (const [pathname, tiles] of [['/maps/a.json', '../xyz/{z}/{x}/{y}.png'],
      ['/source', 'xyz/{z}/{x}/{y}.png'], ['/b.json?f=1', '/xyz/{z}/{x}/{y}.png']]) {
      const name = serve(pathname.split('?')[0], tileJson({ tiles: [tiles] })) +
        (pathname.split('?')[1] ? `?${pathname.split('?')[1]}` : '')
      assert.equal((await open(name)).name, template(), pathname)
    }
    assert.equal((await open(serve('/packed.json', gzipSync(JSON.stringify(tileJson()))))).name, template())
  })

  it('may hold a key for its tiles, which is sent and not stored', async () => {
    const name =
      `${serve('/map.json', tileJson({ tiles: [`${template()}?style=a&key=s3cret`], maxzoom: 2 }))}?key=s3cret`
    const { edition } = await loadSource(name)
    assert.equal(edition.source, `${template()}?style=a`)
    const tiles = requests.filter(({ url: target }) => target.startsWith('/xyz/'))
    assert.ok(tiles.length && tiles.every(({ url: target }) => target.endsWith('.png?style=a&key=s3cret')),
      JSON.stringify(tiles))
  })

  it('must not lead into an inner network that the user did not name', async () => {
    const name = serve('/map.json', tileJson({ tiles: [`${map.upstream.url}/xyz/{z}/{x}/{y}.png`], maxzoom: 2 }))
    await assert.rejects(loadSource(name), { code: 'UPSTREAM_ADDRESS' })
    assert.equal(map.upstream.requests.length, 0)
    assert.equal((await loadSource(name, { networks: LOOPBACK })).failed, 0)
  })

  it('of the whole world needs an area, as any tile server does', async () => {
    const world = tileJson({ bounds: [-180, -85, 180, 85], maxzoom: 14 })
    const error = await refusalOf(serve('/map.json', world))
    assert.equal(error.code, 'BAD_AREA')
    assert.match(error.message, /all that it has to zoom 14 is [\d,]+ tiles: say where/)
    assert.equal((await open(serve('/map.json', world), { bbox: [0, 0, 1, 1] })).counts?.size, 13)
  })

  it('may be a file, which takes the options of a tile server', async () => {
    folder.write({
      'map.json': JSON.stringify(tileJson()), 'relative.json': JSON.stringify(tileJson({ tiles: ['{z}/{x}/{y}.png'] }))
    })
    const file = folder.path('map.json')
    const run = (...argv) => runCommand(['load', file, '--layer', 'map', '--time', '2023', '--db', map.url, ...argv])
    assert.match((await run()).err, /\[UPSTREAM_ADDRESS\]/)
    const { code, out, err } = await run('--upstream-networks', '127.0.0.0/8', '--contact', 'me@example.org')
    assert.equal(code, 0, err)
    assert.match(out, new RegExp(`^map@.*: ${part.area.count(part.zooms)} tiles in `))
    assert.match(requests.at(-1)?.headers['user-agent'], /me@example\.org/)
    const error = await refusalOf(folder.path('relative.json'))
    assert.deepEqual([error.code, /is not complete: load it from its server/.test(error.message)],
      ['SOURCE_UNREADABLE', true])
  })

  it('may come from a gateway', async function () {
    this.timeout(30000)
    const published = await publishedStore(backend)
    await published.store.write(square({ layer: 'town', time: T1, z: 3, side: 2, seed: (x, y) => x * 2 + y }))
    await published.store.defineLayer('town', { minzoom: 3, maxzoom: 3, bounds: [-180, 70, -91, 85] })
    const gateway = await startGateway({ db: published.url, port: 0, grace: 0, logLevel: 'silent' })
    try {
      const { created, missing } = await loadSource(`${gateway.url}/town.json`)
      const bounds = [-180, 70, -91, 85]
      assert.deepEqual([created, created + missing], [4, parseArea({ bbox: bounds }).count({ min: 3, max: 3 })])
    } finally {
      await gateway.close()
      await published.store.destroy()
    }
  })

  describe('that is a map style', () => {
    const style = sources => ({ version: 8, name: 'Style', sources, layers: [] })

    it('is loaded from its only source of images or heights', async () => {
      const name = serve('/style.json',
        style({ words: { type: 'geojson', data: {} }, map: {
          type: 'raster', ...tileJson({ name: undefined }), tileSize: 256
        }, roads: { type: 'vector', url: `${url}/none` } }))
      const source = await open(name)
      assert.deepEqual([source.name, source.fields.attribution, source.total],
        [template(), '© Map', part.area.count(part.zooms)])
      for (const [encoding, expected] of [[undefined, 'mapbox'], ['terrarium', 'terrarium'], ['custom', undefined]]) {
        const relief =
          await open(serve('/style.json', style({ relief: { type: 'raster-dem', ...tileJson({ encoding }) } })))
        assert.equal(relief.fields.encoding, expected, 'of heights, as styles default')
      }
    })

    it('may refer to a TileJSON', async () => {
      serve('/map.json', tileJson())
      const source = await open(serve('/style.json', style({ map: { type: 'raster', url: 'map.json' } })))
      assert.deepEqual([source.name, source.fields.name], [template(), 'Map'])
    })

    it('is loaded from its only source of vector tiles', async () => {
      const source = await open(
        serve('/style.json', style({ roads: { type: 'vector', ...tileJson({ tiles: [`${url}/roads/{z}/{x}/{y}`] }) } }))
      )
      assert.equal(source.fields.format, 'pbf')
    })

    it('is refused when it has several sources, with a command for each of them', async () => {
      const error = await refusalOf(
        serve('/style.json',
          style({ a: { type: 'raster', tiles: [template()] }, b: {
            type: 'raster', url: 'https://example.org/b.json'
          }, c: { type: 'raster', url: 'pmtiles://https://example.org/c.pmtiles' } }))
      )
      assert.equal(error.code, 'SOURCE_NOT_TILES')
      const lines = error.advice.split('\n    ')
      assert.deepEqual(lines,
        ['Load one of its sources:',
          `tilecouch load "${template()}" --layer NAME --bbox WEST,SOUTH,EAST,NORTH --zoom 0-12`,
          'tilecouch load https://example.org/b.json --layer NAME',
          'tilecouch load https://example.org/c.pmtiles --layer NAME'])
    })

    it('is loaded from the WMS that it shows', async () => {
      await map.store.defineLayer('map', { tileSize: 64 })
      const tiles = [
        `${url}/wms?bbox={bbox-epsg-3857}&format=image/png&service=WMS&version=1.1.1&request=GetMap&srs=EPSG:3857&` +
          `width=256&height=256&layers=map`
      ]
      const { created } = await loadSource(serve('/style.json', style({ hill: { type: 'raster', tiles } })), part)
      assert.equal(created, part.area.count(part.zooms))
    })
  })

  describe('that describes something else', () => {
    /** @type {Record<string, [string, any, RegExp, RegExp]>} */
    const descriptions = {
      'a WMS': [
        '/geo/wms',
        '<?xml version="1.0"?><WMS_Capabilities ' +
          'version="1.3.0"><Capability><Layer><Layer><Name>hill</Name></Layer></Layer></Capability></' +
          'WMS_Capabilities>', /is a WMS/, /"url":"http:\/\/127\.0\.0\.1:\d+\/geo\/wms"/
      ],
      'a WMS of another address': [
        '/geo',
        '<WMT_MS_Capabilities ' +
          'version="1.1.1"><Capability><Layer><Name>snow</Name></Layer></Capability></WMT_MS_Capabilities>',
          /is a WMS/, /"layers":"snow"/
      ],
      'a WMTS with several layers': ['/wmts.xml',
        `<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1"><Contents>
        <Layer><ows:Title>T</ows:Title><ows:Identifier>hill</ows:Identifier></Layer>
        <Layer><ows:Identifier>snow</ows:Identifier></Layer>
        </Contents></Capabilities>`, /the description of a WMTS/, pattern(
          /Its layers are hill, snow\. .*\n/,
          / {4}tilecouch load http:\/\/127\.0\.0\.1:\d+\/wmts\.xml --source-layer hill /
        )],
      'a TMS': ['/tms/1.0.0/map/tilemapresource.xml',
        '<TileMap version="1.0.0"><TileFormat width="256" height="256" mime-type="image/jpeg" ' +
          'extension="jpg"/></TileMap>', /rows from the south \(TMS\)/,
          /load "http:\/\/127\.0\.0\.1:\d+\/tms\/1\.0\.0\/map\/{z}\/{x}\/{y}\.jpg" .* --scheme tms$/],
      'an ArcGIS service': ['/rest/topo', { currentVersion: 11, tileInfo: { rows: 256 } },
        /a map service of ArcGIS/, /\/rest\/topo\/tile\/{z}\/{y}\/{x}"/],
      'an image': ['/logo', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), /a single image/, /curl/]
    }
    for (const [kind, [pathname, body, message, advice]] of Object.entries(descriptions)) {
      it(`is refused with its kind and the next command: ${kind}`, async () => {
        const error = await refusalOf(serve(pathname, body))
        assert.equal(error.code, 'SOURCE_NOT_TILES', error.stack)
        assert.match(error.message, message)
        assert.match(error.advice, advice)
      })
    }

    it('is refused with the fitting error when it is missing, broken or unknown', async () => {
      assert.equal((await refusalOf(`${url}/none.json`)).code, 'SOURCE_NOT_FOUND')
      assert.equal((await refusalOf(serve('/broken.json', '{', {}))).code, 'SOURCE_UNKNOWN')
      assert.equal((await refusalOf(serve('/ill.json', '{}', { status: 500 }))).code, 'SOURCE_UNREADABLE')
      assert.equal((await refusalOf(serve('/other', {}))).code, 'BAD_ANSWER', 'what was taken for a store')
      assert.equal((
        await refusalOf(serve('/bad.json', tileJson({ tiles: ['http://a:s3cret@example.org/{z}/{x}/{y}.png'] })))
      ).code, 'BAD_UPSTREAM')
    })
  })
})

// The description of a WMTS with many tile matrix sets.

const WHERE = { name: 'wmts.xml' }
const FEW = 200

/** Returns capabilities of one layer in `count` tile matrix sets of LV95, each with another scale. */
function capabilities (count) {
  const ids = Array.from({ length: count }, (_, number) => `set${number}`)
  const links = ids.map(id => `<TileMatrixSetLink><TileMatrixSet>${id}</TileMatrixSet></TileMatrixSetLink>`)
  const sets = ids.map((id, number) => `<TileMatrixSet><ows:Identifier>${id}</ows:Identifier>
    <ows:SupportedCRS>urn:ogc:def:crs:EPSG::2056</ows:SupportedCRS><TileMatrix><ows:Identifier>0</ows:Identifier>
    <ScaleDenominator>${1000 + number}</ScaleDenominator><TopLeftCorner>2420000 1350000</TopLeftCorner>
    <TileWidth>256</TileWidth><TileHeight>256</TileHeight><MatrixWidth>1</MatrixWidth><MatrixHeight>1</MatrixHeight>
    </TileMatrix></TileMatrixSet>`)
  return `<Capabilities xmlns="http://www.opengis.net/wmts/1.0"><Contents><Layer><ows:Identifier>a</ows:Identifier>
    ${links.join('')}</Layer>${sets.join('')}</Contents></Capabilities>`
}

/** Returns the CPU time in milliseconds until the description is refused because no set was named. */
async function timeOf (count) {
  const xml = capabilities(count)
  const { user } = process.cpuUsage()
  await assert.rejects(openWmts(xml, WHERE, /** @type {any} */ ({ layer: 'a' })), error => {
    assert.equal(/** @type {any} */ (error).code, 'BAD_OPTION')
    assert.ok(/** @type {any} */ (error).message.length < 500, 'it names some of the sets')
    return true
  })
  return (process.cpuUsage().user - user) / 1000
}

describe('a WMTS with many tile matrix sets', function () {
  this.timeout(120_000)

  it('is read in a time proportional to the number of sets', async () => {
    await timeOf(FEW)
    const [few, many] = [await timeOf(FEW), await timeOf(20 * FEW)]
    assert.ok(many < 60 * few + 500, `${few} ms for ${FEW} sets, ${many} ms for ${20 * FEW}`)
  })

  it('is not read further when the load is stopped', async () => {
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    const options = /** @type {any} */ ({ layer: 'a', signal: stop.signal })
    await assert.rejects(openWmts(capabilities(FEW), WHERE, options), { code: 'ABORTED' })
  })
})
