// tilecouch mirror --list and --forget
import { forgetMirror, listMirrors } from '../mirror/list.js'
import { withDatabase } from './connect.js'
import { duration, plural, table } from './output.js'

/** @param {import('./program.js').Context} context @param {{db?: string, data: string, forget?: string}} options */
export const mirrorListCommand = (context, options) => withDatabase(context, options, async url => {
  const { output, signal } = context
  if (options.forget !== undefined) return forgetCommand(output, url, options.forget)
  const listed = await listMirrors(url, { signal })
  output.result(listed, describe(listed))
})

async function forgetCommand (output, url, id) {
  const forgotten = await forgetMirror(url, id)
  const other = forgotten.where.length < 2 ? ' The other side did not answer.' : ''
  output.result(forgotten, [`Forgotten: ${id}, at ${forgotten.where.join(' and ')}.${other}`])
}

/** @param {Awaited<ReturnType<typeof listMirrors>>} listed */
function describe ({ url, mirrors, unseen }) {
  const HEAD = ['BY', 'FROM', 'TO', 'PART', 'STATE', 'LAG', 'PENDING', 'RATE', 'LAST SUCCESS', 'ID']
  const address = side => side === url ? '(here)' : plainly(side)
  const rows = mirrors.map(({ by, from, to, selection, live, state, lag, pending, rate, success, id }) => [
    by,
    address(from),
    address(to),
    part(selection),
    `${plainly(state)}${live ? ', live' : ''}`,
    lag === undefined ? '?' : duration(lag),
    pending ?? '?',
    rate === undefined ? '?' : `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`,
    plainly(success ?? (by === 'couchdb' ? '?' : 'never')),
    plainly(id)
  ])
  return [
    `${url}: ${plural(mirrors.length, 'mirror')}`,
    ...(mirrors.length ? table(HEAD, rows) : []),
    ...mirrors.flatMap(notesOn),
    ...unseen.map(({ by, why }) =>
      `Mirrors by ${by === 'couchdb' ? 'CouchDB\'s replicator' : 'tilecouch'} are not listed: ${why}.`)
  ]
}

/** @param {import('../mirror/list.js').Listed} mirror @returns {string[]} */
function notesOn ({ id, by, state, seen, error, refused, refusal }) {
  const such = refusal ? `, such as ${plainly(refusal)}` : ''
  return [
    ...(error ? [plainly(error)] : []),
    ...(refused ? [`${plural(refused, 'revision')} refused${such}. ${RETRY[by]}`] : []),
    ...(ADVICE[state] ? [ADVICE[state](plainly(id), plainly(seen ?? 'long ago'))] : [])
  ].map(note => `${plainly(id)}: ${note}`)
}

const RETRY = {
  tilecouch: 'The next run tries them again; a live mirror does every minute.',
  couchdb: 'CouchDB does not try them again: run `tilecouch mirror` once between the same stores.'
}

const ADVICE = {
  dead: (id, seen) => `no heartbeat since ${seen}. Start it again, or: tilecouch mirror --forget ${id}`,
  unfinished: (id, seen) => `interrupted at ${seen}. Run it again: it goes on from there.`,
  unknown: () => 'only the other side knows, and it does not answer.'
}

/** Removes control characters from text that anybody may have written. */
const plainly = text => String(text).replace(/\p{Cc}/gu, '?')

function part (selection) {
  if (!selection) return '?'
  const { layers, bbox, polygon, zooms, current, since } = selection
  const parts = [
    ...(layers?.length ? [layers.join(' ')] : []),
    ...(bbox ? [`${polygon ? 'area in ' : ''}${bbox.join(',')}`] : []),
    ...(zooms ? [`z${zooms.min}-${zooms.max}`] : []),
    ...(current ? ['present'] : []),
    ...(since ? [`since ${since}`] : [])
  ]
  return plainly(parts.join('; ') || 'all')
}
