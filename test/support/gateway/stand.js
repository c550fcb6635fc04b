// Starts gateways for tests. useGateway and openGateway start a whole gateway on a real store. openService starts only
// the tile service, on a store that can be disturbed; openFront only the HTTP side, on stand-ins for the rest.
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
 * @param {Parameters<typeof startGateway>[1]} [context] such as a log
 */
export const openGateway =
  (db, options = {}, context = {}) => startGateway({ db, port: 0, logLevel: 'silent', ...options }, context)

/**
 * Creates a store that everybody may read.
 * @param {string} url
 * @param {(store: Store) => Promise<any>} fill writes before the store is published
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
 * @param {(store: Store) => Promise<any>} [setup.fill] writes before the store is published
 * @param {Record<string, any> | null} [setup.options] of the gateway; null: no gateway
 */
export function useGateway (backend, { fill = async () => {}, options = {} } = {}) {
  const extraGateways = []
  const context = {
    url: '',
    store: undefined,
    gateway: undefined,
    /** @param {string} path @param {Parameters<typeof ask>[2]} [request] */
    ask: (path, request) => ask(context.gateway.url, path, request),
    /** Opens another gateway for one test. @param {Record<string, any>} otherOptions */
    async another (otherOptions) {
      extraGateways.push(await openGateway(context.url, otherOptions))
      return extraGateways.at(-1)
    }
  }
  before(async function () {
    this.timeout(60000)
    context.url = await backend.database()
    context.store = await openStore(context.url, fill)
    if (options) context.gateway = await openGateway(context.url, options)
  })
  afterEach(async () => {
    if (!extraGateways.length) return
    closeConnections() // a gateway waits for kept-alive connections that were used a moment ago
    await Promise.all(extraGateways.splice(0).map(gateway => gateway.close()))
  })
  after(async () => {
    closeConnections()
    await context.gateway?.close()
    await context.store?.destroy()
  })
  return context
}

/** Limits with shorter times than by default, so that tests need not wait. */
export const quick = { heartbeat: 100, silence: 1500, firstDelay: 20, longestDelay: 100, retries: 1, pause: 20 }

/**
 * @param {string} db URL of an existing database
 * @param {object} [setup]
 * @param {number} [setup.memory] bytes
 * @param {Record<string, any>} [setup.options]
 * @param {Record<string, any>} [setup.limits]
 * @param {boolean} [setup.follow] waits until the service follows the changes
 */
export async function openService (db, { memory: bytes = 20e6, options = {}, limits = {}, follow = true } = {}) {
  const front = await startFront(db)
  const store = await Store.open(front.accountUrl, { retries: 3, firstDelay: 20, longestDelay: 100 })
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
    /** The ids in each request for documents with their bytes. */
    bulkReads: () => front.requests().filter(({ path }) => path.startsWith('_bulk_get?'))
      .map(({ body }) => body.docs.map(({ id }) => id)),
    timelineReads: () => front.requests().filter(({ path }) => path.startsWith('_all_docs/queries'))
      .map(({ body }) => body.queries[0].keys),
    /** Makes the store unavailable, until the returned function is called. */
    async cutOff () {
      await front.stop()
      return front.restart
    },
    async close () {
      await tiles.close()
      await upstreams.close()
      await front.close().catch(() => {})
    }
  }
}

/** Waits until the service has heard of all changes of the store. */
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
 * @param {(id: string, signal: AbortSignal) => Promise<any>} [setup.get] reads entries that memory lacks
 * @param {Record<string, any>} [setup.layers] documents by name
 * @param {Record<string, any>} [setup.routes] more routes
 * @param {Record<string, any>} [setup.limits] of the listener
 * @param {any} [setup.store]
 */
export async function openFront (
  { options = {}, kept: entries = {}, get, layers = { osm: {} }, routes = {}, limits = {}, store = {} } = {}
) {
  const allOptions = { ...resolveOptions(), ...options }
  const requests = []
  const lines = []
  const idOf = (layer, z, x, y, time) => tileId(layer, z, x, y) + (time === undefined ? '' : `@${time}`)
  const missing = async id => { throw new TilecouchError('TILE_NOT_FOUND', { id }) }
  const stopping = new AbortController()
  const ctx = {
    options: allOptions,
    store,
    signal: stopping.signal,
    tileTimeout: TILE_TIMEOUT,
    tiles: {
      peek: (...place) => entries[idOf(...place)] &&
        { entry: entries[idOf(...place)], outcome: entries[idOf(...place)].outcome ?? 'hit' },
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
    cors: new Cors(allOptions.cors),
    policy: new CachePolicy(allOptions),
    publicUrl: publicUrlOf(allOptions)
  }
  const listener = new Listener(createHandler(ctx, { tile, tilejson, health, ...routes }), limits)
  const port = await listener.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`, port, ctx, requests, lines, stopping, close: grace => listener.close(grace)
  }
}
