// The doctor: checks everything that can make a store fail over the years. With `fix` it repairs what can be repaired.
// Without `fix` nothing is written, no index is built, and every request has a time limit.
//
//   const { state, findings } = await doctor('http://admin@localhost:5984/tiles')
//   await doctor(url, { fix: true, cors: 'https://maps.example.org' })
import { setMaxListeners } from 'node:events'
import { STATES } from '../../../core/findings.js'
import { ignoring, timeoutSignal } from '../../../core/promises.js'
import { scrub } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { accessConditions } from './access.js'
import { databaseConditions } from './database.js'
import { diskConditions } from './disk.js'
import { baseOf, gatewayConditions } from './gateway.js'
import { indexConditions } from './indexes.js'
import { Inspection, bad, doctorDefaults, ok } from './inspection.js'
import { layerConditions } from './layers.js'
import { identify, serverConditions } from './server.js'
import { parseEmbed, parseOrigins, settingConditions } from './settings.js'

/** All conditions, in the order in which they are repaired. @type {import('./inspection.js').Condition[]} */
const conditions = [
  ...serverConditions, ...settingConditions, ...databaseConditions, ...indexConditions, ...accessConditions,
  ...diskConditions, ...layerConditions, ...gatewayConditions
]

/** Errors that make all other checks impossible. */
const HOPELESS = new Set(['UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN', 'BAD_ANSWER'])

/**
 * @typedef {Omit<import('./inspection.js').Finding, 'fix'> & {fixable?: boolean, fixed?: string}} Finding
 * fixable: --fix repairs it; fixed: the finding before the repair
 *
 * @typedef {object} Report
 * @property {string} url without a password
 * @property {string} server
 * @property {string} time of the inspection
 * @property {'ok' | 'unknown' | 'warning' | 'bad'} state the worst
 * @property {Record<'bad' | 'warning' | 'unknown' | 'ok', number>} counts
 * @property {Finding[]} findings worst first
 * @property {number} seconds it took
 *
 * @typedef {object} Options
 * @property {boolean} [fix] repair faults. Settings that other databases share change only with the next options
 * @property {string} [cors] origins, separated by commas, or `*`: pages of these may read every database of the server
 * @property {boolean} [allowViewer] browsers may run the scripts of the viewer, from every database of the server
 * @property {string} [embed] with allowViewer: origins whose pages may show the viewer in a frame, `*` or `none`
 * @property {() => number} [clock] milliseconds since 1970
 * @property {AbortSignal} [signal]
 * @property {Partial<import('./inspection.js').Limits>} [limits]
 */

/**
 * @param {string} url of a store
 * @param {Options & Omit<import('./inspection.js').Subject, 'url'>} [options]
 * @returns {Promise<Report>}
 */
export async function doctor (url, { fix = false, clock = Date.now, signal, limits: limitOptions, ...options } = {}) {
  const started = performance.now()
  const subject = {
    ...options,
    url,
    cors: options.cors === undefined ? undefined : parseOrigins(options.cors),
    embedders: parseEmbed(options.embed, Boolean(options.allowViewer)),
    gateway: options.gateway === undefined ? undefined : baseOf(options.gateway)
  }
  const limits = { ...doctorDefaults, ...limitOptions }
  const fixed = fix ? await repair(() => new Inspection(subject, { limits, clock, signal })) : new Map()
  const waiting = timeoutSignal(limits.whole, signal)
  setMaxListeners(0, waiting.signal) // every request adds a listener
  const inspection = new Inspection(subject, { limits, clock, signal: waiting.signal })
  let server = 'unknown'
  try {
    server = await identify(inspection)
    const hasDatabase = await inspection.info().catch(ignoring('DATABASE_NOT_FOUND'))
    const possible = conditions.filter(condition => hasDatabase || condition.server)
    await Promise.all(possible.map(condition => inspection.look(condition)))
  } catch (error) {
    if (signal?.aborted || !HOPELESS.has(error.code)) throw error
    const why = `Nothing else can be checked${error.code === 'UNREACHABLE' ? ', and nobody is served' : ''}.`
    inspection.add('server', 'answer', bad(error.message, why, error.advice))
  } finally {
    waiting.end()
  }
  if (signal?.aborted) throw new TilecouchError('ABORTED')
  for (const [name, [area, check]] of fixed) {
    if (inspection.findings.every(finding => nameOf(finding) !== name)) inspection.add(area, check, ok('fixed'))
  }
  const worstFirst = STATES.flatMap(state => inspection.findings.filter(finding => finding.state === state))
  const findings = worstFirst.map(finding => publicFinding(finding, fixed))
  const countsByState = STATES.map(state => [state, findings.filter(finding => finding.state === state).length])
  return {
    url: scrub(inspection.couch.url),
    server,
    time: inspection.now,
    state: findings[0]?.state ?? 'unknown',
    counts: /** @type {any} */ (Object.fromEntries(countsByState)),
    findings,
    seconds: +((performance.now() - started) / 1000).toFixed(3)
  }
}

/**
 * Repairs one condition after the other: a later one may depend on an earlier one.
 * @param {() => Inspection} inspect
 * @returns {Promise<Map<string, [area: string, check: string, before: string]>>} before: the former finding
 */
async function repair (inspect) {
  const fixed = new Map()
  for (const condition of conditions.filter(({ fixable }) => fixable)) {
    const inspection = inspect()
    await identify(inspection)
    await inspection.look(condition)
    for (const { area, check, found, fix } of inspection.findings) {
      if (!fix) continue
      await fix()
      fixed.set(nameOf({ area, check }), [area, check, found])
    }
  }
  return fixed
}

const nameOf = ({ area, check }) => `${area} ${check}`

/** @param {import('./inspection.js').Finding} finding @returns {Finding} */
function publicFinding ({ fix, ...finding }, fixed) {
  const [, , before] = finding.state === 'ok' ? fixed.get(nameOf(finding)) ?? [] : []
  return { ...finding, ...(fix && { fixable: true }), ...(before !== undefined && { fixed: before }) }
}
