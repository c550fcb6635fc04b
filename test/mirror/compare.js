// Two databases held against each other, by nothing but what they answer to everybody: documents, revisions and
// attachments. And what CouchDB's own replicator does between the two.
import { isDeepStrictEqual } from 'node:util'
import { isAdministrative } from '../../core/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { json, post } from '../support/backends.js'

const CHUNK = 200 // documents read at once, with the bytes of their attachments

/**
 * Everything in which two databases differ, one line each; nothing when they are the same. Compared are all leaves of
 * all documents, deleted ones too, with their fields and ancestors, their attachments byte by byte, and the winners.
 * Documents about the running of a store (work, activity, tokens) belong to it alone.
 * @param {string} aUrl @param {string} bUrl
 * @param {{selects?: (id: string) => boolean, design?: boolean, revpos?: boolean}} [options] selects: what B is to hold
 *   of A, and nothing else; design: design documents as well; revpos: not when the embedded store is between, which
 *   takes an attachment for as new as the revision it came with
 * @returns {Promise<string[]>}
 */
export async function differences (aUrl, bUrl, { selects = () => true, design = false, revpos = true } = {}) {
  const [a, b] = await Promise.all([aUrl, bUrl].map(url => outline(url, design)))
  for (const id of a.keys()) if (!selects(id)) a.delete(id)
  const found = []
  const both = []
  for (const id of [...new Set([...a.keys(), ...b.keys()])].sort()) {
    if (!b.has(id)) found.push(`${id} is missing`)
    else if (!a.has(id)) found.push(`${id} should not be there`)
    else both.push(id)
  }
  const [first, second] = await Promise.all([aUrl, bUrl].map(winners))
  for (const id of both) if (first.get(id) !== second.get(id)) {
    found.push(`${id}: ${first.get(id) ?? 'nothing'} wins, and ${second.get(id) ?? 'nothing'} there`)
  }
  for (let at = 0; at < both.length; at += CHUNK) {
    const ids = both.slice(at, at + CHUNK)
    const [left, right] = await Promise.all([leaves(aUrl, ids, a), leaves(bUrl, ids, b)])
    for (const id of ids) found.push(...differ(id, left.get(id), right.get(id), revpos))
  }
  return found
}

/** The leaves of each document. */
async function outline (url, design) {
  const { results } = await json(`${url}/_changes?style=all_docs`)
  const wanted = results.filter(({ id }) => (design || !id.startsWith('_design/')) && !isAdministrative(id))
  return new Map(wanted.map(({ id, changes }) => [id, changes.map(({ rev }) => rev).sort()]))
}

async function winners (url) {
  const { rows } = await json(`${url}/_all_docs`)
  return new Map(rows.map(({ id, value }) => [id, value.rev]))
}

async function leaves (url, ids, outlined) {
  const asked = ids.flatMap(id => outlined.get(id).map(rev => ({ id, rev })))
  const { results } = await post(`${url}/_bulk_get?revs=true&attachments=true`, { docs: asked })
  const found = new Map(ids.map(id => [id, new Map()]))
  for (const { id, docs } of results) {
    for (const { ok, error } of docs) found.get(id).set(ok?._rev ?? error.rev, ok ?? { unreadable: error.reason })
  }
  return found
}

function differ (id, left, right, revpos) {
  const found = []
  for (const rev of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(rev), right.get(rev)]
    if (!b) found.push(`${id} lacks the leaf ${rev}`)
    else if (!a) found.push(`${id} has a leaf of its own: ${rev}`)
    else found.push(...differInFields(a, b, revpos).map(what => `${id} ${rev}: ${what}`))
  }
  return found
}

function differInFields ({ _attachments: these = {}, ...a }, { _attachments: those = {}, ...b }, revpos) {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const fields = [...keys].filter(key => !isDeepStrictEqual(a[key], b[key]))
    .map(key => `${key} is ${JSON.stringify(a[key])}, and ${JSON.stringify(b[key])} there`)
  const names = new Set([...Object.keys(these), ...Object.keys(those)])
  return [...fields, ...[
    ...names
  ].flatMap(name => differInAttachment(these[name], those[name], revpos).map(what => `attachment ${name}: ${what}`))]
}

function differInAttachment (a, b, revpos) {
  if (!a || !b) return [a ? 'is missing' : 'should not be there']
  if (a.data === undefined || b.data === undefined) return ['has no bytes']
  if (a.data !== b.data) return ['has other bytes']
  const found = ['content_type', 'length', ...(revpos ? ['revpos'] : [])].filter(key => a[key] !== b[key])
    .map(key => `${key} is ${a[key]}, and ${b[key]} there`)
  // CouchDB compresses text and digests that, the embedded store does not
  const plain = digestOf(Buffer.from(a.data, 'base64'))
  const isPacked = (a.digest === plain) !== (b.digest === plain)
  if (a.digest !== b.digest && !isPacked) found.push(`digest is ${a.digest}, and ${b.digest} there`)
  return found
}

/**
 * Lets CouchDB's own replicator run once, from the beginning, without design documents.
 * @param {string} server URL of the CouchDB that does it, with an admin's name and password
 * @param {string} from @param {string} to
 * @param {Record<string, any>} [options] more fields of the request, such as create_target
 * @returns {Promise<{missing_checked: number, missing_found: number, docs_read: number, docs_written: number,
 *   doc_write_failures: number}>} what its history says of this run
 */
export async function theirs (server, from, to, options = {}) {
  // another header is another replication: it knows of no checkpoint
  const once = Math.random().toString(36).slice(2)
  const answer = await post(`${server}/_replicate`, {
    source: endpoint(from, once), target: endpoint(to, once), selector: { $not: { _id: { $regex: '^_design/' } } },
    ...options
  })
  if (!answer.ok) throw new Error(`CouchDB did not replicate ${from}: ${JSON.stringify(answer)}`)
  return answer.history[0]
}

/** A database as the documents of CouchDB's replicator name it; once: makes the replication another one. */
function endpoint (url, once = 'no') {
  const { username, password, origin, pathname } = new URL(url)
  const auth = username &&
    { auth: { basic: { username: decodeURIComponent(username), password: decodeURIComponent(password) } } }
  return { url: `${origin}${pathname}`, headers: { 'x-once': once }, ...auth }
}
