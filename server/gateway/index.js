// The gateway: tiles of a store over HTTP, from memory, from the store, from upstreams. It keeps nothing of its own, so any
// number of them may stand side by side before one CouchDB.
import { TilecouchError } from '../../core/index.js'
import { pause } from '../../core/abort.js'
import { resolveDatabase } from '../../loader/couchapp/environments.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { guard } from './access/guard.js'
import { openAccess } from './access/index.js'
import { CachePolicy } from './answer.js'
import { resolveOptions } from './config.js'
import { Cors } from './cors.js'
import { createHandler } from './dispatch.js'
import { unlessFilling } from './filling.js'
import { LayerBook } from './layers.js'
import { Listener } from './listener.js'
import { createLog, secretsOf } from './log.js'
import { Memory } from './memory.js'
import { createMetrics } from './metrics.js'
import { publicUrlOf } from './public-url.js'
import { closeDb, db } from './routes/db.js'
import { health } from './routes/health.js'
import { metrics as metricsRoute } from './routes/metrics.js'
import { PATIENCE, tile } from './routes/tile.js'
import { tilejson } from './routes/tilejson.js'
import { times } from './routes/times.js'
import { versions } from './routes/versions.js'
import { loadFiles, viewer } from './routes/viewer.js'
import { TileService } from './tiles.js'
import { Upstreams } from './upstreams.js'
import { wmts } from './wmts/index.js'

// A client waits for the answer: what does not come soon had better fail, and be asked for again.
const STORE = { retries: 3, firstDelay: 50, longestDelay: 500 }

const STOPPING = 1000 // milliseconds in which a worker is told to stop

const FOR_CLIENTS = { tile, tilejson: unlessFilling(tilejson), versions: unlessFilling(versions), times: unlessFilling(times), wmts, db, file: viewer }
const FOR_OPERATORS = { health, metrics: metricsRoute }

/** What the port for clients answers. */
const shownTo = ({ opsPort, publicMetrics }) => ({ ...FOR_CLIENTS, ...(opsPort === null && { health }), ...(publicMetrics && { metrics: metricsRoute }) })

/**
 * @typedef {object} Gateway
 * @property {string} url
 * @property {number} port
 * @property {string | null} opsUrl where /metrics and /health are, when they have a port of their own
 * @property {() => Promise<void>} close answers what is under way, then ends
 */

/**
 * @param {Record<string, any>} given options by their names in options.js; `db` names the store
 * @param {{log?: import('pino').Logger, metrics?: ReturnType<typeof createMetrics>, mirror?: import('./mirror-metrics.js').Mirroring, users?: Pick<import('./access/users.js').Users, 'mayRead'>}} [own] mirror: of an edge; users: who asks CouchDB about them
 * @returns {Promise<Gateway>}
 */
export async function startGateway (given, { log: ownLog, metrics = createMetrics(), mirror, users } = {}) {
  const options = /** @type {any} */ (resolveOptions({ flags: given }))
  const url = options.db && await resolveDatabase(options.db)
  if (!url) throw new TilecouchError('BAD_OPTION', { option: '--db', value: options.db, why: 'a gateway needs a store' })
  const log = ownLog ?? createLog({ level: options.logLevel, secrets: secretsOf({ ...options, db: url }) })
  const stopping = new AbortController()
  const cors = new Cors(options.cors, { hasPrivate: Boolean(options.privateLayers?.length) })
  const store = await openStore(url, { log, isEdge: Boolean(mirror) })
  const access = await openAccess(options, { couch: store.couch, log, users })
  const layers = new LayerBook(store, { log })
  const upstreams = new Upstreams({ layers, options, log })
  const memory = new Memory(options.memory)
  const tiles = new TileService({ store, layers, upstreams, memory, metrics, log, options })
  const ctx = {
    options,
    store,
    layers,
    tiles,
    metrics,
    mirror: mirror?.report,
    isFilling: () => mirror !== undefined && !mirror.isFilled(),
    log,
    cors,
    policy: new CachePolicy(options),
    publicUrl: publicUrlOf(options),
    signal: stopping.signal,
    patience: PATIENCE,
    answerTile: (asked, req, res) => tile(ctx, asked, req, res)
  }
  const limits = { requestTimeout: options.requestTimeout * 1000, maxConnections: options.maxConnections, connectionsEach: options.trustProxy ? 0 : options.connectionsEach } // a proxy comes for many
  const shown = shownTo(options)
  const front = new Listener(createHandler(ctx, access ? guard(access, shown) : shown), limits)
  const ops = options.opsPort !== null ? new Listener(createHandler({ ...ctx, cors: new Cors('none') }, FOR_OPERATORS), limits) : null // no page reads it

  /** @type {Promise<void> | undefined} */
  let closing
  const close = () => (closing ??= end())

  async function end () {
    stopping.abort()
    await front.close(options.grace * 1000)
    await ops?.close(0)
    await Promise.all([closeDb(ctx), tiles.close()])
    await upstreams.close()
  }

  try {
    metrics.bind({ memory, limit: options.memory, follower: () => tiles.following, upstreams: () => upstreams.states() })
    await tiles.start()
    const port = await front.listen(options.port, options.host)
    const opsPort = await ops?.listen(options.opsPort, options.opsHost)
    const gateway = { url: addressOf(options.host, port), port, opsUrl: opsPort ? addressOf(options.opsHost, opsPort) : null, close }
    log.info({ url: gateway.url, ops: gateway.opsUrl, store: store.url }, 'the gateway is up')
    // tiles do not wait for it, and who looks first need not either
    if (options.viewer) {
      loadFiles().catch(async error => {
        await pause(STOPPING, stopping.signal) // Ctrl-C ends esbuild as well, before a worker is told to stop
        if (!stopping.signal.aborted) log.error({ code: error.code, reason: error.message }, 'the viewer cannot be put together')
      })
    }
    return gateway
  } catch (error) {
    await close()
    throw error
  }
}

/** A store that does not answer yet is waited for, with a red /health; one that refuses is a mistake, and so is one that is not there, but on an edge, which makes it. */
async function openStore (url, { log, isEdge }) {
  try {
    return await Store.open(url, STORE)
  } catch (error) {
    const mayCome = isEdge && error.code === 'DATABASE_NOT_FOUND'
    if (!mayCome && error.code !== 'UNREACHABLE' && error.code !== 'BAD_ANSWER' && !(error.details?.status >= 500)) throw error
    log.warn({ code: error.code, reason: error.message }, 'the store does not answer yet')
    return new Store(new Couch(url, STORE))
  }
}

const addressOf = (host, port) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`
