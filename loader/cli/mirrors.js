// tilecouch mirrors
import { TilecouchError } from '../../core/index.js'
import { forgetMirror, listMirrors } from '../mirror/list.js'
import { replicatorVersion, stopReplication } from '../mirror/scheduler.js'
import { Couch } from '../store/couch.js'
import { withDatabase } from './connect.js'
import { duration, plural, table } from './output.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addMirrorsCommand (program, run) {
  program.command('mirrors')
    .description('list the mirrors that a store is a source or target of: ours, and those of CouchDB\'s replicator')
    .option('--forget <id>', 'remove what a mirror of ours that is gone has written down; it would compare everything anew')
    .option('--stop <id>', 'end a replication of CouchDB: remove its document from _replicator')
    .addHelpText('after', `
Examples:
  tilecouch mirrors --db http://admin@localhost:5984/tiles
  tilecouch mirrors --stop tilecouch-c49285ff2730ff90-live

A mirror stands in both stores; a replication of CouchDB at the server that does it, which is asked as an admin.`)
    .action(run(mirrorsCommand))
}

async function mirrorsCommand (context, options) {
  const { output, signal } = context
  const { forget, stop } = options
  if (forget !== undefined && stop !== undefined) throw new TilecouchError('BAD_OPTION', { option: '--stop', value: stop, why: 'it does not go with --forget' })
  return withDatabase(context, options, async url => {
    if (forget !== undefined) return forgetCommand(output, url, forget)
    if (stop !== undefined) return stopCommand(output, url, stop)
    const listed = await listMirrors(url, { signal })
    output.result(listed, describe(listed))
  })
}

async function forgetCommand (output, url, id) {
  const forgotten = await forgetMirror(url, id)
  output.result(forgotten, [`Forgotten: ${id}, at ${forgotten.where.join(' and ')}.${forgotten.where.length < 2 ? ' The other side could not be asked.' : ''}`])
}

async function stopCommand (output, url, id) {
  const couch = new Couch(url, { retries: 2 })
  await replicatorVersion(couch)
  if (!await stopReplication(couch, id)) throw new TilecouchError('BAD_OPTION', { option: '--stop', value: id, why: `there is no such document in _replicator of ${couch.serverUrl}` })
  output.result({ stopped: [id] }, [`Stopped: ${id}. What is copied stays.`])
}

/** @param {Awaited<ReturnType<typeof listMirrors>>} listed */
function describe ({ url, mirrors, unseen }) {
  const HEAD = ['BY', 'FROM', 'TO', 'PART', 'STATE', 'LAG', 'PENDING', 'RATE', 'LAST SUCCESS', 'ID']
  const address = side => side === url ? '(here)' : plainly(side)
  const rows = mirrors.map(({ by, from, to, selection, live, state, lag, pending, rate, success, id }) => [
    by, address(from), address(to), part(selection), `${plainly(state)}${live ? ', live' : ''}`, lag === undefined ? '?' : duration(lag), pending ?? '?',
    rate === undefined ? '?' : `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`, plainly(success ?? 'never'), plainly(id)
  ])
  return [
    `${url}: ${plural(mirrors.length, 'mirror')}`,
    ...(mirrors.length ? table(HEAD, rows) : []),
    ...mirrors.filter(({ error }) => error).map(({ id, error }) => `${plainly(id)}: ${plainly(error)}`),
    ...mirrors.filter(({ refused }) => refused).map(({ id, by, refused, refusal }) => `${plainly(id)}: ${plural(refused, 'revision')} refused${refusal ? `, such as ${plainly(refusal)}` : ''}. ${TRIED[by]}`),
    ...mirrors.filter(({ state }) => ADVICE[state]).map(({ id, state, seen }) => `${plainly(id)}: ${ADVICE[state](plainly(id), plainly(seen ?? 'long ago'))}`),
    ...unseen.map(({ by, why }) => `Those of ${by === 'couchdb' ? 'CouchDB\'s replicator' : 'tilecouch'} are not listed: ${why}.`)
  ]
}

const TRIED = {
  tilecouch: 'Tried again with its next run, every minute of a live one.',
  couchdb: 'CouchDB does not try them again: run `tilecouch mirror` once between the same two.'
}

const ADVICE = {
  dead: (id, seen) => `no sign of it since ${seen}. Start it again, or: tilecouch mirrors --forget ${id}`,
  unfinished: (id, seen) => `it broke off, ${seen}. Run it again, and it goes on from there.`,
  unknown: () => 'only the other side could tell, and does not answer.'
}

/** What somebody else has written has no say over the terminal. */
const plainly = text => String(text).replace(/\p{Cc}/gu, '?')

function part (selection) {
  if (!selection) return 'a part'
  const { layers, bbox, polygon, zooms, current, since } = selection
  const said = [
    ...(layers?.length ? [layers.join(' ')] : []), ...(bbox ? [`${polygon ? 'area in ' : ''}${bbox.join(',')}`] : []),
    ...(zooms ? [`z${zooms.min}-${zooms.max}`] : []), ...(current ? ['present'] : []), ...(since ? [`since ${since}`] : [])
  ]
  return plainly(said.join('; ') || 'all')
}
