// Reads a tar, in gzip or not, once from beginning to end: it has no directory. Nothing is written to the names in it.
import { createReadStream, fstatSync, readSync } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser } from 'tar'
import { TilecouchError } from '../errors.js'
import { openRegular } from '../regular-file.js'

const CHUNK = 256 * 1024 // bytes read at once
const BEHIND = 64e6 // bytes behind the end that are read: the check sum of gzip comes last, but the rest may be endless
const FILES = new Set(['File', 'OldFile', 'ContiguousFile'])
const SERIOUS = new Set(['TAR_BAD_ARCHIVE', 'TAR_ENTRY_INVALID', 'TAR_ABORT']) // other warnings are remarks, such as of old times

/** @typedef {import('tar').ReadEntry} TarEntry */

/**
 * @param {string} name
 * @param {{onFile: (entry: TarEntry) => void, onOther?: (entry: TarEntry) => void, onFault:
 *   import('./reading.js').OnFault, signal?: AbortSignal}} options onFile: called with each file; calls `keepEntry` or
 *   resume(); onOther: called with links, devices and the like
 * @returns {AsyncGenerator<{bytes: number, total: number}>} how far it has come
 */
export async function * readTar (name, { onFile, onOther, onFault, signal }) {
  /** @type {Error[]} thrown while the parser works, which that would confuse */
  const errors = []
  /** @type {string[]} */
  const damages = []
  let isLost = false // within what a damaged header left unexplained: its blocks are one fault, not many
  let isOver = false
  const other = entry => attempt(() => onOther?.(entry))
  const attempt = action => {
    try {
      action()
      return true
    } catch (error) {
      errors.push(error)
    }
  }
  const parser = new Parser({
    onwarn (code, message) {
      if (!SERIOUS.has(code) || isLost) return
      isLost = true
      damages.push(String(message))
    },
    onReadEntry (entry) {
      isLost = false
      if (!FILES.has(entry.type)) {
        other(entry)
        entry.resume()
      } else if (!attempt(() => onFile(entry))) entry.resume()
    }
  })
  parser.on('ignoredEntry', other) // of kinds that the parser does not know, such as files with holes
  parser.on('eof', () => { isOver = true })
  const report = () => {
    for (const why of damages.splice(0)) onFault('damaged-file', name, why)
    if (errors.length) throw errors[0]
  }

  const { file, total, unpacked } = openTar(name)
  let behind = 0
  try {
    for await (const chunk of unpacked) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      if (!isOver) parser.write(chunk)
      else if ((behind += chunk.length) > BEHIND) break
      report()
      yield { bytes: file.bytesRead, total }
    }
    parser.end()
    report()
  } catch (error) {
    if (error instanceof TilecouchError) throw error // of the reader, or Ctrl-C
    return onFault('damaged-file', name, error.message, error)
  }
  yield { bytes: total, total }
  if (!isOver && !isLost) onFault('damaged-file', name, 'it ends without an end mark: it was cut off')
}

/** Its bytes from beginning to end, out of gzip where they are in it. */
function openTar (name) {
  const fd = openRegular(name)
  const begin = Buffer.alloc(2)
  const isPacked = readSync(fd, begin, 0, 2, 0) === 2 && begin.readUInt16BE() === 0x1f8b
  const file = createReadStream(name, { fd, start: 0, highWaterMark: CHUNK })
  // errors reach the reader through the last stream
  const unpacked = isPacked ? pipeline(file, createGunzip({ chunkSize: CHUNK }), () => {}) : file
  return { file, total: fstatSync(fd).size, unpacked }
}

/** Keeps the bytes of a file in a spool. @param {TarEntry} entry @param {(offset: number) => void} then */
export function spoolEntry (entry, spool, then) {
  let offset = 0
  let length = 0
  entry.on('data', bytes => {
    const at = spool.append(bytes)
    if (!length) offset = at
    length += bytes.length
  })
  entry.on('end', () => then(offset))
}

/** Keeps a file that may be long, to be read when the tar has passed. @returns {() => AsyncGenerator<Buffer>} */
export function keepEntry (entry, spool) {
  let offset = 0
  spoolEntry(entry, spool, at => { offset = at })
  return async function * () {
    for (let at = 0; at < entry.size; at += CHUNK) yield spool.slice(offset + at, Math.min(CHUNK, entry.size - at))
  }
}
