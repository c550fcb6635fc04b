// A mirror that follows its origin, and a gateway on top of it: tiles near those who want them, also while the origin is away.
import { TilecouchError } from '../core/index.js'
import { resolveDatabase, withDatabase } from '../loader/couchapp/environments.js'
import { EMBEDDED, gatewayPart, wantedOf } from './edge/options.js'
import { MirrorSupervisor } from './edge/mirror-supervisor.js'
import { createLog, secretsOf } from './gateway/log.js'
import { openGateway } from './serve.js'

/**
 * @typedef {import('./serve.js').Serving & {from: string, store: string, wanted: import('../core/mirror/selection.js').Wanted, mirror: () => import('./edge/mirror-supervisor.js').MirrorReport}} Edge
 * from, store: without any password; mirror: how it goes
 */

/**
 * Resolves when it serves what is there, be it nothing; the mirror goes on until it is closed.
 * @param {Record<string, any>} options as edgeOptions has them
 * @param {object} [environment]
 * @param {AbortSignal} [environment.signal]
 * @param {string[]} [environment.warnings] of the configuration, for the log
 * @param {NodeJS.ProcessEnv} [environment.env]
 * @param {(change: import('./edge/mirror-supervisor.js').StateChange) => void} [environment.onStateChange] told when the mirror is reading, following or away
 * @param {(report: import('./edge/mirror-supervisor.js').MirrorReport) => void} [environment.onProgress]
 * @returns {Promise<Edge>}
 */
export async function edge (options, { signal, warnings = [], env = process.env, onStateChange, onProgress } = {}) {
  if (!options.from) throw new TilecouchError('BAD_OPTION', { option: 'FROM', value: null, why: 'name the store that is to be mirrored' })
  const wanted = await wantedOf(options)
  const from = await databaseOf(options.from, env, 'TILECOUCH_FROM')
  const named = options.store && options.store !== EMBEDDED ? await databaseOf(options.store, env) : null
  const embedded = named ? null : await (await import('./up.js')).openEmbedded(options.data)
  const to = named ?? withDatabase(/** @type {string} */ (embedded?.url))
  /** @type {MirrorSupervisor | undefined} */
  let supervisor
  /** @type {Awaited<ReturnType<typeof openGateway>> | undefined} */
  let gateway
  const close = async () => {
    await Promise.all([gateway?.close(), supervisor?.close()])
    await embedded?.close()
  }
  try {
    const log = createLog({ level: options.logLevel, secrets: [from, to].flatMap(db => secretsOf({ ...options, db })) })
    for (const warning of warnings) log.warn(warning)
    supervisor = new MirrorSupervisor(from, to, { wanted, maxLag: options.maxLag, isForAll: options.public, log, onStateChange, onProgress })
    await supervisor.start(signal)
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    gateway = await openGateway(gatewayPart(options), to, { log, mirror: supervisor, origin: supervisor.isOn ? supervisor.origin : undefined, layers: wanted.layers })
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    return { ...gateway, embedded: !named, from: supervisor.origin.url, store: supervisor.store.url, wanted, mirror: supervisor.report, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Never nothing: what is named is meant. */
const databaseOf = async (name, env, side = /** @type {import('../loader/secrets.js').Side} */ ('COUCHDB')) => /** @type {string} */ (await resolveDatabase(name, { env, side }))
