// Expired tiles: `tilecouch seed --expired` fetches them again, `tilecouch prune --expired` removes them, and with
// --dry-run both list them.
import { now } from '../../core/index.js'
import { recordRemoval } from '../store/activity.js'
import { expire } from '../maintain/expired/index.js'
import { confirmation } from './passwords.js'
import { withPatientStore, withWork } from './store.js'
import { refuse, timeOrAgo } from './options.js'
import { BLANK, bytes, count, countWords, moreLine, plural, table } from './output.js'
import { ProgressLine, reportEnd, reportStates } from './progress.js'

const SHOWN = 20 // tiles listed; --limit changes that, --json has more
const LIVE_GIVES_UP = 30 // seconds for the upstream of a layer, before the others have their turn

/** @type {import('./command.js').DeclaredOption[]} */
export const expiredOptions = [
  '--all',
  ['--before <time>', 'with --expired: only tiles that expired before this time, such as 2024-03-01, or longer ' +
    'ago than 7d; with --dry-run also a time to come', { read: timeOrAgo }],
  ['--limit <n>', `with --expired: at most so many tiles; with --dry-run, list so many (default: ${SHOWN})`,
    { digits: 9 }]
]

/**
 * @typedef {import('../maintain/expired/index.js').ExpireOptions} ExpireOptions
 * @param {Pick<ExpireOptions, 'action' | 'withPast' | 'purge' | 'seeding'>} action
 */
export async function expiredCommand (context, options, names, action) {
  const { output, signal } = context
  if (options.all ? names.length : !names.length) {
    refuse('LAYER', names.join(' '), 'name layers, or add --all')
  }
  const { live = false, dryRun = false, yes = false, json } = options
  // a ttl says when tiles are fetched again, not that they may go
  const confirm = action.action === 'remove' && !dryRun && !yes
    ? confirmation(context, options, options.all ? 'all' : names.join(' '))
    : undefined
  const settings = {
    ...action,
    ...(live && action.seeding && { seeding: { ...action.seeding, fetching: { giveUpAfter: LIVE_GIVES_UP } } }),
    layers: options.all ? undefined : names,
    before: options.before,
    limit: options.limit ?? (dryRun && !json ? SHOWN : undefined),
    live,
    dryRun,
    signal
  }
  return withPatientStore(context, options, async store => {
    if (confirm) {
      const { expired, bytes: size } = await expire(store, { ...settings, live: false, dryRun: true, limit: 1 })
      const { limit = Infinity } = settings
      const going = expired > limit ? `; ${count(limit)} of them would be removed` : ' and would be removed'
      output.note(`${hasExpired(expired)} (${bytes(size)})${going}.`)
      if (expired || live) await confirm()
    }
    const progress = new ProgressLine(output)
    const watch = live
      ? following(output)
      : { onProgress: done => progress.draw(done.expired, undefined, () => partsOf(action.action, done)) }
    const command = action.action === 'remove' ? 'expire' : 'seed'
    const about = { command, unit: 'tiles', follows: live, layer: names.length === 1 ? names[0] : undefined }
    const couch = dryRun ? undefined : store.couch
    let listed = 0
    const tally = await withWork(context, couch, about, work => reportEnd(progress, () => expire(store, {
      ...settings,
      ...watch,
      onProgress (done) {
        watch.onProgress(done)
        work.show(figuresOf(done))
      },
      onTile: ({ id, expires, seconds, bytes: size }) => {
        if (!listed++) output.line('expired               ago      bytes  tile')
        output.line(`${expires}  ${ago(seconds).padEnd(7)}  ${bytes(size).padStart(6)}  ${id}`)
      },
      onTrouble: error => output.note(`Waiting: ${error.message}`)
    }), (summary, seconds, ended) => {
      work.show(figuresOf(summary))
      report(output, summary, { ...settings, seconds, how: ended ? ` (${ended})` : '' })
    }))
    if (action.action === 'remove' && !dryRun && !live && tally.removed + tally.ended) {
      for (const [layer, { tiles }] of Object.entries(tally.layers)) {
        if (tiles) await recordRemoval(store.couch, 'prune', layer, { tiles })
      }
    }
    return tally.failed + tally.refused + tally.left + tally.troubles.length ? 1 : 0
  })
}

const figuresOf = ({ expired, failed, refused, named, changed, unchanged, removed: heads, ended }) => (
  { done: expired, failed: failed + refused, failures: named, about: { changed, unchanged, removed: heads, ended } }
)

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
  ? [`${count(changed)} changed`, `${count(unchanged)} unchanged`, ...countWords({ failed })]
  : [`${count(removed)} removed`, `${count(ended)} gone`]

/** With --live: a line when something was done, and when the store goes and comes. */
function following (output) {
  let before = {}
  return {
    onState: reportStates(output, 'Waiting for tiles to expire.'),
    onProgress: ({ changed, unchanged, missing, failed, removed, ended }) => {
      const counts = { changed, unchanged, missing, failed, removed, gone: ended }
      const added = Object.entries(counts).map(([what, number]) => [what, number - (before[what] ?? 0)])
      const news = countWords(Object.fromEntries(added))
      if (news.length) output.line(`${now()}  ${news.join(', ')}`)
      before = counts
    }
  }
}

const hasExpired = tiles => `${plural(tiles, 'tile')} ${tiles === 1 ? 'has' : 'have'} expired`

function report (output, tally, { action, dryRun, live, seconds, how = '' }) {
  const would = dryRun ? 'would be ' : ''
  const rows = Object.entries(tally.layers).filter(([, { tiles }]) => tiles)
    .map(([layer, { tiles, bytes: size, first, last }]) => [layer, tiles, bytes(size), first, last])
  const isTabled = rows.length > 1 || (dryRun && rows.length)
  const { gone } = tally
  const lines = [
    tally.listed.length && BLANK,
    `${hasExpired(tally.expired)} (${bytes(tally.bytes)})${how}`,
    isTabled && table(['layer', 'tiles', 'size', 'first', 'last'], rows).map(line => `  ${line}`),
    dryRun && tally.listed.length < tally.expired &&
      `  ${count(tally.listed.length)} of them are listed; --limit lists more`,
    action === 'refresh' && (dryRun ? ['  they would be fetched again'] : refreshed(tally)),
    action === 'remove' && removed(tally, would),
    gone && action !== 'refresh' &&
      `  ${plural(gone, 'tile')} more ${gone === 1 ? 'is' : 'are'} gone: \`tilecouch seed --expired\` asks the ` +
        'upstream again',
    ...tally.skipped.map(({ layer, reason }) => `  skipped: ${layer}: ${reason}`),
    ...tally.troubles.map(({ layer, reason }) => `  given up for now: ${layer}: ${reason}`),
    ...tally.named.slice(0, SHOWN).map(({ id, what, reason }) => `  ${what}: ${id}: ${reason}`),
    ...moreLine(tally.named.length > SHOWN ? tally.failed + tally.refused : 0, SHOWN)
  ]
  output.result({ action, dryRun, live, ...tally, seconds }, lines)
}

const refreshed = ({ changed, unchanged, fresh, missing, outside, failed, left }) => [
  `  ${count(changed)} changed, ${count(unchanged)} unchanged, which expire later now`,
  fresh && `  ${count(fresh)} were fetched by another program meanwhile`,
  missing && `  ${count(missing)} kept: the upstream has them no more`,
  outside && `  ${count(outside)} kept: they are outside of the upstream's area or zooms`,
  failed && `  ${count(failed)} failed: run it again to try them again`,
  left && `  ${count(left)} were not fetched: run it again`
]

const removed = ({ removed: heads, versions, ended, freed, changed, refused }, would) => [
  `  ${plural(heads, 'tile')} ${would}removed (${plural(versions, 'version')}, ${bytes(freed)})`,
  ended && `  ${plural(ended, 'tile')} with a past ${would}gone from the time they expired; their past stays`,
  changed && `  ${count(changed)} were written by another program meanwhile, and stay`,
  refused && `  ${count(refused)} refused`
]
