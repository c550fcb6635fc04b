// Who changed what, and when: each change of the control room leaves a document of activity (core/activity.js).
import { activityId } from '../../core/activity.js'
import { newRun } from '../../core/runs.js'
import { texts } from '../words/admin/index.js'

/**
 * @typedef {object} Change
 * @property {'layer' | 'edition' | 'access' | 'store' | 'token' | 'style'} what
 * @property {'created' | 'changed' | 'removed'} done
 * @property {string} [layer]
 * @property {string} [edition] its time
 * @property {string} [name] of a user or a token
 * @property {Record<string, {before?: any, after?: any}>} [fields] no secrets
 */

/**
 * Writes it after the change. The change stands, whether this can be written or not: then the page says so.
 * @param {import('./index.js').App} app @param {Change} change
 */
export async function record (app, change) {
  const doc = {
    _id: activityId(newRun()),
    type: 'activity',
    user: app.user.name,
    at: new Date(app.couch.now()).toISOString().slice(0, 19) + 'Z',
    via: 'page',
    ...change
  }
  try {
    app.docs.put(await app.couch.write(doc))
  } catch (error) {
    app.say(texts.notRecorded(error.message), true)
  }
}

/** What differs between two documents, for `fields`. */
export const fieldsBetween = (before, changes) => Object.fromEntries(Object.entries(changes)
  .map(([field, after]) => [field, { before: before?.[field], after }]))
