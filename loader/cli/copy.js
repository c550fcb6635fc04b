// tilecouch copy: copy a layer, or move it to another name.
import { checkLayer, formatReference, parseReference } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { copyLayer } from '../copy/index.js'
import { moveLayer } from '../copy/move.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { openSource } from '../mirror/sides.js'
import { Store } from '../store/index.js'
import { withPatientStore } from './connect.js'
import { failureLines } from './load-report.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { ProgressLine, reportEnd } from './progress.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addCopyCommand (program, run) {
  program.command('copy')
    .description('copy a layer, or a part of it, with its past; or give it another name')
    .argument('<from>', 'a layer, or layer@time: as it was then; the copy is not updated')
    .argument('[to]', 'the name of the copy; with --from the same unless given')
    .option('--from <env|url>', 'another store to copy from, such as a restored backup')
    .option('--bbox <w,s,e,n>', 'tiles that touch this box, in degrees')
    .option('--polygon <file>', 'tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('-z, --zoom <a-b>', 'these zooms')
    .option('--history', 'with the past (the default)')
    .option('--no-history', 'without the past')
    .option('--move', 'remove the layer under its old name when all of it is copied and compared')
    .option('--purge', 'with --move: leave no trace of the old name (CouchDB only)')
    .option('--i-have-permission', 'copy into another layer although the terms of the upstream forbid it')
    .option('-n, --dry-run', 'only say what would be done')
    .addHelpText('after', `
Examples:
  tilecouch copy osm osm-backup
  tilecouch copy osm@2024 osm-2024 --no-history
  tilecouch copy osm alps --bbox 5.9,45.8,10.5,47.8 --zoom 0-12
  tilecouch copy osm --from http://localhost:5984/restored
  tilecouch copy osm openstreetmap --move

A copy into an existing layer merges the two, as replication would: the newest version becomes the head, older ones go to the past,
and of two images of one time the one of the later run counts. Run it again to bring what has come meanwhile. When only a part is
copied, its versions are copied without the editions. With --move both names work meanwhile; the new one must be free; run a
move that was stopped again. The name and password at --from are in TILECOUCH_FROM_USER and TILECOUCH_FROM_PASSWORD.`)
    .action(run(copyCommand))
}

async function copyCommand (context, options, name, to) {
  if (options.move) return moveCommand(context, options, name, to)
  if (options.purge) throw new TilecouchError('BAD_OPTION', { option: '--purge', value: true, why: 'it goes with --move' })
  const { output, signal } = context
  const { layer, time } = parseReference(name)
  if (to === undefined && options.from === undefined) throw new TilecouchError('BAD_OPTION', { option: 'TO', value: '', why: 'it is left out only with --from' })
  const target = checkLayer(to ?? layer)
  const settings = {
    time,
    area: await areaIfAny(options),
    zooms: zoomsOf(options.zoom),
    history: options.history !== false,
    permission: Boolean(options.iHavePermission),
    dryRun: Boolean(options.dryRun)
  }
  return withPatientStore(context, options, async store => {
    const source = options.from === undefined ? undefined : new Store(openSource(await resolveDatabase(options.from, { side: 'TILECOUCH_FROM' }) ?? options.from, { retries: 3 }))
    const progress = new ProgressLine(output)
    const summary = await reportEnd(progress, () => copyLayer(store, layer, target, {
      ...settings,
      ...(source && { source }),
      signal,
      onProgress: ({ tiles, bytes: size }) => progress.draw(tiles, undefined, rate => [bytes(size), `${count(Math.round(rate))}/s`])
    }), (copied, seconds, ended) => reportCopy(output, copied, { ...settings, name: formatReference(layer, time), seconds, how: ended ? ` (${ended})` : '' }))
    return summary.failed + summary.moved ? 1 : 0
  })
}

function reportCopy (output, summary, { name, dryRun, time, seconds, how }) {
  const { to, tiles, versions, bytes: size, unchanged, extended, editions, moved } = summary
  output.result({ ...summary, dryRun, seconds }, [
    `${name} to ${to}${how}: ${plural(tiles, 'tile')} in ${duration(seconds)}`,
    `  ${plural(versions, 'version')} ${dryRun ? 'would be ' : ''}copied (${bytes(size)}), ${count(unchanged)} were there`,
    ...(extended ? [`  ${plural(extended, 'tile')} ${extended === 1 ? 'holds' : 'hold'} longer`] : []),
    ...(editions ? [`  ${plural(editions, 'edition')} copied`] : []),
    ...(time === undefined ? [] : ['  The copy is not updated: its tiles do not expire, and a new layer gets the upstream only if its terms must go along.']),
    ...(moved ? [`  ${plural(moved, 'version')} kept changing: run it again`] : []),
    ...failureLines(summary)
  ])
}

async function moveCommand (context, options, from, to) {
  const { output, signal } = context
  const refuse = option => { throw new TilecouchError('BAD_OPTION', { option, value: true, why: 'it does not go with --move' }) }
  if (to === undefined) throw new TilecouchError('BAD_OPTION', { option: 'TO', value: '', why: 'name the layer' })
  for (const name of ['from', 'bbox', 'polygon', 'zoom']) if (options[name] !== undefined) refuse(`--${name}`)
  if (options.history === false) refuse('--no-history')
  const dryRun = Boolean(options.dryRun)
  return withPatientStore(context, options, async store => {
    const progress = new ProgressLine(output)
    const { failed, done } = await reportEnd(progress, () => moveLayer(store, from, to, {
      dryRun,
      purge: Boolean(options.purge),
      signal,
      onProgress: ({ step, tiles, bytes: size }) => progress.draw(tiles, undefined, () => [step === 'copy' ? 'copied' : 'removed under the old name', bytes(size)])
    }), (summary, seconds, ended) => { if (!ended) reportMove(output, summary, { dryRun, seconds }) })
    return done || (dryRun && !failed) ? 0 : 1
  })
}

function reportMove (output, summary, { dryRun, seconds }) {
  const { from, to, tiles, versions, left, done, bytes: size } = summary
  output.result({ ...summary, dryRun, seconds }, [
    dryRun
      ? `${from} would become ${to}: ${plural(tiles, 'tile')}, ${plural(versions, 'version')} to be copied (${bytes(size)})`
      : done
        ? `${from} is now ${to}: ${plural(tiles, 'tile')} in ${duration(seconds)}`
        : `${from} is not finished: ${plural(left, 'tile')} still have the old name. Does a load write to it? Run it again.`,
    ...failureLines(summary)
  ])
}
