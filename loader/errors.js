// The errors that only Node can meet: of files, commands, backups, upstreams and servers. They join the catalogue of core/errors.js,
// which browsers load. Code in loader/ and server/ imports TilecouchError from here.
import { TilecouchError, catalogue, show, some } from '../core/errors.js'

Object.assign(catalogue, /** @type {typeof catalogue} */ ({
  // what a program asked over HTTP
  BAD_REQUEST: { status: 400, text: d => `bad request: ${d.why}` },
  BAD_ADDRESS: { status: 400, text: d => `bad address ${show(d.value)}: ${d.why}`, advice: 'Encode what is no letter or digit as UTF-8 with percent signs.' },

  // who may see what through a gateway
  ACCESS_NEEDED: { status: 401, text: d => `${d.layer ? `the layer ${show(d.layer)} is` : 'this is'} not for everybody`, advice: 'Ask with a token: ?token=… behind the address, or Authorization: Bearer …. Its operator makes them with `tilecouch token`.' },
  ACCESS_DENIED: { status: 403, text: d => `this token is not for ${d.layer ? `the layer ${show(d.layer)}` : 'everything'}`, advice: 'Ask its operator for one that is.' },
  TOKEN_EXPIRED: { status: 401, text: d => `this token was good until ${d.time}`, advice: 'Ask whoever gave it to you for a new one.' },
  TOKEN_INVALID: { status: 401, text: () => 'this is no token of this gateway', advice: 'It was cut off or changed on the way, or the key that signed it is no longer in use. Ask for a new one.' },
  TOO_MANY_GUESSES: { status: 429, text: d => `too many wrong passwords: the next one may be tried in ${d.seconds} s`, advice: 'Wait, or ask with a token. Passwords that were right a moment ago, sessions and tokens go on working.' },

  // what a source holds
  TILE_SIZE: { status: 422, text: d => `the tile is ${d.size} x ${d.size} pixels, those of the layer ${show(d.layer)} are ${d.expected} x ${d.expected}`, advice: 'Load it as a layer of its own. If the layer says the wrong size, put it right with `tilecouch layer NAME --tile-size N`. --any-size loads it as it is, which GDAL and the programs made with it cannot read.' },
  FUTURE_TIME: {
    status: 409,
    text: d => d.newest
      ? `the newest tiles of ${d.layer} are of ${d.newest}, in the future: what is loaded for ${d.time} goes into the past, and the map shows it nowhere but there`
      : `${d.time} is in the future: what is loaded into ${d.layer} from now on, for any earlier time, goes into the past, and the map no longer changes`,
    advice: 'If that time is a mistake: `tilecouch remove LAYER --edition TIME`, then load it again for the right one.'
  },
  SOURCE_NOT_FOUND: { status: 404, text: d => `no such source ${show(d.value)}` },
  SOURCE_UNREADABLE: { status: 422, text: d => `cannot read ${show(d.value)}: ${d.why}` },
  SOURCE_UNKNOWN: { status: 422, text: d => `cannot tell what ${show(d.value)} is${d.why ? `: ${d.why}` : ''}`, advice: 'Sources are a folder of z/x/y.ext tiles, .mbtiles, .pmtiles, .zip, .tar or .tar.gz, the address of a tile server or of a store.' },
  SOURCE_EMPTY: { status: 422, text: d => `no tiles in ${show(d.value)}`, advice: 'A tile folder holds z/x/y.png; check the path, --zoom and --bbox.' },
  NO_TIME_IN_NAME: { status: 422, text: d => `no time in the name ${show(d.value)}${d.why ? `: ${d.why}` : ''}`, advice: 'A dated set has names such as tiles-2023-06-01/ or survey_20240301.mbtiles.' },
  ARCHIVE_INVALID: { status: 422, text: d => `${show(d.file)} is damaged or no such archive: ${d.why}`, advice: 'Fetch or make it again; `tilecouch check` lists everything that is wrong with it.' },

  // where tiles go
  TARGET_UNKNOWN: { status: 422, text: d => `cannot tell what to write to ${show(d.value)}`, advice: 'Targets are a folder, .mbtiles, .pmtiles or .zip.' },
  TARGET_EXISTS: { status: 409, text: d => `${show(d.value)} is there already${d.why ? `: ${d.why}` : ''}`, advice: 'Name another target, or let --force replace it.' },
  TARGET_UNWRITABLE: { status: 422, text: d => `cannot write ${show(d.value)}: ${d.why}` },
  NOTHING_TO_EXPORT: { status: 404, text: d => `no tiles to export from ${d.layer}${d.why ? `: ${d.why}` : ''}`, advice: 'Check the time, --zoom, --bbox and --polygon; `tilecouch info` says what the layer holds.' },
  EXPORT_FORBIDDEN: { status: 403, text: d => `the terms of ${d.host}, where the tiles of ${d.layer} come from, forbid archives of them`, advice: 'With the permission of its operator, say --i-have-permission.' },

  // backups
  BACKUP_DAMAGED: { status: 422, text: d => `the backup ${show(d.file)} is damaged${d.at === undefined ? '' : ` at byte ${d.at}`}: ${d.why}`, advice: 'Fetch it again from where it was kept; `tilecouch restore --partial` takes what comes before the damage.' },
  BACKUP_MISSING: { status: 404, text: d => `${show(d.file)} goes on from a backup that is not among the files: ${d.why}`, advice: 'Name the full backup and every one between.' },
  BACKUP_UNFIT: { status: 409, text: d => `${show(d.file)} is no base for a backup of ${d.url}: ${d.why}`, advice: 'Make a full backup, without --base.' },
  BACKUP_OVERTAKEN: { status: 409, text: d => `${d.url} was changed under the backup: ${d.why}`, advice: 'Run it again, not while documents are purged.' },
  BACKUP_LOCKED: { status: 403, text: d => `the backup ${show(d.file)} is encrypted: ${d.why}`, advice: 'Name the file with a key that it was encrypted for: --identity.' },
  BACKUP_UNSIGNED: { status: 403, text: d => `the backup ${show(d.file)} is not signed`, advice: 'Take one that is, or leave out --signed-by if you know who had the file in his hands.' },
  BACKUP_FORGED: { status: 403, text: d => `the backup ${show(d.file)} is not what was signed: ${d.why}`, advice: 'Name the public key of who made it with --signed-by; fetch the file again from where it was kept. Do not restore it.' },
  RESTORE_RIGHTS: { status: 409, text: d => `somebody would get rights by the backup, and you said no: ${some(d.who)}`, advice: 'Nothing was written. --closed restores it and leaves the database to admins; set who may do what with `tilecouch access` then.' },
  RESTORE_NOT_EMPTY: { status: 409, text: d => `${d.db} holds documents already${d.why ? `: ${d.why}` : ''}`, advice: 'Restore into a database that is not there yet, or into an empty one.' },

  // the store
  LAYER_EXISTS: { status: 409, text: d => `there is a layer ${show(d.layer)} already`, advice: 'Take another name; or copy into it with `tilecouch copy`, which puts both together, and remove the old one.' },
  NO_EDITION: { status: 404, text: d => d.others?.length ? `several editions in ${d.layer}@${d.time}: ${d.others.join(', ')}` : `no edition ${d.layer}@${d.time}`, advice: 'Name one edition exactly: `tilecouch info LAYER` lists them.' },
  FILLING: { status: 503, text: () => 'this edge is being filled, and does not know yet what it lacks', advice: 'Ask again later, or ask its origin.' },
  WOULD_BE_PUBLIC: { status: 409, text: d => `everybody may read ${d.where}, and not everybody may read ${d.url}`, advice: 'Close the mirror (its _security) or name a new database, which stays closed. When everybody may read it there, say --public.' },
  NO_VALIDATION: { status: 409, text: d => `everybody could write into ${d.url}: it has no validation function`, advice: 'Deploy it with `tilecouch push`, then open the store.' },
  PURGE_UNSUPPORTED: { status: 501, text: d => `${d.url} cannot purge`, advice: 'Only CouchDB can. Remove without purging: what was deleted leaves its id, and no more.' },
  STORE_OUTDATED: { status: 409, text: d => `the validation function of ${d.url} is of an older tilecouch and takes no ${d.what}`, advice: 'Deploy the design documents of this one first: `tilecouch push`.' },

  // where missing tiles come from
  NO_UPSTREAM: { status: 409, text: d => `the layer ${show(d.layer)} has no upstream`, advice: 'There is nowhere to fetch tiles from: give its layer document an upstream, or load a folder of tiles.' },
  SEED_FORBIDDEN: { status: 403, text: d => `the upstream of ${show(d.layer)} (${d.host}) is not for fetching ahead`, advice: 'Its terms forbid it. Serve the layer without seeding, or use a provider that allows it. Whoever has leave says --i-have-permission.' },
  UPSTREAM_ADDRESS: { status: 502, text: d => `the upstream ${d.url} leads to ${d.address}, which is in an inner network`, advice: 'If it is meant to be asked there, name its host, address or network in upstreamNetworks (--upstream-networks, TILECOUCH_UPSTREAM_NETWORKS).' },
  UPSTREAM_UNREACHABLE: { status: 502, text: d => `cannot reach the upstream ${d.url}: ${d.why}`, advice: 'Is it up, and is the url of the layer right?' },
  UPSTREAM_FAILED: { status: 502, text: d => `the upstream ${d.url} failed: ${d.why}`, advice: 'Nothing of it was stored. Open the address of the tile to see what it answers.' },
  UPSTREAM_BUSY: { status: 503, text: d => `the upstream ${d.url} is not asked now: ${d.why}`, advice: 'Try again later.' },
  UPSTREAM_REFUSED: { status: 502, text: d => `the upstream ${d.url} refused: ${d.why}`, advice: 'Look at its terms and limits, and whether it wants a key (upstreamHeaders of the gateway).' },

  // the server
  EMBEDDED_LOCKED: { status: 409, text: d => `another process uses the embedded store in ${d.dir}`, advice: 'Stop it, or name the URL it printed with --db.' },
  EMBEDDED_FOLDER: { status: 409, text: d => `${d.dir} holds other files and no embedded store`, advice: 'Name a folder of its own with --data: nobody else may look into it.' },
  EMBEDDED_PASSWORD: { status: 409, text: d => `${d.file} is no password of an embedded store: ${d.why}`, advice: 'Look at what it is, and remove it: a new password is made when the store starts.' },
  PORT_IN_USE: { status: 409, text: d => `port ${d.port} is taken`, advice: 'Choose another with --port.' },
  WORKER_FAILED: { status: 500, text: d => `a worker ${d.why}`, advice: 'What it met is in the log.' },

  // areas on a device
  REPLICATOR_CANNOT: { status: 400, text: d => `CouchDB's replicator cannot ${d.what}: ${d.why}`, advice: 'Leave out --print-replicator: tilecouch then copies itself, and can.' },

  // the couchapp
  COUCHAPP_INVALID: { status: 422, text: d => `${d.file}: ${d.why}` },
  PASSWORD_NOT_SENT: { status: 403, text: d => `the name and password of ${d.value} are not sent to ${d.url}: only ${d.file} names it`, advice: 'If you mean that server, type its address in place of its name (--db URL); for the store, setting COUCHDB_URL to it does as well.' },
  PASSWORD_IN_FILE: { status: 400, text: d => `${d.file} holds a password`, advice: 'Remove it there, and give COUCHDB_URL, COUCHDB_USER and COUCHDB_PASSWORD in the environment.' }
}))

export { TilecouchError, catalogue }
