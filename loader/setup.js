// What a stock CouchDB needs before it serves maps: each point is looked at, said, and mended when asked to.
import { TilecouchError } from '../core/index.js'
import { accessOf } from './access.js'
import { isOpen, isUntouched } from './access/rules.js'
import { adviseShards, compareShards } from './advice.js'
import { ownDesigns } from './couchapp/compose.js'
import { push } from './couchapp/push.js'
import { isPublished, publish } from './publish.js'
import { Couch } from './store/couch.js'
import { Store } from './store/index.js'

/** Lets the viewer's own scripts, styles and tiles work, and nothing else. A stock server sends "sandbox", which stops every script. */
export const VIEWER_CSP = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

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
 * @param {{fix?: boolean, cors?: string, q?: number, n?: number, tiles?: number, tileBytes?: number}} [options] cors: origins whose pages may read; tiles: how many there will be, which q and n are advised for
 * @returns {Promise<{url: string, server: string, findings: Finding[], advice?: import('./advice.js').Advice}>}
 */
export async function setup (url, { fix = false, cors = '*', q, n, tiles, tileBytes } = {}) {
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
  for (const [section, key, wanted, note] of viewerSettings(cors)) {
    const path = `_node/_local/_config/${section}/${key}`
    await examine(`${section}/${key}`, {
      look: async () => embedded ? { skip: 'the embedded server does this by itself', found: 'not needed' } : settingState(couch, path, wanted),
      mend: () => couch.request({ method: 'PUT', path, server: true, body: JSON.stringify(wanted), raw: true }), // answers a bare string
      note
    })
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

/** Section, key, what is wanted there and why. @param {string} [cors] origins whose pages may read */
export const viewerSettings = (cors = '*') => [
  ['chttpd', 'enable_cors', 'true', 'pages of other origins may read tiles'],
  ['cors', 'origins', cors, 'whose pages may read tiles'],
  ['csp', 'attachments_header_value', VIEWER_CSP, 'without it browsers refuse to run the viewer that this CouchDB serves; it holds for attachments of every database of the server']
]

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

async function settingState (couch, path, wanted) {
  try {
    const answer = await couch.request({ path, server: true, retries: 0, raw: true, parse: bytes => JSON.parse(bytes.toString()) })
    return { ok: answer === wanted, found: answer, wanted }
  } catch (error) {
    if (error.code === 'FORBIDDEN' || error.code === 'UNAUTHORIZED') return { skip: 'only a server admin sees it', found: 'unknown' }
    if (error.details?.status !== 404) throw error
    return { ok: false, found: 'not set', wanted }
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
