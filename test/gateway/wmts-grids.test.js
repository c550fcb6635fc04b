// The capabilities of layers in other grids than Web Mercator.
import assert from 'node:assert/strict'
import { capabilitiesOf, layerOf, layers, layersOf, limitsOf, others, startService, town } from './wmts/service.js'
import { childrenOf, textOf } from './wmts/xml.js'

describe('the WMTS capabilities of layers in other grids', () => {
  /** @type {Awaited<ReturnType<typeof startService>>[]} */
  const running = []
  let grids
  const read = async options => {
    const service = await startService(options)
    running.push(service)
    return capabilitiesOf(service)
  }
  after(() => Promise.all(running.map(one => one.close())))
  const setOf = name => childrenOf(childrenOf(grids, 'Contents')[0], 'TileMatrixSet')
    .find(set => textOf(set, 'ows:Identifier').startsWith(name)) ?? assert.fail(`no set ${name}`)
  const corners = node => [childrenOf(node, 'ows:BoundingBox')[0].attributes.crs,
    ...['ows:LowerCorner', 'ows:UpperCorner'].map(corner => textOf(node, 'ows:BoundingBox', corner))]
  const matrixOf = (set, index) => childrenOf(setOf(set), 'TileMatrix')[index].children.map(({ text: value }) => value)

  before(async () => {
    const reach = new Map([['swiss', new Map([[20, { x0: 100, x1: 120, y0: 50, y1: 60 }]])]])
    grids = await read(
      {
        layers: { osm: layers.osm, ...others },
        times: Object.fromEntries(['osm', ...Object.keys(others)].map(name => [name, []])),
        reach
      }
    )
  })

  it('have the set of the grid down to the deepest zoom of the layer', () => {
    const sets = ['europe', 'swiss', 'degrees', 'arctic'].map(
      name => textOf(layerOf(grids, name), 'TileMatrixSetLink', 'TileMatrixSet')
    )
    assert.deepEqual(sets,
      ['EuropeanETRS89_LAEAQuad_Level5', 'LV95_Level20', 'WorldCRS84Quad_Level6', 'UPSArcticWGS84Quad_Level4'])
    assert.deepEqual(sets.map(name => childrenOf(setOf(name), 'TileMatrix').length), [6, 21, 7, 5])
  })

  it('name the coordinate system, and have corners in the order of its axes', () => {
    assert.deepEqual(['Euro', 'LV95', 'World', 'UPS', 'Town'].map(name => textOf(setOf(name), 'ows:SupportedCRS')),
      ['EPSG::3035', 'EPSG::2056', 'OGC:1.3:CRS84', 'EPSG::5041', 'EPSG::28992'].map(crs => `urn:ogc:def:crs:${crs}`))
    assert.deepEqual(matrixOf('EuropeanETRS89_LAEAQuad', 5),
      ['5', '1961844.308035715', '5500000 2000000', '256', '256', '32', '32'])
    assert.deepEqual(matrixOf('LV95', 20), ['20', '35714.28571428572', '2420000 1350000', '256', '256', '188', '125'])
    assert.deepEqual(matrixOf('WorldCRS84Quad', 6), ['6', '4367830.187724357', '-180 90', '256', '256', '128', '64'])
    assert.deepEqual(matrixOf('UPSArctic', 1),
      ['1', '229363272.1854353', '-14440759.350252 18440759.350252', '256', '256', '2', '2'])
    assert.deepEqual(matrixOf('Town', 1), ['t1', '142857.14285714287', '120000 490000', '256', '256', '7', '5'])
    assert.deepEqual(['World', 'LV95'].map(
      name => childrenOf(setOf(name), 'WellKnownScaleSet').map(({ text: scales }) => scales)
    ), [['urn:ogc:def:wkss:OGC:1.0:GoogleCRS84Quad'], []])
  })

  it('have the box of a layer in its own system too, except in Web Mercator', () => {
    const numbers = texts => texts.flatMap(pair => pair.split(' ').map(value => Math.round(+value)))
    const [crs, ...box] = corners(layerOf(grids, 'europe'))
    const [bottom, left, top, right] = numbers(box)
    assert.equal(crs, 'urn:ogc:def:crs:EPSG::3035')
    assert.ok(bottom > 2.6e6 && bottom < 2.7e6 && left > 4e6 && left < 4.1e6 &&
      top > 3.5e6 && top < 3.6e6 && right > 4.7e6 && right < 4.71e6, `${box}`)
    assert.deepEqual(corners(layerOf(grids, 'degrees')), ['urn:ogc:def:crs:OGC:1.3:CRS84', '-180 -90', '180 90'])
    assert.deepEqual(['ows:LowerCorner', 'ows:UpperCorner'].map(
      corner => textOf(layerOf(grids, 'degrees'), 'ows:WGS84BoundingBox', corner)
    ), ['-180 -90', '180 90'])
    assert.deepEqual(corners(setOf('LV95')), ['urn:ogc:def:crs:EPSG::2056', '2420000 1030000', '2901280 1350000'])
    // the square around the circle of 60° north
    const arctic = numbers(corners(layerOf(grids, 'arctic')).slice(1))
    assert.ok(Math.abs(arctic[0] + arctic[2] - 4e6) < 2 && arctic[2] > 5.4e6 && arctic[2] < 5.41e6, `${arctic}`)
    assert.deepEqual(childrenOf(layerOf(grids, 'osm'), 'ows:BoundingBox'), [])
  })

  it('limit a layer to the tiles of its bounds, and to those of the store', () => {
    const limits = name => limitsOf(grids, name)
    assert.deepEqual(limits('europe').slice(3), [[3, 3, 5, 3, 4], [4, 6, 10, 7, 9], [5, 13, 20, 14, 19]])
    assert.deepEqual(limits('swiss').map(([z]) => z), [14, 15, 16, 17, 18, 19, 20])
    assert.deepEqual(limits('swiss')[6], [20, 50, 60, 100, 120])
    assert.deepEqual(limits('degrees'), [])
    assert.deepEqual(limits('town'), [])
  })

  it('give different ids to different sets of the same name', async () => {
    const other = { ...town, tileMatrices: town.tileMatrices.slice(0, 1) }
    const given =
      { a: { layer: 'a', grid: town }, b: { layer: 'b', grid: other }, c: { layer: 'c', grid: structuredClone(town) } }
    const root = await read({ layers: given, times: { a: [], b: [], c: [] } })
    const [a, b, c] = layersOf(root).map(layer => textOf(layer, 'TileMatrixSetLink', 'TileMatrixSet'))
    assert.notEqual(a, b)
    assert.equal(a, c)
    assert.match(a, /^Town_\w+_Levelt1$/)
  })
})
