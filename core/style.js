// Styles of layers (MapLibre style specification 8): the default style, made from the layer document, and stored styles
// with the addresses of a time. A design function includes this file, so that CouchDB and the gateway return the same
// style: it is ES5 except for `export`, and imports nothing.

/**
 * @typedef {'light' | 'dark'} Theme
 * @typedef {{version: 8, name: string, sources: Record<string, any>, layers: any[]} & Record<string, any>} Style
 */

// Kinds of source layers. The first pattern that matches the name of a source layer counts. rank: 1 is the bottom of
// the map. light, dark: hue, saturation and lightness. width: of lines at zooms 6, 12 and 18, in pixels
var KINDS = [
  { name: 'boundary', pattern: /boundar|admin|border/, rank: 8,
    light: [285, 18, 58], dark: [285, 18, 52], width: [0.6, 1.2, 2.5], isLine: true },
  { name: 'building', pattern: /building|housenum/, rank: 5,
    light: [28, 22, 80], dark: [28, 8, 26], width: [0.3, 0.5, 1] },
  { name: 'rail', pattern: /rail|tram|subway|transit/, rank: 7,
    light: [230, 8, 55], dark: [230, 10, 48], width: [0.3, 0.8, 2.5] },
  { name: 'road', pattern: /road|street|highway|motorway|transport|path|track|cycle|bridge|tunnel/, rank: 6,
    light: [36, 60, 62], dark: [36, 22, 42], width: [0.4, 1.2, 9] },
  { name: 'waterway', pattern: /waterway|river|stream|canal/, rank: 3,
    light: [207, 52, 70], dark: [212, 42, 32], width: [0.5, 1.3, 4] },
  { name: 'ice', pattern: /glacier|(^|[^a-z])(ice|snow)/, rank: 1,
    light: [195, 45, 93], dark: [205, 18, 32], width: [0.5, 1, 1.5] },
  { name: 'water', pattern: /water|ocean|sea($|[^a-z])|lake|reservoir|hydro|bathymetr/, rank: 3,
    light: [207, 52, 78], dark: [215, 40, 19], width: [0.5, 1, 2] },
  { name: 'green',
    pattern: /park|forest|wood|green|grass|vegetation|meadow|nature|reserve|golf|garden|pitch|orchard|farm/, rank: 2,
    light: [98, 38, 82], dark: [130, 18, 17], width: [0.5, 1, 1.5] },
  { name: 'land', pattern: /land|earth|country|countries|continent|state|surface|sand|beach|island/, rank: 1,
    light: [48, 28, 91], dark: [210, 6, 15], width: [0.5, 1, 1.5] },
  { name: 'place', pattern: /place|label|poi|point|address|settlement|cit(y|ies)|town|station|peak/, rank: 9,
    light: [340, 42, 46], dark: [340, 45, 68], width: [0.5, 1, 2] }
]
var OTHER = { name: 'other', rank: 4, width: [0.6, 1.4, 3.5] } // no pattern matches, such as for data of users
var SLOTS = 12 // hues for source layers of the kind `other`
var GOLDEN = 137.508 // degrees between the hues of neighbouring slots, so that they differ clearly

var THEMES = {
  light: {
    background: [45, 20, 96], text: [220, 14, 22], halo: [0, 0, 100], shadow: [25, 20, 25], highlight: [0, 0, 100],
    other: [62, 46]
  },
  dark: {
    background: [212, 10, 11], text: [210, 14, 84], halo: [212, 12, 8], shadow: [212, 30, 3], highlight: [210, 12, 44],
    other: [52, 62]
  }
}

// fields with the name of a feature, in order of preference
var NAMES = ['name', 'Name', 'NAME', 'name:latin', 'name_int', 'name:en', 'name_en', 'label', 'title', 'text', 'ref']

/** @param {number[]} colour @returns {string} */
function hsl (colour) { return 'hsl(' + colour[0] + ', ' + colour[1] + '%, ' + colour[2] + '%)' }

/** A darker colour, or a lighter one on a dark map. @param {number} by percent */
function shade (colour, isDark, by) {
  return [colour[0], colour[1], Math.max(0, Math.min(100, colour[2] + (isDark ? by : -by)))]
}

/** The FNV-1a hash of a name. @param {string} name */
function hash (name) {
  var value = 2166136261
  for (var i = 0; i < name.length; i++) {
    value ^= name.charCodeAt(i)
    value = (value + (value << 1) + (value << 4) + (value << 7) + (value << 8) + (value << 24)) >>> 0
  }
  return value
}

/** @param {string} id of a source layer */
function kindOf (id) {
  var lowerCase = id.toLowerCase()
  for (var i = 0; i < KINDS.length; i++) if (KINDS[i].pattern.test(lowerCase)) return KINDS[i]
  return OTHER
}

/** The source layers of a layer with their kinds and colours, the bottom one first. Each name counts once. */
function sourceLayersOf (doc, theme) {
  var isList = Object.prototype.toString.call(doc.vector_layers) === '[object Array]'
  var vectorLayers = isList ? doc.vector_layers : []
  var seen = {}
  var usedSlots = {}
  var sourceLayers = []
  for (var i = 0; i < vectorLayers.length; i++) {
    var id = vectorLayers[i] && vectorLayers[i].id
    if (typeof id !== 'string' || id === '' || seen['$' + id]) continue
    seen['$' + id] = true
    var kind = kindOf(id)
    var colour = /** @type {any} */ (kind)[theme]
    if (!colour) { // the name decides the hue; if another source layer has it, the next free hue is used
      var slot = hash(id) % SLOTS
      for (var tries = 0; tries < SLOTS && usedSlots[slot]; tries++) slot = (slot + 1) % SLOTS
      usedSlots[slot] = true
      colour = [Math.round(slot * GOLDEN) % 360, THEMES[theme].other[0], THEMES[theme].other[1]]
    }
    var fields = vectorLayers[i].fields
    var names = NAMES.filter(function (name) { return !!fields && Object.prototype.hasOwnProperty.call(fields, name) })
    sourceLayers.push({ id: id, kind: kind, colour: colour, names: names, index: i })
  }
  return sourceLayers.sort(function (a, b) { return a.kind.rank - b.kind.rank || a.index - b.index })
}

var IS_AREA = ['==', ['geometry-type'], 'Polygon']
var IS_LINE = ['==', ['geometry-type'], 'LineString']
var IS_POINT = ['==', ['geometry-type'], 'Point']

function byZoom (values, base) {
  return ['interpolate', ['exponential', base], ['zoom'], 6, values[0], 12, values[1], 18, values[2]]
}

/** The style layers of all source layers: areas, lines and points, and labels on top. */
function styleLayersOf (doc, source, theme) {
  var isDark = theme === 'dark'
  var fills = /** @type {any[]} */ ([])
  var lines = /** @type {any[]} */ ([])
  var points = /** @type {any[]} */ ([])
  var labels = /** @type {any[]} */ ([])

  function add (list, sourceLayer, part, type, filter, properties) {
    var id = sourceLayer.id
    var styleLayer = { id: id + '/' + part, type: type, source: source, 'source-layer': id, filter: filter }
    for (var property in properties) styleLayer[property] = properties[property]
    list.push(styleLayer)
  }

  function addLabels (sourceLayer, colour) {
    var fields = sourceLayer.names.map(function (name) { return ['get', name] })
    var text = ['to-string', fields.length === 1 ? fields[0] : ['coalesce'].concat(fields)]
    var halo = hsl(THEMES[theme].halo)
    var paint = { 'text-color': hsl(colour), 'text-halo-color': halo, 'text-halo-width': 1.2 }
    add(labels, sourceLayer, 'line-name', 'symbol', IS_LINE, {
      layout: { 'text-field': text, 'text-size': byZoom([9, 11, 14], 1), 'symbol-placement': 'line' }, paint: paint
    })
    add(labels, sourceLayer, 'name', 'symbol', ['!', IS_LINE], {
      layout: {
        'text-field': text,
        'text-size': byZoom([10, 12, 15], 1),
        'text-anchor': ['case', IS_POINT, 'top', 'center'], // below the circle of a point
        'text-offset': ['case', IS_POINT, ['literal', [0, 0.5]], ['literal', [0, 0]]]
      },
      paint: paint
    })
  }

  sourceLayersOf(doc, theme).forEach(function (sourceLayer) {
    var kind = sourceLayer.kind
    var isOther = kind === OTHER
    var colour = hsl(sourceLayer.colour)
    if (!kind.isLine) {
      add(fills, sourceLayer, 'fill', 'fill', IS_AREA, {
        paint: {
          'fill-color': colour,
          'fill-opacity': isOther ? 0.35 : 1, // areas of unknown kinds may lie above each other
          'fill-outline-color': hsl(shade(sourceLayer.colour, isDark, isOther ? 14 : 5))
        }
      })
    }
    add(lines, sourceLayer, 'line', 'line', kind.isLine ? ['!', IS_POINT] : IS_LINE, {
      layout: { 'line-cap': kind.isLine ? 'butt' : 'round', 'line-join': 'round' },
      paint: { 'line-color': colour, 'line-width': byZoom(kind.width, 1.4) }
    })
    if (kind.isLine) lines[lines.length - 1].paint['line-dasharray'] = [4, 2]
    add(points, sourceLayer, 'circle', 'circle', IS_POINT, {
      paint: {
        'circle-color': colour,
        'circle-radius': byZoom([2.5, 4, 7], 1.2),
        'circle-stroke-color': hsl(THEMES[theme].halo),
        'circle-stroke-width': byZoom([0.3, 0.8, 1.5], 1)
      }
    })
    // labels of water and woods have their hue
    var isLandscape = !isOther && kind.rank < 4
    var labelColour = isLandscape ? [sourceLayer.colour[0], 35, isDark ? 70 : 32] : THEMES[theme].text
    if (sourceLayer.names.length) addLabels(sourceLayer, labelColour)
  })
  return fills.concat(lines, points, labels) // MapLibre places the labels of the last layers first
}

/**
 * The default style of a layer. It names no fonts and no glyphs: MapLibre then writes labels with the fonts of the
 * device, so that a map needs no other files.
 * @param {Record<string, any>} doc a layer document
 * @param {{theme?: Theme, source?: Record<string, any>}} [options] source: the addresses of its tiles, such as
 *   `{url: 'https://tiles.example.org/osm.json'}` or `{tiles: [...]}`; type, tile size and encoding are added
 * @returns {Style | undefined} undefined for vector tiles without `vector_layers`
 */
export function defaultStyle (doc, options) {
  var theme = options && options.theme === 'dark' ? /** @type {const} */ ('dark') : /** @type {const} */ ('light')
  var isVector = doc.format === 'pbf'
  var isTerrain = !isVector && (doc.encoding === 'terrarium' || doc.encoding === 'mapbox')
  var rasterType = isTerrain ? 'raster-dem' : 'raster'
  var source = /** @type {Record<string, any>} */ ({ type: isVector ? 'vector' : rasterType })
  var sourceFields = (options && options.source) || { url: 'couch://' + doc.layer }
  for (var field in sourceFields) source[field] = sourceFields[field]
  if (!isVector && source.tileSize === undefined) source.tileSize = doc.tileSize || 256
  if (isTerrain) source.encoding = doc.encoding
  var name = doc.layer
  var style = /** @type {Style} */ ({ version: 8, name: doc.name || name, sources: {}, layers: [] })
  if (doc.center) {
    style.center = [doc.center[0], doc.center[1]]
    style.zoom = doc.center[2]
  }
  style.sources[name] = source
  var tileLayers = isVector ? styleLayersOf(doc, name, theme) : [rasterLayerOf(name, isTerrain, theme)]
  if (!tileLayers.length) return undefined
  var paint = { 'background-color': hsl(THEMES[theme].background) }
  style.layers = [{ id: 'background', type: 'background', paint: paint }].concat(tileLayers)
  return style
}

function rasterLayerOf (source, isTerrain, theme) {
  if (!isTerrain) return { id: 'raster', type: 'raster', source: source }
  return {
    id: 'hillshade',
    type: 'hillshade',
    source: source,
    paint: {
      'hillshade-shadow-color': hsl(THEMES[theme].shadow),
      'hillshade-highlight-color': hsl(THEMES[theme].highlight),
      'hillshade-exaggeration': 0.6
    }
  }
}

var STORE_ADDRESS = /^couch:\/\/([a-z0-9][a-z0-9_-]{0,62})(@[^/?#]*)?(\/[^?#]*)?$/

/**
 * Resolves an address in a stored style: `couch://LAYER[@TIME]` (a TileJSON) or `couch://LAYER[@TIME]/{z}/{x}/{y}.pbf`.
 * Other addresses are returned unchanged.
 */
function addressOf (text, place) {
  var match = typeof text === 'string' ? STORE_ADDRESS.exec(text) : null
  if (!match) return text
  var time = match[2] || (place.time ? '@' + place.time : '')
  return place.base + match[1] + time + (match[3] || place.end) + place.query
}

function storedStyle (doc, place) {
  var style = JSON.parse(JSON.stringify(doc.style))
  for (var name in style.sources) {
    var source = style.sources[name]
    if (source && source.url !== undefined) source.url = addressOf(source.url, place)
    if (!source || !source.tiles || !source.tiles.map) continue
    source.tiles = source.tiles.map(function (/** @type {any} */ address) { return addressOf(address, place) })
  }
  var files = place.base + 'styles/' + doc.layer + '@' + doc.time + '/'
  for (var file in doc._attachments || {}) {
    if (file === 'sprite.json') style.sprite = files + 'sprite' + place.query
    if (/^glyphs\//.test(file)) style.glyphs = files + 'glyphs/{fontstack}/{range}.pbf' + place.query
  }
  return style
}

/**
 * The answer to `/LAYER/style.json` and `/LAYER@TIME/style.json`: the stored style with the addresses of that time, or
 * the default style.
 * @param {Record<string, any>} doc the style document of that time; if there is none, the layer document
 * @param {{base?: string, time?: string, theme?: Theme, query?: string}} [options] base: of the addresses; the
 *   default is relative to the style, and some programs read `couch://`; time: as in the address; query: such as
 *   `?token=…`
 * @returns {Style | undefined} see defaultStyle
 */
export function styleAt (doc, options) {
  var settings = options || {}
  var base = settings.base || '../'
  var place = { base: base, time: settings.time, query: settings.query || '', end: base === 'couch://' ? '' : '.json' }
  if (doc.type === 'style') return doc.style && typeof doc.style === 'object' ? storedStyle(doc, place) : undefined
  return defaultStyle(doc, { theme: settings.theme, source: { url: addressOf('couch://' + doc.layer, place) } })
}
