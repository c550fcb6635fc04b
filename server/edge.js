// A mirror that follows its origin, and a gateway on top of it: tiles near those who want them, also while the origin is away.
import { TilecouchError } from '../core/index.js'
import { resolveDatabase, withDatabase } from '../loader/couchapp/environments.js'
import { EMBEDDED, gatewayPart, wantedOf } from './edge/options.js'
import { Keeper } from './edge/keeper.js'
import { createLog, secretsOf } from './gateway/log.js'
import { openGateway } from './serve.js'

/**
 * @typedef {import('./serve.js').Serving & {from: string, store: string, wanted: import('../core/mirror/selection.js').Wanted, mirror: () => import('./edge/keeper.js').MirrorReport}} Edge
 * from, store: without any password; mirror: how it goes
 */

/**
 * Resolves when it serves what is there, be it nothing; the mirror goes on until it is closed.
 * @param {Record<string, any>} options as edgeOptions has them
 * @param {object} [environment]
 * @param {AbortSignal} [environment.signal]
 * @param {string[]} [environment.warnings] of the configuration, for the log
 * @param {NodeJS.ProcessEnv} [environment.env]
 * @param {(turn: import('./edge/keeper.js').Turn) => void} [environment.onTurn] told when the mirror is reading, following or away
 * @param {(report: import('./edge/keeper.js').MirrorReport) => void} [environment.onProgress]
 * @returns {Promise<Edge>}
 */
export async function edge (options, { signal, warnings = [], env = process.env, onTurn, onProgress } = {}) {
  if (!options.from) throw new TilecouchError('BAD_OPTION', { option: 'FROM', value: null, why: 'name the store that is to be mirrored' })
  const wanted = await wantedOf(options)
  const from = await databaseOf(options.from, env, 'TILECOUCH_FROM')
  const named = options.store && options.store !== EMBEDDED ? await databaseOf(options.store, env) : null
  const embedded = named ? null : await (await import('./up.js')).openEmbedded(options.data)
  const to = named ?? withDatabase(/** @type {string} */ (embedded?.url))
  /** @type {Keeper | undefined} */
  let keeper
  /** @type {Awaited<ReturnType<typeof openGateway>> | undefined} */
  let gateway
  const close = async () => {
    await Promise.all([gateway?.close(), keeper?.close()])
    await embedded?.close()
  }
  try {
    const log = createLog({ level: options.logLevel, secrets: [from, to].flatMap(db => secretsOf({ ...options, db })) })
    for (const warning of warnings) log.warn(warning)
    keeper = new Keeper(from, to, { wanted, maxLag: options.maxLag, isForAll: options.public, log, onTurn, onProgress })
    await keeper.start(signal)
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    gateway = await openGateway(gatewayPart(options), to, { log, mirror: keeper, origin: keeper.isOn ? keeper.origin : undefined, layers: wanted.layers })
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    return { ...gateway, embedded: !named, from: keeper.origin.url, store: keeper.store.url, wanted, mirror: keeper.report, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Never nothing: what is named is meant. */
const databaseOf = async (name, env, side = /** @type {import('../loader/secrets.js').Side} */ ('COUCHDB')) => /** @type {string} */ (await resolveDatabase(name, { env, side }))
