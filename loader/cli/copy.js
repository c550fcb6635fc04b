// tilecouch copy: copy a layer, or move it to another name.
import { checkLayer, formatReference, layerId, parseReference, scrub } from '../../core/index.js'
import { counted, recordActivity } from '../store/activity.js'
import { copyLayer } from '../maintain/copy/index.js'
import { moveLayer } from '../maintain/copy/move.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { openSource } from '../maintain/mirror/sides.js'
import { Store } from '../store/index.js'
import { withPatientStore } from './store.js'
import { failureLines } from './load-report.js'
import { areaOptions, partOf, refuse } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { LayerProgress, reportEnd } from './progress.js'

const NOT_UPDATED = '  The copy is not updated: its tiles do not expire. A new layer gets the upstream only to keep ' +
  'its terms of use.'

/** @type {import('./command.js').Declaration} */
export const copyCommand = {
  name: 'copy',
  description: 'copy a layer or a part of it with its past, or rename it',
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
  const { output, signal } = context
  const { layer, time } = parseReference(name)
  if (to === undefined && options.from === undefined) refuse('TO', '', 'it is left out only with --from')
  const target = checkLayer(to ?? layer)
  const settings = {
    time,
    ...await partOf(options),
    history: options.history !== false,
    permission: Boolean(options.iHavePermission),
    dryRun: Boolean(options.dryRun)
  }
  return withPatientStore(context, options, async store => {
    const { from } = options
    const url = from && (await resolveDatabase(from, { side: 'TILECOUCH_FROM' }) ?? from)
    const source = url ? new Store(openSource(url, { retries: 3 })) : store
    const { area, zooms, dryRun } = settings
    const isNew = !await store.couch.get(layerId(target))
    const progress = new LayerProgress(output, source, layer, { area, zooms })
    const summary = await reportEnd(progress, () => copyLayer(store, layer, target, {
      ...settings,
      source,
      signal,
      onProgress: ({ tiles, bytes: size }) => progress.draw(tiles, progress.total, () => [bytes(size)])
    }), (copied, seconds, ended) => {
      reportCopy(output, copied, { ...settings, from: formatReference(layer, time), seconds, ended })
    })
    const { versions, editions, styles } = summary
    if (!dryRun && (isNew || versions + editions + styles)) {
      const copiedFrom = { after: `${formatReference(layer, time)}${from ? ` of ${scrub(from)}` : ''}` }
      const fields = { copiedFrom, ...counted({ versions, editions, styles }) }
      await recordActivity(store.couch, 'copy', {
        what: 'layer', done: isNew ? 'created' : 'changed', layer: target, fields
      })
    }
    return summary.failed + summary.moved ? 1 : 0
  })
}

function reportCopy (output, summary, { from, dryRun, time, seconds, ended }) {
  const { to, tiles, versions, bytes: size, unchanged, extended, editions, moved } = summary
  output.result({ ...summary, dryRun, seconds }, [
    `${from} to ${to}${ended ? ` (${ended})` : ''}: ${plural(tiles, 'tile')} in ${duration(seconds)}`,
    `  ${plural(versions, 'version')} ${dryRun ? 'would be ' : ''}copied (${bytes(size)}), ${count(unchanged)} existed`,
    extended && `  ${plural(extended, 'tile')} ${extended === 1 ? 'expires' : 'expire'} later now`,
    editions && `  ${plural(editions, 'edition')} copied`,
    time !== undefined && NOT_UPDATED,
    moved && `  ${plural(moved, 'version')} kept changing: run it again`,
    ...failureLines(summary)
  ])
}

async function moveCommand (context, options, from, to) {
  const { output, signal } = context
  if (to === undefined) refuse('TO', '', 'name the layer')
  const dryRun = Boolean(options.dryRun)
  return withPatientStore(context, options, async store => {
    const progress = new LayerProgress(output, store, from)
    const titles = { copy: `Copying to ${to}`, remove: `Removing ${from}` }
    const { failed, done } = await reportEnd(progress, () => moveLayer(store, from, to, {
      dryRun,
      purge: Boolean(options.purge),
      signal,
      onProgress ({ step, tiles, bytes: size }) {
        progress.begin(titles[step])
        progress.draw(tiles, progress.total, () => [bytes(size)])
      }
    }), (summary, seconds, ended) => { if (!ended) reportMove(output, summary, { dryRun, seconds }) })
    if (done) {
      const fields = { layer: { before: from, after: to } }
      await recordActivity(store.couch, 'copy --move', { what: 'layer', done: 'changed', layer: to, fields })
    }
    return done || (dryRun && !failed) ? 0 : 1
  })
}

function reportMove (output, summary, { dryRun, seconds }) {
  output.result({ ...summary, dryRun, seconds }, [moveLine(summary, { dryRun, seconds }), ...failureLines(summary)])
}

function moveLine ({ from, to, tiles, versions, left, done, bytes: size }, { dryRun, seconds }) {
  const moved = plural(tiles, 'tile')
  const copied = `${plural(versions, 'version')} to be copied (${bytes(size)})`
  if (dryRun) return `${from} would become ${to}: ${moved}, ${copied}`
  if (done) return `${from} is now ${to}: ${moved} in ${duration(seconds)}`
  return `${from} is not finished: ${plural(left, 'document')} still ${left === 1 ? 'has' : 'have'} the old name. ` +
    'Does a load write to it? Run it again.'
}
