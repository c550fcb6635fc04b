// Gateways for tests: a whole one before a real store (useGateway, openGateway), its tile service alone before a store
// that can be disturbed (openService), and its HTTP side alone before stand-ins for what lies behind (openFront).
import { createHash } from 'node:crypto'
import { until } from '../../../bench/wait.js'
import { TilecouchError, tileId } from '../../../core/index.js'
import { publish } from '../../../loader/couchapp/publish.js'
import { Store } from '../../../loader/store/index.js'
import { resolveOptions } from '../../../server/gateway/config.js'
import { Cors } from '../../../server/gateway/cors.js'
import { createHandler } from '../../../server/gateway/dispatch.js'
import { startGateway } from '../../../server/gateway/index.js'
import { Layers } from '../../../server/gateway/layers.js'
import { createLog } from '../../../server/gateway/log.js'
import { tilejson } from '../../../server/gateway/routes/layer.js'
import { health } from '../../../server/gateway/routes/monitoring.js'
import { CachePolicy, TILE_TIMEOUT, tile } from '../../../server/gateway/routes/tile.js'
import { TileService } from '../../../server/gateway/tiles/index.js'
import { Memory } from '../../../server/gateway/tiles/memory.js'
import { Upstreams } from '../../../server/gateway/tiles/upstreams.js'
import { publicUrlOf } from '../../../server/http/addresses.js'
import { Listener } from '../../../server/http/listener.js'
import { startFront } from '../client/front.js'
import { png } from '../tiles.js'
import { LOOPBACK } from '../upstream-server.js'
import { ask, closeConnections } from './wire.js'

/**
 * @param {string} db URL of the database
 * @param {Record<string, any>} [options] of the gateway
 * @param {Parameters<typeof startGateway>[1]} [own] such as a log
 */
export const openGateway =
  (db, options = {}, own = {}) => startGateway({ db, port: 0, logLevel: 'silent', ...options }, own)

/**
 * A store that everybody reads.
 * @param {string} url
 * @param {(store: Store) => Promise<any>} fill before it is published
 */
export async function openStore (url, fill) {
  const store = await Store.create(url)
  await fill(store)
  await publish(store)
  return store
}

/**
 * A store and a gateway for all tests of a suite.
 * @param {{database: () => Promise<string>}} backend
 * @param {object} [setup]
 * @param {(store: Store) => Promise<any>} [setup.fill] before it is published
 * @param {Record<string, any> | null} [setup.options] of the gateway; null: no gateway
 */
export function useGateway (backend, { fill = async () => {}, options = {} } = {}) {
  const more = []
  const own = {
    url: '',
    store: undefined,
    gateway: undefined,
    /** @param {string} path @param {Parameters<typeof ask>[2]} [asked] */
    ask: (path, asked) => ask(own.gateway.url, path, asked),
    /** Another gateway, for one test. @param {Record<string, any>} others options */
    async another (others) {
      more.push(await openGateway(own.url, others))
      return more.at(-1)
    }
  }
  before(async function () {
    this.timeout(60000)
    own.url = await backend.database()
    own.store = await openStore(own.url, fill)
    if (options) own.gateway = await openGateway(own.url, options)
  })
  afterEach(async () => {
    if (!more.length) return
    closeConnections() // a gateway waits for connections that were in use a moment ago
    await Promise.all(more.splice(0).map(gateway => gateway.close()))
  })
  after(async () => {
    closeConnections()
    await own.gateway?.close()
    await own.store?.destroy()
  })
  return own
}

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

/** An entry as the tile service keeps it. @param {Record<string, any>} [fields] */
export function entryOf (
  { bytes = png(1), time = '2024-03-01T00:00:00Z', expires = null, type = 'image/png', ...fields } = {}
) {
  return {
    id: 'osm:1:0:0',
    rev: '1-a',
    time,
    stored: '2024-03-02T00:00:00Z',
    expires,
    expiresAt: expires === null ? Infinity : Date.parse(expires),
    type,
    bytes,
    etag: `"${createHash('md5').update(bytes).digest('base64')}"`,
    lastModified: new Date(time).toUTCString(),
    ...fields
  }
}

/**
 * @param {object} [setup]
 * @param {Record<string, any>} [setup.options]
 * @param {Record<string, any>} [setup.kept] entries in memory by id, `osm:1:0:0` or `osm:1:0:0@2024`
 * @param {(id: string, signal: AbortSignal) => Promise<any>} [setup.get] what memory lacks
 * @param {Record<string, any>} [setup.layers] documents by name
 * @param {Record<string, any>} [setup.routes] more of them
 * @param {Record<string, any>} [setup.limits] of the listener
 * @param {any} [setup.store]
 */
export async function openFront (
  { options = {}, kept = {}, get, layers = { osm: {} }, routes = {}, limits = {}, store = {} } = {}
) {
  const all = { ...resolveOptions(), ...options }
  const requests = []
  const lines = []
  const idOf = (layer, z, x, y, time) => tileId(layer, z, x, y) + (time === undefined ? '' : `@${time}`)
  const missing = async id => { throw new TilecouchError('TILE_NOT_FOUND', { id }) }
  const stopping = new AbortController()
  const ctx = {
    options: all,
    store,
    signal: stopping.signal,
    tileTimeout: TILE_TIMEOUT,
    tiles: {
      peek: (...asked) => kept[idOf(...asked)] &&
        { entry: kept[idOf(...asked)], outcome: kept[idOf(...asked)].outcome ?? 'hit' },
      get: async (layer, z, x, y, time, { signal }) => (
        { entry: await (get ?? missing)(idOf(layer, z, x, y, time), signal), outcome: 'miss' }
      )
    },
    layers: {
      async get (name) {
        if (!Object.hasOwn(layers, name)) throw new TilecouchError('LAYER_NOT_FOUND', { layer: name })
        return layers[name]
      }
    },
    metrics: { request: answer => requests.push(answer) },
    log: createLog({ level: 'trace', destination: { write: line => { lines.push(JSON.parse(line)) } } }),
    cors: new Cors(all.cors),
    policy: new CachePolicy(all),
    publicUrl: publicUrlOf(all)
  }
  const listener = new Listener(createHandler(ctx, { tile, tilejson, health, ...routes }), limits)
  const port = await listener.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`, port, ctx, requests, lines, stopping, close: grace => listener.close(grace)
  }
}
