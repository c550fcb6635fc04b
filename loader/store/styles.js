// Styles of layers: documents that never change, each with the style from one time on. There is no head: the newest one
// up to a time counts. So two writers cannot overwrite each other's style.
import { checkLayer, checkSound, endOf, faultIn, now, styleId } from '../../core/index.js'
import { styleKinds } from '../../core/store/records.js'
import { encodeId } from '../../core/couch/client.js'
import { TilecouchError } from '../errors.js'

/**
 * @typedef {Record<string, {type: string, bytes: Buffer}>} StyleFiles by name: sprite.png, glyphs/Noto Sans/0-255.pbf
 * @typedef {{version: 8, sources: Record<string, any>, layers: any[]} & Record<string, any>} MapStyle
 * @typedef {{_id: string, layer: string, time: string, style: MapStyle, digest?: string, stored?: string,
 *   _attachments?: Record<string, {length: number}>}} StyleDocument
 */

/**
 * The style of a layer as of a time.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {string} [time] as written; the newest style unless given
 * @param {AbortSignal} [signal]
 * @returns {Promise<StyleDocument | undefined>}
 */
export async function getStyle (couch, layer, time, signal) {
  const start = styleId(checkLayer(layer))
  const startkey = time === undefined ? `${start}~` : styleId(layer, endOf(time))
  const query = { startkey, endkey: start, descending: true, limit: 1, include_docs: true }
  const [row] = await couch.page(query, signal)
  return row?.doc ? checkSound(row.doc, styleKinds) : undefined
}

/** All valid styles of a layer, oldest first. @returns {Promise<StyleDocument[]>} */
export async function styles (couch, layer) {
  const start = styleId(checkLayer(layer))
  const rows = await couch.page({ startkey: start, endkey: `${start}~`, include_docs: true })
  return rows.map(row => /** @type {any} */ (row.doc)).filter(doc => doc && !faultIn(doc, styleKinds))
}

/**
 * Stores a style from a time on, even if the same style already counts then: a style that is stored later for a time
 * in between must not replace it. Only the same style for the same time writes nothing.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {{time: string, style: MapStyle, files?: StyleFiles, digest: string}} fields time: exact; digest: of the style
 *   and its files
 * @param {AbortSignal} [signal]
 * @returns {Promise<{id: string, time: string, isNew: boolean}>}
 */
export async function putStyle (couch, layer, { time, style, files = {}, digest }, signal) {
  const id = styleId(checkLayer(layer), time)
  const doc = {
    _id: id,
    type: 'style',
    layer,
    time,
    stored: now(),
    style,
    digest,
    ...(Object.keys(files).length && {
      _attachments: Object.fromEntries(Object.entries(files).map(([name, { type, bytes }]) =>
        [name, { content_type: type, data: bytes }]))
    })
  }
  const why = faultIn(doc, styleKinds)
  if (why) throw new TilecouchError('BAD_DOCUMENT', { id, why })
  const [{ error, reason }] = await couch.write([doc], signal)
  if (!error) return { id, time, isNew: true }
  if (error !== 'conflict') throw refusal(couch, id, reason || error)
  const stored = await couch.get(id, signal)
  if (stored?.digest !== digest) throw new TilecouchError('STYLE_TAKEN', { layer, time })
  return { id, time, isNew: false }
}

/** Whether the reason of a refusal is that the validation function does not know a type. */
export const isUnknownType = (reason, type) => new RegExp(`type must be (?!.*\\b${type}\\b)`).test(reason)

const refusal = (couch, id, reason) => isUnknownType(reason, 'style')
  ? new TilecouchError('STORE_OUTDATED', { url: couch.url, what: 'styles' })
  : new TilecouchError('REFUSED', { id, reason })

/**
 * A file of a style: an image or the description of its sprite, or a range of glyphs.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer @param {string} time exact
 * @param {string} name as attached
 * @param {AbortSignal} [signal]
 * @returns {Promise<Buffer | undefined>}
 */
export async function getStyleFile (couch, layer, time, name, signal) {
  const path = [encodeId(styleId(layer, time)), ...name.split('/').map(encodeURIComponent)].join('/')
  return couch.find({ path, raw: true, signal })
}
