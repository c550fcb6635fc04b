// Helpers for tests of prunes: a store with layers whose past is known, and a model of what a prune keeps.
import assert from 'node:assert/strict'
import { random } from '../../bench/tiles.js'
import { addSeconds, editionId, layerRange } from '../../core/index.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { Store } from '../../loader/store/index.js'
import { checkInvariants } from './invariants.js'
import { png } from './tiles.js'
import { naiveKept, naiveStay } from '../retention/naive.js'

export const NOW = '2024-07-01T00:00:00Z'
const FIRST = '2024-01-01T06:00:00Z'
const TILES = 6
const MOMENTS = 14

/** Draws the image of a tile: undefined for no change, null for a gone tile. @param {() => number} next */
export function drawImage (next) {
  if (next() < 0.5) return undefined
  return next() < 0.2 ? null : 1 + Math.floor(next() * 4)
}

/** A random history: times that are twelve hours to some weeks apart, and the images of each. */
export function historyOf (seed) {
  const next = random(seed)
  const history = []
  for (let index = 0, time = FIRST; index < MOMENTS; index++,
    time = addSeconds(time, 43200 * (next() < 0.5 ? 1 : Math.ceil(next() * 40)))) {
    const images = Array.from({ length: TILES }, () => drawImage(next))
    history.push({ time, images, edition: next() < 0.6 })
  }
  return history
}

/** @param {string} url of a database that does not exist yet */
export async function openStore (url) {
  const store = await Store.create(url)
  await push(store.couch, (await ownDesigns()).filter(({ _id }) => _id === '_design/versions'))
  return store
}

/** @param {Store} store @param {string} layer @param {ReturnType<historyOf>} history */
export async function writeHistory (store, layer, history, fields = {}) {
  await store.defineLayer(layer, fields)
  for (const { time, images, edition } of history) {
    if (edition) await store.putEdition(layer, time, { title: `of ${time.slice(0, 10)}`, finished: time })
    await store.write(
      images.flatMap((image, y) => image === undefined ? [] : [
        { layer, z: 4, x: 1, y, time, ...(image === null ? { gone: true } : { bytes: png(image) }) }
      ]), { stored: time }
    )
  }
}

/**
 * Copies the documents that `fill` wrote to another layer, in one request.
 * @param {Store} store @param {string} from @param {string} to @param {Record<string, any>} [fields] of the layer
 */
export async function clone (store, from, to, fields) {
  await store.defineLayer(to, fields)
  const ranges = [layerRange(from), { startkey: editionId(from, ''), endkey: editionId(from, '~') }]
  const answers = await Promise.all(ranges.map(
    range => store.couch.request({ path: '_all_docs', qs: { ...range, include_docs: true, attachments: true } })
  ))
  const docs = answers.flatMap(({ rows }) => rows)
    .map(({ doc: { _rev, ...doc } }) => ({ ...doc, _id: doc._id.replace(from, to), layer: to }))
  for (const { id, error } of await store.couch.bulk(docs)) assert.equal(error, undefined, id)
}

/** Reads a layer: tile -> its versions, oldest first; and the times of its editions. */
export async function contentOf (store, url, layer) {
  const tiles = await checkInvariants(url)
  const layerTiles = [...tiles].filter(([id]) => id.startsWith(`${layer}:`))
  return {
    tiles: new Map(
      layerTiles.map(([id, versions]) => [
        id, versions.map(({ time, bytes }) => ({ time, gone: !bytes })).sort((a, b) => a.time < b.time ? -1 : 1)
      ])
    ),
    editions: (await store.editions(layer)).map(({ time }) => time)
  }
}

/** The expected content of a layer after a prune. */
export function prunedOf ({ tiles, editions }, policy, { now = NOW } = {}) {
  const kept = naiveKept(policy, [...tiles.values()].flat().map(({ time }) => time), editions, now)
  const remainingTiles = [...tiles].map(([id, versions]) => [id, naiveStay(versions, kept)])
    .filter(([, versions]) => versions.length)
  return { tiles: new Map(remainingTiles), editions: editions.filter(time => kept.moments.has(time)), kept }
}

export const plain = ({ tiles, editions }) => ({ tiles: [...tiles].sort(), editions })

/** Asserts that every tile shows the same version as before, as of each kept moment. */
export function assertShows (before, after, moments) {
  const shownTime = ({ tiles }, id, moment) => { const version = (tiles.get(id) ?? [])
    .filter(({ time }) => time <= moment).at(-1); return version?.gone ? undefined : version?.time }
  for (const moment of [...moments, '9999-01-01T00:00:00Z']) {
    for (const id of before.tiles.keys()) {
      assert.equal(shownTime(after, id, moment), shownTime(before, id, moment), `${id} as of ${moment}`)
    }
  }
}
