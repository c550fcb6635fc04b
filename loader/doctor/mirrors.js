// The mirrors of the store, as `tilecouch mirror --list` shows them, and what is wrong with them.
import { listMirrors } from '../mirror/list.js'
import { count, duration, plural } from '../text.js'
import { raceAbort } from '../../core/abort.js'
import { scrub } from '../../core/index.js'
import { skewOf } from './clocks.js'

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const mirrorConditions = [{ area: 'mirrors', check: 'mirrors', needs: 'a member', look: lookAtMirrors }]

const MOST_CLOCKS = 20

/** States that mean that something is wrong. */
const FAULTS = {
  dead: { state: 'bad', why: 'It has stopped without a word.', advice: id => `Start it again, or: tilecouch mirror --forget ${id}` },
  unfinished: { state: 'warning', why: 'It stopped early: its target is incomplete.', advice: () => 'Run it again: it continues.' },
  away: { state: 'warning', why: 'It waits for a store that does not answer.', advice: () => 'Check that store and the network.' },
  unknown: { state: 'unknown', why: 'Only the other side knows, and it does not answer.', advice: () => 'Look from there.' },
  crashing: { state: 'bad', why: 'CouchDB tries it again at ever longer intervals.', advice: () => 'See the error; often a password has changed.' },
  error: { state: 'bad', why: 'CouchDB cannot even start it.', advice: () => 'Correct its document in _replicator.' },
  failed: { state: 'bad', why: 'CouchDB has given up.', advice: () => 'Correct its document in _replicator, or delete it.' }
}

/** @param {Inspection} inspection @returns {Promise<Found | void>} */
async function lookAtMirrors (inspection) {
  const { signal, subject: { url, mirrors: withClocks } } = inspection
  const { mirrors, unseen } = await raceAbort(listMirrors(url, { signal }), signal)
  for (const { by, why } of unseen) inspection.add('mirrors', `those of ${by === 'couchdb' ? 'CouchDB' : 'tilecouch'}`, { state: 'unknown', found: why })
  for (const mirror of mirrors) inspection.add('mirrors', name(mirror), assess(inspection, mirror))
  if (withClocks) await clocks(inspection, mirrors)
  if (!mirrors.length) return { state: 'ok', found: 'there are none' }
}

/** Text that others wrote must not control the terminal. */
const printable = text => scrub(String(text)).replace(/\p{Cc}/gu, '?')

const name = ({ role, from, to, id }) => role === 'source' ? `to ${printable(to)}` : role === 'target' ? `from ${printable(from)}` : printable(id)

/** @param {Inspection} inspection @param {import('../mirror/list.js').Listed} mirror @returns {Found} */
function assess ({ limits, clock }, { id, by, state, live, lag, pending, success, error, refused, refusal }) {
  const fault = FAULTS[state]
  const age = success === undefined ? undefined : Math.max(0, (clock() - Date.parse(success)) / 1000)
  const late = lag ?? age
  const said = [
    `${printable(state)}${live ? ', live' : ''}`,
    ...(pending ? [`${plural(pending, 'change')} behind`] : []),
    late === undefined ? by === 'couchdb' ? 'CouchDB does not say how far behind' : 'never complete' : late < 60 ? 'up to date' : `complete ${duration(late)} ago`,
    ...(error ? [printable(error)] : []),
    ...(refused ? [`${plural(refused, 'revision')} refused${refusal ? `, such as ${printable(refusal)}` : ''}`] : [])
  ]
  const figures = { ...(lag !== undefined && { lag }), ...(pending !== undefined && { pending }), ...(refused && { refused }) }
  const found = said.join('; ')
  const isLate = live && late !== undefined && late > limits.lag
  if (isLate && late > limits.lost) return { state: 'bad', found, why: 'Its data is more than a day old.', advice: fault?.advice(printable(id)) ?? 'Check its log, and the network between the two stores.', figures }
  if (fault) return { state: fault.state, found, why: fault.why, advice: fault.advice(printable(id)), figures }
  if (isLate || error) return { state: 'warning', found, why: isLate ? 'Its data is more than an hour old.' : 'An error stopped it.', advice: 'Check its log, and the network between the two stores.', figures }
  if (refused) return { state: 'warning', found, why: 'The target lacks these revisions.', advice: 'See the reason: often an old validation function (tilecouch push). Then run the mirror again.', figures }
  if (live && pending && pending > limits.behind) return { state: 'warning', found, why: `It has ${count(pending)} changes to copy.`, advice: 'It catches up by itself, unless changes come faster than it copies: see docs/mirrors.md.', figures }
  return { state: 'ok', found, figures }
}

/** The clocks of the servers at the other ends. Anybody may have written these addresses: only the time is asked. */
async function clocks (inspection, mirrors) {
  const origins = new Set(mirrors.flatMap(({ from, to }) => [from, to]).filter(address => /^https?:/.test(address) && URL.canParse(address)).map(address => new URL(address).origin))
  origins.delete(new URL(inspection.couch.url).origin)
  await Promise.all([...origins].slice(0, MOST_CLOCKS).map(origin => inspection.look({ area: 'clocks', check: printable(origin), needs: 'anybody', look: async () => {
    try {
      return await skewOf(inspection, origin, printable(origin))
    } catch {
      return { state: 'unknown', found: 'it does not answer' }
    }
  } })))
}
