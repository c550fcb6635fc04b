// The document that marks a database as a tile store: looked for before anything is written into it.
import { TilecouchError, show } from '../errors.js'
import { LAYER_KINDS, isAdministrative, isTileId } from '../ids.js'
import { now } from '../times.js'

export const SCHEMA = 1 // of the documents; raised when they change in a way older code cannot read

/** The marker of a new store. @param {number} [schema] of its documents */
export const newMarker = (schema = SCHEMA) => (
  { type: 'store', schema, created: now(), uuid: globalThis.crypto.randomUUID() }
)

/**
 * Whether a document is the marker of a store. Throws when only a newer program understands that store.
 * @param {{type?: string, schema?: number} | undefined} marker
 */
export function hasMarker (marker, url) {
  if (marker?.type !== 'store') return false
  const { schema } = marker
  if (!schema || schema <= SCHEMA) return true
  const why = `the store has schema ${Number.isFinite(schema) ? schema : show(schema)}, this tilecouch knows ${SCHEMA}: upgrade it. ` +
    `If no newer tilecouch wrote that, an admin sets schema to ${SCHEMA} in the document tilecouch`
  throw new TilecouchError('CONFIG_INVALID', { file: url, why })
}

const OURS = new RegExp(`^(_design/|(${LAYER_KINDS.join('|')}):)`)

/**
 * A database without a marker may be a store as well: filled by a program that writes our documents (MapProxy), or by
 * replication of a part. It has no other documents then.
 * @param {string[]} ids some of its documents
 */
export function refuseForeign (ids, url) {
  const isOurs = id => OURS.test(id) || isTileId(id) || isAdministrative(id)
  const foreign = ids.find(id => !isOurs(id))
  if (foreign) throw new TilecouchError('NOT_A_STORE', { db: url, value: foreign })
}
