// The rules for the fields of manifests and other records, of styles, of the store and of its administration: see
// rules.js, whose types this file adds to. Design functions have both files inside; this one is ES5 as well.

var ADDRESS = /^(https?:\/\/|(?!\/\/)(?![^/]*:))[^\s"'<>\\]{1,1000}$/
var PLACE = /^(0|[1-9]\d?):(0|[1-9]\d{0,8}):(0|[1-9]\d{0,8})$/

/** Types that are a pattern of a text. */
export var recordPatterns = {
  command: /^[a-z-]{1,30}$/,
  state: /^(running|done|failed|stopped)$/,
  what: /^(layer|edition|access|store|token|style)$/,
  done: /^(created|changed|removed)$/,
  block: /^[\w-]{12}$/, // the name of a block: a digest of its content
  hash: /^[0-9a-f]{64}$/, // SHA-256
  // a layer, some with *, or ! and those that are left out; no kind of document, and at most four stars
  pattern: new RegExp(
    '^!?(?!(layer|edition|tile|manifest|block|removed|limits|style|work|activity|token|db)$)' +
    '(?!([^*]*\\*){5})[a-z0-9*][a-z0-9_*-]{0,62}$'
  ),
  hex: /^#[0-9a-f]{6}$/i,
  path: /^(?!\/\/)(?![^/]*:)[^\s"'<>\\]{1,1000}$/, // within the origin of the page
  address: ADDRESS // a path of the same origin, or an address
}

/** The luminance of a colour, as WCAG defines it, and what it adds to both when they are compared. */
export function luminance (hex) {
  return [0.2126, 0.7152, 0.0722].reduce(function (sum, weight, index) {
    var share = parseInt(hex.substr(1 + 2 * index, 2), 16) / 255
    return sum + weight * (share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4))
  }, 0.05)
}

/**
 * Types that are a function of the value.
 * @param {(value: any, rule: string) => boolean} isValue of rules.js
 */
export function recordTypes (isValue) {
  /** Whether all fields of an object are known and valid. */
  function holds (value, rules) {
    return isValue(value, 'object') && Object.keys(value).every(function (field) {
      return Object.keys(rules).indexOf(field) >= 0 && isValue(value[field], rules[field])
    })
  }

  return {
    rate: function (value) { return typeof value === 'number' && isFinite(value) && value >= 0 },
    filled: function (value, most) { return isValue(value, 'text ' + most) && value !== '' },
    zooms: function (value) {
      return isValue(value, 'object') && isValue(value.min, 'whole 0 30') && isValue(value.max, 'whole 0 30') &&
        value.min <= value.max
    },
    area: function (value) {
      return isValue(value, 'object') && isValue(value.boxes, 'each box') && value.boxes.length <= 100 &&
        (value.polygon ? isValue(value.polygon, 'object') : value.boxes.length > 0)
    },
    style: function (value) {
      return isValue(value, 'object') && value.version === 8 && isValue(value.sources, 'object') &&
        isValue(value.layers, 'each object')
    },
    // colours that can be told from the ground of the light and of the dark scheme: 4.5 to 1, as WCAG AA wants it
    light: function (value) { return isValue(value, 'hex') && luminance('#d9ecef') / luminance(value) >= 4.5 },
    dark: function (value) { return isValue(value, 'hex') && luminance(value) / luminance('#17424b') >= 4.5 },
    colours: function (value) { return holds(value, { light: 'light', dark: 'dark' }) },
    template: function (value) {
      return isValue(value, 'address') &&
        ['{z}', '{x}', '{y}'].every(function (part) { return value.indexOf(part) >= 0 })
    },
    base: function (value) {
      var rules = { url: 'template', name: 'text 200', attribution: 'text 2000', maxzoom: 'whole 0 30' }
      return isValue(value, 'name') || (holds(value, rules) && value.url !== undefined)
    },
    patterns: function (value) { return isValue(value, 'each pattern') && value.length > 0 && value.length <= 50 },
    places: function (value) { return isValue(value, 'each spot') && value.length <= 2000 },
    spot: function (value) { // name, longitude, latitude, zoom
      return Array.isArray(value) && value.length === 4 && isValue(value[0], 'text 200') &&
        isValue(value[1], 'degrees 180') && isValue(value[2], 'degrees 90') && isValue(value[3], 'whole 0 30')
    },
    part: function (value) {
      return holds(value, {
        area: 'area', zooms: 'zooms', since: 'time', current: 'flag', of: 'each part', ofOwn: 'flag'
      })
    },
    parts: function (value) { return isValue(value, 'each part') && value.length <= 1000 },
    place: function (value) { // z, x and y of a block of 64 x 64 tiles
      var match = typeof value === 'string' && PLACE.exec(value)
      if (!match) return false
      var last = Math.ceil(Math.pow(2, +match[1]) / 64) - 1
      return +match[1] <= 30 && +match[2] <= last && +match[3] <= last
    },
    blocks: function (value) {
      return isValue(value, 'object') && Object.keys(value).every(function (place) {
        return isValue(place, 'place') && isValue(value[place], 'each block')
      })
    }
  }
}

export var styleRules = { time: 'time', stored: 'time', style: 'style', digest: 'text 100' }

export var manifestRules = {
  time: 'time',
  run: 'run',
  part: 'count',
  complete: 'flag',
  tiles: 'count',
  root: 'text 100',
  zooms: 'zooms',
  area: 'area',
  blocks: 'blocks',
  parts: 'each place'
}

export var removedRules = {
  run: 'run',
  since: 'time',
  until: 'time',
  finished: 'time',
  zooms: 'zooms',
  area: 'area',
  tiles: 'each tile',
  runs: 'each run'
}

export var limitsRules = { parts: 'parts', own: 'flag' }

export var blockRules = { z: 'whole 0 30', x: 'count', y: 'count' }

export var workRules = {
  command: 'command',
  args: 'each text 1000', // what was typed after `tilecouch`, to go on or to do it again: see typedAgain
  edition: 'time',
  state: 'state',
  started: 'time',
  seen: 'time',
  finished: 'time',
  every: 'whole 1 86400', // seconds
  unit: 'text 100', // of done and total
  done: 'count',
  total: 'count',
  rate: 'rate', // a second
  failed: 'count',
  failures: 'each text 1000', // some of them
  user: 'text 300',
  host: 'text 300',
  about: 'object',
  error: 'object'
}

export var tokenRules = {
  title: 'text 200',
  hash: 'hash', // of its secret
  layers: 'patterns',
  until: 'time',
  created: 'time',
  user: 'filled 300', // who made it
  revoked: 'time'
}

export var activityRules = {
  user: 'filled 300', // who wrote it, as CouchDB knows him
  at: 'time',
  via: 'text 300', // 'page', or the command
  what: 'what',
  done: 'done',
  edition: 'time',
  name: 'text 300', // of a user or a token
  fields: 'object' // of the document: before and after
}

/** The document that marks a store, with the settings of its viewer. */
export var storeRules = {
  schema: 'whole 1 1000',
  uuid: 'text 100',
  created: 'time',
  published: 'time',
  title: 'text 200', // the name of the map or of its operator
  description: 'text 300', // a sentence that says what the map is for
  logo: 'path', // within the origin; else the attachment `logo`
  colours: 'colours', // accent in each scheme
  opens: 'name', // the layer that is shown first
  base: 'base', // the map under the layers
  gazetteer: 'address', // of a search for places that answers as Nominatim does
  places: 'places', // [name, longitude, latitude, zoom], which the viewer finds without asking anybody
  // that activity is kept. A writer may write this document, but must not wipe his traces of the last month with it
  activityDays: 'whole 30 36500'
}
