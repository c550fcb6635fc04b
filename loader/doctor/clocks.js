// Clocks: the writer's clock says when a tile was stored, the server's clock whether it has expired.
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { toSeconds } from '../../core/index.js'
import { count, duration, plural } from '../text.js'
import { bad, ok, unknown, warning } from './inspection.js'

export const clockConditions = [
  {
    area: 'clocks', check: 'server', needs: 'anybody',
    look: inspection => skewOf(inspection, inspection.couch.serverUrl, 'the server')
  },
  { area: 'clocks', check: 'writers', needs: 'a member', look: writers }
]

const WHY = 'Tiles expire too early or never, a load of today is stored before or after older ones, ' +
  'and the wrong clock decides which version is the head.'

/**
 * How far another clock is from this one. HTTP dates are whole seconds, so less than one second counts as none.
 * @param {import('./inspection.js').Inspection} inspection @param {string} url @param {string} who
 */
export async function skewOf (inspection, url, who) {
  const { skew, wrong } = inspection.limits
  const seconds = await measure(inspection, url)
  if (seconds === undefined) return unknown(`${who} does not send its time`)
  const off = Math.abs(seconds)
  const figures = { skew: seconds }
  const way = `${seconds > 0 ? 'ahead of' : 'behind'} this machine`
  if (off <= skew) return ok(off <= 1 ? 'the same' : `${off.toFixed(1)} s ${way}`, figures)
  const found = `${who} is ${off < 120 ? `${Math.round(off)} s` : duration(off)} ${way}`
  return (off > wrong ? bad : warning)(found, WHY, 'Set both clocks by NTP (chrony, systemd-timesyncd).', { figures })
}

/** Seconds that a server is ahead. No name and password are sent. */
async function measure (inspection, url) {
  const waiting = timeoutSignal(inspection.limits.timeout, inspection.signal)
  const sent = inspection.clock()
  try {
    const { signal } = waiting
    const answer = await raceAbort(fetch(url, { method: 'HEAD', redirect: 'manual', signal }), signal)
    const received = inspection.clock()
    const date = Date.parse(answer.headers.get('date') ?? '')
    if (Number.isNaN(date)) return undefined
    // the date may be any moment of that second
    const [least, most] = [date - received, date + 999 - sent]
    return (least > 0 ? least : most < 0 ? most : 0) / 1000
  } finally {
    waiting.end()
  }
}

/** Whether the newest changes were stored by a clock that is ahead. */
async function writers (inspection) {
  const { changes, skew, wrong } = inspection.limits
  const { results } = await inspection.couch.changes({ descending: true, limit: changes, include_docs: true })
  const ahead = ({ stored }) => toSeconds(stored) - inspection.clock() / 1000
  const early = results.map(({ doc }) => doc)
    .filter(doc => doc?.type === 'tile' && typeof doc.stored === 'string' && ahead(doc) > skew)
  if (!early.length) return ok('none ahead')
  const most = Math.max(...early.map(ahead))
  return (most > wrong ? bad : warning)(
    `${count(early.length)} of the ${plural(results.length, 'newest change')} were stored up to ${duration(most)} ` +
      `from now (${early[0]._id})`,
    WHY, 'Set the clock of the machine that loads. Its tiles are right again once that time has come.',
    { figures: { ahead: most } })
}
