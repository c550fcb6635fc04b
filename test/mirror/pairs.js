// Helpers of the tests that mirror whole stores: an origin, and readers of its security, design documents and notes.
import { Store, publish } from '../../loader/index.js'
import { json, request } from '../support/backends.js'
import { square } from '../support/tiles.js'

const T1 = '2022-03-01T00:00:00Z'
export const T2 = '2023-06-01T00:00:00Z'

/**
 * Creates a published store. A quarter of its tiles have a past version.
 * @param {string} url
 * @param {{side?: number}} [options] side: columns and rows of tiles
 */
export async function origin (url, { side = 6 } = {}) {
  const store = await Store.create(url, { public: false })
  await store.defineLayer('osm', { format: 'png' })
  for (const [time, seed] of [[T1, (x, y) => x * side + y],
    [T2, (x, y) => x < side / 2 && y < side / 2 ? 1000 + x * side + y : undefined]]) {
    await store.putEdition('osm', time, { started: time })
    await store.write(square({ layer: 'osm', time, side, seed }))
    await store.putEdition('osm', time, { finished: time })
  }
  await publish(store)
  return store
}

export const securityOf = url => json(`${url}/_security`)

/** The status of a request without a name and password. */
export const anonymously = async url => {
  const { origin: server, pathname } = new URL(url)
  return (await fetch(`${server}${pathname}`)).status
}

export const isThere = async url => (await request(url)).status === 200

/** The ids of the design documents of a database with their revisions. */
export async function designsOf (url) {
  const { rows } = await json(`${url}/_all_docs?startkey="_design/"&endkey="_design0"`)
  return Object.fromEntries(rows.map(({ id, value: { rev } }) => [id, rev]))
}

/** All _local documents, which hold the notes of mirrors, as text. */
export const notesOf = async url => JSON.stringify(await json(`${url}/_local_docs?include_docs=true`))

/** The number of changes that each index lacks. CouchDB counts _security as one change per shard. */
export async function pendingOf (url) {
  const names = Object.keys(await designsOf(url)).filter(id => id !== '_design/tiles')
  return Promise.all(names.map(async id => (await json(`${url}/${id}/_info`)).view_index.updates_pending.total))
}
