// The versions of one tile, oldest first, from a range of by_tile.
(function () {
  var row
  var versions = []
  var tile
  while ((row = getRow())) {
    tile = row.key
    var current = row.id.indexOf('@') < 0
    // a load that was killed between its two steps leaves the head's content in the past as well
    if (versions.length && versions[versions.length - 1].time === row.key[4]) {
      if (!current) continue
      versions.pop()
    }
    versions.push({
      time: row.key[4],
      id: row.id,
      rev: row.value.rev,
      bytes: row.value.bytes,
      expires: row.value.expires,
      gone: row.value.gone,
      current: current
    })
  }
  start({ code: tile ? 200 : 404, headers: {
    'Content-Type': 'application/json',
    'Cache-Control': tile ? 'max-age=0, must-revalidate' : 'no-store'
  } })
  send(JSON.stringify(tile
    ? { layer: tile[0], z: tile[1], x: tile[2], y: tile[3], versions: versions }
    : { error: 'TILE_NOT_FOUND', reason: 'no version of this tile' }) + '\n')
})
