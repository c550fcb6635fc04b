// Changes of documents that two people may edit at once: only the changed fields are written, over the newest revision.
// A field that somebody else has changed meanwhile is not overwritten: the caller asks what is meant. Each change
// leaves a document of activity (core/activity.js): who changed what, and when.
import { activityOf } from '../../core/activity.js'
import { AnswerError } from '../requests.js'
import { texts } from './words.js'

export { fieldsBetween } from '../../core/activity.js'

/** @typedef {import('../../core/activity.js').Change} Change */

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** Fields that somebody else has changed since they were read. */
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
 * @param {any} before the document as it was when it was shown; with only `_id` and `type`, it is made
 * @param {Record<string, any>} changes undefined: the field goes
 * @returns {Promise<{before: any, after: any}>} the documents as they were and are; `before` null: made
 */
export async function save (couch, before, changes) {
  for (;;) {
    const newest = await couch.read(before._id)
    const isNew = before._rev === undefined
    if (isNew === Boolean(newest)) throw new Clash([], newest) // made or removed meanwhile
    const fields = Object.keys(changes).filter(field =>
      newest && !same(newest[field], before[field]) && !same(newest[field], changes[field]))
    if (fields.length) {
      throw new Clash(fields.map(field => ({ field, theirs: newest[field], mine: changes[field] })), newest)
    }
    const next = { ...newest ?? before, ...changes }
    for (const field of Object.keys(next)) if (next[field] === undefined) delete next[field]
    if (newest && same(newest, next)) return { before: newest, after: newest }
    try {
      return { before: newest, after: await couch.write(next) }
    } catch (error) {
      if (!(error instanceof AnswerError) || error.status !== 409) throw error
    }
  }
}

/**
 * Notes a change after it was written. The change stands, whether this can be written or not: then the page says so.
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
