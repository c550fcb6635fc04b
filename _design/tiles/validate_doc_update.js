// Nothing invalid gets in, whoever writes: the loader, another program, or a replica. Kept short: it is called once a document.
(function (newDoc, oldDoc, userCtx, secObj) {
  var RESERVED = ['layer', 'edition', 'tile', 'manifest', 'block', 'removed', 'limits', 'style', 'work', 'activity', 'token', 'db'] // as in core/ids.js

  function forbid (reason) { throw ({ forbidden: reason }) }

  function isOneOf (group) {
    var names = group && group.names, roles = group && group.roles
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

  function isInteger (value) { return typeof value === 'number' && value >= 0 && value % 1 === 0 }

  // what CouchDB itself adds to a document, such as its revisions, is not counted
  function checkSize (most) {
    var size = 0
    for (var name in newDoc) if (name.charAt(0) !== '_') size += name.length + (JSON.stringify(newDoc[name]) || '').length
    if (size > most) forbid('the fields of a ' + (newDoc._deleted ? 'deleted document' : newDoc.type === 'tile' ? 'tile' : 'document') + ' hold at most ' + most + ' characters')
  }

  function checkAttachments (isTile) {
    var types = { 'image/png': 1, 'image/jpeg': 1, 'image/webp': 1, 'image/avif': 1, 'application/vnd.mapbox-vector-tile': 1 }
    var isStyle = newDoc.type === 'style'
    if (isStyle && Object.keys(newDoc._attachments || {}).length > 2000) forbid('a style has at most 2000 files')
    for (var name in newDoc._attachments || {}) {
      if (isStyle) {
        var own = /^sprite(@2x)?\.json$/.test(name) ? 'application/json' : /^sprite(@2x)?\.png$/.test(name) ? 'image/png' : /^glyphs\/[^/,]{1,100}\/\d{1,7}-\d{1,7}\.pbf$/.test(name) ? 'application/x-protobuf' : ''
        if (!own || newDoc._attachments[name].content_type !== own) forbid('the files of a style are sprite.json, sprite.png, the same with @2x, and glyphs/FONT/0-255.pbf')
        if (newDoc._attachments[name].length > 4194304) forbid('a file of a style is at most 4194304 bytes')
        continue
      }
      var digests = name === 'digests' && newDoc.type === 'block' && newDoc._attachments.digests
      if (digests && digests.length > 32773) forbid('the digests of a block are at most 32773 bytes')
      if (digests && digests.content_type === 'application/octet-stream') continue
      var logo = name === 'logo' && newDoc.type === 'store' && newDoc._attachments.logo
      if (logo && logo.length <= 262144 && /^image/.test(logo.content_type) && types[logo.content_type] === 1) continue
      if (!isTile) forbid('only tiles have an attachment, and the store a logo: PNG, JPEG, WebP or AVIF of at most 262144 bytes')
      if (name !== 'tile') forbid('the one attachment is called tile')
      var type = newDoc._attachments.tile.content_type
      if (types[type] !== 1) forbid('a tile is PNG, JPEG, WebP, AVIF or a vector tile, not ' + type)
    }
  }

  // a replicator brings leaves: a version that was removed and loaded again follows the one that is here by its grandparent, and not by its parent
  function wasEndedBetween () {
    return !!newDoc._revisions && newDoc._revisions.start - (oldDoc ? parseInt(oldDoc._rev, 10) : 0) > 1
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

  // whether a value is what a rule says: its name, and how long or great it may be
  function is (value, rule) {
    var parts = rule.split(' ')
    switch (parts[0]) {
      case 'each': return Array.isArray(value) && value.every(function (one) { return is(one, parts.slice(1).join(' ')) })
      case 'text': return typeof value === 'string' && value.length <= +parts[1]
      case 'whole': return isInteger(value) && value >= +parts[1] && value <= +parts[2]
      case 'rate': return typeof value === 'number' && value >= 0
      case 'flag': return typeof value === 'boolean'
      case 'time': return isTime(value)
      case 'object': return typeof value === 'object' && value !== null && !Array.isArray(value)
      case 'lon': return typeof value === 'number' && Math.abs(value) <= 180
      case 'lat': return typeof value === 'number' && Math.abs(value) <= 90
      case 'center': return is(value, 'each lon') && value.length === 3 && is(value[1], 'lat') && value[2] >= 0 && value[2] <= 30
      case 'box': return is(value, 'each lon') && value.length === 4 && is(value[1], 'lat') && is(value[3], 'lat') && value[1] <= value[3]
      case 'zooms': return is(value, 'object') && is(value.min, 'whole 0 30') && is(value.max, 'whole 0 30') && value.min <= value.max
      case 'area': return is(value, 'object') && is(value.boxes, 'each box') && value.boxes.length <= 100 && (value.polygon ? is(value.polygon, 'object') : value.boxes.length > 0)
      case 'style': return is(value, 'object') && value.version === 8 && is(value.sources, 'object') && is(value.layers, 'each object')
      case 'grid': return is(value, 'text 100') || is(value, 'object')
      case 'baseline': return is(value, 'object') && is(value.runs, 'each run') && is(value.differing, 'each tile')
      case 'light': return is(value, 'hex') && luminance('#d9ecef') / luminance(value) >= 4.5
      case 'dark': return is(value, 'hex') && luminance(value) / luminance('#17424b') >= 4.5
      case 'colours': return holds(value, { light: 'light', dark: 'dark' })
      case 'template': return is(value, 'address') && value.indexOf('{z}') >= 0 && value.indexOf('{x}') >= 0 && value.indexOf('{y}') >= 0
      case 'base': return is(value, 'name') || (holds(value, { url: 'template', name: 'text 200', attribution: 'text 2000', maxzoom: 'whole 0 30' }) && value.url !== undefined)
      case 'patterns': return is(value, 'each pattern') && value.length > 0 && value.length <= 50
      case 'places': return is(value, 'each spot') && value.length <= 2000
      case 'spot': return Array.isArray(value) && value.length === 4 && is(value[0], 'text 200') && is(value[1], 'lon') && is(value[2], 'lat') && is(value[3], 'whole 0 30')
      case 'spans': return is(value, 'each each text 30') && value.length <= 2000 && value.every(function (span) { return span.length === 3 && is(span[0], 'time') && is(span[1], 'time') && is(span[2], 'run') })
      case 'part': return holds(value, { area: 'area', zooms: 'zooms', since: 'time', current: 'flag', of: 'each part' })
      case 'parts': return is(value, 'each part') && value.length <= 1000
      case 'blocks': return is(value, 'object') && Object.keys(value).every(function (place) { return is(place, 'place') && is(value[place], 'each block') })
    }
    var match = typeof value === 'string' && {
      run: /^\d{8}T\d{9}-[0-9a-z]{4}$/, command: /^[a-z-]{1,30}$/, state: /^(running|done|failed|stopped)$/, what: /^(layer|edition|access|store|token|style)$/, done: /^(created|changed|removed)$/, block: /^[\w-]{12}$/, hash: /^[0-9a-f]{64}$/, pattern: /^!?(?!(layer|edition|tile|manifest|block|removed|limits|style|work|activity|token|db)$)(?!([^*]*\*){5})[a-z0-9*][a-z0-9_*-]{0,62}$/, format: /^(png|jpg|webp|avif|pbf)$/, encoding: /^(terrarium|mapbox|mvt)$/, same: /^(features|pixels(:\d{1,2})?)$/, name: /^(?!(layer|edition)$)[a-z0-9][a-z0-9_-]{0,62}$/,
      hex: /^#[0-9a-f]{6}$/i, path: /^(?!\/\/)(?![^/]*:)[^\s"'<>\\]{1,1000}$/, address: /^(https?:\/\/|(?!\/\/)(?![^/]*:))[^\s"'<>\\]{1,1000}$/,
      place: /^(0|[1-9]\d?):(0|[1-9]\d{0,8}):(0|[1-9]\d{0,8})$/, tile: /^([^:@]+):(0|[1-9]\d?):(0|[1-9]\d{0,9}):(0|[1-9]\d{0,9})(@.*)?$/
    }[rule].exec(value)
    if (!match || (rule !== 'place' && rule !== 'tile')) return !!match
    if (rule === 'place') return isBlock(+match[1], +match[2], +match[3])
    var across = Math.pow(2, match[2])
    return is(match[1], 'name') && match[2] <= 30 && match[3] < across && match[4] < across && (!match[5] || isTime(match[5].slice(1)))
  }

  function holds (value, rules) {
    return is(value, 'object') && Object.keys(value).every(function (field) { return Object.keys(rules).indexOf(field) >= 0 && is(value[field], rules[field]) })
  }

  // of a colour, as WCAG defines it, and what it adds to both when they are compared
  function luminance (hex) {
    return [0.2126, 0.7152, 0.0722].reduce(function (sum, weight, at) {
      var share = parseInt(hex.substr(1 + 2 * at, 2), 16) / 255
      return sum + weight * (share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4))
    }, 0.05)
  }

  function isBlock (z, x, y) {
    var last = Math.ceil(Math.pow(2, z) / 64) - 1
    return is(z, 'whole 0 30') && is(x, 'whole 0 ' + last) && is(y, 'whole 0 ' + last)
  }

  function isShallow (value, depth) {
    if (typeof value !== 'object' || value === null) return true
    return depth > 0 && Object.keys(value).every(function (name) { return isShallow(value[name], depth - 1) })
  }

  // core/documents.js, core/settings.js, core/work.js, core/activity.js, core/tokens.js and core/store/records.js have the same, for those who read: a field that is not here is of a later version, and small
  function checkFields () {
    var count = 'whole 0 9007199254740991'
    var fields = {
      layer: {
        name: 'text 1000', description: 'text 100000', attribution: 'text 100000', legend: 'text 100000', version: 'text 1000', format: 'format', offline: 'flag',
        minzoom: 'whole 0 30', maxzoom: 'whole 0 30', fillzoom: 'whole 0 30', tileSize: 'whole 64 4096', ttl: 'whole 1 31536000000', bounds: 'box', center: 'center',
        vector_layers: 'each object', encoding: 'encoding', same: 'same', upstream: 'object', retention: 'object', dropped: 'spans', pruned: 'time', renaming: 'name', retina: 'name', group: 'text 200', order: 'whole 0 1000000', grid: 'grid'
      },
      edition: {
        time: 'time', title: 'text 10000', source: 'text 10000', run: 'run', root: 'text 100', complete: 'flag', started: 'time', finished: 'time', tiles: count, created: count, advanced: count,
        backfilled: count, unchanged: count, failed: count, gone: count, bytes: count, blocks: count, baseline: 'baseline', from: 'object'
      },
      style: { time: 'time', stored: 'time', style: 'style', digest: 'text 100' },
      manifest: { time: 'time', run: 'run', part: count, complete: 'flag', tiles: count, root: 'text 100', zooms: 'zooms', area: 'area', blocks: 'blocks', parts: 'each place' },
      removed: { run: 'run', since: 'time', until: 'time', finished: 'time', zooms: 'zooms', area: 'area', tiles: 'each tile', runs: 'each run' },
      limits: { parts: 'parts', own: 'flag' },
      block: { z: 'whole 0 30', x: count, y: count },
      work: {
        command: 'command', args: 'each text 1000', edition: 'time', state: 'state', started: 'time', seen: 'time', finished: 'time', every: 'whole 1 86400', unit: 'text 100', done: count, total: count,
        rate: 'rate', failed: count, failures: 'each text 1000', user: 'text 300', host: 'text 300', about: 'object', error: 'object'
      },
      token: { title: 'text 200', hash: 'hash', layers: 'patterns', until: 'time', created: 'time', user: 'text 300', revoked: 'time' },
      activity: { user: 'text 300', at: 'time', via: 'text 300', what: 'what', done: 'done', edition: 'time', name: 'text 300', fields: 'object' },
      store: { schema: 'whole 1 1000', uuid: 'text 100', created: 'time', published: 'time', title: 'text 200', logo: 'path', colours: 'colours', opens: 'name', base: 'base', gazetteer: 'address', places: 'places', activityDays: 'whole 30 36500' }
    }[newDoc.type]
    for (var field in newDoc) {
      if (field.charAt(0) === '_' || field === 'type' || field === 'layer') continue
      var isKnown = Object.prototype.hasOwnProperty.call(fields, field)
      var isGood = isShallow(newDoc[field], 64) && (isKnown ? is(newDoc[field], fields[field]) : field.length + JSON.stringify(newDoc[field]).length <= 4096)
      if (!isGood) forbid(field + (isKnown ? ' of this ' + newDoc.type + ' must be: ' + fields[field] : ' is too long or nested too deep'))
    }
  }

  // of layers, editions, styles, manifests, blocks, removals and limits
  function checkNamed () {
    var type = newDoc.type
    if (!isLayer(newDoc.layer)) forbid('the layer of a ' + type + ' must be a name like osm, and none of ' + RESERVED.join(', '))
    checkFields()
    var id = type + ':' + newDoc.layer
    if (type === 'layer') {
      if (newDoc.vector_layers && newDoc.vector_layers.length > 1000) forbid('a layer has at most 1000 vector_layers')
      if (newDoc.minzoom > newDoc.maxzoom) forbid('minzoom of a layer must not be greater than its maxzoom')
      if (newDoc.renaming === newDoc.layer) forbid('renaming of a layer must name another one')
      if (newDoc.retina === newDoc.layer) forbid('retina of a layer must name another one')
    } else if (type === 'block') {
      if (!isBlock(newDoc.z, newDoc.x, newDoc.y)) forbid('z, x and y of a block must be whole numbers, of a block that the zoom has')
      id = [id, newDoc.z, newDoc.x, newDoc.y, is(newDoc._id.slice(-12), 'block') ? newDoc._id.slice(-12) : 'NAME'].join(':')
      if (!newDoc._attachments || !newDoc._attachments.digests) forbid('a block has the attachment digests')
    } else if (type === 'limits') newDoc.parts === undefined && forbid('limits have the field parts')
    else {
      if (type !== 'removed' && newDoc.time === undefined) forbid('time must be like 2024-03-01T00:00:00Z')
      if (type === 'style' && newDoc.style === undefined) forbid('a style has the field style')
      if (type !== 'edition' && type !== 'style' && newDoc.run === undefined) forbid('run must be like 20240301T101500123-4f9k')
      if (type === 'manifest' && (newDoc.blocks === undefined) === (newDoc.parts === undefined)) forbid('a manifest has either blocks or parts')
      if (type !== 'removed') id += '@' + newDoc.time
      if (type !== 'edition' && type !== 'style') id += ':' + newDoc.run
      if (type === 'manifest' && newDoc.part !== undefined) id += ':' + newDoc.part
    }
    if (newDoc._id !== id) forbid('the id must be ' + id)
    // what a load said is a fact, and what a removal took out is only ended once
    if (oldDoc && !oldDoc._deleted && (type === 'manifest' || type === 'block')) forbid('a ' + type + ' never changes')
    if (oldDoc && !oldDoc._deleted && type === 'style' && !wasEndedBetween()) forbid('a style never changes')
  }

  function isRunOf (type) {
    var id = String(newDoc._id)
    return id.indexOf(type + ':') === 0 && is(id.slice(type.length + 1), 'run')
  }

  // what a command does, or what somebody changed: everybody says it in his own name
  function checkOwn (needs) {
    var type = newDoc.type
    var what = type === 'work' ? 'a work' : 'an activity'
    var isThere = oldDoc && !oldDoc._deleted
    checkFields()
    if (newDoc.layer !== undefined && !is(newDoc.layer, 'name')) forbid('the layer of ' + what + ' must be a name like osm')
    if (!needs.every(function (field) { return newDoc[field] })) forbid(what + ' has the fields ' + needs.join(', '))
    if (!isRunOf(type)) forbid('the id must be ' + type + ':RUN, with a run like 20240301T101500123-4f9k')
    if (type === 'activity' && (isThere || (!isAdmin && wasEndedBetween()))) forbid('an activity never changes')
    var isOther = newDoc.user !== userCtx.name || (isThere && oldDoc.user !== userCtx.name)
    // that somebody changed something is proved by his name: here even an admin has his own only
    if (isOther && (type === 'activity' || !isOneOf({ roles: ['_admin'] }))) forbid('the user of ' + what + ' must be the one who writes it')
  }

  // who has a token sees private layers at a gateway: it stays what it was made for
  function checkToken () {
    checkFields()
    var isThere = oldDoc && !oldDoc._deleted
    if (newDoc.layer !== undefined && !is(newDoc.layer, 'name')) forbid('the layer of a token must be a name like osm')
    if (!newDoc.hash || !newDoc.layers || !newDoc.created || !newDoc.user) forbid('a token has the fields hash, layers, created, user')
    if (!/^token:[a-z0-9]{12}$/.test(newDoc._id)) forbid('the id must be token:ID, with twelve of a-z and 0-9')
    if (!isThere && newDoc.user !== userCtx.name && !isOneOf({ roles: ['_admin'] })) forbid('the user of a token must be the one who makes it')
    if (isThere) ['hash', 'layers', 'created', 'user'].concat(oldDoc.revoked === undefined ? [] : 'revoked').forEach(function (field) {
      if (JSON.stringify(newDoc[field]) !== JSON.stringify(oldDoc[field])) forbid(field + ' of a token never changes')
    })
  }

  // a writer makes what a load needs, and never alters what an admin set: every command reads this document first
  function checkStore () {
    checkFields()
    var before = oldDoc && !oldDoc._deleted ? oldDoc : {}
    if (!isAdmin && !before._id && wasEndedBetween()) forbid('only an admin replicates the document of a store') // the one before it is unknown
    ;['schema', 'uuid', 'created', 'published'].forEach(function (field) {
      if (!isAdmin && (before[field] !== undefined || newDoc.schema > 1) && JSON.stringify(before[field]) !== JSON.stringify(newDoc[field])) forbid('only an admin changes ' + field + ' of a store')
    })
  }

  // a store that names its own writers has no others
  var ours = (secObj && secObj.tilecouch) || {}
  var isNamed = ours.writers !== undefined
  var isAdmin = isOneOf({ roles: ['_admin'] }) || isOneOf(secObj && secObj.admins)
  if (!isAdmin && !isOneOf(isNamed ? ours.writers : { roles: ['tilecouch-writer'] })) {
    var reason = 'writing needs an admin or ' + (isNamed ? 'a writer of this store' : 'the role tilecouch-writer')
    if (userCtx.name) forbid(reason)
    throw ({ unauthorized: reason })
  }
  if (newDoc._deleted) {
    checkSize(1024)
    if (isRunOf('activity') && !isAdmin) forbid('only an admin removes an activity') // a writer cannot wipe his traces
    if (/^(token:[^:@]+|tilecouch)$/.test(newDoc._id) && !isAdmin) forbid('only an admin removes ' + (newDoc._id === 'tilecouch' ? 'the document of a store' : 'a token'))
    // what hangs there could still be read by revision
    if (Object.keys(newDoc._attachments || {}).length) forbid('a deleted document has no attachment')
    return
  }
  var type = newDoc.type
  checkSize(type === 'tile' || type === 'work' || type === 'activity' || type === 'token' ? 16384 : type === 'manifest' || type === 'removed' || type === 'limits' || type === 'style' ? 1048576 : type === 'block' ? 4096 : 262144)
  if (type === 'tile') checkTile()
  else if (type === 'layer' || type === 'edition' || type === 'style' || type === 'manifest' || type === 'block' || type === 'removed' || type === 'limits') checkNamed()
  else if (type === 'work') checkOwn(['command', 'state', 'started', 'seen'])
  else if (type === 'activity') checkOwn(['user', 'at', 'what', 'done'])
  else if (type === 'token' && !isAdmin) forbid('only an admin of this store makes and revokes tokens')
  else if (type === 'token') checkToken()
  else if (newDoc._id !== 'tilecouch' || type !== 'store') forbid('not a document of a tile store: type must be tile, layer, edition, style, manifest, block, removed, limits, work, activity or token')
  else checkStore()
  checkAttachments(type === 'tile')
})
