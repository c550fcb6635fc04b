// tilecouch diff
import path from 'node:path'
import { TilecouchError } from '../errors.js'
import { diff } from '../diff/index.js'
import { GeoJsonReport, ListReport } from '../diff/reports.js'
import { referenceOf } from '../diff/sides.js'
import { formatOf } from '../export/target.js'
import { schemes } from '../sources/index.js'
import { withPatientStore } from './connect.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, plural, secondsSince, table } from './output.js'
import { ProgressLine } from './progress.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addDiffCommand (program, run) {
  program.command('diff')
    .description('compare two times of a layer, two layers, or a layer and an archive; export only what changed')
    .argument('<from>', 'layer[@time]; a file or folder of tiles (./osm is never a layer); or the address of another store, for the same layer there')
    .argument('<to>', 'the same')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--polygon <file>', 'only tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('--report <file>', 'write every tile that differs to this file, one JSON object a line; - for standard output')
    .option('--geojson <file>', 'write polygons of the tiles that differ to this file: those of the deepest zoom with any')
    .option('--every-zoom', 'with --geojson: polygons of the tiles of every zoom')
    .option('--export <target>', 'write only what changed to a folder, .mbtiles or .zip, for `tilecouch load` elsewhere')
    .option('--format <format>', 'with --export: folder, mbtiles or zip (default: as the name of the target says)')
    .option('--scheme <scheme>', 'with --export: how a folder or a zip counts rows, xyz from the north or tms from the south (default: xyz)')
    .option('--force', 'with --export: replace a file that is there')
    .option('--i-have-permission', 'with --export: although the terms of the upstream forbid it')
    .option('--exit-code', 'end with 1 when anything differs, as git diff does')
    .addHelpText('after', `
Examples:
  tilecouch diff osm@2023 osm@2024
  tilecouch diff osm@2023 osm --bbox 5.9,45.8,10.5,47.8 --zoom 10-14 --geojson changed.geojson
  tilecouch diff osm@2024-03-01 osm@2024-04-01 --export march.mbtiles
  tilecouch diff osm@2024 osm-2024.mbtiles --exit-code
  tilecouch diff osm http://edge:5984/tiles --exit-code

A time is taken as everywhere: osm@2024 is the end of 2024. What was exported is loaded with \`tilecouch load march.mbtiles --layer osm\`
into a store that is as the earlier side was. The exit code is 0 also when there are differences, unless --exit-code is given.`)
    .action(run(diffCommand))
}

async function diffCommand (context, options, from, to) {
  const { output, signal } = context
  await checkOptions(options, output)
  const { zoom, scheme, format, force, iHavePermission: permission, export: target } = options
  const wanted = { area: await areaIfAny(options), zooms: zoomsOf(zoom), signal }
  return withPatientStore(context, options, async store => {
    const reports = await openReports(options, `${from} -> ${to}`, output)
    const files = Object.values(reports)
    const progress = new DiffProgress(output, store, [from, to], wanted)
    const started = performance.now()
    const ended = (summary, how = '') => {
      progress.end()
      if (summary) report(output, { ...summary, seconds: secondsSince(started) }, { ...options, ...reports }, how)
    }
    try {
      const summary = await diff(store, from, to, {
        ...wanted, target, scheme, format, force, permission,
        onTile: async change => { for (const each of files) await each.add(change) },
        onProgress: tally => progress.show(tally)
      })
      for (const each of files) await each.finish()
      ended(summary)
      return summary.missing || summary.export?.missing || (options.exitCode && differenceOf(summary)) ? 1 : 0
    } catch (error) {
      for (const each of files) await each.discard()
      ended(error.summary, error.code === 'ABORTED' ? 'stopped' : 'given up')
      throw error
    }
  })
}

async function checkOptions ({ export: target, format, scheme = 'xyz', report: file, geojson, ...options }, output) {
  const refuse = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }
  if (!schemes.includes(scheme)) refuse('--scheme', scheme)
  if (options.everyZoom && geojson === undefined) refuse('--every-zoom', true, 'it goes with --geojson')
  if (file === '-' && output.json) refuse('--report', file, 'with --json standard output is for the result')
  if (geojson === '-') refuse('--geojson', geojson, 'name a file: only at the end it is known which zoom is the deepest')
  if (target === undefined && format !== undefined) refuse('--format', format, 'it goes with --export')
  if (target !== undefined && await formatOf(target, format) === 'mbtiles' && scheme === 'tms') refuse('--scheme', scheme, 'MBTiles has rows of its own')
  const names = [target, file, geojson].filter(name => name !== undefined && name !== '-').map(name => path.resolve(name))
  if (new Set(names).size < names.length) refuse('--report, --geojson, --export', names[0], 'each needs a name of its own')
}

async function openReports ({ report: file, geojson, everyZoom }, name, { stdout }) {
  /** @type {{lines?: ListReport, polygons?: GeoJsonReport}} */
  const reports = {}
  try {
    if (file !== undefined) reports.lines = await ListReport.open(file, stdout)
    if (geojson !== undefined) reports.polygons = await GeoJsonReport.open(geojson, { name, everyZoom })
    return reports
  } catch (error) {
    await reports.lines?.discard()
    throw error
  }
}

const differenceOf = ({ tiles }) => tiles.added + tiles.removed + tiles.changed

function report (output, summary, { report: file, geojson, polygons }, ended) {
  const { from, to, tiles, bytes: size, zooms, missing, seconds, export: exported } = summary
  const different = differenceOf(summary)
  const lines = [
    `${from.name} -> ${to.name}${ended && ` (${ended})`}: ${different ? count(different) : 'none'} of ${plural(different + tiles.same, 'tile')} ${different === 1 ? 'differs' : 'differ'}, in ${duration(seconds)}`,
    `  ${count(tiles.added)} added (${bytes(size.added)}), ${count(tiles.removed)} removed (${bytes(size.removed)}), ${count(tiles.changed)} changed (now ${bytes(size.changed)}), ${count(tiles.same)} the same`
  ]
  if (missing) lines.push(`  ${count(missing)} not compared: a version of them was deleted from the store meanwhile`)
  if (zooms.length) {
    lines.push('', ...table(['zoom', 'added', 'removed', 'changed', 'same', 'new'], zooms.map(({ z, tiles: each, bytes: { added, changed } }) =>
      [z, each.added, each.removed, each.changed, each.same, bytes(added + changed)])))
  }
  if (exported) lines.push('', ...exportLines(exported, to.layer, ended))
  if (!ended && polygons) lines.push('', `${geojson}: ${plural(polygons.tiles, 'polygon')}${polygons.zoom === undefined ? '' : ` of zoom ${polygons.zoom}`}`)
  if (file === '-') output.note(lines.join('\n'))
  else output.result(summary, lines)
}

function exportLines ({ target, tiles, bytes: size, gone, kept, missing, time }, layer, ended) {
  return [
    `${target}: ${plural(tiles, 'tile')} (${bytes(size)})${kept ? `, ${count(kept)} of them there already` : ''}, ${count(gone)} gone`,
    ...(missing ? [`  ${count(missing)} not written: they were deleted from the store meanwhile`] : []),
    ...(ended ? [] : [`  Load it with: tilecouch load ${target} --layer ${layer}${time ? '' : ' --time …'}`])
  ]
}

class DiffProgress extends ProgressLine {
  /** @type {number | undefined} */
  #total
  #stop = new AbortController()

  /** Tiles are counted beside, where a bar can show it. That they cannot be counted is the diff's to say. */
  constructor (output, store, references, { area, zooms }) {
    super(output)
    if (output.json || !output.isTerminal) return
    const counted = async () => {
      const { layer } = references.map(referenceOf).find(Boolean) ?? {}
      if (layer) this.#total = (await store.count(layer, { area, zooms, signal: this.#stop.signal })).tiles
    }
    counted().catch(() => {})
  }

  /** @param {import('../diff/index.js').Tally} tally */
  show ({ tiles, different }) {
    this.draw(tiles, this.#total, rate => [`${count(Math.round(rate))}/s`, `${count(different)} differ`])
  }

  end () {
    this.#stop.abort()
    super.end()
  }
}
