// The errors that only Node can meet: of files, commands, backups, upstreams and servers. They join the catalogue of
// core/errors.js, which browsers load. Code in loader/ and server/ imports TilecouchError from here.
import { TilecouchError, catalogue, show, some } from '../core/errors.js'
import { bytes, plural } from './text.js'

Object.assign(catalogue, /** @type {typeof catalogue} */ ({
  // what a program asked over HTTP
  BAD_REQUEST: { status: 400, text: d => `bad request: ${d.why}` },
  BUSY: { status: 503, text: d => `busy: ${d.why}`, advice: 'Try again later.' },
  BAD_ADDRESS: { status: 400, text: d => `bad address ${show(d.value)}: ${d.why}`, advice: 'Encode characters other than letters and digits as UTF-8 with percent signs.' },
  NO_RETINA: { status: 404, text: d => `the layer ${show(d.layer)} has no tiles of twice the pixels (@2x)`, advice: 'Leave @2x out. To add them: load tiles of 512 pixels as a layer of their own, and name it with `tilecouch layer NAME --retina OTHER`.' },
  BAD_RANGE: { status: 416, text: d => `no bytes in the range ${show(d.value)}: there are ${d.length}`, advice: 'Ranges look like bytes=0-499 or bytes=-500.' },

  TILES_COMPRESSED: { status: 409, text: d => `${d.url} compresses tiles, so that their digests are not those of their bytes`, advice: 'Take images and vector tiles out of attachments/compressible_types in the configuration of CouchDB (the default is text/*, application/javascript, application/json, application/xml), and run the command again.' },
  SAME_DATABASE: { status: 409, text: d => `${d.url} and ${d.where} are the same database`, advice: 'Name another database for the mirror.' },

  // who may see what through a gateway
  ACCESS_NEEDED: { status: 401, text: d => `${d.layer ? `the layer ${show(d.layer)}` : 'this'} is private`, advice: 'Use a token: ?token=… at the end of the address, or Authorization: Bearer …. The operator creates tokens with `tilecouch token`.' },
  ACCESS_DENIED: { status: 403, text: d => `this token is not for ${d.layer ? `the layer ${show(d.layer)}` : 'everything'}`, advice: 'Ask the operator for another one.' },
  TOKEN_EXPIRED: { status: 401, text: d => `this token expired at ${d.time}`, advice: 'Ask the operator for a new one.' },
  TOKEN_INVALID: { status: 401, text: () => 'this is not a token of this gateway', advice: 'It is incomplete or changed, or the key that signed it is no longer in use. Ask for a new one.' },

  // what a source holds
  OTHER_GRID: { status: 409, text: d => `${d.what} has the grid ${d.grid}, and ${d.other} has ${d.otherGrid}`, advice: 'The tiles of a layer are all in one grid: use a layer for each grid.' },
  TILE_SIZE: { status: 422, text: d => `the tile is ${d.size} x ${d.size} pixels, those of the layer ${show(d.layer)} are ${d.expected} x ${d.expected}`, advice: 'Load it as another layer. If the size of the layer is wrong, correct it with `tilecouch layer NAME --tile-size N`. --any-size loads it all the same, but GDAL cannot read such a layer.' },
  SAME_UNFIT: { status: 422, text: d => `tiles of the layer ${show(d.layer)} cannot be compared by ${d.what}: ${d.why}`, advice: 'Add --same pixels for images, --same features for vector tiles, or --same bytes to compare bytes again.' },
  FUTURE_TIME: {
    status: 409,
    text: d => d.newest
      ? `the newest tiles of ${d.layer} are dated ${d.newest}, in the future: tiles for ${d.time} go into the past, and the current map does not show them`
      : `${d.time} is in the future: later loads into ${d.layer} for any earlier time go into the past, and the current map no longer changes`,
    advice: 'If that time is a mistake, run `tilecouch remove LAYER --edition TIME`, then load it again with the right time.'
  },
  ROWS_FLIPPED: { status: 422, text: d => `the rows look counted from the wrong side: as read, the tiles lie in ${d.place}; counted from the other side, in ${d.other}, and ${d.says}`, advice: 'If so, remove the edition (`tilecouch remove LAYER --edition TIME`), and load it again with --scheme tms, or for MBTiles with --scheme xyz.' },
  AXES_SWAPPED: { status: 422, text: d => `columns and rows look exchanged (z/y/x instead of z/x/y): as read, the tiles lie in ${d.place}; exchanged, in ${d.other}, and ${d.says}`, advice: 'If so, remove the edition (`tilecouch remove LAYER --edition TIME`), rename the files to z/x/y (docs/sources.md), and load them again.' },
  NOT_WEB_MERCATOR: { status: 422, text: d => `the metadata of the tiles say that they are in ${show(d.profile)}, not in Web Mercator`, advice: 'Then they lie in wrong places. Load them with --grid (docs/grids.md), or cut the raster again in Web Mercator: gdal2tiles.py --xyz -p mercator.' },
  MIXED_SIZES: { status: 422, text: d => `the tiles have several sizes: ${d.sizes}`, advice: 'Load each size as a layer of its own: clients expect one, and GDAL cannot read such a layer.' },
  OTHER_TYPE: { status: 422, text: d => d.name ? `${plural(d.count, 'tile')} ${d.count === 1 ? 'is' : 'are'} ${d.type}, but called .${d.name}, such as ${d.tile}` : `the metadata say that the tiles are ${d.format}, but most are ${d.type}`, advice: 'Each tile is stored as what it is. Use addresses that end with its type, and set it with `tilecouch layer NAME --tile-format`.' },
  LARGE_TILES: { status: 422, text: d => `${plural(d.count, 'tile')} of more than 1 MB: ${d.tile} has ${bytes(d.bytes)}`, advice: 'They load slowly. Photographs are smaller as JPEG or WebP than as PNG; tiles of 256 or 512 pixels are usual.' },
  SOURCE_NOT_FOUND: { status: 404, text: d => `no such source ${show(d.value)}` },
  SOURCE_UNREADABLE: { status: 422, text: d => `cannot read ${show(d.value)}: ${d.why}` },
  SOURCE_UNKNOWN: { status: 422, text: d => `unknown kind of source ${show(d.value)}${d.why ? `: ${d.why}` : ''}`, advice: 'Sources are a folder of z/x/y.ext tiles, an .mbtiles or .pmtiles, the address of a tile server, a TileJSON or a store.' },
  SOURCE_NOT_TILES: { status: 422, text: d => `${show(d.value)} ${d.inside ? `holds no tiles, but ${show(d.inside)}, which ` : ''}is ${d.what}`, advice: 'Make tiles of it first: the error names the commands.' },
  SOURCE_EMPTY: { status: 422, text: d => `no tiles in ${show(d.value)}${d.why ? `: ${d.why}` : ''}`, advice: 'A tile folder has z/x/y.png; check the path, --zoom and --bbox.' },
  NO_TIME_IN_NAME: { status: 422, text: d => `no time in the name ${show(d.value)}${d.why ? `: ${d.why}` : ''}`, advice: 'Use names such as tiles-2023-06-01/ or survey_20240301.mbtiles.' },
  ARCHIVE_INVALID: { status: 422, text: d => `${show(d.file)} is damaged or of another format: ${d.why}`, advice: 'Download or create it again; `tilecouch check` lists its faults.' },

  BAD_STYLE: { status: 422, text: d => `bad style ${show(d.file)}: ${d.why}`, advice: 'Nothing was stored. See docs/styles.md for what a style may name.' },

  // where tiles go
  TARGET_UNKNOWN: { status: 422, text: d => `unknown kind of target ${show(d.value)}`, advice: 'Targets are a folder, .mbtiles or .pmtiles. For a zip or tar, export a folder and pack it.' },
  TARGET_EXISTS: { status: 409, text: d => `${show(d.value)} exists already${d.why ? `: ${d.why}` : ''}`, advice: 'Name another target, or replace it with --force.' },
  TARGET_UNWRITABLE: { status: 422, text: d => `cannot write ${show(d.value)}: ${d.why}` },
  NOT_VECTOR_TILES: { status: 422, text: d => `the tile ${d.value} is an image: only vector tiles have features`, advice: 'For images, `tilecouch diff FROM TO --geojson FILE` writes polygons of the tiles that differ.' },
  TOO_MANY_FEATURES: { status: 422, text: d => `more than ${d.most} features differ, and all must be in memory`, advice: 'Compare a part: --bbox, --polygon, or a smaller --zoom.' },
  NOTHING_TO_EXPORT: { status: 404, text: d => `no tiles to export from ${d.layer}${d.why ? `: ${d.why}` : ''}`, advice: 'Check the time, --zoom, --bbox and --polygon; `tilecouch info` shows what the layer has.' },
  EXPORT_FORBIDDEN: { status: 403, text: d => `the terms of ${d.host}, where the tiles of ${d.layer} come from, forbid archives of them`, advice: 'If the provider permits it, add --i-have-permission.' },

  // backups
  BACKUP_DAMAGED: { status: 422, text: d => `the backup ${show(d.file)} is damaged${d.at === undefined ? '' : ` at byte ${d.at}`}: ${d.why}`, advice: 'Copy it again from where it was kept; `tilecouch restore --partial` restores what comes before the damage.' },
  BACKUP_MISSING: { status: 404, text: d => `${show(d.file)} needs an earlier backup that is not among the files: ${d.why}`, advice: 'Name the full backup and all incremental ones after it.' },
  BACKUP_UNFIT: { status: 409, text: d => `${show(d.file)} cannot be the base of a backup of ${d.url}: ${d.why}`, advice: 'Make a full backup, without --base.' },
  BACKUP_OVERTAKEN: { status: 409, text: d => `${d.url} was changed during the backup: ${d.why}`, advice: 'Run it again when no documents are being purged.' },
  RESTORE_RIGHTS: { status: 409, text: d => `the backup would give rights to somebody, and you did not agree: ${some(d.who)}`, advice: 'Nothing was written. --closed restores it for admins only; then set the rights with `tilecouch access`.' },
  RESTORE_NOT_EMPTY: { status: 409, text: d => `${d.db} has documents already${d.why ? `: ${d.why}` : ''}`, advice: 'Restore into a new or an empty database.' },

  // the store
  NO_DATABASE_NAMED: { status: 400, text: d => `${d.url} names a server and no database: add the name of one, such as ${d.where}`, advice: 'A load creates the database if it does not exist.' },
  NOT_CONFIRMED: { status: 409, text: d => `nothing was removed: ${d.why}`, advice: 'Look first with --dry-run. At a terminal the command asks; in scripts add --yes.' },
  BAD_SETTING: { status: 400, text: d => `bad ${d.field} ${show(d.value)} for the viewer: ${d.why}`, advice: 'See `tilecouch settings --help`, and docs/viewer.md for the fields.' },
  LAYER_EXISTS: { status: 409, text: d => `the layer ${show(d.layer)} exists already`, advice: 'Use another name; or merge both with `tilecouch copy`, and remove the old one.' },
  QGIS_GRID: { status: 501, text: d => `QGIS shows ${d.isVector ? 'vector tiles' : 'addresses with {z}, {x} and {y}'} in Web Mercator only, and the layer ${show(d.layer)} has another grid`, advice: 'For images, use the layer file of a gateway, which has WMTS: http://GATEWAY/LAYER.qlr, or `tilecouch layer LAYER --qgis FILE --gateway URL`.' },
  STYLE_UNKNOWN: { status: 404, text: d => `no style is stored for the layer ${show(d.layer)}, and it does not say what its vector tiles hold`, advice: 'Load its tiles again: a load lists what they hold. Or store a style: `tilecouch layer LAYER --style FILE`.' },
  STYLE_NOT_FOUND: { status: 404, text: d => `no style ${d.layer}@${d.time}${d.file ? ` with ${show(d.file)}` : ''}`, advice: 'List the styles of a layer with `tilecouch layer LAYER`.' },
  STYLE_TAKEN: { status: 409, text: d => `there is another style for ${d.layer}@${d.time} already`, advice: 'Stored styles never change. Use a later --time; or remove that one first: `tilecouch remove LAYER --style TIME`.' },
  NO_EDITION: { status: 404, text: d => d.others?.length ? `several editions in ${d.layer}@${d.time}: ${d.others.join(', ')}` : `no edition ${d.layer}@${d.time}`, advice: 'Name one edition exactly: `tilecouch info LAYER` lists them.' },
  FILLING: { status: 503, text: () => 'this edge is still being filled', advice: 'Try again later, or use its origin.' },
  WOULD_BE_PUBLIC: { status: 409, text: d => `${d.where} is public, but ${d.url} is private`, advice: 'A mirror: make it private (its _security), or name a new database, which is private; to publish the copy, add --public. A gateway: add --private-layers, or --set public=true if everybody may read the store.' },
  NO_VALIDATION: { status: 409, text: d => `everybody could write into ${d.url}: it has no validation function`, advice: 'Deploy it with `tilecouch push`, then open the store.' },
  PURGE_UNSUPPORTED: { status: 501, text: d => `${d.url} cannot purge`, advice: 'Only CouchDB can. Remove without purging: only the ids of deleted documents remain.' },
  STORE_OUTDATED: { status: 409, text: d => `the validation function of ${d.url} is from an older tilecouch and refuses ${d.what}`, advice: 'Deploy the design documents of this version first: `tilecouch push`.' },

  // where missing tiles come from
  NO_UPSTREAM: { status: 409, text: d => `the layer ${show(d.layer)} has no upstream`, advice: 'Give its layer document an upstream, or load a folder of tiles.' },
  SEED_FORBIDDEN: { status: 403, text: d => `the terms of the upstream of ${show(d.layer)} (${d.host}) forbid seeding`, advice: 'Serve the layer without seeding, or use another provider. If the provider permits it, add --i-have-permission.' },
  UPSTREAM_ADDRESS: { status: 502, text: d => `the upstream ${d.url} leads to ${d.address}, which is in a private network`, advice: 'If that is intended, name its host, address or network in upstreamNetworks (--upstream-networks, TILECOUCH_UPSTREAM_NETWORKS).' },
  UPSTREAM_UNREACHABLE: { status: 502, text: d => `cannot reach the upstream ${d.url}: ${d.why}`, advice: 'Is it running, and is the url of the layer right?' },
  UPSTREAM_FAILED: { status: 502, text: d => `the upstream ${d.url} failed: ${d.why}`, advice: 'Nothing was stored. Open the address of the tile to see the answer.' },
  UPSTREAM_BUSY: { status: 503, text: d => `the upstream ${d.url} is paused: ${d.why}`, advice: 'Try again later.' },
  UPSTREAM_REFUSED: { status: 502, text: d => `the upstream ${d.url} refused: ${d.why}`, advice: 'Check its terms and limits, and whether it needs a key (upstreamHeaders of the gateway).' },

  // the server
  EMBEDDED_LOCKED: { status: 409, text: d => `another process uses the embedded store in ${d.dir}`, advice: 'Stop it, or name the URL it printed with --db.' },
  NO_PERMISSION: { status: 403, text: d => `no permission to read or write ${d.path}`, advice: 'Name another place (--data for the embedded store), or change the rights of this one.' },
  EMBEDDED_FOLDER: { status: 409, text: d => `${d.dir} ${d.why ?? 'has other files and no embedded store'}`, advice: 'Name a new folder with --data.' },
  EMBEDDED_PASSWORD: { status: 409, text: d => `${d.file} is not the password of an embedded store: ${d.why}`, advice: 'Check the file and remove it: the store creates a new password when it starts.' },
  PORT_IN_USE: { status: 409, text: d => `port ${d.port} is taken`, advice: 'Choose another with --port.' },
  WORKER_FAILED: { status: 500, text: d => `a worker ${d.why}`, advice: 'See the log.' },

  // the couchapp
  COUCHAPP_INVALID: { status: 422, text: d => `${d.file}: ${d.why}` },
  PASSWORD_NOT_SENT: { status: 403, text: d => `the name and password of ${d.value} are not sent to ${d.url}, which only ${d.file} names`, advice: 'If you trust that server, type its address instead of its name (--db URL), or set COUCHDB_URL for the store.' },
  PASSWORD_IN_FILE: { status: 400, text: d => `${d.file} contains a password`, advice: 'Remove it there, and set COUCHDB_URL, COUCHDB_USER and COUCHDB_PASSWORD in the environment.' }
}))

export { TilecouchError, catalogue }
