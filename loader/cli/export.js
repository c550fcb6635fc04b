// tilecouch export
import { TilecouchError, checkLayer, endOf, formatReference, parseReference } from '../../core/index.js'
import { exportLayer } from '../export/index.js'
import { exportHistory, targetAt } from '../export/history.js'
import { formatOf } from '../export/target.js'
import { schemes } from '../sources/index.js'
import { withPatientStore } from './connect.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, plural, secondsSince, table } from './output.js'
import { ProgressLine } from './progress.js'

const SOME_TIME = '2000-01-01T00:00:00Z' // to see what the names of a history are

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addExportCommand (program, run) {
  program.command('export')
    .description('write a layer, as it is or as it was, to a folder, .mbtiles, .pmtiles or .zip')
    .argument('<layer[@time]>', 'with a time, as the layer was then: osm@2024 is the end of 2024')
    .argument('<target>', 'a folder, or the name of a file: its extension says what it becomes')
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--polygon <file>', 'only tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--format <format>', 'folder, mbtiles, pmtiles or zip (default: as the name of the target says)')
    .option('--scheme <scheme>', 'how a folder or a zip counts rows: xyz from the north, tms from the south (default: xyz)')
    .option('--history', 'every edition, each in a target of its own: {time} in its name is the time, else @time is added')
    .option('--cache', 'MBTiles as a tile cache for martin: when each tile was fetched and expires, and its ETag')
    .option('--force', 'replace a file that is there; write among the files of a folder that is not empty')
    .option('--i-have-permission', 'export although the terms of the upstream forbid it')
    .option('--tree', 'every edition as a tree of files for nginx: see docs/file-trees.md')
    .option('--follow', 'with --tree: keep the trees up to date until Ctrl-C')
    .option('--nginx <file>', 'with --tree: write the configuration of nginx for it to this file')
    .option('--gateway <url>', 'with --nginx: where nginx sends what the trees do not have')
    .addHelpText('after', `
Examples:
  tilecouch export osm osm.mbtiles
  tilecouch export osm@2023 osm-2023.pmtiles --zoom 0-12
  tilecouch export relief alps/ --polygon alps.geojson --scheme tms
  tilecouch export osm history/osm@{time}.mbtiles --history
  tilecouch export osm /srv/tiles --tree --follow --nginx /etc/nginx/conf.d/tiles.conf

Nothing stands under its name before it is whole. An export that was stopped is run again: it goes on where it was, but for a zip,
which begins anew. A folder that an export made is brought up to date by the next one.`)
    .action(run(exportCommand))
}

async function exportCommand (context, options, reference, target) {
  const { layer, time } = parseReference(reference)
  const settings = {
    area: await areaIfAny(options),
    zooms: zoomsOf(options.zoom),
    signal: context.signal
  }
  if (options.tree) {
    const { treeCommand } = await import('./tree.js')
    return withPatientStore(context, options, store => treeCommand(context, store, options, { layer, time, folder: target, ...settings }))
  }
  for (const name of ['follow', 'nginx', 'gateway']) {
    if (options[name] !== undefined) throw new TilecouchError('BAD_OPTION', { option: `--${name}`, value: options[name], why: 'it goes with --tree' })
  }
  const { history, scheme = 'xyz', cache, force } = options
  if (history && time !== undefined) throw new TilecouchError('BAD_OPTION', { option: '--history', value: reference, why: 'name the layer without a time' })
  if (!schemes.includes(scheme)) throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: scheme })
  const format = await formatOf(history ? targetAt(target, SOME_TIME) : target, options.format)
  if (scheme === 'tms' && !['folder', 'zip'].includes(format)) throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: scheme, why: `${format} has rows of its own` })
  if (cache && format !== 'mbtiles') throw new TilecouchError('BAD_OPTION', { option: '--cache', value: format, why: 'it is for MBTiles' })
  const all = { ...settings, scheme, format: options.format, cache, force, permission: options.iHavePermission }
  if (history) return withPatientStore(context, options, store => writeHistory(context, store, checkLayer(layer), target, all))
  const when = time === undefined ? undefined : endOf(time)
  return withPatientStore(context, options, store => writeOne(context, store, layer, target, { ...all, time: when }, reference))
}

async function writeOne ({ output }, store, layer, target, settings, reference) {
  const started = performance.now()
  const progress = new ExportProgress(output)
  const ended = (summary, how = '') => {
    progress.end()
    if (summary) report(output, { ...summary, seconds: secondsSince(started) }, `${reference}${how && ` (${how})`}`, settings)
  }
  try {
    ended(await exportLayer(store, layer, target, { ...settings, onProgress: progress.shower }))
  } catch (error) {
    ended(error.summary, error.code === 'ABORTED' ? 'stopped' : 'given up')
    throw error
  }
}

function report (output, summary, title, { scheme }) {
  const { target, format, tiles, written, kept, missing, removed, size, distinct, minzoom, maxzoom, seconds } = summary
  const lines = [
    `${title} -> ${target}: ${plural(tiles, 'tile')}${minzoom === undefined ? '' : ` of zoom ${minzoom === maxzoom ? minzoom : `${minzoom}-${maxzoom}`}`} in ${duration(seconds)} (${count(Math.round(written / seconds))}/s)`,
    `  ${bytes(summary.bytes)} of tiles: ${count(written)} written${kept ? `, ${count(kept)} there already` : ''}`
  ]
  if (removed) lines.push(`  ${plural(removed, 'file')} removed that ${removed === 1 ? 'is' : 'are'} no more in the layer`)
  if (missing) lines.push(`  ${count(missing)} not written: they were deleted from the store meanwhile`)
  if (size !== undefined && format !== 'folder') lines.push(`  The file has ${bytes(size)}${distinct !== undefined && distinct < tiles ? `: ${count(distinct)} different images, each in it once` : ''}`)
  if (size !== undefined && format === 'folder') lines.push(`  Rows count from the ${scheme === 'tms' ? 'south (TMS)' : 'north (XYZ)'}; the time of each file is the time of its tile`)
  output.result(summary, lines)
}

async function writeHistory ({ output }, store, layer, target, settings) {
  const started = performance.now()
  let progress = new ExportProgress(output)
  const ended = (summary, how = '') => {
    progress.end()
    if (summary) reportHistory(output, { ...summary, seconds: secondsSince(started) }, `${layer}${how && ` (${how})`}`)
  }
  try {
    ended(await exportHistory(store, layer, target, {
      ...settings,
      onTarget (name, time, index, editions) {
        progress.end()
        output.note(`${formatReference(layer, time)} -> ${name} (${index + 1} of ${editions})`)
        progress = new ExportProgress(output)
      },
      onProgress: progress.shower && (summary => progress.show(summary))
    }))
  } catch (error) {
    ended(error.summary, error.code === 'ABORTED' ? 'stopped' : 'given up')
    throw error
  }
}

function reportHistory (output, summary, title) {
  const { exports, skipped, empty, seconds } = summary
  output.result(summary, [
    `${title}: ${plural(exports.length, 'edition')} in ${duration(seconds)}`,
    ...(exports.length ? table(['target', 'tiles', 'written', 'there already', 'size'], exports.map(one => [one.target, one.tiles, one.written, one.kept, bytes(one.size)])).map(line => `  ${line}`) : []),
    ...skipped.map(name => `  ${name} was there already, and was left (--force writes it anew)`),
    ...empty.map(time => `  ${time}: no tiles then`)
  ])
}

class ExportProgress extends ProgressLine {
  /** Nothing where nobody looks: tiles are not counted then. */
  get shower () {
    return this.output.json ? undefined : summary => this.show(summary)
  }

  /** @param {import('../export/index.js').ExportSummary & {total?: number}} progress */
  show ({ tiles, total, bytes: size, kept, missing }) {
    this.draw(tiles, total, rate => [
      bytes(size), `${count(Math.round(rate))}/s`, ...(kept ? [`${count(kept)} there already`] : []), ...(missing ? [`${count(missing)} missing`] : [])
    ])
  }
}
