// Helpers for tests of backups: a store with every kind of document, and documents to write into it.
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { json, post } from './backends.js'
import { png, square } from './tiles.js'

export const [T1, T2, T3] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z']

export const fails = (promise, code, words = /./) =>
  assert.rejects(promise, error => error.code === code && words.test(error.message))

/**
 * A revision as a replication writes it.
 * @param {string} id
 * @param {string[]} revisions the newest first
 * @param {any} fields
 */
export const leaf = (id, revisions, fields) => (
  { _id: id, _rev: `${revisions.length}-${revisions[0]}`, _revisions: {
    start: revisions.length, ids: revisions
  }, ...fields }
)

export const head = (x, seed, time = T1) => ({
  type: 'tile', layer: 'osm', z: 9, x, y: 1, current: true, time,
  stored: time, _attachments: { tile: { content_type: 'image/png', data: png(seed).toString('base64') } }
})

/**
 * Creates a store with versions of all kinds, conflicts, and tombstones with their history.
 * @param {string} url
 * @param {{q?: number, designs?: boolean}} [options] designs: also publishes the design documents, which is slow
 */
export async function createVariedStore (url, { q, designs = false } = {}) {
  const store = await Store.create(url, q ? { q } : {})
  await store.defineLayer('osm', { format: 'png', name: 'Prüfung 🗺' })
  await store.putEdition('osm', T1, { title: 'first' })
  await store.write(square({ layer: 'osm', time: T1, side: 6, seed: (x, y) => x * 6 + y }))
  const goneOrImage = (x, y) => x % 2 ? null : 100 + x * 6 + y
  const secondSeed = (x, y) => (x + y) % 3 ? undefined : goneOrImage(x, y)
  await store.write(square({ layer: 'osm', time: T2, side: 6, seed: secondSeed }))
  await post(`${url}/_bulk_docs`, {
    new_edits: false,
    docs: [
      leaf('osm:9:1:1', ['b', 'a'], head(1, 1)), // two heads
      leaf('osm:9:1:1', ['c', 'd'], head(1, 2, T2)),
      leaf('osm:9:2:1', ['b', 'a'], head(2, 3)), // a head beside a deleted branch
      leaf('osm:9:2:1', ['e', 'f'], { _deleted: true }),
      leaf('osm:9:3:1', ['c', 'b', 'a'], { _deleted: true })
    ]
  })
  const { rows } = await json(`${url}/_all_docs?startkey="osm:5:1:"&limit=4`)
  await post(`${url}/_bulk_docs`,
    { docs: rows.map(({ id, value: { rev } }) => ({ _id: id, _rev: rev, _deleted: true })) })
  if (designs) await publish(store)
  return store
}
