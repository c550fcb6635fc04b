// A gateway, by its /health and /metrics.
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { TilecouchError } from '../errors.js'
import { count, duration, plural } from '../text.js'

const MOST = 16 * 1024 * 1024 // bytes of metrics
const OPEN = 2 // of tilecouch_upstream_circuit

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const gatewayConditions = [
  { area: 'gateway', check: 'health', needs: 'anybody', look: withGateway(health) },
  { area: 'gateway', check: 'metrics', needs: 'somebody who reaches its port for monitoring', look: withGateway(metrics) }
]

/** Looks only when a gateway was named. @param {(inspection: Inspection, base: string) => Promise<Found | Found[]>} look */
function withGateway (look) {
  return async inspection => inspection.subject.gateway === undefined ? undefined : look(inspection, inspection.subject.gateway)
}

/** The URL that /health and /metrics follow. @param {string} address */
export function baseOf (address) {
  if (!/^https?:/.test(address) || !URL.canParse(address)) throw new TilecouchError('BAD_OPTION', { option: '--gateway', value: address })
  return address.replace(/\/*$/, '/')
}

async function read (inspection, url) {
  const waiting = timeoutSignal(inspection.limits.patience, inspection.signal)
  try {
    const answer = await raceAbort(fetch(url, { signal: waiting.signal }), waiting.signal)
    const text = await raceAbort(answer.text(), waiting.signal)
    return { status: answer.status, text: text.slice(0, MOST) }
  } catch {
    return { status: 0, text: '' }
  } finally {
    waiting.end()
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function health (inspection, base) {
  const { status, text } = await read(inspection, new URL('health', base))
  if (!status) return { state: 'bad', found: `${base} does not answer`, why: 'It serves nobody.', advice: 'systemctl status tilecouch; journalctl -u tilecouch' }
  let said
  try {
    said = JSON.parse(text)
  } catch {
    return { state: 'unknown', found: `${base}health answers ${status}, but is not a gateway's`, advice: 'If it has a port for monitoring (--ops-port), name that.' }
  }
  const { status: state = 'unknown', version, mirror, error } = said
  const found = `${state}, tilecouch ${version}${mirror ? `; mirror ${mirror.state}, ${mirror.lag === null ? 'never complete' : `${duration(mirror.lag)} behind`}` : ''}`
  if (state === 'ok') return { state: 'ok', found }
  return { state: 'bad', found, why: state === 'behind' ? 'It is further behind than --max-lag allows.' : `Its store does not answer${error ? ` (${error})` : ''}.`, advice: 'Check its store, and the network.' }
}

/** @returns {Promise<Found | Found[]>} */
async function metrics (inspection, base) {
  const { status, text } = await read(inspection, new URL('metrics', base))
  if (status !== 200) return { state: 'unknown', found: 'it does not show its metrics here', advice: 'Name its port for monitoring (--ops-port); without such a port it shows them with the option publicMetrics.' }
  const samples = parseMetrics(text)
  const of = name => samples.filter(sample => sample.name === name)
  const open = of('tilecouch_upstream_circuit').filter(({ value }) => value === OPEN).map(({ labels }) => labels.layer)
  const found = /** @type {Found[]} */ ([])
  if (open.length) found.push({ state: 'bad', found: `the upstream of ${open.join(', ')} is not asked for a while after failures`, why: 'Missing tiles are not fetched; expired ones are still shown.', advice: 'Check that upstream; the gateway tries it again by itself.' })
  const [follower] = of('tilecouch_follower_up')
  if (follower?.value === 0) found.push({ state: 'warning', found: 'it does not receive the changes of its store', why: 'Tiles in its memory may be old.', advice: 'See its log; it reconnects by itself.' })
  const all = of('tilecouch_requests_total').reduce((sum, { value }) => sum + value, 0)
  const failed = of('tilecouch_requests_total').filter(({ labels }) => labels.outcome === 'failed').reduce((sum, { value }) => sum + value, 0)
  if (failed > 0.01 * all) found.push({ state: 'warning', found: `${plural(failed, 'request')} of ${count(all)} failed since it was started`, why: 'That is more than one in a hundred.', advice: 'See its log.' })
  return found.length ? found : { state: 'ok', found: `${plural(all, 'request')} answered, ${count(failed)} failed` }
}

/**
 * The text format of Prometheus, one sample per line.
 * @param {string} text
 * @returns {{name: string, labels: Record<string, string>, value: number}[]}
 */
export function parseMetrics (text) {
  const samples = []
  for (const line of text.split('\n')) {
    const [, name, inner = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    if (!name) continue
    const labels = Object.fromEntries([...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text_]) => [label, text_.replace(/\\(.)/g, (_, letter) => letter === 'n' ? '\n' : letter)]))
    samples.push({ name, labels, value: value === '+Inf' ? Infinity : Number(value) })
  }
  return samples
}
