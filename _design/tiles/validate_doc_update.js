// Nothing invalid gets in, whoever writes: the loader, another program, or a replica. Kept short: it is called once a document.
(function (newDoc, oldDoc, userCtx, secObj) {
  var RESERVED = ['layer', 'edition', 'tile', 'manifest', 'block', 'removed', 'db'] // as in core/ids.js

  function forbid (reason) {
    throw ({ forbidden: reason })
  }

  function isOneOf (group) {
    var names = group && group.names
    var roles = group && group.roles
    if (Array.isArray(names) && userCtx.name !== null && names.indexOf(userCtx.name) >= 0) return true
    if (Array.isArray(roles)) for (var i = 0; i < roles.length; i++) if (userCtx.roles.indexOf(roles[i]) >= 0) return true
    return false
  }

  function isTime (text) {
    if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
    var date = new Date(text)
    return !isNaN(date.getTime()) && date.toISOString().slice(0, 19) + 'Z' === text
  }

  // what is there already may be changed and deleted, so that a layer that is called so can be renamed
  function isLayer (text) {
    if (typeof text !== 'string' || !/^[a-z0-9][a-z0-9_-]{0,62}$/.test(text)) return false
    return RESERVED.indexOf(text) < 0 || !!(oldDoc && !oldDoc._deleted)
  }

  function isInteger (value) {
    return typeof value === 'number' && value >= 0 && value % 1 === 0
  }

  // what CouchDB itself adds to a document, such as its revisions, is not counted
  function checkSize (most) {
    var size = 0
    for (var name in newDoc) if (name.charAt(0) !== '_') size += name.length + (JSON.stringify(newDoc[name]) || '').length
    if (size > most) forbid('the fields of a ' + (newDoc.type === 'tile' ? 'tile' : 'document') + ' hold at most ' + most + ' characters')
  }

  // of tombstones as well: what hangs on them can still be read by revision
  function checkAttachments (isTile) {
    var types = { 'image/png': 1, 'image/jpeg': 1, 'image/webp': 1, 'image/avif': 1, 'application/vnd.mapbox-vector-tile': 1 }
    for (var name in newDoc._attachments || {}) {
      if (name === 'digests' && newDoc.type === 'block' && newDoc._attachments.digests.content_type === 'application/octet-stream') continue
      if (!isTile) forbid('only tiles have an attachment')
      if (name !== 'tile') forbid('the one attachment is called tile')
      var type = newDoc._attachments.tile.content_type
      if (types[type] !== 1) forbid('a tile is PNG, JPEG, WebP, AVIF or a vector tile, not ' + type)
    }
  }

  // a replicator brings leaves: a version that was removed and loaded again follows the one that is here by its grandparent, and not by its parent
  function wasEndedBetween () {
    var revisions = newDoc._revisions
    return !!revisions && revisions.start - parseInt(oldDoc._rev, 10) > 1
  }

  function checkTile () {
    if (!isLayer(newDoc.layer)) forbid('bad layer name, or a reserved one: ' + newDoc.layer)
    if (!isInteger(newDoc.z) || newDoc.z > 30) forbid('z must be a whole number from 0 to 30')
    var across = Math.pow(2, newDoc.z)
    if (!isInteger(newDoc.x) || !isInteger(newDoc.y) || newDoc.x >= across || newDoc.y >= across) forbid('x and y must be whole numbers from 0 to 2^z - 1')
    if (!isTime(newDoc.time)) forbid('time must be like 2024-03-01T00:00:00Z')
    if (newDoc.stored !== undefined && !isTime(newDoc.stored)) forbid('stored must be like 2024-03-01T00:00:00Z')
    if (newDoc.expires !== undefined && !isTime(newDoc.expires)) forbid('expires must be like 2024-03-01T00:00:00Z')
    if (typeof newDoc.current !== 'boolean') forbid('current must be true (the newest version) or false (a past one)')
    var id = [newDoc.layer, newDoc.z, newDoc.x, newDoc.y].join(':') + (newDoc.current ? '' : '@' + newDoc.time)
    if (newDoc._id !== id) forbid('the id must be ' + id)
    if (!newDoc.current && oldDoc && !oldDoc._deleted && !wasEndedBetween()) forbid('a past version never changes')
    if ((newDoc.gone === true) === !!(newDoc._attachments && newDoc._attachments.tile)) forbid('a version has the attachment tile, or gone: true and none')
  }

  // what a load said, and what a removal took out: facts, which never change
  function checkFact () {
    if (!isLayer(newDoc.layer)) forbid('bad layer name')
    var id = newDoc.type + ':' + newDoc.layer
    if (newDoc.type === 'block') {
      if (!isInteger(newDoc.z) || newDoc.z > 30 || !isInteger(newDoc.x) || !isInteger(newDoc.y)) forbid('z, x and y of a block must be whole numbers')
      if (!/^[\w-]{12}$/.test(newDoc._id.slice(-12)) || newDoc._id !== [id, newDoc.z, newDoc.x, newDoc.y, newDoc._id.slice(-12)].join(':')) forbid('the id of a block must be block:LAYER:Z:X:Y:NAME')
      if (!newDoc._attachments || !newDoc._attachments.digests) forbid('a block has the attachment digests')
    } else {
      if (typeof newDoc.run !== 'string' || !/^\d{8}T\d{9}-[0-9a-z]{4}$/.test(newDoc.run)) forbid('run must be like 20240301T101500123-4f9k')
      if (newDoc.type === 'manifest') {
        if (!isTime(newDoc.time)) forbid('time must be like 2024-03-01T00:00:00Z')
        id += '@' + newDoc.time
      }
      id += ':' + newDoc.run + (newDoc.part === undefined ? '' : ':' + newDoc.part)
      if (newDoc._id !== id) forbid('the id must be ' + id)
    }
    if (oldDoc && !oldDoc._deleted && newDoc.type !== 'removed') forbid('a ' + newDoc.type + ' never changes')
  }

  function checkLayer () {
    if (!isLayer(newDoc.layer) || newDoc._id !== 'layer:' + newDoc.layer) forbid('the id of a layer must be layer:NAME, and NAME none of ' + RESERVED.join(', '))
    var wanted = {
      name: 'string', description: 'string', attribution: 'string', legend: 'string', version: 'string', format: 'string', offline: 'boolean',
      minzoom: 'number', maxzoom: 'number', fillzoom: 'number', tileSize: 'number', ttl: 'number',
      bounds: 'object', center: 'object', vector_layers: 'object', upstream: 'object', retention: 'object', pruned: 'string'
    }
    for (var field in wanted) {
      var value = newDoc[field]
      if (value === undefined) continue
      if (typeof value !== wanted[field] || value === null) forbid(field + ' of a layer must be: ' + wanted[field])
      if (wanted[field] === 'number' && !isInteger(value)) forbid(field + ' of a layer must be a whole number')
    }
  }

  // a store that names its own writers has no others
  var ours = (secObj && secObj.tilecouch) || {}
  var isNamed = ours.writers !== undefined
  if (!isOneOf(isNamed ? ours.writers : { roles: ['tilecouch-writer'] }) && !isOneOf({ roles: ['_admin'] }) && !isOneOf(secObj && secObj.admins)) {
    var reason = 'writing needs an admin or ' + (isNamed ? 'a writer of this store' : 'the role tilecouch-writer')
    if (userCtx.name) forbid(reason)
    throw ({ unauthorized: reason })
  }
  checkSize(newDoc.type === 'tile' ? 16384 : 1048576)
  if (newDoc._deleted) return checkAttachments(true)
  if (newDoc.type === 'tile') checkTile()
  else if (newDoc.type === 'layer') checkLayer()
  else if (newDoc.type === 'manifest' || newDoc.type === 'block' || newDoc.type === 'removed') checkFact()
  else if (newDoc.type === 'edition') {
    if (!isLayer(newDoc.layer) || !isTime(newDoc.time) || newDoc._id !== 'edition:' + newDoc.layer + '@' + newDoc.time) forbid('the id of an edition must be edition:LAYER@TIME, and LAYER none of ' + RESERVED.join(', '))
  } else if (newDoc._id !== 'tilecouch' || newDoc.type !== 'store') forbid('not a document of a tile store: type must be tile, layer, edition, manifest, block or removed')
  else if (newDoc.schema !== undefined && !isInteger(newDoc.schema)) forbid('schema must be a whole number')
  checkAttachments(newDoc.type === 'tile')
})
