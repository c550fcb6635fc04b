// Expired tiles: `tilecouch seed --expired` fetches them again, `tilecouch prune --expired` removes them, and with
// --dry-run both list them.
import { recordRemoval } from '../store/activity.js'
import { expire } from '../maintain/expired/index.js'
import { confirmation } from './passwords.js'
import { refuse, timeOrAgo } from './options.js'
import { BLANK, bytes, count, diskWords, moreLine, plural, table } from './output.js'
import { LiveReport } from './live.js'
import { IndexProgress, ProgressLine } from './progress.js'
import { runStoreTask } from './task.js'

const SHOWN = 20 // tiles listed; --limit changes that, --json has more
const WAITING = 'Waiting for tiles to expire. Ctrl-C ends it.'
const LIVE_GIVES_UP = 30 // seconds for the upstream of a layer, before other layers have their turn

/** @type {import('./command.js').DeclaredOption[]} */
export const expiredOptions = [
  '--all',
  ['--before <time>', 'with --expired: only tiles that expired before this time, or longer ago than 7d',
    { parse: timeOrAgo }],
  ['--limit <n>', 'with --expired: at most so many tiles; with --dry-run, list so many (default: 20)',
    { digits: 9 }]
]

/**
 * @typedef {import('../maintain/expired/index.js').ExpireOptions} ExpireOptions
 * @param {import('./program.js').Context} context
 * @param {any} options
 * @param {string[]} names
 * @param {Pick<ExpireOptions, 'action' | 'withPast' | 'purge' | 'compact' | 'seeding'>} settings
 */
export async function expiredCommand (context, options, names, { action, seeding, ...removal }) {
  const { output, signal } = context
  const { all = false, live = false, dryRun = false, json, before, limit } = options
  if (all === names.length > 0) refuse('LAYER', names.join(' '), 'name layers, or add --all')
  const removes = action === 'remove'
  // a ttl says when tiles are fetched again, not that they may be removed
  const confirm = removes && confirmation(context, options, all ? 'all' : names.join(' '))
  const settings = {
    ...removal,
    action,
    seeding: live && seeding ? { ...seeding, fetching: { giveUpAfter: LIVE_GIVES_UP } } : seeding,
    layers: all ? undefined : names,
    before,
    limit: limit ?? (dryRun && !json ? SHOWN : undefined),
    live,
    dryRun,
    signal
  }
  return runStoreTask(context, options, async store => {
    if (confirm && !dryRun && !options.yes) await askFirst(output, store, settings, confirm)
    const progress = Object.assign(new ProgressLine(output), { isQuiet: live })
    const report = live ? new LiveReport(output, progress, { complete: () => [WAITING] }) : undefined
    let listed = 0
    return {
      command: removes ? 'expire' : 'seed',
      unit: 'tiles',
      follows: live,
      layer: names.length === 1 ? names[0] : undefined,
      progress,
      figures,
      run: async onProgress => {
        const tally = await expire(store, {
          ...settings,
          onState: report?.change,
          onCompact: live ? undefined : new IndexProgress(output).show,
          onProgress (done) {
            onProgress(done)
            const { changed, unchanged, missing, failed, removed, ended } = done
            report?.news({ changed, unchanged, missing, failed, removed, gone: ended })
          },
          onTile ({ id, expires, seconds, bytes: size }) {
            if (!listed++) output.line('expired               ago      bytes  tile')
            output.line(`${expires}  ${ago(seconds).padEnd(7)}  ${bytes(size).padStart(6)}  ${id}`)
          },
          onTrouble: error => output.note(`Waiting: ${error.message}`)
        })
        if (removes && !dryRun && !live && tally.removed + tally.ended) {
          for (const [layer, { tiles }] of Object.entries(tally.layers)) {
            if (tiles) await recordRemoval(store.couch, 'prune', layer, { tiles })
          }
        }
        return tally
      },
      facts: () => ({ action, dryRun, live }),
      report: (tally, seconds, ended) => reportLines(tally, { removes, dryRun, ended }),
      isFaulty: ({ failed, refused, left, troubles }) => failed + refused + left + troubles.length
    }
  })
}

/** Says how many tiles would be removed, and asks. */
async function askFirst (output, store, settings, confirm) {
  const { limit = Infinity, live } = settings
  const { expired, bytes: size } = await expire(store, { ...settings, live: false, dryRun: true, limit: 1 })
  const removalWords = expired > limit ? `; ${count(limit)} of them would be removed` : ' and would be removed'
  output.note(`${hasExpired(expired)} (${bytes(size)})${removalWords}.`)
  if (expired || live) await confirm()
}

const figures = ({ expired, failed, refused, named: examples, changed, unchanged, removed, ended }) => (
  { done: expired, failed: failed + refused, failures: examples, about: { changed, unchanged, removed, ended } }
)

/** `90` -> `1m 30s`; the two largest units say enough. */
function ago (seconds) {
  if (seconds < 0) return `in ${ago(-seconds)}`
  const units = /** @type {[string, number][]} */ ([['d', 86400], ['h', 3600], ['m', 60], ['s', 1]])
  const firstUnit = Math.max(0, units.findIndex(([, size]) => seconds >= size))
  let remainder = seconds
  return units.slice(firstUnit, firstUnit + 2).flatMap(([unit, size]) => {
    const whole = Math.floor(remainder / size)
    remainder -= whole * size
    return whole ? [`${whole}${unit}`] : []
  }).join(' ') || 'now'
}

const hasExpired = tiles => `${plural(tiles, 'tile')} ${tiles === 1 ? 'has' : 'have'} expired`

function reportLines (tally, { removes, dryRun, ended }) {
  const { expired, listed, gone, skipped, troubles, named: examples } = tally
  const rows = Object.entries(tally.layers).filter(([, { tiles }]) => tiles)
    .map(([layer, { tiles, bytes: size, first, last }]) => [layer, tiles, bytes(size), first, last])
  const isTabled = rows.length > 1 || (dryRun && rows.length)
  return [
    listed.length && BLANK,
    `${hasExpired(expired)} (${bytes(tally.bytes)})${ended}`,
    isTabled && table(['layer', 'tiles', 'size', 'first', 'last'], rows).map(line => `  ${line}`),
    dryRun && listed.length < expired && `  ${count(listed.length)} of them are listed; --limit lists more`,
    removes ? removedLines(tally, dryRun) : refreshedLines(tally, dryRun),
    gone && removes && `  ${plural(gone, 'more tile')} gone: \`tilecouch seed --expired\` asks the upstream again`,
    skipped.map(({ layer, reason }) => `  skipped: ${layer}: ${reason}`),
    troubles.map(({ layer, reason }) => `  given up for now: ${layer}: ${reason}`),
    examples.slice(0, SHOWN).map(({ id, what, reason }) => `  ${what}: ${id}: ${reason}`),
    moreLine(examples.length > SHOWN ? tally.failed + tally.refused : 0, SHOWN),
    diskWords(tally.compaction)
  ]
}

const refreshedLines = ({ changed, unchanged, fresh, missing, outside, failed, left }, dryRun) => dryRun
  ? ['  they would be fetched again']
  : [
      `  ${count(changed)} changed, ${count(unchanged)} unchanged, which expire later now`,
      fresh && `  ${count(fresh)} were fetched by another program meanwhile`,
      missing && `  ${count(missing)} kept: the upstream has them no more`,
      outside && `  ${count(outside)} kept: they are outside of the upstream's area or zooms`,
      failed && `  ${count(failed)} failed: run it again to try them again`,
      left && `  ${count(left)} were not fetched: run it again`
    ]

function removedLines ({ removed, versions, ended, freed, changed, refused }, dryRun) {
  const would = dryRun ? 'would be ' : ''
  return [
    `  ${plural(removed, 'tile')} ${would}removed (${plural(versions, 'version')}, ${bytes(freed)})`,
    ended && `  ${plural(ended, 'tile')} with a past ${would}gone from the time they expired; their past stays`,
    changed && `  ${count(changed)} were written by another program meanwhile, and stay`,
    refused && `  ${count(refused)} refused`
  ]
}
