// A gateway, by its /health and /metrics.
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { TilecouchError } from '../errors.js'
import { count, duration, plural } from '../text.js'
import { bad, ok, unknown, warning } from './inspection.js'

const MOST = 16 * 1024 * 1024 // bytes of metrics
const OPEN = 2 // of tilecouch_upstream_circuit

export const gatewayConditions = [
  { area: 'gateway', check: 'health', needs: 'anybody', look: ifNamed(health) },
  { area: 'gateway', check: 'metrics', needs: 'somebody who reaches its port for monitoring', look: ifNamed(metrics) }
]

/** Looks only when a gateway was named. */
function ifNamed (look) {
  return async inspection => {
    const { gateway } = inspection.subject
    return gateway && look(inspection, gateway)
  }
}

/** The URL that /health and /metrics follow. @param {string} address */
export function baseOf (address) {
  if (!/^https?:/.test(address) || !URL.canParse(address)) {
    throw new TilecouchError('BAD_OPTION', { option: '--gateway', value: address, why: 'it takes an http(s) URL' })
  }
  return address.replace(/\/*$/, '/')
}

async function read (inspection, url) {
  const waiting = timeoutSignal(inspection.limits.timeout, inspection.signal)
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

async function health (inspection, base) {
  const { status, text } = await read(inspection, new URL('health', base))
  if (!status) {
    return bad(`${base} does not answer`, 'It serves nobody.', 'systemctl status tilecouch; journalctl -u tilecouch')
  }
  let answer
  try {
    answer = JSON.parse(text)
  } catch {
    return unknown(`${base}health answers ${status}, but is not a gateway's`,
      'If it has a port for monitoring (--ops-port), name that.')
  }
  const { status: state = 'unknown', version, mirror, error } = answer
  const lag = mirror && (mirror.lag === null ? 'never complete' : `${duration(mirror.lag)} behind`)
  const found = `${state}, tilecouch ${version}${mirror ? `; mirror ${mirror.state}, ${lag}` : ''}`
  if (state === 'ok') return ok(found)
  const why = state === 'behind'
    ? 'It is further behind than --max-lag allows.'
    : `Its store does not answer${error ? ` (${error})` : ''}.`
  return bad(found, why, 'Check its store, and the network.')
}

async function metrics (inspection, base) {
  const { status, text } = await read(inspection, new URL('metrics', base))
  if (status !== 200) {
    return unknown('it does not show its metrics here',
      'Name its port for monitoring (--ops-port).')
  }
  const samples = parseMetrics(text)
  const valuesOf = name => samples.filter(sample => sample.name === name)
  const sum = list => list.reduce((total, { value }) => total + value, 0)
  const found = []
  const circuits = valuesOf('tilecouch_upstream_circuit')
  const open = circuits.filter(({ value }) => value === OPEN).map(({ labels }) => labels.layer)
  if (open.length) {
    found.push(bad(`the upstream of ${open.join(', ')} is not asked for a while after failures`,
      'Missing tiles are not fetched; expired ones are still shown.',
      'Check that upstream; the gateway tries it again by itself.'))
  }
  const [follower] = valuesOf('tilecouch_follower_up')
  if (follower?.value === 0) {
    found.push(warning('it does not receive the changes of its store', 'Tiles in its memory may be old.',
      'See its log; it reconnects by itself.'))
  }
  const requests = valuesOf('tilecouch_requests_total')
  const [all, failed] = [sum(requests), sum(requests.filter(({ labels }) => labels.outcome === 'failed'))]
  if (failed > 0.01 * all) {
    found.push(warning(`${plural(failed, 'request')} of ${count(all)} failed since it was started`,
      'That is more than one in a hundred.', 'See its log.'))
  }
  return found.length ? found : ok(`${plural(all, 'request')} answered, ${count(failed)} failed`)
}

/** Parses the text format of Prometheus, one sample per line. @param {string} text */
function parseMetrics (text) {
  const samples = []
  for (const line of text.split('\n')) {
    const [, name, inner = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    if (!name) continue
    const plain = escaped => escaped.replace(/\\(.)/g, (_, letter) => letter === 'n' ? '\n' : letter)
    const pairs = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, escaped]) => [label, plain(escaped)])
    samples.push({ name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Infinity : Number(value) })
  }
  return samples
}
