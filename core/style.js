// Styles of layers (MapLibre style specification 8): the default one, from what the document of the layer says, and a
// stored one with the addresses of one time. A design function has this file inside, so that CouchDB and the gateway
// answer the same: it is ES5 except for `export`, and imports nothing.

/**
 * @typedef {'light' | 'dark'} Theme
 * @typedef {{version: 8, name: string, sources: Record<string, any>, layers: any[]} & Record<string, any>} Style
 */

// What the names of source layers say: the first pattern that fits a name counts. rank: 1 is the bottom of the map.
// light, dark: a hue, a saturation and a lightness. width: of lines at zooms 6, 12 and 18, in pixels
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
var OTHER = { name: 'other', rank: 4, width: [0.6, 1.4, 3.5] } // such as the data of a user
var SLOTS = 12 // hues of other source layers
var GOLDEN = 137.508 // degrees: neighbouring slots get hues that are far apart

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

// fields that hold what a feature is called, the best first
var NAMES = ['name', 'Name', 'NAME', 'name:latin', 'name_int', 'name:en', 'name_en', 'label', 'title', 'text', 'ref']

/** @param {number[]} colour @returns {string} */
function hsl (colour) { return 'hsl(' + colour[0] + ', ' + colour[1] + '%, ' + colour[2] + '%)' }

/** A colour that stands out from an area of this one. */
function shade (colour, isDark, by) {
  return [colour[0], colour[1], Math.max(0, Math.min(100, colour[2] + (isDark ? by : -by)))]
}

/** The same number for the same name, always. @param {string} name */
function hash (name) {
  var value = 2166136261 // FNV-1a
  for (var i = 0; i < name.length; i++) {
    value ^= name.charCodeAt(i)
    value = (value + (value << 1) + (value << 4) + (value << 7) + (value << 8) + (value << 24)) >>> 0
  }
  return value
}

/** @param {string} id of a source layer */
function kindOf (id) {
  var words = id.toLowerCase()
  for (var i = 0; i < KINDS.length; i++) if (KINDS[i].pattern.test(words)) return KINDS[i]
  return OTHER
}

/** What the style needs of each source layer that has a name of its own. */
function sourceLayersOf (doc, theme) {
  var listed = Object.prototype.toString.call(doc.vector_layers) === '[object Array]' ? doc.vector_layers : []
  var seen = {}
  var taken = {}
  var found = []
  for (var i = 0; i < listed.length; i++) {
    var id = listed[i] && listed[i].id
    if (typeof id !== 'string' || id === '' || seen['$' + id]) continue
    seen['$' + id] = true
    var kind = kindOf(id)
    var colour = /** @type {any} */ (kind)[theme]
    if (!colour) { // the hue is that of the name, or the next one that is free
      var slot = hash(id) % SLOTS
      for (var tries = 0; tries < SLOTS && taken[slot]; tries++) slot = (slot + 1) % SLOTS
      taken[slot] = true
      colour = [Math.round(slot * GOLDEN) % 360, THEMES[theme].other[0], THEMES[theme].other[1]]
    }
    var fields = listed[i].fields
    var names = NAMES.filter(function (name) { return !!fields && Object.prototype.hasOwnProperty.call(fields, name) })
    found.push({ id: id, kind: kind, colour: colour, names: names, at: i })
  }
  return found.sort(function (a, b) { return a.kind.rank - b.kind.rank || a.at - b.at })
}

var IS_AREA = ['==', ['geometry-type'], 'Polygon']
var IS_LINE = ['==', ['geometry-type'], 'LineString']
var IS_POINT = ['==', ['geometry-type'], 'Point']

function byZoom (values, base) {
  return ['interpolate', ['exponential', base], ['zoom'], 6, values[0], 12, values[1], 18, values[2]]
}

/**
 * The colour that the default style gives to each source layer, such as for a legend.
 * @param {Record<string, any>} doc a layer document @param {Theme} [theme]
 * @returns {{id: string, colour: string}[]} from the bottom of the map to its top
 */
export function coloursOf (doc, theme) {
  var own = sourceLayersOf(doc, theme === 'dark' ? 'dark' : 'light')
  return own.map(function (one) { return { id: one.id, colour: hsl(one.colour) } })
}

function vectorLayers (doc, source, theme) {
  var isDark = theme === 'dark'
  var fills = /** @type {any[]} */ ([])
  var lines = /** @type {any[]} */ ([])
  var points = /** @type {any[]} */ ([])
  var labels = /** @type {any[]} */ ([])

  function add (list, one, part, type, filter, properties) {
    var made = { id: one.id + '/' + part, type: type, source: source, 'source-layer': one.id, filter: filter }
    for (var property in properties) made[property] = properties[property]
    list.push(made)
  }

  function addLabels (one, colour) {
    var fields = one.names.map(function (name) { return ['get', name] })
    var text = ['to-string', fields.length === 1 ? fields[0] : ['coalesce'].concat(fields)]
    var halo = hsl(THEMES[theme].halo)
    var paint = { 'text-color': hsl(colour), 'text-halo-color': halo, 'text-halo-width': 1.2 }
    add(labels, one, 'line-name', 'symbol', IS_LINE, {
      layout: { 'text-field': text, 'text-size': byZoom([9, 11, 14], 1), 'symbol-placement': 'line' }, paint: paint
    })
    add(labels, one, 'name', 'symbol', ['!', IS_LINE], {
      layout: {
        'text-field': text,
        'text-size': byZoom([10, 12, 15], 1),
        'text-anchor': ['case', IS_POINT, 'top', 'center'], // below the circle of a point
        'text-offset': ['case', IS_POINT, ['literal', [0, 0.5]], ['literal', [0, 0]]]
      },
      paint: paint
    })
  }

  sourceLayersOf(doc, theme).forEach(function (one) {
    var kind = one.kind
    var isKnown = kind !== OTHER
    var colour = hsl(one.colour)
    if (!kind.isLine) {
      add(fills, one, 'fill', 'fill', IS_AREA, {
        paint: {
          'fill-color': colour,
          'fill-opacity': isKnown ? 1 : 0.35, // areas of unknown meaning may lie above each other
          'fill-outline-color': hsl(shade(one.colour, isDark, isKnown ? 5 : 14))
        }
      })
    }
    add(lines, one, 'line', 'line', kind.isLine ? ['!', IS_POINT] : IS_LINE, {
      layout: { 'line-cap': kind.isLine ? 'butt' : 'round', 'line-join': 'round' },
      paint: { 'line-color': colour, 'line-width': byZoom(kind.width, 1.4) }
    })
    if (kind.isLine) lines[lines.length - 1].paint['line-dasharray'] = [4, 2]
    add(points, one, 'circle', 'circle', IS_POINT, {
      paint: {
        'circle-color': colour,
        'circle-radius': byZoom([2.5, 4, 7], 1.2),
        'circle-stroke-color': hsl(THEMES[theme].halo),
        'circle-stroke-width': byZoom([0.3, 0.8, 1.5], 1)
      }
    })
    // water and woods are named in their colour
    var isArea = isKnown && kind.rank < 4
    if (one.names.length) addLabels(one, isArea ? [one.colour[0], 35, isDark ? 70 : 32] : THEMES[theme].text)
  })
  return fills.concat(lines, points, labels) // labels of the last layers get room first
}

/**
 * A usable style for a layer. It names no fonts and no glyphs: MapLibre then writes labels with the fonts of the
 * device, so that a map needs nothing else.
 * @param {Record<string, any>} doc a layer document
 * @param {{theme?: Theme, source?: Record<string, any>}} [options] source: where its tiles are, such as
 *   `{url: 'https://tiles.example.org/osm.json'}` or `{tiles: [...]}`; the type and what the layer says is added
 * @returns {Style | undefined} nothing for vector tiles of which nobody has said what is in them: `vector_layers`
 */
export function defaultStyle (doc, options) {
  var theme = options && options.theme === 'dark' ? /** @type {const} */ ('dark') : /** @type {const} */ ('light')
  var isTerrain = doc.encoding === 'terrarium' || doc.encoding === 'mapbox'
  var isVector = doc.format === 'pbf'
  var rasterType = isTerrain ? 'raster-dem' : 'raster'
  var source = /** @type {Record<string, any>} */ ({ type: isVector ? 'vector' : rasterType })
  var given = (options && options.source) || { url: 'couch://' + doc.layer }
  for (var field in given) source[field] = given[field]
  if (!isVector && source.tileSize === undefined) source.tileSize = doc.tileSize || 256
  if (isTerrain && !isVector) source.encoding = doc.encoding
  var name = doc.layer
  var style = /** @type {Style} */ ({ version: 8, name: doc.name || name, sources: {}, layers: [] })
  if (doc.center) {
    style.center = [doc.center[0], doc.center[1]]
    style.zoom = doc.center[2]
  }
  style.sources[name] = source
  style.layers = [{
    id: 'background', type: 'background', paint: { 'background-color': hsl(THEMES[theme].background) }
  }]
  if (!isVector && isTerrain) {
    style.layers.push({
      id: 'hillshade',
      type: 'hillshade',
      source: name,
      paint: {
        'hillshade-shadow-color': hsl(THEMES[theme].shadow),
        'hillshade-highlight-color': hsl(THEMES[theme].highlight),
        'hillshade-exaggeration': 0.6
      }
    })
  } else if (!isVector) {
    style.layers.push({ id: 'raster', type: 'raster', source: name })
  } else {
    var own = vectorLayers(doc, name, theme)
    if (!own.length) return undefined
    style.layers = style.layers.concat(own)
  }
  return style
}

var INSIDE = /^couch:\/\/([a-z0-9][a-z0-9_-]{0,62})(@[^/?#]*)?(\/[^?#]*)?$/

/**
 * Where something is that a stored style calls `couch://LAYER[@TIME]`, the TileJSON, or
 * `couch://LAYER[@TIME]/{z}/{x}/{y}.pbf`. Other addresses stay as they are.
 */
function addressOf (text, place) {
  var match = typeof text === 'string' ? INSIDE.exec(text) : null
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
    source.tiles = source.tiles.map(function (/** @type {any} */ one) { return addressOf(one, place) })
  }
  var own = place.base + 'styles/' + doc.layer + '@' + doc.time + '/'
  for (var file in doc._attachments || {}) {
    if (file === 'sprite.json') style.sprite = own + 'sprite' + place.query
    if (/^glyphs\//.test(file)) style.glyphs = own + 'glyphs/{fontstack}/{range}.pbf' + place.query
  }
  return style
}

/**
 * What `/LAYER/style.json` and `/LAYER@TIME/style.json` answer: the stored style with addresses of that time, else the
 * default style.
 * @param {Record<string, any>} doc the style document that counts at that time; if there is none, the layer document
 * @param {{base?: string, time?: string, theme?: Theme, query?: string}} [options] base: of the addresses, relative to
 *   the style unless given, `couch://` for programs that read such addresses; time: as written, if any; query: such as
 *   `?token=…`
 * @returns {Style | undefined} nothing if the document says too little: see defaultStyle
 */
export function styleAt (doc, options) {
  var own = options || {}
  var base = own.base || '../'
  var place = { base: base, time: own.time, query: own.query || '', end: base === 'couch://' ? '' : '.json' }
  if (doc.type === 'style') return doc.style && typeof doc.style === 'object' ? storedStyle(doc, place) : undefined
  return defaultStyle(doc, { theme: own.theme, source: { url: addressOf('couch://' + doc.layer, place) } })
}
