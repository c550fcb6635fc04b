// One edition that is made on this device: a survey of one time, tile by tile, and its way to the store.
import { TilecouchError, checkTile, editionId, now, tileId } from '../../core/index.js'
import { toBase64 } from '../mirror/digest.js'
import { Reader } from './reader.js'
import { readImage } from './edits-image.js'
import { tally } from './edits-tally.js'

const LOT = 100 // tiles written at once
const LOT_BYTES = 4 * 1024 * 1024 // of images written at once

/**
 * @typedef {Blob | ArrayBuffer | ArrayBufferView} Image
 * @typedef {{z: number, x: number, y: number, image?: Image, gone?: boolean}} Made
 * @typedef {import('./edits-index.js').Entry} Entry
 */

export class Edition {
  #edits

  /** @param {import('./edits.js').Edits} edits @param {{layer: string, time: string}} edition */
  constructor (edits, { layer, time }) {
    this.#edits = edits
    this.layer = layer
    this.time = time
  }

  /** A tile as it was at that time. Another image for the same one takes its place, as long as that was not sent. @param {number} z @param {number} x @param {number} y @param {Image} image */
  put (z, x, y, image) {
    return this.#one({ z, x, y, image })
  }

  /** There was no tile at that time. @param {number} z @param {number} x @param {number} y */
  gone (z, x, y) {
    return this.#one({ z, x, y, gone: true })
  }

  async #one (made) {
    const [problem] = await this.#edits.write(this, [await this.#draft(made)])
    if (problem) throw problem
  }

  /**
   * Many tiles. One that is no good does not cost the others.
   * @param {Iterable<Made> | AsyncIterable<Made>} tiles
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<{tiles: number, bytes: number, failed: number, failures: {z: number, x: number, y: number, code: string, reason: string}[]}>} tiles, bytes: that are there now
   */
  async putAll (tiles, { signal } = {}) {
    const summary = { tiles: 0, bytes: 0, failed: 0, failures: /** @type {any[]} */ ([]) }
    const fail = ({ z, x, y }, { code = 'INTERNAL', message }) => {
      summary.failed++
      summary.failures.push({ z, x, y, code, reason: message })
    }
    let lot = new Map()
    let bytes = 0
    const flush = async () => {
      const drafts = [...lot.values()]
      lot = new Map()
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
      if (lot.has(draft.id) || lot.size >= LOT || bytes + draft.size > LOT_BYTES) await flush()
      lot.set(draft.id, draft)
      bytes += draft.size
    }
    if (lot.size) await flush()
    return summary
  }

  /** @param {Made} made */
  async #draft ({ z, x, y, image, gone = false }) {
    checkTile(z, x, y)
    const { layer, time } = this
    const place = { id: tileId(layer, z, x, y), layer, z, x, y, time, stored: now(), size: 0 }
    if (gone) return place
    const { bytes, type } = await readImage(/** @type {Image} */ (image))
    return { ...place, type, bytes: toBase64(bytes), size: bytes.length }
  }

  /** Takes one back that was not sent. @returns {Promise<boolean>} whether there was one */
  async remove (z, x, y) {
    checkTile(z, x, y)
    return this.#edits.takeBack(this, { z, x, y })
  }

  /** How it stands: tiles and bytes as they were made here, how many of them the store has, and has refused. */
  async status () {
    const { index } = await this.#edits.opened()
    await index.read()
    const doc = index.papers.get(editionId(this.layer, this.time))
    const here = index.versions(this.layer, this.time)
    const { created, advanced, backfilled, unchanged } = tally(here, doc)
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
   * @returns {AsyncGenerator<{z: number, x: number, y: number, gone: boolean, bytes: number, type?: string, state: 'unsent' | 'sent' | 'refused', code?: string, reason?: string, image: () => Promise<Blob | undefined>}>}
   */
  async * tiles ({ state } = {}) {
    const { db, index } = await this.#edits.opened()
    await index.read()
    for (const { id, z, x, y, type, bytes, digest, upload } of index.versions(this.layer, this.time)) {
      const own = /** @type {'unsent' | 'sent' | 'refused'} */ (!upload ? 'unsent' : upload.to ? 'sent' : 'refused')
      if (state && state !== own) continue
      yield {
        z, x, y, type, bytes, gone: digest === null, state: own, ...(upload?.error && { code: upload.error, reason: upload.reason }),
        image: async () => (await Reader.of(db).image(id))?.blob
      }
    }
  }

  /**
   * Sends to the store what it has not got. What was sent stays here until the areas that it lies in have it.
   * @param {object} [options]
   * @param {string} [options.to] address of a store; the one that the areas come from unless given
   * @param {string} [options.name] of somebody with the right to write
   * @param {string} [options.password]
   * @param {RequestInit} [options.fetchOptions]
   * @param {AbortSignal} [options.signal]
   * @param {(progress: {tiles: number, bytes: number, refused: number, total: {tiles: number, bytes: number}, rate: number, remaining?: number}) => void} [options.onProgress]
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
