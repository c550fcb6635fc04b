// Checks documents of layers, editions and styles as they are stored: readers use `faultIn` first and ignore what has a
// fault. Manifests, blocks and removals are checked in store/records.js; work.js, activity.js, tokens.js have theirs.
// validate_doc_update.js refuses the same; a test compares both.
import { TilecouchError } from './errors.js'
import { editionId, isLayer, isTileId, layerId, styleId } from './ids.js'
import { layerFields } from './layers.js'
import { isRun } from './runs.js'
import { isExactTime } from './times.js'
import { flag, isShallow, listOf, object, text, whole } from './values.js'

const DEPTH = 64 // lists and objects within each other: polygons of features may be in collections in collections
const STYLE_FILE = 4_194_304 // bytes
const UNKNOWN = 4096 // characters of a field of a later version

export { isRun }
/** A number of anything. */
export const count = whole(0, Number.MAX_SAFE_INTEGER)

const counts = ['tiles', 'created', 'advanced', 'backfilled', 'unchanged', 'failed', 'gone', 'bytes', 'blocks']
const editionFields = {
  time: isExactTime,
  title: text(10_000),
  source: text(10_000),
  run: isRun,
  root: text(100),
  complete: flag,
  started: isExactTime,
  finished: isExactTime,
  ...Object.fromEntries(counts.map(field => [field, count])),
  baseline: value => object(value) && listOf(isRun)(value.runs) && listOf(isTileId)(value.differing),
  from: object
}

/** A style as MapLibre takes it, as far as a store looks at it. */
export const isStyle = value =>
  object(value) && value.version === 8 && object(value.sources) && listOf(object)(value.layers)

/**
 * @typedef {object} Kind
 * @property {Record<string, (value: any) => boolean>} fields
 * @property {string[]} needs fields that it must have
 * @property {number} most characters of all fields
 * @property {(doc: any) => string} id that the fields make
 * @property {boolean} [isGeneral] it need not be about a layer
 * @property {(doc: any) => string | undefined} [fault] what is wrong with fields that are each valid
 */

/** @type {Record<string, Kind>} */
export const named = {
  layer: {
    fields: layerFields,
    needs: [],
    most: 262_144,
    id: ({ layer }) => layerId(layer),
    fault ({ layer, minzoom, maxzoom, renaming, retina }) {
      if (minzoom > maxzoom) return `minzoom ${minzoom} is greater than maxzoom ${maxzoom}`
      if (retina === layer) return 'retina names the layer itself'
      return renaming === layer ? 'renaming names the layer itself' : undefined
    }
  },
  edition: { fields: editionFields, needs: ['time'], most: 262_144, id: ({ layer, time }) => editionId(layer, time) }
}

/**
 * Documents of styles, apart from the others: pages that only show tiles do not load this.
 * @type {Record<string, Kind>}
 */
export const styleKinds = {
  style: {
    fields: {
      time: isExactTime,
      stored: isExactTime,
      style: isStyle,
      digest: value => typeof value === 'string' && value.length <= 100 // of the style and its files
    },
    needs: ['time', 'style'],
    most: 1_048_576,
    id: ({ layer, time }) => styleId(layer, time),
    // the validation of CouchDB sees the length that a writer says, and this is the one that is stored
    fault ({ _attachments: files = {} }) {
      const tooLong = Object.keys(files).find(name => files[name].length > STYLE_FILE)
      return tooLong && `its file ${tooLong} is more than ${STYLE_FILE} bytes`
    }
  }
}

/**
 * Looks at a document of a layer as it is stored.
 * @param {any} doc
 * @param {Record<string, Kind>} [kinds]
 * @returns {{faults: string[], valid: Record<string, any>}} faults: in words; valid: those fields that have none
 */
export function examine (doc, kinds = named) {
  const faults = /** @type {string[]} */ ([])
  const valid = /** @type {Record<string, any>} */ ({})
  const { type, layer } = object(doc) ? doc : /** @type {any} */ ({})
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) faults.push(`its type is ${show(type)}`)
  else if (!isLayer(layer) && !(kinds[type].isGeneral && layer === undefined)) faults.push(`its layer is ${show(layer)}`)
  else {
    const { fields, needs, most, id, fault } = kinds[type]
    let size = 0
    for (const [field, value] of Object.entries(doc)) {
      if (field.startsWith('_') || field === 'type' || field === 'layer' || value === undefined) continue
      const length = isShallow(value, DEPTH) ? field.length + JSON.stringify(value).length : Infinity
      size += length
      const isValid = () => Object.hasOwn(fields, field) ? fields[field](value) : length <= UNKNOWN
      if (length < Infinity && isValid()) valid[field] = value
      // an invalid upstream may be a password
      else faults.push(`bad ${field.slice(0, 60)}${field === 'upstream' || length > most ? '' : ` ${show(value)}`}`)
    }
    const missing = needs.filter(field => !Object.hasOwn(valid, field) && doc[field] === undefined)
    if (missing.length) faults.push(`it has no ${missing.join(' and no ')}`)
    else if (needs.every(field => Object.hasOwn(valid, field))) {
      const all = { ...valid, layer, _id: doc._id, _attachments: doc._attachments }
      const own = id(all)
      if (own !== doc._id) faults.push(`its fields are those of ${own}`)
      const why = fault?.(all)
      if (why) faults.push(why)
    }
    if (size > most && !faults.length) faults.push(`it holds more than ${most} characters`)
  }
  return { faults, valid }
}

function show (value) {
  const shown = isShallow(value, DEPTH) ? JSON.stringify(value) ?? 'missing' : 'something deep'
  return shown.length > 60 ? `${shown.slice(0, 57)}…` : shown
}

/**
 * What is wrong with a document of a layer or an edition, if anything.
 * @param {any} doc as it is stored
 * @param {Record<string, Kind>} [kinds]
 * @returns {string | undefined}
 */
export const faultIn = (doc, kinds) => examine(doc, kinds).faults[0]

/**
 * The documents without a fault.
 * @param {any[]} docs
 * @param {'layer' | 'edition'} type
 * @param {(doc: any, why: string) => void} [onFault] called with the others
 */
export function soundOf (docs, type, onFault) {
  return docs.filter(doc => {
    if (!doc) return false // it went meanwhile
    const why = faultIn(doc, { [type]: named[type] })
    if (why) onFault?.(doc, why)
    return !why
  })
}

/**
 * Refuses a document that may not be believed.
 * @param {any} doc as it is stored @param {Record<string, Kind>} [kinds] @returns {any}
 */
export function checkSound (doc, kinds) {
  const why = faultIn(doc, kinds)
  if (why) throw new TilecouchError('BAD_DOCUMENT', { id: doc?._id, why })
  return doc
}
