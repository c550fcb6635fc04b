// Nothing invalid gets in, whoever writes: the loader, another program, or a replica. It is called once for each
// document, so that the path of a tile is short and the rules for other documents are made only where they are needed.
(function (newDoc, oldDoc, userCtx, secObj) {
  // !code core/kinds.js
  // !code core/tile-rules.js
  var LIKE_TIME = ' must be like 2024-03-01T00:00:00Z'
  var LIKE_RUN = 'a run like 20240301T101500123-4f9k'
  var IMAGES = ['image/png', 'image/jpeg', 'image/webp', 'image/avif']
  var VECTOR_TILE = 'application/vnd.mapbox-vector-tile'

  function forbid (reason) { throw ({ forbidden: reason }) }

  function isOneOf (group) {
    var names = (group && group.names) || []
    var roles = (group && group.roles) || []
    if (Array.isArray(names) && userCtx.name !== null && names.indexOf(userCtx.name) >= 0) return true
    return Array.isArray(roles) && roles.some(function (role) { return userCtx.roles.indexOf(role) >= 0 })
  }

  function isTime (text) {
    if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
    var date = new Date(text)
    return !isNaN(date.getTime()) && date.toISOString().slice(0, 19) + 'Z' === text
  }

  // what is there already may be changed and deleted, so that a layer that is called so can be renamed
  function isLayer (text) {
    if (typeof text !== 'string' || !/^[a-z0-9][a-z0-9_-]{0,62}$/.test(text)) return false
    return RESERVED_NAMES.indexOf(text) < 0 || !!(oldDoc && !oldDoc._deleted)
  }

  function isInteger (value) { return typeof value === 'number' && value >= 0 && value % 1 === 0 }

  var isThere = !!oldDoc && !oldDoc._deleted

  // a replicator brings leaves: a version that was removed and loaded again follows the one that is here by its
  // grandparent, and not by its parent
  function wasEndedBetween () {
    return !!newDoc._revisions && newDoc._revisions.start - (oldDoc ? parseInt(oldDoc._rev, 10) : 0) > 1
  }

  var loadedRules
  function rules () { return loadedRules || (loadedRules = makeRules()) }

  function makeRules () {
    // !code core/rules.js
    // !code core/record-rules.js
    var types = recordTypes(isValue)
    var name
    for (name in recordPatterns) textPatterns[name] = recordPatterns[name]
    for (name in types) valueTypes[name] = types[name]
    return {
      isValue: isValue,
      isShallow: isShallow,
      fields: {
        layer: layerRules,
        edition: editionRules,
        style: styleRules,
        manifest: manifestRules,
        block: blockRules,
        removed: removedRules,
        limits: limitsRules,
        work: workRules,
        activity: activityRules,
        token: tokenRules,
        store: storeRules
      }
    }
  }

  function is (value, rule) { return rules().isValue(value, rule) }

  // what CouchDB itself adds to a document, such as its revisions, is not counted
  function checkSize (most) {
    var size = 0
    for (var name in newDoc) {
      if (name.charAt(0) !== '_') size += name.length + (JSON.stringify(newDoc[name]) || '').length
    }
    if (size <= most) return
    var what = newDoc._deleted ? 'deleted document' : newDoc.type === 'tile' ? 'tile' : 'document'
    forbid('the fields of a ' + what + ' hold at most ' + most + ' characters')
  }

  function checkAttachments () {
    var attachments = newDoc._attachments || {}
    var check = { style: checkStyleFile, block: checkDigests, store: checkLogo, tile: checkImage }[newDoc.type]
    var names = Object.keys(attachments)
    if (newDoc.type === 'style' && names.length > 2000) forbid('a style has at most 2000 files')
    names.forEach(function (name) {
      if (!check || !check(name, attachments[name].content_type, attachments[name].length)) {
        forbid('only tiles have an attachment, and the store a logo: PNG, JPEG, WebP or AVIF of at most 262144 bytes')
      }
    })
  }

  function checkStyleFile (name, type, length) {
    var stated = ''
    if (/^sprite(@2x)?\.json$/.test(name)) stated = 'application/json'
    else if (/^sprite(@2x)?\.png$/.test(name)) stated = 'image/png'
    else if (/^glyphs\/[^/,]{1,100}\/\d{1,7}-\d{1,7}\.pbf$/.test(name)) stated = 'application/x-protobuf'
    if (!stated || type !== stated) {
      forbid('the files of a style are sprite.json, sprite.png, the same with @2x, and glyphs/FONT/0-255.pbf')
    }
    if (length > 4194304) forbid('a file of a style is at most 4194304 bytes')
    return true
  }

  function checkDigests (name, type, length) {
    if (name === 'digests' && length > 32773) forbid('the digests of a block are at most 32773 bytes')
    return name === 'digests' && type === 'application/octet-stream'
  }

  function checkLogo (name, type, length) {
    return name === 'logo' && length <= 262144 && IMAGES.indexOf(type) >= 0
  }

  function checkImage (name, type) {
    if (name !== 'tile') forbid('the one attachment is called tile')
    if (type !== VECTOR_TILE && IMAGES.indexOf(type) < 0) {
      forbid('a tile is PNG, JPEG, WebP, AVIF or a vector tile, not ' + type)
    }
    return true
  }

  function checkTile () {
    if (!isLayer(newDoc.layer)) forbid('bad layer name, or a reserved one: ' + newDoc.layer)
    if (!isInteger(newDoc.z) || newDoc.z > 30) forbid('z must be a whole number from 0 to 30')
    var across = Math.pow(2, newDoc.z)
    if (!isInteger(newDoc.x) || !isInteger(newDoc.y) || newDoc.x >= across || newDoc.y >= across) {
      forbid('x and y must be whole numbers from 0 to 2^z - 1')
    }
    if (!isTime(newDoc.time)) forbid('time' + LIKE_TIME)
    wrongTimes(newDoc, isTime).forEach(function (field) { forbid(field + LIKE_TIME) })
    wrongRuns(newDoc, isTime).forEach(function (field) { forbid(field + ' must have ' + LIKE_RUN) })
    if (typeof newDoc.current !== 'boolean') forbid('current must be true (the newest version) or false (a past one)')
    var id = [newDoc.layer, newDoc.z, newDoc.x, newDoc.y].join(':') + (newDoc.current ? '' : '@' + newDoc.time)
    if (newDoc._id !== id) forbid('the id must be ' + id)
    if (!newDoc.current && isThere && !wasEndedBetween()) forbid('a past version never changes')
    if ((newDoc.gone === true) === !!(newDoc._attachments && newDoc._attachments.tile)) {
      forbid('a version has the attachment tile, or gone: true and none')
    }
  }

  // a field that is not in the rules is of a later version, and small
  function checkFields () {
    var fields = rules().fields[newDoc.type]
    for (var field in newDoc) {
      if (field.charAt(0) === '_' || field === 'type' || field === 'layer') continue
      var value = newDoc[field]
      var isShallow = rules().isShallow(value, 64)
      if (!Object.prototype.hasOwnProperty.call(fields, field)) {
        var isSmall = isShallow && field.length + JSON.stringify(value).length <= 4096
        if (!isSmall) forbid(field + ' is too long or nested too deep')
      } else if (!isShallow || !is(value, fields[field])) {
        forbid(field + ' of this ' + newDoc.type + ' must be: ' + fields[field])
      }
    }
  }

  // of layers, editions, styles, manifests, blocks, removals and limits
  function checkNamed () {
    var type = newDoc.type
    if (!isLayer(newDoc.layer)) {
      forbid('the layer of a ' + type + ' must be a name like osm, and none of ' + RESERVED_NAMES.join(', '))
    }
    checkFields()
    if (type === 'layer') checkLayer()
    if (type === 'limits' && newDoc.parts === undefined) forbid('limits have the field parts')
    if (type === 'style' && newDoc.style === undefined) forbid('a style has the field style')
    if (type === 'manifest' && (newDoc.blocks === undefined) === (newDoc.parts === undefined)) {
      forbid('a manifest has either blocks or parts')
    }
    if (type === 'block') {
      if (!is([newDoc.z, newDoc.x, newDoc.y].join(':'), 'place')) {
        forbid('z, x and y of a block must be whole numbers, of a block that the zoom has')
      }
      if (!newDoc._attachments || !newDoc._attachments.digests) forbid('a block has the attachment digests')
    }
    var id = idOfNamed()
    if (newDoc._id !== id) forbid('the id must be ' + id)
    // what a load said is a fact, and what a removal took out is only ended once
    var isFixed = type === 'manifest' || type === 'block' || type === 'style'
    if (isFixed && isThere && !wasEndedBetween()) forbid('a ' + type + ' never changes')
  }

  function checkLayer () {
    if (newDoc.minzoom > newDoc.maxzoom) forbid('minzoom of a layer must not be greater than its maxzoom')
    if (newDoc.renaming === newDoc.layer) forbid('renaming of a layer must name another one')
    if (newDoc.retina === newDoc.layer) forbid('retina of a layer must name another one')
  }

  function idOfNamed () {
    var type = newDoc.type
    var id = type + ':' + newDoc.layer
    if (type === 'layer' || type === 'limits') return id
    if (type === 'block') {
      var name = newDoc._id.slice(-12)
      return [id, newDoc.z, newDoc.x, newDoc.y, is(name, 'block') ? name : 'NAME'].join(':')
    }
    if (type !== 'removed') {
      if (newDoc.time === undefined) forbid('time' + LIKE_TIME)
      id += '@' + newDoc.time
    }
    if (type === 'edition' || type === 'style') return id
    if (newDoc.run === undefined) forbid('run must be ' + LIKE_RUN)
    return id + ':' + newDoc.run + (type === 'manifest' && newDoc.part !== undefined ? ':' + newDoc.part : '')
  }

  function isRunOf (type) {
    var id = String(newDoc._id)
    return id.indexOf(type + ':') === 0 && is(id.slice(type.length + 1), 'run')
  }

  // of work, activity and tokens, which need not be about a layer
  function checkGeneral (what, needed) {
    checkFields()
    if (newDoc.layer !== undefined && !is(newDoc.layer, 'name')) {
      forbid('the layer of ' + what + ' must be a name like osm')
    }
    if (!needed.every(function (field) { return newDoc[field] })) {
      forbid(what + ' has the fields ' + needed.join(', '))
    }
  }

  // what a command does, or what somebody changed: everybody says it in his own name
  function checkOwn (what, needed) {
    var isActivity = newDoc.type === 'activity'
    checkGeneral(what, needed)
    if (!isRunOf(newDoc.type)) forbid('the id must be ' + newDoc.type + ':RUN, with ' + LIKE_RUN)
    if (isActivity && (isThere || (!isAdmin && wasEndedBetween()))) forbid('an activity never changes')
    var isOther = newDoc.user !== userCtx.name || (isThere && oldDoc.user !== userCtx.name)
    // that somebody changed something is proved by his name: here even an admin has his own only
    if (isOther && (isActivity || !isServerAdmin)) forbid('the user of ' + what + ' must be the one who writes it')
  }

  function isSame (one, other) { return JSON.stringify(one) === JSON.stringify(other) }

  // who has a token sees private layers at a gateway: it stays what it was made for
  function checkToken () {
    var fixed = ['hash', 'layers', 'created', 'user']
    if (!isAdmin) forbid('only an admin of this store makes and revokes tokens')
    checkGeneral('a token', fixed)
    if (!/^token:[a-z0-9]{12}$/.test(newDoc._id)) forbid('the id must be token:ID, with twelve of a-z and 0-9')
    if (!isThere) {
      var isOwn = newDoc.user === userCtx.name || isServerAdmin
      if (!isOwn) forbid('the user of a token must be the one who makes it')
      return
    }
    if (oldDoc.revoked !== undefined) fixed.push('revoked')
    fixed.forEach(function (field) {
      if (!isSame(newDoc[field], oldDoc[field])) forbid(field + ' of a token never changes')
    })
  }

  // a writer makes what a load needs, and never alters what an admin set: every command reads this document first
  function checkStore () {
    if (newDoc._id !== 'tilecouch' || newDoc.type !== 'store') {
      forbid('not a document of a tile store: type must be tile, ' + LAYER_KINDS.join(', ') +
        ', work, activity or token')
    }
    checkFields()
    if (isAdmin) return
    var before = isThere ? oldDoc : {}
    // the one before it is unknown
    if (!before._id && wasEndedBetween()) forbid('only an admin replicates the document of a store')
    ;['schema', 'uuid', 'created', 'published'].forEach(function (field) {
      var isFixed = before[field] !== undefined || newDoc.schema > 1
      if (isFixed && !isSame(before[field], newDoc[field])) forbid('only an admin changes ' + field + ' of a store')
    })
  }

  function checkDeleted () {
    var isStore = newDoc._id === 'tilecouch'
    checkSize(1024)
    if (!isAdmin) {
      if (isRunOf('activity')) forbid('only an admin removes an activity') // a writer cannot wipe his traces
      if (isStore) forbid('only an admin removes the document of a store')
      if (/^token:[^:@]+$/.test(newDoc._id)) forbid('only an admin removes a token')
    }
    // what hangs there could still be read by revision
    if (Object.keys(newDoc._attachments || {}).length) forbid('a deleted document has no attachment')
  }

  // a store that names its own writers has no others
  var ours = (secObj && secObj.tilecouch) || {}
  var hasWriters = ours.writers !== undefined
  var isServerAdmin = isOneOf({ roles: ['_admin'] })
  var isAdmin = isServerAdmin || isOneOf(secObj && secObj.admins)
  if (!isAdmin && !isOneOf(hasWriters ? ours.writers : { roles: ['tilecouch-writer'] })) {
    var reason = 'writing needs an admin or ' + (hasWriters ? 'a writer of this store' : 'the role tilecouch-writer')
    if (userCtx.name) forbid(reason)
    throw ({ unauthorized: reason })
  }
  if (newDoc._deleted) return checkDeleted()
  var type = newDoc.type
  var sizes = {
    tile: 16384, work: 16384, activity: 16384, token: 16384, block: 4096,
    manifest: 1048576, removed: 1048576, limits: 1048576, style: 1048576
  }
  checkSize(Object.prototype.hasOwnProperty.call(sizes, type) ? sizes[type] : 262144)
  if (type === 'tile') checkTile()
  else if (LAYER_KINDS.indexOf(type) >= 0) checkNamed()
  else if (type === 'work') checkOwn('a work', ['command', 'state', 'started', 'seen'])
  else if (type === 'activity') checkOwn('an activity', ['user', 'at', 'what', 'done'])
  else if (type === 'token') checkToken()
  else checkStore()
  checkAttachments()
})
