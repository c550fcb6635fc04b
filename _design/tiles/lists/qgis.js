// A layer definition for QGIS: the row of the layer, then one for each edition.
(function (head, req) {
  // !code core/qgis.js
  var row
  var doc
  var times = []
  while ((row = getRow())) {
    if (row.key[2] === '') doc = row.doc
    else times.push(row.key[2])
  }
  var reference = req.query.reference || ''
  var base = (req.headers && req.headers['X-Tilecouch-Base']) || ''
  var isKnown = /^https?:\/\/[\w.~%@:$()+/[\]-]+\/$/.test(base)
  var text = doc && isKnown && qgisLayers(doc, { base: base, time: reference.split('@')[1], times: times })
  if (!text) {
    var fault = [501, 'QGIS_GRID', 'QGIS shows such addresses in Web Mercator only, and this layer has another grid: ' +
      'use the layer file of a gateway (tilecouch serve), which has WMTS']
    if (!isKnown) {
      fault = [501, 'ADDRESS_UNKNOWN', 'QGIS needs whole addresses, and a proxy hides that of this database: ' +
        'let the proxy send X-Forwarded-Prefix, or use a gateway']
    }
    if (!doc) fault = [404, 'LAYER_NOT_FOUND', 'no such layer']
    start({ code: fault[0], headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } })
    send(JSON.stringify({ error: fault[1], reason: fault[2] }) + '\n')
    return
  }
  start({ headers: {
    'Content-Type': 'application/xml; charset=utf-8',
    'Content-Disposition': 'attachment; filename="' + reference.replace(/[^a-z0-9_@TZ-]/g, '') + '.qlr"',
    'Cache-Control': 'private, max-age=0, must-revalidate' // private: its links are from headers that a client wrote
  } })
  send(text)
})
