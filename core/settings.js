// What the operator of a store says of the viewer, and how long activity is kept, in the document that marks the store
// (STORE_ID). All of it is optional, and text, never markup. A field that is not valid is as if it were not there:
// nothing of it may keep the map from being shown. validate_doc_update.js refuses the same; a test compares both.
import { luminance } from './record-rules.js'
import { isRecordValue, recordFields } from './record-values.js'
import { isObject } from './values.js'

export const CONTRAST = 4.5 // to 1, of text and its ground: WCAG 2, AA
/** The grounds on which text in the accent is hardest to read. @type {Record<string, string>} */
export const grounds = { light: '#d9ecef', dark: '#17424b' }

/** How well two colours can be told apart: 1 to 21. @param {string} one @param {string} other as #rrggbb */
export function contrast (one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return high / low
}

/** The fields of the document that are settings. */
export const settingNames = [
  'title', 'description', 'logo', 'colours', 'opens', 'base', 'gazetteer', 'places', 'activityDays'
]

/** Whether a setting may have this value. @param {string} name one of settingNames @param {any} value */
export const isSetting = (name, value) => isRecordValue(value, recordFields.store[name])

/**
 * @typedef {object} Settings
 * @property {string} [title]
 * @property {string} [description] a sentence below the title
 * @property {string} [logo] a path within the origin
 * @property {{light?: string, dark?: string}} [colours]
 * @property {string} [opens] a layer
 * @property {string | {url: string, name?: string, attribution?: string, maxzoom?: number}} [base]
 * @property {string} [gazetteer]
 * @property {[string, number, number, number][]} [places]
 * @property {number} [activityDays] that activity is kept
 */

/**
 * What of the document of a store is for the viewer, and valid.
 * @param {any} doc as it is stored; nothing where there is none
 * @returns {Settings}
 */
export function settingsOf (doc) {
  if (!isObject(doc) || doc.type !== 'store') return {}
  const valid = settingNames.filter(name => doc[name] !== undefined && isSetting(name, doc[name]))
  return Object.fromEntries(valid.map(name => [name, doc[name]]))
}
