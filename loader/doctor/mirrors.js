// The mirrors of the store, as `tilecouch mirror --list` shows them, and what is wrong with them.
import { listMirrors } from '../mirror/list.js'
import { count, duration, plural } from '../text.js'
import { raceAbort } from '../../core/abort.js'
import { scrub } from '../../core/index.js'
import { skewOf } from './clocks.js'
import { bad, ok, unknown, warning } from './inspection.js'

export const mirrorConditions = [{ area: 'mirrors', check: 'mirrors', needs: 'a member', look: lookAtMirrors }]

const MOST_CLOCKS = 20

/** By the state of a mirror. In the advice, ID is the mirror's. @type {Record<string, [string, string, string]>} */
const FAULTS = {
  dead: ['bad', 'It has stopped without a word.', 'Start it again, or: tilecouch mirror --forget ID'],
  unfinished: ['warning', 'It stopped early: its target is incomplete.', 'Run it again: it continues.'],
  away: ['warning', 'It waits for a store that does not answer.', 'Check that store and the network.'],
  unknown: ['unknown', 'Only the other side knows, and it does not answer.', 'Look from there.'],
  crashing: ['bad', 'CouchDB tries it again at ever longer intervals.', 'See the error; often a password has changed.'],
  error: ['bad', 'CouchDB cannot even start it.', 'Correct its document in _replicator.'],
  failed: ['bad', 'CouchDB has given up.', 'Correct its document in _replicator, or delete it.']
}

async function lookAtMirrors (inspection) {
  const { signal, subject: { url, mirrors: withClocks } } = inspection
  const { mirrors, unseen } = await raceAbort(listMirrors(url, { signal }), signal)
  for (const { by, why } of unseen) {
    inspection.add('mirrors', `those of ${by === 'couchdb' ? 'CouchDB' : 'tilecouch'}`, unknown(why))
  }
  for (const mirror of mirrors) inspection.add('mirrors', nameOf(mirror), assess(inspection, mirror))
  if (withClocks) await clocks(inspection, mirrors)
  if (!mirrors.length) return ok('there are none')
}

/** Text that others wrote must not control the terminal. */
const printable = text => scrub(String(text)).replace(/\p{Cc}/gu, '?')

const nameOf = ({ role, from, to, id }) =>
  role === 'source' ? `to ${printable(to)}` : role === 'target' ? `from ${printable(from)}` : printable(id)

/** @returns {import('./inspection.js').Found} */
function assess ({ limits, clock }, /** @type {import('../mirror/list.js').Listed} */ mirror) {
  const { live, lag, pending, success, error, refused } = mirror
  const late = lag ?? (success === undefined ? undefined : Math.max(0, (clock() - Date.parse(success)) / 1000))
  const found = describe(mirror, late)
  const figures = {
    ...(lag !== undefined && { lag }), ...(pending !== undefined && { pending }), ...(refused && { refused })
  }
  const [state, why, remedy] = FAULTS[mirror.state] ?? []
  const advice = remedy?.replace('ID', printable(mirror.id)) ?? 'Check its log, and the network between the two stores.'
  const isLate = live && late !== undefined && late > limits.lag
  if (isLate && late > limits.lost) return bad(found, 'Its data is more than a day old.', advice, { figures })
  if (state) return { state: /** @type {any} */ (state), found, why, advice, figures }
  if (isLate) return warning(found, 'Its data is more than an hour old.', advice, { figures })
  if (error) return warning(found, 'An error stopped it.', advice, { figures })
  if (refused) {
    return warning(found, 'The target lacks these revisions.',
      'See the reason: often an old validation function (tilecouch push). Then run the mirror again.', { figures })
  }
  if (live && pending && pending > limits.behind) {
    return warning(found, `It has ${count(pending)} changes to copy.`,
      'It catches up by itself, unless changes come faster than it copies: see docs/mirrors.md.', { figures })
  }
  return ok(found, figures)
}

/** @param {import('../mirror/list.js').Listed} mirror @param {number | undefined} late seconds */
function describe ({ by, state, live, pending, error, refused, refusal }, late) {
  const age = late === undefined
    ? by === 'couchdb' ? 'CouchDB does not say how far behind' : 'never complete'
    : late < 60 ? 'up to date' : `complete ${duration(late)} ago`
  const example = refusal ? `, such as ${printable(refusal)}` : ''
  return [
    `${printable(state)}${live ? ', live' : ''}`,
    ...(pending ? [`${plural(pending, 'change')} behind`] : []),
    age,
    ...(error ? [printable(error)] : []),
    ...(refused ? [`${plural(refused, 'revision')} refused${example}`] : [])
  ].join('; ')
}

/** The clocks of the servers at the other ends. Anybody may have written these addresses: only the time is asked. */
async function clocks (inspection, mirrors) {
  const urls = mirrors.flatMap(({ from, to }) => [from, to]).filter(url => /^https?:/.test(url) && URL.canParse(url))
  const origins = new Set(urls.map(url => new URL(url).origin))
  origins.delete(new URL(inspection.couch.url).origin)
  await Promise.all([...origins].slice(0, MOST_CLOCKS).map(origin => {
    const check = printable(origin)
    const look = () => skewOf(inspection, origin, check).catch(() => unknown('it does not answer'))
    return inspection.look({ area: 'clocks', check, needs: 'anybody', look })
  }))
}
