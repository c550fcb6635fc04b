// What a stock CouchDB needs before it serves maps: each point is looked at, said, and mended when asked to.
import { TilecouchError } from '../core/index.js'
import { accessOf } from './access.js'
import { isOpen, isUntouched } from './access/rules.js'
import { adviseShards, compareShards } from './advice.js'
import { ownDesigns } from './couchapp/compose.js'
import { VIEWER_CSP, couchPolicy, differsInDigests, letsRun } from './couchapp/policy.js'
import { push } from './couchapp/push.js'
import { isPublished, publish } from './publish.js'
import { Couch } from './store/couch.js'
import { Store } from './store/index.js'

const SYSTEM_DATABASES = ['_users', '_replicator']

/**
 * @typedef {object} Finding
 * @property {string} check
 * @property {'ok' | 'missing' | 'fixed' | 'skipped'} state
 * @property {string} found
 * @property {string} [wanted]
 * @property {string} [note] why it matters, or what to do
 */

/**
 * @param {string} url of the database
 * @param {{fix?: boolean, cors?: string, allowViewer?: boolean, q?: number, n?: number, tiles?: number, tileBytes?: number}} [options] cors, allowViewer: what holds for all databases of the server, and is left alone unless it is said: origins whose pages may read, and that the viewer's scripts may run; tiles: how many there will be, which q and n are advised for
 * @returns {Promise<{url: string, server: string, findings: Finding[], advice?: import('./advice.js').Advice}>}
 */
export async function setup (url, { fix = false, cors, allowViewer = false, q, n, tiles, tileBytes } = {}) {
  const origins = cors === undefined ? undefined : parseOrigins(cors)
  const couch = new Couch(url, { retries: 2 })
  const welcome = await couch.request({ server: true })
  if (!welcome.couchdb) throw new TilecouchError('BAD_ANSWER', { url: couch.serverUrl, why: 'it does not say that it is CouchDB' })
  const embedded = /embedded/i.test(welcome.vendor?.name ?? '')
  const server = `${embedded ? 'embedded CouchDB (PouchDB)' : 'CouchDB'} ${welcome.version}`

  const advice = tiles === undefined || embedded ? undefined : adviseShards({ tiles, tileBytes, nodes: await nodesOf(couch) })
  q ??= advice?.q
  n ??= advice?.n

  /** @type {Finding[]} */
  const findings = [versionFinding(welcome.version, embedded)]
  /** Looks, and with `fix` mends and looks again. */
  const examine = async (check, { look, mend, note }) => {
    const before = await look()
    if (before.ok || before.skip) return findings.push({ check, state: before.ok ? 'ok' : 'skipped', found: before.found, ...(before.skip && { note: before.skip }) })
    if (!fix) return findings.push({ check, state: 'missing', found: before.found, wanted: before.wanted, note })
    await mend()
    const after = await look()
    findings.push({ check, state: after.ok ? 'fixed' : 'missing', found: after.found, wanted: after.wanted, note: after.ok ? `was ${before.found}` : note })
  }

  for (const name of SYSTEM_DATABASES) {
    await examine(`database ${name}`, {
      look: () => embedded ? { skip: 'the embedded server has its own', found: 'not needed' } : databaseState(couch, name),
      mend: () => couch.request({ method: 'PUT', path: name, server: true }),
      note: 'users and replication need it'
    })
  }
  const byItself = { skip: 'the embedded server does this by itself', found: 'not needed' }
  for (const { key, judge } of serverSettings({ origins, allowViewer, policy: await couchPolicy() })) {
    const look = async () => embedded ? byItself : settingOf(couch, key, judge)
    const { mend, note } = await look()
    // answers a bare string
    await examine(key, { look, mend: async () => mend && couch.request({ method: 'PUT', path: pathOf(key), server: true, body: JSON.stringify(mend), raw: true }), note })
  }
  await examine(`database ${couch.db}`, {
    look: () => databaseState(couch, couch.db),
    mend: () => Store.create(url, { public: false, q, n }),
    note: 'loading creates it as well'
  })
  if (tiles !== undefined) findings.push(await shardsFinding(couch, advice))
  await examine('design documents', {
    look: () => designState(couch),
    mend: async () => { await publish(await Store.create(url, { q, n })) },
    note: '`tilecouch push` deploys them'
  })
  await examine('writing', { look: () => writingState(couch, url), mend: async () => { await publish(await Store.open(url)) }, note: undefined })
  await examine('public reading', { look: () => securityState(couch, url), mend: async () => { await publish(await Store.open(url)) }, note: 'only admins see the tiles until the store is published' })
  return { url: couch.url, server, findings, ...(advice && { advice }) }
}

const EVERY = 'it holds for every database of this server'

/** @typedef {(found: string | undefined) => {ok?: boolean, skip?: string, found: string, wanted?: string, mend?: string, note?: string}} Judge mend: what is set */

/**
 * What holds for the whole server. Nothing here is opened by `fix` alone.
 * @param {{origins?: string, allowViewer: boolean, policy: string}} wanted
 * @returns {{key: string, judge: Judge}[]}
 */
const serverSettings = ({ origins, allowViewer, policy }) => [
  { key: 'chttpd/enable_cors', judge: found => corsState(found, origins && 'true') },
  { key: 'cors/origins', judge: found => corsState(found, origins) },
  {
    key: 'cors/credentials',
    judge: (found = 'false') => origins === '*' && found === 'true'
      ? { ok: false, found, wanted: 'false', mend: 'false', note: 'pages of every origin would read as who looks at them' }
      : { ok: true, found }
  },
  {
    key: 'csp/attachments_header_value',
    judge: (found = 'sandbox') => {
      if (found === policy) return { ok: true, found: 'the viewer runs, and no other script' }
      const lets = letsRun(found)
      const shut = { ok: false, found, wanted: policy, note: `with it browsers run the scripts of the viewer, by their digests, and no other; ${EVERY}` }
      if (allowViewer || differsInDigests(found, policy)) return { ...shut, mend: policy }
      if (lets === 'digests') return { skip: `it lets other scripts run, by their digests, and is left alone; --allow-viewer puts that of the viewer in its place; ${EVERY}`, found }
      if (lets === 'nothing') return { skip: `the viewer does not run in CouchDB's own pages. A gateway serves it, without any change here: tilecouch serve. --allow-viewer lets it run here, too; ${EVERY}`, found }
      // that of older versions of this program
      return { ...shut, wanted: 'sandbox', ...(found === VIEWER_CSP && { mend: policy }), note: `whoever may attach a page in any database of this server has it run with the session of who opens it; --fix --allow-viewer lets the scripts of the viewer run alone` }
    }
  },
  { key: 'csp/attachments_enable', judge: (found = 'true') => found === 'true' ? { ok: true, found } : { ok: false, found, wanted: 'true', mend: 'true', note: 'without a policy every page that is attached runs its scripts' } }
]

/** @param {string | undefined} found @param {string | undefined} wanted */
function corsState (found, wanted) {
  if (wanted === undefined) return { skip: `--cors ORIGINS lets pages of other origins read; ${EVERY}`, found: found ?? 'not set' }
  return { ok: found === wanted, found: found ?? 'not set', wanted, mend: wanted, note: `pages of other origins may read what their visitor may; ${EVERY}` }
}

/** Origins as browsers say them, one or several; `*` for all. @param {string} text */
function parseOrigins (text) {
  const origins = text.split(',').map(origin => origin.trim()).filter(Boolean)
  const wrong = origins.length > 1 || origins[0] !== '*' ? origins.find(origin => origin.includes('*') || !URL.canParse(origin) || new URL(origin).origin !== origin) : undefined
  if (wrong !== undefined || !origins.length) throw new TilecouchError('BAD_OPTION', { option: '--cors', value: wrong ?? text, why: 'it takes origins such as https://maps.example.org, separated by commas, or *' })
  return origins.join(', ')
}

/** @returns {Finding} */
export function versionFinding (version, embedded) {
  const [major, minor] = String(version).split('.').map(Number)
  const ok = embedded || (major === 3 && minor >= 3)
  return {
    check: 'version', state: ok ? 'ok' : 'missing', found: version, ...(!ok && { wanted: '3.3 to 3.5', note: 'other versions are not tested; CouchDB 4 has no rewrites, lists and shows' })
  }
}

/** How many nodes the cluster has; as one of its admins only. */
async function nodesOf (couch) {
  const { cluster_nodes: nodes } = await couch.request({ path: '_membership', server: true })
  return nodes.length
}

/** @param {Couch} couch @param {import('./advice.js').Advice} [advice] @returns {Promise<Finding>} */
async function shardsFinding (couch, advice) {
  const check = 'shards'
  if (!advice) return { check, state: 'skipped', found: 'one', note: 'the embedded store is one file' }
  const wanted = `q=${advice.q} n=${advice.n}`
  const info = await couch.find({ path: '' }).catch(missingDatabase)
  if (!info) return { check, state: 'skipped', found: 'no database', note: `it will be made with ${wanted}` }
  const { q, n } = info.cluster
  const { fits, how } = compareShards(advice, { q, n, db: couch.db })
  return { check, state: fits ? 'ok' : 'missing', found: `q=${q} n=${n}`, wanted, ...(how.length && { note: how.join('\n           ') }) }
}

async function databaseState (couch, name) {
  const info = await couch.find({ path: encodeURIComponent(name), server: true }).catch(missingDatabase)
  return { ok: Boolean(info), found: info ? 'there' : 'not there', wanted: 'there' }
}

const missingDatabase = error => {
  if (error.code !== 'DATABASE_NOT_FOUND') throw error
}

const pathOf = key => `_node/_local/_config/${key}`

/** @param {Couch} couch @param {string} key @param {Judge} judge told nothing where nobody has set it @returns {Promise<any>} */
async function settingOf (couch, key, judge) {
  try {
    return judge(await couch.request({ path: pathOf(key), server: true, retries: 0, raw: true, parse: bytes => JSON.parse(bytes.toString()) }))
  } catch (error) {
    if (error.code === 'FORBIDDEN' || error.code === 'UNAUTHORIZED') return { skip: 'only a server admin sees it', found: 'unknown' }
    if (error.details?.status !== 404) throw error
    return judge(undefined)
  }
}

/**
 * Whether the design documents of this program stand there as they are.
 * @param {Couch} couch @param {import('./couchapp/compose.js').DesignDocument[]} [docs]
 */
export async function designState (couch, docs) {
  if (!(await databaseState(couch, couch.db)).ok) return { found: 'no database', wanted: 'deployed' }
  const behind = (await push(couch, docs ?? await ownDesigns(), { dryRun: true })).filter(({ action }) => action !== 'unchanged')
  return { ok: !behind.length, found: behind.length ? `${behind.map(({ id, action }) => `${id} ${action}`).join(', ')}` : 'deployed', wanted: 'deployed' }
}

/** Whether a stranger may write: what is wrong with the rights of a store is the loudest of all. */
async function writingState (couch, url) {
  const wanted = 'only writers write'
  if (!(await databaseState(couch, couch.db)).ok) return { skip: 'a new one belongs to its admins', found: 'no database' }
  const { warnings } = await accessOf(await Store.open(url))
  const worst = warnings.find(({ code }) => code !== 'WRITER_SHUT_OUT')
  if (worst?.code === 'EVERYBODY_IS_ADMIN') return { skip: worst.text, found: 'everybody' }
  return { ok: !worst, found: worst?.text ?? wanted, wanted }
}

async function securityState (couch, url) {
  if (!(await databaseState(couch, couch.db)).ok) return { found: 'no database', wanted: 'everybody reads' }
  const store = await Store.open(url)
  const security = await store.security()
  const open = isOpen(security)
  if (!open && (!isUntouched(security) || await isPublished(store))) return { skip: 'closed on purpose: `tilecouch access` says who reads, and opens it', found: 'only members read' }
  return { ok: open, found: open ? 'everybody reads' : 'only members read', wanted: 'everybody reads' }
}
