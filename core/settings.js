// Settings of the viewer by the operator of a store, and how long activity is kept. They are in the document that marks
// the store (STORE_ID). All are optional, and texts are never markup. Invalid fields are ignored, so that the map is
// shown in any case. validate_doc_update.js refuses them; a test compares both.
import { luminance } from './record-rules.js'
import { isRecordValue, recordFields } from './record-values.js'
import { isObject } from './values.js'

export const CONTRAST = 4.5 // to 1, between text and its background: WCAG 2, AA
/** The backgrounds on which text in the accent colour is hardest to read. @type {Record<string, string>} */
export const grounds = { light: '#d9ecef', dark: '#17424b' }

/** How well two colours can be told apart: 1 to 21. @param {string} colour @param {string} otherColour as #rrggbb */
export function contrast (colour, otherColour) {
  const [low, high] = [luminance(colour), luminance(otherColour)].sort((a, b) => a - b)
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
 * @property {number} [activityDays] days that activity is kept
 */

/**
 * The valid settings in the document of a store.
 * @param {any} doc as it is stored; undefined if there is none
 * @returns {Settings}
 */
export function settingsOf (doc) {
  if (!isObject(doc) || doc.type !== 'store') return {}
  const valid = settingNames.filter(name => doc[name] !== undefined && isSetting(name, doc[name]))
  return Object.fromEntries(valid.map(name => [name, doc[name]]))
}
