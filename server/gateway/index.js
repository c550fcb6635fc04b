// The gateway: serves the tiles of a store over HTTP, from memory, from the store and from upstreams. It stores nothing
// outside of CouchDB: any number of gateways can serve one store.
//   ../http/listener.js, dispatch.js, router.js   from a connection to a parsed request
//   routes/, db/, wmts/, ogc/                 answers; access/ checks requests first, if layers are private
//   tiles/                                    where the bytes of tiles come from
import { pause, shared } from '../../core/promises.js'
import { mapValues } from '../../core/values.js'
import { TilecouchError } from '../../loader/errors.js'
import { resolveDatabase } from '../../loader/couchapp/environments.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { openAccess, protect } from './access/index.js'
import { publicUrlOf, urlOf } from '../http/addresses.js'
import { resolveOptions } from './config.js'
import { Cors } from './cors.js'
import { db } from './db/index.js'
import { DatabaseProxy } from './db/proxy.js'
import { createHandler } from './dispatch.js'
import { unlessIncomplete } from './incomplete-edge.js'
import { Layers } from './layers.js'
import { Listener } from '../http/listener.js'
import { createLog, secretsOf } from './log.js'
import { Metrics, register } from './metrics.js'
import { mirrorMetricTable } from './mirror-metrics.js'
import { ogc } from './ogc/index.js'
import { gdal } from './routes/gdal.js'
import { connections, index, qgis, style, tilejson, times, versions } from './routes/layer.js'
import { health, metrics as metricsRoute } from './routes/monitoring.js'
import { retina } from './routes/retina.js'
import { CachePolicy, TILE_TIMEOUT, tile } from './routes/tile.js'
import { tms } from './routes/tms.js'
import { loadFiles, viewer } from './routes/viewer.js'
import { TileService } from './tiles/index.js'
import { Memory } from './tiles/memory.js'
import { Upstreams } from './tiles/upstreams.js'
import { wmts } from './wmts/index.js'

// clients are waiting: retries end soon
const STORE = { retries: 3, firstDelay: 50, longestDelay: 500, silentRetries: 0 }

const STOP_DELAY = 1000 // milliseconds until a worker gets the message to stop

const DOCUMENT_ROUTES = { tilejson, versions, times, style, gdal, tms, qgis, connections, ogc, index }
const CLIENT_ROUTES = { ...mapValues(DOCUMENT_ROUTES, unlessIncomplete), tile, wmts, retina, db, file: viewer }
const MONITORING_ROUTES = { health, metrics: metricsRoute }

/**
 * @typedef {object} Gateway
 * @property {string} url
 * @property {number} port
 * @property {string | null} opsUrl where /metrics and /health are, if they have their own port
 * @property {() => Promise<void>} close finishes the requests under way, then ends
 */

/**
 * @param {Record<string, any>} values options by their names in options.js; `db` names the store
 * @param {object} [environment]
 * @param {import('pino').Logger} [environment.log]
 * @param {Metrics} [environment.metrics] of a worker
 * @param {import('./mirror-metrics.js').Mirroring} [environment.mirror] of an edge
 * @param {Record<string, any>} [environment.tileLimits] replace defaults of the files in tiles/
 * @returns {Promise<Gateway>}
 */
export async function startGateway (values, { log: existingLog, mirror, metrics: workerMetrics, tileLimits } = {}) {
  const options = /** @type {any} */ (resolveOptions({ flags: values }))
  const url = options.db && await resolveDatabase(options.db)
  if (!url) {
    throw new TilecouchError('BAD_OPTION', { option: '--db', value: options.db, why: 'a gateway needs a store' })
  }
  const log = existingLog ?? createLog({ level: options.logLevel, secrets: secretsOf({ ...options, db: url }) })
  const metrics = workerMetrics ?? new Metrics()
  // with workers, only the parent reports the mirror
  if (mirror && !workerMetrics) register(metrics.registry, mirrorMetricTable, mirror.report)
  const stopping = new AbortController()
  const cors = new Cors(options.cors, { hasPrivate: Boolean(options.privateLayers?.length) })
  const store = await openStore(url, { log, isEdge: Boolean(mirror) })
  const access = await openAccess(options, { couch: store.couch, log, signal: stopping.signal })
  const layers = new Layers(store, { log })
  const upstreams = new Upstreams({ options, log })
  const memory = new Memory(options.memory)
  const tiles = new TileService({
    store, layers, upstreams, memory, metrics, log, options, limits: tileLimits,
    onAdministrative: id => { access?.tokens.changed(id) }
  })
  /** @type {import('./dispatch.js').Context} */
  const ctx = {
    options,
    store,
    proxy: new DatabaseProxy(store.couch, { log, signal: stopping.signal, trustProxy: options.trustProxy }),
    layers,
    tiles,
    metrics,
    mirror: mirror?.report,
    isIncomplete: () => mirror !== undefined && !mirror.isFilled(),
    log,
    cors,
    policy: new CachePolicy(options),
    publicUrl: publicUrlOf(options),
    signal: stopping.signal,
    tileTimeout: TILE_TIMEOUT,
    answerTile: (target, req, res) => tile(ctx, target, req, res)
  }
  const { maxConnections, trustProxy } = options
  const connectionsEach = trustProxy ? 0 : options.connectionsEach // all clients of a proxy have its address
  const limits = { maxConnections, connectionsEach }
  const routes = { ...CLIENT_ROUTES, ...(options.opsPort === null && { health }) }
  const front = new Listener(createHandler(ctx, access ? protect(access, routes) : routes), limits)
  const opsContext = { ...ctx, cors: new Cors('none') } // pages do not read this port
  const ops = options.opsPort !== null ? new Listener(createHandler(opsContext, MONITORING_ROUTES), limits) : null

  const close = shared(async () => {
    stopping.abort()
    await front.close(options.grace * 1000)
    await ops?.close(0)
    await Promise.all([ctx.proxy.close(), tiles.close()])
    await upstreams.close()
  })

  try {
    metrics.bind({ memory, follower: () => tiles.following, upstreams: () => upstreams.states() })
    await tiles.start()
    await access?.tokens.read()
    const port = await front.listen(options.port, options.host)
    const opsPort = await ops?.listen(options.opsPort, options.opsHost)
    const opsUrl = opsPort ? urlOf(options.opsHost, opsPort) : null
    const gateway = { url: urlOf(options.host, port), port, opsUrl, close }
    log.info({ url: gateway.url, ops: gateway.opsUrl, store: store.url }, 'the gateway is up')
    if (options.viewer) loadViewer(log, stopping.signal)
    return gateway
  } catch (error) {
    await close()
    throw error
  }
}

/** Builds the viewer in the background: tiles do not wait for it. */
async function loadViewer (log, signal) {
  try {
    await loadFiles()
  } catch (error) {
    await pause(STOP_DELAY, signal) // Ctrl-C ends esbuild before a worker gets the message to stop
    if (!signal.aborted) log.error({ code: error.code, reason: error.message }, 'the viewer cannot be built')
  }
}

/**
 * Opens the store. If it does not answer yet, the gateway starts with a failing /health. A refusal is an error, and so
 * is a missing database, except for an edge, which creates it.
 */
async function openStore (url, { log, isEdge }) {
  try {
    return await Store.open(url, STORE)
  } catch (error) {
    const mayCome = isEdge && error.code === 'DATABASE_NOT_FOUND'
    const isAway = error.code === 'UNREACHABLE' || error.code === 'BAD_ANSWER' || error.details?.status >= 500
    if (!mayCome && !isAway) throw error
    log.warn({ code: error.code, reason: error.message }, 'the store does not answer yet')
    return new Store(new Couch(url, STORE))
  }
}
