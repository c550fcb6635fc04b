// Documents of activity: who changed what in a store, and when. The control room and the commands write one after each
// change of a layer, an edition, the access or the settings. They never change, are not copied, and are kept as long as
// the operator says. validate_doc_update.js refuses the same fields; a test compares both.
import { isRun } from './documents.js'
import { isExactTime } from './times.js'
import { object, text } from './values.js'

export const activityDefaults = {
  days: 365, // that activity is kept, unless the settings of the store say otherwise (`activityDays`)
  most: 16_384 // characters of all fields
}

const WHAT = ['layer', 'edition', 'access', 'store', 'token', 'style']
const DONE = ['created', 'changed', 'removed']

/** What somebody changed. @param {string} run */
export const activityId = run => `activity:${run}`

/** @type {Record<string, import('./documents.js').Kind>} */
export const activityKinds = {
  activity: {
    fields: {
      user: value => text(300)(value) && value !== '', // who wrote it, as CouchDB knows him
      at: isExactTime,
      via: text(300), // 'page', or the command
      what: value => WHAT.includes(value),
      done: value => DONE.includes(value),
      edition: isExactTime,
      name: text(300), // of a user or a token
      fields: object // of the document: before and after
    },
    needs: ['user', 'at', 'what', 'done'],
    most: activityDefaults.most,
    isGeneral: true,
    id: ({ _id }) => activityId(isRun(String(_id).slice(9)) ? String(_id).slice(9) : 'RUN')
  }
}
