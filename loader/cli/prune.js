// tilecouch prune: thin out the past of layers, or remove expired tiles.
import { checkLayer, now, parseDuration } from '../../core/index.js'
import { recordRemoval } from '../store/activity.js'
import { prune, pruneAll } from '../maintain/prune/index.js'
import { confirmation } from './passwords.js'
import { expiredOptions, expiredCommand } from './expired.js'
import { refuse } from './options.js'
import { BLANK, bytes, count, diskWords, linesOf, plural, table } from './output.js'
import { LiveReport } from './live.js'
import { IndexProgress, ProgressLine } from './progress.js'
import { retentionOptions, retentionOf, retentionWords } from './retention.js'
import { runStoreTask } from './task.js'

/** @typedef {import('../maintain/prune/index.js').PruneRound} PruneRound */

const SHOWN = 100 // moments, and documents that could not be removed, in the output; --json has more
const HOUR = 3600 // seconds
const NAMED = 5 // moments that a question names

/** @type {import('./command.js').Declaration} */
export const pruneCommand = {
  arguments: [['[layers...]', 'one layer; with --expired also several']],
  options: [
    ...retentionOptions, ...expiredOptions, '--expired',
    ['--with-past', 'with --expired: remove the past of such tiles as well'],
    '--purge',
    ['--compact <when>', '', { default: 'auto' }],
    '-n, --dry-run', '--yes', '--live',
    ['--every <duration>', 'with --live: time between two rounds (default: 1h)', { parse: readInterval }]
  ],
  needs: [
    ['--with-past', '--expired'], ['--before', '--expired'], ['--limit', '--expired'], ['--every', '--live']
  ],
  excludes: [['--every', ['--expired'], 'expired tiles are removed when they expire']],
  help: `Examples:
  tilecouch prune osm --keep-daily 30 --keep-monthly 12 --keep-yearly 10 --dry-run
  tilecouch prune --all --live --every 6h
  tilecouch prune radar --expired --before 7d --yes

A moment is a time at which a tile of the layer changed or an edition was loaded; the map as of each kept moment stays
the same. Without rules the policy of the layer applies (\`tilecouch layer NAME --keep-daily 30\`).
See docs/retention.md.`,
  run: runPrune
}

function readInterval (text) {
  const seconds = parseDuration(text)
  return seconds < 1 ? refuse('--every', text, 'it is a second or more') : seconds
}

async function runPrune (context, options, layers) {
  const { expired = false, withPast = false, purge = false, live = false, dryRun = false, every = HOUR } = options
  if (expired && retentionOf(options)) refuse('--expired', true, 'a retention policy does not go with it')
  if (expired) {
    const { compact } = options
    return expiredCommand(context, options, layers, { action: 'remove', withPast, purge, compact })
  }
  const [layer] = layers
  const policy = checkPolicy(options, layers)
  const { output, signal } = context
  const progress = new ProgressLine(output, 'versions')
  // the policy of a layer was decided before: a timer applies it
  const confirm = policy && confirmation(context, options, layer)
  const roundOf = summary => /** @type {PruneRound} */ (layer ? { layers: [summary], failed: [] } : summary)
  return runStoreTask(context, options, store => ({
    command: 'prune',
    layer,
    unit: 'versions',
    follows: live,
    progress,
    figures: tally => 'looked' in tally
      ? { done: tally.looked, total: tally.total, about: { removed: tally.versions } }
      : roundFigures(roundOf(tally)),
    async run (onProgress, work) {
      const settings = { purge, dryRun, compact: options.compact, signal }
      const onBegin = planReport(output, progress, dryRun, confirm)
      const watch = live
        ? liveWatch(output, progress, store, every, work)
        : { onProgress, onBegin, onCompact: new IndexProgress(output).show }
      const summary = layer
        ? await prune(store, layer, { ...settings, ...watch, policy })
        : await pruneAll(store, { ...settings, ...watch, live, every })
      if (!live && !dryRun) await recordRemoved(store, roundOf(summary).layers)
      return summary
    },
    report: summary => live ? [] : roundLines(roundOf(summary), summary.compaction, dryRun),
    isFaulty: summary => roundOf(summary).failed.length || roundOf(summary).layers.some(isUnfinished)
  }))
}

/** The retention policy of the options. @param {any} options @param {string[]} layers */
function checkPolicy (options, [layer, ...more]) {
  const { all = false, dryRun, live } = options
  if (more.length) refuse('LAYER', [layer, ...more].join(' '), 'name one layer, or add --all')
  if (all === Boolean(layer)) refuse('LAYER', layer ?? '', 'name a layer, or add --all')
  if (layer) checkLayer(layer)
  const policy = retentionOf(options)
  if (all && policy) refuse('--all', true, 'each layer has its own policy: leave out --keep-…')
  if (live && (layer || dryRun)) refuse('--live', true, 'it goes with --all, and not with --dry-run')
  return policy
}

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('../maintain/prune/index.js').PruneSummary[]} layers
 */
async function recordRemoved ({ couch }, layers) {
  for (const { layer, tiles, versions, editions } of layers) {
    if (versions + editions) await recordRemoval(couch, 'prune', layer, { tiles, versions, editions })
  }
}

/** @param {PruneRound} round */
const roundFigures = ({ layers, failed }) => ({
  failed: failed.length,
  failures: failed.map(({ layer, reason }) => `${layer}: ${reason}`),
  about: { removed: layers.reduce((sum, { versions }) => sum + versions, 0), round: now() }
})

const isUnfinished = ({ changed, refused, missing }) => changed + refused + missing.length > 0

/** Reports the plan of a layer before anything is removed, and asks whether to go on. */
const planReport = (output, progress, dryRun, confirm) => async ({ layer, policy, moments }) => {
  progress.restart(layer)
  output.note(`${layer} keeps ${retentionWords(policy).join('; ')}.`)
  if (dryRun) return
  const { total, kept, going, listed } = moments
  output.note(`Of ${plural(total, 'moment')} ${count(kept)} stay. Versions that none of these shows are removed.`)
  if (!going || !confirm) return
  output.note(`${plural(going, 'moment')} cannot be shown any more${goingWords(listed)}.`)
  await confirm()
  progress.restart()
}

/** Names some of the moments that will be lost. */
function goingWords (listed) {
  const going = listed.filter(({ by }) => !by.length).map(({ time }) => time)
  return going.length ? `: ${going.slice(0, NAMED).join(', ')}${going.length > NAMED ? ' …' : ''}` : ''
}

const liveWatch = (output, progress, store, every, work) => ({
  onState: new LiveReport(output, progress, {
    complete: () => [`Pruning every ${count(every)} s. Ctrl-C ends it.`]
  }).change,
  onRound: async round => {
    work.show(roundFigures(round))
    const layers = round.layers.filter(({ versions, editions }) => versions + editions)
    const compaction = round.compaction?.done ? round.compaction : undefined
    if (layers.length + round.failed.length) {
      const lines = linesOf(roundLines({ ...round, layers }, compaction, false))
      output.line(lines.map(line => `${now()}  ${line}`))
    }
    await recordRemoved(store, layers)
  }
})

/** @param {PruneRound} round */
function roundLines ({ layers, failed }, compaction, dryRun) {
  if (!layers.length && !failed.length) return ['No layer has a policy. Give one: tilecouch layer NAME --keep-daily 30']
  return [
    layers.map(summary => layerLines(summary, dryRun)),
    failed.map(({ layer, reason }) => `${layer} was not pruned: ${reason}`),
    diskWords(compaction)
  ]
}

/** @param {import('../maintain/prune/index.js').PruneSummary} summary @param {boolean} dryRun */
function layerLines (summary, dryRun) {
  const { layer, moments, tiles, versions, heads, editions, changed, refused, named: examples, missing } = summary
  const removed = `${plural(versions, 'version')} of ${plural(tiles, 'tile')} (${bytes(summary.bytes)})`
  const content = `${removed}${editions ? ` and ${plural(editions, 'edition')}` : ''}`
  const kept = `${plural(moments.kept, 'moment')} of ${count(moments.total)}`
  const reasons = examples.filter(({ what }) => what === 'refused').slice(0, SHOWN)
  return [
    dryRun && momentTable(summary),
    missing.map(time => `${layer} has no edition ${time}, which its policy names`),
    versions || editions
      ? `${layer}: ${content} ${dryRun ? 'would be removed' : 'removed'}; ${kept} ${dryRun ? 'would stay' : 'stayed'}`
      : `${layer}: nothing to remove; its ${plural(moments.kept, 'kept moment')} need every version`,
    heads && `  ${plural(heads, 'tile')} had only versions that say it is gone`,
    changed && `  ${plural(changed, 'document')} changed meanwhile: run it again`,
    reasons.map(({ id, reason }) => `  not removed: ${id}: ${reason}`),
    refused > SHOWN && `  ${plural(refused, 'document')} not removed in all`
  ]
}

const momentCells = ({ time, title, edition, by, versions, going, bytes: size }) => [
  time, title ?? (edition ? 'untitled' : ''), by.join(', ') || '-', versions, going, going ? bytes(size) : ''
]

function momentTable ({ moments: { total, listed } }) {
  const rows = (total > SHOWN ? listed.filter(({ by }) => by.length) : listed).slice(0, SHOWN)
  const omitted = total - rows.length
  return [
    ...table(['moment', 'edition', 'kept by', 'versions', 'going', 'bytes'], rows.map(momentCells)),
    omitted && `and ${plural(omitted, 'moment')} more${total > SHOWN ? ', most of which are not kept' : ''}`,
    BLANK
  ]
}
