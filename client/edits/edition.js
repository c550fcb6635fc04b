// One edition that is made on this device: its tiles, their state, and its upload.
import { TilecouchError, checkTile, editionId, inspectTile, now, tileId } from '../../core/index.js'
import { toBase64 } from '../mirror/digest.js'
import { DatabaseReader } from '../offline/database-reader.js'
import { tallyOf } from './edit-index.js'

const BATCH = 100 // tiles written at once
const BATCH_BYTES = 4 * 1024 * 1024 // of images written at once

/**
 * @typedef {Blob | ArrayBuffer | ArrayBufferView} TileImage
 * @typedef {{z: number, x: number, y: number, image?: TileImage, gone?: boolean}} EditedTile
 * @typedef {import('./edit-index.js').EditedEntry} Entry
 */

export class Edition {
  #edits

  /** @param {import('./edits.js').Edits} edits @param {{layer: string, time: string}} edition */
  constructor (edits, { layer, time }) {
    this.#edits = edits
    this.layer = layer
    this.time = time
  }

  /**
   * A tile as it was at that time. Another image for the same one takes its place, as long as that was not sent.
   * @param {number} z @param {number} x @param {number} y @param {TileImage} image
   */
  put (z, x, y, image) {
    return this.#putOne({ z, x, y, image })
  }

  /** There was no tile at that time. @param {number} z @param {number} x @param {number} y */
  gone (z, x, y) {
    return this.#putOne({ z, x, y, gone: true })
  }

  async #putOne (made) {
    const [problem] = await this.#edits.write(this, [await this.#draft(made)])
    if (problem) throw problem
  }

  /**
   * Many tiles. One that is no good does not cost the others.
   * @param {Iterable<EditedTile> | AsyncIterable<EditedTile>} tiles
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<{tiles: number, bytes: number, failed: number, failures: {z: number, x: number, y: number, code:
   *   string, reason: string}[]}>} tiles, bytes: that are there now
   */
  async putAll (tiles, { signal } = {}) {
    const summary = { tiles: 0, bytes: 0, failed: 0, failures: /** @type {any[]} */ ([]) }
    const fail = ({ z, x, y }, { code = 'INTERNAL', message }) => {
      summary.failed++
      summary.failures.push({ z, x, y, code, reason: message })
    }
    let batch = new Map()
    let bytes = 0
    const flush = async () => {
      const drafts = [...batch.values()]
      batch = new Map()
      bytes = 0
      const problems = await this.#edits.write(this, drafts)
      drafts.forEach((draft, at) => {
        const problem = problems[at]
        if (problem) return fail(draft, problem)
        summary.tiles++
        summary.bytes += draft.size
      })
    }
    for await (const made of tiles) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      const draft = await this.#draft(made).catch(error => fail(made, error))
      if (!draft) continue
      if (batch.has(draft.id) || batch.size >= BATCH || bytes + draft.size > BATCH_BYTES) await flush()
      batch.set(draft.id, draft)
      bytes += draft.size
    }
    if (batch.size) await flush()
    return summary
  }

  /** @param {EditedTile} made */
  async #draft ({ z, x, y, image, gone = false }) {
    checkTile(z, x, y)
    const { layer, time } = this
    const place = { id: tileId(layer, z, x, y), layer, z, x, y, time, stored: now(), size: 0 }
    if (gone) return place
    const { bytes, type } = await readImage(/** @type {TileImage} */ (image))
    return { ...place, type, bytes: toBase64(bytes), size: bytes.length }
  }

  /** Takes one back that was not sent. @returns {Promise<boolean>} whether there was one */
  async remove (z, x, y) {
    checkTile(z, x, y)
    return this.#edits.removeTile(this, { z, x, y })
  }

  /** Its status: tiles and bytes edited here, how many the store has, and how many it refused. */
  async status () {
    const { index } = await this.#edits.opened()
    await index.read()
    const doc = index.documents.get(editionId(this.layer, this.time))
    const here = index.versions(this.layer, this.time)
    const { created, advanced, backfilled, unchanged } = tallyOf(here, doc)
    const sent = created + advanced + backfilled + unchanged
    const unsent = here.filter(({ upload }) => !upload).length
    const refused = here.filter(({ upload }) => upload?.error).length
    return {
      layer: this.layer, time: this.time, title: doc?.title, source: doc?.source,
      state: /** @type {'gone' | 'uploading' | 'sent' | 'open'} */ (!doc ? 'gone' : this.#edits.isUploading(this) ? 'uploading' : sent && !unsent && !refused && doc.upload?.finished ? 'sent' : 'open'),
      tiles: sent + unsent + refused, gone: here.filter(({ digest }) => digest === null).length,
      sent, unsent, refused, here: here.length, bytes: here.reduce((sum, { bytes }) => sum + bytes, 0),
      uploaded: doc?.upload?.finished, to: doc?.upload?.to
    }
  }

  /**
   * What is on the device of it: to look at, and to put what was refused into an edition of another time.
   * @param {{state?: 'unsent' | 'sent' | 'refused'}} [options]
   * @returns {AsyncGenerator<{z: number, x: number, y: number, gone: boolean, bytes: number, type?: string, state:
   *   'unsent' | 'sent' | 'refused', code?: string, reason?: string, image: () => Promise<Blob | undefined>}>}
   */
  async * tiles ({ state } = {}) {
    const { db, index } = await this.#edits.opened()
    await index.read()
    for (const { id, z, x, y, type, bytes, digest, upload } of index.versions(this.layer, this.time)) {
      const own = /** @type {'unsent' | 'sent' | 'refused'} */ (!upload ? 'unsent' : upload.to ? 'sent' : 'refused')
      if (state && state !== own) continue
      yield {
        z, x, y, type, bytes, gone: digest === null, state: own,
        ...(upload?.error && { code: upload.error, reason: upload.reason }),
        image: async () => (await DatabaseReader.of(db).image(id))?.blob
      }
    }
  }

  /**
   * Sends to the store what it has not got. What was sent stays here until the areas that it lies in have it.
   * @param {object} [options]
   * @param {string} [options.to] address of a store; the one that the areas come from unless given
   * @param {string} [options.name] of a user with the right to write
   * @param {string} [options.password]
   * @param {RequestInit} [options.fetchOptions]
   * @param {AbortSignal} [options.signal]
   * @param {(progress: {tiles: number, bytes: number, refused: number, total: {tiles: number, bytes: number}, rate:
   *   number, remaining?: number}) => void} [options.onProgress]
   * @param {(failure: {z: number, x: number, y: number, code: string, reason: string}) => void} [options.onFailure]
   */
  async upload (options = {}) {
    await this.#edits.upload(this, options)
    return this.status()
  }

  /** Takes it off the device, whether it was sent or not. */
  discard () {
    return this.#edits.discard(this)
  }
}

const MAX_UNPACKED = 64e6 // bytes: a vector tile that unpacks to more is not a tile

/**
 * @param {Blob | ArrayBuffer | ArrayBufferView} image
 * @returns {Promise<{bytes: Uint8Array, type: string}>} type: read from the bytes, whatever a Blob says
 */
export async function readImage (image) {
  const bytes = await bytesOf(image)
  const unpacked = bytes[0] === 0x1f && bytes[1] === 0x8b ? await unpack(bytes) : undefined
  const { type } = inspectTile(bytes, { gunzip: () => unpacked?.bytes ?? throwError(unpacked?.why) })
  return { bytes, type }
}

/** @returns {Promise<Uint8Array>} */
async function bytesOf (image) {
  if (image instanceof Blob) return new Uint8Array(await image.arrayBuffer())
  if (ArrayBuffer.isView(image)) return new Uint8Array(image.buffer, image.byteOffset, image.byteLength)
  if (image instanceof ArrayBuffer) return new Uint8Array(image)
  throw new TilecouchError('BAD_OPTION', { option: 'image', value: image === null ? null : typeof image, why: 'a Blob, an ArrayBuffer or a Uint8Array' })
}

async function unpack (packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const chunks = []
  let length = 0
  try {
    for (;;) {
      const { value } = await reader.read()
      if (!value) return { bytes: new Uint8Array(await new Blob(chunks).arrayBuffer()) }
      length += value.length
      if (length > MAX_UNPACKED) return { why: 'it unpacks to too much' }
      chunks.push(value)
    }
  } catch (error) {
    return { why: error.message }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const throwError = why => { throw new Error(why) }
