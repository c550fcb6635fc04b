// Copies pieces of one file into another, in a new order. The pieces of one write are read in the order of the source,
// and neighbours at once: tiles in the order of their ids are near one another in an archive, too.
import { readAll, writeAll } from '../files.js'

export const copyDefaults = {
  window: 16 * 2 ** 20, // bytes gathered and written at once; two of them are in memory
  read: 2 ** 20, // bytes of neighbours read at once, at most
  gap: 2 ** 16, // bytes between two pieces that are read along rather than skipped
  readers: 4 // reads under way at once
}

/** @typedef {{offset: number, length: number}} Piece offset: in the source */

/**
 * @param {number} position in the target @param {Iterable<Piece>} pieces of the source
 * @param {typeof copyDefaults} [limits]
 */
export async function copyPieces (source, target, position, pieces, limits = copyDefaults) {
  const buffers = [Buffer.allocUnsafe(limits.window), Buffer.allocUnsafe(limits.window)]
  const scratches = Array.from({ length: limits.readers }, () => Buffer.allocUnsafe(limits.read))
  let writing = Promise.resolve()
  try {
    for (const { parts, length } of windows(pieces, limits)) {
      const buffer = /** @type {Buffer<ArrayBuffer>} */ (buffers.shift())
      await gather(source, buffer, parts, scratches, limits)
      await writing
      writing = writeAll(target, buffer.subarray(0, length), position)
      writing.catch(() => {}) // it is awaited with the next one
      position += length
      buffers.push(buffer)
    }
  } finally {
    await writing
  }
}

/** Groups pieces by buffer. Adjacent pieces are joined, and a piece that exceeds the buffer is cut. */
function * windows (pieces, { window }) {
  let parts = /** @type {{offset: number, length: number, to: number}[]} */ ([])
  let filled = 0
  for (let { offset, length } of pieces) {
    while (length) {
      const partLength = Math.min(length, window - filled)
      const last = parts.at(-1)
      if (last && last.offset + last.length === offset) last.length += partLength
      else parts.push({ offset, length: partLength, to: filled })
      offset += partLength
      length -= partLength
      filled += partLength
      if (filled === window) {
        yield { parts, length: filled }
        parts = []
        filled = 0
      }
    }
  }
  if (filled) yield { parts, length: filled }
}

async function gather (source, buffer, parts, scratches, limits) {
  const jobs = joinReads(parts, limits)
  await Promise.all(scratches.map(async scratch => {
    for (const { offset, end, parts: group } of jobs) {
      if (group.length === 1) await read(source, buffer.subarray(group[0].to, group[0].to + group[0].length), offset)
      else {
        await read(source, scratch.subarray(0, end - offset), offset)
        for (const part of group) {
          const start = part.offset - offset
          scratch.copy(buffer, part.to, start, start + part.length)
        }
      }
    }
  }))
}

/** Joins parts that lie near one another into one read. */
function * joinReads (parts, limits) {
  parts.sort((a, b) => a.offset - b.offset)
  let job
  for (const part of parts) {
    const end = part.offset + part.length
    if (job && part.offset - job.end <= limits.gap && Math.max(job.end, end) - job.offset <= limits.read) {
      job.end = Math.max(job.end, end)
      job.parts.push(part)
    } else {
      if (job) yield job
      job = { offset: part.offset, end, parts: [part] }
    }
  }
  if (job) yield job
}

async function read (source, bytes, position) {
  const done = await readAll(source, bytes, position)
  if (done < bytes.length) throw new Error('the tiles gathered so far were cut off by another program')
}
