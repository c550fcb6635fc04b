// Prepares tiles for the store: checks them, finds their content type and computes their digests.
import { hash } from 'node:crypto'
import { TILE_ATTACHMENT, checkLayer, checkTile, isExactTime, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { bufferOf, inspectWhole } from '../formats/unpack.js'

/**
 * A version as a caller gives it: with `bytes`, or `read` to fetch them later, or `gone`. If `read` returns null, there
 * is no tile.
 * @typedef {object} NewVersion
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time exact
 * @property {Uint8Array} [bytes]
 * @property {() => Promise<Uint8Array | null> | Uint8Array | null} [read]
 * @property {boolean} [gone]
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 */

/** @param {NewVersion} version @returns {Promise<Tile | null>} null if there is no tile */
export async function prepareTile ({ layer, z, x, y, time, bytes, read, gone, expires, origin }) {
  checkLayer(layer)
  checkTile(z, x, y)
  if (!isExactTime(time)) throw new TilecouchError('BAD_TIME', { value: time })
  if (expires !== undefined && !isExactTime(expires)) throw new TilecouchError('BAD_TIME', { value: expires })
  if (gone) return new Tile({ layer, z, x, y, time, expires, origin })
  const sourceBytes = bytes ?? await read?.()
  const content = sourceBytes && bufferOf(sourceBytes)
  if (content === null) return null
  const { type } = await inspectWhole(content)
  return new Tile({ layer, z, x, y, time, expires, origin, type, bytes: content })
}

/** A version that may be stored. */
export class Tile {
  #digest

  /** @param {Record<string, any>} fields */
  constructor ({ layer, z, x, y, time, expires, origin, type, bytes }) {
    this.id = tileId(layer, z, x, y) // of its head
    this.layer = layer
    this.z = z
    this.x = x
    this.y = y
    this.time = time
    this.expires = expires
    this.origin = origin
    this.type = type
    /** @type {Buffer | undefined} */
    this.bytes = bytes // none when gone
    this.attempts = 0 // rounds of conflict
    this.mustSettle = false // its head alone does not decide
    this.hasLaterVersion = false // a later version that is in no manifest
    /** @type {'create' | 'advance' | undefined} */
    this.tried = undefined // the write of an earlier request, which may have failed
  }

  /**
   * As CouchDB writes it; null when gone. Computed on first use: new tiles are never compared.
   * @returns {string | null}
   */
  get digest () {
    if (!this.bytes) return null
    return this.#digest ??= digestOf(this.bytes)
  }
}

/** The image of a stored document: an attachment with or without its bytes. */
export const imageOf = doc => doc?._attachments?.[TILE_ATTACHMENT]

/** The digest that CouchDB gives an uncompressed attachment. It compresses none of our types. */
export const digestOf = bytes => `md5-${hash('md5', bytes, 'base64')}`
