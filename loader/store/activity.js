// Records in a store who changed what (core/activity.js), after a command has changed a layer, an edition, the access
// or the settings.
//
//   await recordActivity(store.couch, 'remove', { what: 'layer', done: 'removed', layer: 'osm' })
//
// The change stays even if the record cannot be written: errors are ignored.
import { STORE_ID, activityId, activityOf, fieldsBetween, keptFrom } from '../../core/index.js'
import { runAt } from '../../core/runs.js'
import { briefRequest, isEmptyStore, removeOld, serverTime } from './administrative.js'

const FIRST = activityId('2') // no tile of a layer called `activity` lies between here and a run

/**
 * @param {import('./couch.js').Couch} couch
 * @param {string} command
 * @param {import('../../core/activity.js').Change | undefined | false} change falsy: nothing has changed
 */
export async function recordActivity (couch, command, change) {
  if (change) await write(couch, command, change).catch(() => {})
}

async function write (couch, command, change) {
  const options = briefRequest()
  if (await isEmptyStore(couch, options)) return
  const user = couch.access.user || await userOf(couch, options)
  if (!user) return // a server without users has no name to record
  const at = serverTime(couch, Date.now())
  const doc = activityOf(change, { user, at, via: `tilecouch ${command}` })
  await couch.update(doc._id, () => doc, undefined, options)
  await removeOldActivity(couch, at, options)
}

/** The user of the requests, as CouchDB knows it. @returns {Promise<string | null>} */
const userOf = async (couch, options) =>
  (await couch.request({ path: '_session', server: true, ...options })).userCtx?.name

/** Removes old activity. Only admins may do that: for others this changes nothing. */
async function removeOldActivity (couch, now, options) {
  const before = keptFrom(await couch.get(STORE_ID, undefined, options), now)
  const range = { startkey: FIRST, endkey: activityId(runAt(before)) }
  await removeOld(couch, range, ({ type, at }) => type === 'activity' && at < before, { options })
}

/** The fields of a removal. @param {{tiles?: number, versions?: number, editions?: number}} counts */
export const removedFields = ({ tiles, versions, editions }) => counted({
  removedTiles: tiles, removedVersions: versions, removedEditions: editions
})

/** Records that tiles of a layer were removed. @param {import('./couch.js').Couch} couch @param {string} command */
export const recordRemoval = (couch, command, layer, counts) =>
  recordActivity(couch, command, { what: 'layer', done: 'changed', layer, fields: removedFields(counts) })

/**
 * The fields of a document that have changed; undefined if none has.
 * @param {Record<string, any>} before @param {Record<string, any>} after
 */
export function changedFields (before, after) {
  const emptyFields = Object.fromEntries(Object.keys(before).map(field => [field, undefined]))
  const fields = fieldsBetween(before, { ...emptyFields, ...after })
  return Object.keys(fields).length ? fields : undefined
}

/** Numbers of a change as fields of an activity, without zeros. @param {Record<string, number | undefined>} numbers */
export const counted = numbers => Object.fromEntries(Object.entries(numbers)
  .filter(([, number]) => number).map(([field, after]) => [field, { after }]))
