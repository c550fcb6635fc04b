// A gateway or an edge, as its /health and /metrics tell.
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { TilecouchError } from '../../core/index.js'
import { count, duration, plural } from '../cli/output.js'

const MOST = 16 * 1024 * 1024 // bytes of metrics
const OPEN = 2 // of tilecouch_upstream_circuit

/** What its pages stand below. @param {string} address */
export function addressOf (address) {
  if (!/^https?:/.test(address) || !URL.canParse(address)) throw new TilecouchError('BAD_OPTION', { option: '--gateway', value: address })
  return address.replace(/\/*$/, '/')
}

/** @param {import('./visit.js').Visit} visit @param {string} base of addressOf */
export async function lookAtGateway (visit, base) {
  await Promise.all([
    visit.look('gateway', 'health', 'nobody', () => health(visit, base)),
    visit.look('gateway', 'metrics', 'whoever reaches its port for monitoring', () => metrics(visit, base))
  ])
}

async function read (visit, url) {
  const waiting = timeoutSignal(visit.limits.patience, visit.signal)
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

/** @returns {Promise<import('./visit.js').Found>} */
async function health (visit, base) {
  const { status, text } = await read(visit, new URL('health', base))
  if (!status) return { state: 'bad', found: `${base} does not answer`, why: 'Nobody is served by it.', advice: 'systemctl status tilecouch; journalctl -u tilecouch' }
  let said
  try {
    said = JSON.parse(text)
  } catch {
    return { state: 'unknown', found: `${base}health answers ${status}, and is no gateway's`, advice: 'Name its port for monitoring (--ops-port) where it has one.' }
  }
  const { status: state = 'unknown', version, mirror, error } = said
  const found = `${state}, tilecouch ${version}${mirror ? `; mirror ${mirror.state}, ${mirror.lag === null ? 'never complete' : `${duration(mirror.lag)} behind`}` : ''}`
  if (state === 'ok') return { state: 'ok', found }
  return { state: 'bad', found, why: state === 'behind' ? 'It lacks more than --max-lag allows.' : `Its store does not answer${error ? ` (${error})` : ''}.`, advice: 'Look at its store, and at the line to it.' }
}

/** @returns {Promise<import('./visit.js').Found | import('./visit.js').Found[]>} */
async function metrics (visit, base) {
  const { status, text } = await read(visit, new URL('metrics', base))
  if (status !== 200) return { state: 'unknown', found: 'it does not show its metrics here', advice: 'Name its port for monitoring (--ops-port); one without such a port shows them with --public-metrics.' }
  const samples = parseMetrics(text)
  const of = name => samples.filter(sample => sample.name === name)
  const open = of('tilecouch_upstream_circuit').filter(({ value }) => value === OPEN).map(({ labels }) => labels.layer)
  const found = /** @type {import('./visit.js').Found[]} */ ([])
  if (open.length) found.push({ state: 'bad', found: `the upstream of ${open.join(', ')} is left alone after failures`, why: 'Tiles that are not in the store are not fetched; those that have expired are shown on.', advice: 'Look at that upstream; the gateway tries it again by itself.' })
  const [follower] = of('tilecouch_follower_up')
  if (follower?.value === 0) found.push({ state: 'warning', found: 'it does not hear the changes of its store', why: 'What is in its memory may be old.', advice: 'Look at the log; it connects again by itself.' })
  const all = of('tilecouch_requests_total').reduce((sum, { value }) => sum + value, 0)
  const failed = of('tilecouch_requests_total').filter(({ labels }) => labels.outcome === 'failed').reduce((sum, { value }) => sum + value, 0)
  if (failed > 0.01 * all) found.push({ state: 'warning', found: `${plural(failed, 'request')} of ${count(all)} failed since it was started`, why: 'One in a hundred is more than chance.', advice: 'Its log says why.' })
  return found.length ? found : { state: 'ok', found: `${plural(all, 'request')} answered, ${count(failed)} failed` }
}

/**
 * What Prometheus reads, one sample a line.
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
