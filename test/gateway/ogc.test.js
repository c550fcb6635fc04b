// Tests of OGC API - Tiles in the gateway: documents that follow the standard, tiles, times, and private layers.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { packTile } from '../support/vector-tile.js'
import { apiFaults, collectionFaults, collectionsFaults, conformanceFaults,
  landingFaults, linkOf, matrixSetFaults, tilesetFaults, tilesetsFaults } from './ogc/rules.js'
import { OPTIONS, token } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

const [T1, T2] = ['2022-06-01T00:00:00Z', '2024-06-01T00:00:00Z']
const QUAD = 'WebMercatorQuad'

onEachStore('the OGC API', backend => {
  const fixture = useGateway(backend, {
    async fill (store) {
      await store.defineLayer('osm', {
        name: 'A map', description: 'streets', attribution: '© Somebody', minzoom: 0, maxzoom: 3, bounds: [0, 0, 90, 60]
      })
      const fields = { name: 'String', lanes: 'Number', x: 'any' }
      await store.defineLayer('roads', { format: 'pbf', maxzoom: 3, vector_layers: [{ id: 'roads', fields }] })
      await store.defineLayer('large', { tileSize: 512, format: 'webp', maxzoom: 2, bounds: [170, -90, -170, 90] })
      await store.defineLayer('bare')
      await store.defineLayer('swiss', { grid: 'LV95', minzoom: 0, maxzoom: 20, bounds: [7, 46, 8, 47] })
      await store.defineLayer('degrees', { grid: 'WorldCRS84Quad', maxzoom: 3 })
      await store.write([{ layer: 'degrees', z: 1, x: 1, y: 0, time: T1, bytes: png(7) }])
      for (const [time, seed] of [[T1, 1], [T2, 2]]) {
        await store.write([{ layer: 'osm', z: 3, x: 4, y: 3, time, bytes: png(seed) }])
        await store.putEdition('osm', time, { title: 'one', complete: true })
      }
      const road = { type: 'LineString', lines: [[[0, 0], [9, 9]]], properties: { name: 'a' } }
      const bytes = packTile({ roads: [road] })
      await store.write([{ layer: 'roads', z: 1, x: 1, y: 0, time: T1, bytes }])
      await store.write([{ layer: 'bare', z: 2, x: 1, y: 1, time: T1, bytes: png(3) }])
    }
  })
  const get = async (path, { headers = {}, method = 'GET' } = {}) =>
    fixture.ask(path.replace(fixture.gateway.url, ''), { headers, method })
  async function read (path) {
    const answer = await get(path)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json
  }
  const tileset = layer =>
    `/ogc/collections/${layer}/${layer === 'roads' ? '' : 'map/'}tiles/${QUAD}${layer === 'large' ? '_512' : ''}`

  it('has documents that follow the standard', async () => {
    assert.deepEqual(landingFaults(await read('/ogc/')), [])
    assert.deepEqual(landingFaults(await read('/ogc')), [])
    assert.deepEqual(conformanceFaults(await read('/ogc/conformance')), [])
    assert.deepEqual(apiFaults(await read('/ogc/api')), [])
    const collectionList = await read('/ogc/collections')
    assert.deepEqual([collectionsFaults(collectionList), collectionList.collections.map(({ id }) => id)],
      [[], ['bare', 'degrees', 'large', 'osm', 'roads', 'swiss']])
    for (const { id } of collectionList.collections) {
      const collection = await read(`/ogc/collections/${id}`)
      assert.deepEqual(collectionFaults(collection), [], id)
      const list = await read(linkOf(collection, id === 'roads' ? 'tilesets-vector' : 'tilesets-map').href)
      assert.deepEqual(tilesetsFaults(list), [], id)
      const tilesetDocument = await read(linkOf(list.tilesets[0], 'self').href)
      assert.deepEqual(tilesetFaults(tilesetDocument), [], id)
      const set = await read(linkOf(tilesetDocument, 'tiling-scheme').href)
      assert.deepEqual(matrixSetFaults(set), [], id)
      const matrixIds = set.tileMatrices.map(matrix => matrix.id)
      assert.ok(tilesetDocument.tileMatrixSetLimits.every(({ tileMatrix }) => matrixIds.includes(tileMatrix)), id)
    }
    const sets = await read('/ogc/tileMatrixSets')
    assert.deepEqual(sets.tileMatrixSets.map(({ id, uri }) => [id, Boolean(uri)]),
      [[QUAD, true], ['WorldCRS84Quad', true], [`${QUAD}_512`, false], ['LV95', false]])
  })

  it('is checked by rules that find faults in an empty document', () => {
    for (const check of [apiFaults, collectionFaults, collectionsFaults, conformanceFaults, landingFaults,
      matrixSetFaults, tilesetFaults, tilesetsFaults]) assert.notDeepEqual(check({}), [], check.name)
  })

  it('links only to addresses that answer', async () => {
    const visited = new Set()
    async function walk (href) {
      const address = href.replace('{tileMatrix}', '1').replace('{tileRow}', '0').replace('{tileCol}', '0')
      if (visited.has(address)) return
      visited.add(address)
      const { status, headers, text: document } = await get(address)
      assert.ok(status === 200 || (status === 204 && address !== href), `${status} ${address}`)
      if (!/json/.test(headers['content-type'])) return
      for (const text of document.match(/"href":"[^"]+"/g) ?? []) await walk(JSON.parse(`{${text}}`).href)
    }
    await walk(`${fixture.gateway.url}/ogc/`)
    assert.ok(visited.size > 20, `${visited.size} addresses`)
  })

  it('describes the extent, times and zooms of a layer', async () => {
    const { extent, title, description, attribution } = await read('/ogc/collections/osm')
    assert.deepEqual([title, description, attribution], ['A map', 'streets', '© Somebody'])
    assert.deepEqual(extent.spatial.bbox, [[0, 0, 90, 60]])
    assert.deepEqual([extent.temporal.interval, extent.temporal.grid.coordinates], [[[T1, null]], [T1, T2]])
    assert.deepEqual((await read('/ogc/collections/large')).extent.spatial.bbox,
      [[-180, -85.0511287798066, 180, 85.0511287798066]], 'over the antimeridian it goes all the way round')
    assert.deepEqual((await read(tileset('osm'))).tileMatrixSetLimits.map(
      ({ tileMatrix, maxTileCol }) => [tileMatrix, maxTileCol]
    ), [['0', 0], ['1', 1], ['2', 3], ['3', 7]])
    assert.deepEqual((await read(tileset('bare'))).tileMatrixSetLimits.map(({ tileMatrix }) => tileMatrix),
      ['0', '1', '2'], 'without maxzoom, to the deepest tile')
  })

  it('announces vector tiles as such, with their layers and fields', async () => {
    const roads = await read(tileset('roads'))
    assert.deepEqual([roads.dataType, linkOf(roads, 'item').type], ['vector', 'application/vnd.mapbox-vector-tile'])
    assert.deepEqual(roads.layers, [
      { id: 'roads', dataType: 'vector', propertiesSchema: {
        type: 'object', properties: { name: { type: 'string' }, lanes: { type: 'number' }, x: {} }
      } }
    ])
    const { status, headers } = await get(`${tileset('roads')}/1/0/1`)
    assert.deepEqual([status, headers['content-type']], [200, 'application/vnd.mapbox-vector-tile'])
    for (const [path, words] of [['/ogc/collections/roads/map/tiles', /vector tiles, at tiles/],
      ['/ogc/collections/osm/tiles', /images, at map\/tiles/]]) {
      const answer = await get(path)
      assert.deepEqual([answer.status, answer.json.error], [404, 'NOT_FOUND'])
      assert.match(answer.json.reason, words)
    }
  })

  it('serves tiles now, as of a time, and with the newest state of an interval', async () => {
    const [oldBytes, newBytes] = [png(1), png(2)]
    // T1 is 2022-06-01T00:00:00Z, T2 is 2024-06-01T00:00:00Z
    const searches = {
      before: ['?datetime=2023', `?datetime=${T1}`, '?datetime=2024-05-31T23:59:59Z', '?datetime=2022-06-01',
        '?datetime=2024-06-01T00:59:59.9%2B01:00', '?datetime=2022/2023-05', '?datetime=../2023', '?datetime=/2023',
        '?subset=datetime(%222023%22)', '?subset=datetime(%222024-05-31T23%3A59%3A59Z%22)',
        '?subset=datetime(%222022%22:%222023%22)', '?subset=datetime(*:%222023%22)'],
      now: ['', '?datetime=', '?f=json', `?datetime=${T2}`, '?datetime=2024-06-01', '?datetime=2030',
        '?datetime=2024-06-01T00:59:59%2B00:30', '?datetime=2022/2024-12', '?datetime=2022/..', '?datetime=2022/',
        '?datetime=../..', '?subset=datetime(%222022%22:*)']
    }
    for (const [bytes, time, queries] of [[oldBytes, T1, searches.before], [newBytes, T2, searches.now]]) {
      for (const search of queries) {
        const { status, headers, body } = await get(`${tileset('osm')}/3/3/4${search}`)
        assert.deepEqual([status, headers['content-type'], headers['x-tilecouch-time'], body.equals(bytes)],
          [200, 'image/png', time, true], search)
      }
    }
    const { headers } = await get(`${tileset('osm')}/3/3/4`)
    assert.equal((await get(`${tileset('osm')}/3/3/4`, { headers: { 'if-none-match': headers.etag } })).status, 304)
    const head = await get(`${tileset('osm')}/3/3/4`, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, `${newBytes.length}`, 0])
  })

  it('answers 204 where there is no tile, before the first version, and outside the layer', async () => {
    for (const path of ['3/2/5', '3/3/4?datetime=2020', '3/0/0']) {
      const { status, headers } = await get(`${tileset('osm')}/${path}`)
      assert.deepEqual([status, headers['cache-control']], [204, 'public, max-age=60'], path)
    }
    const plain = await fixture.another({ missing: '404' })
    assert.equal((await ask(plain.url, `${tileset('osm')}/3/2/5`)).status,
      404, 'unless the operator wants another answer')
  })

  it('refuses invalid tiles, sets, layers and times with an error code', async () => {
    const table = [
      [`${tileset('osm')}/4/3/4`, 400, 'BAD_TILE'], [`${tileset('osm')}/3/8/4`, 400, 'BAD_TILE'],
      [`${tileset('osm')}/3/3/8`, 400, 'BAD_TILE'], [`${tileset('osm')}/x/3/4`, 400, 'BAD_TILE'],
      [`${tileset('osm')}/3/-1/4`, 400, 'BAD_TILE'], [`${tileset('osm')}/3/03/4`, 400, 'BAD_TILE'],
      ['/ogc/collections/osm/map/tiles/WorldCRS84Quad/3/3/4', 404, 'NOT_FOUND'],
      ['/ogc/collections/osm/map/tiles/WorldCRS84Quad', 404, 'NOT_FOUND'],
      ...['x', 'constructor', '__proto__', 'api/x', 'conformance/x', 'collections/osm/x', 'collections/osm/map',
        'collections/osm/map/tiles/WebMercatorQuad/3', 'collections/osm/map/tiles/WebMercatorQuad/3/3/4/x',
        'tileMatrixSets/x', 'tileMatrixSets/WebMercatorQuad/x'].map(path => [`/ogc/${path}`, 404, 'NOT_FOUND']),
      ['/ogc/collections/nope', 404, 'LAYER_NOT_FOUND'], ['/ogc/collections/No', 400, 'BAD_LAYER'],
      ...['datetime=x', 'datetime=now', 'datetime=..', 'datetime=2024/2023', 'datetime=2022/2023/2024',
        'datetime=2024-02-30', 'datetime=x/2024', 'datetime=2024/x', 'subset=Lat(1:2)', 'subset=datetime(2023)',
        'subset=datetime(%22x%22)'].map(search => [`${tileset('osm')}/3/3/4?${search}`, 400, 'BAD_TIME']),
      ['/ogc/collections?datetime=x', 400, 'BAD_TIME']
    ]
    for (const [path, status, code] of table) {
      const answer = await get(path)
      assert.deepEqual([answer.status, answer.json.error, answer.headers['cache-control']],
        [status, code, 'no-store'], path)
    }
    assert.equal((await get('/ogc/collections', { method: 'POST' })).status, 405)
  })

  it('keeps the time in its links, and leaves out layers that began later', async () => {
    const collection = await read('/ogc/collections/osm?datetime=2023')
    const list = await read(linkOf(collection, 'tilesets-map').href)
    const tilesetDocument = await read(linkOf(list.tilesets[0], 'self').href)
    assert.equal(linkOf(tilesetDocument, 'item').href,
      `${fixture.gateway.url}${tileset('osm')}/{tileMatrix}/{tileRow}/{tileCol}?datetime=2023`)
    const ids = async search => (await read(`/ogc/collections${search}`)).collections.map(({ id }) => id)
    assert.ok((await ids('?datetime=2023')).includes('osm'))
    assert.ok(!(await ids('?datetime=2021')).includes('osm'))
    assert.ok((await ids('?datetime=2021')).includes('large'), 'a layer without times is at every time')
  })

  it('has an ETag for clients, and links below the public URL if there is one', async () => {
    const answer = await get('/ogc/collections')
    assert.equal(answer.headers['cache-control'], 'private, max-age=0, must-revalidate')
    assert.equal((await get('/ogc/collections', { headers: { 'if-none-match': answer.headers.etag } })).status, 304)
    assert.equal((await get('/ogc/api')).headers['content-type'], 'application/vnd.oai.openapi+json;version=3.0')
    const gateway = await fixture.another({ publicUrl: 'https://maps.example.org/tiles/' })
    const { headers, json } = await ask(gateway.url, '/ogc/')
    assert.equal(headers['cache-control'], 'public, max-age=0, must-revalidate')
    assert.ok(json.links.every(({ href }) => href.startsWith('https://maps.example.org/tiles/ogc/')))
  })

  it('shows private layers only to visitors with a token, with the token in every link', async () => {
    const gateway = await fixture.another({ ...OPTIONS, privateLayers: ['osm', 'large'] })
    const ids = async search => (await ask(gateway.url, `/ogc/collections${search}`))
      .json.collections.map(({ id }) => id)
    const validToken = token(['osm'])
    assert.deepEqual([await ids(''), await ids(`?token=${validToken}`)],
      [['bare', 'degrees', 'roads', 'swiss'], ['bare', 'degrees', 'osm', 'roads', 'swiss']])
    const { json } = await ask(gateway.url, `${tileset('osm')}?datetime=2023&token=${validToken}`)
    assert.ok(json.links.every(({ href }) => href.endsWith(`token=${validToken}`)))
    assert.deepEqual((await ask(gateway.url, '/ogc/tileMatrixSets')).json.tileMatrixSets.map(({ id }) => id),
      [QUAD, 'WorldCRS84Quad', 'LV95'], 'sets of private layers are not named')
  })

  it('announces the grid of a layer, whose matrices have its own ids', async () => {
    const degrees = await read('/ogc/collections/degrees/map/tiles/WorldCRS84Quad')
    assert.deepEqual(degrees.tileMatrixSetLimits.map(
      ({ tileMatrix, maxTileCol, maxTileRow }) => [tileMatrix, maxTileCol, maxTileRow]
    ), [['0', 1, 0], ['1', 3, 1], ['2', 7, 3]], 'zoom 1 is matrix 0')
    const { status, body } = await get('/ogc/collections/degrees/map/tiles/WorldCRS84Quad/0/0/1')
    assert.deepEqual([status, body.equals(png(7))], [200, true])
    for (const place of ['0/1/0', '0/0/2', '3/0/0']) {
      assert.equal((await get(`/ogc/collections/degrees/map/tiles/WorldCRS84Quad/${place}`)).json.error,
        'BAD_TILE', place)
    }
    const swiss = await read('/ogc/collections/swiss')
    assert.deepEqual([swiss.crs, swiss.extent.spatial.bbox],
      [['http://www.opengis.net/def/crs/EPSG/0/2056'], [[7, 46, 8, 47]]])
    assert.equal((await read('/ogc/tileMatrixSets/LV95')).supportedCRS, 'http://www.opengis.net/def/crs/EPSG/0/2056')
    assert.equal((await get('/ogc/collections/swiss/map/tiles/WebMercatorQuad')).status, 404)
  })

  it('gives different ids to two sets of the same name', async () => {
    const matrix = {
      id: 'a', scaleDenominator: 1e6, cellSize: 280, pointOfOrigin: [0, 6e6], tileWidth: 256, tileHeight: 256
    }
    const town = width => ({
      id: 'Town', crs: 'http://www.opengis.net/def/crs/EPSG/0/25832',
      tileMatrices: [{ ...matrix, matrixWidth: width, matrixHeight: 1 }]
    })
    for (const width of [2, 3]) await fixture.store.defineLayer(`town${width}`, { grid: town(width) })
    await until(async () => (await get('/ogc/collections/town3')).status === 200, { what: 'the layers' })
    const ids = (await read('/ogc/tileMatrixSets')).tileMatrixSets.map(({ id }) => id).filter(id => /^Town_/.test(id))
    assert.equal(ids.length, 2)
    for (const width of [2, 3]) {
      const { tilesets: [{ links }] } = await read(`/ogc/collections/town${width}/map/tiles`)
      const tilesetDocument = await read(new URL(links.find(({ rel }) => /self|item/.test(rel)).href).pathname)
      const set = await read(new URL(tilesetDocument.links.find(({ rel }) => /tiling-scheme$/.test(rel)).href).pathname)
      assert.deepEqual([set.tileMatrices[0].matrixWidth, ids.includes(set.id), set.id], [width, true, set.identifier])
    }
  })
})
