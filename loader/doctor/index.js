// Everything that makes a store ill over years, looked at once. Nothing is written, no index is built, every request has an end.
import { setMaxListeners } from 'node:events'
import { TilecouchError, scrub } from '../../core/index.js'
import { timeoutSignal } from '../../core/abort.js'
import { LookingCouch } from './couch.js'
import { lookAtServer, welcome } from './server.js'
import { lookAtSettings } from './settings.js'
import { lookAtDatabase } from './database.js'
import { lookAtDoor } from './door.js'
import { lookAtIndexes } from './indexes.js'
import { lookAtDisk } from './disk.js'
import { lookAtClocks } from './clocks.js'
import { lookAtMirrors } from './mirrors.js'
import { lookAtLayers } from './layers.js'
import { addressOf, lookAtGateway } from './gateway.js'
import { doctorDefaults } from './limits.js'
import { STATES, Visit, worstFirst } from './visit.js'

export { doctorDefaults } from './limits.js'

const LOOKS = [lookAtServer, lookAtSettings, lookAtDoor, lookAtDatabase, lookAtIndexes, lookAtDisk, lookAtClocks, lookAtMirrors, lookAtLayers]

/** What says everything of a server that there is to say. */
const HOPELESS = new Set(['UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN', 'DATABASE_NOT_FOUND', 'BAD_ANSWER'])

/**
 * @typedef {import('./visit.js').Finding} Finding
 *
 * @typedef {object} Report
 * @property {string} url without any password
 * @property {string} server
 * @property {string} time of the look
 * @property {'ok' | 'unknown' | 'warning' | 'bad'} state the worst
 * @property {Record<'bad' | 'warning' | 'unknown' | 'ok', number>} counts
 * @property {Finding[]} findings worst first
 * @property {number} seconds it took
 */

/**
 * @param {string} url of a store
 * @param {object} [options]
 * @param {boolean} [options.mirrors] asks the stores at the other end of its mirrors, too: their clocks
 * @param {string} [options.gateway] address of a gateway or of its port for monitoring
 * @param {string} [options.folder] of the embedded store
 * @param {import('../couchapp/compose.js').DesignDocument[]} [options.docs] that should be deployed, unless this program's own
 * @param {() => number} [options.clock] milliseconds since 1970
 * @param {AbortSignal} [options.signal]
 * @param {Partial<import('./limits.js').Limits>} [options.limits]
 * @returns {Promise<Report>}
 */
export async function doctor (url, { mirrors = false, gateway, folder, docs, clock = Date.now, signal, limits: given } = {}) {
  const started = performance.now()
  const base = gateway === undefined ? undefined : addressOf(gateway)
  const limits = { ...doctorDefaults, ...given }
  const waiting = timeoutSignal(limits.whole, signal)
  setMaxListeners(0, waiting.signal) // every request listens
  const couch = new LookingCouch(url, { patience: limits.patience, signal: waiting.signal })
  const visit = new Visit(couch, { limits, signal: waiting.signal, clock, folder })
  let server = 'unknown'
  try {
    server = await welcome(visit)
    await visit.info()
    await Promise.all([
      ...LOOKS.map(look => look(visit, { mirrors, url, docs })),
      ...(base === undefined ? [] : [lookAtGateway(visit, base)])
    ])
  } catch (error) {
    if (signal?.aborted || !HOPELESS.has(error.code)) throw error
    visit.add('server', 'answer', { state: 'bad', found: error.message, why: `Nothing else can be looked at${error.code === 'UNREACHABLE' ? ', and nobody is served' : ''}.`, ...(error.advice && { advice: error.advice }) })
  } finally {
    waiting.end()
  }
  if (signal?.aborted) throw new TilecouchError('ABORTED')
  const findings = worstFirst(visit.findings)
  return {
    url: scrub(couch.url),
    server,
    time: visit.now,
    state: findings[0]?.state ?? 'unknown',
    counts: /** @type {any} */ (Object.fromEntries(STATES.map(state => [state, findings.filter(finding => finding.state === state).length]))),
    findings,
    seconds: +((performance.now() - started) / 1000).toFixed(3)
  }
}
