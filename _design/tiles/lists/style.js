// The style of a layer as of a time: the row of the newest stored one, else of the layer, whose default style it then
// is.
(function (head, req) {
  // !code core/style.js
  var row = getRow()
  var doc = row && row.doc
  var time = (req.query.reference || '').split('@')[1]
  var base = (req.headers && req.headers['X-Tilecouch-Base']) || ''
  if (!/^https?:\/\/[\w.~%@:$()+/[\]-]+\/$/.test(base)) base = ''
  var style = doc && styleAt(doc, { base: base, time: time, theme: req.query.theme })
  if (!style) {
    start({ code: 404, headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } })
    var fault = { error: 'LAYER_NOT_FOUND', reason: 'no such layer' }
    if (doc) {
      fault = { error: 'STYLE_UNKNOWN', reason: 'there is no stored style, and no default one: ' +
        'the layer does not say in vector_layers what its vector tiles hold' }
    }
    send(JSON.stringify(fault) + '\n')
    return
  }
  // private: its links are from headers that a client wrote
  start({ headers: { 'Content-Type': 'application/json', 'Cache-Control': 'private, max-age=0, must-revalidate' } })
  send(JSON.stringify(style) + '\n')
})
