// tilecouch copy and tilecouch rename
import { parseReference, checkLayer, formatReference, TilecouchError } from '../../core/index.js'
import { copyLayer, renameLayer } from '../copy.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { openSource } from '../mirror/sides.js'
import { Store } from '../store/index.js'
import { withPatientStore } from './connect.js'
import { failureLines } from './load-report.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addCopyCommand (program, run) {
  program.command('copy')
    .description('copy a layer, or a part of it, with its past')
    .argument('<from>', 'a layer, or layer@time: as it was then, and stands still')
    .argument('[to]', 'the name of the copy; with --from the same unless given')
    .option('--from <env|url>', 'another store to copy from, such as a restored backup')
    .option('--bbox <w,s,e,n>', 'tiles that touch this box, in degrees')
    .option('--polygon <file>', 'tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('-z, --zoom <a-b>', 'these zooms')
    .option('--history', 'with the past (the default)')
    .option('--no-history', 'without the past')
    .option('--i-have-permission', 'copy into another layer although the terms of the upstream forbid it')
    .option('-n, --dry-run', 'only say what would be copied')
    .addHelpText('after', `
Examples:
  tilecouch copy osm osm-backup
  tilecouch copy osm@2024 osm-2024 --no-history
  tilecouch copy osm alps --bbox 5.9,45.8,10.5,47.8 --zoom 0-12
  tilecouch copy osm --from http://localhost:5984/restored

Into a layer that is there both are put together, as replication would: what is newer becomes the newest, what is older goes to the
past, and of two images of one time that of the later run has it. Run it again, and it brings what has come meanwhile. Of a part its versions are copied,
and not what editions found unchanged in it. The name and password at --from are in TILECOUCH_FROM_USER and
TILECOUCH_FROM_PASSWORD.`)
    .action(run(copyCommand))
  program.command('rename')
    .description('give a layer another name')
    .argument('<from>')
    .argument('<to>', 'a name that is free')
    .option('--purge', 'leave no trace of the old name (CouchDB only)')
    .option('-n, --dry-run', 'only say what would be done')
    .addHelpText('after', `
Examples:
  tilecouch rename osm openstreetmap
  tilecouch rename osm openstreetmap --dry-run

The layer is copied, compared, and then removed under its old name; both names work meanwhile. One that was stopped is run again.`)
    .action(run(renameCommand))
}

async function copyCommand (context, options, name, to) {
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
    const begun = performance.now()
    const progress = new ProgressLine(output)
    const report = (summary, how = '') => {
      progress.end()
      if (summary) reportCopy(output, summary, { ...settings, name: formatReference(layer, time), seconds: secondsSince(begun), how })
    }
    try {
      const summary = await copyLayer(store, layer, target, {
        ...settings, ...(source && { source }), signal, onProgress: ({ tiles, bytes: size }) => progress.draw(tiles, undefined, rate => [bytes(size), `${count(Math.round(rate))}/s`])
      })
      report(summary)
      return summary.failed + summary.moved ? 1 : 0
    } catch (error) {
      report(error.summary, error.code === 'ABORTED' ? ' (stopped)' : ' (failed)')
      throw error
    }
  })
}

function reportCopy (output, summary, { name, dryRun, time, seconds, how }) {
  const { to, tiles, versions, bytes: size, unchanged, extended, editions, moved } = summary
  output.result({ ...summary, dryRun, seconds }, [
    `${name} to ${to}${how}: ${plural(tiles, 'tile')} in ${duration(seconds)}`,
    `  ${plural(versions, 'version')} ${dryRun ? 'would be ' : ''}copied (${bytes(size)}), ${count(unchanged)} were there`,
    ...(extended ? [`  ${plural(extended, 'tile')} ${extended === 1 ? 'holds' : 'hold'} longer`] : []),
    ...(editions ? [`  ${plural(editions, 'edition')} copied`] : []),
    ...(time === undefined ? [] : ['  The copy stands still: its tiles do not expire, and a new layer is not given the upstream unless its terms have to go along.']),
    ...(moved ? [`  ${plural(moved, 'version')} kept changing: run it again`] : []),
    ...failureLines(summary)
  ])
}

async function renameCommand (context, options, from, to) {
  const { output, signal } = context
  const dryRun = Boolean(options.dryRun)
  return withPatientStore(context, options, async store => {
    const begun = performance.now()
    const progress = new ProgressLine(output)
    try {
      const summary = await renameLayer(store, from, to, {
        dryRun, purge: Boolean(options.purge), signal, onProgress: ({ step, tiles, bytes: size }) => progress.draw(tiles, undefined, () => [step === 'copy' ? 'copied' : 'removed under the old name', bytes(size)])
      })
      progress.end()
      const { tiles, versions, left, done, bytes: size } = summary
      const seconds = secondsSince(begun)
      output.result({ ...summary, dryRun, seconds }, [
        dryRun
          ? `${from} would be called ${to}: ${plural(tiles, 'tile')}, ${plural(versions, 'version')} to be copied (${bytes(size)})`
          : done
            ? `${from} is called ${to} now: ${plural(tiles, 'tile')} in ${duration(seconds)}`
            : `${from} is not done with yet: ${plural(left, 'tile')} still stand under the old name. Does somebody load into it? Run it again.`,
        ...failureLines(summary)
      ])
      return done || (dryRun && !summary.failed) ? 0 : 1
    } catch (error) {
      progress.end()
      throw error
    }
  })
}
