// The settings of a CouchDB server that matter to tiles, as one of its admins sees them. The configuration holds
// secrets: only the settings that are named here are read. `fix` changes none that other databases share, unless
// the option `cors` or `allowViewer` says so; it only narrows rights that an older tilecouch or a contradiction gave.
import { STORE_ID, settingsOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { formats } from '../../../core/images.js'
import {
  NO_ORIGINS, couchPolicy, differsInLists, embedders, isOrigin, isViewerPolicy, letsRun, originsIn, originsOf,
  runsViewer, storesIn
} from '../../couchapp/policy.js'
import { Couch, compresses } from '../../store/couch.js'
import { listDefaults } from '../../store/ranges.js'
import { plural } from '../../text.js'
import { accessRights } from './access.js'
import { bad, ok, warning } from './inspection.js'

export const settingConditions = [
  {
    area: 'settings', check: 'settings', needs: 'a server admin', server: true, couchOnly: true, fixable: true,
    look: lookAtSettings
  }
]

const MOST_NODES = 12
const CSP = 'csp/attachments_header_value'
const MB = 1e6
const REQUEST = 10 * MB // a batch of a load, or the design document with the viewer, both in base64, and some room

/** @typedef {{isPublic?: boolean, nodes: number, shards: number}} About the server and the store */
/** @typedef {(value: string, about: About) => boolean | undefined} IsHarmful */

/** A number; infinity for no limit. */
const numberOf = text => text === 'infinity' || text === 'unlimited' ? Infinity : Number(text)

const below = least => (value, about) => numberOf(value) < (typeof least === 'function' ? least(about) : least)
const is = harmful => value => value === harmful
const isSet = () => true
const locksOut = (value, about) => value === 'true' && about.isPublic
const lacksChannel = kind => value => ['ratio', 'slack'].some(name => !splitList(value).includes(`${name}_${kind}`))
/** The entries of a list, such as `a, b`. @param {string} text */
const splitList = text => text.split(',').map(entry => entry.trim()).filter(Boolean)

const LOCKS_OUT = 'The store is public, but requests without a name are refused: maps stay empty, ' +
  'and so does a gateway without a name.'

/**
 * By section/name: the default of CouchDB (undefined: there is none, and the setting should be removed), whether a
 * value does harm, how bad that is, and why.
 * @type {Record<string, [string | undefined, IsHarmful, 'warning' | 'bad', string]>}
 */
export const settings = {
  'chttpd/max_http_request_size': ['4294967296', below(REQUEST), 'bad', 'Batches of loads and mirrors fail, or the ' +
    'viewer cannot be deployed.'],
  'couchdb/max_document_size': ['8000000', below(MB), 'warning', 'Layers of vector tiles may be larger.'],
  'couchdb/max_attachment_size': [
    '1073741824', below(8 * MB), 'bad', 'Large tiles, or parts of the viewer, are refused.'
  ],
  'couchdb/os_process_timeout': ['5000', below(5000), 'warning', 'A busy server cuts off lists and validation.'],
  'couchdb/maintenance_mode': ['false', value => value !== 'false', 'bad', 'This node answers no requests.'],
  'couchdb/default_security': ['admin_only', is('everyone'), 'warning', 'Everybody may write to every new database.'],
  'couchdb/delayed_commits': [undefined, isSet, 'warning', 'It has no effect since CouchDB 3.0.'],
  'couch_httpd_auth/require_valid_user': [undefined, locksOut, 'warning', LOCKS_OUT],
  'chttpd_auth/require_valid_user': [undefined, locksOut, 'warning', LOCKS_OUT],
  'chttpd/require_valid_user': ['false', locksOut, 'warning', LOCKS_OUT],
  'chttpd/bulk_get_use_batches': ['true', is('false'), 'warning', 'Mirrors and the gateway read documents one by one.'],
  'query_server_config/os_process_limit': ['100', below(({ shards }) => Math.max(10, 2 * shards)), 'warning',
    'Each shard that is indexed or written needs one; others wait.'],
  'query_server_config/query_limit': ['infinity', below(listDefaults.page * 5), 'bad',
    'Views end early without an error: lists, exports and mirrors are incomplete.'],
  'attachments/compressible_types': ['text/*, application/javascript, application/json, application/xml',
    compressesTiles, 'bad',
    'CouchDB compresses tiles: their digests are not those of their bytes, so loads are refused (TILES_COMPRESSED).'],
  'smoosh/db_channels': ['upgrade_dbs,ratio_dbs,slack_dbs', lacksChannel('dbs'), 'warning',
    'Without the channels ratio and slack nothing may be compacted automatically.'],
  'smoosh/view_channels': ['upgrade_views,ratio_views,slack_views', lacksChannel('views'), 'warning',
    'Without the channels ratio and slack nothing may be compacted automatically.'],
  'cluster/n': ['3', (value, { nodes }) => nodes > 1 && numberOf(value) < 2, 'warning',
    'New databases are lost with the one node that has them.'],
  'replicator/max_jobs': ['500', below(1), 'bad', 'Nothing is replicated.']
}

function compressesTiles (value) {
  return Object.values(formats).some(({ type }) => compresses(value, type))
}

async function lookAtSettings (inspection) {
  if (inspection.version === undefined) return
  const nodes = await configurations(inspection)
  const about = {
    isPublic: await accessRights(inspection).then(({ public: isPublic }) => isPublic, () => undefined),
    nodes: nodes.length,
    shards: await inspection.info().then(({ cluster }) => cluster?.q ?? 1, () => 1)
  }
  let wrong = 0
  for (const [key, [initial, isHarmful, state, why]] of Object.entries(settings)) {
    const harmfulNodes = nodes.map(({ node, config }) => ({ node, value: valueOf(config, key) ?? initial }))
      .filter(({ value }) => value !== undefined && isHarmful(value.trim(), about))
    if (!harmfulNodes.length) continue
    wrong++
    const where = nodes.length > 1 ? ` at ${harmfulNodes.map(({ node }) => node).join(', ')}` : ''
    const advice = initial === undefined ? `Remove ${key} from the ini files.` : `${key} = ${initial}`
    inspection.add('settings', key, { state, found: `${harmfulNodes[0].value}${where}`, why, advice })
  }
  await lookAtBrowsers(inspection, nodes[0].config)
  const settingCount = Object.keys(settings).length
  return ok(`${plural(settingCount - wrong, 'setting')} as they should be`, { settings: settingCount, wrong })
}

/** The configuration of each node. */
async function configurations (inspection) {
  const { cluster_nodes: names } = await inspection.membership()
  const nodeNames = names.length > 1 ? names.slice(0, MOST_NODES) : ['_local']
  return Promise.all(nodeNames.map(async node =>
    ({ node, config: await inspection.couch.request({ path: `_node/${node}/_config`, server: true }) })))
}

function valueOf (config, key) {
  const slash = key.indexOf('/')
  return config[key.slice(0, slash)]?.[key.slice(slash + 1)]
}

/** Checks pages in browsers: which origins may read (CORS), and which scripts run with the server's origin (CSP). */
async function lookAtBrowsers (inspection, /** @type {any} */ { csp = {}, cors = {}, chttpd = {} }) {
  const isOn = chttpd.enable_cors === 'true' && Boolean(cors.origins)
  const readByAll = isOn && splitList(cors.origins).includes('*')
  lookAtCors(inspection, cors, chttpd, readByAll)
  const currentPolicy = csp.attachments_header_value ?? 'sandbox' // CouchDB's default
  await lookAtPolicy(inspection, currentPolicy)
  if (csp.attachments_enable === 'false') {
    const why = 'Every attached page runs its scripts with the session of its visitor.'
    inspection.add('settings', 'csp/attachments_enable',
      bad('false', why, 'csp/attachments_enable = true', fixOf(inspection, 'csp/attachments_enable', 'true')))
  }
  const lets = csp.attachments_enable === 'false' ? 'anything' : letsRun(currentPolicy)
  const viewer = lets === 'nothing'
    ? 'CouchDB does not serve the viewer, a gateway does (--fix --allow-viewer allows it here too)'
    : 'the viewer runs'
  const readers = readByAll ? 'every origin' : cors.origins
  const origins = isOn ? readers : 'no other origin'
  inspection.add('settings', 'browsers', ok(`${viewer}; pages of ${origins} read`))
}

/** The fix of a finding: sets a value in the configuration. */
function fixOf ({ subject: { url } }, key, value) {
  const path = `_node/_local/_config/${key}`
  // CouchDB answers with a bare string
  const request = { method: 'PUT', path, server: true, body: JSON.stringify(value), raw: true }
  return { fix: () => new Couch(url, { retries: 2 }).request(request) }
}

function lookAtCors (inspection, cors, chttpd, readByAll) {
  const { cors: expectedCors } = inspection.subject
  const corsSettings = expectedCors === undefined
    ? []
    : [['chttpd/enable_cors', chttpd.enable_cors, 'true'], ['cors/origins', cors.origins, expectedCors]]
  for (const [key, value, expected] of corsSettings) {
    if (value === expected) continue
    const why = 'Pages of these origins cannot read the store. The setting applies to every database of the server.'
    const advice = `${key} = ${expected}, as --fix --cors sets it`
    inspection.add('settings', key, warning(value ?? 'not set', why, advice, fixOf(inspection, key, expected)))
  }
  if (cors.credentials === 'true' && (expectedCors === '*' || (expectedCors === undefined && readByAll))) {
    inspection.add('settings', 'cors/credentials', warning('true, and cors/origins *',
      'Pages of every origin would read with the rights of their visitor.',
      'cors/credentials = false, or cors/origins as a list',
      expectedCors && fixOf(inspection, 'cors/credentials', 'false')))
  }
}

/** Checks the policy. Keeps the present frames unless --embed names others, and the other stores of the server. */
async function lookAtPolicy (inspection, currentPolicy) {
  const { url, allowViewer = false, embedders: framedBy } = inspection.subject
  const storePath = new URL(url).pathname.replace(/\/$/, '')
  const stores = [...new Set([...storesIn(currentPolicy), storePath])].sort()
  const { allowed, missing } = await lookAtOrigins(inspection, { currentPolicy, stores, storePath })
  const policy = await couchPolicy({ embed: framedBy ?? embedders(currentPolicy), stores, origins: allowed })
  const runs = await runsViewer(currentPolicy)
  const fix = fixOf(inspection, CSP, policy)
  const finding = policyFault(currentPolicy, { policy, allowViewer, missing, runs, fix })
  if (finding) inspection.add('settings', CSP, finding)
}

/**
 * Finds the origins of base maps and searches that a policy should allow: the present ones that the document of a store
 * still names, and with allowViewer all that the document of this store names.
 * @returns {Promise<{allowed: import('../../couchapp/policy.js').Origins, missing: string[]}>} missing: others that
 *   this store names
 */
async function lookAtOrigins ({ couch, subject: { allowViewer } }, { currentPolicy, stores, storePath }) {
  const currentOrigins = originsIn(currentPolicy)
  const statedOrigins = await Promise.all(stores.map(store => readOrigins(couch, store, currentOrigins)))
  const ownOrigins = statedOrigins[stores.indexOf(storePath)]
  const allowedIn = kind => [...new Set(statedOrigins.flatMap(origins => origins[kind]))].sort()
    .filter(origin => currentOrigins[kind].includes(origin) || (allowViewer && ownOrigins[kind].includes(origin)))
  const allowed = { images: allowedIn('images'), requests: allowedIn('requests') }
  const missing = Object.keys(allowed)
    .flatMap(kind => ownOrigins[kind].filter(origin => !allowed[kind].includes(origin)))
  return { allowed, missing: [...new Set(missing)] }
}

/** Reads the origins that a store names; returns the present ones if it cannot be read. @param {string} store path */
async function readOrigins (couch, store, currentOrigins) {
  try {
    const path = `${store.split('/').at(-1)}/${STORE_ID}`
    return originsOf(settingsOf(await couch.find({ path, server: true })))
  } catch (error) {
    return error.code === 'DATABASE_NOT_FOUND' ? NO_ORIGINS : currentOrigins
  }
}

/** Judges the policy that CouchDB sends with attachments: only the viewer of this tilecouch should run, or nothing. */
function policyFault (current, { policy, allowViewer, missing, runs, fix }) {
  if (current === policy) return missing.length ? missingOrigins(current, missing) : undefined
  if (/worker-src[^;]*'self'/.test(current) && letsRun(current) === 'digests') { // an older tilecouch set it
    return bad(current, 'A page that is attached in any database of this server can register a service worker, which ' +
      'acts with the session of its visitor.', 'tilecouch doctor --fix', fix)
  }
  if (allowViewer || differsInLists(current, policy)) {
    const why = runs
      ? 'It allows more, or less, than the viewers of this server need.'
      : 'Browsers do not run the scripts of this viewer, or do not open it without a network.'
    const shared = 'The setting applies to every database of the server.'
    return warning(current, `${why} ${shared}`, 'tilecouch doctor --fix --allow-viewer', fix)
  }
  if (letsRun(current) !== 'anything') return undefined
  return bad(current, 'A page that is attached in any database of this server runs with the session of its visitor.',
    `tilecouch doctor --fix --allow-viewer, or ${CSP} = sandbox and the viewer of \`tilecouch serve\``,
    isViewerPolicy(current) ? fix : {}) // an older tilecouch set it
}

const missingOrigins = (policy, origins) => warning(policy,
  `The document ${STORE_ID} names ${origins.join(', ')} for the base map or the search, and this policy stops them.`,
  'tilecouch doctor --fix --allow-viewer')

/**
 * Checks origins, one or several, as browsers write them; `*` for all.
 * @param {string} text @param {string} [option] its name
 */
export function parseOrigins (text, option = '--cors') {
  const origins = splitList(text)
  const invalidOrigin = origins.length === 1 && origins[0] === '*'
    ? undefined
    : origins.find(origin => !isOrigin(origin))
  if (invalidOrigin === undefined && origins.length) return origins.join(', ')
  const why = 'it takes origins such as https://maps.example.org, separated by commas, or *'
  throw new TilecouchError('BAD_OPTION', { option, value: invalidOrigin ?? text, why })
}

/**
 * Parses origins whose pages may show the viewer in a frame: as parseOrigins does, or `none`.
 * @param {string | undefined} text @param {boolean} allowViewer
 */
export function parseEmbed (text, allowViewer) {
  if (text === undefined) return undefined
  if (!allowViewer) {
    throw new TilecouchError('BAD_OPTION', { option: '--embed', value: text, why: 'it needs --allow-viewer' })
  }
  return /^\s*none\s*$/i.test(text) ? [] : parseOrigins(text, '--embed').split(', ')
}
