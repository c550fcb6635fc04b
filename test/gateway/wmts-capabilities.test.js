// Tests of the WMTS capabilities: they follow the schema of the standard, and describe layers in Web Mercator and other
// grids.
import assert from 'node:assert/strict'
import { ask } from '../support/gateway/wire.js'
import { dangling, violations } from './wmts/schema.js'
import { CAPABILITIES, capabilitiesOf, layerOf, layers, layersOf, limitsOf, others, refusalOf, startService, times,
  town } from './wmts/service.js'
import { all, childrenOf, parseXml, textOf } from './wmts/xml.js'

const running = []
const start = async options => {
  running.push(await startService(options))
  return running[running.length - 1]
}
const read = async options => capabilitiesOf(await start(options))

describe('the WMTS capabilities', () => {
  let service, text, document, byName

  before(async () => {
    service = await start()
    text = (await service.get(CAPABILITIES)).text
    document = parseXml(text)
    byName = name => layerOf(document, name)
  })
  after(() => Promise.all(running.splice(0).map(instance => instance.close())))

  it('follow the schema: elements, order, number, attributes, values', () => {
    assert.deepEqual(violations(document), [])
    assert.deepEqual(dangling(document), [])
  })

  describe('are checked by a schema that finds', () => {
    const mistakes = {
      'elements in another order': [
        /(<ows:WGS84BoundingBox>.*<\/ows:WGS84BoundingBox>)\n(<ows:Identifier>osm<\/ows:Identifier>)/, '$2\n$1'
      ],
      'a missing element': [/<ows:ServiceType>.*<\/ows:ServiceType>/, ''],
      'an element too many': [/<Current>true<\/Current>/, '$&$&'],
      'a dimension without values': [/(<Dimension>[^]*?<\/Current>)[^]*?(<\/Dimension>)/, '$1$2'],
      'a layer without a format': [/<Format>.*<\/Format>/, ''],
      'an unknown element': [/<Contents>/, '<Contents><Tiles/>'],
      'a missing attribute': [/ resourceType="tile"/, ''],
      'an unknown attribute': [/ resourceType="tile"/, '$& type="tile"'],
      'an invalid address': [/template="/, '$&<a b>'.replace(/[<>]/g, ' ')],
      'an invalid type': [/<Format>image\//, '<Format>picture/'],
      'an invalid number': [/<TileWidth>256/, '<TileWidth>256px'],
      'a corner with a comma': [/<TopLeftCorner>(\S+) /, '<TopLeftCorner>$1,'],
      'text between elements': [/<Contents>/, '$&layers']
    }
    for (const [mistake, [pattern, replacement]] of Object.entries(mistakes)) {
      it(mistake, () => {
        const changed = text.replace(pattern, replacement)
        assert.notEqual(changed, text)
        assert.notDeepEqual(violations(parseXml(changed)), [])
      })
    }

    it('links without a target and duplicate names', () => {
      assert.notDeepEqual(dangling(
        parseXml(text.replace('<TileMatrixSet>GoogleMapsCompatible_Level19</', '<TileMatrixSet>Nowhere</'))
      ), [])
      assert.notDeepEqual(dangling(parseXml(text.replace('<ows:Identifier>alps</', '<ows:Identifier>osm</'))), [])
    })

    it('XML that is not well-formed', () => {
      for (const [pattern, replacement] of [['</Contents>', ''], ['<Contents>', '<Contents><a></b>'],
        ['Streets', 'Streets & roads'], ['Streets', 'Str\u0001eets'], ['xmlns:ows=', 'xmlns:other=']]) {
        assert.throws(() => parseXml(text.replace(pattern, replacement)), assert.AssertionError)
      }
    })
  })

  it('are also returned by KVP to clients that accept 1.0.0', async () => {
    for (const query of ['?SERVICE=WMTS&REQUEST=GetCapabilities', '?service=WMTS&request=GetCapabilities&version=1.0.0',
      '?service=WMTS&request=GetCapabilities&AcceptVersions=2.0.0,1.0.0',
      '?service=WMTS&request=GetCapabilities&acceptversions=&updatesequence=7']) {
      const answer = await service.get(query)
      assert.deepEqual([answer.status, answer.text], [200, text], query)
      assert.match(answer.headers.get('cache-control') ?? '', /must-revalidate/)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/xml/)
    }
    assert.deepEqual(await refusalOf(service, '?SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=2.0.0,0.9'),
      [400, 'VersionNegotiationFailed', undefined])
  })

  it('list RESTful addresses first, then KVP', () => {
    const operations = all(document, 'ows:Operation')
      .map(operation => [operation.attributes.name, ...all(operation, 'ows:Get')
        .map(get => [textOf(get, 'ows:Constraint', 'ows:AllowedValues', 'ows:Value'), get.attributes['xlink:href']])])
    const restUrl = `${service.url}wmts/1.0.0/WMTSCapabilities.xml`
    const kvp = ['KVP', `${service.url}wmts?`]
    assert.deepEqual(operations,
      [['GetCapabilities', ['RESTful', restUrl], kvp], ['GetTile', ['RESTful', `${service.url}wmts/`], kvp]])
    assert.equal(childrenOf(document, 'ServiceMetadataURL')[0].attributes['xlink:href'], restUrl)
  })

  it('have the title, abstract, attribution and format of each layer', () => {
    assert.deepEqual(layersOf(document).map(layer => textOf(layer, 'ows:Identifier')),
      ['osm', 'alps', 'roads', 'pacific'])
    assert.equal(textOf(byName('osm'), 'ows:Title'), 'Streets')
    assert.equal(textOf(byName('osm'), 'ows:Abstract'), 'All roads\n© Mappers & co')
    assert.equal(textOf(byName('alps'), 'ows:Title'), 'alps')
    assert.deepEqual(childrenOf(byName('alps'), 'ows:Abstract'), [])
    assert.deepEqual(layersOf(document).map(layer => textOf(layer, 'Format')),
      ['image/png', 'image/jpeg', 'application/vnd.mapbox-vector-tile', 'image/png'])
  })

  it('have the box of a layer in degrees, or the full width if it crosses the antimeridian', () => {
    const box =
      name => ['ows:LowerCorner', 'ows:UpperCorner'].map(corner => textOf(byName(name), 'ows:WGS84BoundingBox', corner))
    assert.deepEqual(box('alps'), ['5.9 45.8', '10.5 47.8'])
    assert.deepEqual(box('osm'), ['-180 -85.0511287798066', '180 85.0511287798066'])
    assert.deepEqual(box('pacific'), ['-180 -20', '180 20'])
  })

  it('limit a layer to its zooms and its box, unless it fills its matrix set', async () => {
    const limits = limitsOf(document, 'alps')
    assert.deepEqual(limits.map(([z]) => z), [4, 5, 6, 7, 8, 9, 10, 11, 12])
    assert.deepEqual(limits[4], [8, 89, 91, 132, 135])
    assert.deepEqual(all(byName('osm'), 'TileMatrixLimits'), [])
    assert.deepEqual(all(byName('roads'), 'TileMatrixLimits'), [])
    assert.deepEqual(all(byName('pacific'), 'TileMatrixLimits').map(limit => +textOf(limit, 'MaxTileCol')),
      [0, 1, 3, 7, 15, 31, 63])

    // the WMTS serves the tiles within the limits, and no others
    for (const [z, minRow, maxRow, minCol, maxCol] of limits) {
      const status = async (row, column) =>
        (await service.get(`/alps/default/GoogleMapsCompatible_Level12/${z}/${row}/${column}.jpg`)).status
      assert.deepEqual([await status(minRow, minCol), await status(maxRow, maxCol),
        await status(minRow - 1, minCol), await status(maxRow, maxCol + 1)], [200, 200, 404, 404])
    }
  })

  it('limit each zoom to where the store has tiles, unless an upstream may fill the rest', async () => {
    const place = { x0: 133, x1: 134, y0: 90, y1: 90 }
    const reach = new Map(['osm', 'topo', 'alps'].map(name => [name, new Map([[8, place]])]))
    const documents = {
      osm: { ...layers.osm, maxzoom: 8 },
      topo: { layer: 'topo', upstream: {} },
      alps: { ...layers.alps, bounds: [6, 47, 7, 47.5] }
    }
    const root = await read({ layers: documents, times: { osm: [], topo: [], alps: [] }, reach })
    const limits = name => limitsOf(root, name)
    assert.deepEqual(limits('osm').slice(7), [[7, 0, 127, 0, 127], [8, 90, 90, 133, 134]])
    assert.deepEqual(limits('topo'), [])
    assert.deepEqual(limits('alps').find(([z]) => z === 8), [8, 89, 90, 132, 132],
      'tiles that all lie outside of the bounds say nothing')
  })

  it('have a time dimension for a layer with times, and one tile address for each layer', () => {
    const [dimension] = childrenOf(byName('osm'), 'Dimension')
    assert.deepEqual(dimension.children.map(({ name, text: value }) => [name, value]), [
      ['ows:Identifier', 'Time'], ['ows:UOM', 'ISO8601'], ['Default', 'current'],
      ['Current', 'true'], ['Value', times.osm[0]], ['Value', times.osm[1]]
    ])
    assert.deepEqual(childrenOf(byName('roads'), 'Dimension'), [])
    const templates = name => childrenOf(byName(name), 'ResourceURL').map(({ attributes }) => attributes)
    assert.deepEqual(templates('osm'), [
      {
        format: 'image/png', resourceType: 'tile',
        template: `${service.url}wmts/osm/default/{Time}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png`
      }
    ])
    assert.deepEqual(templates('roads'), [
      {
        format: 'application/vnd.mapbox-vector-tile', resourceType: 'tile',
        template: `${service.url}wmts/roads/default/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.pbf`
      }
    ])
  })

  it('list the newest thousand of many times', async () => {
    const manyTimes = Array.from({ length: 1500 },
      (_, index) => new Date(Date.UTC(2020, 0, 1, index, index % 2)).toISOString().replace('.000', ''))
    const root = await read({ layers: { osm: layers.osm }, times: { osm: manyTimes } })
    assert.deepEqual(all(root, 'Value').map(({ text: value }) => value), manyTimes.slice(-1000))
  })

  it('have the scales of the standard, in a set for each size of tiles and each deepest zoom', () => {
    const sets = childrenOf(childrenOf(document, 'Contents')[0], 'TileMatrixSet')
    const scaleSets = ['urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible']
    const expected = [['GoogleMapsCompatible_Level6', scaleSets, 256, 6],
      ['GoogleMapsCompatible_Level12', scaleSets, 256, 12], ['GoogleMapsCompatible_Level19', scaleSets, 256, 19],
      ['GoogleMapsCompatible_512_Level14', [], 512, 14]]
    assert.deepEqual(sets.map(
      set => [textOf(set, 'ows:Identifier'), childrenOf(set, 'WellKnownScaleSet').map(({ text: name }) => name)]
    ), expected.map(([id, scales]) => [id, scales]))
    assert.deepEqual(layersOf(document).map(layer => textOf(layer, 'TileMatrixSetLink', 'TileMatrixSet')),
      [2, 1, 3, 0].map(index => expected[index][0]))
    for (const [index, [, , size, deepest]] of expected.entries()) {
      const set = sets[index]
      assert.equal(textOf(set, 'ows:SupportedCRS'), 'urn:ogc:def:crs:EPSG::3857')
      const matrices = childrenOf(set, 'TileMatrix')
      assert.equal(matrices.length, deepest + 1)
      matrices.forEach((matrix, z) => {
        assert.equal(textOf(matrix, 'ows:Identifier'), String(z))
        assert.equal(textOf(matrix, 'TopLeftCorner'), '-20037508.3427892 20037508.3427892')
        assert.deepEqual(['TileWidth', 'TileHeight', 'MatrixWidth', 'MatrixHeight'].map(name => +textOf(matrix, name)),
          [size, size, 2 ** z, 2 ** z])
        // tiles of 0.28 mm pixels fill the world
        const width = +textOf(matrix, 'ScaleDenominator') * 0.00028 * size * 2 ** z
        assert.ok(Math.abs(width - 2 * 20037508.3427892) < 1e-6 * width / 2 ** z, `zoom ${z} is ${width} m wide`)
      })
    }
    assert.deepEqual([0, 1, 18].map(z => textOf(childrenOf(sets[2], 'TileMatrix')[z], 'ScaleDenominator')),
      ['559082264.0287178', '279541132.0143589', '2132.729583849784'])
  })

  it('escape names and descriptions of layer documents as text', async () => {
    const nasty = '<b>"a\' & b</b>]]>\u0000\u000b\ud800\uffff<!--'
    const attribution = '<a href="x>y">z</a> &constructor; &lt;b&gt;'
    const osm = { layer: 'osm', name: nasty, description: `d ${nasty}`, attribution }
    const root = await read({ layers: { osm }, times: { osm: [] } })
    assert.equal(textOf(layerOf(root, 'osm'), 'ows:Title'), '<b>"a\' & b</b>]]>\ufffd\ufffd\ufffd\ufffd<!--')
    assert.match(textOf(layerOf(root, 'osm'), 'ows:Abstract'), /&constructor; <b>$/)
  })

  it('are valid without layers', async () => {
    assert.deepEqual(layersOf(await read({ layers: {} })), [])
  })

  it('link to the public URL of the gateway', async () => {
    const root = await read({ publicUrl: 'https://maps.example.org/a&b/' })
    for (const { attributes } of [...all(root, 'ows:Get'), ...all(root, 'ServiceMetadataURL')]) {
      assert.match(attributes['xlink:href'], /^https:\/\/maps\.example\.org\/a&b\/wmts/)
    }
    for (const { attributes } of all(root, 'ResourceURL')) {
      assert.match(attributes.template, /^https:\/\/maps\.example\.org\/a&b\/wmts\//)
    }
  })

  describe('are cached', () => {
    it('until a layer or its times change', async () => {
      const changing = { layers: { osm: layers.osm }, times: { osm: times.osm } }
      const changingService = await start(changing)
      const etags = []
      const readEtag = async () => etags.push((await changingService.get(CAPABILITIES)).headers.get('etag'))
      await readEtag()
      await readEtag()
      changing.times.osm = [...times.osm, '2025-01-01T00:00:00Z']
      await readEtag()
      changing.layers.osm = { ...layers.osm, name: 'Roads' }
      await readEtag()
      Object.assign(changing.layers, { alps: layers.alps })
      Object.assign(changing.times, { alps: [] })
      await readEtag()
      assert.equal(etags[0], etags[1])
      assert.equal(new Set(etags).size, 4)
    })

    it('separately for each host name of the request', async () => {
      const links = async host => {
        const { text: body } = await ask(service.url, `/wmts${CAPABILITIES}`, { headers: { host }, agent: false })
        return new Set(all(parseXml(body), 'ows:Get').map(({ attributes }) => new URL(attributes['xlink:href']).host))
      }
      for (let index = 0; index < 20; index++) {
        assert.deepEqual(await links(`host${index}.example`), new Set([`host${index}.example`]))
      }
      assert.deepEqual(await links('host0.example'), new Set(['host0.example']))
    })
  })

  it('leave out a layer that was removed while they were written', async () => {
    const root = await read({ layers: { osm: layers.osm, alps: layers.alps }, times: { osm: times.osm } })
    assert.deepEqual(layersOf(root).map(layer => textOf(layer, 'ows:Identifier')), ['osm'])
  })
})

describe('the WMTS capabilities of layers in other grids', () => {
  let grids
  after(() => Promise.all(running.splice(0).map(instance => instance.close())))
  const setOf = name => childrenOf(childrenOf(grids, 'Contents')[0], 'TileMatrixSet')
    .find(set => textOf(set, 'ows:Identifier').startsWith(name)) ?? assert.fail(`no set ${name}`)
  const corners = node => [childrenOf(node, 'ows:BoundingBox')[0].attributes.crs,
    ...['ows:LowerCorner', 'ows:UpperCorner'].map(corner => textOf(node, 'ows:BoundingBox', corner))]
  const matrixOf = (set, index) => childrenOf(setOf(set), 'TileMatrix')[index].children.map(({ text: value }) => value)

  before(async () => {
    const reach = new Map([['swiss', new Map([[20, { x0: 100, x1: 120, y0: 50, y1: 60 }]])]])
    grids = await read({
      layers: { osm: layers.osm, ...others },
      times: Object.fromEntries(['osm', ...Object.keys(others)].map(name => [name, []])),
      reach
    })
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
    const shorterGrid = { ...town, tileMatrices: town.tileMatrices.slice(0, 1) }
    const layersByName =
      { a: { layer: 'a', grid: town }, b: { layer: 'b', grid: shorterGrid },
        c: { layer: 'c', grid: structuredClone(town) } }
    const root = await read({ layers: layersByName, times: { a: [], b: [], c: [] } })
    const [a, b, c] = layersOf(root).map(layer => textOf(layer, 'TileMatrixSetLink', 'TileMatrixSet'))
    assert.notEqual(a, b)
    assert.equal(a, c)
    assert.match(a, /^Town_\w+_Levelt1$/)
  })
})
