// Design documents at a mirror. Code is not taken from elsewhere: a mirror gets those of this tilecouch. Where the source has
// the very same, they come with their revisions, so that CouchDB's replicator finds nothing to do after us.
import { gunzipSync } from 'node:zlib'
import { isDeepStrictEqual } from 'node:util'
import { ownDesigns } from '../couchapp/compose.js'
import { push, warm } from '../couchapp/push.js'
import { peerOf } from './peer.js'

const MOST = 64 * 1024 * 1024 // bytes of a design document with its attachments; a larger one is none of ours
const BESIDE = new Set(['_rev', '_revisions', '_attachments'])

/**
 * differs: it is there already and another one, and was left to its operator
 * @typedef {{id: string, action: 'carried' | 'new' | 'changed' | 'unchanged' | 'differs'}} Brought
 */

/**
 * @param {import('../store/couch.js').Couch} source @param {import('../store/couch.js').Couch} target
 * @param {{replaces: boolean, docs?: import('../couchapp/compose.js').DesignDocument[], signal?: AbortSignal}} options replaces: also those that are there
 * @returns {Promise<Brought[]>}
 */
export async function bringDesigns (source, target, { replaces, docs, signal }) {
  docs ??= await ownDesigns()
  const there = new Map((await push(target, docs, { dryRun: true })).map(({ id, action }) => [id, action]))
  const carried = new Set()
  for (const doc of docs.filter(({ _id }) => there.get(_id) === 'new')) {
    if (await carry(source, target, doc, signal)) carried.add(doc._id)
  }
  const isLeft = ({ _id }) => !replaces && there.get(_id) === 'changed'
  const pushed = await push(target, docs.filter(doc => !isLeft(doc)), { signal })
  return [
    ...pushed.map(({ id, action }) => ({ id, action: carried.has(id) ? /** @type {const} */ ('carried') : action })),
    ...docs.filter(isLeft).map(({ _id: id }) => ({ id, action: /** @type {const} */ ('differs') }))
  ]
}

/** @returns {Promise<boolean>} whether the source has the same */
async function carry (source, target, doc, signal) {
  const [from, to] = [peerOf(source), peerOf(target)]
  const stored = await source.get(doc._id)
  if (!stored) return false
  try {
    const { docs } = await from.fetch([{ id: doc._id, rev: stored._rev }], { signal, most: MOST })
    const same = docs.filter(found => isSame(found, doc))
    return same.length > 0 && !(await to.write(same.slice(0, 1), signal)).length
  } catch (error) {
    if (signal?.aborted || ['FORBIDDEN', 'UNAUTHORIZED', 'UNREACHABLE'].includes(error.code)) throw error
    return false // whatever that is, it is not taken
  }
}

/** Every field, every byte: what a document says of its own attachments is not believed. */
function isSame (found, own) {
  const names = new Set([...Object.keys(found), ...Object.keys(own)].filter(name => !BESIDE.has(name)))
  return [...names].every(name => isDeepStrictEqual(found[name], own[name])) && isDeepStrictEqual(contents(found), contents(own))
}

const contents = ({ _attachments: attachments = {} }) => Object.fromEntries(Object.entries(attachments).map(([name, { content_type: type, data, encoding }]) => {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.from(data ?? [])
  return [name, { type, bytes: encoding === 'gzip' && typeof data !== 'string' ? gunzipSync(bytes, { maxOutputLength: MOST }) : bytes }]
}))

/**
 * Brings every index up to date that is there: who reads next does not wait.
 * @param {import('../store/couch.js').Couch} target
 * @param {import('../couchapp/compose.js').DesignDocument[]} docs
 * @param {AbortSignal} [signal]
 */
export async function warmWhatIsThere (target, docs, signal) {
  for (const { _id, views } of docs) {
    if (!views) continue
    const stored = await target.get(_id)
    const [view] = Object.keys(stored?.views ?? {})
    if (view) await warm(target, _id, view, { signal })
  }
}
