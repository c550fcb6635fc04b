// The settings of a CouchDB server that matter to tiles, as one of its admins sees them. The configuration holds secrets: only
// the settings that are named here are looked at. `fix` changes none that other databases share, unless the option `cors` or
// `allowViewer` says so; it only narrows what an older tilecouch or a contradiction has opened.
import { TilecouchError } from '../errors.js'
import { formats } from '../../core/images.js'
import { VIEWER_CSP, couchPolicy, differsInDigests, letsRun } from '../couchapp/policy.js'
import { Couch } from '../store/couch.js'
import { listDefaults } from '../store/list-defaults.js'
import { tunerDefaults } from '../store/tuner.js'
import { plural } from '../text.js'
import { accessRights } from './access.js'
import { adviceDefaults } from './shards.js'

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const settingConditions = [
  { area: 'settings', check: 'settings', needs: 'a server admin', server: true, couchOnly: true, fixable: true, look: lookAtSettings }
]

const MOST_NODES = 12
const CSP = 'csp/attachments_header_value'

/** @param {Inspection} inspection @returns {Promise<Found | void>} */
async function lookAtSettings (inspection) {
  if (inspection.version === undefined) return
  const nodes = await configurations(inspection)
  const server = {
    db: inspection.couch.db,
    isPublic: await accessRights(inspection).then(({ public: isPublic }) => isPublic, () => undefined),
    nodes: nodes.length,
    shards: await inspection.info().then(({ cluster }) => cluster?.q ?? 1, () => 1)
  }
  const wrong = settings.map(setting => ({ setting, faults: nodes.map(node => faultOf(setting, node, server)).filter(one => one !== undefined) }))
    .filter(({ faults }) => faults.length)
  for (const { setting: { key }, faults } of wrong) {
    const [{ state, value, why, wanted }] = faults
    const where = nodes.length > 1 ? ` at ${faults.map(({ node }) => node).join(', ')}` : ''
    const advice = wanted === undefined ? `Remove ${key} from the ini files.` : `${key} = ${wanted}`
    inspection.add('settings', key, { state, found: `${value}${where}`, why, advice })
  }
  lookForIgnoredShards(inspection, nodes)
  await lookAtBrowsers(inspection, nodes[0].config)
  const figures = { settings: settings.length, wrong: wrong.length }
  return { state: 'ok', found: `${plural(settings.length - wrong.length, 'setting')} as they should be`, figures }
}

/** The configuration of each node. */
async function configurations (inspection) {
  const { cluster_nodes: names } = await inspection.membership()
  const asked = names.length > 1 ? names.slice(0, MOST_NODES) : ['_local']
  return Promise.all(asked.map(async node => ({ node, config: await inspection.ask({ path: `_node/${node}/_config`, server: true }) })))
}

function valueOf (config, key) {
  const at = key.indexOf('/')
  return config[key.slice(0, at)]?.[key.slice(at + 1)]
}

/** @param {Setting} setting @param {{node: string, config: any}} where @param {any} server */
function faultOf ({ key, unless, check }, { node, config }, server) {
  const value = valueOf(config, key) ?? unless
  const fault = value === undefined ? undefined : check(value.trim(), server)
  return fault && { node, value, ...fault }
}

const IGNORED = {
  'ken.ignore': 'Their indexes are built only when they are read: readers wait.',
  'smoosh.ignore': 'They are never compacted automatically.'
}
const SHARD = /^shards\/[\da-f]{8}-[\da-f]{8}\/(.+)\.\d+$/

/** Shards of the store that the server is told to ignore. The lists name files, not databases. */
function lookForIgnoredShards (inspection, nodes) {
  const { db } = inspection.couch
  for (const [section, why] of Object.entries(IGNORED)) {
    const listed = nodes.flatMap(({ config }) => Object.entries(config[section] ?? {}))
    const own = listed.filter(([key, value]) => value === 'true' && SHARD.exec(key)?.[1] === db)
    const shards = [...new Set(own.map(([key]) => key))]
    if (!shards.length) continue
    const advice = `Remove from ${section}: ${shards.join(', ')}.`
    inspection.add('settings', section, { state: 'warning', found: plural(shards.length, 'shard'), why, advice })
  }
}

/**
 * What pages in browsers may do: which of them read (CORS), and which scripts run in the origin of the server (CSP).
 * @param {Inspection} inspection @param {any} config
 */
async function lookAtBrowsers (inspection, config) {
  const { subject: { url, cors: wanted, allowViewer = false } } = inspection
  const add = (key, found) => found && inspection.add('settings', key, found)
  const { csp = {}, cors = {}, chttpd = {} } = config
  /** @param {string} key @param {string} value */
  const set = (key, value) => {
    const path = `_node/_local/_config/${key}`
    // CouchDB answers with a bare string
    return () => new Couch(url, { retries: 2 }).request({ method: 'PUT', path, server: true, body: JSON.stringify(value), raw: true })
  }
  for (const [key, is, should] of [['chttpd/enable_cors', chttpd.enable_cors, 'true'], ['cors/origins', cors.origins, wanted]]) {
    if (wanted === undefined || is === should) continue
    const why = 'Pages of these origins cannot read the store. The setting applies to every database of the server.'
    add(key, { state: 'warning', found: is ?? 'not set', why, advice: `${key} = ${should}, as --fix --cors sets it`, fix: set(key, should) })
  }
  const anyone = wanted === '*' || (wanted === undefined && chttpd.enable_cors === 'true' && (cors.origins ?? '').split(',').some(origin => origin.trim() === '*'))
  if (anyone && cors.credentials === 'true') {
    add('cors/credentials', {
      state: 'warning', found: 'true, and cors/origins *', why: 'Pages of every origin would read with the rights of their visitor.',
      advice: 'cors/credentials = false, or cors/origins as a list', ...(wanted && { fix: set('cors/credentials', 'false') })
    })
  }
  const policy = await couchPolicy()
  add(CSP, policyFault(csp, { policy, allowViewer, set }))
  if (csp.attachments_enable === 'false') {
    const why = 'Every attached page runs its scripts with the session of its visitor.'
    add('csp/attachments_enable', { state: 'bad', found: 'false', why, advice: 'csp/attachments_enable = true', fix: set('csp/attachments_enable', 'true') })
  }
  const lets = csp.attachments_enable === 'false' ? 'anything' : letsRun(csp.attachments_header_value ?? 'sandbox')
  const viewer = lets === 'nothing' ? 'CouchDB does not serve the viewer, a gateway does (--fix --allow-viewer allows it here too)' : 'the viewer runs'
  const origins = chttpd.enable_cors !== 'true' || !cors.origins ? 'no other origin' : cors.origins.split(',').some(origin => origin.trim() === '*') ? 'every origin' : cors.origins
  add('browsers', { state: 'ok', found: `${viewer}; pages of ${origins} read` })
}

/**
 * The policy that CouchDB sends with attachments. Only the viewer of this tilecouch should run, or nothing.
 * @param {{attachments_header_value?: string}} csp
 * @param {{policy: string, allowViewer: boolean, set: (key: string, value: string) => () => Promise<unknown>}} wanted
 * @returns {Found | undefined}
 */
function policyFault ({ attachments_header_value: found = 'sandbox' }, { policy, allowViewer, set }) {
  if (found === policy) return undefined
  const fix = set(CSP, policy)
  if (allowViewer || differsInDigests(found, policy)) {
    const why = 'Browsers do not run the scripts of this viewer. The setting applies to every database of the server.'
    return { state: 'warning', found, why, advice: 'tilecouch doctor --fix --allow-viewer', fix }
  }
  if (letsRun(found) !== 'anything') return undefined
  return {
    state: 'bad', found,
    why: 'A page that somebody attached in any database of this server runs with the session of its visitor.',
    advice: `tilecouch doctor --fix --allow-viewer, or ${CSP} = sandbox and the viewer of \`tilecouch serve\``,
    ...(found === VIEWER_CSP && { fix }) // an older tilecouch set it
  }
}

/** Origins as browsers write them, one or several; `*` for all. @param {string} text */
export function parseOrigins (text) {
  const origins = text.split(',').map(origin => origin.trim()).filter(Boolean)
  const isWrong = origin => origin.includes('*') || !URL.canParse(origin) || new URL(origin).origin !== origin
  const wrong = origins.length === 1 && origins[0] === '*' ? undefined : origins.find(isWrong)
  if (wrong === undefined && origins.length) return origins.join(', ')
  const why = 'it takes origins such as https://maps.example.org, separated by commas, or *'
  throw new TilecouchError('BAD_OPTION', { option: '--cors', value: wrong ?? text, why })
}

const MB = 1e6
const [warning, bad] = /** @type {const} */ (['warning', 'bad'])

/** A number; infinity for no limit. */
const number = text => text === 'infinity' || text === 'unlimited' ? Infinity : Number(text)

const below = (least, state, why, wanted = least) => value => number(value) < least ? { state, why, wanted } : undefined
const is = (harmful, state, why, wanted) => value => value === harmful ? { state, why, wanted } : undefined

/**
 * @typedef {object} Fault
 * @property {'warning' | 'bad'} state
 * @property {string} why
 * @property {string | number} [wanted] a value that does no harm; undefined: remove the setting
 *
 * @typedef {object} Setting
 * @property {string} key section/name
 * @property {string} [unless] the default of CouchDB
 * @property {(value: string, about: {db: string, isPublic?: boolean, nodes: number, shards: number}) => Fault | undefined} check
 */

const BATCH = Math.ceil(tunerDefaults.maxBatchBytes * 4 / 3 + MB) // bytes of a batch of a load, in base64

const tileTypes = Object.values(formats).map(({ type }) => type)

/** @type {Setting[]} */
export const settings = [
  { key: 'chttpd/max_http_request_size', unless: '4294967296', check: below(BATCH, bad, 'Loads and mirrors send batches that are larger: they fail.', 4294967296) },
  { key: 'couchdb/max_document_size', unless: '8000000', check: below(MB, warning, 'Layers of vector tiles may be larger.', 8000000) },
  { key: 'couchdb/max_attachment_size', unless: '1073741824', check: below(8 * MB, bad, 'A large tile, or a part of the viewer, is refused.', 1073741824) },
  { key: 'couchdb/max_dbs_open', unless: '500', check: (value, { shards }) => below(4 * shards + 50, warning, 'Shards are opened and closed all the time.', 500)(value) },
  { key: 'couchdb/os_process_timeout', unless: '5000', check: below(5000, warning, 'On a busy server, lists, rewrites and validation are cut off.', 5000) },
  { key: 'couchdb/maintenance_mode', unless: 'false', check: value => value === 'false' ? undefined : { state: bad, why: 'This node answers no requests.', wanted: 'false' } },
  { key: 'couchdb/default_security', unless: 'admin_only', check: is('everyone', warning, 'Everybody may write to every new database.', 'admin_only') },
  { key: 'couchdb/file_compression', unless: 'snappy', check: is('none', warning, 'Indexes and documents take two to four times the space.', 'snappy') },
  { key: 'couchdb/delayed_commits', check: () => ({ state: warning, why: 'It has no effect since 3.0: every write is on disk before it is answered.' }) },
  { key: 'couchdb/os_process_limit', check: () => ({ state: warning, why: 'It has no effect: use query_server_config/os_process_limit.' }) },
  { key: 'compactions/_default', check: () => ({ state: warning, why: 'It has no effect since 3.0: smoosh compacts, with its own settings.' }) },
  { key: 'httpd/enable_cors', check: () => ({ state: warning, why: 'It has no effect: use chttpd/enable_cors.' }) },
  { key: 'couch_httpd_auth/require_valid_user', check: (value, about) => locksOut(value, about) },
  { key: 'chttpd_auth/require_valid_user', check: (value, about) => locksOut(value, about) },
  { key: 'chttpd/require_valid_user', unless: 'false', check: (value, about) => locksOut(value, about) },
  { key: 'chttpd/bulk_get_use_batches', unless: 'true', check: is('false', warning, 'Mirrors and the gateway read documents one by one.', 'true') },
  { key: 'chttpd/max_uri_length', unless: '8000', check: below(2000, warning, 'Addresses of WMTS and of views may be longer.', 8000) },
  { key: 'query_server_config/os_process_limit', unless: '100', check: (value, { shards }) => below(Math.max(10, 2 * shards), warning, 'Each shard that is indexed or written needs one; others wait.', 100)(value) },
  { key: 'query_server_config/os_process_soft_limit', unless: '100', check: below(5, warning, 'Processes for design functions are stopped and started all the time.', 100) },
  { key: 'query_server_config/query_limit', unless: 'infinity', check: below(listDefaults.page * 5, bad, 'Views end early without an error: listings, exports and mirrors are incomplete.', 'infinity') },
  { key: 'query_server_config/commit_freq', unless: '5', check: value => number(value) > 60 ? { state: warning, why: 'That many seconds of indexing are lost when the server is killed.', wanted: 5 } : undefined },
  { key: 'query_server_config/reduce_limit', unless: 'true', check: () => undefined },
  { key: 'attachments/compressible_types', unless: 'text/*, application/javascript, application/json, application/xml', check: compressible },
  { key: 'smoosh/db_channels', unless: 'upgrade_dbs,ratio_dbs,slack_dbs', check: value => channels(value, 'dbs') },
  { key: 'smoosh/view_channels', unless: 'upgrade_views,ratio_views,slack_views', check: value => channels(value, 'views') },
  ...['ratio_dbs', 'ratio_views'].map(name => ({ key: `smoosh.${name}/min_priority`, unless: '2.0', check: value => number(value) > 5 ? { state: warning, why: 'Files grow to that many times their content before they are compacted.', wanted: '2.0' } : undefined })),
  ...['slack_dbs', 'slack_views'].map(name => ({ key: `smoosh.${name}/min_priority`, unless: '536870912', check: value => number(value) > 10e9 ? { state: warning, why: 'That many bytes of each shard may be wasted.', wanted: '536870912' } : undefined })),
  { key: 'cluster/q', unless: '2', check: value => number(value) > adviceDefaults.most ? { state: warning, why: 'New databases get so many shards that every request becomes slower.', wanted: 2 } : undefined },
  { key: 'cluster/n', unless: '3', check: (value, { nodes }) => nodes > 1 && number(value) < 2 ? { state: warning, why: 'New databases are lost with the one node that has them.', wanted: Math.min(3, nodes) } : undefined },
  { key: 'purge/max_document_id_number', unless: '100', check: below(100, warning, 'Commands with --purge purge a hundred documents at a time.', 100) },
  { key: 'replicator/max_jobs', unless: '500', check: below(1, bad, 'Nothing is replicated.', 500) },
  { key: 'disk_monitor/enable', unless: 'false', check: () => undefined },
  { key: 'log/level', unless: 'info', check: is('debug', warning, 'Logs grow by gigabytes a day and contain private data.', 'info') },
  { key: 'ken/limit', unless: '20', check: below(1, warning, 'Indexes are built only when they are read: readers wait.', 20) }
]

/** @param {string} value @param {{isPublic?: boolean}} about @returns {Fault | undefined} */
function locksOut (value, { isPublic }) {
  return value === 'true' && isPublic ? { state: warning, why: 'The store is public, but requests without a name are refused: maps stay empty, and so does a gateway without a name.', wanted: 'false' } : undefined
}

/** @param {string} value @returns {Fault | undefined} */
function compressible (value) {
  const all = value.split(',').map(type => type.trim())
  const own = tileTypes.find(type => all.some(entry => entry === type || (entry.endsWith('/*') && type.startsWith(entry.slice(0, -1)))))
  return own ? { state: bad, why: `CouchDB compresses tiles (${own}): their digests are not those of their bytes, so every load writes all of them again.`, wanted: settings.find(({ key }) => key === 'attachments/compressible_types')?.unless } : undefined
}

/** @param {string} value @param {string} kind @returns {Fault | undefined} */
function channels (value, kind) {
  const missing = ['ratio', 'slack'].map(name => `${name}_${kind}`).filter(name => !value.split(',').some(entry => entry.trim() === name))
  return missing.length ? { state: warning, why: `Without ${missing.join(' and ')} nothing may be compacted automatically.`, wanted: `upgrade_${kind},ratio_${kind},slack_${kind}` } : undefined
}
