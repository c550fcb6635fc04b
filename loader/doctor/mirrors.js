// The mirrors of the store, as `tilecouch mirror --list` lists them, and what is wrong with them.
import { listMirrors } from '../mirror/list.js'
import { count, duration, plural } from '../cli/output.js'
import { raceAbort } from '../../core/abort.js'
import { scrub } from '../../core/index.js'
import { skewOf } from './clocks.js'

const MOST_CLOCKS = 20

/** States that say by themselves that something is wrong. */
const ILL = {
  dead: { state: 'bad', why: 'It follows no more, and says nothing.', advice: id => `Start it again, or: tilecouch mirror --forget ${id}` },
  unfinished: { state: 'warning', why: 'It broke off: its target is a part of what it should be.', advice: () => 'Run it again; it goes on from there.' },
  away: { state: 'warning', why: 'It waits for a store that does not answer.', advice: () => 'Look at that store, and at the line to it.' },
  unknown: { state: 'unknown', why: 'Only the other side could tell, and does not answer.', advice: () => 'Look from there.' },
  crashing: { state: 'bad', why: 'CouchDB tries it again at ever longer intervals.', advice: () => 'The error says why; a password that changed, mostly.' },
  error: { state: 'bad', why: 'CouchDB cannot even start it.', advice: () => 'Mend its document in _replicator.' },
  failed: { state: 'bad', why: 'CouchDB has given it up.', advice: () => 'Repair its document in _replicator, or remove it.' }
}

/** @param {import('./visit.js').Visit} visit @param {{mirrors: boolean, url: string}} options */
export async function lookAtMirrors (visit, { mirrors: deep, url }) {
  await visit.look('mirrors', 'mirrors', 'a member', async () => {
    const { mirrors, unseen } = await raceAbort(listMirrors(url, { signal: visit.signal }), visit.signal)
    for (const { by, why } of unseen) visit.add('mirrors', `those of ${by === 'couchdb' ? 'CouchDB' : 'tilecouch'}`, { state: 'unknown', found: why })
    for (const mirror of mirrors) visit.add('mirrors', name(mirror), judge(visit, mirror))
    if (deep) await clocks(visit, mirrors)
    if (!mirrors.length) return { state: 'ok', found: 'there are none' }
  })
}

/** What somebody else has written has no say over the terminal. */
const plainly = text => scrub(String(text)).replace(/\p{Cc}/gu, '?')

const name = ({ role, from, to, id }) => role === 'source' ? `to ${plainly(to)}` : role === 'target' ? `from ${plainly(from)}` : plainly(id)

/** @param {import('./visit.js').Visit} visit @param {import('../mirror/list.js').Listed} mirror @returns {import('./visit.js').Found} */
function judge ({ limits, clock }, { id, by, state, live, lag, pending, success, error, refused, refusal }) {
  const ill = ILL[state]
  const age = success === undefined ? undefined : Math.max(0, (clock() - Date.parse(success)) / 1000)
  const late = lag ?? age
  const said = [
    `${plainly(state)}${live ? ', live' : ''}`,
    ...(pending ? [`${plural(pending, 'change')} behind`] : []),
    late === undefined ? by === 'couchdb' ? 'CouchDB does not say how far behind' : 'never complete' : late < 60 ? 'up to date' : `complete ${duration(late)} ago`,
    ...(error ? [plainly(error)] : []),
    ...(refused ? [`${plural(refused, 'revision')} refused${refusal ? `, such as ${plainly(refusal)}` : ''}`] : [])
  ]
  const figures = { ...(lag !== undefined && { lag }), ...(pending !== undefined && { pending }), ...(refused && { refused }) }
  const found = said.join('; ')
  const isLate = live && late !== undefined && late > limits.lag
  if (isLate && late > limits.lost) return { state: 'bad', found, why: 'What it serves is more than a day old.', advice: ill?.advice(plainly(id)) ?? 'Look at its log, and at the line between the two stores.', figures }
  if (ill) return { state: ill.state, found, why: ill.why, advice: ill.advice(plainly(id)), figures }
  if (isLate || error) return { state: 'warning', found, why: isLate ? 'What it serves is more than an hour old.' : 'Something kept it from going on.', advice: 'Look at its log, and at the line between the two stores.', figures }
  if (refused) return { state: 'warning', found, why: 'The target lacks what it refused.', advice: 'The reason says what is in the way: an old validation, most often (tilecouch push). Then run the mirror again.', figures }
  if (live && pending && pending > limits.behind) return { state: 'warning', found, why: `It has ${count(pending)} changes to carry.`, advice: 'It catches up by itself, unless more comes than it carries: see docs/mirrors.md.', figures }
  return { state: 'ok', found, figures }
}

/** The machines at the other ends, each once. Anybody may have written these addresses: nothing but the time is asked there. */
async function clocks (visit, mirrors) {
  const origins = new Set(mirrors.flatMap(({ from, to }) => [from, to]).filter(address => /^https?:/.test(address) && URL.canParse(address)).map(address => new URL(address).origin))
  origins.delete(new URL(visit.couch.url).origin)
  await Promise.all([...origins].slice(0, MOST_CLOCKS).map(origin => visit.look('clocks', plainly(origin), 'nobody', async () => {
    try {
      return await skewOf(visit, origin, plainly(origin))
    } catch {
      return { state: 'unknown', found: 'it does not answer' }
    }
  })))
}
