// The errors that occur only in Node: files, commands, backups, upstreams and servers. They are added to the catalogue
// of core/errors.js, which browsers load. Code in loader/ and server/ imports TilecouchError from here.
import { TilecouchError, catalogue, entry, show, some } from '../core/errors.js'
import { bytes, plural } from './text.js'

Object.assign(catalogue, /** @type {typeof catalogue} */ ({
  // requests over HTTP
  BAD_REQUEST: entry(400, d => `bad request: ${d.why}`),
  BUSY: entry(503, d => `busy: ${d.why}`, 'Try again later.'),
  BAD_ADDRESS: entry(400, d => `bad address ${show(d.value)}: ${d.why}`,
    'Encode characters other than letters and digits as UTF-8 with percent signs.'),
  NO_RETINA: entry(404, d => `the layer ${show(d.layer)} has no tiles of twice the pixels (@2x)`,
    'Leave @2x out. To add them: load tiles of 512 pixels as a layer of their own, and name it with `tilecouch layer ' +
      'NAME --retina OTHER`.'),
  BAD_RANGE: entry(416, d => `no bytes in the range ${show(d.value)}: there are ${d.length}`,
    'Ranges look like bytes=0-499 or bytes=-500.'),

  TILES_COMPRESSED: entry(409, d => `${d.url} compresses tiles, so that their digests are not those of their bytes`,
    'Take images and vector tiles out of attachments/compressible_types in the configuration of CouchDB (the default ' +
      'is text/*, application/javascript, application/json, application/xml), and run the command again.'),
  SAME_DATABASE: entry(409, d => `${d.url} and ${d.where} are the same database`,
    'Name another database for the mirror.'),

  // access through a gateway
  ACCESS_NEEDED: entry(401, d => `${d.layer ? `the layer ${show(d.layer)}` : 'this'} is private`,
    'Use a token: ?token=… at the end of the address, or Authorization: Bearer …. The operator creates tokens with ' +
      '`tilecouch token`.'),
  ACCESS_DENIED: entry(403, d => `this token is not for ${d.layer ? `the layer ${show(d.layer)}` : 'everything'}`,
    'Ask the operator for another one.'),
  TOKEN_EXPIRED: entry(401, d => `this token expired at ${d.time}`, 'Ask the operator for a new one.'),
  TOKEN_INVALID: entry(401, () => 'this is not a token of this gateway',
    'It is incomplete or changed, or the key that signed it is no longer in use. Ask for a new one.'),

  // sources and their tiles
  OTHER_GRID: entry(409, d => `${d.what} has the grid ${d.grid}, and ${d.other} has ${d.otherGrid}`,
    'The tiles of a layer are all in one grid: use a layer for each grid.'),
  TILE_SIZE: entry(422, d => `the tile is ${d.size} x ${d.size} pixels, those of the layer ${show(d.layer)} are ` +
    `${d.expected} x ${d.expected}`,
    'Load it as another layer. If the size of the layer is wrong, correct it with `tilecouch layer NAME --tile-size ' +
      'N`. --any-size loads it all the same, but GDAL cannot read such a layer.'),
  SAME_UNFIT: entry(422, d => `tiles of the layer ${show(d.layer)} cannot be compared by ${d.what}: ${d.why}`,
    'Add --same pixels for images, --same features for vector tiles, or --same bytes to compare bytes again.'),
  FUTURE_TIME: entry(409, d => d.newest
      ? `the newest tiles of ${d.layer} are dated ${d.newest}, in the future: tiles for ${d.time} go into the past, ` +
        'and the current map does not show them'
      : `${d.time} is in the future: later loads into ${d.layer} for any earlier time go into the past, and the ` +
        'current map no longer changes',
    'If that time is a mistake, run `tilecouch remove LAYER --edition TIME`, then load it again with the right time.'),
  ROWS_FLIPPED: entry(422, d => `the rows look counted from the wrong side: as read, the tiles lie in ${d.place}; ` +
    `counted from the other side, in ${d.other}, and ${d.says}`,
    'If so, remove the edition (`tilecouch remove LAYER --edition TIME`), and load it again with --scheme tms, or ' +
      'for MBTiles with --scheme xyz.'),
  AXES_SWAPPED: entry(422, d => 'columns and rows look exchanged (z/y/x instead of z/x/y): as read, the tiles lie in ' +
    `${d.place}; exchanged, in ${d.other}, and ${d.says}`,
    'If so, remove the edition (`tilecouch remove LAYER --edition TIME`), rename the files to z/x/y ' +
      '(docs/sources.md), and load them again.'),
  NOT_WEB_MERCATOR: entry(422, d => `the metadata of the tiles say that they are in ${show(d.profile)}, not in Web ` +
    'Mercator',
    'Then they lie in wrong places. Load them with --grid (docs/grids.md), or cut the raster again in Web Mercator: ' +
      'gdal2tiles.py --xyz -p mercator.'),
  MIXED_SIZES: entry(422, d => `the tiles have several sizes: ${d.sizes}`,
    'Load each size as a layer of its own: clients expect one, and GDAL cannot read such a layer.'),
  OTHER_TYPE: entry(422, d => d.name
    ? `${plural(d.count, 'tile')} ${d.count === 1 ? 'is' : 'are'} ${d.type}, but called .${d.name}, such as ${d.tile}`
    : `the metadata say that the tiles are ${d.format}, but most are ${d.type}`,
    'Each tile is stored as what it is. Use addresses that end with its type, and set it with `tilecouch layer NAME ' +
      '--tile-format`.'),
  LARGE_TILES: entry(422, d => `${plural(d.count, 'tile')} of more than 1 MB: ${d.tile} has ${bytes(d.bytes)}`,
    'They load slowly. Photographs are smaller as JPEG or WebP than as PNG; tiles of 256 or 512 pixels are usual.'),
  SOURCE_NOT_FOUND: entry(404, d => `no such source ${show(d.value)}`),
  SOURCE_UNREADABLE: entry(422, d => `cannot read ${show(d.value)}: ${d.why}`),
  SOURCE_UNKNOWN: entry(422, d => `unknown kind of source ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'Sources are a folder of z/x/y.ext tiles, an .mbtiles or .pmtiles, the address of a tile server, a TileJSON or a ' +
      'store.'),
  SOURCE_NOT_TILES: entry(422, d => `${show(d.value)} ` +
    `${d.inside ? `holds no tiles, but ${show(d.inside)}, which ` : ''}is ${d.what}`,
    'Make tiles of it first: the error names the commands.'),
  SOURCE_EMPTY: entry(422, d => `no tiles in ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'A tile folder has z/x/y.png; check the path, --zoom and --bbox.'),
  NO_TIME_IN_NAME: entry(422, d => `no time in the name ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'Use names such as tiles-2023-06-01/ or survey_20240301.mbtiles.'),
  ARCHIVE_INVALID: entry(422, d => `${show(d.file)} is damaged or of another format: ${d.why}`,
    'Download or create it again; `tilecouch check` lists its faults.'),

  BAD_STYLE: entry(422, d => `bad style ${show(d.file)}: ${d.why}`,
    'Nothing was stored. See docs/styles.md for what a style may name.'),

  // targets of an export
  TARGET_UNKNOWN: entry(422, d => `unknown kind of target ${show(d.value)}`,
    'Targets are a folder, .mbtiles or .pmtiles. For a zip or tar, export a folder and pack it.'),
  TARGET_EXISTS: entry(409, d => `${show(d.value)} exists already${d.why ? `: ${d.why}` : ''}`,
    'Name another target, or replace it with --force.'),
  TARGET_UNWRITABLE: entry(422, d => `cannot write ${show(d.value)}: ${d.why}`),
  NOT_VECTOR_TILES: entry(422, d => `the tile ${d.value} is an image: only vector tiles have features`,
    'For images, `tilecouch diff FROM TO --geojson FILE` writes polygons of the tiles that differ.'),
  TOO_MANY_FEATURES: entry(422, d => `more than ${d.most} features differ, and all must be in memory`,
    'Compare a part: --bbox, --polygon, or a smaller --zoom.'),
  NOTHING_TO_EXPORT: entry(404, d => `no tiles to export from ${d.layer}${d.why ? `: ${d.why}` : ''}`,
    'Check the time, --zoom, --bbox and --polygon; `tilecouch info` shows what the layer has.'),
  EXPORT_FORBIDDEN: entry(403, d => `the terms of ${d.host}, where the tiles of ${d.layer} come from, forbid ` +
    'archives of them',
    'If the provider permits it, add --i-have-permission.'),

  // backups
  BACKUP_DAMAGED: entry(422, d => `the backup ${show(d.file)} is ` +
    `damaged${d.at === undefined ? '' : ` at byte ${d.at}`}: ${d.why}`,
    'Copy it again from where it was kept; `tilecouch restore --partial` restores what comes before the damage.'),
  BACKUP_MISSING: entry(404, d => `${show(d.file)} needs an earlier backup that is not among the files: ${d.why}`,
    'Name the full backup and all incremental ones after it.'),
  BACKUP_UNFIT: entry(409, d => `${show(d.file)} cannot be the base of a backup of ${d.url}: ${d.why}`,
    'Make a full backup, without --base.'),
  BACKUP_OVERTAKEN: entry(409, d => `${d.url} was changed during the backup: ${d.why}`,
    'Run it again when no documents are being purged.'),
  RESTORE_RIGHTS: entry(409, d => `the backup would give rights to somebody, and you did not agree: ${some(d.who)}`,
    'Nothing was written. --closed restores it for admins only; then set the rights with `tilecouch access`.'),
  RESTORE_NOT_EMPTY: entry(409, d => `${d.db} has documents already${d.why ? `: ${d.why}` : ''}`,
    'Restore into a new or an empty database.'),

  // the store
  NO_DATABASE_NAMED: entry(400, d => `${d.url} names a server and no database: add the name of one, such as ${d.where}`,
    'A load creates the database if it does not exist.'),
  NOT_CONFIRMED: entry(409, d => `nothing was removed: ${d.why}`,
    'Look first with --dry-run. At a terminal the command asks; in scripts add --yes.'),
  BAD_SETTING: entry(400, d => `bad ${d.field} ${show(d.value)} for the viewer: ${d.why}`,
    'See `tilecouch settings --help`, and docs/viewer.md for the fields.'),
  LAYER_EXISTS: entry(409, d => `the layer ${show(d.layer)} exists already`,
    'Use another name; or merge both with `tilecouch copy`, and remove the old one.'),
  QGIS_GRID: entry(501, d => `QGIS shows ${d.isVector ? 'vector tiles' : 'addresses with {z}, {x} and {y}'} in Web ` +
    `Mercator only, and the layer ${show(d.layer)} has another grid`,
    'For images, use the layer file of a gateway, which has WMTS: http://GATEWAY/LAYER.qlr, or `tilecouch layer ' +
      'LAYER --qgis FILE --gateway URL`.'),
  // _design/tiles/lists/qgis.js reports this error
  ADDRESS_UNKNOWN: entry(501, () => 'QGIS needs whole addresses, and a proxy hides that of this database',
    'Let the proxy send X-Forwarded-Prefix, or use a gateway.'),
  STYLE_UNKNOWN: entry(404, d => `no style is stored for the layer ${show(d.layer)}, and it does not say what its ` +
    'vector tiles hold',
    'Load its tiles again: a load lists what they hold. Or store a style: `tilecouch layer LAYER --style FILE`.'),
  STYLE_NOT_FOUND: entry(404, d => `no style ${d.layer}@${d.time}${d.file ? ` with ${show(d.file)}` : ''}`,
    'List the styles of a layer with `tilecouch layer LAYER`.'),
  STYLE_TAKEN: entry(409, d => `there is another style for ${d.layer}@${d.time} already`,
    'Stored styles never change. Use a later --time; or remove that one first: `tilecouch remove LAYER --style TIME`.'),
  NO_EDITION: entry(404, d => d.others?.length
    ? `several editions in ${d.layer}@${d.time}: ${d.others.join(', ')}`
    : `no edition ${d.layer}@${d.time}`,
    'Name one edition exactly: `tilecouch info LAYER` lists them.'),
  FILLING: entry(503, () => 'this edge is still being filled', 'Try again later, or use its origin.'),
  WOULD_BE_PUBLIC: entry(409, d => `${d.where} is public, but ${d.url} is private`,
    'A mirror: make it private (its _security), or name a new database, which is private; to publish the copy, add ' +
      '--public. A gateway: add --private-layers, or --set public=true if everybody may read the store.'),
  NO_VALIDATION: entry(409, d => `everybody could write into ${d.url}: it has no validation function`,
    'Deploy it with `tilecouch push`, then open the store.'),
  PURGE_UNSUPPORTED: entry(501, d => `${d.url} cannot purge`,
    'Only CouchDB can. Remove without purging: only the ids of deleted documents remain.'),
  STORE_OUTDATED: entry(409, d => `the validation function of ${d.url} is from an older tilecouch and refuses ` +
    `${d.what}`,
    'Deploy the design documents of this version first: `tilecouch push`.'),

  // upstreams
  NO_UPSTREAM: entry(409, d => `the layer ${show(d.layer)} has no upstream`,
    'Give its layer document an upstream, or load a folder of tiles.'),
  SEED_FORBIDDEN: entry(403, d => `the terms of the upstream of ${show(d.layer)} (${d.host}) forbid seeding`,
    'Serve the layer without seeding, or use another provider. If the provider permits it, add --i-have-permission.'),
  UPSTREAM_ADDRESS: entry(502, d => `the upstream ${d.url} leads to ${d.address}, which is in a private network`,
    'If that is intended, name its host, address or network in upstreamNetworks (--upstream-networks, ' +
      'TILECOUCH_UPSTREAM_NETWORKS).'),
  UPSTREAM_UNREACHABLE: entry(502, d => `cannot reach the upstream ${d.url}: ${d.why}`,
    'Is it running, and is the url of the layer right?'),
  UPSTREAM_FAILED: entry(502, d => `the upstream ${d.url} failed: ${d.why}`,
    'Nothing was stored. Open the address of the tile to see the answer.'),
  UPSTREAM_BUSY: entry(503, d => `the upstream ${d.url} is paused: ${d.why}`, 'Try again later.'),
  UPSTREAM_REFUSED: entry(502, d => `the upstream ${d.url} refused: ${d.why}`,
    'Check its terms and limits, and whether it needs a key (upstreamHeaders of the gateway).'),

  // the server
  EMBEDDED_LOCKED: entry(409, d => `another process uses the embedded store in ${d.dir}`,
    'Stop it, or name the URL it printed with --db.'),
  NO_PERMISSION: entry(403, d => `no permission to read or write ${d.path}`,
    'Name another place (--data for the embedded store), or change the rights of this one.'),
  EMBEDDED_FOLDER: entry(409, d => `${d.dir} ${d.why ?? 'has other files and no embedded store'}`,
    'Name a new folder with --data.'),
  EMBEDDED_PASSWORD: entry(409, d => `${d.file} is not the password of an embedded store: ${d.why}`,
    'Check the file and remove it: the store creates a new password when it starts.'),
  PORT_IN_USE: entry(409, d => `port ${d.port} is taken`, 'Choose another with --port.'),
  WORKER_FAILED: entry(500, d => `a worker ${d.why}`, 'See the log.'),

  // the couchapp
  COUCHAPP_INVALID: entry(422, d => `${d.file}: ${d.why}`),
  PASSWORD_NOT_SENT: entry(403, d => `the name and password of ${d.value} are not sent to ${d.url}, which only ` +
    `${d.file} names`,
    'If you trust that server, type its address instead of its name (--db URL), or set COUCHDB_URL for the store.'),
  PASSWORD_IN_FILE: entry(400, d => `${d.file} contains a password`,
    'Remove it there, and set COUCHDB_URL, COUCHDB_USER and COUCHDB_PASSWORD in the environment.')
}))

export { TilecouchError, catalogue }
