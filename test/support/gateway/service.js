// The data side of a gateway by itself: a tile service over a store, through a front that counts and disturbs what it
// asks.
import { until } from '../../../bench/wait.js'
import { Store } from '../../../loader/store/index.js'
import { Layers } from '../../../server/gateway/layers.js'
import { Memory } from '../../../server/gateway/tiles/memory.js'
import { TileService } from '../../../server/gateway/tiles/index.js'
import { Upstreams } from '../../../server/gateway/tiles/upstreams.js'
import { LOOPBACK } from '../upstream-server.js'
import { startFront } from '../client/front.js'

/** Everything quicker than in earnest, so that a test need not wait. */
export const quick = {
  heartbeat: 100, silence: 1500, firstDelay: 20, longestDelay: 100,
  retries: 1, pause: 20, upstreamTimeout: 300, rest: 300
}

/** The address of a front, with the name and password for the store behind it. @param {string} db */
export function throughFront (front, db) {
  const { username, password } = new URL(db)
  return Object.assign(new URL(front.url), { username, password }).href
}

/**
 * @param {string} db URL of a database that is there
 * @param {object} [setup]
 * @param {number} [setup.memory] bytes
 * @param {Record<string, any>} [setup.options]
 * @param {Record<string, any>} [setup.limits]
 * @param {boolean} [setup.follow] waits until changes are heard
 */
export async function openService (db, { memory: bytes = 20e6, options = {}, limits = {}, follow = true } = {}) {
  const front = await startFront(db)
  const through = throughFront(front, db)
  const store = await Store.open(through, { retries: 3, firstDelay: 20, longestDelay: 100 })
  const memory = new Memory(bytes)
  const layers = new Layers(store, { limits: { pause: 50, timesAge: 0 } })
  const upstreams = new Upstreams({ options: { upstreamNetworks: LOOPBACK, ...options } })
  const reads = []
  const metrics = { storeRead: read => reads.push(read), upstream () {} }
  const tiles = new TileService({
    store, layers, upstreams, memory, metrics,
    options: { staleWhileRevalidate: 86400, staleIfError: 604800, ...options }, limits: { ...quick, ...limits }
  })
  await tiles.start()
  if (follow) await until(() => tiles.following.up, { what: 'changes to be heard' })
  return {
    tiles,
    layers,
    upstreams,
    memory,
    store,
    front,
    reads,
    /** Bodies of the requests that asked for documents with their bytes. */
    bulkReads: () => front.requests().filter(({ path }) => path.startsWith('_bulk_get?'))
      .map(({ body }) => body.docs.map(({ id }) => id)),
    timelineReads: () => front.requests().filter(({ path }) => path.startsWith('_all_docs/queries'))
      .map(({ body }) => body.queries[0].keys),
    /** The store is away, until the function it answers is called. */
    async cutOff () {
      await front.stop()
      return () => front.restart(+new URL(through).port)
    },
    async close () {
      await tiles.close()
      await upstreams.close()
      await front.close().catch(() => {})
    }
  }
}

/** Waits until the service has heard of everything the store knows. */
export async function heard ({ tiles }, store) {
  const { update_seq: seq } = await store.info()
  await until(() => Number.parseInt(tiles.following.since) >= Number.parseInt(seq),
    { every: 2, what: 'changes to be heard of' })
}
