// Compares two databases over HTTP: their documents, revisions and attachments. It also runs CouchDB's own replicator
// between them. The tests of mirrors and backups use it.
import { isDeepStrictEqual } from 'node:util'
import { isAdministrative } from '../../core/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { json, post } from '../support/backends.js'

const CHUNK = 200 // documents read at once, with the bytes of their attachments

/**
 * Lists the differences between two databases. It compares all leaves of all documents, also of deleted ones: fields,
 * ancestors, the bytes of attachments, and which leaf wins. It skips documents about the running of a store (work,
 * activity, tokens), because they are not mirrored.
 * @param {string} aUrl @param {string} bUrl
 * @param {{selects?: (id: string) => boolean, design?: boolean, revpos?: boolean}} [options] selects: the documents of
 *   A that B must have, and no others; design: compare design documents too; revpos: compare revpos. The embedded store
 *   sets revpos to the revision with which an attachment arrived.
 * @returns {Promise<string[]>} one line per difference
 */
export async function differences (aUrl, bUrl, { selects = () => true, design = false, revpos = true } = {}) {
  const [a, b] = await Promise.all([aUrl, bUrl].map(url => readLeafRevs(url, design)))
  for (const id of a.keys()) if (!selects(id)) a.delete(id)
  const lines = []
  const sharedIds = []
  for (const id of [...new Set([...a.keys(), ...b.keys()])].sort()) {
    if (!b.has(id)) lines.push(`${id} is missing`)
    else if (!a.has(id)) lines.push(`${id} should not be there`)
    else sharedIds.push(id)
  }
  const [winnersOfA, winnersOfB] = await Promise.all([aUrl, bUrl].map(readWinners))
  for (const id of sharedIds) if (winnersOfA.get(id) !== winnersOfB.get(id)) {
    lines.push(`${id}: ${winnersOfA.get(id) ?? 'nothing'} wins, and ${winnersOfB.get(id) ?? 'nothing'} there`)
  }
  for (let start = 0; start < sharedIds.length; start += CHUNK) {
    const ids = sharedIds.slice(start, start + CHUNK)
    const [left, right] = await Promise.all([readLeaves(aUrl, ids, a), readLeaves(bUrl, ids, b)])
    for (const id of ids) lines.push(...compareDocument(id, left.get(id), right.get(id), revpos))
  }
  return lines
}

/** Reads the revisions of the leaves of each document. */
async function readLeafRevs (url, design) {
  const { results } = await json(`${url}/_changes?style=all_docs`)
  const comparedRows = results.filter(({ id }) => (design || !id.startsWith('_design/')) && !isAdministrative(id))
  return new Map(comparedRows.map(({ id, changes }) => [id, changes.map(({ rev }) => rev).sort()]))
}

async function readWinners (url) {
  const { rows } = await json(`${url}/_all_docs`)
  return new Map(rows.map(({ id, value }) => [id, value.rev]))
}

async function readLeaves (url, ids, revsById) {
  const requestedRevs = ids.flatMap(id => revsById.get(id).map(rev => ({ id, rev })))
  const { results } = await post(`${url}/_bulk_get?revs=true&attachments=true`, { docs: requestedRevs })
  const leavesById = new Map(ids.map(id => [id, new Map()]))
  for (const { id, docs } of results) {
    for (const { ok, error } of docs) leavesById.get(id).set(ok?._rev ?? error.rev, ok ?? { unreadable: error.reason })
  }
  return leavesById
}

function compareDocument (id, left, right, revpos) {
  const lines = []
  for (const rev of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(rev), right.get(rev)]
    if (!b) lines.push(`${id} lacks the leaf ${rev}`)
    else if (!a) lines.push(`${id} has a leaf of its own: ${rev}`)
    else lines.push(...compareFields(a, b, revpos).map(line => `${id} ${rev}: ${line}`))
  }
  return lines
}

function compareFields ({ _attachments: filesOfA = {}, ...a }, { _attachments: filesOfB = {}, ...b }, revpos) {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const fields = [...keys].filter(key => !isDeepStrictEqual(a[key], b[key]))
    .map(key => `${key} is ${JSON.stringify(a[key])}, and ${JSON.stringify(b[key])} there`)
  const names = new Set([...Object.keys(filesOfA), ...Object.keys(filesOfB)])
  return [...fields, ...[...names].flatMap(name =>
    compareAttachment(filesOfA[name], filesOfB[name], revpos).map(line => `attachment ${name}: ${line}`))]
}

function compareAttachment (a, b, revpos) {
  if (!a || !b) return [a ? 'is missing' : 'should not be there']
  if (a.data === undefined || b.data === undefined) return ['has no bytes']
  if (a.data !== b.data) return ['has other bytes']
  const lines = ['content_type', 'length', ...(revpos ? ['revpos'] : [])].filter(key => a[key] !== b[key])
    .map(key => `${key} is ${a[key]}, and ${b[key]} there`)
  // CouchDB compresses text and stores the digest of the compressed bytes, the embedded store does not
  const plain = digestOf(Buffer.from(a.data, 'base64'))
  const isPacked = (a.digest === plain) !== (b.digest === plain)
  if (a.digest !== b.digest && !isPacked) lines.push(`digest is ${a.digest}, and ${b.digest} there`)
  return lines
}

/**
 * Runs CouchDB's own replicator once, from the beginning, without design documents.
 * @param {string} server URL of the CouchDB that replicates, with an admin's name and password
 * @param {string} from @param {string} to
 * @param {Record<string, any>} [options] more fields of the request, such as create_target
 * @returns {Promise<{missing_checked: number, missing_found: number, docs_read: number, docs_written: number,
 *   doc_write_failures: number}>} the entry of this run in its history
 */
export async function theirs (server, from, to, options = {}) {
  // another header makes it another replication, which has no checkpoint
  const marker = Math.random().toString(36).slice(2)
  const answer = await post(`${server}/_replicate`, {
    source: endpoint(from, marker), target: endpoint(to, marker), selector: { $not: { _id: { $regex: '^_design/' } } },
    ...options
  })
  if (!answer.ok) throw new Error(`CouchDB did not replicate ${from}: ${JSON.stringify(answer)}`)
  return answer.history[0]
}

/** A database as the replicator of CouchDB takes it. @param {string} url @param {string} [marker] value of a header */
function endpoint (url, marker = 'no') {
  const { username, password, origin, pathname } = new URL(url)
  const auth = username &&
    { auth: { basic: { username: decodeURIComponent(username), password: decodeURIComponent(password) } } }
  return { url: `${origin}${pathname}`, headers: { 'x-once': marker }, ...auth }
}
