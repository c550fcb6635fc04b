// `tilecouch serve`: opens the store, mirrors an origin into it with `from`, and starts the gateway on top.
//
//   const { url, close } = await serve(resolveOptions({ flags: { db: 'http://localhost:5984/tiles', port: 8080 } }))
//   const flags = { from: 'https://maps.example.org/db' }
//   const { mirror } = await serve(resolveOptions({ flags, table: mirrorOptions }))
import { ignoring, pause } from '../core/promises.js'
import { TilecouchError } from '../loader/errors.js'
import { databaseAt, resolveDatabase } from '../loader/couchapp/environments.js'
import { followed } from '../loader/cli/live.js'
import { Store, publish, warmIndexes, workDefaults } from '../loader/index.js'
import { Couch } from '../loader/store/couch.js'
import { isPublic } from '../loader/maintain/mirror/sides.js'
import { isTemporary, selectionOf } from '../loader/maintain/mirror/index.js'
import { Work } from '../loader/store/work.js'
import { LOOPBACK } from '../loader/formats/system.js'
import { EMBEDDED, gatewayPart, mirrorOnly, wantedOf } from './edge/options.js'
import { checkNames } from './gateway/access/index.js'
import { NO_EXAMPLE, exampleIn } from './example.js'
import { createLog, secretsOf } from './gateway/log.js'

const CHECKING = 1000 // milliseconds between two checks whether a store that was away is public

/** @typedef {import('./edge/mirror-supervisor.js').MirrorSupervisor} MirrorSupervisor */

/**
 * Serves a store. With `from`, resolves as soon as the gateway is up, even if the store is still empty. The mirror goes
 * on until `close`.
 * @param {Record<string, any>} options of resolveOptions
 * @param {object} [environment]
 * @param {AbortSignal} [environment.signal]
 * @param {string[]} [environment.warnings] of the configuration, for the log
 * @param {NodeJS.ProcessEnv} [environment.env]
 * @param {(change: import('./edge/mirror-supervisor.js').StateChange) => void} [environment.onStateChange] the mirror
 *   is reading, following or away
 * @param {(report: import('./edge/mirror-supervisor.js').MirrorReport) => void} [environment.onProgress]
 * @param {string[]} [environment.args] words of the command line, which an edge writes into its store
 */
export async function serve (options, environment = {}) {
  const { signal, warnings = [], env = process.env, onStateChange, onProgress, args } = environment
  if (!options.from) refuseMirrorOptions(options)
  const wanted = options.from ? await wantedOf(options) : undefined
  const from = options.from ? String(await resolveDatabase(options.from, { env, side: 'TILECOUCH_FROM' })) : undefined
  const { db, embedded } = await openDatabase(options, env)
  /** @type {MirrorSupervisor | undefined} */
  let supervisor
  /** @type {Awaited<ReturnType<typeof openGateway>> | undefined} */
  let gateway
  let work = /** @type {Work | undefined} */ (undefined)
  const close = async (error = new TilecouchError('ABORTED')) => {
    await Promise.all([gateway?.close(), supervisor?.close(), work?.end(error)])
    await embedded?.close()
  }
  try {
    const secrets = [db, from].filter(url => url !== undefined).flatMap(url => secretsOf({ ...options, db: url }))
    const log = createLog({ level: options.logLevel, secrets })
    for (const warning of warnings) log.warn(warning)
    if (from) {
      const { MirrorSupervisor } = await import('./edge/mirror-supervisor.js')
      const { maxLag, public: isForAll } = options
      const listeners = { onStateChange, onProgress }
      supervisor = new MirrorSupervisor(from, db, { wanted: wanted ?? {}, maxLag, isForAll, log, ...listeners })
      work = args === undefined ? undefined : workOf(supervisor, args)
      await supervisor.start(signal)
      throwIfAborted(signal)
    } else if (embedded) await prepare(db, signal)
    const origin = supervisor?.isOn ? supervisor.origin : undefined
    gateway = await openGateway(gatewayPart(options), db, { log, mirror: supervisor, origin, layers: wanted?.layers })
    throwIfAborted(signal)
    const ofMirror = supervisor && {
      from: supervisor.origin.url, // without a password
      store: supervisor.store.url, // without a password
      wanted,
      mirror: supervisor.report
    }
    return { ...gateway, embedded: embedded !== undefined, close: () => close(), ...ofMirror }
  } catch (error) {
    await close(error)
    throw error
  }
}

/** Refuses options of a mirror where nothing is mirrored. */
function refuseMirrorOptions (options) {
  const option = mirrorOnly.find(name => ![undefined, null, false].includes(options[name]))
  if (!option) return
  const why = 'it needs from: the store to mirror'
  throw new TilecouchError('BAD_OPTION', { option, value: options[option], why })
}

/** Resolves the database to serve. The embedded store is started unless it runs. */
async function openDatabase (options, env) {
  // without a name the embedded store is served: the environment "default" is never served by accident
  if (options.db && options.db !== EMBEDDED) return { db: String(await resolveDatabase(options.db, { env })) }
  const { openEmbedded } = await import('./up.js') // loads PouchDB
  const embedded = await openEmbedded(options.data)
  return { db: databaseAt(embedded.url), embedded }
}

/** @param {MirrorSupervisor} supervisor @param {string[]} args */
function workOf ({ origin, store, report, wanted }, args) {
  const sides = { source: origin.url, target: store.url, selection: selectionOf(wanted) }
  const look = () => {
    const { counts, pending, refused, ...status } = report()
    const about = { ...sides, tiles: counts.tiles, bytes: counts.bytes, pending, refused }
    return { done: counts.documents, failed: refused, about: followed(status, about) }
  }
  return new Work(store, { command: 'edge', args, unit: 'documents', every: workDefaults.quiet, look })
}

function throwIfAborted (signal) {
  if (signal?.aborted) throw new TilecouchError('ABORTED')
}

/** An embedded store may be new: it is created and published. A CouchDB belongs to its operator. */
async function prepare (url, signal) {
  const store = await Store.create(url, { public: false })
  await publish(store, { signal })
  await warmIndexes(store, { signal })
}

/** Starts the gateway on a store, in one process or several. mirror, origin, layers: those of an edge. */
async function openGateway (options, db, { log, mirror, origin, layers }) {
  const couch = new Couch(db, { retries: 0 })
  const stopping = new AbortController()
  if (options.privateLayers?.length) await checkPrivate(options, couch, { log, mirror })
  const isForAll = mirror || options.public || options.privateLayers?.length
  const isChecked = isForAll ? true : await checkPublic(couch)
  const gateway = await startProcesses({ ...options, db }, { log, mirror })
  const gatewayAddresses = await addressesOf(gateway, options, origin ? [couch, origin] : [couch], layers)
  const never = new Promise(() => {})
  const ended = Promise.race([gateway.ended ?? never, isChecked ? never : checkLater(couch, stopping.signal)])
  ended.catch(() => {}) // no unhandled rejection if no caller waits for it
  const close = () => {
    stopping.abort()
    return gateway.close()
  }
  return { ...gatewayAddresses, workers: options.workers, ended, close }
}

/**
 * Refuses a store that is not public, since everybody who reaches the gateway could read it.
 * @returns {Promise<boolean>} false: the store does not answer
 */
async function checkPublic (couch) {
  try {
    if (await isPublic(couch)) return true
    await couch.info() // a wrong password is another error
  } catch (error) {
    if (isTemporary(error)) return false
    throw error
  }
  throw new TilecouchError('WOULD_BE_PUBLIC', { url: couch.url, where: 'this gateway' })
}

/** Checks a store that was away at the start. @returns {Promise<never>} rejects if it is not public */
async function checkLater (couch, signal) {
  // its server may answer before its database exists
  const isChecked = () => checkPublic(couch).catch(ignoring('DATABASE_NOT_FOUND'))
  while (!signal.aborted && !await isChecked()) await pause(CHECKING, signal)
  return new Promise(() => {})
}

/** Warns about private layers that are less private than they look: unknown names, and a store that all may read. */
async function checkPrivate ({ privateLayers, accessKeys, accessKeysFile }, couch, { log, mirror }) {
  if (!accessKeys && !accessKeysFile) {
    log.info('private layers are shown to tokens of the store only: there are no keys')
  }
  try {
    await checkNames(privateLayers, couch)
    if (!LOOPBACK.test(new URL(couch.url).hostname) && await isPublic(couch)) {
      const message = 'everybody who can reach the store may read it: its layers are private only at this gateway'
      log.warn({ store: couch.url }, message)
    }
  } catch (error) {
    // the store may be away, or not filled yet
    if (error.code === 'BAD_OPTION' && !mirror) throw error
    log.warn({ code: error.code, reason: error.message }, 'cannot check whether the private layers exist')
  }
}

/** @returns {Promise<import('./gateway/index.js').Gateway & {ended?: Promise<void>}>} ended: rejects if it gives up */
async function startProcesses (options, { log, mirror }) {
  if (options.workers > 1) return (await import('./gateway/workers/index.js')).runWorkers(options, { log, mirror })
  const { startGateway } = await import('./gateway/index.js')
  return startGateway(options, { log, mirror })
}

/** Returns the addresses to print. couches: the store, then its origin. */
async function addressesOf ({ url, port, opsUrl }, { publicUrl }, couches, layers) {
  const ownUrl = url.endsWith('/') ? url : `${url}/`
  const base = publicUrl ?? ownUrl
  const { layer, format, time } = await findExample(couches, layers)
  return {
    url: base, // for clients
    port,
    viewer: base,
    tiles: `${base}${layer}/{z}/{x}/{y}.${format}`, // for XYZ clients
    asOf: `${base}${layer}@${time}/{z}/{x}/{y}.${format}`, // the same at a time
    wmts: `${base}wmts/1.0.0/WMTSCapabilities.xml`,
    health: new URL('health', opsUrl ?? ownUrl).href,
    metrics: opsUrl && new URL('metrics', opsUrl).href, // null: there are none
    db: couches[0].url // the store, without any password
  }
}

/** Finds a layer for the addresses to print. While CouchDB does not answer, none is known. */
async function findExample (couches, layers) {
  for (const couch of couches) {
    try {
      const example = await exampleIn(new Store(couch), ({ layer }) => !layers || layers.includes(layer))
      if (example) return example
    } catch {
      // the addresses are printed anyway
    }
  }
  return NO_EXAMPLE
}
