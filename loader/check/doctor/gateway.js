// Checks a gateway by its /health.
import { raceAbort, timeoutSignal } from '../../../core/promises.js'
import { isObject, jsonOf } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { duration } from '../../text.js'
import { bad, ok, unknown } from './inspection.js'

export const gatewayConditions = [
  { area: 'gateway', check: 'health', needs: 'anybody', look: checkHealth }
]

/** The URL that /health follows. @param {string} address */
export function baseOf (address) {
  if (!/^https?:/.test(address) || !URL.canParse(address)) {
    throw new TilecouchError('BAD_OPTION', { option: '--gateway', value: address, why: 'it takes an http(s) URL' })
  }
  return address.replace(/\/*$/, '/')
}

async function fetchText (inspection, url) {
  const waiting = timeoutSignal(inspection.limits.timeout, inspection.signal)
  try {
    const answer = await raceAbort(fetch(url, { signal: waiting.signal }), waiting.signal)
    const text = await raceAbort(answer.text(), waiting.signal)
    return { status: answer.status, text }
  } catch {
    return { status: 0, text: '' }
  } finally {
    waiting.end()
  }
}

/** Reports nothing unless a gateway was named. */
async function checkHealth (inspection) {
  const base = inspection.subject.gateway
  if (!base) return
  const { status, text } = await fetchText(inspection, new URL('health', base))
  if (!status) {
    return bad(`${base} does not answer`, 'It serves nobody.', 'systemctl status tilecouch; journalctl -u tilecouch')
  }
  const answer = jsonOf(text)
  if (!isObject(answer)) {
    return unknown(`${base}health answers ${status}, but is not a gateway's`,
      'If it has a port for monitoring (--ops-port), name that.')
  }
  const { status: state = 'unknown', version, mirror, error } = answer
  const lag = mirror && (mirror.lag === null ? 'never complete' : `${duration(mirror.lag)} behind`)
  const finding = `${state}, tilecouch ${version}${mirror ? `; mirror ${mirror.state}, ${lag}` : ''}`
  if (state === 'ok') return ok(finding)
  const why = state === 'behind'
    ? 'It is further behind than --max-lag allows.'
    : `Its store does not answer${error ? ` (${error})` : ''}.`
  return bad(finding, why, 'Check its store, and the network.')
}
