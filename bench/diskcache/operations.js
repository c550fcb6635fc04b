// The operations of every process, drawn from a seed in the proportions of the original and written to one file each.
// Workers in two languages thus do the same, and drawing takes no measured time.
import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { tileId } from '../../core/index.js'
import { LAYER, placesOf } from '../block.js'
import { noiseTile, random } from '../tiles.js'

export const KEYS = 100 // number of requested tiles
export const SHARES = { get: 0.9, set: 0.09, delete: 0.01 }
const REPEATS = 99 // maximal repetitions of an operation's number in a value of the original

/** The position of an action is its code in the files. */
export const ACTIONS = /** @type {const} */ (['get', 'set', 'delete'])

/** @typedef {{action: 'get' | 'set' | 'delete', key: number, value?: Buffer}} Operation */

/** Keys are tile ids, so that a tile store can hold the values as well. */
export const keys = placesOf(KEYS).map(({ z, x, y }) => tileId(LAYER, z, x, y))

/** @param {number} seed of the process @returns {Generator<Operation>} */
export function * operationsOf (seed, count) {
  const next = random(seed + 1)
  for (let index = 0; index < count; index++) {
    const key = Math.floor(next() * KEYS)
    const bytes = String(index).length * (1 + Math.floor(next() * REPEATS))
    const action = actionOf(next())
    yield action === 'set' ? { action, key, value: noiseTile(seed * 1e7 + index, bytes) } : { action, key }
  }
}

function actionOf (number) {
  if (number < SHARES.get) return 'get'
  return number < SHARES.get + SHARES.set ? 'set' : 'delete'
}

/** The operations before the first one: they set every key once. @returns {Operation[]} */
export const presets = () => keys.map((_, key) => ({ action: 'set', key, value: noiseTile(4e9 + key, 1) }))

/**
 * An operation as bytes of a file: the action's code, the key's number, the value's length in two bytes, the value.
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
  for (let offset = 0; offset < bytes.length;) {
    const length = bytes.readUInt16LE(offset + 2)
    const value = length ? { value: bytes.subarray(offset + 4, offset + 4 + length) } : {}
    operations.push({ action: ACTIONS[bytes[offset]], key: bytes[offset + 1], ...value })
    offset += 4 + length
  }
  return operations
}

/** Writes one file with the presets, and one for each process. */
export async function writeOperations (dir, { processes, count, signal }) {
  /** @type {Map<string, Set<string>>} key -> digests of all values it may have */
  const digestsByKey = new Map(keys.map(key => [key, new Set()]))
  let [valueCount, total] = [0, 0]
  const write = async (name, operations) => {
    const parts = []
    for (const operation of operations) {
      if (operation.value) {
        digestsByKey.get(keys[operation.key])?.add(hash('md5', operation.value))
        valueCount++
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
  return { preset, files, known: digestsByKey, bytes: Math.round(total / valueCount) }
}

/**
 * Throws if an answer was never written for its key.
 * @param {[string, string][]} samples key, digest
 */
export function checkSamples (name, samples, digestsByKey) {
  const wrong = samples.filter(([key, digest]) => !digestsByKey.get(key)?.has(digest))
  if (wrong.length) {
    throw new Error(
      `${name}: ${wrong.length} of ${samples.length} answers compared were never written, the first for ${wrong[0][0]}`
    )
  }
}
