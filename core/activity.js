// Documents of activity: who changed what in a store, and when. The control room and the commands write one after each
// change of a layer, an edition, the access or the settings. They never change, are not copied, and are kept as long as
// the operator says. validate_doc_update.js refuses the same fields; a test compares both.
import { scrub } from './errors.js'
import { isShallow } from './rules.js'
import { newRun } from './runs.js'
import { settingsOf } from './settings.js'
import { fromMilliseconds } from './times.js'
import { isSecret } from './upstream.js'
import { isObject, isSameJson } from './values.js'

export const activityDefaults = {
  days: 365, // days that activity is kept, unless the settings of the store have `activityDays`
  most: 16_384, // characters of all fields
  value: 600, // characters of a value before or after a change; a longer one is cut off
  batch: 50 // documents of old activity that are removed at once
}

const DAY = 86_400_000 // milliseconds
const DEPTH = 8 // nested lists and objects; a deeper value is kept as text that is cut off
const IN_ADDRESS = /([?&;]([\w-]+)=)[^&\s"'#]+/g

/** The id of an activity document. @param {string} run */
export const activityId = run => `activity:${run}`

/**
 * @typedef {object} Change
 * @property {'layer' | 'edition' | 'access' | 'store' | 'token' | 'style'} what
 * @property {'created' | 'changed' | 'removed'} done
 * @property {string} [layer]
 * @property {string} [edition] time of the edition, or the time from which a style applies
 * @property {string} [name] of a user or a token
 * @property {Record<string, {before?: any, after?: any}>} [fields]
 */

/**
 * Makes the document of a change, without passwords and keys, and cut to the size that the store accepts.
 * @param {Change} change
 * @param {{user: string, at: number, via: string}} by user: name in CouchDB; at: milliseconds by the clock of the
 *   server; via: 'page', or the command
 */
export function activityOf ({ what, done, layer, edition, name, fields = {} }, { user, at, via }) {
  const changedFields = Object.entries(fields).map(([field, { before, after }]) =>
    [field.slice(0, 100), definedFields({ before: publicValue(before, field), after: publicValue(after, field) })])
  const makeDocument = () => ({
    _id: activityId(newRun()),
    type: 'activity',
    user,
    at: fromMilliseconds(at),
    via: scrub(via).slice(0, 300),
    what,
    done,
    ...definedFields({ layer, edition, name: name && scrub(name).slice(0, 300) }),
    ...(changedFields.length && { fields: Object.fromEntries(changedFields) })
  })
  while (JSON.stringify(makeDocument()).length > activityDefaults.most) changedFields.pop()
  return makeDocument()
}

const definedFields = values => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/**
 * Makes a value safe for all readers of the store: without secrets, and cut off if it is long.
 * @param {any} value @param {string} name of its field
 */
function publicValue (value, name) {
  if (value === undefined || value === null) return undefined
  const isDeep = !isShallow(value, DEPTH)
  const open = isDeep ? undefined : hide(value, name)
  const text = typeof open === 'string' ? open : JSON.stringify(open)
  const json = isDeep ? hide(JSON.stringify(value), name) : text
  return isDeep || json.length > activityDefaults.value ? `${json.slice(0, activityDefaults.value - 1)}…` : open
}

/** Replaces secrets in a value, which it finds by names of fields and in addresses. */
function hide (value, name) {
  if (isSecret(name, true) && value !== null && typeof value !== 'boolean') return '(hidden)'
  if (typeof value === 'string') {
    return scrub(value)
      .replace(IN_ADDRESS, (match, start, parameter) => isSecret(parameter) ? `${start}(hidden)` : match)
  }
  if (Array.isArray(value)) return value.map(item => hide(item, ''))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, hide(inner, field)]))
}

/**
 * Lists the fields that differ between two documents, for a change.
 * @param {any} before undefined: the document is new
 * @param {Record<string, any>} changes a document, or its fields that were written
 */
export const fieldsBetween = (before, changes) => Object.fromEntries(Object.entries(changes)
  .filter(([field, after]) => !/^(_.*|type|layer)$/.test(field) && !isSameJson(before?.[field], after))
  .map(([field, after]) => [field, { before: before?.[field], after }]))

/** How many days activity is kept. @param {any} store the document of the store */
export const activityDays = store => settingsOf(store).activityDays ?? activityDefaults.days

/**
 * The time before which activity is old.
 * @param {any} store the document of the store @param {number} now milliseconds by the clock of the server
 */
export const keptFrom = (store, now) => fromMilliseconds(now - activityDays(store) * DAY)
