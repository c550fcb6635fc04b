import assert from 'node:assert/strict'
import fc from 'fast-check'
import { checkUpstream, tileBounds } from '../../core/index.js'
import { openUpstream } from '../../loader/load/upstream/index.js'
import { blockOf, rectangleOf, tilesOf } from '../../loader/load/upstream/image.js'
import { tileAddress, exceptionText, getMapAddress } from '../../core/upstream-address.js'

const address = (upstream, z, x, y, size = 256) => tileAddress(checkUpstream(upstream), { z, x, y }, size)
const getMap = (more, rectangle, size = 256) => new URL(getMapAddress({
  ...checkUpstream({ type: 'wms', url: 'https://h/wms', layers: 'a b,c', ...more }), format: 'image/png'
}, rectangle, size))
const WORLD = { z: 0, left: 0, top: 0, width: 256, height: 256 }

describe('addresses of tiles', () => {
  it('are made from every kind of template', () => {
    const golden = [
      [{ url: 'https://h/{z}/{x}/{y}.png' }, 'https://h/3/1/2.png'],
      [{ url: 'https://h/{z}/{x}/{-y}.png' }, 'https://h/3/1/5.png'],
      [{ type: 'tms', url: 'https://h/{z}/{x}/{y}.png' }, 'https://h/3/1/5.png'],
      [{ type: 'tms', url: 'https://h/{z}/{x}/{-y}.png' }, 'https://h/3/1/5.png'],
      [{ url: 'https://h/{quadkey}.png' }, 'https://h/021.png'],
      [{ url: 'https://h/{z}/{x}/{y}{r}.png' }, 'https://h/3/1/2.png'],
      [{ url: 'https://h/?a={z}&b={x}&c={y}&d={z}' }, 'https://h/?a=3&b=1&c=2&d=3'],
      [{ type: 'wmts', url: 'https://h/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png' },
        'https://h/GoogleMapsCompatible/3/2/1.png'],
      [{
        type: 'wmts', url: 'https://h/{layer}/{style}/{tilematrixset}/{tilematrix}/{tilerow}/{tilecol}.png',
        layers: 'a/b c', styles: 'x', matrixSet: 'EPSG:3857', matrix: 'EPSG:3857:{z}'
      },
        'https://h/a%2Fb%20c/x/EPSG%3A3857/EPSG%3A3857%3A3/2/1.png']
    ]
    for (const [upstream, wanted] of golden) assert.equal(address(upstream, 3, 1, 2), wanted)
    assert.equal(address({ url: 'https://h/{z}/{x}/{y}{r}.png' }, 3, 1, 2, 512), 'https://h/3/1/2@2x.png')
  })

  it('are spread over the subdomains, with always the same subdomain for a tile', () => {
    const upstream = { url: 'https://{s}.h/{z}/{x}/{y}', subdomains: ['a', 'b', 'c'] }
    const hosts = tilesOf({ z: 3, x0: 0, y0: 0, x1: 5, y1: 5 })
      .map(({ z, x, y }) => new URL(address(upstream, z, x, y)).host)
    for (const host of ['a.h', 'b.h', 'c.h']) assert.equal(hosts.filter(found => found === host).length, 12)
    assert.equal(address(upstream, 3, 1, 2), address(upstream, 3, 1, 2))
  })
})

describe('GetMap', () => {
  it('has SRS in 1.1.1 and CRS in 1.3.0, and in both a BBOX with easting first', () => {
    const rectangle = { z: 1, left: 256, top: 256, width: 256, height: 256 } // the south-eastern quarter
    for (const [version, name] of [['1.1.1', 'SRS'], ['1.3.0', 'CRS']]) {
      const { searchParams: query } = getMap({ version }, rectangle)
      assert.equal(query.get(name), 'EPSG:3857')
      assert.equal(query.get(name === 'SRS' ? 'CRS' : 'SRS'), null)
      assert.equal(query.get('VERSION'), version)
      assert.deepEqual(query.get('BBOX')?.split(',').map(Number).map(Math.round), [0, -20037508, 20037508, 0])
    }
  })

  it('has every parameter of the standard', () => {
    const { searchParams: query, pathname } =
      getMap({ styles: 'x', transparent: true, params: { map: '/srv/a b.map', EXCEPTIONS: 'BLANK' } }, WORLD)
    assert.equal(pathname, '/wms')
    const wanted = {
      SERVICE: 'WMS', REQUEST: 'GetMap', LAYERS: 'a b,c', STYLES: 'x',
      WIDTH: '256', HEIGHT: '256', FORMAT: 'image/png', TRANSPARENT: 'TRUE', map: '/srv/a b.map', EXCEPTIONS: 'BLANK',
      BBOX: '-20037508.34278924,-20037508.34278924,20037508.34278924,20037508.34278924'
    }
    for (const [name, value] of Object.entries(wanted)) assert.equal(query.get(name), value, name)
    assert.deepEqual([...query.keys()].filter((name, index, all) => all.indexOf(name) !== index), [], 'nothing twice')
    assert.equal(getMap({}, WORLD).searchParams.get('STYLES'), '', 'there, though empty')
  })

  it('keeps the parameters of the address of the WMS', () => {
    for (const url of ['https://h/cgi?map=/a.map', 'https://h/cgi?map=/a.map&']) {
      const { search } = getMap({ url }, WORLD)
      assert.match(search, /^\?map=\/a\.map&SERVICE=WMS&/)
    }
    assert.match(getMap({ url: 'https://h/wms?' }, WORLD).search, /^\?SERVICE=WMS&/)
  })

  it('has an exact BBOX without exponents at every zoom', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 22 }), fc.nat(), fc.nat(), (z, a, b) => {
      const [x, y] = [a % 2 ** z, b % 2 ** z]
      const text = getMap({}, { z, left: x * 256, top: y * 256, width: 256, height: 256 }).searchParams.get('BBOX')
      assert.match(text ?? '', /^(-?\d+(\.\d+)?,){3}-?\d+(\.\d+)?$/)
      const [west, south, east, north] = tileBounds(z, x, y)
      const metres = (lon, lat) => [lon * 111319.49079327358, Math.log(Math.tan((90 + lat) * Math.PI / 360)) * 6378137]
      const wanted = [...metres(west, south), ...metres(east, north)]
      text?.split(',')
        .forEach((value, index) => assert.ok(Math.abs(Number(value) - wanted[index]) < 1e-3, `${text} ${wanted}`))
    }))
  })

  it('fails with exceptions whose code and text are read from XML', () => {
    assert.equal(
      exceptionText(
        '<?xml version="1.0"?><ServiceExceptionReport><ServiceException code="LayerNotDefined">no layer ' +
          'x</ServiceException></ServiceExceptionReport>'
      ), 'LayerNotDefined: no layer x'
    )
    assert.equal(
      exceptionText(
        '<ogc:ServiceExceptionReport><ogc:ServiceException>\n  <![CDATA[it\n ' +
          'broke]]>\n</ogc:ServiceException></ogc:ServiceExceptionReport>'
      ), 'it broke'
    )
    assert.equal(exceptionText('<html><body>502</body></html>'), undefined)
  })
})

describe('metatiles', () => {
  const all = [[-180, -85, 180, 85]]

  it('are aligned blocks, which together hold every tile of a zoom once', () => {
    for (const side of [1, 2, 3, 4, 8]) {
      for (let z = 0; z <= 4; z++) {
        const seen = new Map()
        for (const tile of tilesOf({ z, x0: 0, y0: 0, x1: 2 ** z - 1, y1: 2 ** z - 1 })) {
          const block = blockOf(tile, side, [])
          assert.ok(tilesOf(block).some(({ x, y }) => x === tile.x && y === tile.y))
          seen.set(`${block.x0}/${block.y0}`, tilesOf(block).length)
        }
        assert.equal([...seen.values()].reduce((sum, count) => sum + count, 0), 4 ** z, `side ${side}, zoom ${z}`)
      }
    }
  })

  it('end at the edge of the world, as their buffer does', () => {
    assert.deepEqual(blockOf({ z: 1, x: 1, y: 1 }, 4, all), { z: 1, x0: 0, y0: 0, x1: 1, y1: 1 })
    assert.deepEqual(rectangleOf({ z: 1, x0: 0, y0: 0, x1: 1, y1: 1 }, 256, 64),
      { z: 1, left: 0, top: 0, width: 512, height: 512 })
    assert.deepEqual(blockOf({ z: 3, x: 7, y: 7 }, 3, all), { z: 3, x0: 6, y0: 6, x1: 7, y1: 7 })
    assert.deepEqual(rectangleOf({ z: 3, x0: 6, y0: 0, x1: 7, y1: 2 }, 256, 64),
      { z: 3, left: 6 * 256 - 64, top: 0, width: 512 + 64, height: 768 + 64 })
    assert.deepEqual(rectangleOf({ z: 3, x0: 4, y0: 4, x1: 5, y1: 5 }, 512, 10),
      { z: 3, left: 2038, top: 2038, width: 1044, height: 1044 })
  })

  it('end at the bounds of the layer and of the upstream, and do not reach over the antimeridian', () => {
    const box = [10, 10, 80, 60] // at zoom 3: columns 4 and 5, rows 2 and 3
    assert.deepEqual(blockOf({ z: 3, x: 4, y: 3 }, 4, [box]), { z: 3, x0: 4, y0: 2, x1: 5, y1: 3 })
    assert.deepEqual(blockOf({ z: 3, x: 4, y: 3 }, 4, [box, [-180, -85, 40, 85]]), { z: 3, x0: 4, y0: 2, x1: 4, y1: 3 })
    const round = [170, -85, -170, 85]
    assert.deepEqual(blockOf({ z: 2, x: 3, y: 1 }, 4, [round]), { z: 2, x0: 3, y0: 0, x1: 3, y1: 3 })
    assert.deepEqual(blockOf({ z: 2, x: 0, y: 1 }, 4, [round]), { z: 2, x0: 0, y0: 0, x1: 0, y1: 3 })
  })

  it('are fetched from a WMS; other upstreams give single tiles', () => {
    const wms = openUpstream({ layer: 'a', upstream: { type: 'wms', url: 'http://h/wms', layers: 'a', metatile: 2 } })
    assert.equal(wms.groupOf(3, 2, 2).key, wms.groupOf(3, 3, 3).key)
    assert.notEqual(wms.groupOf(3, 2, 2).key, wms.groupOf(3, 4, 2).key)
    assert.deepEqual(wms.groupOf(3, 2, 2).tiles, tilesOf({ z: 3, x0: 2, y0: 2, x1: 3, y1: 3 }))
    const xyz = openUpstream({ layer: 'a', upstream: { url: 'http://h/{z}/{x}/{y}' } })
    assert.deepEqual(xyz.groupOf(3, 2, 2).tiles, [{ z: 3, x: 2, y: 2 }])
  })

  it('have only as many tiles as fit into the largest picture allowed', () => {
    const tilesIn = (tileSize, settings) => openUpstream(
      { layer: 'a', tileSize, upstream: { type: 'wms', url: 'http://h/wms', layers: 'a', ...settings } }
    ).groupOf(9, 8, 8).tiles.length
    assert.deepEqual([256, 512, 1024, 2048, 4096].map(size => tilesIn(size, { metatile: 8, buffer: 512 })),
      [64, 64, 25, 4, 1])
    assert.equal(tilesIn(1024, {}), 16)
  })

  it('are fetched only within the bounds and zooms of the layer and the upstream', () => {
    const upstream = openUpstream(
      { layer: 'a', minzoom: 2, maxzoom: 9, bounds: [0, 0, 90, 80], upstream: {
        url: 'http://h/{z}/{x}/{y}', minzoom: 1, maxzoom: 5, bounds: [-90, -80, 45, 80]
      } }
    )
    assert.deepEqual([[1, 1, 0], [2, 2, 1], [5, 17, 10], [6, 34, 20], [3, 5, 3], [3, 4, 3],
      [3, 3, 3]].map(([z, x, y]) => upstream.covers(z, x, y)), [false, true, true, false, false, true, false])
    const free = openUpstream({ layer: 'a', upstream: { url: 'http://h/{z}/{x}/{y}' } })
    assert.ok(free.covers(0, 0, 0) && free.covers(30, 5, 5))
  })
})
