// A tile in memory, with everything its answers need. Documents may come from other programs, so everything
// that goes into a header is checked.
import { formatOf, formats } from '../../../core/images.js'
import { expiryOf, extensionOf, isExactTime, parseTileId, TILE_ATTACHMENT } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { etagOf } from '../../http/answers.js'

export const EPOCH = '1970-01-01T00:00:00Z' // time of a tile whose document has none

/** The type of bytes that are not a tile. Tile addresses never answer with it. */
export const UNKNOWN = 'application/octet-stream'

const DIGEST = /^md5-[A-Za-z0-9+/]{22}==$/

/**
 * @typedef {object} Content
 * @property {string} id of the document
 * @property {string | null} rev null: this gateway wrote it, and its revision is not known yet
 * @property {string} [time]
 * @property {string} [stored]
 * @property {string | null} [expires] of the document itself
 * @property {Record<string, any>} [origin]
 * @property {string} [type]
 * @property {Buffer} [bytes] missing: the tile is gone
 * @property {string} [digest] as CouchDB writes it
 */

export class Entry {
  /** @param {Content} content */
  constructor ({ id, rev, time, stored, expires, origin, type, bytes, digest }) {
    this.id = id
    this.rev = rev
    this.time = isExactTime(time) ? /** @type {string} */ (time) : EPOCH
    this.stored = isExactTime(stored) ? /** @type {string} */ (stored) : undefined
    this.ownExpires = isExactTime(expires) ? /** @type {string} */ (expires) : undefined
    this.origin = origin
    this.type = extensionOf(type) ? /** @type {string} */ (type) : typeOf(bytes)
    /** @type {Buffer | null} */
    this.bytes = bytes ?? null
    const isDigest = digest !== undefined && DIGEST.test(digest)
    const etag = () => isDigest ? `"${digest.slice(4)}"` : etagOf(bytes)
    this.etag = bytes ? etag() : ''
    this.lastModified = httpDate(this.stored ?? this.time)
    /** When it expires, by its own field or by the layer's ttl; null: never. @type {string | null} */
    this.expires = null
    this.expiresAt = Infinity // the same in milliseconds
    this.freshUntil = Infinity // milliseconds; later, the upstream has to be asked
    this.retryAt = 0 // milliseconds; an upstream that failed is not asked earlier
    this.epoch = -1 // of the cache, when `fit` was called
    /** The answer if this entry is in memory and fresh, as it nearly always is. */
    this.hit = { entry: this, outcome: 'hit' }
  }

  /** The name of its layer. */
  get layer () {
    return this.id.slice(0, this.id.indexOf(':'))
  }

  /** The digest of its bytes, as CouchDB writes it; null: the tile is gone. */
  get digest () {
    return this.bytes && `md5-${this.etag.slice(1, -1)}`
  }

  /** Bytes of memory, without the overhead of every entry. */
  get cost () {
    return (this.bytes?.length ?? 0) + (this.origin ? 200 : 0)
  }

  /**
   * Sets when it expires. Past versions never expire.
   * @param {Record<string, any> | undefined} layer its document
   * @param {{covers: (z: number, x: number, y: number) => boolean} | null} upstream
   */
  fit (layer, upstream) {
    const { z, x, y, time } = parseTileId(this.id)
    const stored = this.stored
    this.expires = time === undefined ? expiryOf({ expires: this.ownExpires, stored }, layer) : null
    this.expiresAt = this.expires === null ? Infinity : Date.parse(this.expires)
    // without an upstream, expired tiles are answered too
    this.freshUntil = upstream?.covers(z, x, y) ? this.expiresAt : Infinity
    return this
  }
}

/** @param {any} doc of a head or a past version, with the bytes of its attachment @returns {Entry} */
export function entryOf (doc) {
  const { _id: id, _rev: rev, time, stored, expires, origin, _attachments } = doc
  const attachment = _attachments?.[TILE_ATTACHMENT]
  if (!attachment) return new Entry({ id, rev, time, stored, expires, origin })
  if (!Buffer.isBuffer(attachment.data)) {
    throw new TilecouchError('BAD_ANSWER', { url: id, why: 'the bytes of the tile are missing' })
  }
  const { content_type: type, data, digest } = attachment
  return new Entry({ id, rev, time, stored, expires, origin, type, bytes: detachBytes(data), digest })
}

/** The type by the first bytes: another type in the document could be that of a page. */
const typeOf = bytes => formats[bytes && formatOf(bytes) || '']?.type ?? UNKNOWN

/** Copies a slice: it would keep the complete answer in memory. */
function detachBytes (bytes) {
  if (bytes.buffer.byteLength <= bytes.length + 64) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

/** An HTTP date, at most now: a map may have a time in the future, but was stored before now. */
const httpDate = time => new Date(Math.min(Date.parse(time), Date.now())).toUTCString()
