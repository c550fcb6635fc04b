// The style that a layer has by default, and the letters and fonts that a style needs.
import assert from 'node:assert/strict'
import { validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { defaultStyle, layerDocument } from '../../core/index.js'
import { LetterCounter, drawnRanges, labelsOf, rangesOf, rangesOfLabels, stacksIn } from '../../core/label-text.js'
import { encodeTile } from '../support/vector-tile.js'

const vectorLayers = [
  { id: 'place', fields: { 'name:en': 'String', name: 'String', rank: 'Number' } },
  { id: 'roads', fields: { name: 'String', class: 'String' } },
  { id: 'water', fields: { name: 'String' } },
  { id: 'boundaries', fields: {} },
  { id: 'buildings' },
  { id: 'landcover', fields: { kind: 'String' } },
  { id: 'fires', fields: { label: 'String' } },
  { id: 'trees_2020', fields: {} }
]
const town =
  layerDocument('town', { name: 'The town', format: 'pbf', center: [8.5, 47.4, 12], vector_layers: vectorLayers })
const faults = style => validateStyleMin(style).map(({ message }) => message)
const idsOf = ({ layers }, type) => layers.filter(layer => layer.type === type).map(({ id }) => id)
/** The colour of each source layer, from the bottom of the map to its top. */
function coloursOf (doc, theme) {
  const { layers } = defaultStyle({ layer: 'x', format: 'pbf', ...doc }, { theme })
  const circles = layers.filter(({ type }) => type === 'circle')
  return circles.map(layer => ({ id: layer['source-layer'], colour: layer.paint['circle-color'] }))
}

const layerOf = (style, id) => style.layers.find(layer => layer.id === id)

describe('the default style of a layer', () => {
  for (const theme of ['light', 'dark']) {
    it(`is a valid style of MapLibre for vector tiles, ${theme}`, () => {
      const style = defaultStyle(town, { theme })
      assert.deepEqual(faults(style), [])
      assert.deepEqual(style.sources, { town: { type: 'vector', url: 'couch://town' } })
      assert.equal(style.name, 'The town')
      assert.deepEqual([style.center, style.zoom], [[8.5, 47.4], 12])
      assert.equal(style.glyphs, undefined, 'MapLibre then writes with the fonts of the device')
      for (const { paint } of style.layers) {
        assert.ok(!JSON.stringify(paint ?? {}).includes('undefined') && !JSON.stringify(paint ?? {}).includes('null'))
      }
    })
  }

  it('draws areas, lines and points of every source layer, each by its geometry', () => {
    const style = defaultStyle(town)
    for (const { id } of vectorLayers) {
      assert.deepEqual(layerOf(style, `${id}/circle`).filter, ['==', ['geometry-type'], 'Point'])
      assert.equal(layerOf(style, `${id}/line`)['source-layer'], id)
      if (id !== 'boundaries') {
        assert.deepEqual(layerOf(style, `${id}/fill`).filter, ['==', ['geometry-type'], 'Polygon'])
      }
    }
    assert.equal(layerOf(style, 'boundaries/fill'), undefined, 'the area of a country would hide the map')
    assert.deepEqual(layerOf(style, 'boundaries/line').filter, ['!', ['==', ['geometry-type'], 'Point']])
  })

  it('puts land at the bottom, then water, buildings and roads, and labels above all', () => {
    const style = defaultStyle(town)
    assert.deepEqual(idsOf(style, 'fill'),
      ['landcover/fill', 'water/fill', 'fires/fill', 'trees_2020/fill', 'buildings/fill', 'roads/fill', 'place/fill'])
    const types = style.layers.map(({ type }) => type)
    const order = ['background', 'fill', 'line', 'circle', 'symbol']
    assert.deepEqual(types, [...types].sort((a, b) => order.indexOf(a) - order.indexOf(b)))
    assert.deepEqual(idsOf(style, 'symbol').slice(-1), ['place/name'],
      'MapLibre gives room to the labels of the last layer first')
  })

  it('writes a label where there is a name, in the language of the place first', () => {
    const style = defaultStyle(town)
    assert.deepEqual(idsOf(style, 'symbol').sort(),
      ['fires', 'place', 'roads', 'water'].flatMap(id => [`${id}/line-name`, `${id}/name`]))
    assert.deepEqual(layerOf(style, 'place/name').layout['text-field'],
      ['to-string', ['coalesce', ['get', 'name'], ['get', 'name:en']]])
    assert.deepEqual(layerOf(style, 'fires/name').layout['text-field'], ['to-string', ['get', 'label']])
  })

  it('gives a name the same colour in every layer, and different colours to different names', () => {
    const colours = Object.fromEntries(coloursOf(town).map(({ id, colour }) => [id, colour]))
    const alone = coloursOf({ vector_layers: [{ id: 'fires' }] })
    assert.deepEqual(alone, [{ id: 'fires', colour: colours.fires }])
    assert.equal(new Set(Object.values(colours)).size, vectorLayers.length)
    const twelve =
      coloursOf({ vector_layers: Array.from({ length: 12 }, (_, n) => ({ id: `survey ${n}` })) })
    const hues = twelve.map(({ colour }) => Number(/\d+/.exec(colour)?.[0])).sort((a, b) => a - b)
    for (const [n, hue] of hues.entries()) assert.ok(n === 0 || hue - hues[n - 1] >= 15, `hues ${hues}`)
  })

  it('knows water, roads and woods by their names in common schemas', () => {
    const hue = (id, theme) => Number(/\d+/.exec(coloursOf({ vector_layers: [{ id }] }, theme)[0].colour)?.[0])
    for (const theme of ['light', 'dark']) {
      for (const id of ['water', 'ocean', 'waterway', 'water_polygons', 'Lakes', 'sea']) {
        assert.ok(Math.abs(hue(id, theme) - 210) < 10, id)
      }
      for (const id of ['park', 'forest', 'Wood']) assert.ok(Math.abs(hue(id, theme) - 115) < 25, id)
      for (const id of ['roads', 'transportation', 'streets']) assert.equal(hue(id, theme), 36, id)
    }
  })

  it('is undefined for vector tiles without named source layers', () => {
    for (const vector of [undefined, [], [{}], [{ id: 5 }], [null]]) {
      assert.equal(defaultStyle({ layer: 'town', format: 'pbf', vector_layers: vector }), undefined)
    }
  })

  it('is valid for odd source layers in documents of other programs', () => {
    const oddLayers = [{ id: 'a' }, { id: 'a' }, { id: '__proto__', fields: { name: '' } }, {
      id: 'toString', fields: 'name'
    }, { id: 'x/line' }, { id: 'x' }, { id: '', fields: {} }, { id: 'n', fields: null }]
    const style = defaultStyle({ layer: 'town', format: 'pbf', vector_layers: oddLayers })
    assert.deepEqual(faults(style), [])
    assert.equal(new Set(style.layers.map(({ id }) => id)).size, style.layers.length)
    assert.deepEqual(idsOf(style, 'symbol'), ['__proto__/line-name', '__proto__/name'])
  })

  it('of images is a raster, with tiles of their size', () => {
    const style = defaultStyle(layerDocument('aerial', { format: 'jpg', tileSize: 512 }),
      { source: { tiles: ['https://a.example.org/{z}/{x}/{y}.jpg'], maxzoom: 19 } })
    assert.deepEqual(faults(style), [])
    assert.deepEqual(style.sources.aerial,
      { type: 'raster', tiles: ['https://a.example.org/{z}/{x}/{y}.jpg'], maxzoom: 19, tileSize: 512 })
    assert.deepEqual(style.layers.map(({ id }) => id), ['background', 'raster'])
    assert.equal(defaultStyle(layerDocument('aerial')).sources.aerial.tileSize, 256)
  })

  it('of heights is a hillshade', () => {
    for (const encoding of ['terrarium', 'mapbox']) {
      const style = defaultStyle({ ...layerDocument('relief', { format: 'png' }), encoding }, { theme: 'dark' })
      assert.deepEqual(faults(style), [])
      assert.deepEqual(style.sources.relief, { type: 'raster-dem', url: 'couch://relief', tileSize: 256, encoding })
      assert.deepEqual(style.layers.map(({ type }) => type), ['background', 'hillshade'])
    }
  })
})

const point = properties => (
  { type: 'Point', lines: [[[1, 2]]], properties }
)
const countIn = (...tiles) => {
  const counter = new LetterCounter()
  const isNew = tiles.map(layers => counter.add(encodeTile(layers)))
  return { isNew, letters: counter.toJSON() }
}
/** The fonts and the attributes of labels with these layouts. */
const labels = (...layouts) => {
  const { fonts, attributes } = labelsOf({ layers: layouts.map(layout => ({ id: 'a', type: 'symbol', layout })) })
  return [fonts && [...fonts], attributes && [...attributes].sort()]
}

describe('the letters of vector tiles', () => {
  it('are counted for each attribute in ranges of 256, without the first range', () => {
    const { isNew, letters } = countIn(
      { place: [point({ name: 'Zürich', height: 400, open: true })] },
      { place: [point({ name: 'Łódź', 'name:el': 'Αθήνα' }), point({ class: 'town' })], water: [
        point({ 'name:ru': 'Москва' })
      ] },
      { road: [point({ name: 'Ł', ref: 'A 1' })] },
      {}
    )
    assert.deepEqual(isNew, [false, true, false, false])
    assert.deepEqual(letters, { name: [1], 'name:el': [3], 'name:ru': [4] })
  })

  it('include the capitals of letters, and letters beyond 65,535', () => {
    assert.deepEqual(countIn({ a: [point({ name: 'ÿ' })] }).letters, { name: [1] }, 'Ÿ is in the next range')
    assert.deepEqual(countIn({ a: [point({ name: '𐍈' })] }).letters, { name: [0x103] })
  })

  it('of more than 500 attributes are counted together and belong to every label', () => {
    const counter = new LetterCounter({ name: [1] })
    assert.equal(counter.add(encodeTile({ a: [point({ name: 'Ł' })] })), false)
    const properties = Object.fromEntries(Array.from({ length: 3000 },
      (_, number) => [`name${number}`, number % 2 ? 'Łódź' : 'Αθήνα']))
    assert.equal(counter.add(encodeTile({ a: [point(properties)] })), true)
    const letters = counter.toJSON()
    assert.ok(Object.keys(letters).length <= 501)
    assert.deepEqual([...rangesOfLabels(letters, new Set(['name2999']))].sort(),
      [1, 3], 'those not told apart count for every label')
  })

  it('of a cut-off tile lead to an error or to few ranges', () => {
    const bytes = encodeTile({ place: [point({ name: 'Łódź' })] })
    const counter = new LetterCounter()
    for (let length = 1; length < bytes.length; length++) {
      try {
        counter.add(bytes.subarray(0, length))
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }
    assert.ok(Object.values(counter.toJSON()).every(ranges => ranges.length <= 2))
  })
})

describe('the labels of a style', () => {
  it('have the first font of each stack, and attributes by their names', () => {
    assert.deepEqual(labels({ 'text-field': '{name} ({ref})', 'text-font': ['A', 'B'] }),
      [['A'], ['name', 'ref', '{name} ({ref})']])
    assert.deepEqual(
      labels({ 'text-field': ['coalesce', ['get', 'name:en'], ['get', 'name']], 'text-font': [
        'step', ['zoom'], ['literal', ['A']], 8, ['literal', ['B', 'C']]
      ] }), [['A', 'B'], ['coalesce', 'get', 'name', 'name:en']]
    )
    assert.deepEqual(labels({ 'text-field': ['format', ['get', 'name'], { 'text-font': ['literal', ['Bold']] }] })[0],
      ['Open Sans Regular', 'Bold'])
    assert.deepEqual(labels({ 'icon-image': 'dot' }), [[], []])
    assert.deepEqual(stacksIn(undefined), [])
  })

  it('have undefined attributes or fonts when an expression computes them', () => {
    assert.deepEqual(labels({ 'text-field': ['get', ['concat', 'name:', 'de']], 'text-font': ['A'] }),
      [['A'], undefined])
    assert.deepEqual(labels({ 'text-field': 'x', 'text-font': { stops: [[0, ['A']]] } }), [undefined, ['x']])
  })

  it('need the ranges of their attributes, numbers, and the joined forms of Arabic', () => {
    assert.deepEqual([...rangesOfLabels({ name: [1], other: [3] }, new Set(['name']))], [1])
    assert.deepEqual([...rangesOfLabels({ name: [1], other: [3] })], [1, 3])
    assert.deepEqual([...drawnRanges([1])], [0, 1])
    assert.deepEqual([...drawnRanges(rangesOf('القاهرة'))], [0, 6, 0xfb, 0xfc, 0xfd, 0xfe])
  })
})
