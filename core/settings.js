// What the operator of a store says of the viewer, and how long activity is kept, in the document that marks the store
// (STORE_ID). All of it is optional, and text, never markup. A field that is not valid is as if it were not there:
// nothing of it may keep the map from being shown. validate_doc_update.js refuses the same; a test compares both.
import { isLayer } from './ids.js'
import { listOf, object, text, whole } from './values.js'

export const CONTRAST = 4.5 // to 1, of text and its ground: WCAG 2, AA
/** The grounds on which text in the accent is hardest to read. @type {Record<string, string>} */
export const grounds = { light: '#d9ecef', dark: '#17424b' }
const PLACES = 2000 // that the viewer finds without asking anybody

const HEX = /^#[0-9a-f]{6}$/i
const ADDRESS = /^https?:\/\/[^\s"'<>\\]{1,1000}$/
const PATH = /^(?!\/\/)(?![^/]*:)[^\s"'<>\\]{1,1000}$/ // within the origin of the page

/** A path of the same origin, or an address. */
const isAddress = value => typeof value === 'string' && (ADDRESS.test(value) || PATH.test(value))

const isTemplate = value => isAddress(value) && ['{z}', '{x}', '{y}'].every(part => value.includes(part))

/** The relative luminance of a colour, as WCAG defines it. @param {string} hex */
function luminance (hex) {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const share = parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** How well two colours can be told apart: 1 to 21. @param {string} one @param {string} other as #rrggbb */
export function contrast (one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const isAccentOn = ground => value => typeof value === 'string' && HEX.test(value) && contrast(value, ground) >= CONTRAST

/** Whether all fields of an object are known and valid. @param {Record<string, (value: any) => boolean>} fields */
const holds = fields => value => object(value) && Object.entries(value).every(([field, inner]) =>
  Object.hasOwn(fields, field) && fields[field](inner))

const isBase = holds({ url: isTemplate, name: text(200), attribution: text(2000), maxzoom: whole(0, 30) })

const isDegrees = most => value => Number.isFinite(value) && Math.abs(value) <= most
const isPlace = value => Array.isArray(value) && value.length === 4 && text(200)(value[0]) &&
  isDegrees(180)(value[1]) && isDegrees(90)(value[2]) && whole(0, 30)(value[3])

/** Field -> what its value must be. */
export const settingFields = {
  title: text(200), // the name of the map or of its operator
  logo: value => typeof value === 'string' && PATH.test(value), // within the origin; else the attachment `logo`
  colours: holds({ light: isAccentOn(grounds.light), dark: isAccentOn(grounds.dark) }), // accent in each scheme
  opens: isLayer, // the layer that is shown first
  base: value => isLayer(value) || (isBase(value) && value.url !== undefined), // the map under the layers
  gazetteer: isAddress, // of a search for places that answers as Nominatim does
  places: value => listOf(isPlace)(value) && value.length <= PLACES, // [name, longitude, latitude, zoom]
  // that activity is kept. A writer may write this document, but must not wipe his traces of the last month with it
  activityDays: whole(30, 36_500)
}

/**
 * @typedef {object} Settings
 * @property {string} [title]
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
  if (!object(doc) || doc.type !== 'store') return {}
  return Object.fromEntries(Object.entries(settingFields)
    .filter(([field, isValid]) => doc[field] !== undefined && isValid(doc[field]))
    .map(([field]) => [field, doc[field]]))
}
