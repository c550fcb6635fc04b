// tilecouch diff
import path from 'node:path'
import { parseReference, some } from '../../core/index.js'
import { diff } from '../export/diff/index.js'
import { FeatureChanges } from '../export/diff/features.js'
import { FeatureReport, GeoJsonReport, ListReport } from '../export/diff/reports.js'
import { areaOptions, partOf, refuse } from './options.js'
import { BLANK, bytes, count, duration, plural, table } from './output.js'
import { CountingProgress, countLayer } from './progress.js'
import { runStoreTask } from './task.js'

const NOT_COMPARED = 'not compared: a version of them was deleted from the store meanwhile'

/** @type {import('./command.js').Declaration} */
export const diffCommand = {
  arguments: [['<from>', 'layer[@time]'], ['<to>', 'the same']],
  options: [
    ...areaOptions, '--report <file>',
    ['--geojson <file>', 'write polygons of the tiles that differ to this file: those of the deepest zoom with any'],
    ['--every-zoom', 'with --geojson: polygons of the tiles of every zoom'],
    ['--features <file>', 'of vector tiles, write the features that differ, as GeoJSON; - for standard output'],
    ['--without-ids', 'with --features: match features by geometry, because their ids only number them'],
    ['--exit-code', 'end with 1 when anything differs, as git diff does']
  ],
  needs: [['--every-zoom', '--geojson'], ['--without-ids', '--features']],
  help: `Examples:
  tilecouch diff osm@2023 osm --bbox 5.9,45.8,10.5,47.8 --zoom 10-14 --geojson changed.geojson
  tilecouch diff roads@2023 roads --bbox 7.4,46.9,7.5,47 --features changed.geojson
  tilecouch diff osm@2024-03-01 osm@2024-04-01 --exit-code`,
  run: runDiff
}

async function runDiff (context, options, from, to) {
  const { output, signal } = context
  checkOptions(options, output)
  if ([options.report, options.features].includes('-')) output.leaveStdout()
  const selection = { ...await partOf(options), signal }
  /** @type {(ListReport | GeoJsonReport | FeatureReport)[]} */
  let files = []
  return runStoreTask(context, options, async store => {
    const { layer } = parseReference(from)
    const grid = await store.grid(layer)
    const reports = await openReports(options, { store, name: `${from} -> ${to}`, grid, signal }, output)
    files = Object.values(reports)
    return {
      progress: new CountingProgress(output, countLayer(store, layer, selection)),
      figures: ({ tiles, different }) => ({ done: tiles, about: { different } }),
      run: async onProgress => {
        const onTile = async change => { for (const report of files) await report.add(change) }
        const compared = await diff(store, from, to, { ...selection, onTile, onProgress })
        for (const report of files) await report.finish()
        return { ...compared, ...(reports.featureList && { features: reports.featureList.changes.summary }) }
      },
      report: (summary, seconds, ended) => reportLines(summary, { ...options, ...reports, seconds, ended }),
      isFaulty: summary => isPart(summary) || (options.exitCode && differenceOf(summary))
    }
  }).catch(async error => {
    for (const report of files) await report.discard()
    throw error
  })
}

/** Whether some tiles or features were not compared. */
const isPart = ({ missing, features = { missing: 0, unreadable: [] } }) =>
  missing || features.missing || features.unreadable.length

function checkOptions ({ report: file, geojson, features }, output) {
  for (const [option, value] of [['--report', file], ['--features', features]]) {
    if (value === '-' && output.json) refuse(option, value, 'with --json standard output is for the result')
  }
  if (file === '-' && features === '-') refuse('--features', features, 'standard output is for --report')
  if (geojson === '-') refuse('--geojson', geojson, 'name a file: it is rewritten when a deeper zoom is found')
  const names = [file, geojson, features].filter(name => name !== undefined && name !== '-')
    .map(name => path.resolve(name))
  if (new Set(names).size < names.length) refuse('--report, --geojson, --features', names[0], 'each needs its own name')
}

async function openReports (options, { store, name, grid, signal }, { stdout }) {
  const { report: file, geojson, everyZoom, features, withoutIds } = options
  /** @type {{lines?: ListReport, polygons?: GeoJsonReport, featureList?: FeatureReport}} */
  const reports = {}
  try {
    if (file !== undefined) reports.lines = await ListReport.open(file, stdout)
    if (geojson !== undefined) reports.polygons = await GeoJsonReport.open(geojson, { name, everyZoom, grid })
    if (features !== undefined) {
      const changes = new FeatureChanges(store, { ids: !withoutIds, signal })
      reports.featureList = await FeatureReport.open(features, stdout, { name, changes })
    }
    return reports
  } catch (error) {
    for (const report of Object.values(reports)) await report.discard()
    throw error
  }
}

const differenceOf = ({ tiles }) => tiles.added + tiles.removed + tiles.changed

function reportLines (summary, { geojson, polygons, features, seconds, ended }) {
  const { from, to, tiles, bytes: size, zooms, missing } = summary
  const different = differenceOf(summary)
  const share = `${different ? count(different) : 'none'} of ${plural(different + tiles.same, 'tile')}`
  const verb = different === 1 ? 'differs' : 'differ'
  const added = `${count(tiles.added)} added (${bytes(size.added)})`
  const removed = `${count(tiles.removed)} removed (${bytes(size.removed)})`
  const changed = `${count(tiles.changed)} changed (now ${bytes(size.changed)})`
  const rowOf = ({ z, tiles: counts, bytes: sizes }) =>
    [z, counts.added, counts.removed, counts.changed, counts.same, bytes(sizes.added + sizes.changed)]
  const ofZoom = polygons?.zoom === undefined ? '' : ` of zoom ${polygons.zoom}`
  return [
    `${from.name} -> ${to.name}${ended}: ${share} ${verb}, in ${duration(seconds)}`,
    `  ${added}, ${removed}, ${changed}, ${count(tiles.same)} the same`,
    missing && `  ${count(missing)} ${NOT_COMPARED}`,
    zooms.length && [BLANK, table(['zoom', 'added', 'removed', 'changed', 'same', 'new'], zooms.map(rowOf))],
    !ended && polygons && [BLANK, `${geojson}: ${plural(polygons.tiles, 'polygon')}${ofZoom}`],
    summary.features && [BLANK, featureLines(summary.features, features)]
  ]
}

function featureLines ({ zoom, tiles, layers, missing, unreadable }, file) {
  const rowOf = ([layer, { added, removed, changed }]) => [layer, added, removed, changed]
  const rows = Object.entries(layers).map(rowOf)
  const from = zoom === undefined ? '' : ` of ${plural(tiles, 'tile')} of zoom ${zoom}`
  return [
    `${file === '-' ? 'features' : `${file}: features`}${from}${rows.length ? '' : ': none differ'}`,
    rows.length && table(['source layer', 'added', 'removed', 'changed'], rows),
    missing && `  ${count(missing)} ${NOT_COMPARED}`,
    unreadable.length && `  not compared, because they are damaged: ${some(unreadable)}`
  ]
}
