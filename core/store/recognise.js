// Whether a database is a tile store, before anything is written into it.
import { TilecouchError } from '../errors.js'
import { isTileId } from '../ids.js'

export const SCHEMA = 1 // of the documents; raised when they change in a way older code cannot read

/**
 * Whether the mark of a store stands there. Throws when only a newer program understands it.
 * @param {{type?: string, schema?: number} | undefined} marker @param {string} url
 */
export function isMarked (marker, url) {
  if (marker?.type !== 'store') return false
  if (marker.schema && marker.schema > SCHEMA) throw new TilecouchError('CONFIG_INVALID', { file: url, why: `the store has schema ${marker.schema}, this tilecouch knows ${SCHEMA}: upgrade it` })
  return true
}

/**
 * Without a mark: one made by another program that writes our documents (MapProxy), or by replication of a part, has no others.
 * @param {string[]} ids some of its documents' @param {string} url
 */
export function refuseForeign (ids, url) {
  const foreign = ids.find(id => !/^(_design\/|(layer|edition|manifest|block|removed):)/.test(id) && !isTileId(id))
  if (foreign) throw new TilecouchError('NOT_A_STORE', { db: url, value: foreign })
}
