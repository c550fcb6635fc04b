// The values of bench/keyspace.js: keys in the order of their ids, different values of one length, and the steps of
// each thread. A value depends on its number only, so that every thread knows the expected answers.
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
const IMAGES = 16 // different images of which values are made

/** @returns {string} an id; ids are in ascending order */
export const keyOf = index => tileId(LAYER, ZOOM, CORNER + Math.floor(index / SIDE), CORNER + index % SIDE)

const images = Array.from({ length: IMAGES }, (_, seed) => tileOfLength(seed, BYTES))
const MARK = 'fiLl' // the type of an unknown chunk of the image, which holds the number

/** The value with a number: a PNG. */
export function valueOf (index) {
  const value = Buffer.from(images[index % IMAGES])
  const begin = value.lastIndexOf(MARK)
  const end = begin + MARK.length + value.readUInt32BE(begin - 4)
  value.writeUInt32BE(index, begin + MARK.length)
  value.writeUInt32BE(crc32(value.subarray(begin, end)), end)
  return value
}

/**
 * A step of a thread in a sample: `write` new values, or `read` one.
 * @typedef {{write: number[]} | {read: number}} Step
 *
 * @typedef {object} Part
 * @property {'writes' | 'reads' | 'mixes'} kind
 * @property {number} thread @property {number} threads its number, and the number of threads
 * @property {number} first number of the first new value of all threads
 * @property {number} count of new values of all threads, a multiple of `threads` and `batch`
 * @property {number} batch values written at once
 * @property {number} keys number of values that exist from the start, which are read in turns
 */

/**
 * The steps of a part. Reads never end: their time is limited instead.
 * @param {Part} part @returns {Generator<Step>}
 */
export function * stepsOf ({ kind, thread, threads, first, count, batch, keys }) {
  // Each thread goes through all keys, and starts at another one.
  let turn = Math.floor(thread * keys / threads)
  const next = () => turn++ % keys
  if (kind === 'reads') for (;;) yield { read: next() }
  const ownCount = count / threads
  const begin = first + thread * ownCount
  const cycle = kind === 'mixes' ? MIX.writes : ownCount
  for (let start = begin; start < begin + ownCount; start += cycle) {
    const newNumbers = Array.from({ length: cycle }, (_, number) => start + number)
    for (let from = 0; from < cycle; from += batch) yield { write: newNumbers.slice(from, from + batch) }
    // New values are read first: a server that answers too early fails.
    if (kind === 'mixes') for (let read = 0; read < MIX.reads; read++) yield { read: newNumbers[read] ?? next() }
  }
}
