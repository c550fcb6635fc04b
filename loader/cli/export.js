// tilecouch export
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { checkLayer, endOf, formatReference, parseReference } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { exportLayer } from '../export/index.js'
import { exportHistory, targetAt } from '../export/history.js'
import { explain, formatOf } from '../export/target.js'
import { namesIn } from '../formats/names.js'
import { schemes } from '../sources/index.js'
import { exportTree, nginxConfig } from '../tree/index.js'
import { HIDDEN } from '../tree/paths.js'
import { withPatientStore } from './connect.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, duration, plural, secondsSince, table } from './output.js'
import { ProgressLine } from './progress.js'

const SOME_TIME = '2000-01-01T00:00:00Z' // to see which format the names of a history have
const SHOWN_FAILURES = 20 // lines; --json has more
const LIVE_RETRIES = 2 // of a request with --live: report soon that the store is away, then keep waiting

/** @type {(option: string, value: unknown, why: string) => never} */
const refuse = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addExportCommand (program, run) {
  program.command('export')
    .description('write a layer, as it is or as it was, to a folder, .mbtiles, .pmtiles or .zip')
    .argument('<layer[@time]>', 'with a time: the layer as of then; osm@2024 is the end of 2024')
    .argument('<target>', 'a folder or a file; the extension decides the format')
    .option('--bbox <w,s,e,n>')
    .option('--polygon <file>')
    .option('-z, --zoom <a-b>')
    .option('--format <format>', 'folder, mbtiles, pmtiles or zip (default: from the name of the target)')
    .option('--scheme <scheme>')
    .option('--history')
    .option('--cache', 'MBTiles: as a tile cache for martin, with the time each tile was fetched and expires, and its ETag')
    .option('--force')
    .option('--i-have-permission')
    .option('--tree', 'every edition as files for nginx (see docs/file-trees.md)')
    .option('--live')
    .option('--nginx <file>', 'with --tree: write an nginx configuration to this file')
    .option('--gateway <url>')
    .addHelpText('after', `
Examples:
  tilecouch export osm osm.mbtiles
  tilecouch export osm@2023 osm-2023.pmtiles --zoom 0-12
  tilecouch export relief alps/ --polygon alps.geojson --scheme tms
  tilecouch export osm history/osm@{time}.mbtiles --history
  tilecouch export osm /srv/tiles --tree --live --nginx /etc/nginx/conf.d/tiles.conf

--history writes every edition to a target of its own: {time} in the name becomes its time, else @time is added. --gateway goes with
--nginx: requests for what the files lack go there.
A file gets its final name only when it is complete. Run an export that was stopped again: it continues, except a zip. A folder that
an export wrote is updated by the next one.`)
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
    return withPatientStore(context, options, store => writeTree(context, store, options, { layer, time, folder: target, ...settings }))
  }
  for (const name of ['live', 'nginx', 'gateway']) {
    if (options[name] !== undefined) refuse(`--${name}`, options[name], 'it needs --tree')
  }
  const { history, scheme = 'xyz', cache, force } = options
  if (history && time !== undefined) refuse('--history', reference, 'name the layer without a time')
  if (!schemes.includes(scheme)) throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: scheme })
  const format = await formatOf(history ? targetAt(target, SOME_TIME) : target, options.format)
  if (scheme === 'tms' && !['folder', 'zip'].includes(format)) refuse('--scheme', scheme, `${format} defines its rows itself`)
  if (cache && format !== 'mbtiles') refuse('--cache', format, 'it needs MBTiles')
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
  if (removed) lines.push(`  ${plural(removed, 'file')} removed: no longer in the layer`)
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
    ...skipped.map(name => `  ${name} exists and was skipped (--force replaces it)`),
    ...empty.map(time => `  ${time}: no tiles then`)
  ])
}

class ExportProgress extends ProgressLine {
  /** Undefined with --json: then tiles need not be counted. */
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

/**
 * @param {import('./program.js').Context} context
 * @param {import('../store/index.js').Store} store
 * @param {Record<string, any>} options of the command line
 * @param {{layer: string, time?: string, folder: string, area?: import('../../core/area.js').Area, zooms?: import('../../core/grid.js').Zooms}} what
 */
async function writeTree (context, store, options, { layer, time, folder, area, zooms }) {
  const { output, signal } = context
  checkTreeOptions(options, layer, time)
  const { live: follow = false, force = false } = options
  if (follow) store.couch.options.retries = LIVE_RETRIES
  const started = performance.now()
  const progress = new TreeProgress(output, area || zooms ? undefined : await currentTiles(store, layer))
  const messages = new TreeMessages(output, { layer, folder, started, progress })
  if (options.nginx !== undefined) await writeNginxConfig(store, options.nginx, { layer, folder, gateway: options.gateway, force })
  try {
    const summary = await exportTree(store, layer, folder, {
      area,
      zooms,
      follow,
      force,
      permission: Boolean(options.iHavePermission),
      signal,
      onProgress: tally => { messages.tally = tally; progress.show(tally) },
      onState: state => messages.state(state),
      onTree: (name, there) => { if (follow) messages.tree(name, there) }
    })
    progress.end()
    reportTree(output, summary, started, follow ? { event: 'stopped' } : undefined)
    return summary.failed && !follow ? 1 : 0
  } catch (error) {
    progress.end()
    if (error.summary) reportTree(output, error.summary, started, { event: error.code === 'ABORTED' ? 'stopped' : 'given up' }, follow)
    throw error
  }
}

function checkTreeOptions (options, layer, time) {
  if (time !== undefined) refuse('--tree', `${layer}@${time}`, 'a tree has every edition: name the layer without a time')
  for (const name of ['history', 'format', 'scheme', 'cache']) {
    if (options[name] !== undefined) refuse(`--${name}`, options[name], 'it cannot be combined with --tree')
  }
  if (options.gateway !== undefined && options.nginx === undefined) refuse('--gateway', options.gateway, 'it needs --nginx')
}

/** The tiles that the layer has now, for the progress bar. */
const currentTiles = (store, layer) => store.count(layer).then(({ tiles }) => tiles, () => undefined)

/** The nginx configuration of all layers with trees in the folder. A file that somebody edited is not replaced. */
async function writeNginxConfig (store, file, { layer, folder, gateway, force }) {
  const names = new Set([layer, ...await treesIn(folder)])
  const layers = (await store.layers()).filter(doc => names.has(doc.layer)).map(doc => ({ layer: doc.layer, ttl: doc.ttl }))
  const text = nginxConfig({ root: folder, gateway, layers })
  try {
    const before = await readFile(file, 'utf8').catch(error => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (before === text) return
    if (before !== undefined && !force) throw new TilecouchError('TARGET_EXISTS', { value: file, why: 'it has been edited' })
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  } catch (error) {
    throw explain(error, file)
  }
}

async function treesIn (folder) {
  const entries = await namesIn(path.join(folder, HIDDEN))
  return entries.filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length))
}

function reportTree (output, summary, started, ended, follow = Boolean(ended)) {
  const seconds = secondsSince(started)
  const value = { ...summary, seconds }
  if (output.json && follow) {
    output.stdout.write(JSON.stringify({ ...ended, ...value }) + '\n')
    return
  }
  output.result(value, [
    `${summary.layer} -> ${summary.folder}${ended ? ` (${ended.event})` : ''}: ${plural(summary.tiles, 'tile')} looked at in ${duration(seconds)}`,
    ...treeLines(summary),
    `  ${plural(summary.trees.length, 'tree')}: ${few(summary.trees)}`,
    ...(summary.links.length ? [`  ${plural(summary.links.length, 'link')}: ${few(summary.links)}`] : [])
  ])
}

const few = names => names.length > 6 ? `${names.slice(0, 3).join(', ')} … ${names.at(-1)}` : names.join(', ')

function treeLines ({ written, bytes: size, linked, copied, kept, removed, failed, failures = [] }) {
  return [
    `  ${plural(written, 'file')} written (${bytes(size)}), ${plural(linked, 'hard link')}, ${count(kept)} up to date, ${count(removed)} removed`,
    ...(copied ? [`  ${count(copied)} copied: the file system has no hard links`] : []),
    ...(failed ? [`  ${count(failed)} left out:`, ...failures.slice(0, SHOWN_FAILURES).map(({ id, time, reason }) => `    ${id}${time ? `@${time}` : ''}  ${reason}`)] : []),
    ...(failed > SHOWN_FAILURES ? [`    … and ${count(failed - SHOWN_FAILURES)} more`] : [])
  ]
}

/** With --live: prints a line, or with --json an object, when something changes. */
class TreeMessages {
  /** @type {any} */
  tally
  #before = ''
  #begun = false

  /** @param {import('./output.js').Output} output @param {{layer: string, folder: string, started: number, progress: TreeProgress}} what */
  constructor (output, { layer, folder, started, progress }) {
    this.output = output
    this.layer = layer
    this.folder = folder
    this.started = started
    this.progress = progress
  }

  /** @param {{state: string, error?: string, reason?: string}} event */
  state ({ state, error, reason }) {
    this.progress.quiet = state !== 'comparing'
    const { output, progress, layer } = this
    progress.end()
    const before = this.#before
    this.#before = state
    if (output.json) {
      output.stdout.write(JSON.stringify({ event: state, layer, time: new Date().toISOString(), ...(error && { error, reason }), ...(state === 'following' && this.tally) }) + '\n')
      return
    }
    if (state === 'away') output.note(`The store is away${reason ? `: ${reason}` : ''} [${error}]. The files are still served.`)
    else if (state === 'following' && this.#begun) output.note(`${before === 'away' ? 'The store is back: following' : 'Up to date again, following'} the changes of ${layer}.`)
    else if (state === 'following') this.#following()
    else if (before) output.note(`${before === 'away' ? 'The store is back. ' : ''}Comparing the files of ${layer} with the store …`)
  }

  tree (name, there) {
    if (this.output.json) this.output.stdout.write(JSON.stringify({ event: there ? 'tree' : 'tree removed', tree: name, time: new Date().toISOString() }) + '\n')
    else if (this.#begun) { // the first ones are reported together
      this.progress.end()
      this.output.note(there ? `${name} is complete and served from now on` : `${name} is removed: its edition is gone`)
    }
  }

  #following () {
    const { output, layer, folder, started } = this
    this.#begun = true
    const seconds = (performance.now() - started) / 1000
    output.note([`${layer} -> ${folder}: up to date after ${duration(seconds)}, following the changes.`, ...(this.tally ? treeLines(this.tally) : [])].join('\n'))
  }
}

class TreeProgress extends ProgressLine {
  quiet = false // true while single changes are followed

  /** @param {import('./output.js').Output} output @param {number} [total] */
  constructor (output, total) {
    super(output)
    this.total = total
  }

  /** @param {import('../tree/tiles.js').Tally} tally */
  show ({ tiles, written, linked, kept, bytes: size }) {
    if (this.quiet) return
    this.draw(tiles, this.total && tiles <= this.total ? this.total : undefined, rate => [
      `${count(Math.round(rate))}/s`, `${count(written)} written (${bytes(size)})`, `${count(linked)} linked`, ...(kept ? [`${count(kept)} up to date`] : [])
    ])
  }
}
