// Downloads the styles of an area, with their sprites and the glyphs that its labels need. A style document has the
// same id as at the store and names its files by digest. Each file is a separate document: styles share files, and an
// interrupted download continues with the next file.
import { TilecouchError, faultIn } from '../../core/index.js'
import { styleKinds } from '../../core/store/records.js'
import { drawnRanges, labelsOf, rangesOf, rangesOfLabels } from '../../core/label-text.js'
import { encodeId } from '../../core/couch/client.js'
import { Semaphore } from '../../core/promises.js'
import { ReadOnlyPeer, codec } from '../mirror/http.js'
import { toBase64 } from '../mirror/base64.js'
import { digestOf } from '../mirror/digest.js'
import { DatabaseReader } from './database-reader.js'
import { styleRange } from './store-listing.js'

const FILE = 'style:file:' // no layer's style begins so
const GLYPHS = /^glyphs\/([^/]+)\/(\d+)-(\d+)\.pbf$/
const ATTACHMENT = 'file'
const PER_RANGE = 256 // letters
/** Errors that fail one file. Any other error fails the whole transfer. */
const FILE_ERRORS = new Set(['BAD_ANSWER', 'COUCHDB_ERROR'])

/**
 * @typedef {{digest: string, length: number, content_type: string}} StyleFile
 * @typedef {object} KeptStyle a style on the device
 * @property {string} _id
 * @property {string} [_rev]
 * @property {'style'} type
 * @property {string} layer
 * @property {string} time
 * @property {string} rev of the document at the store
 * @property {any} style
 * @property {Record<string, StyleFile>} files all files of the style at the store, by name
 * @typedef {import('../../core/label-text.js').Letters} Letters
 * @typedef {import('./store-listing.js').ListedDocument} ListedDocument
 */

/** The id of a file on the device. @param {StyleFile} file */
export const fileId = ({ digest }) => FILE + digest

/**
 * The files of a style that a map needs.
 * @param {Pick<KeptStyle, 'layer' | 'style' | 'files'>} kept
 * @param {Letters} [letters] of the tiles; without it every range of the fonts is needed
 * @returns {string[]} names
 */
export function neededFiles ({ layer, style, files }, letters) {
  const { fonts, attributes } = labelsOf(style)
  const ranges = letters && drawsOnly(style, layer)
    ? drawnRanges([...rangesOfLabels(letters, attributes), ...rangesOf(JSON.stringify(style))])
    : undefined
  return Object.keys(files).filter(name => {
    const [, font, first, last] = GLYPHS.exec(name) ?? []
    if (font === undefined) return true // a sprite file
    if (fonts && !fonts.has(font)) return false
    return !ranges || [...ranges].some(range => range * PER_RANGE <= +last && +first < (range + 1) * PER_RANGE)
  })
}

/** Whether all vector tiles of a style come from this layer. The letters of other layers are unknown. */
function drawsOnly ({ sources }, layer) {
  const pattern = new RegExp(`^couch://${layer}([@/]|$)`)
  const vectors = Object.values(sources).filter(source => source?.type === 'vector')
  return vectors.every(({ url, tiles = [] }) => [url, ...tiles].every(text => text === undefined || pattern.test(text)))
}

/**
 * Fetches styles without their files.
 * @param {import('../mirror/http.js').HttpCouch} couch @param {ListedDocument[]} rows @param {AbortSignal} [signal]
 * @returns {Promise<{styles: KeptStyle[], bytes: number, failed: import('../../core/mirror/peer.js').Refused[]}>}
 */
export async function fetchStyles (couch, rows, signal) {
  if (!rows.length) return { styles: [], bytes: 0, failed: [] }
  // a revision that is its own known ancestor comes without attachments
  const revisions = rows.map(({ id, rev }) => ({ id, rev, ancestors: [rev] }))
  const { docs, bytes, failed = [] } = await new ReadOnlyPeer(couch, codec).fetch(revisions, { signal })
  const styles = docs.filter(doc => !doc._deleted && !faultIn(doc, styleKinds)).map(keptStyle)
  return { styles, bytes, failed }
}

/** @returns {KeptStyle} */
const keptStyle = ({ _id, _rev: rev, layer, time, style, _attachments: attachments = {} }) => ({
  _id,
  type: 'style',
  layer,
  time,
  rev,
  style,
  files: Object.fromEntries(Object.entries(attachments)
    .map(([name, { digest, length, content_type: type }]) => [name, { digest, length, content_type: type }]))
})

/** The bytes of styles. Counts each file once. @param {KeptStyle[]} styles @param {Letters} [letters] */
export function bytesOfStyles (styles, letters) {
  const files = new Map(styles.flatMap(kept =>
    neededFiles(kept, letters).map(name => [fileId(kept.files[name]), kept.files[name].length])))
  const texts = styles.map(({ style }) => JSON.stringify(style).length)
  return [...files.values(), ...texts].reduce((sum, length) => sum + length, 0)
}

export class AreaStyles {
  received = 0 // bytes
  docs = 0 // written or removed

  /**
   * @param {object} parts
   * @param {import('../mirror/http.js').HttpCouch} parts.couch
   * @param {string} parts.layer
   * @param {import('../mirror/pouch-peer.js').PouchPeer} parts.target PouchDB of the area
   * @param {any[]} parts.others databases of the device that may have the same files
   * @param {number} parts.concurrency files requested at once
   * @param {(failed: import('../../core/mirror/peer.js').Refused) => void} parts.onFailed
   * @param {() => void} parts.onProgress
   * @param {AbortSignal} parts.signal
   */
  constructor ({ couch, layer, target, others, concurrency, onFailed, onProgress, signal }) {
    this.couch = couch
    this.layer = layer
    this.target = target
    this.others = others
    this.semaphore = new Semaphore(concurrency)
    this.onFailed = onFailed
    this.onProgress = onProgress
    this.signal = signal
  }

  /**
   * Makes the styles on the device those of the store.
   * @param {ListedDocument[]} rows of the styles that the area keeps @param {Letters} [letters] of its tiles
   * @returns {Promise<number>} bytes on the device
   */
  async update (rows, letters) {
    const { styles: stylesOnDevice, files } = await this.#readKept()
    const isKept = ({ id, rev }) => stylesOnDevice.get(id)?.rev === rev
    const missingStyles = rows.filter(row => !isKept(row))
    const { styles: fetched, bytes, failed } = await fetchStyles(this.couch, missingStyles, this.signal)
    this.received += bytes
    for (const refusal of failed) this.onFailed(refusal)
    const keptStyles = rows.filter(isKept).map(({ id }) => /** @type {KeptStyle} */ (stylesOnDevice.get(id)))
    const styles = [...keptStyles, ...fetched]
    /** @type {Map<string, {kept: KeptStyle, name: string}>} */
    const needed = new Map(styles.flatMap(kept =>
      neededFiles(kept, letters).map(name => [fileId(kept.files[name]), { kept, name }])))
    const missing = [...needed].filter(([id]) => !files.has(id))
    await Promise.all(missing.map(([id, { kept, name }]) => this.semaphore.run(() => this.#fetchFile(id, kept, name))))
    // a style is written after its files: a stored style is complete
    await this.#write(fetched.map(kept => ({ ...kept, _rev: stylesOnDevice.get(kept._id)?._rev })))
    const keeps = new Set([...styles.map(({ _id: id }) => id), ...needed.keys()])
    await this.#write([...stylesOnDevice.values(), ...files.values()].filter(({ _id: id }) => !keeps.has(id))
      .map(({ _id, _rev }) => ({ _id, _rev, _deleted: true })))
    return bytesOfStyles(styles, letters)
  }

  async #readKept () {
    const [styles, files] = await Promise.all([styleRange(this.layer), { startkey: FILE, endkey: `${FILE}~` }]
      .map((range, index) => this.target.allDocs({ ...range, include_docs: index === 0 })))
    return {
      styles: new Map(styles.rows.map(({ id, doc }) => [id, /** @type {KeptStyle} */ (doc)])),
      files: new Map(files.rows.map(({ id, value }) => [id, { _id: id, _rev: value.rev }]))
    }
  }

  /** @param {string} id of the file on the device @param {KeptStyle} kept @param {string} name */
  async #fetchFile (id, kept, name) {
    const file = kept.files[name]
    try {
      const data = await this.#fromOthers(id) ?? await this.#fromStore(kept._id, name, file)
      const attachment = { content_type: file.content_type, data: toBase64(data) }
      await this.#write([{ _id: id, _attachments: { [ATTACHMENT]: attachment } }])
      this.onProgress()
    } catch (error) {
      if (!FILE_ERRORS.has(error.code)) throw error
      this.onFailed({ id: kept._id, rev: kept.rev, error: error.code, reason: error.message })
    }
  }

  /** Reads a file from another area. @returns {Promise<Uint8Array | undefined>} */
  async #fromOthers (id) {
    for (const db of this.others) {
      // the database may be closed
      const attachment = await DatabaseReader.of(db).attachment(id, ATTACHMENT).catch(() => undefined)
      if (attachment) return new Uint8Array(await attachment.arrayBuffer())
    }
  }

  /** @param {string} id of the style @param {string} name @param {StyleFile} file @returns {Promise<Uint8Array>} */
  async #fromStore (id, name, file) {
    const path = [encodeId(id), ...name.split('/').map(encodeURIComponent)].join('/')
    const parse = bytes => checkFile(bytes, file, path)
    const data = await this.couch.find({ path, raw: true, parse, signal: this.signal })
    if (!data) throw new TilecouchError('BAD_ANSWER', { url: path, why: 'the file is not there' })
    this.received += data.length
    return data
  }

  async #write (docs) {
    await this.target.edit(docs, this.signal)
    this.docs += docs.length
  }
}

/** CouchDB's digest of JSON is that of the compressed bytes. @param {Uint8Array} bytes @param {StyleFile} file */
function checkFile (bytes, { length, digest, content_type: type }, url) {
  const isRight = bytes.length === length && (type === 'application/json' || digestOf(bytes) === digest)
  if (!isRight) throw new TilecouchError('BAD_ANSWER', { url, why: 'the bytes do not match their digest' })
  return bytes
}

/**
 * Reads the style of a time from one database of the device.
 * @param {DatabaseReader} reader @param {string} layer @param {string} [until] exact
 * @returns {Promise<KeptStyle | undefined>}
 */
export async function styleOn (reader, layer, until) {
  const { startkey, endkey } = styleRange(layer)
  const docs = await reader.withPrefix(startkey, endkey)
  return docs.filter(({ time }) => until === undefined || time <= until).pop()
}

/** Reads a file of a style from one database of the device. @returns {Promise<Blob | undefined>} */
export async function styleFileOn (reader, id, name) {
  const kept = (await reader.docs([id])).get(id)
  return kept?.files?.[name] && reader.attachment(fileId(kept.files[name]), ATTACHMENT)
}
