// tilecouch copy: copy a layer, or move it to another name.
import { checkLayer, formatReference, layerId, parseReference, scrub } from '../../core/index.js'
import { counted, recordActivity } from '../store/activity.js'
import { copyLayer } from '../maintain/copy/index.js'
import { moveLayer } from '../maintain/copy/move.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { openSource } from '../maintain/mirror/sides.js'
import { Store } from '../store/index.js'
import { failureLines } from './load-report.js'
import { areaOptions, partOf, refuse } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { CountingProgress, countLayer } from './progress.js'
import { runStoreTask } from './task.js'

const NOT_UPDATED = '  The copy is not updated: its tiles do not expire. A new layer gets the upstream only to keep ' +
  'its terms of use.'

/** @type {import('./command.js').Declaration} */
export const copyCommand = {
  arguments: [
    ['<from>', 'a layer, or layer@time: as it was then; the copy is not updated'],
    ['[to]', 'the name of the copy; with --from the same unless given']
  ],
  options: [
    '--from <env|url>', ...areaOptions, '--history',
    ['--no-history', 'without the past'],
    ['--move', 'remove the layer under its old name after all of it was copied and compared'],
    '--purge', '--i-have-permission', '-n, --dry-run'
  ],
  needs: [['--purge', '--move']],
  excludes: [['--move', ['--from', '--bbox', '--polygon', '--zoom', '--no-history']]],
  help: `Examples:
  tilecouch copy osm@2024 osm-2024 --no-history
  tilecouch copy osm --from http://localhost:5984/restored
  tilecouch copy osm openstreetmap --move

A copy into an existing layer merges the two, as replication would. Run it again to copy later additions, or to continue
a move. The name and password at --from are in TILECOUCH_FROM_USER and TILECOUCH_FROM_PASSWORD.`,
  run: runCopy
}

async function runCopy (context, options, name, to) {
  if (options.move) return moveCommand(context, options, name, to)
  const { signal } = context
  const { from, dryRun = false } = options
  const { layer, time } = parseReference(name)
  if (to === undefined && from === undefined) refuse('TO', '', 'it is left out only with --from')
  const target = checkLayer(to ?? layer)
  const part = await partOf(options)
  const history = options.history !== false
  const reference = formatReference(layer, time)
  return runStoreTask(context, options, async store => {
    const url = from && (await resolveDatabase(from, { side: 'TILECOUCH_FROM' }) ?? from)
    const source = url ? new Store(openSource(url, { retries: 3 })) : store
    const isNew = !await store.couch.get(layerId(target))
    return {
      progress: new CountingProgress(context.output, countLayer(source, layer, part)),
      figures,
      run: async onProgress => {
        const permission = Boolean(options.iHavePermission)
        const settings = { ...part, time, history, permission, dryRun, source, signal, onProgress }
        const summary = await copyLayer(store, layer, target, settings)
        const { versions, editions, styles } = summary
        if (dryRun || !(isNew || versions + editions + styles)) return summary
        const copiedFrom = { after: `${reference}${from ? ` of ${scrub(from)}` : ''}` }
        const fields = { copiedFrom, ...counted({ versions, editions, styles }) }
        const done = isNew ? 'created' : 'changed'
        await recordActivity(store.couch, 'copy', { what: 'layer', done, layer: target, fields })
        return summary
      },
      facts: () => ({ dryRun }),
      report: (summary, seconds, ended) =>
        copyLines(summary, `${reference} to ${target}${ended}`, { time, dryRun, seconds }),
      isFaulty: summary => summary.failed + summary.moved
    }
  })
}

const figures = ({ tiles, bytes: size }) => ({ done: tiles, about: { bytes: size } })

function copyLines (summary, title, { time, dryRun, seconds }) {
  const { tiles, versions, unchanged, extended, editions, moved } = summary
  const copied = `${dryRun ? 'would be ' : ''}copied (${bytes(summary.bytes)})`
  return [
    `${title}: ${plural(tiles, 'tile')} in ${duration(seconds)}`,
    `  ${plural(versions, 'version')} ${copied}, ${count(unchanged)} existed`,
    extended && `  ${plural(extended, 'tile')} ${extended === 1 ? 'expires' : 'expire'} later now`,
    editions && `  ${plural(editions, 'edition')} copied`,
    time !== undefined && NOT_UPDATED,
    moved && `  ${plural(moved, 'version')} kept changing: run it again`,
    failureLines(summary)
  ]
}

async function moveCommand (context, options, from, to) {
  const { output, signal } = context
  if (to === undefined) refuse('TO', '', 'name the layer')
  const { dryRun = false, purge = false } = options
  const titles = { copy: `Copying to ${to}`, remove: `Removing ${from}` }
  return runStoreTask(context, options, store => ({
    progress: new CountingProgress(output, countLayer(store, from)),
    figures: ({ step, ...tally }) => ({ title: titles[step], ...figures(tally) }),
    run: async onProgress => {
      const summary = await moveLayer(store, from, to, { dryRun, purge, signal, onProgress })
      const fields = { layer: { before: from, after: to } }
      const change = /** @type {const} */ ({ what: 'layer', done: 'changed', layer: to, fields })
      if (summary.done && !summary.repeated && !dryRun) await recordActivity(store.couch, 'copy --move', change)
      return summary
    },
    facts: () => ({ dryRun }),
    report: (summary, seconds) => [moveLine(summary, { dryRun, seconds }), failureLines(summary)],
    isFaulty: ({ done, failed }) => !done && !(dryRun && !failed)
  }))
}

function moveLine ({ from, to, tiles, versions, left, done, bytes: size }, { dryRun, seconds }) {
  const moved = plural(tiles, 'tile')
  const copied = `${plural(versions, 'version')} to be copied (${bytes(size)})`
  if (dryRun) return `${from} would become ${to}: ${moved}, ${copied}`
  if (done) return `${from} is now ${to}: ${moved} in ${duration(seconds)}`
  return `${from} is not finished: ${plural(left, 'document')} still ${left === 1 ? 'has' : 'have'} the old name. ` +
    'Does a load write to it? Run it again.'
}
