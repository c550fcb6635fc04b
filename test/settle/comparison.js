// Compares what every reader of a layer shows with a model of the layer. A scene names the layer that is read, its
// model and the times. readers.js has the readers.
import assert from 'node:assert/strict'
import { check, resolve } from '../../loader/index.js'
import { until } from '../../bench/wait.js'
import { seedOf } from '../support/tiles.js'
import { PLACES, cheap, dear, gateway, trees } from './readers.js'

/**
 * @typedef {import('./readers.js').At & {model: import('./model.js').Model, what: string, times: (string |
 *   undefined)[],
 *   isPart?: boolean}} Scene what: its name in messages; isPart: a mirror of a part, which shows no other tiles
 */

/**
 * Whether a tile lost its image: one master removed the last bytes while the other one confirmed them. `resolve`
 * reports such a tile as unknown, with the edition to load again.
 */
async function isUnknown (store, layer, tile, time = '~') {
  const { named } = await resolve(store, { layers: [layer], dryRun: true })
  const id = `${layer}:${tile.replaceAll('/', ':')}`
  return named.some(({ what, id: faultyId, reason }) => (
    what === 'unknown' && faultyId === id && time >= (/@(\S+) has/.exec(reason)?.[1] ?? '')))
}

/** Compares what one reader shows. @param {Scene} scene @param {string} reader @param {string | undefined} time */
async function compare ({ store, layer, model, what, isPart }, reader, time, shown) {
  const [expected, actual] = [{}, {}]
  for (const { name: tile } of PLACES) {
    const isKnown = model.knows(tile)
    if (!isKnown && !isPart) continue
    const image = isKnown ? model.shown(tile, time) : null
    const bytes = shown.get(tile)
    const shownImage = bytes ? seedOf(bytes) ?? 'something else' : null
    if (shownImage === image || await isUnknown(store, layer, tile, time)) continue
    expected[tile] = image
    actual[tile] = shownImage
  }
  assert.deepEqual(actual, expected, `${reader}, ${what}, ${layer} ${time ? `as of ${time}` : 'now'}`)
}

/** @param {Scene} scene @param {string} reader @param {(typeof cheap)[string]} read */
async function compareAll (scene, reader, read) {
  const { times } = scene
  for (const [index, shown] of (await read(scene, times)).entries()) await compare(scene, reader, times[index], shown)
}

/** Compares the answers of the store itself. @param {Scene} scene */
export async function compareStore (scene) {
  const reader = 'store.at and store.head'
  await compareAll(scene, reader, cheap[reader])
}

/** Compares the other readers. A gateway may be a second behind. @param {Scene} scene */
export async function compareReaders (scene) {
  for (const [reader, read] of Object.entries(cheap).slice(1)) await compareAll(scene, reader, read)
  for (const [reader, read] of Object.entries(gateway)) {
    let error
    const compareOnce = () => compareAll(scene, reader, read).then(() => true, difference => {
      error = difference
      return false
    })
    await until(compareOnce, { every: 50, timeout: 3000 }).catch(() => { throw error })
  }
}

/** Compares exports, backups, devices and trees of files. @param {Scene} scene */
export async function compareDear (scene) {
  const times = [undefined, ...scene.times.slice(2, 5).filter((_, index) => index % 2)]
  for (const [reader, read] of Object.entries(dear)) await compareAll({ ...scene, times }, reader, read)
  for (const { time, shown } of await trees(scene)) {
    if (!time || time >= scene.model.since) await compare(scene, 'a tree of files', time, shown)
  }
}

/**
 * Asserts that `check` finds no faults, except lost images, and missing blocks of a part that was mirrored earlier than
 * another part.
 * @param {Scene & {isBehind?: boolean}} scene
 */
export async function expectSound ({ store, layer, what, isBehind = false }) {
  const excepted = ['image-missing', ...isBehind ? ['manifest-incomplete'] : []]
  const { first } = await check({ store, layer })
  const faults = first.filter(({ level, code }) => level === 'fault' && !excepted.includes(code))
  assert.deepEqual(faults, [], `check of ${layer}, ${what}`)
}
