// The target of a mirror. `makeDatabase` creates it, for admins only while it is filled. When the copy is complete,
// `makeReady` adds the design documents, builds their indexes and finally opens it to readers. A mirror takes no code
// from the source: it gets the design documents of this tilecouch. If the source has exactly the same ones, they are
// copied with their revisions, so that CouchDB's replicator finds no difference.
import { gunzipSync } from 'node:zlib'
import { isDeepStrictEqual } from 'node:util'
import { isUntouched } from '../../store/access.js'
import { ownDesigns } from '../../couchapp/compose.js'
import { makePublic, warmIndexes } from '../../couchapp/publish.js'
import { PRIVATE_SECURITY, Store } from '../../store/index.js'
import { push } from '../../couchapp/push.js'
import { peerOf, removeLocal } from '../../store/peer.js'
import { isPublic } from './sides.js'

const FILLING = 'tilecouch-filling' // _local/…: a mirror has created the database and is not ready yet
const MOST = 64 * 1024 * 1024 // bytes of a design document with its attachments; all of tilecouch are smaller
const BESIDE = new Set(['_rev', '_revisions', '_attachments'])

/**
 * @typedef {object} Ready
 * @property {boolean} created by this mirror, now or in an earlier run
 * @property {Deployed[]} designs
 * @property {string} [skipped] why design documents were not deployed
 * @property {'kept' | 'opened' | 'closed'} access kept: not changed; closed: for admins only, because the source is
 *   not public
 *
 * differs: the target has another design document, which stays
 * @typedef {{id: string, action: 'copied' | 'new' | 'changed' | 'unchanged' | 'differs'}} Deployed
 * @typedef {import('../../couchapp/compose.js').DesignDocument} DesignDocument
 * @typedef {import('../../store/couch.js').Couch} Couch
 */

/** @param {Couch} target @param {AbortSignal} [signal] */
export async function makeDatabase (target, signal) {
  if (!await target.createDatabase({ signal })) return
  await new Store(target).secure(PRIVATE_SECURITY)
  await beginFilling(target)
}

const beginFilling = target => peerOf(target).updateLocal(FILLING, doc => doc ? undefined : { filling: true })

/**
 * Treats an empty database with default rights as a new one: a mirror that was killed early leaves such a database.
 * @param {Couch} target
 */
export async function adoptEmpty (target) {
  const { doc_count: docs, doc_del_count: deleted } = await target.info()
  if (docs || deleted) return
  if (isUntouched(await new Store(target).security())) await beginFilling(target)
}

/**
 * @param {Couch} source @param {Couch} target
 * @param {{isForAll?: boolean, signal?: AbortSignal, onIndex?: import('./index.js').MirrorOptions['onIndex']}} options
 * @returns {Promise<Ready>}
 */
export async function makeReady (source, target, { isForAll, signal, onIndex }) {
  const docs = await ownDesigns()
  const filling = await peerOf(target).getLocal(FILLING)
  /** @type {Ready} */
  const ready = { created: Boolean(filling), designs: [], access: 'kept' }
  try {
    ready.designs = await deployDesigns(source, target, { docs, replaces: Boolean(filling), signal, onIndex })
  } catch (error) {
    // the writer is not an admin: an admin has to deploy them
    if (filling || !['FORBIDDEN', 'UNAUTHORIZED'].includes(error.code)) throw error
    ready.skipped = error.details.reason
  }
  await warmIndexes({ couch: target }, { signal, onProgress: onIndex })
  if (!filling) return ready
  const isOpened = (isForAll || await isPublic(source)) && await makePublic(new Store(target))
  await removeLocal(target, FILLING, signal)
  return { ...ready, access: isOpened ? 'opened' : 'closed' }
}

/** Deploys design documents; `replaces`: also existing ones. @returns {Promise<Deployed[]>} */
async function deployDesigns (source, target, { replaces, docs, signal, onIndex }) {
  const actions = new Map((await push(target, docs, { dryRun: true })).map(({ id, action }) => [id, action]))
  const copied = new Set()
  for (const doc of docs.filter(({ _id }) => actions.get(_id) === 'new')) {
    if (await copyDesign(source, target, doc, signal)) copied.add(doc._id)
  }
  const isLeft = ({ _id }) => !replaces && actions.get(_id) === 'changed'
  const pushed = await push(target, docs.filter(doc => !isLeft(doc)), { signal, onProgress: onIndex })
  return [
    ...pushed.map(({ id, action }) => ({ id, action: copied.has(id) ? /** @type {const} */ ('copied') : action })),
    ...docs.filter(isLeft).map(({ _id: id }) => ({ id, action: /** @type {const} */ ('differs') }))
  ]
}

/** @returns {Promise<boolean>} whether the source has the same */
async function copyDesign (source, target, doc, signal) {
  const [sourcePeer, targetPeer] = [peerOf(source), peerOf(target)]
  const stored = await source.get(doc._id)
  if (!stored) return false
  try {
    const { docs } = await sourcePeer.fetch([{ id: doc._id, rev: stored._rev }], { signal, most: MOST })
    const equalDesigns = docs.filter(design => isSame(design, doc))
    return equalDesigns.length > 0 && !(await targetPeer.write(equalDesigns.slice(0, 1), signal)).length
  } catch (error) {
    if (signal?.aborted || ['FORBIDDEN', 'UNAUTHORIZED', 'UNREACHABLE'].includes(error.code)) throw error
    return false // not a design document of tilecouch
  }
}

/** Compares every field and every byte, because the digests in a document may be wrong. */
function isSame (stored, ownDesign) {
  const names = new Set([...Object.keys(stored), ...Object.keys(ownDesign)].filter(name => !BESIDE.has(name)))
  return [...names].every(name => isDeepStrictEqual(stored[name], ownDesign[name])) &&
    isDeepStrictEqual(contents(stored), contents(ownDesign))
}

const contents = ({ _attachments: attachments = {} }) => Object.fromEntries(Object.entries(attachments)
  .map(([name, { content_type: type, data = '', encoding }]) => {
    const bytes = Buffer.from(data, 'base64') // base64 in our own ones; of fetched ones data is bytes already
    return [name, { type, bytes: encoding === 'gzip' ? gunzipSync(bytes, { maxOutputLength: MOST }) : bytes }]
  }))
