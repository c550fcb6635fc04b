// A CouchDB that MapProxy wrote as a source, and the templates that read tiles from its document ids.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { flipY, gridOf, tileId } from '../../core/index.js'
import { load } from '../../loader/load/index.js'
import { openSource } from '../../loader/load/sources/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { findMapProxy, startMapProxy, startUpstream, upstreamTile } from '../mapproxy/mapproxy.js'
import { as, onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { IdTemplate } from '../../loader/load/sources/couchdb.js'

const TEMPLATE = '%(grid_name)s-%(z)s-%(x)s-%(y)s'
const SIDE = 16

/** A document as MapProxy 7 writes it, with its default tile_metadata. */
const docOf = (id, bytes, fields) => ({
  _id: id, timestamp: 1700000000.25, ...fields,
  ...(bytes && { _attachments: { tile: { content_type: 'image/png', data: bytes.toString('base64') } } })
})

onEachStore('a CouchDB that MapProxy wrote as a source', backend => {
  let couch, url
  beforeEach(async () => {
    url = await backend.database()
    couch = new Couch(url)
    await couch.request({ method: 'PUT' })
  })
  afterEach(() => couch.request({ method: 'DELETE' }))

  const put = async docs => {
    for (const { ok, id } of await couch.bulk(docs)) assert.ok(ok, id)
  }
  const grid = (name = (z, x, y) => `webmercator-${z}-${x}-${y}`) =>
    Array.from({ length: SIDE * SIDE }, (_, index) => docOf(name(4, index >> 4, index & 15), png(index)))
  const collect = async source => {
    const tiles = []
    for await (const { z, x, y, read } of source.tiles()) {
      tiles.push({ z, x, y, id: tileId('osm', z, x, y), bytes: await read() })
    }
    return tiles
  }
  const open = (idTemplate, options) => openSource(url, { idTemplate, ...options })

  it('yields its tiles in the order of tilecouch ids, for any order of its own ids', async () => {
    for (const [template, name] of [[TEMPLATE], ['{z}/{x}/{y}', (z, x, y) => `${z}/${x}/${y}`],
      ['%(z)02d.%(y)03d.%(x)03d', (z, x, y) => `0${z}.${`${y}`.padStart(3, '0')}.${`${x}`.padStart(3, '0')}`]]) {
      await put(grid(name))
      const source = await open(template)
      const tiles = await collect(source)
      assert.equal(tiles.length, SIDE * SIDE)
      assert.deepEqual(tiles.map(({ id }) => id), tiles.map(({ id }) => id).sort())
      for (const { x, y, bytes } of tiles) assert.ok(bytes.equals(png(x * SIDE + y)))
      assert.equal((await collect(source)).length, SIDE * SIDE, 'walked again')
      await source.close()
    }
  })

  it('skips and counts other documents; reads a single attachment that is not called tile', async () => {
    const image = { content_type: 'image/png', data: png(1).toString('base64') }
    await put([
      docOf('g-2-0-0', png(0)), { ...docOf('g-2-0-1'), _attachments: { 'image.png': image } },
      docOf('g-2-0-2'), { ...docOf('g-2-0-3'), _attachments: { a: image, b: image } },
      { ...docOf('g-2-1-0'), _attachments: { a: image, tile: { ...image, data: png(2).toString('base64') } } },
      docOf('g-2-4-0', png(0)), docOf('g-40-0-0', png(0)), { _id: 'readme' }, { _id: '_design/x-2-0-0' }
    ])
    const source = await open(TEMPLATE)
    assert.deepEqual((await collect(source)).map(
      ({ x, y, bytes }) => [x, y, bytes && [png(0), png(1), png(2)].findIndex(expected => expected.equals(bytes))]
    ), [[0, 0, 0], [0, 1, 1], [0, 2, null], [0, 3, null], [1, 0, 2]])
    assert.equal(source.ignored, 3)
    await source.close()
  })

  it('reads tiles in bulk, and lists ids in pages without their documents', async function () {
    this.timeout(60000)
    const empty = Array.from({ length: 5100 }, (_, index) => ({ _id: `webmercator-13-${index % 71}-${index}` }))
    for (let start = 0; start < empty.length; start += 1700) await put(empty.slice(start, start + 1700))
    await put(grid())
    const requests = { reads: 0, lists: 0 }
    const { docs, request: originalRequest } = Couch.prototype
    Couch.prototype.docs = function (...parameters) { requests.reads++; return docs.apply(this, parameters) }
    Couch.prototype.request = function (options) {
      if (options.path === '_all_docs') requests.lists++
      assert.ok(!options.qs?.include_docs)
      return originalRequest.call(this, options)
    }
    try {
      const source = await open(TEMPLATE)
      let count = 0
      for await (const tile of source.tiles()) if (tile.z === 13) count++
      assert.deepEqual([count, requests], [5100, { reads: 0, lists: 2 }])
      for await (const { z, read } of source.tiles()) if (z === 4) assert.ok(await read())
      assert.equal(requests.lists, 2, 'the list is kept')
      assert.ok(requests.reads < 20, `${requests.reads} requests`)
      await source.close()
    } finally {
      Object.assign(Couch.prototype, { docs, request: originalRequest })
    }
  })

  it('refuses a template that no document matches, and names some ids', async () => {
    await assert.rejects(open(TEMPLATE), /there are no documents/)
    await put(grid().slice(0, 3))
    await assert.rejects(open('{z}/{x}/{y}'),
      {
        code: 'SOURCE_UNREADABLE',
        message: /called like \{z\}\/\{x\}\/\{y\}: they are called "webmercator-4-0-0", "webmercator-4-0-1"/
      })
    await assert.rejects(open('{z}/{x}'), { code: 'BAD_OPTION' })
    await assert.rejects(openSource(await backend.database(), { idTemplate: TEMPLATE }), { code: 'SOURCE_NOT_FOUND' })
  })

  it('refuses to mix two grids, and reads the grid that the template names', async () => {
    await put([...grid().slice(0, 5), docOf('utm32-4-0-0', png(77))])
    const mixedSource = await open(TEMPLATE)
    await assert.rejects(collect(mixedSource), {
      code: 'BAD_OPTION', message: /"utm32" and "webmercator" for grid_name|"webmercator" and "utm32" for grid_name/
    })
    await mixedSource.close()
    const utm32Source = await open('utm32-%(z)s-%(x)s-%(y)s')
    assert.deepEqual((await collect(utm32Source)).map(({ bytes }) => bytes.equals(png(77))), [true])
    assert.equal(utm32Source.ignored, 0, 'the others were not even listed')
    await utm32Source.close()
  })

  it('counts rows from the south of the grid that is given', async () => {
    const lv95 = gridOf({ grid: 'LV95' })
    await put([docOf(`lv95-18-30-${lv95.whole(18).y1 - 20}`, png(1)), docOf('lv95-18-30-1000', png(2))])
    const target = await Store.create(await backend.database())
    const source = await open(TEMPLATE, { grid: 'LV95', scheme: 'tms' })
    const { created, failed, failures } = await load(target, source, { layer: 'alps', time: '2024-03-01' })
    assert.deepEqual([created, failed], [1, 1])
    assert.match(failures[0].reason, /^no such tile/)
    assert.ok((await target.head('alps', 18, 30, 20)).bytes.equals(png(1)))
    await source.close()
    await target.destroy()
  })

  it('is loaded as an edition, and changes nothing when it is loaded again', async () => {
    await put(
      [...grid(), { _id: 'readme' }, docOf('webmercator-5-0-0'), docOf('webmercator-5-0-1', Buffer.from('no image'))]
    )
    const target = await Store.create(await backend.database())
    const source = await open(TEMPLATE)
    const { created, failed, missing, ignored, edition } =
      await load(target, source, { layer: 'osm', time: '2024-03-01' })
    assert.deepEqual([created, failed, missing, ignored], [SIDE * SIDE, 1, 1, 1])
    assert.equal(edition.source, `${TEMPLATE} of ${as(url).replace(/\/$/, '')}`)
    assert.ok((await target.head('osm', 4, 3, 7)).bytes.equals(png(3 * SIDE + 7)))
    assert.equal((await load(target, source, { layer: 'osm', time: '2024-03-01' })).unchanged, SIDE * SIDE)
    await source.close()
    await target.destroy()
  })

  it('reads tiles of a current MapProxy, in grids that count from the north and the south', async function () {
    const python = findMapProxy()
    if (!python) {
      return skip(this,
        'MapProxy is not installed: set MAPPROXY_PYTHON to a python that has it, or put mapproxy-util on the PATH')
    }
    this.timeout(60000)
    const upstream = await startUpstream()
    const cache = (name, extraSettings = '') => `
  ${name}:
    grids: [${name}]
    sources: [${name}]
    format: image/png
    meta_size: [1, 1]
    cache: {type: couchdb, url: '${serverOf(url)}', db_name: ${couch.db}${extraSettings}}`
    const mapproxy = await startMapProxy(python, `
services: {wmts: }
grids:
  north: {base: GLOBAL_WEBMERCATOR}
  south: {base: GLOBAL_WEBMERCATOR, origin: sw}
layers:
  - {name: north, title: north, sources: [north]}
  - {name: south, title: south, sources: [south]}
sources:
  north: {type: tile, grid: north, url: '${upstream.url}/%(z)s/%(x)s/%(y)s.png'}
  south: {type: tile, grid: south, url: '${upstream.url}/%(z)s/%(x)s/%(y)s.png'}
caches:${cache('north')}${cache('south', ", tile_id: '%(couch_url)s/s:%(z)s:%(x)s:%(y)s'")}
`)
    try {
      for (
        const [layer, z, x, y] of [['north', 4, 5, 2], ['north', 4, 10, 2], ['south', 4, 5, 2], ['south', 3, 7, 0]]
      ) {
        assert.equal((await mapproxy.get(`/wmts/${layer}/${layer}/${z}/${x}/${y}.png`)).status, 200, mapproxy.said())
      }
      const north = await open(TEMPLATE)
      assert.deepEqual((await collect(north)).map(
        ({ id, z, x, y, bytes }) => [id, bytes.equals(upstreamTile(z, x, y))]
      ), [['osm:4:10:2', true], ['osm:4:5:2', true]])
      assert.equal(north.ignored, 2)
      const south = await open('%(couch_url)s/s:%(z)s:%(x)s:%(y)s', { scheme: 'tms' })
      assert.deepEqual((await collect(south)).map(
        ({ id, z, x, y, bytes }) => [id, bytes.equals(upstreamTile(z, x, flipY(z, y)))]
      ), [['osm:3:7:0', true], ['osm:4:5:2', true]])
      await north.close()
      await south.close()
    } finally {
      await mapproxy.close()
      await upstream.close()
    }
  })

  /** URL of the server, with user and password. */
  const serverOf = address => new URL('/', address).href.replace(/\/$/, '')
})

/** Fills in a template as `template % names` does in Python, and also replaces {name}. */
const fill = (template, names) => template.replace(/%\((\w+)\)(0?)(\d*)[sdi]|%%|\{(\w+)\}/g,
  (match, python, zero, width, braced) => (
    match === '%%' ? '%' : `${names[python ?? braced]}`.padStart(+width || 0, zero ? '0' : ' ')
  ))

describe('templates of ids', () => {
  const templates = [
    TEMPLATE, '%(grid_name)s-%(z)d-%(x)d-%(y)d', '%(z)s/%(x)s/%(y)s',
    '{z}/{x}/{y}', 'osm:{z}:{x}:{y}', '{grid}.{z}.{y}.{x}.png',
    'tiles/%(z)02d/%(x)06d/%(y)06d', '%(couch_url)s/%(grid_name)s:%(z)s:%(x)s:%(y)s',
    '100%%-{z}-{x}-{y}', 'a+b(c)[d]-{z}_{x}_{y}', '{z}-{x}-{y}@{when}'
  ]

  for (const text of templates) {
    it(`read the ids that ${text} makes`, () => {
      const template = new IdTemplate(text)
      fc.assert(fc.property(fc.integer({ min: 0, max: 30 }), fc.nat(), fc.nat(), (z, column, row) => {
        const [x, y] = [column % 2 ** z, row % 2 ** z]
        const names = { z, x, y, grid_name: 'webmercator-2', grid: 'g.1', when: '2024' }
        const id = fill(text.replace('%(couch_url)s/', ''), names)
        assert.deepEqual(template.read(id), { z, x, y, names: template.names.map(name => names[name]) })
        assert.ok(id.startsWith(template.prefix))
      }))
    })
  }

  it('know the prefix of all their ids', () => {
    assert.deepEqual(['osm:{z}:{x}:{y}', '{z}/{x}/{y}', '100%%-{z}-{x}-{y}',
      '%(couch_url)s/t-%(z)s-%(x)s-%(y)s'].map(text => new IdTemplate(text).prefix), ['osm:', '', '100%-', 't-'])
  })

  it('read no id that does not match exactly', () => {
    const template = new IdTemplate('osm:{z}:{x}:{y}')
    for (const id of ['osm:3:1:2@2020-01-01T00:00:00Z', 'osm:3:1',
      'osm:3:1:8', 'osm:31:0:0', 'osm:3:-1:0', 'osm:3:a:0', 'xosm:3:1:2', 'osm:3:1:2\n', 'osm:3:12345678901:0', '']) {
      assert.equal(template.read(id), undefined, id)
    }
    assert.equal(new IdTemplate('a.b-{z}-{x}-{y}').read('axb-1-0-0'), undefined, 'a dot is a dot')
  })

  it('read an id with a repeated name only when both values are equal', () => {
    const template = new IdTemplate('{z}/{x}/{y}/{z}')
    assert.deepEqual(template.read('3/1/2/3'), { z: 3, x: 1, y: 2, names: [] })
    assert.equal(template.read('3/1/2/4'), undefined)
  })

  it('are refused when no tile can be read from them, with the reason', () => {
    const reasonOf = text => {
      try {
        new IdTemplate(text)
      } catch (error) {
        assert.equal(error.code, 'BAD_OPTION')
        return error.details.why
      }
      assert.fail(`${text} was taken`)
    }
    assert.equal(reasonOf('{z}/{x}'), 'it lacks {y}')
    assert.equal(reasonOf('%(grid_name)s'), 'it lacks {z} and {x} and {y}')
    assert.match(reasonOf('{z}{x}/{y}'), /something between/)
    assert.match(reasonOf('%(z)s%(x)s/%(y)s'), /something between/)
    assert.match(reasonOf('{z}/{x}/{y}/%(time)f'), /neither/)
    assert.match(reasonOf('{z}/{x}/{y}/{'), /neither/)
  })
})
