// tilecouch prune: thin out the past of layers, or remove expired tiles.
import { checkLayer, now, parseDuration } from '../../core/index.js'
import { recordRemoval } from '../store/activity.js'
import { prune, pruneAll } from '../maintain/prune/index.js'
import { confirmation } from './passwords.js'
import { expiredOptions, expiredCommand } from './expired.js'
import { refuse } from './options.js'
import { BLANK, bytes, count, diskWords, linesOf, plural, table } from './output.js'
import { CompactionProgress, ProgressLine, reportEnd, reportStates } from './progress.js'
import { retentionOptions, retentionOf, retentionWords } from './retention.js'
import { withStoreWork } from './store.js'

const SHOWN = 100 // moments, and documents that could not be removed, in what people read; --json has more
const NAMED = 5 // moments that a question names

/** @type {import('./command.js').Declaration} */
export const pruneCommand = {
  name: 'prune',
  description: 'remove past versions by rules, or expired tiles',
  arguments: [['[layers...]', 'one layer; with --expired also several']],
  options: [
    ...retentionOptions, ...expiredOptions, '--expired',
    ['--with-past', 'with --expired: remove the past of such tiles as well'],
    '--purge',
    ['--compact <when>', '', { default: 'auto' }],
    '-n, --dry-run', '--yes', '--live',
    ['--every <duration>', 'with --live: time between two rounds', { default: '1h', read: readInterval }]
  ],
  needs: [['--with-past', '--expired'], ['--before', '--expired'], ['--limit', '--expired']],
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
  const { expired = false, withPast = false, purge = false } = options
  if (expired && retentionOf(options)) refuse('--expired', true, 'a retention policy does not go with it')
  if (expired) return expiredCommand(context, options, layers, { action: 'remove', withPast, purge })
  const [layer, ...more] = layers
  if (more.length) refuse('LAYER', layers.join(' '), 'name one layer, or add --all')
  const settings = settingsOf(options, layer)
  // the policy of a layer was decided before: a timer applies it
  const confirm = settings.policy && confirmation(context, options, layer)
  const about = { command: 'prune', layer, unit: 'versions', follows: settings.live }
  return withStoreWork(context, options, about, (store, work) => layer
    ? pruneOne(context, store, layer, { ...settings, confirm, work })
    : pruneEvery(context, store, { ...settings, work }))
}

/** @param {any} options @param {string} [layer] */
function settingsOf (options, layer) {
  const { all = false, purge = false, dryRun = false, live = false, compact, every } = options
  if (all === Boolean(layer)) refuse('LAYER', layer ?? '', 'name a layer, or add --all')
  if (layer) checkLayer(layer)
  const policy = retentionOf(options)
  if (all && policy) refuse('--all', true, 'each layer has its own policy: leave out --keep-…')
  if (live && (layer || dryRun)) refuse('--live', true, 'it goes with --all, and not with --dry-run')
  return { policy, purge, dryRun, compact, live, every }
}

/** @param {import('./program.js').Context} context @param {any} settings */
async function pruneOne ({ output, signal }, store, layer, settings) {
  const { live, every, confirm, work, ...options } = settings
  const progress = new ProgressLine(output, 'versions')
  const watch = watchOf(output, options, progress, work, confirm)
  const pruned = await reportEnd(progress, () => prune(store, layer, { ...options, ...watch, signal }),
    (summary, seconds) => {
      work.show({ about: removedBy([summary]) })
      output.result({ ...summary, seconds }, [report(summary, options.dryRun), diskWords(summary.compaction)])
    })
  if (!options.dryRun) await recordRemoved(store, [pruned])
  return failed(pruned) ? 1 : 0
}

/** @param {import('./program.js').Context} context @param {any} settings */
async function pruneEvery ({ output, signal }, store, settings) {
  const { policy, work, ...options } = settings
  const { live, dryRun, every } = options
  const progress = new ProgressLine(output, 'versions')
  const watch = live ? liveWatch(output, store, every, work) : watchOf(output, options, progress, work)
  const round = await reportEnd(progress, () => pruneAll(store, { ...options, signal, ...watch }),
    (summary, seconds) => {
      work.show(roundFigures(summary))
      output.result({ ...summary, seconds }, live ? [] : roundWords(summary, dryRun))
    })
  if (!live && !dryRun) await recordRemoved(store, round.layers)
  return round.failed.length || round.layers.some(failed) ? 1 : 0
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

const removedBy = layers => ({ removed: layers.reduce((sum, { versions }) => sum + versions, 0) })

const roundFigures = ({ layers, failed: named }) => ({
  failed: named.length,
  failures: named.map(({ layer, reason }) => `${layer}: ${reason}`),
  about: { ...removedBy(layers), round: now() }
})

const failed = ({ changed, refused, missing }) => changed + refused + missing.length > 0

/**
 * Reports the plan before anything is removed, and the progress.
 * @param {(() => Promise<void>) | undefined} confirm asks whether to go on
 */
function watchOf (output, { dryRun }, progress, work, confirm = undefined) {
  const compacting = new CompactionProgress(output)
  return {
    onBegin: async ({ layer, policy, moments }) => {
      progress.restart(layer)
      output.note(`${layer} keeps ${retentionWords(policy).join('; ')}.`)
      if (dryRun) return
      const { total, kept, going, listed } = moments
      output.note(`Of ${plural(total, 'moment')} ${count(kept)} stay. Versions that none of these shows are removed.`)
      if (!going || !confirm) return
      output.note(`${plural(going, 'moment')} cannot be shown any more${goingWords(listed)}.`)
      await confirm()
      progress.restart()
    },
    onProgress ({ looked, total, versions }) {
      progress.draw(looked, total, () => [`${count(versions)} removed`])
      work.show({ done: looked, total, about: { removed: versions } })
    },
    onCompact: compacting.show
  }
}

/** Some of the moments that go. */
function goingWords (listed) {
  const going = listed.filter(({ by }) => !by.length)
  if (!going.length) return ''
  return `: ${going.slice(0, NAMED).map(({ time }) => time).join(', ')}${going.length > NAMED ? ' …' : ''}`
}

function liveWatch (output, store, every, work) {
  return {
    onState: reportStates(output, `Pruning every ${count(every)} s.`),
    onRound: async round => {
      work.show(roundFigures(round))
      const pruned = round.layers.filter(({ versions, editions }) => versions + editions)
      const disk = round.compaction?.done ? diskWords(round.compaction) : []
      const lines = linesOf([pruned.map(summary => report(summary, false)), failures(round), disk])
      output.line(lines.map(line => `${now()}  ${line}`))
      await recordRemoved(store, pruned)
    }
  }
}

function roundWords (round, dryRun) {
  if (!round.layers.length && !round.failed.length) {
    return ['No layer has a policy. Give one: tilecouch layer NAME --keep-daily 30']
  }
  return [
    round.layers.map(summary => [report(summary, dryRun), dryRun && BLANK]),
    failures(round),
    diskWords(round.compaction)
  ]
}

const failures = ({ failed: layers }) => layers.map(({ layer, reason }) => `${layer} was not pruned: ${reason}`)

/** @param {import('../maintain/prune/index.js').PruneSummary} summary @param {boolean} dryRun */
function report (summary, dryRun) {
  const { layer, moments, tiles, versions, bytes: size, heads, editions, changed, refused, named, missing } = summary
  const removed = `${plural(versions, 'version')} of ${plural(tiles, 'tile')} (${bytes(size)})`
  const all = `${removed}${editions ? ` and ${plural(editions, 'edition')}` : ''}`
  const kept = `${plural(moments.kept, 'moment')} of ${count(moments.total)}`
  return [
    dryRun && momentTable(summary),
    ...missing.map(time => `${layer} has no edition ${time}, which its policy names`),
    versions || editions
      ? `${layer}: ${all} ${dryRun ? 'would be removed' : 'removed'}; ${kept} ${dryRun ? 'would stay' : 'stayed'}`
      : `${layer}: nothing to remove; its ${plural(moments.kept, 'kept moment')} need every version`,
    heads && `  ${plural(heads, 'tile')} had only versions that say it is gone`,
    changed && `  ${plural(changed, 'document')} changed meanwhile: run it again`,
    ...named.slice(0, SHOWN).filter(({ what }) => what === 'refused')
      .map(({ id, reason }) => `  not removed: ${id}: ${reason}`),
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
