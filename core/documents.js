// Checks documents of layers and editions as they are stored: readers use `faultIn` first and ignore documents with a
// fault. The other kinds of documents are in store/records.js, work.js, activity.js and tokens.js. The rules for their
// fields are those of validate_doc_update.js; a test compares what both refuse.
import { TilecouchError, show } from './errors.js'
import { editionId, isLayer, layerId } from './ids.js'
import { editionRules, isShallow, isValue, layerRules } from './rules.js'
import { isObject } from './values.js'

const DEPTH = 64 // nested lists and objects: a polygon may be in a collection of collections
const UNKNOWN = 4096 // characters of an unknown field, which a later version may write

/**
 * @typedef {object} Kind
 * @property {Record<string, string>} fields each with its rule
 * @property {string[]} needs fields that it must have
 * @property {number} most limit of the number of characters of all fields
 * @property {(doc: any) => string} id the id that the fields make
 * @property {boolean} [isGeneral] the document need not belong to a layer
 * @property {(doc: any) => string | undefined} [fault] describes a fault in fields that are valid one by one
 */

/** @type {Record<string, Kind>} */
export const kindsByType = {
  layer: {
    fields: layerRules,
    needs: [],
    most: 262_144,
    id: ({ layer }) => layerId(layer),
    fault ({ layer, minzoom, maxzoom, renaming, retina }) {
      if (minzoom > maxzoom) return `minzoom ${minzoom} is greater than maxzoom ${maxzoom}`
      if (retina === layer) return 'retina names the layer itself'
      return renaming === layer ? 'renaming names the layer itself' : undefined
    }
  },
  edition: { fields: editionRules, needs: ['time'], most: 262_144, id: ({ layer, time }) => editionId(layer, time) }
}

/**
 * Checks a stored document of a layer.
 * @param {any} doc
 * @param {Record<string, Kind>} [kinds]
 * @returns {{faults: string[], valid: Record<string, any>}} faults: in words; valid: the fields without a fault
 */
export function examine (doc, kinds = kindsByType) {
  const { type, layer } = isObject(doc) ? doc : /** @type {any} */ ({})
  const hasKind = typeof type === 'string' && Object.hasOwn(kinds, type)
  if (!hasKind) return { faults: [`its type is ${show(type)}`], valid: {} }
  const { fields, needs, most, isGeneral } = kinds[type]
  const hasLayer = isLayer(layer) || (isGeneral && layer === undefined)
  if (!hasLayer) return { faults: [`its layer is ${show(layer)}`], valid: {} }
  const { faults, valid, size } = examineFields(doc, fields, most)
  const missing = needs.filter(field => !Object.hasOwn(valid, field) && doc[field] === undefined)
  if (missing.length) faults.push(`it has no ${missing.join(' and no ')}`)
  else if (needs.every(field => Object.hasOwn(valid, field))) faults.push(...faultsTogether(doc, valid, kinds[type]))
  if (size > most && !faults.length) faults.push(`it holds more than ${most} characters`)
  return { faults, valid }
}

/** Checks the fields one by one. @param {Record<string, string>} fields each with its rule */
function examineFields (doc, fields, most) {
  const faults = /** @type {string[]} */ ([])
  const valid = /** @type {Record<string, any>} */ ({})
  let size = 0
  for (const [field, value] of Object.entries(doc)) {
    if (field.startsWith('_') || field === 'type' || field === 'layer' || value === undefined) continue
    const length = isShallow(value, DEPTH) ? field.length + JSON.stringify(value).length : Infinity
    size += length
    const isValid = () => Object.hasOwn(fields, field) ? isValue(value, fields[field]) : length <= UNKNOWN
    if (length < Infinity && isValid()) valid[field] = value
    // an invalid upstream may be a password
    else faults.push(`bad ${field.slice(0, 60)}${field === 'upstream' || length > most ? '' : ` ${show(value)}`}`)
  }
  return { faults, valid, size }
}

/** The faults of fields that are valid one by one. @param {Kind} kind */
function faultsTogether (doc, valid, kind) {
  const checkedDoc = { ...valid, layer: doc.layer, _id: doc._id, _attachments: doc._attachments }
  const composedId = kind.id(checkedDoc)
  const idFault = composedId === doc._id ? undefined : `its fields are those of ${composedId}`
  return [idFault, kind.fault?.(checkedDoc)].filter(why => why !== undefined)
}

/**
 * The first fault of a document of a layer or an edition, if it has one.
 * @param {any} doc as it is stored
 * @param {Record<string, Kind>} [kinds]
 * @returns {string | undefined}
 */
export const faultIn = (doc, kinds) => examine(doc, kinds).faults[0]

/**
 * The documents without a fault.
 * @param {any[]} docs
 * @param {'layer' | 'edition'} type
 * @param {(doc: any, why: string) => void} [onFault] called with each of the other documents
 */
export function soundOf (docs, type, onFault) {
  return docs.filter(doc => {
    if (!doc) return false // deleted meanwhile
    const why = faultIn(doc, { [type]: kindsByType[type] })
    if (why) onFault?.(doc, why)
    return !why
  })
}

/**
 * Throws BAD_DOCUMENT if a document has a fault; returns it otherwise.
 * @param {any} doc as it is stored @param {Record<string, Kind>} [kinds] @returns {any}
 */
export function checkSound (doc, kinds) {
  const why = faultIn(doc, kinds)
  if (why) throw new TilecouchError('BAD_DOCUMENT', { id: doc?._id, why })
  return doc
}
