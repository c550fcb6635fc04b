// Helpers for tests of mirrors over bad connections: a store with a past, and a replication with short delays.
import { Replication } from '../../core/mirror/index.js'
import { Store } from '../../loader/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { Couch } from '../../loader/store/couch.js'
import { noiseTile } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { json, post } from './backends.js'

export const T1 = '2021-01-01T00:00:00Z'
export const T2 = '2022-01-01T00:00:00Z'

/** Tiles of one time, each with different bytes. */
export const edition = ({ count, time = T1, size = 3000, seed = 1, layer = 'osm', z = 10 }) =>
  Array.from({ length: count },
    (_, index) => (
      { layer, z, x: Math.floor(index / 64), y: index % 64, time, bytes: noiseTile(seed * 1e6 + index, size) }
    ))

/** @param {any[]} tiles all of one layer and time */
export async function write (store, tiles) {
  const [{ layer, time }] = tiles
  await store.putEdition(layer, time, { started: time, finished: undefined })
  const { failed } = await store.write(tiles)
  if (failed) throw new Error(`${failed} tiles were not written`)
  await store.putEdition(layer, time, { finished: time })
}

/**
 * Creates a store with `count` tiles: a quarter of them have a past, and a few are deleted documents.
 * @param {string} url of a database that does not exist yet
 * @param {{count: number, size?: number}} options
 */
export async function createLargeOrigin (url, { count, size }) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { format: 'png' })
  await write(store, edition({ count, size }))
  await write(store, edition({ count: count >> 2, size, time: T2, seed: 2 }))
  const { rows } = await json(`${url}/_all_docs?startkey="osm:10:0:0@"&limit=5`)
  const docs = rows.map(({ id, value: { rev } }) => ({ _id: id, _rev: rev, _deleted: true }))
  await post(`${url}/_bulk_docs`, { docs })
  return store
}

/** Small pages and batches, so that a replication can be interrupted in the middle; and short delays. */
export const limits =
  { page: 100, batchBytes: 64 * 1024, checkpoint: 200, poll: 500, firstDelay: 20, longestDelay: 200 }

export const hasty = { retries: 2, firstDelay: 10, longestDelay: 50 }

/** A client whose timeouts are divided by `haste`. */
class HastyCouch extends Couch {
  constructor (url, { haste = 1, ...options } = {}) {
    super(url, options)
    this.haste = haste
  }

  request ({ timeout, ...request }) {
    const wait = request.qs?.timeout ?? 0 // milliseconds of a long poll
    const upload = (request.body?.length ?? 0) / 16 // milliseconds that the client adds
    const shorter = timeout && wait - upload + (timeout + upload - wait) / this.haste
    return super.request({ ...request, ...(timeout && { timeout: shorter }) })
  }
}

/**
 * @param {string} from @param {string} to
 * @param {Partial<ConstructorParameters<typeof Replication>[0]> & {couch?: ConstructorParameters<typeof Couch>[1] &
 *   {haste?: number}}} [options]
 */
export const replication = (from, to, { couch = hasty, ...options } = {}) =>
  new Replication(
    { source: peerOf(new HastyCouch(from, couch)), target: peerOf(new HastyCouch(to, couch)), limits, ...options }
  )

/** Starts a live replication, which the test has to stop. @param {string} from @param {string} to */
export function follow (from, to, options = {}) {
  const stop = new AbortController()
  const states = []
  const mirror = replication(from, to, {
    live: true, signal: stop.signal,
    onState: ({ state, error }) => states.push({ state, error, at: performance.now() }), ...options
  })
  let failure
  const ended = mirror.run().catch(error => { if (error.code !== 'ABORTED') failure = error })
  return {
    states,
    status () {
      if (failure) throw failure
      return mirror.status()
    },
    is (state) {
      return this.status().state === state
    },
    async stop () {
      stop.abort()
      await ended
      if (failure) throw failure
    }
  }
}

/**
 * Starts a live replication, calls `use` once it follows, and stops it.
 * @param {string} from @param {string} to
 * @param {Parameters<typeof follow>[2]} options
 * @param {(live: ReturnType<typeof follow>) => Promise<void>} use
 */
export async function whileFollowing (from, to, options, use) {
  const live = follow(from, to, options)
  try {
    await until(() => live.is('following'), { timeout: 30000, what: 'it to follow' })
    await use(live)
  } finally {
    await live.stop()
  }
}
