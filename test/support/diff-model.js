// What the tests of comparisons share: a history that a model can follow, and what the model says of it.
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
/** Of a few tiles, whose ids sort otherwise than their numbers. @type {fc.Arbitrary<Step[]>} */
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
 * Writes a history; what the store refuses or finds unchanged, the model does not hold either, since it shows the same.
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

/** What a history shows as of a time: place -> seed. @param {Step[]} steps @param {string} [time] */
export function shownAt (steps, time = '9999') {
  const tiles = new Map()
  for (const step of steps) tiles.set(idOf(step), [...tiles.get(idOf(step)) ?? [], step])
  const shown = new Map()
  for (const [id, versions] of tiles) {
    const version = asOf(versions.sort((a, b) => a.time < b.time ? -1 : 1), time)
    if (version && version.seed !== null) shown.set(id, version.seed)
  }
  return shown
}

/** What the model says differs: `z:x:y change`, in the order of ids; and how many tiles are the same. */
export function modelDiff (before, after, select = id => Boolean(id)) {
  const ids = [...new Set([...before.keys(), ...after.keys()])].filter(select).sort(compareIds)
  const lines = []
  let same = 0
  for (const id of ids) {
    if (!before.has(id)) lines.push(`${id} added`)
    else if (!after.has(id)) lines.push(`${id} removed`)
    else if (before.get(id) !== after.get(id)) lines.push(`${id} changed`)
    else same++
  }
  return { lines, same }
}

export const lineOf = ({ z, x, y, change }) => `${z}:${x}:${y} ${change}`

/**
 * Everything a layer shows as of a time, with the bytes.
 * @param {Store} store
 * @param {string} layer
 * @param {string} [time]
 */
export async function contents (store, layer, time) {
  const shown = new Map()
  for await (const { z, x, y, bytes } of store.fetch(store.list(layer, { time }))) {
    shown.set(`${z}/${x}/${y}`, bytes.toString('base64'))
  }
  return shown
}
