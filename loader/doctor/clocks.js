// Clocks. Whoever stores a tile says when, by his own; whoever serves it says by his own whether it has expired.
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { toSeconds } from '../../core/index.js'
import { count, duration, plural } from '../cli/output.js'

const WHY = 'Tiles expire too early or never, a load of today lands before or after what is there, and the heads of masters are decided by the wrong clock.'

/** @param {import('./visit.js').Visit} visit */
export async function lookAtClocks (visit) {
  await Promise.all([
    visit.look('clocks', 'server', 'nobody', () => skewOf(visit, visit.couch.serverUrl, 'the server')),
    visit.look('clocks', 'writers', 'a member', () => writers(visit))
  ])
}

/**
 * How far another clock is from the one here. It says whole seconds, so that less than one is none.
 * @param {import('./visit.js').Visit} visit @param {string} url @param {string} who
 * @returns {Promise<import('./visit.js').Found>}
 */
export async function skewOf (visit, url, who) {
  const { skew, wrong } = visit.limits
  const seconds = await measure(visit, url)
  if (seconds === undefined) return { state: 'unknown', found: `${who} does not say what time it has` }
  const off = Math.abs(seconds)
  const figures = { skew: seconds }
  if (off <= skew) return { state: 'ok', found: off <= 1 ? 'as here, to the second' : `${off.toFixed(1)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine`, figures }
  return {
    state: off > wrong ? 'bad' : 'warning',
    found: `${who} is ${off < 120 ? `${Math.round(off)} s` : duration(off)} ${seconds > 0 ? 'ahead of' : 'behind'} this machine`,
    why: WHY, advice: 'Let both keep time by NTP (chrony, systemd-timesyncd), and look which one is wrong.', figures
  }
}

/** Seconds that a server is ahead: what it said, against the middle of the request. A name and password are not sent for that. */
async function measure (visit, url) {
  const waiting = timeoutSignal(visit.limits.patience, visit.signal)
  const sent = visit.clock()
  try {
    const answer = await raceAbort(fetch(url, { method: 'HEAD', redirect: 'manual', signal: waiting.signal }), waiting.signal)
    const received = visit.clock()
    const said = Date.parse(answer.headers.get('date') ?? '')
    if (Number.isNaN(said)) return undefined
    // it means any moment of that second
    const [least, most] = [said - received, said + 999 - sent]
    return (least > 0 ? least : most < 0 ? most : 0) / 1000
  } finally {
    waiting.end()
  }
}

/** What the newest changes say of the clocks of those who wrote them. @returns {Promise<import('./visit.js').Found>} */
async function writers (visit) {
  const { changes, skew, wrong } = visit.limits
  const { results } = await visit.couch.changes({ descending: true, limit: changes, include_docs: true })
  const here = visit.clock() / 1000
  const early = results.map(({ doc }) => doc).filter(doc => doc?.type === 'tile' && typeof doc.stored === 'string' && toSeconds(doc.stored) - here > skew)
  if (!early.length) return { state: 'ok', found: 'none ahead' }
  const most = Math.max(...early.map(({ stored }) => toSeconds(stored) - here))
  return {
    state: most > wrong ? 'bad' : 'warning',
    found: `${count(early.length)} of the ${plural(results.length, 'newest change')} say they were stored up to ${duration(most)} from now (${early[0]._id})`,
    why: WHY, advice: 'Set the clock of the machine that loads; what it wrote is right again when that time has come.',
    figures: { ahead: most }
  }
}
