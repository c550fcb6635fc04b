// Writes a backup, block after block, to a sink: a file or a stream. A file gets its final name only
// when it is complete and has been read once more.
import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError } from '../errors.js'
import { targetError, find } from '../export/target.js'
import { lock } from '../export/lock.js'
import {
  DOCUMENTS, HEADER, MAGIC, TRAILER, boundedJson, documentFault, encodeBlock, encodeFooter, formatDefaults, noCounts
} from './format.js'
import { count, readFileParts } from './reader.js'

/**
 * @typedef {object} Sink
 * @property {string} name for people
 * @property {(bytes: Buffer) => Promise<void>} write
 * @property {() => Promise<void>} finish gives a file its final name
 * @property {() => Promise<void>} stop removes an unfinished file; may be called after finish
 */

export class BackupWriter {
  #sink
  #whole = createHash('sha256')
  #queue = Promise.resolve() // one block after the other
  counts = noCounts()
  size = 0 // bytes written

  /** @param {Sink} sink */
  constructor (sink) {
    this.#sink = sink
  }

  /** @param {import('./format.js').Header} header */
  async begin (header) {
    this.#whole.update(MAGIC)
    await this.#append(MAGIC)
    await this.#block(HEADER, header)
  }

  /**
   * @param {number} page of the feed: of several pages with a document, the last one counts
   * @param {any[]} docs with the bytes of their attachments in `data`
   * @returns {Promise<{doc: any, why: string}[]>} documents that were left out, since no reader would take them
   */
  async write (page, docs) {
    const left = []
    const newPart = () => ({ docs: /** @type {any[]} */ ([]), texts: /** @type {string[]} */ ([]), size: 0 })
    const parts = [newPart()]
    for (const doc of docs) {
      const described = doc._attachments ? { ...doc, _attachments: withoutBytes(doc._attachments) } : doc
      const fault = documentFault(described)
      const { json = '', excess } = fault ? { excess: fault } : boundedJson(described)
      if (excess) {
        left.push({ doc, why: excess })
        continue
      }
      const last = parts[parts.length - 1]
      const part = last.docs.length && last.size + json.length > formatDefaults.wanted ? newPart() : last
      if (part !== last) parts.push(part)
      part.docs.push(doc)
      part.texts.push(json)
      part.size += json.length
    }
    for (const { docs: taken, texts } of parts) {
      if (!taken.length) continue
      const attachments = taken.flatMap(doc => Object.values(doc._attachments ?? {}))
      const bytes = attachments.map(({ data }) => data)
      await this.#block(DOCUMENTS, `{"page":${page},"docs":[${texts}]}`, bytes)
      count(this.counts, taken)
    }
    return left
  }

  /** @param {Omit<import('./format.js').Trailer, 'sha256' | 'counts' | 'signer'>} about */
  async end (about) {
    await this.#queue
    const trailer = { ...about, counts: this.counts, sha256: this.#whole.digest('hex') }
    const block = await encodeBlock(TRAILER, trailer)
    await this.#append(block)
    await this.#append(encodeFooter(block.length))
    await this.#sink.finish()
    return /** @type {import('./format.js').Trailer} */ (trailer)
  }

  async #block (kind, value, attachments) {
    const block = await encodeBlock(kind, value, attachments)
    const written = this.#queue.then(async () => {
      this.#whole.update(block)
      this.counts.blocks++
      await this.#append(block)
    })
    this.#queue = written
    written.catch(() => {}) // thrown below, to the caller
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
 * A file, locked while it is written.
 * @param {string} name
 * @param {{force?: boolean, onRead?: (documents: number) => void}} options force: replaces a file; onRead: of documents
 *   that are read again
 * @returns {Promise<Sink>}
 */
export async function openFile (name, { force = false, onRead }) {
  const part = `${name}.part`
  const guard = async task => {
    try {
      return await task()
    } catch (error) {
      throw targetError(error, name)
    }
  }
  const stats = await find(name)
  if (stats && (!force || !stats.isFile())) {
    throw new TilecouchError('TARGET_EXISTS', { value: name, ...(!stats.isFile() && { why: 'it is not a file' }) })
  }
  return guard(async () => {
    await mkdir(path.dirname(name), { recursive: true })
    const unlock = await lock(`${part}-lock`, name)
    let isOpen = true
    /** @type {import('node:fs/promises').FileHandle} */
    let handle
    try {
      await rm(part, { force: true }) // of an earlier run; or a link or file of another user
      handle = await open(part, 'wx', 0o600) // private layers are in it
    } catch (error) {
      await unlock()
      throw error
    }
    return {
      name,
      write: bytes => guard(() => handle.appendFile(bytes)),
      finish: () => guard(async () => {
        await handle.sync()
        await handle.close()
        isOpen = false
        for await (const read of readFileParts(part)) {
          if (read.kind === 'documents') onRead?.(read.documents.docs.length)
          else if (read.kind === 'trailer') await rename(part, name)
        }
        await syncFolder(path.dirname(name))
        await unlock()
      }),
      async stop () {
        if (isOpen) await handle.close().catch(() => {})
        isOpen = false
        await rm(part, { force: true })
        await unlock()
      }
    }
  })
}

/** Makes a new file name durable. */
async function syncFolder (folder) {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes(error.code)) throw error // file systems that need none
  } finally {
    await handle.close()
  }
}

/** A stream, such as standard output. @param {NodeJS.WritableStream} stream @returns {Sink} */
export function openStream (stream) {
  let failure
  stream.on('error', error => { failure ??= error })
  const name = 'standard output'
  return {
    name,
    write: bytes => new Promise((resolve, reject) => {
      const fail = error =>
        reject(new TilecouchError('TARGET_UNWRITABLE', { value: name, why: error.message }, { cause: error }))
      if (failure) return fail(failure)
      stream.write(bytes, error => error ? fail(error) : resolve(undefined))
    }),
    finish: async () => {},
    stop: async () => {}
  }
}
