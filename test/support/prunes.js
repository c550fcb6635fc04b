// A store with a layer whose past is known, to be pruned again and again.
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

/** Times and what is loaded then; some twelve hours, some weeks apart. */
export function historyOf (seed) {
  const next = random(seed)
  const history = []
  for (let at = 0, time = FIRST; at < MOMENTS; at++,
    time = addSeconds(time, 43200 * (next() < 0.5 ? 1 : Math.ceil(next() * 40)))) {
    const images =
      Array.from({ length: TILES }, () => next() < 0.5 ? undefined : next() < 0.2 ? null : 1 + Math.floor(next() * 4))
    history.push({ time, images, edition: next() < 0.6 })
  }
  return history
}

/** @param {string} url of a database that is not there yet */
export async function openStore (url) {
  const store = await Store.create(url)
  await push(store.couch, (await ownDesigns()).filter(({ _id }) => _id === '_design/versions'))
  return store
}

/** @param {Store} store @param {string} layer @param {ReturnType<historyOf>} history */
export async function fill (store, layer, history, fields = {}) {
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
 * Copies what `fill` made to another layer, in one request.
 * @param {Store} store @param {string} from @param {string} to @param {Record<string, any>} [fields] of the layer
 */
export async function clone (store, from, to, fields) {
  await store.defineLayer(to, fields)
  const ranges = [layerRange(from), { startkey: editionId(from, ''), endkey: editionId(from, '~') }]
  const found = await Promise.all(ranges.map(
    range => store.couch.request({ path: '_all_docs', qs: { ...range, include_docs: true, attachments: true } })
  ))
  const docs = found.flatMap(({ rows }) => rows)
    .map(({ doc: { _rev, ...doc } }) => ({ ...doc, _id: doc._id.replace(from, to), layer: to }))
  for (const { id, error } of await store.couch.bulk(docs)) assert.equal(error, undefined, id)
}

/** What stands in a layer: tile -> its versions, oldest first, and its editions. */
export async function contentOf (store, url, layer) {
  const tiles = await checkInvariants(url)
  const own = [...tiles].filter(([id]) => id.startsWith(`${layer}:`))
  return {
    tiles: new Map(
      own.map(([id, versions]) => [
        id, versions.map(({ time, bytes }) => ({ time, gone: !bytes })).sort((a, b) => a.time < b.time ? -1 : 1)
      ])
    ),
    editions: (await store.editions(layer)).map(({ time }) => time)
  }
}

/** What should be left of it. */
export function prunedOf ({ tiles, editions }, policy, { now = NOW } = {}) {
  const kept = naiveKept(policy, [...tiles.values()].flat().map(({ time }) => time), editions, now)
  const left = [...tiles].map(([id, versions]) => [id, naiveStay(versions, kept)])
    .filter(([, versions]) => versions.length)
  return { tiles: new Map(left), editions: editions.filter(time => kept.moments.has(time)), kept }
}

export const plain = ({ tiles, editions }) => ({ tiles: [...tiles].sort(), editions })

/** As of each kept moment every tile shows what it did. */
export function assertShows (before, after, moments) {
  const at = ({ tiles }, id, moment) => { const version = (tiles.get(id) ?? [])
    .filter(({ time }) => time <= moment).at(-1); return version?.gone ? undefined : version?.time }
  for (const moment of [...moments, '9999-01-01T00:00:00Z']) {
    for (const id of before.tiles.keys()) {
      assert.equal(at(after, id, moment), at(before, id, moment), `${id} as of ${moment}`)
    }
  }
}
