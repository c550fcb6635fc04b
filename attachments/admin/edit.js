// Saves documents that two users may edit at once: only the changed fields are written, over the newest revision. A
// field that another user has changed meanwhile is not overwritten: the caller asks which value to keep. Each change is
// recorded in a document of activity (core/activity.js).
import { activityOf } from '../../core/activity.js'
import { isSameJson } from '../../core/values.js'
import { AnswerError } from '../requests.js'
import { texts } from './words.js'

export { fieldsBetween } from '../../core/activity.js'

/** @typedef {import('../../core/activity.js').Change} Change */

/** Another user has changed fields since they were read. */
export class Clash extends Error {
  /**
   * @param {{field: string, theirs: any, mine: any}[]} fields
   * @param {any} newest document, or null if it was removed
   */
  constructor (fields, newest) {
    super(fields.map(({ field }) => field).join(', '))
    this.fields = fields
    this.newest = newest
  }
}

/**
 * @param {import('./couch.js').Couch} couch
 * @param {any} before the document as it was shown; with only `_id` and `type` it is created
 * @param {Record<string, any>} changes undefined removes the field
 * @returns {Promise<{before: any, after: any}>} the documents before and after the change; `before` null: created
 */
export async function save (couch, before, changes) {
  for (;;) {
    const newest = await couch.read(before._id)
    const isNew = before._rev === undefined
    if (isNew === Boolean(newest)) throw new Clash([], newest) // created or removed meanwhile
    const fields = Object.keys(changes).filter(field =>
      newest && !isSameJson(newest[field], before[field]) && !isSameJson(newest[field], changes[field]))
    if (fields.length) {
      throw new Clash(fields.map(field => ({ field, theirs: newest[field], mine: changes[field] })), newest)
    }
    const next = { ...newest ?? before, ...changes }
    for (const field of Object.keys(next)) if (next[field] === undefined) delete next[field]
    if (newest && isSameJson(newest, next)) return { before: newest, after: newest }
    try {
      return { before: newest, after: await couch.write(next) }
    } catch (error) {
      if (!(error instanceof AnswerError) || error.status !== 409) throw error
    }
  }
}

/**
 * Records a change after it was written. If that fails, the change stays and the page shows a message.
 * @param {import('./app.js').App} app @param {Change} change
 */
export async function record (app, change) {
  const { couch, docs, say } = app
  const write = user => couch.write(activityOf(change, { user, at: couch.now(), via: 'page' }))
  try {
    const { name } = app.user
    if (name === null) return // a server without users has no user name
    docs.put(await write(name).catch(async error => {
      // another user has signed in in another window and made the change
      const otherName = error.status === 403 && (await couch.session()).name
      if (!otherName || otherName === name) throw error
      return write(otherName)
    }))
  } catch (error) {
    say(texts.notRecorded(error.message), true)
  }
}
