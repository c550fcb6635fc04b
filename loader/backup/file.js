// Reads the bytes of a backup, plain or encrypted with age: of a file from any place, of a stream in order.
import { TilecouchError } from '../errors.js'
import { openFile } from '../regular-file.js'
import { AGE, AgeError, MOST_HEADER, NONCE, PLAIN, SEALED, openWith } from './age.js'
import { damaged } from './format.js'

const CHUNK = 1024 * 1024 // bytes read from a file at once
const ARMOR = Buffer.from('-----BEGIN AGE')

/**
 * Keys that open and verify backups.
 * @typedef {object} Keys
 * @property {import('./age.js').Identity[]} [identities]
 * @property {import('./signature.js').PublicKey[]} [signedBy] a backup that none of these has signed is refused
 * @property {{length: number, chunks: import('./age.js').Chunks}} [sealed] of a file that was just encrypted
 */

/** Takes bytes from chunks in pieces of any length. */
export class Bytes {
  #chunks
  #have = /** @type {Buffer} */ (Buffer.alloc(0))
  at = 0

  constructor (chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Reads bytes without taking them; fewer at the end. @param {number} wanted */
  async peek (wanted) {
    const parts = [this.#have]
    let length = this.#have.length
    while (length < wanted) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      length += value.length
    }
    this.#have = parts.length > 1 ? Buffer.concat(parts, length) : parts[0]
    return this.#have.subarray(0, wanted)
  }

  /** Takes bytes; fewer at the end. @param {number} wanted */
  async take (wanted) {
    const taken = await this.peek(wanted)
    this.#have = this.#have.subarray(taken.length)
    this.at += taken.length
    return taken
  }

  async end () {
    await this.#chunks.return?.()
  }
}

/**
 * The plain bytes of a stream, such as standard input.
 * @param {AsyncIterable<Uint8Array>} chunks @param {string} name for errors @param {Keys} keys
 */
export async function * openedStream (chunks, name, keys) {
  const bytes = new Bytes(chunks)
  try {
    const start = await bytes.peek(MOST_HEADER + NONCE)
    const sealed = isSealed(start, name) ? unlock(start, name, keys) : undefined
    if (!sealed) {
      for (let chunk; (chunk = await bytes.take(CHUNK)).length;) yield chunk
      return
    }
    await bytes.take(sealed.length)
    yield * opened(bytes, sealed.chunks, 0, name)
  } finally {
    await bytes.end()
  }
}

/** Opens a file, which has to be closed. @param {string} file @param {Keys} keys */
export async function openBackup (file, keys) {
  const { handle, size } = await openToRead(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_HEADER + NONCE), { position: 0 })
    const start = buffer.subarray(0, bytesRead)
    const sealed = isSealed(start, file) ? keys.sealed ?? unlock(start, file, keys) : undefined
    const from = at => chunksOf(handle, at) // a stream of Node would close it
    const inside = sealed && Math.max(0, size - sealed.length)
    return {
      size: inside === undefined ? size : inside - Math.ceil(inside / SEALED) * (SEALED - PLAIN),
      /** Plain bytes from a place to the end. @param {number} [at] @returns {AsyncIterable<Uint8Array>} */
      read (at = 0) {
        if (!sealed) return from(at)
        const first = Math.floor(at / PLAIN)
        return skip(opened(new Bytes(from(sealed.length + first * SEALED)), sealed.chunks, first, file), at % PLAIN)
      },
      close: () => handle.close()
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function * chunksOf (handle, at) {
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK), { position: at })
    if (!bytesRead) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function openToRead (file) {
  try {
    return await openFile(file)
  } catch (error) {
    if (error.code === 'ENOENT') throw new TilecouchError('SOURCE_NOT_FOUND', { value: file }, { cause: error })
    throw new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })
  }
}

function isSealed (start, name) {
  if (start.subarray(0, ARMOR.length).equals(ARMOR)) {
    const why = 'it is encrypted as text (armor): open it with the program `age` first'
    throw new TilecouchError('BACKUP_LOCKED', { file: name, why })
  }
  return start.subarray(0, AGE.length).equals(AGE)
}

/** @param {Buffer} start @param {string} name @param {Keys} keys */
function unlock (start, name, { identities = [] }) {
  try {
    return openWith(start, identities)
  } catch (error) {
    if (!(error instanceof AgeError)) throw error
    if (!error.locked) throw damaged(name, error.message, 0)
    throw new TilecouchError('BACKUP_LOCKED', { file: name, why: error.message })
  }
}

/** @param {Bytes} bytes @param {import('./age.js').Chunks} chunks @param {number} first index of the first chunk */
async function * opened (bytes, chunks, first, name) {
  try {
    let sealed = await bytes.take(SEALED)
    for (let index = first; ; index++) {
      const next = await bytes.take(SEALED)
      const isLast = !next.length
      let plain
      try {
        plain = chunks.open(sealed, index, isLast)
      } catch (error) {
        throw damaged(name, error.message, index * PLAIN)
      }
      yield plain
      if (isLast) return
      sealed = next
    }
  } finally {
    await bytes.end()
  }
}

async function * skip (chunks, bytes) {
  for await (const chunk of chunks) {
    if (chunk.length > bytes) yield bytes ? chunk.subarray(bytes) : chunk
    bytes = Math.max(0, bytes - chunk.length)
  }
}
