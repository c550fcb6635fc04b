// Files for QGIS: a layer definition (.qlr) with a layer for each edition, which the temporal controller shows in turn,
// and lists of connections. A design function includes this file, so that CouchDB and the gateway return the same
// files: it is ES5 except for `export`, and imports nothing. All text from documents is escaped.
// Images in other grids than Web Mercator become layers of the WMTS, which only the gateway has.

/**
 * @typedef {object} Place where QGIS finds the tiles
 * @property {string} base absolute, ends in a slash
 * @property {string} [query] such as `?token=…`
 * @property {(doc: Record<string, any>) => Wmts} [wmtsOf] if there is a WMTS: describes a layer in it (core/wmts.js)
 *
 * @typedef {{crs: string, set: string, type: string}} Wmts
 */

// QGIS draws all checked layers while its temporal controller is off: 50 layers took 3 seconds, 300 took 19
var MAX_CHECKED = 50
var EXACT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** Escapes an attribute or the text of an element. XML 1.0 forbids some characters even when they are escaped. */
function escaped (text) {
  return String(text)
    .replace(/[\ud800-\udbff][\udc00-\udfff]|[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, function (characters) {
      return characters.length === 2 ? characters : '\ufffd'
    })
    .replace(/[&<>"'\t\n\r]/g, function (letter) { return '&#' + letter.charCodeAt(0) + ';' })
}

/** @param {string} name of an element @param {any} text the element is left out if this is no text */
function element (name, text) {
  return typeof text === 'string' && text !== '' ? '<' + name + '>' + escaped(text) + '</' + name + '>' : ''
}

function titleOf (doc) {
  return typeof doc.name === 'string' && doc.name ? doc.name : String(doc.layer)
}

/** An attribution without its links. */
function plainText (text) {
  return typeof text === 'string'
    ? text.replace(/<[^>]*>/g, '').replace(/&copy;/g, '©').replace(/&amp;/g, '&')
    : undefined
}

function zoomOf (value, otherwise) {
  return typeof value === 'number' && value >= 0 && value <= 30 ? Math.floor(value) : otherwise
}

/** QGIS draws tiles of 512 pixels as tiles of 256 with twice the resolution. */
function pixelRatioOf (doc) {
  return doc.tileSize > 0 ? doc.tileSize / 256 : 1
}

// QGIS reads addresses with {z}, {x} and {y} in Web Mercator only
function isXyz (doc) { return doc.grid === undefined || doc.grid === 'WebMercatorQuad' }

function isVector (doc) { return doc.format === 'pbf' }

/** @param {Record<string, any>} doc @param {Place} place @param {string} [time] */
function templateOf (doc, place, time) {
  var format = typeof doc.format === 'string' && /^[a-z]{2,5}$/.test(doc.format) ? doc.format : 'png'
  return place.base + doc.layer + (time ? '@' + time : '') + '/{z}/{x}/{y}.' + format + (place.query || '')
}

/** Encodes an address as QGIS does: an & or a % would end it early. */
function encoded (text) {
  return encodeURIComponent(text).replace(/%(?:2F|3A|40)/g, decodeURIComponent)
}

function xyzSource (doc, place, time) {
  return 'type=xyz&url=' + encoded(templateOf(doc, place, time)) +
    '&zmax=' + zoomOf(doc.maxzoom, 18) + '&zmin=' + zoomOf(doc.minzoom, 0) +
    (isVector(doc) ? '' : '&tilePixelRatio=' + pixelRatioOf(doc))
}

/**
 * QGIS reads the capabilities for each of its layers. All editions are in one document, which QGIS keeps after it has
 * read it once. Other times are in the address, which also works for a layer without editions.
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
 * The period of an edition. In QGIS, periods and frames of the temporal controller include both ends, and times are
 * whole seconds. So a period begins a second later and ends a second earlier: the frame from one edition to the next
 * shows only the first of them.
 */
function periodOf (time, next) {
  var start = addSeconds(time, 1)
  var end = next ? addSeconds(next, -1) : ''
  return '<temporal enabled="1" mode="0" fetchMode="0"><fixedRange>' + element('start', start) +
    '<end>' + (end && end < start ? start : end) + '</end></fixedRange></temporal>'
}

/** @typedef {{id: string, name: string, source: string, period?: string, isChecked: boolean}} QgisLayer */

/** @param {QgisLayer} layer @param {string} crs */
function mapLayer (doc, layer, crs) {
  return '<maplayer type="' + (isVector(doc) ? 'vector-tile' : 'raster') + '">' + element('id', layer.id) +
    element('datasource', layer.source) + element('layername', layer.name) +
    '<srs><spatialrefsys>' + element('authid', crs) + '</spatialrefsys></srs>' +
    '<resourceMetadata><type>dataset</type>' + element('title', layer.name) + element('abstract', doc.description) +
    element('rights', plainText(doc.attribution)) + '</resourceMetadata>' +
    element('provider', isVector(doc) ? 'vectortile' : 'wms') + (layer.period || '') + '</maplayer>\n'
}

/** @param {boolean} isChecked */
function checkedAttribute (isChecked) { return 'checked="Qt::' + (isChecked ? 'Checked' : 'Unchecked') + '"' }

/** @param {QgisLayer} layer */
function treeLayer (doc, layer) {
  return '<layer-tree-layer id="' + escaped(layer.id) + '" name="' + escaped(layer.name) + '" providerKey="' +
    (isVector(doc) ? 'vectortile' : 'wms') + '" ' + checkedAttribute(layer.isChecked) + ' expanded="0"/>\n'
}

/** @param {boolean} isChoice only one of its entries can be checked @param {string} entries */
function group (name, isChecked, isChoice, entries) {
  return '<layer-tree-group name="' + escaped(name) + '" ' + checkedAttribute(isChecked) + ' expanded="1"' +
    (isChoice ? ' mutually-exclusive="1" mutually-exclusive-child="0"' : '') + '>\n' + entries + '</layer-tree-group>\n'
}

/**
 * A layer definition of QGIS. With times it is a group with a layer for each edition, the newest on top, which is shown
 * from its time until the next edition. QGIS has no times for vector tiles: there, one layer of the group is checked.
 * @param {Record<string, any>} doc a layer document
 * @param {Place & {time?: string, times?: string[]}} options time: for one layer of this time, as in the
 *   address; times: exact times of the editions
 * @returns {string | undefined} undefined for a layer in another grid that has vector tiles, or if there is no WMTS
 */
export function qgisLayers (doc, options) {
  var wmts = isXyz(doc) || isVector(doc) || !options.wmtsOf ? undefined : options.wmtsOf(doc)
  if (!isXyz(doc) && !wmts) return undefined
  var id = 'tilecouch_' + doc.layer
  var title = titleOf(doc)
  var times = options.time ? [] : (options.times || []).filter(function (time) { return EXACT.test(time) }).sort()
  var isChoice = isVector(doc)
  var crs = wmts ? wmts.crs : 'EPSG:3857'
  var isLong = times.length > MAX_CHECKED && !isChoice

  /**
   * @param {string | undefined} time @param {string | undefined} period @param {boolean} isChecked
   * @returns {QgisLayer}
   */
  function qgisLayer (time, period, isChecked) {
    return {
      id: id + (time ? '_' + time : ''),
      name: title + (time ? ', ' + time.replace(/T(00:00:00|23:59:59)Z?$/, '') : ''),
      source: wmts ? wmtsSource(doc, options, wmts, time, Boolean(period)) : xyzSource(doc, options, time),
      period: period,
      isChecked: isChecked
    }
  }

  function tree (layers) {
    return layers.map(function (layer) { return treeLayer(doc, layer) }).join('')
  }

  var editions = times.map(function (time, index) {
    var period = isChoice ? undefined : periodOf(time, times[index + 1])
    return qgisLayer(time, period, !isChoice || index === times.length - 1)
  }).reverse()
  var newest = editions.length && !isLong ? [] : [qgisLayer(options.time, undefined, true)]
  var entries = editions.length && !isLong ? group(title, true, isChoice, tree(editions)) : tree(newest)
  if (isLong) {
    entries = group(title, true, true, entries + group(title + ' (' + times.length + ')', false, false, tree(editions)))
  }
  return '<!DOCTYPE qgis-layer-definition>\n<qlr>\n' + group('', true, false, entries) + '<maplayers>\n' +
    newest.concat(editions).map(function (layer) { return mapLayer(doc, layer, crs) }).join('') +
    '</maplayers>\n</qlr>\n'
}

/** Lists of connections: name in the address -> names of the elements of QGIS. */
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
  var elements = CONNECTIONS[kind]
  var query = place.query || ''
  var entries = kind === 'wmts'
    ? [{ name: 'tilecouch', url: place.base + 'wmts/1.0.0/WMTSCapabilities.xml' + query }]
    : docs.filter(function (doc) { return isXyz(doc) && isVector(doc) === (kind !== 'xyz') }).map(function (doc) {
      // a slash in a name would make a folder in the settings of QGIS
      var name = titleOf(doc).replace(/[\\/]/g, ' ')
      /** @type {Record<string, any>} */
      var entry = {
        name: name === doc.layer ? name : name + ' (' + doc.layer + ')',
        url: templateOf(doc, place),
        zmin: zoomOf(doc.minzoom, 0),
        zmax: zoomOf(doc.maxzoom, 18)
      }
      if (kind === 'xyz') entry.tilePixelRatio = pixelRatioOf(doc)
      else entry.styleUrl = place.base + doc.layer + '/style.json' + query
      return entry
    })
  return '<!DOCTYPE connections>\n<' + elements.root + ' version="1.0">\n' + entries.map(function (entry) {
    var text = '<' + elements.entry
    for (var name in entry) text += ' ' + name + '="' + escaped(entry[name]) + '"'
    return text + '/>\n'
  }).join('') + '</' + elements.root + '>\n'
}
