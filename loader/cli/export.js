// tilecouch export
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { checkLayer, endOf, formatReference, parseReference } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { exportLayer } from '../export/index.js'
import { exportHistory, targetAt } from '../export/history.js'
import { formatOf } from '../export/target.js'
import { replaceFile, writingTo } from '../formats/atomic-file.js'
import { namesIn } from '../formats/names.js'
import { exportTree, nginxConfig } from '../export/tree/index.js'
import { HIDDEN } from '../export/tree/paths.js'
import { LiveState, followed, withPatientStore, withStoreWork, withWork } from './store.js'
import { areaOptions, partOf, refuse } from './options.js'
import { byCause, bytes, count, countWords, duration, plural, table } from './output.js'
import { LayerProgress, ProgressLine, reportEnd } from './progress.js'

const SOME_TIME = '2000-01-01T00:00:00Z' // to see which format the names of a history have

/** @type {import('./command.js').Declaration} */
export const exportCommand = {
  name: 'export',
  description: 'write a layer to a folder, .mbtiles or .pmtiles',
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
  const settings = { ...await partOf(options), signal: context.signal }
  const about = { command: 'export', layer, unit: 'tiles', about: { target } }
  if (options.tree) {
    if (time !== undefined) refuse('--tree', reference, 'a tree has all editions: name no time')
    const what = { layer, folder: target, ...settings }
    return withPatientStore(context, options, store => {
      const live = new LiveState()
      const look = () => options.live ? { about: followed(live, { source: store.url }) } : {}
      return withWork(context, store.couch, { ...about, follows: options.live, look }, work =>
        writeTree(context, store, options, what, { work, live }))
    })
  }
  const { history, scheme = 'xyz', cache, force } = options
  if (history && time !== undefined) refuse('--history', reference, 'name the layer without a time')
  const format = await formatOf(history ? targetAt(target, SOME_TIME) : target, options.format)
  if (scheme === 'tms' && format !== 'folder') refuse('--scheme', scheme, `${format} defines its rows itself`)
  if (cache && format !== 'mbtiles') refuse('--cache', format, 'it needs MBTiles')
  const all = { ...settings, scheme, format: options.format, cache, force, permission: options.iHavePermission }
  if (history) checkLayer(layer)
  if (time !== undefined) endOf(time) // a bad time is refused before a store is opened
  return withStoreWork(context, options, about, (store, work) => history
    ? writeHistory(context, store, layer, target, all, work)
    : writeOne(context, store, layer, target, { ...all, time, work }, reference))
}

const endWords = ended => ended ? ` (${ended})` : ''

async function writeOne ({ output }, store, layer, target, /** @type {any} */ { work, ...settings }, reference) {
  const progress = new ExportProgress(output, work)
  await reportEnd(progress, () => exportLayer(store, layer, target, { ...settings, onProgress: progress.shower }),
    (summary, seconds, ended) => {
      work.show(figuresOf(summary))
      report(output, { ...summary, seconds }, reference + endWords(ended), settings)
    })
}

const figuresOf = ({ tiles, written, missing, bytes: size }) =>
  ({ done: tiles, about: { written, missing, bytes: size } })

function report (output, summary, title, { scheme }) {
  const { target, format, tiles, written, kept, missing, removed, size, distinct, minzoom, maxzoom, seconds } = summary
  const zooms = minzoom === undefined ? '' : ` of zoom ${minzoom === maxzoom ? minzoom : `${minzoom}-${maxzoom}`}`
  const speed = `${count(Math.round(written / seconds))}/s`
  const lines = [
    `${title} -> ${target}: ${plural(tiles, 'tile')}${zooms} in ${duration(seconds)} (${speed})`,
    `  ${bytes(summary.bytes)} of tiles: ${count(written)} written${kept ? `, ${count(kept)} there already` : ''}`
  ]
  if (removed) lines.push(`  ${plural(removed, 'file')} removed: no longer in the layer`)
  if (missing) lines.push(`  ${count(missing)} not written: they were deleted from the store meanwhile`)
  if (size !== undefined && format === 'folder') {
    const south = scheme === 'tms' ? 'south (TMS)' : 'north (XYZ)'
    lines.push(`  Rows count from the ${south}; the time of each file is the time of its tile`)
  } else if (size !== undefined) {
    const images = distinct < tiles ? `: ${count(distinct)} different images, each in it once` : ''
    lines.push(`  The file has ${bytes(size)}${images}`)
  }
  output.result(summary, lines)
}

async function writeHistory ({ output }, store, layer, target, settings, work) {
  const progress = new ExportProgress(output, work)
  await reportEnd(progress, () => exportHistory(store, layer, target, {
    ...settings,
    onTarget (name, time, index, editions) {
      progress.restart(`${count(index + 1)} of ${count(editions)}`)
      work.show({ edition: time, done: 0, total: undefined, about: { target: name, edition: index + 1, editions } })
      output.note(`${formatReference(layer, time)} -> ${name} (${index + 1} of ${editions})`)
    },
    onProgress: progress.shower
  }), (summary, seconds, ended) => reportHistory(output, { ...summary, seconds }, layer + endWords(ended)))
}

function reportHistory (output, summary, title) {
  const { exports, skipped, empty, seconds } = summary
  const rows = exports.map(one => [one.target, one.tiles, one.written, one.kept, bytes(one.size)])
  const lines = rows.length ? table(['target', 'tiles', 'written', 'there already', 'size'], rows) : []
  output.result(summary, [
    `${title}: ${plural(exports.length, 'edition')} in ${duration(seconds)}`,
    ...lines.map(line => `  ${line}`),
    ...skipped.map(name => `  ${name} exists and was skipped (--force replaces it)`),
    ...empty.map(time => `  ${time}: no tiles then`)
  ])
}

class ExportProgress extends ProgressLine {
  constructor (output, work) {
    super(output)
    this.work = work
  }

  /** Undefined with --json: then tiles need not be counted. */
  get shower () {
    return this.output.json ? undefined : summary => this.show(summary)
  }

  /** @param {import('../export/index.js').ExportSummary & {total?: number}} progress */
  show ({ tiles, total, bytes: size, kept, missing }) {
    this.draw(tiles, total, () => [bytes(size), ...countWords({ 'there already': kept, missing })])
    this.work.show({ done: tiles, total, about: { bytes: size, missing } })
  }
}

async function writeTree ({ output, signal }, store, options, { layer, folder, area, zooms }, { work, live }) {
  const { live: follow = false, force = false } = options
  if (options.nginx !== undefined) await writeNginxConfig(store, options, layer, folder)
  const progress = new TreeProgress(output, store, area || zooms ? undefined : layer)
  const messages = new TreeMessages(output, { layer, folder, progress })
  const { failed } = await reportEnd(progress, () => exportTree(store, layer, folder, {
    area,
    zooms,
    follow,
    force,
    permission: Boolean(options.iHavePermission),
    signal,
    onProgress: tally => {
      messages.tally = tally
      progress.show(tally)
      work.show(treeFigures(tally, progress.total))
    },
    onState: state => {
      messages.state(state)
      live.note(state)
    },
    onTree: (name, there) => { if (follow) messages.tree(name, there) }
  }), (summary, seconds, ended) => {
    if (!ended) work.show(treeFigures(summary, summary.tiles))
    reportTree(output, { ...summary, seconds }, follow, ended ?? (follow ? 'stopped' : ''))
  })
  return failed && !follow ? 1 : 0
}

/** @param {any} tally @param {number} [total] */
function treeFigures ({ tiles, written, linked, removed, failed, bytes: size }, total) {
  return { done: tiles, total, failed, about: { written, linked, removed, bytes: size } }
}

/** The nginx configuration of all layers with trees in the folder. A file that somebody edited is not replaced. */
async function writeNginxConfig (store, { nginx: file, gateway, force }, layer, folder) {
  const names = new Set([layer, ...await treesIn(folder)])
  const layers = (await store.layers()).filter(doc => names.has(doc.layer))
  const text = nginxConfig({ root: folder, gateway, layers })
  await writingTo(file, async () => {
    const before = await readFile(file, 'utf8').catch(error => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (before === text) return
    if (before !== undefined && !force) {
      throw new TilecouchError('TARGET_EXISTS', { value: file, why: 'it has been edited' })
    }
    await replaceFile(file, text)
  })
}

async function treesIn (folder) {
  const entries = await namesIn(path.join(folder, HIDDEN))
  return entries.filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length))
}

function reportTree (output, summary, follow, event) {
  if (output.json && follow) return output.event({ event, ...summary })
  const title = `${summary.layer} -> ${summary.folder}${endWords(event)}`
  output.result(summary, [
    `${title}: ${plural(summary.tiles, 'tile')} looked at in ${duration(summary.seconds)}`,
    ...treeLines(summary),
    `  ${plural(summary.trees.length, 'tree')}: ${few(summary.trees)}`,
    summary.links.length && `  ${plural(summary.links.length, 'link')}: ${few(summary.links)}`
  ])
}

const few = names => names.length > 6 ? `${names.slice(0, 3).join(', ')} … ${names.at(-1)}` : names.join(', ')

function treeLines ({ written, bytes: size, linked, copied, kept, removed, failed, failures = [] }) {
  const wordsOf = ({ id, time, reason }) => [`${id}${time ? `@${time}` : ''}  ${reason}`]
  return [
    `  ${plural(written, 'file')} written (${bytes(size)}), ${plural(linked, 'hard link')}, ` +
      `${count(kept)} up to date, ${count(removed)} removed`,
    copied && `  ${count(copied)} copied: the file system has no hard links`,
    failed &&
      [`  ${count(failed)} left out:`, ...byCause(failures, failed, { wordsOf })]
  ]
}

/** With --live: prints a line, or with --json an object, when something changes. */
class TreeMessages {
  /** @type {any} */
  tally
  #started = performance.now()
  #before = ''
  #begun = false

  constructor (output, { layer, folder, progress }) {
    this.output = output
    this.layer = layer
    this.folder = folder
    this.progress = progress
  }

  /** @param {{state: string, error?: string, reason?: string}} event */
  state ({ state, error, reason }) {
    this.progress.quiet = state !== 'comparing'
    const { output, layer } = this
    const before = this.#before
    this.#before = state
    if (output.json) {
      const tally = state === 'following' && this.tally
      const time = new Date().toISOString()
      return output.event({ event: state, layer, time, ...(error && { error, reason }), ...tally })
    }
    const wasAway = before === 'away'
    if (state === 'away') {
      output.note(`The store is away${reason ? `: ${reason}` : ''} [${error}]. The files are still served.`)
    } else if (state === 'following' && this.#begun) {
      const again = wasAway ? 'The store is back: following' : 'Up to date again, following'
      output.note(`${again} the changes of ${layer}.`)
    } else if (state === 'following') this.#following()
    else if (before) {
      output.note(`${wasAway ? 'The store is back. ' : ''}Comparing the files of ${layer} with the store …`)
    }
  }

  tree (name, there) {
    const event = { event: there ? 'tree' : 'tree removed', tree: name, time: new Date().toISOString() }
    if (this.output.json) this.output.event(event)
    else if (this.#begun) { // the first ones are reported together
      this.output.note(there ? `${name} is complete and served from now on` : `${name} is removed: its edition is gone`)
    }
  }

  #following () {
    const { output, layer, folder } = this
    this.#begun = true
    const seconds = (performance.now() - this.#started) / 1000
    const title = `${layer} -> ${folder}: up to date after ${duration(seconds)}, following the changes.`
    output.note(title, this.tally && treeLines(this.tally))
  }
}

class TreeProgress extends LayerProgress {
  quiet = false // true while single changes are followed

  /** @param {import('../export/tree/tiles.js').Tally} tally */
  show ({ tiles, written, linked, kept, bytes: size }) {
    if (this.quiet) return
    this.draw(tiles, this.total && tiles <= this.total ? this.total : undefined, () => [
      `${count(written)} written (${bytes(size)})`, `${count(linked)} linked`, ...countWords({ 'up to date': kept })
    ])
  }
}
