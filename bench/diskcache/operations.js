// What every process does, drawn beforehand from a seed in the proportions of the original, and written to a file each:
// workers in two languages then do the very same, and drawing costs nothing while the clock runs.
import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { tileId } from '../../core/index.js'
import { LAYER, placesOf } from '../block.js'
import { noiseTile, random } from '../tiles.js'

export const KEYS = 100 // tiles that are asked for
export const SHARES = { get: 0.9, set: 0.09, delete: 0.01 }
const REPEATS = 99 // times at most that the original repeats the number of an operation to make a value

/** The order is the code in the files. */
export const ACTIONS = /** @type {const} */ (['get', 'set', 'delete'])

/** @typedef {{action: 'get' | 'set' | 'delete', key: number, value?: Buffer}} Operation */

/** Keys are the ids of tiles, so that a tile store can hold them as well. */
export const keys = placesOf(KEYS).map(({ z, x, y }) => tileId(LAYER, z, x, y))

/** @param {number} seed of the process @returns {Generator<Operation>} */
export function * operationsOf (seed, count) {
  const next = random(seed + 1)
  for (let at = 0; at < count; at++) {
    const key = Math.floor(next() * KEYS)
    const bytes = String(at).length * (1 + Math.floor(next() * REPEATS))
    const action = actionOf(next())
    yield action === 'set' ? { action, key, value: noiseTile(seed * 1e7 + at, bytes) } : { action, key }
  }
}

function actionOf (number) {
  if (number < SHARES.get) return 'get'
  return number < SHARES.get + SHARES.set ? 'set' : 'delete'
}

/** What is there before the first operation: every key once. @returns {Operation[]} */
export const presets = () => keys.map((_, key) => ({ action: 'set', key, value: noiseTile(4e9 + key, 1) }))

/**
 * As a file holds it: the action's code, the key's number, the value's length in two bytes, the value.
 * @param {Operation} operation
 */
function encoded ({ action, key, value = Buffer.alloc(0) }) {
  const head = Buffer.from([ACTIONS.indexOf(action), key, 0, 0])
  head.writeUInt16LE(value.length, 2)
  return Buffer.concat([head, value])
}

/** @param {Buffer} bytes of a file @returns {Operation[]} */
export function decoded (bytes) {
  const operations = []
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16LE(at + 2)
    const value = length ? { value: bytes.subarray(at + 4, at + 4 + length) } : {}
    operations.push({ action: ACTIONS[bytes[at]], key: bytes[at + 1], ...value })
    at += 4 + length
  }
  return operations
}

/** Writes a file for what is there before, and one for each process. */
export async function writeOperations (dir, { processes, count, signal }) {
  /** @type {Map<string, Set<string>>} key -> digests of all it may ever hold */
  const known = new Map(keys.map(key => [key, new Set()]))
  let [values, total] = [0, 0]
  const write = async (name, operations) => {
    const parts = []
    for (const operation of operations) {
      if (operation.value) {
        known.get(keys[operation.key])?.add(hash('md5', operation.value))
        values++
        total += operation.value.length
      }
      parts.push(encoded(operation))
    }
    const file = path.join(dir, name)
    await writeFile(file, Buffer.concat(parts))
    signal?.throwIfAborted()
    return file
  }
  const preset = await write('preset', presets())
  const files = []
  for (let seed = 0; seed < processes; seed++) files.push(await write(`operations-${seed}`, operationsOf(seed, count)))
  return { preset, files, known, bytes: Math.round(total / values) }
}

/**
 * Answers of all processes must have been written once for their keys.
 * @param {[string, string][]} samples key, digest
 */
export function checkSamples (name, samples, known) {
  const wrong = samples.filter(([key, digest]) => !known.get(key)?.has(digest))
  if (wrong.length) {
    throw new Error(
      `${name}: ${wrong.length} of ${samples.length} answers compared were never written, the first for ${wrong[0][0]}`
    )
  }
}
