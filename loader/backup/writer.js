// Writes a backup, block after block, to a sink: a file or a stream. A file gets its final name only
// when it is complete and has been read once more.
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError } from '../errors.js'
import { AtomicFile, find, writingTo } from '../formats/atomic-file.js'
import {
  DOCUMENTS, HEADER, MAGIC, TRAILER, boundedJson, documentFault, encodeBlock, encodeFooter, formatDefaults, noCounts
} from './format.js'
import { count, readFileParts } from './reader.js'

/**
 * @typedef {object} Sink
 * @property {string} name for people
 * @property {(bytes: Buffer) => Promise<void>} write
 * @property {() => Promise<void>} finish gives a file its final name
 * @property {() => Promise<void>} discard removes an unfinished file; may be called after finish
 */

export class BackupWriter {
  #sink
  #hash = createHash('sha256')
  #queue = Promise.resolve() // one block after the other
  counts = noCounts()
  size = 0 // bytes written

  /** @param {Sink} sink */
  constructor (sink) {
    this.#sink = sink
  }

  /** @param {import('./format.js').Header} header */
  async begin (header) {
    this.#hash.update(MAGIC)
    await this.#append(MAGIC)
    await this.#block(HEADER, header)
  }

  /**
   * @param {number} page of the feed: of several pages with a document, the last one counts
   * @param {any[]} docs with the bytes of their attachments in `data`
   * @returns {Promise<{doc: any, why: string}[]>} documents that were left out, since no reader would take them
   */
  async write (page, docs) {
    const omitted = []
    const newPart = () => ({ docs: /** @type {any[]} */ ([]), texts: /** @type {string[]} */ ([]), size: 0 })
    const parts = [newPart()]
    for (const doc of docs) {
      const docWithoutBytes = doc._attachments ? { ...doc, _attachments: withoutBytes(doc._attachments) } : doc
      const fault = documentFault(docWithoutBytes)
      const { json = '', excess } = fault ? { excess: fault } : boundedJson(docWithoutBytes)
      if (excess) {
        omitted.push({ doc, why: excess })
        continue
      }
      const last = parts[parts.length - 1]
      const part = last.docs.length && last.size + json.length > formatDefaults.wanted ? newPart() : last
      if (part !== last) parts.push(part)
      part.docs.push(doc)
      part.texts.push(json)
      part.size += json.length
    }
    for (const { docs: partDocs, texts } of parts) {
      if (!partDocs.length) continue
      const attachments = partDocs.flatMap(doc => Object.values(doc._attachments ?? {}))
      const bytes = attachments.map(({ data }) => data)
      await this.#block(DOCUMENTS, `{"page":${page},"docs":[${texts}]}`, bytes)
      count(this.counts, partDocs)
    }
    return omitted
  }

  /** @param {Omit<import('./format.js').Trailer, 'sha256' | 'counts' | 'signer'>} about */
  async end (about) {
    await this.#queue
    const trailer = { ...about, counts: this.counts, sha256: this.#hash.digest('hex') }
    const block = await encodeBlock(TRAILER, trailer)
    await this.#append(block)
    await this.#append(encodeFooter(block.length))
    await this.#sink.finish()
    return /** @type {import('./format.js').Trailer} */ (trailer)
  }

  async #block (kind, value, attachments) {
    const block = await encodeBlock(kind, value, attachments)
    const written = this.#queue.then(async () => {
      this.#hash.update(block)
      this.counts.blocks++
      await this.#append(block)
    })
    this.#queue = written
    written.catch(() => {}) // the error is thrown below
    await written
  }

  async #append (bytes) {
    await this.#sink.write(bytes)
    this.size += bytes.length
  }
}

const withoutBytes = attachments =>
  Object.fromEntries(Object.entries(attachments).map(([name, { data, ...about }]) => [name, about]))

/**
 * Opens a file for a backup. The backup is read again before it gets its name.
 * @param {string} name
 * @param {{force?: boolean, onRead?: (documents: number) => void}} options force: replaces a file; onRead: gets the
 *   number of documents that were read again
 * @returns {Promise<Sink>}
 */
export async function openBackupFile (name, { force = false, onRead }) {
  const stats = await find(name)
  if (stats && (!force || !stats.isFile())) {
    throw new TilecouchError('TARGET_EXISTS', { value: name, ...(!stats.isFile() && { why: 'it is not a file' }) })
  }
  await writingTo(name, () => mkdir(path.dirname(name), { recursive: true }))
  const file = await AtomicFile.open(name, { mode: 0o600 }) // it may contain private layers
  return {
    name,
    write: bytes => file.write(bytes),
    finish: () => file.finish(async partFile => {
      for await (const part of readFileParts(partFile)) {
        if (part.kind === 'documents') onRead?.(part.documents.docs.length)
      }
    }),
    discard: () => file.discard()
  }
}
