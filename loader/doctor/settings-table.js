// Settings of CouchDB that matter to a store of tiles: what each is unless set, and from where on it does harm.
import { adviceDefaults } from '../advice.js'
import { listDefaults } from '../store/list-defaults.js'
import { tunerDefaults } from '../store/tuner.js'
import { formats } from '../../core/images.js'

const MB = 1e6
const [warning, bad] = /** @type {const} */ (['warning', 'bad'])

/** A number, with infinity for what has no end. */
const number = text => text === 'infinity' || text === 'unlimited' ? Infinity : Number(text)

const below = (least, state, why, wanted = least) => value => number(value) < least ? { state, why, wanted } : undefined
const is = (harmful, state, why, wanted) => value => value === harmful ? { state, why, wanted } : undefined

/**
 * @typedef {object} Judgement
 * @property {'warning' | 'bad'} state
 * @property {string} why
 * @property {string | number} [wanted] the value that does no harm; nothing: take it away
 *
 * @typedef {object} Setting
 * @property {string} key section/name
 * @property {string} [unless] what it is when nobody has set it
 * @property {(value: string, about: {db: string, isPublic?: boolean, nodes: number, shards: number}) => Judgement | undefined} judge
 */

const BATCH = Math.ceil(tunerDefaults.maxBatchBytes * 4 / 3 + MB) // a batch of a load, in base64, with what surrounds it

const tileTypes = Object.values(formats).map(({ type }) => type)

/** @type {Setting[]} */
export const settings = [
  { key: 'chttpd/max_http_request_size', unless: '4294967296', judge: below(BATCH, bad, 'Loads and mirrors send batches that are larger: they fail.', 4294967296) },
  { key: 'couchdb/max_document_size', unless: '8000000', judge: below(MB, warning, 'Layers of vector tiles and what a map says of itself may be larger.', 8000000) },
  { key: 'couchdb/max_attachment_size', unless: '1073741824', judge: below(8 * MB, bad, 'A large tile, or a part of the viewer, is refused.', 1073741824) },
  { key: 'couchdb/max_dbs_open', unless: '500', judge: (value, { shards }) => below(4 * shards + 50, warning, 'Shards are opened and closed all the time.', 500)(value) },
  { key: 'couchdb/os_process_timeout', unless: '5000', judge: below(5000, warning, 'Lists, rewrites and validation of a busy server end before they are done.', 5000) },
  { key: 'couchdb/maintenance_mode', unless: 'false', judge: value => value === 'false' ? undefined : { state: bad, why: 'This node answers nobody.', wanted: 'false' } },
  { key: 'couchdb/default_security', unless: 'admin_only', judge: is('everyone', warning, 'Everybody may write to every new database until it is closed.', 'admin_only') },
  { key: 'couchdb/file_compression', unless: 'snappy', judge: is('none', warning, 'Indexes and documents take two to four times the room.', 'snappy') },
  { key: 'couchdb/delayed_commits', judge: () => ({ state: warning, why: 'Gone since 3.0: nobody reads it. Every write is on disk before it is answered.' }) },
  { key: 'couchdb/os_process_limit', judge: () => ({ state: warning, why: 'Nobody reads it: it is query_server_config/os_process_limit.' }) },
  { key: 'compactions/_default', judge: () => ({ state: warning, why: 'Gone since 3.0: smoosh compacts by itself, by its own settings.' }) },
  { key: 'httpd/enable_cors', judge: () => ({ state: warning, why: 'Nobody reads it: it is chttpd/enable_cors.' }) },
  { key: 'couch_httpd_auth/require_valid_user', judge: (value, about) => closesDoor(value, about) },
  { key: 'chttpd_auth/require_valid_user', judge: (value, about) => closesDoor(value, about) },
  { key: 'chttpd/require_valid_user', unless: 'false', judge: (value, about) => closesDoor(value, about) },
  { key: 'chttpd/bulk_get_use_batches', unless: 'true', judge: is('false', warning, 'Mirrors and the gateway read documents one by one.', 'true') },
  { key: 'chttpd/max_uri_length', unless: '8000', judge: below(2000, warning, 'Addresses of WMTS and of views may be longer.', 8000) },
  { key: 'query_server_config/os_process_limit', unless: '100', judge: (value, { shards }) => below(Math.max(10, 2 * shards), warning, 'Each shard that is indexed or written to takes one; others wait.', 100)(value) },
  { key: 'query_server_config/os_process_soft_limit', unless: '100', judge: below(5, warning, 'Processes for design functions are ended and started all the time.', 100) },
  { key: 'query_server_config/query_limit', unless: 'infinity', judge: below(listDefaults.page * 5, bad, 'Views end early without a word: listings, exports and mirrors take what is there for all there is.', 'infinity') },
  { key: 'query_server_config/commit_freq', unless: '5', judge: value => number(value) > 60 ? { state: warning, why: 'That many seconds of indexing are lost when the server is killed.', wanted: 5 } : undefined },
  { key: 'query_server_config/reduce_limit', unless: 'true', judge: () => undefined },
  { key: 'attachments/compressible_types', unless: 'text/*, application/javascript, application/json, application/xml', judge: compressible },
  { key: 'smoosh/db_channels', unless: 'upgrade_dbs,ratio_dbs,slack_dbs', judge: value => channels(value, 'dbs') },
  { key: 'smoosh/view_channels', unless: 'upgrade_views,ratio_views,slack_views', judge: value => channels(value, 'views') },
  ...['ratio_dbs', 'ratio_views'].map(name => ({ key: `smoosh.${name}/min_priority`, unless: '2.0', judge: value => number(value) > 5 ? { state: warning, why: 'Files grow to that many times what they hold before they are compacted.', wanted: '2.0' } : undefined })),
  ...['slack_dbs', 'slack_views'].map(name => ({ key: `smoosh.${name}/min_priority`, unless: '536870912', judge: value => number(value) > 10e9 ? { state: warning, why: 'So many bytes of each shard may be waste.', wanted: '536870912' } : undefined })),
  { key: 'cluster/q', unless: '2', judge: value => number(value) > adviceDefaults.most ? { state: warning, why: 'New databases get more shards than requests can ask at once without loss.', wanted: 2 } : undefined },
  { key: 'cluster/n', unless: '3', judge: (value, { nodes }) => nodes > 1 && number(value) < 2 ? { state: warning, why: 'New databases stand on one node each, and go with it.', wanted: Math.min(3, nodes) } : undefined },
  { key: 'purge/max_document_id_number', unless: '100', judge: below(100, warning, 'What removes with --purge asks for a hundred at once.', 100) },
  { key: 'replicator/max_jobs', unless: '500', judge: below(1, bad, 'Nothing is replicated.', 500) },
  { key: 'disk_monitor/enable', unless: 'false', judge: () => undefined },
  { key: 'log/level', unless: 'info', judge: is('debug', warning, 'Logs grow by gigabytes a day, and tell more than they should.', 'info') },
  { key: 'ken/limit', unless: '20', judge: below(1, warning, 'Indexes are built when they are asked only: readers wait.', 20) }
]

/** @param {string} value @param {{isPublic?: boolean}} about @returns {Judgement | undefined} */
function closesDoor (value, { isPublic }) {
  return value === 'true' && isPublic ? { state: warning, why: 'The store is open to everybody, and nobody without a name gets in: maps stay empty, and so does a gateway without a name.', wanted: 'false' } : undefined
}

/** @param {string} value @returns {Judgement | undefined} */
function compressible (value) {
  const all = value.split(',').map(type => type.trim())
  const own = tileTypes.find(type => all.some(entry => entry === type || (entry.endsWith('/*') && type.startsWith(entry.slice(0, -1)))))
  return own ? { state: bad, why: `Tiles (${own}) are packed again: their digests are not those of their bytes, so that every load writes all of them anew.`, wanted: settings.find(({ key }) => key === 'attachments/compressible_types')?.unless } : undefined
}

/** @param {string} value @param {string} kind @returns {Judgement | undefined} */
function channels (value, kind) {
  const missing = ['ratio', 'slack'].map(name => `${name}_${kind}`).filter(name => !value.split(',').some(entry => entry.trim() === name))
  return missing.length ? { state: warning, why: `Without ${missing.join(' and ')} nothing may ever be compacted by itself.`, wanted: `upgrade_${kind},ratio_${kind},slack_${kind}` } : undefined
}
