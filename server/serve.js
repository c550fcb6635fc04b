// From options to a gateway that answers: the store it reads, one process or several, and the addresses to open.
import { TilecouchError } from '../core/index.js'
import { DEFAULT_DATABASE, resolveDatabase, withDatabase } from '../loader/couchapp/environments.js'
import { Store, publish, warmIndexes } from '../loader/index.js'
import { Couch } from '../loader/store/couch.js'
import { isPublic } from '../loader/mirror/sides.js'
import { LOOPBACK } from '../loader/this-machine.js'
import { checkNames } from './gateway/access/index.js'
import { createLog, secretsOf } from './gateway/log.js'

/**
 * @typedef {object} Serving
 * @property {string} url of the gateway, as clients reach it
 * @property {number} port
 * @property {string} viewer
 * @property {string} tiles XYZ template
 * @property {string} asOf the same at a time
 * @property {string} wmts capabilities
 * @property {string} health
 * @property {string | null} metrics null: it shows none
 * @property {string} db the store, without any password
 * @property {boolean} embedded
 * @property {number} workers
 * @property {Promise<void>} ended rejects when the gateway gives up by itself
 * @property {() => Promise<void>} close
 */

/**
 * @param {Record<string, any>} options of resolveOptions
 * @param {object} [environment]
 * @param {AbortSignal} [environment.signal]
 * @param {string[]} [environment.warnings] of the configuration, for the log
 * @param {NodeJS.ProcessEnv} [environment.env]
 * @returns {Promise<Serving>}
 */
export async function serve (options, { signal, warnings = [], env = process.env } = {}) {
  // an environment called "default" is for deploying: who serves says which, or means what is on this machine
  const named = options.db ? await resolveDatabase(options.db, { env }) : null
  const embedded = named ? null : await (await import('./up.js')).openEmbedded(options.data) // a gateway of a CouchDB need not load PouchDB
  const db = named ?? withDatabase(/** @type {string} */ (embedded?.url))
  try {
    const log = createLog({ level: options.logLevel, secrets: secretsOf({ ...options, db }) })
    for (const warning of warnings) log.warn(warning)
    if (embedded) await prepare(`${embedded.url}/${DEFAULT_DATABASE}`, signal)
    const gateway = await openGateway(options, db, { log })
    const close = async () => {
      await gateway.close()
      await embedded?.close()
    }
    if (signal?.aborted) {
      await close()
      throw new TilecouchError('ABORTED')
    }
    return { ...gateway, embedded: !named, close }
  } catch (error) {
    await embedded?.close()
    throw error
  }
}

/** An embedded store is the gateway's own: it may be new, and is asked for its history. A CouchDB belongs to its operator. */
async function prepare (url, signal) {
  const store = await Store.create(url, { public: false })
  await publish(store, { signal })
  await warmIndexes(store, { signal })
}

/**
 * One process or several, on top of a store.
 * @param {Record<string, any>} options of resolveOptions
 * @param {string} db URL
 * @param {{log: import('pino').Logger, mirror?: import('./gateway/mirror-metrics.js').Mirroring, origin?: Couch, layers?: string[]}} own of an edge: its mirror, where that comes from, and what of it
 * @returns {Promise<Omit<Serving, 'embedded'>>}
 */
export async function openGateway (options, db, own) {
  if (options.privateLayers?.length) await checkPrivate(options, db, own)
  const gateway = await start({ ...options, db }, own)
  const ended = gateway.ended ?? new Promise(() => {})
  return { ...await addresses(gateway, options, [new Couch(db, { retries: 0 }), ...(own.origin ? [own.origin] : [])], own.layers), workers: options.workers, ended, close: () => gateway.close() }
}

/** What makes private layers less private than they look: names that nothing has, and a store that everybody may read. */
async function checkPrivate (/** @type {any} */ { privateLayers, accessKeys, accessKeysFile, accessUsers }, db, /** @type {any} */ { log, mirror }) {
  if (!accessKeys && !accessKeysFile && !accessUsers) log.warn('there are private layers, and neither keys nor users that could see them')
  const couch = new Couch(db, { retries: 0 })
  try {
    await checkNames(privateLayers, couch)
    if (!LOOPBACK.test(new URL(couch.url).hostname) && await isPublic(couch)) log.warn({ store: couch.url }, 'everybody who reaches the store may read all of it: its private layers are private at this gateway only')
  } catch (error) {
    // a store that is away or yet to be filled has to be taken as it comes
    if (error.code === 'BAD_OPTION' && !mirror) throw error
    log.warn({ code: error.code, reason: error.message }, 'nobody can tell whether the private layers are there')
  }
}

/** @param {Record<string, any>} options @param {Parameters<typeof openGateway>[2]} own @returns {Promise<{url: string, port: number, opsUrl: string | null, ended?: Promise<void>, close: () => Promise<void>}>} */
async function start (options, { log, mirror }) {
  if (options.workers > 1) return (await import('./gateway/workers/index.js')).runWorkers(options, { log, mirror })
  const { startGateway } = await import('./gateway/index.js')
  if (!mirror) return startGateway(options, { log })
  const { createMetrics } = await import('./gateway/metrics.js')
  const { showMirror } = await import('./gateway/mirror-metrics.js')
  const metrics = createMetrics()
  showMirror(metrics, /** @type {any} */ (mirror.report))
  return startGateway(options, { log, metrics, mirror })
}

/** @param {{url: string, port: number, opsUrl: string | null}} gateway @param {Record<string, any>} options @param {Couch[]} couches the store first @param {string[]} [layers] */
async function addresses ({ url, port, opsUrl }, { publicUrl, publicMetrics }, couches, layers) {
  const own = url.endsWith('/') ? url : `${url}/`
  const base = publicUrl ?? own
  const { layer, format, time } = await example(couches, layers)
  return {
    url: base,
    port,
    viewer: base,
    tiles: `${base}${layer}/{z}/{x}/{y}.${format}`,
    asOf: `${base}${layer}@${time}/{z}/{x}/{y}.${format}`,
    wmts: `${base}wmts/1.0.0/WMTSCapabilities.xml`,
    health: new URL('health', opsUrl ?? own).href,
    metrics: opsUrl || publicMetrics ? new URL('metrics', opsUrl ?? own).href : null,
    db: couches[0].url
  }
}

/** A layer that is there, or is about to be, to try. The gateway also starts while its CouchDB does not answer: then no layer is known. */
async function example (couches, layers) {
  for (const couch of couches) {
    try {
      const store = new Store(couch)
      const found = (await store.layers()).find(({ layer: name }) => !layers || layers.includes(name))
      if (!found) continue
      const { layer, format = 'png' } = found
      const editions = await store.editions(layer)
      return { layer, format, time: editions[editions.length >> 1]?.time ?? 'TIME' }
    } catch {
      // the addresses are printed all the same
    }
  }
  return { layer: 'LAYER', format: 'png', time: 'TIME' }
}
