// TileJSON 3.0 of a layer document. The tile address is a whole one where the rewrite knows where clients see it, since
// most clients do not work out relative ones; else relative to this document's, so that it holds behind any proxy path.
// The same words as tileJson() in core/layers.js, which a test compares.
(function (doc, req) {
  // private: its links are from headers that a client wrote
  var headers = { 'Content-Type': 'application/json', 'Cache-Control': 'private, max-age=0, must-revalidate' }
  if (!doc || doc.type !== 'layer') {
    headers['Cache-Control'] = 'no-store'
    var fault = { error: 'LAYER_NOT_FOUND', reason: 'no such layer' }
    return { code: 404, headers: headers, body: JSON.stringify(fault) + '\n' }
  }
  var reference = req.query.reference || doc.layer
  var time = reference.split('@')[1]
  var format = typeof doc.format === 'string' && /^[a-z]{2,5}$/.test(doc.format) ? doc.format : 'png'
  var json = { tilejson: '3.0.0', name: doc.layer }
  var inner = {
    _id: 1, _rev: 1, _revisions: 1, type: 1, layer: 1, upstream: 1, retention: 1, same: 1, dropped: 1, pruned: 1,
    renaming: 1, retina: 1, ttl: 1, tilejson: 1, format: 1
  }
  for (var field in doc) if (!inner[field]) json[field] = doc[field]
  if (time) {
    json['tilecouch:name'] = json.name
    json.name += ', ' + time.replace(/T(00:00:00|23:59:59)Z?$/, '')
  }
  json.scheme = 'xyz'
  var base = (req.headers && req.headers['X-Tilecouch-Base']) || ''
  if (doc.grid === undefined || doc.grid === 'WebMercatorQuad') {
    var origin = /^https?:\/\/[\w.~%@:$()+/[\]-]+\/$/.test(base) ? base : ''
    json.tiles = [origin + doc.layer + (time ? '@' + time : '') + '/{z}/{x}/{y}.' + format]
  }
  json.format = format
  if (time) json.time = time
  return { headers: headers, body: JSON.stringify(json) + '\n' }
})
