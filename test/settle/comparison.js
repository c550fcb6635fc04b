// Compares everybody who reads a layer with a model of it. A scene is what is read: see readers.js; with the model and
// a name.
import assert from 'node:assert/strict'
import { check, resolve } from '../../loader/index.js'
import { until } from '../../bench/wait.js'
import { png } from '../support/tiles.js'
import { PLACES, cheap, dear, gateway, trees } from './readers.js'

/**
 * @typedef {import('./readers.js').At & {model: import('./model.js').Model, what: string, times: (string |
 *   undefined)[],
 *   isPart?: boolean}} Scene isPart: a mirror of a part, which shows nothing of the rest
 */

/**
 * What cannot be: one master took out the last bytes while the other confirmed them. It is told, with the edition to
 * load again.
 */
async function isUnknown (store, layer, tile, time = '~') {
  const { named } = await resolve(store, { layers: [layer], dryRun: true })
  const id = `${layer}:${tile.replaceAll('/', ':')}`
  return named.some(({ what, id: faulty, reason }) => (
    what === 'unknown' && faulty === id && time >= (/@(\S+) has/.exec(reason)?.[1] ?? '')))
}

/** Compares what one reader shows. @param {Scene} scene @param {string} reader @param {string | undefined} time */
async function compare ({ store, layer, model, what, isPart }, reader, time, shown) {
  const [expected, actual] = [{}, {}]
  for (const { name: tile } of PLACES) {
    const isKnown = model.knows(tile)
    if (!isKnown && !isPart) continue
    const image = isKnown ? model.shown(tile, time) : null
    const bytes = shown.get(tile)
    const seen = bytes ? [0, 1, 2].find(candidate => png(candidate).equals(bytes)) ?? 'something else' : null
    if (seen === image || await isUnknown(store, layer, tile, time)) continue
    expected[tile] = image
    actual[tile] = seen
  }
  assert.deepEqual(actual, expected, `${reader}, ${what}, ${layer} ${time ? `as of ${time}` : 'now'}`)
}

/** @param {Scene} scene @param {string} reader @param {(typeof cheap)[string]} read */
async function compareAll (scene, reader, read) {
  const { times } = scene
  for (const [index, shown] of (await read(scene, times)).entries()) await compare(scene, reader, times[index], shown)
}

/** What the store itself answers. @param {Scene} scene */
export async function compareStore (scene) {
  const reader = 'store.at and store.head'
  await compareAll(scene, reader, cheap[reader])
}

/** The other readers; a gateway may be a second behind. @param {Scene} scene */
export async function compareReaders (scene) {
  for (const [reader, read] of Object.entries(cheap).slice(1)) await compareAll(scene, reader, read)
  for (const [reader, read] of Object.entries(gateway)) {
    let error
    const agrees = () => compareAll(scene, reader, read).then(() => true, met => {
      error = met
      return false
    })
    await until(agrees, { every: 50, timeout: 3000 }).catch(() => { throw error })
  }
}

/** Exports, backups, devices and trees of files. @param {Scene} scene */
export async function compareDear (scene) {
  const times = [undefined, ...scene.times.slice(2, 5).filter((_, index) => index % 2)]
  for (const [reader, read] of Object.entries(dear)) await compareAll({ ...scene, times }, reader, read)
  for (const { time, shown } of await trees(scene)) {
    if (!time || time >= scene.model.since) await compare(scene, 'a tree of files', time, shown)
  }
}

/**
 * Nothing that `check` calls a fault, except bytes that are nowhere, and blocks of a part that was not mirrored with
 * another one.
 * @param {Scene & {isBehind?: boolean}} scene
 */
export async function expectSound ({ store, layer, what, isBehind = false }) {
  const excepted = ['image-missing', ...isBehind ? ['manifest-incomplete'] : []]
  const { first } = await check({ store, layer })
  const faults = first.filter(({ level, code }) => level === 'fault' && !excepted.includes(code))
  assert.deepEqual(faults, [], `check of ${layer}, ${what}`)
}
