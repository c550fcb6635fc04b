// Files for QGIS: a layer definition (.qlr) with a layer for each edition, which the temporal controller shows in turn,
// and lists of connections. A design function has this file inside, so that CouchDB and the gateway answer the same: it
// is ES5 except for `export`, and imports nothing. Everything from documents is escaped.
// Images in another grid than Web Mercator are layers of the WMTS, which only the gateway has.

/**
 * @typedef {object} Place where QGIS finds the tiles
 * @property {string} base absolute, ends in a slash
 * @property {string} [query] such as `?token=…`
 * @property {(doc: Record<string, any>) => Wmts} [wmtsOf] where there is a WMTS: what core/wmts.js says of a layer
 *
 * @typedef {{crs: string, set: string, type: string}} Wmts
 */

// QGIS draws every ticked layer while its temporal controller is off: 50 layers took 3 seconds, 300 took 19
var MOST_TICKED = 50
var EXACT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** A text as the value of an attribute or of an element. XML 1.0 does not allow everything, not even escaped. */
function escaped (text) {
  return String(text)
    .replace(/[\ud800-\udbff][\udc00-\udfff]|[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, function (found) {
      return found.length === 2 ? found : '\ufffd'
    })
    .replace(/[&<>"'\t\n\r]/g, function (letter) { return '&#' + letter.charCodeAt(0) + ';' })
}

/** @param {string} name of an element @param {any} text what is no text is left out */
function element (name, text) {
  return typeof text === 'string' && text !== '' ? '<' + name + '>' + escaped(text) + '</' + name + '>' : ''
}

function titleOf (doc) {
  return typeof doc.name === 'string' && doc.name ? doc.name : String(doc.layer)
}

/** An attribution may have links. */
function plain (text) {
  return typeof text === 'string'
    ? text.replace(/<[^>]*>/g, '').replace(/&copy;/g, '©').replace(/&amp;/g, '&')
    : undefined
}

function zoomOf (value, otherwise) {
  return typeof value === 'number' && value >= 0 && value <= 30 ? Math.floor(value) : otherwise
}

/** Tiles of 512 pixels are drawn as 256 with twice the pixels. */
function ratioOf (doc) {
  return doc.tileSize > 0 ? doc.tileSize / 256 : 1
}

// QGIS knows addresses with {z}, {x} and {y} in Web Mercator only
function isInReach (doc) { return doc.grid === undefined || doc.grid === 'WebMercatorQuad' }

function isVector (doc) { return doc.format === 'pbf' }

/** @param {Record<string, any>} doc @param {Place} place @param {string} [time] */
function templateOf (doc, place, time) {
  var format = typeof doc.format === 'string' && /^[a-z]{2,5}$/.test(doc.format) ? doc.format : 'png'
  return place.base + doc.layer + (time ? '@' + time : '') + '/{z}/{x}/{y}.' + format + (place.query || '')
}

/** As QGIS writes it: an address with an & or a % in it would end early. */
function encoded (text) {
  return encodeURIComponent(text).replace(/%(?:2F|3A|40)/g, decodeURIComponent)
}

function xyzSource (doc, place, time) {
  return 'type=xyz&url=' + encoded(templateOf(doc, place, time)) +
    '&zmax=' + zoomOf(doc.maxzoom, 18) + '&zmin=' + zoomOf(doc.minzoom, 0) +
    (isVector(doc) ? '' : '&tilePixelRatio=' + ratioOf(doc))
}

/**
 * QGIS reads the capabilities for each layer. Those of all editions are one document, of which it has a copy after the
 * first; a time alone is in the address, which holds for a layer without any edition too.
 * @param {Place} place @param {Wmts} wmts @param {string} [time] @param {boolean} [isEdition]
 */
function wmtsSource (doc, place, wmts, time, isEdition) {
  var address = place.base + 'wmts' + (time && !isEdition ? '@' + time : '') + '/1.0.0/WMTSCapabilities.xml'
  return 'contextualWMSLegend=0&crs=' + encoded(wmts.crs) + '&dpiMode=7&format=' + encoded(wmts.type) +
    '&layers=' + doc.layer + '&styles=default' + (isEdition ? '&tileDimensions=' + encoded('Time=' + time) : '') +
    '&tileMatrixSet=' + encoded(wmts.set) + '&url=' + encoded(address + (place.query || ''))
}

/** @param {string} time @param {number} seconds */
function addSeconds (time, seconds) {
  return new Date(Date.parse(time) + 1000 * seconds).toISOString().replace(/\.\d+/, '')
}

/**
 * The period of an edition. QGIS counts both ends to a period and to a frame of the temporal controller, and saves
 * whole seconds. So it begins a second later and ends a second earlier: the frame from one edition to the next shows
 * that one alone.
 */
function periodOf (time, next) {
  var start = addSeconds(time, 1)
  var end = next ? addSeconds(next, -1) : ''
  return '<temporal enabled="1" mode="0" fetchMode="0"><fixedRange>' + element('start', start) +
    '<end>' + (end && end < start ? start : end) + '</end></fixedRange></temporal>'
}

/** @typedef {{id: string, name: string, source: string, period?: string, isTicked: boolean}} One layer of QGIS */

/** @param {One} one @param {string} crs */
function mapLayer (doc, one, crs) {
  return '<maplayer type="' + (isVector(doc) ? 'vector-tile' : 'raster') + '">' + element('id', one.id) +
    element('datasource', one.source) + element('layername', one.name) +
    '<srs><spatialrefsys>' + element('authid', crs) + '</spatialrefsys></srs>' +
    '<resourceMetadata><type>dataset</type>' + element('title', one.name) + element('abstract', doc.description) +
    element('rights', plain(doc.attribution)) + '</resourceMetadata>' +
    element('provider', isVector(doc) ? 'vectortile' : 'wms') + (one.period || '') + '</maplayer>\n'
}

/** @param {boolean} isTicked */
function ticked (isTicked) { return 'checked="Qt::' + (isTicked ? 'Checked' : 'Unchecked') + '"' }

/** @param {One} one */
function treeLayer (doc, one) {
  return '<layer-tree-layer id="' + escaped(one.id) + '" name="' + escaped(one.name) + '" providerKey="' +
    (isVector(doc) ? 'vectortile' : 'wms') + '" ' + ticked(one.isTicked) + ' expanded="0"/>\n'
}

/** @param {boolean} isChoice one of its entries is ticked at a time @param {string} entries */
function group (name, isTicked, isChoice, entries) {
  return '<layer-tree-group name="' + escaped(name) + '" ' + ticked(isTicked) + ' expanded="1"' +
    (isChoice ? ' mutually-exclusive="1" mutually-exclusive-child="0"' : '') + '>\n' + entries + '</layer-tree-group>\n'
}

/**
 * A layer definition of QGIS. With times it is a group of a layer for each edition, the newest on top, which is shown
 * from its time until the next one. QGIS has no time for vector tiles: there one of the group is ticked at a time.
 * @param {Record<string, any>} doc a layer document
 * @param {Place & {time?: string, times?: string[]}} options time: one layer as of then, as written; times: exact, of
 *   the editions
 * @returns {string | undefined} nothing for a layer in another grid: of vector tiles, or where there is no WMTS
 */
export function qgisLayers (doc, options) {
  var wmts = isInReach(doc) || isVector(doc) || !options.wmtsOf ? undefined : options.wmtsOf(doc)
  if (!isInReach(doc) && !wmts) return undefined
  var id = 'tilecouch_' + doc.layer
  var title = titleOf(doc)
  var times = options.time ? [] : (options.times || []).filter(function (time) { return EXACT.test(time) }).sort()
  var isChoice = isVector(doc)
  var crs = wmts ? wmts.crs : 'EPSG:3857'
  var isLong = times.length > MOST_TICKED && !isChoice

  /** @param {string | undefined} time @param {string | undefined} period @param {boolean} isTicked @returns {One} */
  function one (time, period, isTicked) {
    return {
      id: id + (time ? '_' + time : ''),
      name: title + (time ? ', ' + time.replace(/T(00:00:00|23:59:59)Z?$/, '') : ''),
      source: wmts ? wmtsSource(doc, options, wmts, time, Boolean(period)) : xyzSource(doc, options, time),
      period: period,
      isTicked: isTicked
    }
  }

  function tree (layers) {
    return layers.map(function (layer) { return treeLayer(doc, layer) }).join('')
  }

  var editions = times.map(function (time, index) {
    var period = isChoice ? undefined : periodOf(time, times[index + 1])
    return one(time, period, !isChoice || index === times.length - 1)
  }).reverse()
  var newest = editions.length && !isLong ? [] : [one(options.time, undefined, true)]
  var entries = editions.length && !isLong ? group(title, true, isChoice, tree(editions)) : tree(newest)
  if (isLong) {
    entries = group(title, true, true, entries + group(title + ' (' + times.length + ')', false, false, tree(editions)))
  }
  return '<!DOCTYPE qgis-layer-definition>\n<qlr>\n' + group('', true, false, entries) + '<maplayers>\n' +
    newest.concat(editions).map(function (layer) { return mapLayer(doc, layer, crs) }).join('') +
    '</maplayers>\n</qlr>\n'
}

/** What a list of connections holds: a name of the address -> the elements of QGIS. */
var CONNECTIONS = {
  xyz: { root: 'qgsXYZTilesConnections', entry: 'xyztiles' },
  'vector-tiles': { root: 'qgsVectorTileConnections', entry: 'vectortile' },
  wmts: { root: 'qgsWMSConnections', entry: 'wms' }
}

/**
 * A file of connections, as the browser of QGIS loads and saves them. QGIS has a file for each kind of connection.
 * @param {'xyz' | 'vector-tiles' | 'wmts'} kind
 * @param {Record<string, any>[]} docs layer documents
 * @param {Place} place
 */
export function qgisConnections (kind, docs, place) {
  var known = CONNECTIONS[kind]
  var query = place.query || ''
  var entries = kind === 'wmts'
    ? [{ name: 'tilecouch', url: place.base + 'wmts/1.0.0/WMTSCapabilities.xml' + query }]
    : docs.filter(function (doc) { return isInReach(doc) && isVector(doc) === (kind !== 'xyz') }).map(function (doc) {
      // a slash in a name would be a folder of the settings of QGIS
      var name = titleOf(doc).replace(/[\\/]/g, ' ')
      /** @type {Record<string, any>} */
      var entry = {
        name: name === doc.layer ? name : name + ' (' + doc.layer + ')',
        url: templateOf(doc, place),
        zmin: zoomOf(doc.minzoom, 0),
        zmax: zoomOf(doc.maxzoom, 18)
      }
      if (kind === 'xyz') entry.tilePixelRatio = ratioOf(doc)
      else entry.styleUrl = place.base + doc.layer + '/style.json' + query
      return entry
    })
  return '<!DOCTYPE connections>\n<' + known.root + ' version="1.0">\n' + entries.map(function (entry) {
    var text = '<' + known.entry
    for (var name in entry) text += ' ' + name + '="' + escaped(entry[name]) + '"'
    return text + '/>\n'
  }).join('') + '</' + known.root + '>\n'
}
