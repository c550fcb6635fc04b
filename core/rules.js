// The rules for the fields of documents, written once. core/documents.js reads documents with them, and
// validate_doc_update.js has this file inside when it is deployed: it is ES5 except for `export`, and imports nothing.
// record-rules.js has those of the documents that a map does not need.
//
// A rule is the name of a type and what it is given: `text 1000`, `whole 0 30`, `each time`.

var LAYER_NAME = /^(?!(layer|edition)$)[a-z0-9][a-z0-9_-]{0,62}$/
var TILE = /^([^:@]+):(0|[1-9]\d?):(0|[1-9]\d{0,9}):(0|[1-9]\d{0,9})(@.*)?$/
var EXACT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** Types that are a pattern of a text. */
export var textPatterns = {
  name: LAYER_NAME, // of a layer
  run: /^\d{8}T\d{9}-[0-9a-z]{4}$/, // 20240301T101500123-4f9k
  format: /^(png|jpg|webp|avif|pbf)$/,
  encoding: /^(terrarium|mapbox|mvt)$/, // of heights in the pixels of terrain, or of features
  same: /^(features|pixels(:\d{1,2})?)$/
}

/** Types that are a function of the value, and of what follows the name of the type in the rule. */
export var valueTypes = {
  each: function (value, rule) {
    return Array.isArray(value) && value.every(function (item) { return isValue(item, rule) })
  },
  text: function (value, most) { return typeof value === 'string' && value.length <= most },
  whole: function (value, range) {
    var limits = range.split(' ')
    return typeof value === 'number' && value % 1 === 0 && value >= +limits[0] && value <= +limits[1]
  },
  count: function (value) { return isValue(value, 'whole 0 9007199254740991') },
  flag: function (value) { return typeof value === 'boolean' },
  object: function (value) { return typeof value === 'object' && value !== null && !Array.isArray(value) },
  time: function (value) {
    if (typeof value !== 'string' || !EXACT_TIME.test(value)) return false
    var date = new Date(value)
    return !isNaN(date.getTime()) && date.toISOString().slice(0, 19) + 'Z' === value
  },
  tile: function (value) { // the id of a version
    var match = typeof value === 'string' && TILE.exec(value)
    if (!match) return false
    var across = Math.pow(2, +match[2])
    return LAYER_NAME.test(match[1]) && +match[2] <= 30 && +match[3] < across && +match[4] < across &&
      (!match[5] || isValue(match[5].slice(1), 'time'))
  },
  degrees: function (value, most) { return typeof value === 'number' && Math.abs(value) <= most },
  center: function (value) { // longitude, latitude, zoom
    return isValue(value, 'each degrees 180') && value.length === 3 && isValue(value[1], 'degrees 90') &&
      value[2] >= 0 && value[2] <= 30
  },
  box: function (value) { // west, south, east, north
    return isValue(value, 'each degrees 180') && value.length === 4 && isValue(value[1], 'degrees 90') &&
      isValue(value[3], 'degrees 90') && value[1] <= value[3]
  },
  grid: function (value) { return isValue(value, 'text 100') || isValue(value, 'object') },
  baseline: function (value) {
    return isValue(value, 'object') && isValue(value.runs, 'each run') && isValue(value.differing, 'each tile')
  },
  vectorLayers: function (value) { return isValue(value, 'each object') && value.length <= 1000 },
  // times that a prune dropped, each from its first to the next that is kept, with the run of the prune
  spans: function (value) {
    return isValue(value, 'each each text 30') && value.length <= 2000 && value.every(function (span) {
      return span.length === 3 && isValue(span[0], 'time') && isValue(span[1], 'time') && isValue(span[2], 'run')
    })
  }
}

/** Whether a value is what a rule says. */
export function isValue (value, rule) {
  var type = rule.split(' ')[0]
  var pattern = textPatterns[type]
  if (pattern) return typeof value === 'string' && pattern.test(value)
  return valueTypes[type](value, rule.slice(type.length + 1))
}

/** Whether lists and objects are so deep within each other at most: what walks over a value recurses. */
export function isShallow (value, depth) {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.keys(value).every(function (name) { return isShallow(value[name], depth - 1) })
}

export var layerRules = {
  // TileJSON 3.0
  name: 'text 1000',
  description: 'text 100000',
  attribution: 'text 100000',
  legend: 'text 100000', // it may hold an image
  version: 'text 1000',
  minzoom: 'whole 0 30',
  maxzoom: 'whole 0 30',
  fillzoom: 'whole 0 30',
  bounds: 'box',
  center: 'center',
  vector_layers: 'vectorLayers',
  encoding: 'encoding',
  // the store's
  format: 'format', // extension of its tiles' type
  tileSize: 'whole 64 4096', // pixels
  grid: 'grid', // tile matrix set: see grids/
  ttl: 'whole 1 31536000000', // seconds until a tile expires, counted from when it was stored: up to 1000 years
  upstream: 'object', // where missing tiles come from
  retina: 'name', // the layer that has the same tiles with twice the pixels, for @2x
  group: 'text 200', // heading under which lists show it
  order: 'whole 0 1000000', // place among the layers of its group: the smallest first, then those without one
  offline: 'flag', // false: its terms forbid taking areas of it along on a device
  retention: 'object', // which moments of its past are kept
  same: 'same', // which tiles of a load are no change, beside equal bytes
  dropped: 'spans', // see store/limits.js
  pruned: 'time', // when versions were last taken out of its past, to the day
  renaming: 'name' // which layer it is taking over: the name of that one, until it is done
}

export var editionRules = {
  time: 'time',
  title: 'text 10000',
  source: 'text 10000',
  run: 'run',
  root: 'text 100',
  complete: 'flag',
  started: 'time',
  finished: 'time',
  tiles: 'count',
  created: 'count',
  advanced: 'count',
  backfilled: 'count',
  unchanged: 'count',
  failed: 'count',
  gone: 'count',
  bytes: 'count',
  blocks: 'count',
  baseline: 'baseline',
  from: 'object'
}
