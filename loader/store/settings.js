// Settings of the operator: title, logo and colours of the viewer, the layer that opens first, a base map, a gazetteer,
// and for how many days activity is kept. They are in the document that marks the store (core/settings.js), the logo as
// an attachment.
//
//   await changeSettings(store, { title: 'Maps of Bern', base: 'land', gazetteer: null })
//   const { title, logo } = await readSettings(store)
import { isDeepStrictEqual } from 'node:util'
import {
  CONTRAST, STORE_ID, contrast, formatOf, formats, grounds, inspectTile, isSetting, settingNames, settingsOf
} from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { LARGEST_LOGO, mark } from './marker.js'

/** For messages: the values that a field takes. */
const takes = {
  title: 'it takes at most 200 characters',
  description: 'it takes at most 300 characters',
  opens: 'it takes the name of a layer',
  base: 'it takes a layer, or an address with {z}, {x} and {y}, if you like with a name, an attribution and a maxzoom',
  gazetteer: 'it takes an address, or a path on the same server',
  activityDays: 'it takes 30 to 36500 days'
}

/**
 * @typedef {import('../../core/settings.js').Settings} Settings
 *
 * @typedef {Omit<Settings, 'logo'> & {logo?: string | {type: string, bytes: number}, ignored?: string[]}} Described
 *   logo: a path, or the attached image; ignored: fields that are not valid
 *
 * @typedef {object} Changes null removes a setting
 * @property {string | null} [title]
 * @property {string | null} [description]
 * @property {Buffer | null} [logo] bytes of a PNG, JPEG, WebP or AVIF
 * @property {{light?: string | null, dark?: string | null}} [colours]
 * @property {string | null} [opens] a layer of the store
 * @property {Settings['base'] | null} [base]
 * @property {string | null} [gazetteer]
 * @property {number | null} [activityDays]
 */

/** @param {import('./index.js').Store} store @returns {Promise<Described>} */
export const readSettings = async ({ couch }) => described(await couch.get(STORE_ID))

/**
 * @param {import('./index.js').Store} store
 * @param {Changes} changes
 * @param {{dryRun?: boolean}} [options]
 * @returns {Promise<Described>} the settings after the change
 */
export async function changeSettings (store, changes, { dryRun = false } = {}) {
  const { couch, url } = store
  const logo = changes.logo && imageOf(changes.logo)
  for (const name of [changes.opens, changes.base]) if (typeof name === 'string') await store.layer(name)
  const change = stored => checked(changed(stored, /** @type {any} */ ({ ...changes, logo })), changes)
  if (dryRun) return described(change(await couch.get(STORE_ID) ?? { type: 'store' }))
  await mark(couch) // a store that other programs have filled may lack the document
  try {
    await couch.update(STORE_ID, stored => {
      const doc = change(stored)
      return isDeepStrictEqual(doc, stored) ? undefined : doc
    })
  } catch (error) {
    const isOld = error.code === 'FORBIDDEN' && /attachment/.test(error.details.reason)
    throw isOld ? new TilecouchError('STORE_OUTDATED', { url, what: 'a logo' }, { cause: error }) : error
  }
  return readSettings(store)
}

/** @param {any} doc as it is stored @returns {Described} */
function described (doc) {
  const settings = settingsOf(doc)
  const { content_type: type, length, data = '' } = doc?._attachments?.logo ?? {}
  const isIgnored = field => doc?.[field] !== undefined && !Object.hasOwn(settings, field)
  const ignored = settingNames.filter(isIgnored)
  return {
    ...settings,
    ...(type && !settings.logo && { logo: { type, bytes: length ?? Buffer.byteLength(data, 'base64') } }),
    ...(ignored.length && { ignored })
  }
}

/** The document with the changes. */
function changed (stored, { logo, colours, ...fields }) {
  const { _attachments: { logo: before, ...otherAttachments } = {}, ...doc } = stored
  for (const [field, value] of Object.entries(fields)) set(doc, field, value)
  if (colours) {
    const newColours = { ...settingsOf(stored).colours }
    for (const [scheme, value] of Object.entries(colours)) set(newColours, scheme, value)
    set(doc, 'colours', Object.keys(newColours).length ? newColours : null)
  }
  if (logo !== undefined) delete doc.logo // a path, which would take precedence
  const attached = logo === undefined ? before : logo
  const attachments = { ...otherAttachments, ...(attached && { logo: attached }) }
  return { ...doc, ...(Object.keys(attachments).length && { _attachments: attachments }) }
}

function set (object, field, value) {
  if (value === null) delete object[field]
  else object[field] = value
}

/** Returns the document. Throws if a changed setting is not valid. @param {any} doc @param {Changes} changes */
function checked (doc, { colours, ...changes }) {
  for (const [scheme, value] of Object.entries(colours ?? {})) if (value !== null) checkColour(scheme, value)
  for (const field of Object.keys(takes)) {
    const value = changes[field] ?? undefined
    if (value !== undefined && !isSetting(field, value)) throw bad(field, value, takes[field])
  }
  return doc
}

const bad = (field, value, why) => new TilecouchError('BAD_SETTING', { field, value, why })

/** @param {string} scheme light or dark @param {string} colour */
function checkColour (scheme, colour) {
  const field = `colour in the ${scheme}`
  if (!/^#[0-9a-f]{6}$/i.test(colour)) throw bad(field, colour, 'it takes a colour such as #0f6674')
  const ratio = contrast(colour, grounds[scheme])
  if (ratio >= CONTRAST) return
  const contrasts = `a contrast of ${Math.floor(ratio * 10) / 10} to 1 and needs ${CONTRAST} to 1`
  throw bad(field, colour, `text in it has ${contrasts}: take a ${scheme === 'light' ? 'darker' : 'lighter'} one`)
}

/** The attachment of a logo. @param {Buffer} bytes */
function imageOf (bytes) {
  const format = formatOf(bytes)
  if (!format || format === 'mvt') {
    throw bad('logo', bytes.toString('latin1', 0, 16), 'it takes a PNG, JPEG, WebP or AVIF')
  }
  if (bytes.length > LARGEST_LOGO) throw bad('logo', `${bytes.length} bytes`, `it takes at most ${LARGEST_LOGO} bytes`)
  inspectTile(bytes) // throws if it was cut off
  return { content_type: formats[format].type, data: bytes.toString('base64') }
}
