// Redirects to the version as of a time: the one row of by_tile, newest first, limit 1.
(function (head, req) {
  var row = getRow()
  // whole where the rewrite knows it: QGIS does not work out relative ones. Else only ever upwards to this database:
  // a link to anywhere else would be a trap
  var db = /^(\.\.\/)+(db\/)?$/.test(req.query.db || '') ? req.query.db : '../../../../../'
  var base = (req.headers && req.headers['X-Tilecouch-Base']) || ''
  if (/^https?:\/\/[\w.~%@:$()+/[\]-]+\/$/.test(base)) db = base + 'db/'
  if (!row || row.value.gone) {
    start({ code: 404, headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } })
    var reason = row ? 'the tile was gone from ' + row.key[4] + ' on' : 'no version of this tile at or before that time'
    send(JSON.stringify({ error: 'TILE_NOT_FOUND', reason: reason }) + '\n')
    return
  }
  // private: a client wrote the headers that the address is from. A head may change before the client comes back for
  // it: its revision is named. The embedded store answers as=tile as it answers the address of a tile
  var location = db + row.id + '/tile' + (row.id.indexOf('@') < 0 ? '?as=tile&rev=' + row.value.rev : '')
  start({ code: 302, headers: {
    Location: location,
    'Content-Type': 'application/json',
    'Cache-Control': 'private, max-age=0, must-revalidate',
    'X-Tilecouch-Time': row.key[4]
  } })
  // an empty body would break the framing for keep-alive clients
  send(JSON.stringify({ location: location, time: row.key[4] }) + '\n')
})
