// Tile URLs: /osm/10/300/412.png and its relatives (see docs/reference.md). The function sees the request only, so it
// checks what can be checked from the URL, and sends the rest to an attachment, a list or a show.
(function (req) {
  var path = req.path.slice(4) // database, _design, tiles, _rewrite
  var depth = path.length
  var query = req.query || {}
  var LAYER = /^([a-z0-9][a-z0-9_-]{0,62})(?:@(.+))?$/
  // !code core/addresses.js

  function fail (code, error, reason) {
    return {
      code: code,
      headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: JSON.stringify({ error: error, reason: reason }) + '\n'
    }
  }

  function reference (text) {
    var match = LAYER.exec(text)
    if (!match || match[1] === 'layer' || match[1] === 'edition') {
      return { error: fail(400, 'BAD_LAYER', 'bad layer name "' + text + '"') }
    }
    if (match[2] === undefined) return { layer: match[1] }
    if (!isTime(match[2])) {
      var forms = '2024, 2024-03, 2024-03-01 or 2024-03-01T12:00:00Z'
      return { error: fail(400, 'BAD_TIME', 'bad time "' + match[2] + '": use ' + forms) }
    }
    return { layer: match[1], time: match[2].replace(/Z$/, '') }
  }

  function number (text) {
    return NUMBER.test(text) ? +text : -1
  }

  // Where the client sees these addresses, as far as the request tells: Host decides. Nothing where a proxy names
  // itself but not the path that it shows, since any path can then lead here.
  function base () {
    var headers = {}
    for (var name in req.headers) {
      headers[name.toLowerCase()] = String(req.headers[name]).split(',')[0].replace(/^\s+|\s+$/g, '')
    }
    var isProxied = false
    for (name in headers) if (/^(x-forwarded-.*|x-real-ip|forwarded|via)$/.test(name)) isProxied = true
    var seen = headers['x-forwarded-uri']
    var prefix = headers['x-forwarded-prefix']
    if (isProxied && seen === undefined && prefix === undefined) return ''
    var address = seen === undefined ? (prefix || '').replace(/\/$/, '') + req.raw_path : seen
    var parts = address.split(/[?#]/)[0].split('/')
    for (var left = depth; left > 0 && parts.length > 0;) if (parts.pop() !== '') left--
    var folder = parts.join('/').replace(/\/+$/, '') + '/'
    var host = headers['x-forwarded-host'] || headers.host
    if (!host || !/^([a-z0-9][a-z0-9.-]{0,252}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i.test(host)) return ''
    if (!/^(\/[\w.~%@:$()+-]+)*\/$/.test(folder) || /\/\.\.?\//.test(folder)) return ''
    var isSecure = /^(https|on)$/i.test(headers['x-forwarded-proto'] || headers['x-forwarded-ssl'])
    return (isSecure ? 'https://' : 'http://') + host + folder
  }

  // the deepest folder of the URL decides how far up the database is, seen from there
  function tile (ref, parts, tms) {
    var name = /^(\d+)\.([a-z0-9]{2,5})$/.exec(parts[2])
    var z = number(parts[0])
    var x = number(parts[1])
    var y = name ? number(name[1]) : -1
    var across = Math.pow(2, z)
    if (z < 0 || z > 30 || x < 0 || y < 0 || x >= across || y >= across) {
      return fail(400, 'BAD_TILE', 'no such tile ' + parts.join('/') + ': z is 0 to 30, x and y are 0 to 2^z - 1')
    }
    if (tms) y = across - 1 - y
    var key = [ref.layer, z, x, y]
    if (name[2] === 'json') {
      return {
        path: '_list/versions/versions/by_tile',
        query: { reduce: 'false', startkey: JSON.stringify(key), endkey: JSON.stringify(key.concat([{}])) }
      }
    }
    if (ref.time === undefined) return { path: '../../' + key.join(':') + '/tile', query: {} }
    return {
      path: '_list/at/versions/by_tile',
      query: {
        reduce: 'false',
        descending: 'true',
        limit: '1',
        startkey: JSON.stringify(key.concat([ref.time + '\ufff0'])),
        endkey: JSON.stringify(key),
        db: tms ? '../../../../../db/' : '../../../db/'
      },
      headers: { 'X-Tilecouch-Base': base() }
    }
  }

  function times (ref) {
    var bbox = (query.bbox || '').split(',').map(function (part) { return /^\s*$/.test(part) ? NaN : +part })
    var z = query.z === undefined ? undefined : number(String(query.z))
    if (z === -1 || z > 30) return fail(400, 'BAD_ZOOM', 'bad zoom "' + query.z + '"')
    if (query.bbox === undefined) {
      return {
        path: '_list/times/versions/by_time',
        query: {
          group_level: z === undefined ? '2' : '3',
          startkey: JSON.stringify([ref.layer]),
          endkey: JSON.stringify([ref.layer, {}]),
          layer: ref.layer,
          z: String(z === undefined ? '' : z)
        }
      }
    }
    if (z === undefined) return fail(400, 'BAD_ZOOM', 'a bbox needs a zoom: times.json?bbox=w,s,e,n&z=10')
    var isBox = bbox.length === 4 && bbox[1] >= -90 && bbox[1] <= bbox[3] && bbox[3] <= 90 &&
      Math.abs(bbox[0]) <= 180 && Math.abs(bbox[2]) <= 180
    if (!isBox) {
      return fail(400, 'BAD_BBOX', 'bad bounding box "' + query.bbox + '": use west,south,east,north')
    }
    var across = Math.pow(2, z)
    var edge = 1e-12 * across // as in core/grid.js
    function row (lat) {
      var sin = Math.sin(Math.max(-85.0511287798066, Math.min(85.0511287798066, lat)) * Math.PI / 180)
      return (0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI)) * across
    }
    function first (value) { return Math.max(0, Math.min(across - 1, Math.floor(value + edge))) }
    function last (value, from) { return Math.max(from, Math.min(across - 1, Math.ceil(value - edge) - 1)) }
    function column (lon) { return (lon + 180) / 360 * across }
    // a box that ends at the antimeridian does not cross it
    if (bbox[0] > bbox[2] && bbox[2] === -180) bbox[2] = 180
    if (bbox[0] > bbox[2] && bbox[0] === 180) bbox[0] = -180
    var y0 = first(row(bbox[3]))
    var y1 = last(row(bbox[1]), y0)
    var x0 = first(column(bbox[0]))
    var x1 = last(column(bbox[2]), bbox[0] <= bbox[2] ? x0 : 0)
    var wraps = bbox[0] > bbox[2] // over the antimeridian: read all columns, and let the list leave out the middle
    if (wraps && x1 >= x0) { // nearly all the way round: there is no middle
      x0 = 0
      x1 = across - 1
    }
    return {
      path: '_list/times/versions/by_tile',
      query: {
        reduce: 'false',
        startkey: JSON.stringify(wraps ? [ref.layer, z] : [ref.layer, z, x0, y0]),
        endkey: JSON.stringify(wraps ? [ref.layer, z, {}] : [ref.layer, z, x1, y1, {}]),
        layer: ref.layer,
        z: String(z),
        columns: x0 + '-' + x1,
        rows: y0 + '-' + y1
      }
    }
  }

  // the newest style up to the time; the row of the layer itself comes before all of them
  function style (ref, text) {
    return {
      path: '_list/style/versions/styles',
      query: {
        include_docs: 'true',
        descending: 'true',
        limit: '1',
        startkey: JSON.stringify([ref.layer, ref.time === undefined ? {} : ref.time + '\ufff0']),
        endkey: JSON.stringify([ref.layer]),
        reference: text,
        theme: String(query.theme || '')
      },
      headers: { 'X-Tilecouch-Base': base() }
    }
  }

  // the rows after the styles: the layer and its editions
  function qgis (ref, text) {
    return {
      path: '_list/qgis/versions/styles',
      query: {
        include_docs: 'true',
        startkey: JSON.stringify([ref.layer, {}, '']),
        endkey: JSON.stringify([ref.layer, {}, ref.time === undefined ? {} : '']),
        reference: text
      },
      headers: { 'X-Tilecouch-Base': base() }
    }
  }

  // of a style of exactly this time: its sprite, or glyphs of the first font of a stack
  function styleFile (id, parts) {
    var name = SPRITE.test(parts[0]) && parts.length === 1 ? parts
      : parts[0] === 'glyphs' && GLYPHS.test(parts[2]) ? [parts[0], parts[1].split(',')[0], parts[2]] : null
    if (!name || /\//.test(name[1])) {
      return fail(404, 'NOT_FOUND', 'nothing here: a style has sprite.json, sprite.png and glyphs/FONT/0-255.pbf')
    }
    var file = '../../style:' + id + '/' + name.map(encodeURIComponent).join('/')
    return reference(id).error || { path: file, query: {} }
  }

  function database (rest) {
    if (rest.indexOf('..') >= 0 || rest.indexOf('.') >= 0) {
      return fail(404, 'NOT_FOUND', 'nothing here: no document has such a name')
    }
    var place = rest.join('/')
    var reads = READS.test(place) || place === '_find' // the embedded store has no _find
    var read = req.method === 'GET' || req.method === 'HEAD' || (req.method === 'POST' && reads)
    if (!read) return fail(405, 'READ_ONLY', 'this address only reads; write to the database itself')
    return { path: '../../' + rest.map(encodeURIComponent).join('/') }
  }

  if (path[0] === 'db') return database(path.slice(1))
  if (req.method !== 'GET' && req.method !== 'HEAD') return fail(405, 'READ_ONLY', 'tiles are read with GET')
  if (path.length === 0) {
    // without the slash every relative link of the page would lead astray
    if (!/\/(\?.*)?$/.test(req.raw_path)) {
      return { code: 301, headers: { Location: '_rewrite/' }, body: 'moved to _rewrite/\n' }
    }
    return { path: 'index.html', query: {} }
  }
  var tms = path[0] === 'tms' && path[1] === '1.0.0' && path.length === 6
  if (tms) path = path.slice(2)
  var single = !WORDS.test(path[0]) && /^([^/]+)\.(json|qlr)$/.exec(path[0]) // words: of the viewer
  if (path.length === 1 && !single) { // a file of the viewer; what begins with _ or . is the database's
    if (path[0] === 'admin') return { path: 'admin.html', query: {} } // the control room
    if (!/^[A-Za-z0-9]/.test(path[0])) return fail(404, 'NOT_FOUND', 'nothing here')
    return { path: encodeURIComponent(path[0]), query: {} }
  }
  if (path[0] === 'styles' && (path.length === 3 || path.length === 5) && STYLE.test(path[1])) {
    return styleFile(path[1], path.slice(2))
  }
  var ref = reference(path.length === 1 ? single[1] : path[0])
  if (ref.error) return ref.error
  if (path.length === 1 && single[2] === 'qlr') return qgis(ref, single[1])
  if (path.length === 1) {
    return {
      path: '_show/tilejson/layer:' + ref.layer,
      query: { reference: single[1] },
      headers: { 'X-Tilecouch-Base': base() }
    }
  }
  if (path.length === 2 && path[1] === 'times.json') return times(ref)
  if (path.length === 2 && path[1] === 'style.json') return style(ref, path[0])
  if (path.length === 4) return tile(ref, path.slice(1), tms)
  return fail(404, 'NOT_FOUND', 'nothing here: tiles are at layer/z/x/y.png or layer@time/z/x/y.png')
})
