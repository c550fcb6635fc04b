// tilecouch export
import { checkLayer, endOf, formatReference, parseReference } from '../../core/index.js'
import { exportLayer } from '../export/index.js'
import { exportHistory, targetAt } from '../export/history.js'
import { formatOf } from '../export/target.js'
import { exportTree, writeNginxConfig } from '../export/tree/index.js'
import { LiveReport, followed } from './live.js'
import { areaOptions, partOf, refuse } from './options.js'
import { byCause, bytes, count, duration, plural, table } from './output.js'
import { CountingProgress, ProgressLine, countLayer } from './progress.js'
import { runStoreTask } from './task.js'

const SOME_TIME = '2000-01-01T00:00:00Z' // a sample, to see which format the names of a history have

/** @type {import('./command.js').Declaration} */
export const exportCommand = {
  arguments: [
    ['<layer[@time]>', 'with a time: the layer as of then; osm@2024 is the end of 2024'],
    ['<target>', 'a folder or a file; the extension decides the format']
  ],
  options: [
    ...areaOptions, '--format <format>', '--scheme <scheme>',
    '--history',
    ['--cache', 'MBTiles as a cache for martin: with the time at which each tile expires, and its ETag'],
    '--force', '--i-have-permission',
    ['--tree', 'write every edition as files for nginx (docs/file-trees.md)'],
    '--live',
    ['--nginx <file>', 'with --tree: write an nginx configuration to this file'],
    '--gateway <url>'
  ],
  needs: [['--live', '--tree'], ['--nginx', '--tree'], ['--gateway', '--nginx']],
  excludes: [['--tree', ['--history', '--format', '--scheme', '--cache']]],
  help: `Examples:
  tilecouch export osm@2023 osm-2023.pmtiles --zoom 0-12
  tilecouch export osm history/osm@{time}.mbtiles --history
  tilecouch export osm /srv/tiles --tree --live --nginx /etc/nginx/conf.d/tiles.conf

Run an export that was stopped again: it continues. A folder that an export
wrote is updated by the next one. See docs/exports.md.`,
  run: runExport
}

async function runExport (context, options, reference, target) {
  const { layer, time } = parseReference(reference)
  const { history, scheme = 'xyz', cache, force, format: chosenFormat } = options
  const permission = Boolean(options.iHavePermission)
  const settings = { ...await partOf(options), force, permission, signal: context.signal }
  const about = { command: 'export', layer, unit: 'tiles', about: { target } }
  if (options.tree) {
    if (time !== undefined) refuse('--tree', reference, 'a tree has all editions: name no time')
    const part = { layer, folder: target, ...settings }
    return runStoreTask(context, options, store => ({ ...about, ...treeTask(context, options, store, part) }))
  }
  if (history && time !== undefined) refuse('--history', reference, 'name the layer without a time')
  const format = await formatOf(history ? targetAt(target, SOME_TIME) : target, chosenFormat)
  if (scheme === 'tms' && format !== 'folder') refuse('--scheme', scheme, `${format} defines its rows itself`)
  if (cache && format !== 'mbtiles') refuse('--cache', format, 'it needs MBTiles')
  if (history) checkLayer(layer)
  if (time !== undefined) endOf(time) // a bad time is refused before a store is opened
  const allSettings = { ...settings, time, scheme, format: chosenFormat, cache }
  const taskOf = history ? historyTask : fileTask
  return runStoreTask(context, options, store =>
    ({ ...about, ...taskOf(context.output, store, reference, target, allSettings) }))
}

const figures = ({ tiles, total, written, kept, missing, bytes: size }) =>
  ({ done: tiles, total, about: { bytes: size, written, kept, missing } })

const fileTask = (output, store, reference, target, settings) => ({
  figures,
  run: onProgress => exportLayer(store, parseReference(reference).layer, target, {
    ...settings,
    onProgress: output.json ? undefined : onProgress // undefined: tiles need not be counted
  }),
  report: (summary, seconds, ended) => fileLines(summary, `${reference}${ended}`, seconds, settings)
})

function fileLines (summary, title, seconds, { scheme }) {
  const { target, format, tiles, written, kept, missing, removed, size, distinct, minzoom, maxzoom } = summary
  const zooms = minzoom === undefined ? '' : ` of zoom ${minzoom === maxzoom ? minzoom : `${minzoom}-${maxzoom}`}`
  const speed = `${count(Math.round(written / seconds))}/s`
  const isFolder = format === 'folder'
  const images = distinct < tiles ? `: ${count(distinct)} different images, each in it once` : ''
  const south = scheme === 'tms' ? 'south (TMS)' : 'north (XYZ)'
  return [
    `${title} -> ${target}: ${plural(tiles, 'tile')}${zooms} in ${duration(seconds)} (${speed})`,
    `  ${bytes(summary.bytes)} of tiles: ${count(written)} written${kept ? `, ${count(kept)} there already` : ''}`,
    removed && `  ${plural(removed, 'file')} removed: no longer in the layer`,
    missing && `  ${count(missing)} not written: they were deleted from the store meanwhile`,
    size !== undefined && isFolder && `  Rows count from the ${south}; the time of each file is the time of its tile`,
    size !== undefined && !isFolder && `  The file has ${bytes(size)}${images}`
  ]
}

function historyTask (output, store, layer, target, { time: _, ...settings }) {
  const progress = new ProgressLine(output)
  return {
    progress,
    figures: tally => 'exports' in tally ? {} : figures(tally),
    run: (onProgress, work) => exportHistory(store, layer, target, {
      ...settings,
      onTarget (name, time, index, editions) {
        progress.restart(`${count(index + 1)} of ${count(editions)}`)
        work.show({ edition: time, done: 0, total: undefined, about: { target: name, edition: index + 1, editions } })
        output.note(`${formatReference(layer, time)} -> ${name} (${index + 1} of ${editions})`)
      },
      onProgress: output.json ? undefined : onProgress
    }),
    report ({ exports, skipped, empty }, seconds, ended) {
      const rows = exports.map(entry => [entry.target, entry.tiles, entry.written, entry.kept, bytes(entry.size)])
      const lines = rows.length ? table(['target', 'tiles', 'written', 'there already', 'size'], rows) : []
      return [
        `${layer}${ended}: ${plural(exports.length, 'edition')} in ${duration(seconds)}`,
        lines.map(line => `  ${line}`),
        skipped.map(name => `  ${name} exists and was skipped (--force replaces it)`),
        empty.map(time => `  ${time}: no tiles then`)
      ]
    }
  }
}

function treeTask ({ output }, options, store, { layer, folder, ...settings }) {
  const { live: follow = false } = options
  const isWhole = !settings.area && !settings.zooms
  const progress = new CountingProgress(output, isWhole && countLayer(store, layer))
  const started = performance.now()
  let tally = /** @type {any} */ (undefined)
  const live = new LiveReport(output, progress, {
    eventOf: () => ({ layer, ...tally }),
    complete () {
      const seconds = (performance.now() - started) / 1000
      const title = `${layer} -> ${folder}: up to date after ${duration(seconds)}, following the changes.`
      return [title, tally && treeLines(tally)]
    }
  })
  return {
    follows: follow,
    progress,
    look: () => follow ? { about: followed(live, { source: store.url }) } : {},
    figures: ({ tiles, written, linked, removed, failed, bytes: size }) =>
      ({ done: tiles, failed, about: { bytes: size, written, linked, removed } }),
    async run (onProgress) {
      const { nginx: file, gateway, force } = options
      if (file !== undefined) await writeNginxConfig(store, layer, folder, { file, gateway, force })
      return exportTree(store, layer, folder, {
        ...settings,
        follow,
        onProgress (done) {
          tally = done
          onProgress(done)
        },
        onState: live.change,
        onTree: (name, isAdded) => { if (follow) reportTree(output, live, name, isAdded) }
      })
    },
    report (summary, seconds, ended) {
      if (!output.json || !follow) return summaryLines(summary, seconds, ended || (follow ? ' (stopped)' : ''))
      tally = { ...summary, seconds }
      return live.event(ended ? ended.slice(2, -1) : 'stopped')
    },
    isFaulty: ({ failed }) => failed && !follow
  }
}

/** Reports that the tree of an edition was added or removed; the first trees are reported together. */
function reportTree (output, live, tree, isAdded) {
  if (output.json) live.event(isAdded ? 'tree' : 'tree removed', { tree })
  else if (live.wasComplete) {
    output.note(isAdded ? `${tree} is complete and served from now on` : `${tree} is removed: its edition is gone`)
  }
}

const summaryLines = (summary, seconds, ended) => [
  `${summary.layer} -> ${summary.folder}${ended}: ${plural(summary.tiles, 'tile')} looked at in ${duration(seconds)}`,
  treeLines(summary),
  `  ${plural(summary.trees.length, 'tree')}: ${shortList(summary.trees)}`,
  summary.links.length && `  ${plural(summary.links.length, 'link')}: ${shortList(summary.links)}`
]

const shortList = names => names.length > 6 ? `${names.slice(0, 3).join(', ')} … ${names.at(-1)}` : names.join(', ')

function treeLines ({ written, bytes: size, linked, copied, kept, removed, failed, failures = [] }) {
  const wordsOf = ({ id, time, reason }) => [`${id}${time ? `@${time}` : ''}  ${reason}`]
  return [
    `  ${plural(written, 'file')} written (${bytes(size)}), ${plural(linked, 'hard link')}, ` +
      `${count(kept)} up to date, ${count(removed)} removed`,
    copied && `  ${count(copied)} copied: the file system has no hard links`,
    failed && [`  ${count(failed)} left out:`, byCause(failures, failed, { wordsOf })]
  ]
}
