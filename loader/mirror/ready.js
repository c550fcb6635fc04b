// From an empty database to a mirror that serves at once. While it is filled only admins get in; when everything is there come
// the design documents and their indexes, and the door last.
import { isUntouched } from '../access/rules.js'
import { ownDesigns } from '../couchapp/compose.js'
import { openDoor } from '../publish.js'
import { PRIVATE_SECURITY, Store } from '../store/index.js'
import { bringDesigns, warmWhatIsThere } from './designs.js'
import { isPublic } from './door.js'
import { peerOf } from './peer.js'

const FILLING = 'tilecouch-filling' // _local/…: the database was made by a mirror, which has not been ready yet

/**
 * What became of the target.
 * @typedef {object} Ready
 * @property {boolean} made by this mirror, now or in a run before
 * @property {import('./designs.js').Brought[]} designs
 * @property {string} [skipped] why design documents were left as they are
 * @property {'kept' | 'opened' | 'closed'} door kept: as its operator has set it; closed: for admins alone, since not everybody may read the source
 */

/** @typedef {import('../store/couch.js').Couch} Couch */

/** @param {Couch} target @param {AbortSignal} [signal] */
export async function makeDatabase (target, signal) {
  try {
    await target.request({ method: 'PUT', signal })
  } catch (error) {
    if (error.details?.status !== 412) throw error // somebody else was quicker
    return
  }
  await new Store(target).secure(PRIVATE_SECURITY)
  await beginFilling(target)
}

const beginFilling = target => peerOf(target).updateLocal(FILLING, doc => doc ? undefined : { filling: true })

/**
 * A database that never had anything in it and that nobody has opened is as good as a new one: a mirror that was killed in its
 * first moment leaves one.
 * @param {Couch} target
 */
export async function adoptEmpty (target) {
  const { doc_count: docs, doc_del_count: deleted } = await target.request({})
  if (docs || deleted) return
  if (isUntouched(await new Store(target).security())) await beginFilling(target)
}

/**
 * @param {Couch} source @param {Couch} target
 * @param {{isForAll?: boolean, signal?: AbortSignal}} options isForAll: everybody may read it, whoever may read the source
 * @returns {Promise<Ready>}
 */
export async function makeReady (source, target, { isForAll, signal }) {
  const docs = await ownDesigns()
  const filling = await peerOf(target).getLocal(FILLING)
  /** @type {Ready} */
  const ready = { made: Boolean(filling), designs: [], door: 'kept' }
  try {
    ready.designs = await bringDesigns(source, target, { docs, replaces: Boolean(filling), signal })
  } catch (error) {
    // who may write and is no admin leaves them to somebody who is
    if (filling || !['FORBIDDEN', 'UNAUTHORIZED'].includes(error.code)) throw error
    ready.skipped = error.details.reason
  }
  await warmWhatIsThere(target, docs, signal)
  if (!filling) return ready
  const opens = (isForAll || await isPublic(source)) && await openDoor(new Store(target))
  // another mirror that filled it at the same time may have been quicker
  await target.find({ method: 'DELETE', path: `_local/${FILLING}`, qs: { rev: filling._rev }, signal })
  return { ...ready, door: opens ? 'opened' : 'closed' }
}
