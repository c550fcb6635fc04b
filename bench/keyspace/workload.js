// What is written and read: keys in the order of their ids, values of one length of which no two are the same, and
// which thread does what. Each is worked out from its number alone, so that every thread knows what an answer has to
// be.
import { crc32 } from 'node:zlib'
import { tileId } from '../../core/index.js'
import { LAYER } from '../block.js'
import { tileOfLength } from '../tiles.js'

export const BYTES = 8192 // of a value
export const BATCH = 50 // values of a batch
export const MIX = { writes: 10, reads: 100 } // of a cycle
export const ZOOM = 14
export const TIME = '2024-03-01T00:00:00Z' // of all tiles

const CORNER = 5000
const SIDE = 1000 // tiles of a column
const IMAGES = 16 // that values are made from

/** @returns {string} ids in ascending order */
export const keyOf = index => tileId(LAYER, ZOOM, CORNER + Math.floor(index / SIDE), CORNER + index % SIDE)

const images = Array.from({ length: IMAGES }, (_, seed) => tileOfLength(seed, BYTES))
const MARK = 'fiLl' // an unknown chunk of the image, with the number

/** A PNG. */
export function valueOf (index) {
  const value = Buffer.from(images[index % IMAGES])
  const begin = value.lastIndexOf(MARK)
  const end = begin + MARK.length + value.readUInt32BE(begin - 4)
  value.writeUInt32BE(index, begin + MARK.length)
  value.writeUInt32BE(crc32(value.subarray(begin, end)), end)
  return value
}

/**
 * What a thread does in a sample: `write` new values, or `read` one.
 * @typedef {{write: number[]} | {read: number}} Step
 *
 * @typedef {object} Part
 * @property {'writes' | 'reads' | 'mixes'} kind
 * @property {number} thread @property {number} threads its number, of so many
 * @property {number} first number of the first new value, of all threads
 * @property {number} count of new values, of all threads: a multiple of the threads and of what is written at once
 * @property {number} batch values written at once
 * @property {number} keys that are there from the start: what is read in turns
 */

/** Reads never end: their time is limited instead. @param {Part} part @returns {Generator<Step>} */
export function * stepsOf ({ kind, thread, threads, first, count, batch, keys }) {
  // each thread goes through all keys, beginning at another one
  let turn = Math.floor(thread * keys / threads)
  const next = () => turn++ % keys
  if (kind === 'reads') for (;;) yield { read: next() }
  const own = count / threads
  const begin = first + thread * own
  const cycle = kind === 'mixes' ? MIX.writes : own
  for (let at = begin; at < begin + own; at += cycle) {
    const fresh = Array.from({ length: cycle }, (_, number) => at + number)
    for (let from = 0; from < cycle; from += batch) yield { write: fresh.slice(from, from + batch) }
    // what was just written is read first: a server that answers too early fails
    if (kind === 'mixes') for (let read = 0; read < MIX.reads; read++) yield { read: fresh[read] ?? next() }
  }
}
