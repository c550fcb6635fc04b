// Expired tiles: `tilecouch seed --expired` fetches them again, `tilecouch prune --expired` removes them, and with --dry-run
// both list them.
import { now } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { expire } from '../expired/index.js'
import { withPatientStore } from './connect.js'
import { sayStates } from './following.js'
import { timeOrAgo, wholeNumber } from './options.js'
import { bytes, count, moreLine, plural, table } from './output.js'
import { ProgressLine, reportEnd } from './progress.js'

const SHOWN = 20 // tiles listed; --limit changes that, --json has more
const RETRIES = 2 // of a request with --live: a missing store is reported soon, and waited for
const LIVE_PATIENCE = 30 // seconds for the upstream of a layer, before the others have their turn

/** @param {import('commander').Command} command */
export const addExpiredOptions = command => command
  .option('--all', 'of every layer')
  .option('--before <time>', 'with --expired: only tiles that expired before this time, such as 2024-03-01, or longer ago than 7d; with --dry-run it may be yet to come')
  .option('--limit <n>', `with --expired: at most so many tiles; with --dry-run, list so many (default: ${SHOWN})`)

/**
 * @param {import('./program.js').Context} context
 * @param {any} options
 * @param {string[]} names of layers
 * @param {Pick<import('../expired/index.js').ExpireOptions, 'action' | 'withPast' | 'purge' | 'seeding'>} action
 */
export async function expiredCommand (context, options, names, action) {
  const { output, signal } = context
  if (options.all ? names.length : !names.length) {
    throw new TilecouchError('BAD_OPTION', { option: 'LAYER', value: names.join(' '), why: 'name layers, or add --all' })
  }
  const { live = false, dryRun = false, json } = options
  const settings = {
    ...action,
    ...(live && action.seeding && { seeding: { ...action.seeding, patience: { patience: LIVE_PATIENCE } } }),
    layers: options.all ? undefined : names,
    before: options.before === undefined ? undefined : timeOrAgo(options.before),
    limit: wholeNumber('--limit', options.limit, 9) ?? (dryRun && !json ? SHOWN : undefined),
    live,
    dryRun,
    signal
  }
  return withPatientStore(context, options, async store => {
    if (live) store.couch.options.retries = RETRIES
    const progress = new ProgressLine(output)
    let listed = 0
    const tally = await reportEnd(progress, () => expire(store, {
      ...settings,
      ...(live ? following(output) : { onProgress: done => progress.draw(done.expired, undefined, () => partsOf(action.action, done)) }),
      onTile: ({ id, expires, seconds, bytes: size }) => {
        if (!listed++) output.line('expired               ago      bytes  tile')
        output.line(`${expires}  ${ago(seconds).padEnd(7)}  ${bytes(size).padStart(6)}  ${id}`)
      },
      onTrouble: error => { progress.end(); output.note(`Waiting: ${error.message}`) }
    }), (summary, seconds, ended) => report(output, summary, { ...settings, seconds, how: ended ? ` (${ended})` : '' }))
    return tally.failed + tally.refused + tally.left + tally.troubles.length ? 1 : 0
  })
}

/** `90` -> `1m 30s`; the two largest units say enough. */
function ago (seconds) {
  if (seconds < 0) return `in ${ago(-seconds)}`
  const units = /** @type {[string, number][]} */ ([['d', 86400], ['h', 3600], ['m', 60], ['s', 1]])
  const at = Math.max(0, units.findIndex(([, size]) => seconds >= size))
  let rest = seconds
  return units.slice(at, at + 2).flatMap(([unit, size]) => {
    const whole = Math.floor(rest / size)
    rest -= whole * size
    return whole ? [`${whole}${unit}`] : []
  }).join(' ') || 'now'
}

const partsOf = (action, { changed, unchanged, failed, removed, ended }) => action === 'refresh'
  ? [`${count(changed)} changed`, `${count(unchanged)} unchanged`, ...(failed ? [`${count(failed)} failed`] : [])]
  : action === 'remove' ? [`${count(removed)} removed`, `${count(ended)} gone`] : []

/** With --live: a line when something was done, and when the store goes and comes. */
function following (output) {
  const fields = ['changed', 'unchanged', 'missing', 'failed', 'removed', 'ended']
  let before = /** @type {Record<string, number>} */ ({})
  return {
    onState: sayStates(output, 'Waiting for tiles to expire.'),
    onProgress: tally => {
      const news = fields.filter(field => tally[field] > (before[field] ?? 0))
      if (news.length) output.line(`${now()}  ${news.map(field => `${count(tally[field] - (before[field] ?? 0))} ${field === 'ended' ? 'gone' : field}`).join(', ')}`)
      before = Object.fromEntries(fields.map(field => [field, tally[field]]))
    }
  }
}

function report (output, tally, { action, dryRun, live, seconds, how = '' }) {
  const would = dryRun ? 'would be ' : ''
  const layers = Object.entries(tally.layers).filter(([, { tiles }]) => tiles)
  const lines = [
    ...(tally.listed.length ? [''] : []),
    `${plural(tally.expired, 'tile')} ${tally.expired === 1 ? 'has' : 'have'} expired (${bytes(tally.bytes)})${how}`,
    ...(layers.length > 1 || dryRun ? table(['layer', 'tiles', 'size', 'first', 'last'], layers.map(([layer, { tiles, bytes: size, first, last }]) => [layer, tiles, bytes(size), first, last])).slice(layers.length ? 0 : 1).map(line => `  ${line}`) : []),
    ...(dryRun && tally.listed.length < tally.expired ? [`  ${count(tally.listed.length)} of them are listed; --limit lists more`] : []),
    ...(action === 'refresh' ? dryRun ? ['  they would be fetched again'] : refreshed(tally) : []),
    ...(action === 'remove' ? removed(tally, would) : []),
    ...(tally.gone && action !== 'refresh' ? [`  besides, ${plural(tally.gone, 'tile')} ${tally.gone === 1 ? 'is' : 'are'} gone, and may be fetched again with \`tilecouch seed --expired\``] : []),
    ...tally.skipped.map(({ layer, reason }) => `  skipped: ${layer}: ${reason}`),
    ...tally.troubles.map(({ layer, reason }) => `  given up for now: ${layer}: ${reason}`),
    ...tally.named.slice(0, SHOWN).map(({ id, what, reason }) => `  ${what}: ${id}: ${reason}`),
    ...moreLine(tally.named.length > SHOWN ? tally.failed + tally.refused : 0, SHOWN)
  ]
  output.result({ action, dryRun, live, ...tally, seconds }, lines)
}

const refreshed = ({ changed, unchanged, fresh, missing, outside, failed, left }) => [
  `  ${count(changed)} changed, ${count(unchanged)} unchanged and hold longer`,
  ...(fresh ? [`  ${count(fresh)} were fetched by another program meanwhile`] : []),
  ...(missing ? [`  ${count(missing)} stay as they are: the upstream has none any more`] : []),
  ...(outside ? [`  ${count(outside)} stay as they are: they are outside of what the upstream has`] : []),
  ...(failed ? [`  ${count(failed)} failed: run it again to try them again`] : []),
  ...(left ? [`  ${count(left)} were not fetched: run it again`] : [])
]

const removed = ({ removed: heads, versions, ended, freed, changed, refused }, would) => [
  `  ${plural(heads, 'tile')} ${would}removed (${plural(versions, 'version')}, ${bytes(freed)})`,
  ...(ended ? [`  ${plural(ended, 'tile')} with a past ${would}gone from the time they expired; their past stays`] : []),
  ...(changed ? [`  ${count(changed)} were written by another program meanwhile, and stay`] : []),
  ...(refused ? [`  ${count(refused)} refused`] : [])
]
