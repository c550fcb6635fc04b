// Who changed what, and when: each change of the control room leaves a document of activity (core/activity.js).
import { activityOf } from '../../core/activity.js'
import { texts } from './words.js'

export { fieldsBetween } from '../../core/activity.js'

/** @typedef {import('../../core/activity.js').Change} Change */

/**
 * Writes it after the change. The change stands, whether this can be written or not: then the page says so.
 * @param {import('./app.js').App} app @param {Change} change
 */
export async function record (app, change) {
  const { couch, docs, say } = app
  const write = user => couch.write(activityOf(change, { user, at: couch.now(), via: 'page' }))
  try {
    const { name } = app.user
    if (name === null) return // a server without users has nobody to name
    docs.put(await write(name).catch(async error => {
      // in another window somebody else has signed in: the change was his
      const other = error.status === 403 && (await couch.session()).name
      if (!other || other === name) throw error
      return write(other)
    }))
  } catch (error) {
    say(texts.notRecorded(error.message), true)
  }
}
