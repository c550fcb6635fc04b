// The times at which anything changed, oldest first, with tiles and bytes: from by_time for a layer, or from by_tile
// for a view of the map. A list reads one range, so a view reads whole columns and leaves out what lies beside it;
// a client that can POST asks by_tile/queries instead.
(function (head, req) {
  var columns = (req.query.columns || '').split('-').map(Number)
  var rows = (req.query.rows || '').split('-').map(Number)
  var z = req.query.z === undefined || req.query.z === '' ? undefined : +req.query.z
  var times = {}
  var row

  function add (time, tiles, bytes) {
    var entry = times[time] || (times[time] = { time: time, tiles: 0, bytes: 0 })
    entry.tiles += tiles
    entry.bytes += bytes
  }

  function inColumns (x) {
    return columns[0] <= columns[1] ? x >= columns[0] && x <= columns[1] : x >= columns[0] || x <= columns[1]
  }

  while ((row = getRow())) {
    if (row.id === undefined || row.id === null) { // reduced: by_time, [layer, time, z]
      if (row.key.length < 3 || row.key[2] === z) add(row.key[1], row.value.count, row.value.sum)
    } else if (inColumns(row.key[2]) && row.key[3] >= rows[0] && row.key[3] <= rows[1]) {
      add(row.key[4], 1, row.value.bytes)
    }
  }
  var list = []
  for (var time in times) list.push(times[time])
  list.sort(function (a, b) { return a.time < b.time ? -1 : 1 })
  start({ headers: { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=0, must-revalidate' } })
  send(JSON.stringify({ layer: req.query.layer, z: z, times: list }) + '\n')
})
