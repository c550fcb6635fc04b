// Reads the bytes of a backup: of a file from any place, of a stream in order.
import { TilecouchError } from '../errors.js'
import { openFile } from '../formats/files.js'

const CHUNK = 1024 * 1024 // bytes read from a file at once

/** Takes bytes from chunks in pieces of any length. */
export class Bytes {
  #chunks
  #have = /** @type {Buffer} */ (Buffer.alloc(0))
  at = 0

  constructor (chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Takes bytes; fewer at the end. @param {number} count */
  async take (count) {
    const parts = [this.#have]
    let length = this.#have.length
    while (length < count) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      length += value.length
    }
    const all = parts.length > 1 ? Buffer.concat(parts, length) : parts[0]
    const taken = all.subarray(0, count)
    this.#have = all.subarray(taken.length)
    this.at += taken.length
    return taken
  }

  async end () {
    await this.#chunks.return?.()
  }
}

/** Opens a file, which has to be closed. @param {string} file */
export async function openBackup (file) {
  const { handle, size } = await openToRead(file)
  return {
    size,
    /** Bytes from a place to the end. A stream of Node would close the file. @param {number} [at] */
    read: (at = 0) => chunksOf(handle, at),
    close: () => handle.close()
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
