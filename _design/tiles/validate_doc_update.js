// Nothing invalid gets in, whoever writes: the loader, another program, or a replica. Kept short: it is called once a document.
(function (newDoc, oldDoc, userCtx, secObj) {
  function forbid (reason) {
    throw ({ forbidden: reason })
  }

  function mayWrite () {
    var admins = (secObj && secObj.admins) || {}
    var roles = ['_admin', 'tilecouch-writer'].concat(admins.roles || [])
    for (var i = 0; i < roles.length; i++) if (userCtx.roles.indexOf(roles[i]) >= 0) return true
    return (admins.names || []).indexOf(userCtx.name) >= 0
  }

  function isTime (text) {
    if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
    var date = new Date(text)
    return !isNaN(date.getTime()) && date.toISOString().slice(0, 19) + 'Z' === text
  }

  function isLayer (text) {
    return typeof text === 'string' && /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text) && text !== 'layer' && text !== 'edition'
  }

  function isInteger (value) {
    return typeof value === 'number' && value >= 0 && value % 1 === 0
  }

  function checkTile () {
    if (!isLayer(newDoc.layer)) forbid('bad layer name')
    if (!isInteger(newDoc.z) || newDoc.z > 30) forbid('z must be a whole number from 0 to 30')
    var across = Math.pow(2, newDoc.z)
    if (!isInteger(newDoc.x) || !isInteger(newDoc.y) || newDoc.x >= across || newDoc.y >= across) forbid('x and y must be whole numbers from 0 to 2^z - 1')
    if (!isTime(newDoc.time)) forbid('time must be like 2024-03-01T00:00:00Z')
    if (newDoc.stored !== undefined && !isTime(newDoc.stored)) forbid('stored must be like 2024-03-01T00:00:00Z')
    if (newDoc.expires !== undefined && !isTime(newDoc.expires)) forbid('expires must be like 2024-03-01T00:00:00Z')
    if (typeof newDoc.current !== 'boolean') forbid('current must be true (the newest version) or false (a past one)')
    var id = [newDoc.layer, newDoc.z, newDoc.x, newDoc.y].join(':') + (newDoc.current ? '' : '@' + newDoc.time)
    if (newDoc._id !== id) forbid('the id must be ' + id)
    if (!newDoc.current && oldDoc && !oldDoc._deleted) forbid('a past version never changes')
    var types = { 'image/png': 1, 'image/jpeg': 1, 'image/webp': 1, 'image/avif': 1, 'application/vnd.mapbox-vector-tile': 1 }
    var images = newDoc._attachments || {}
    for (var name in images) if (name !== 'tile') forbid('the one attachment is called tile')
    if (newDoc.gone === true ? images.tile : !images.tile) forbid('a version has the attachment tile, or gone: true and none')
    if (images.tile && types[images.tile.content_type] !== 1) forbid('a tile is PNG, JPEG, WebP, AVIF or a vector tile, not ' + images.tile.content_type)
  }

  if (!mayWrite()) {
    if (userCtx.name) forbid('writing needs an admin or the role tilecouch-writer')
    throw ({ unauthorized: 'writing needs an admin or the role tilecouch-writer' })
  }
  if (newDoc._deleted) return
  if (newDoc.type === 'tile') checkTile()
  else if (newDoc.type === 'layer') {
    if (!isLayer(newDoc.layer) || newDoc._id !== 'layer:' + newDoc.layer) forbid('the id of a layer must be layer:NAME')
  } else if (newDoc.type === 'edition') {
    if (!isLayer(newDoc.layer) || !isTime(newDoc.time) || newDoc._id !== 'edition:' + newDoc.layer + '@' + newDoc.time) forbid('the id of an edition must be edition:LAYER@TIME')
  } else if (newDoc._id !== 'tilecouch' || newDoc.type !== 'store') forbid('not a document of a tile store: type must be tile, layer or edition')
})
