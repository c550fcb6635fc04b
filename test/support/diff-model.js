// Helpers for tests of comparisons: random histories, and a simple model of the differences between two times.
import fc from 'fast-check'
import { asOf, compareIds } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'
import { png } from './tiles.js'
import { publishFunctions } from './published.js'

export const TIMES = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/**
 * @typedef {{z: number, x: number, y: number, time: string, seed: number | null}} Step seed: of the image; null: gone
 */

const places = fc.constantFrom([0, 0, 0], [1, 0, 1], [1, 1, 0],
  [4, 1, 9], [4, 10, 2], [4, 10, 10], [4, 2, 1], [4, 15, 15], [10, 1, 1], [10, 100, 12])
/** Histories of a few tiles, whose ids sort differently from their numbers. @type {fc.Arbitrary<Step[]>} */
export const histories = fc.uniqueArray(fc.record({
  place: places, time: fc.constantFrom(...TIMES), seed: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 4 })
}), { selector: ({ place, time }) => `${place}@${time}`, minLength: 1, maxLength: 25 })
  .map(steps => steps.map(({ place: [z, x, y], time, seed }) => ({ z, x, y, time, seed })))

/** @param {import('./backends.js').backends[0]} backend */
export async function openStore (backend) {
  const store = await Store.create(await backend.database())
  await publishFunctions(store)
  return store
}

/**
 * Writes a history. The store skips versions that change nothing, and the model shows the same for them.
 * @param {Store} store @param {string} layer @param {Step[]} steps oldest first
 */
export async function remember (store, layer, steps) {
  await store.defineLayer(layer)
  for (const time of [...new Set(steps.map(step => step.time))].sort()) {
    await store.write(steps.filter(step => step.time === time).map(({ z, x, y, seed }) => (
      { layer, z, x, y, time, ...(seed === null ? { gone: true } : { bytes: png(seed) }) }
    )).sort((a, b) => compareIds(idOf(a), idOf(b))))
  }
}

const idOf = ({ z, x, y }) => `${z}:${x}:${y}`

/** The seeds that a history shows as of a time, by place. @param {Step[]} steps @param {string} [time] */
export function shownAt (steps, time = '9999') {
  const tiles = new Map()
  for (const step of steps) tiles.set(idOf(step), [...tiles.get(idOf(step)) ?? [], step])
  const seeds = new Map()
  for (const [id, versions] of tiles) {
    const version = asOf(versions.sort((a, b) => a.time < b.time ? -1 : 1), time)
    if (version && version.seed !== null) seeds.set(id, version.seed)
  }
  return seeds
}

/** The expected differences, as lines `z:x:y change` in the order of ids, and the number of equal tiles. */
export function modelDiff (before, after, select = id => Boolean(id)) {
  const ids = [...new Set([...before.keys(), ...after.keys()])].filter(select).sort(compareIds)
  const lines = []
  let equalCount = 0
  for (const id of ids) {
    if (!before.has(id)) lines.push(`${id} added`)
    else if (!after.has(id)) lines.push(`${id} removed`)
    else if (before.get(id) !== after.get(id)) lines.push(`${id} changed`)
    else equalCount++
  }
  return { lines, same: equalCount }
}

export const lineOf = ({ z, x, y, change }) => `${z}:${x}:${y} ${change}`

/**
 * Reads all tiles of a layer as of a time: z/x/y -> bytes as base64.
 * @param {Store} store
 * @param {string} layer
 * @param {string} [time]
 */
export async function contentsAsOf (store, layer, time) {
  const bytesByTile = new Map()
  for await (const { z, x, y, bytes } of store.fetch(store.list(layer, { time }))) {
    bytesByTile.set(`${z}/${x}/${y}`, bytes.toString('base64'))
  }
  return bytesByTile
}
