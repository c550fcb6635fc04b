// Documents of activity: who changed what in a store, and when. The control room and the commands write one after each
// change of a layer, an edition, the access or the settings. They never change, are not copied, and are kept as long as
// the operator says. validate_doc_update.js refuses the same fields; a test compares both.
import { scrub } from './errors.js'
import { recordFields } from './record-values.js'
import { isShallow } from './rules.js'
import { isRun, newRun } from './runs.js'
import { settingsOf } from './settings.js'
import { isSecret } from './upstream.js'
import { isObject } from './values.js'

export const activityDefaults = {
  days: 365, // that activity is kept, unless the settings of the store say otherwise (`activityDays`)
  most: 16_384, // characters of all fields
  value: 600, // characters of a value before or after a change; of a longer one the beginning is kept
  batch: 50 // documents of old activity that are removed at once
}

const DAY = 86_400_000 // milliseconds
const DEPTH = 8 // lists and objects within each other; of what is deeper the beginning is kept as text
const IN_ADDRESS = /([?&;]([\w-]+)=)[^&\s"'#]+/g

/** What somebody changed. @param {string} run */
export const activityId = run => `activity:${run}`

/** @type {Record<string, import('./documents.js').Kind>} */
export const activityKinds = {
  activity: {
    fields: recordFields.activity,
    needs: ['user', 'at', 'what', 'done'],
    most: activityDefaults.most,
    isGeneral: true,
    id: ({ _id }) => activityId(isRun(String(_id).slice(9)) ? String(_id).slice(9) : 'RUN')
  }
}

/**
 * @typedef {object} Change
 * @property {'layer' | 'edition' | 'access' | 'store' | 'token' | 'style'} what
 * @property {'created' | 'changed' | 'removed'} done
 * @property {string} [layer]
 * @property {string} [edition] its time; of a style, the time from which on it holds
 * @property {string} [name] of a user or a token
 * @property {Record<string, {before?: any, after?: any}>} [fields]
 */

/**
 * The document that says so: without passwords and keys, and as short as the store wants it.
 * @param {Change} change
 * @param {{user: string, at: number, via: string}} by user: as CouchDB knows him; at: milliseconds by the clock of the
 *   server; via: 'page', or the command
 */
export function activityOf ({ what, done, layer, edition, name, fields = {} }, { user, at, via }) {
  const told = Object.entries(fields).map(([field, { before, after }]) =>
    [field.slice(0, 100), valuesOf({ before: shown(before, field), after: shown(after, field) })])
  const make = () => ({
    _id: activityId(newRun()),
    type: 'activity',
    user,
    at: new Date(at).toISOString().slice(0, 19) + 'Z',
    via: scrub(via).slice(0, 300),
    what,
    done,
    ...valuesOf({ layer, edition, name: name && scrub(name).slice(0, 300) }),
    ...(told.length && { fields: Object.fromEntries(told) })
  })
  while (JSON.stringify(make()).length > activityDefaults.most) told.pop()
  return make()
}

const valuesOf = values => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** A value as everybody may read it who reads the store. @param {any} value @param {string} name of its field */
function shown (value, name) {
  if (value === undefined || value === null) return undefined
  const isDeep = !isShallow(value, DEPTH)
  const open = isDeep ? undefined : hide(value, name)
  const text = typeof open === 'string' ? open : JSON.stringify(open)
  const json = isDeep ? hide(JSON.stringify(value), name) : text
  return isDeep || json.length > activityDefaults.value ? `${json.slice(0, activityDefaults.value - 1)}…` : open
}

/** Without what nobody must read, whatever the name of its field. */
function hide (value, name) {
  if (isSecret(name, true) && value !== null && typeof value !== 'boolean') return '(hidden)'
  if (typeof value === 'string') {
    return scrub(value).replace(IN_ADDRESS, (all, start, parameter) => isSecret(parameter) ? `${start}(hidden)` : all)
  }
  if (Array.isArray(value)) return value.map(each => hide(each, ''))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, hide(inner, field)]))
}

/**
 * What differs between two documents, for the fields of a change.
 * @param {any} before nothing: it was made
 * @param {Record<string, any>} changes a document, or those of its fields that were written
 */
export const fieldsBetween = (before, changes) => Object.fromEntries(Object.entries(changes)
  .filter(([field, after]) => !/^(_.*|type|layer)$/.test(field) && !isSame(before?.[field], after))
  .map(([field, after]) => [field, { before: before?.[field], after }]))

const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** How many days activity is kept. @param {any} store the document of the store */
export const activityDays = store => settingsOf(store).activityDays ?? activityDefaults.days

/**
 * The time before which activity is old.
 * @param {any} store the document of the store @param {number} now milliseconds by the clock of the server
 */
export const keptFrom = (store, now) => new Date(now - activityDays(store) * DAY).toISOString().slice(0, 19) + 'Z'
