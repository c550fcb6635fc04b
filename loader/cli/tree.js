// tilecouch export LAYER FOLDER --tree
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError } from '../../core/index.js'
import { explain } from '../export/target.js'
import { exportTree, nginxConfig } from '../tree/index.js'
import { namesIn } from '../formats/names.js'
import { HIDDEN } from '../tree/paths.js'
import { bytes, count, duration, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'

const SHOWN_FAILURES = 20 // lines; --json has more
const RETRIES = 2 // of a request while following: that the store is away is said soon, and waited out

/**
 * @param {import('./program.js').Context} context
 * @param {import('../store/index.js').Store} store
 * @param {Record<string, any>} options of the command line
 * @param {{layer: string, time?: string, folder: string, area?: import('../../core/area.js').Area, zooms?: import('../../core/grid.js').Zooms}} what
 */
export async function treeCommand (context, store, options, { layer, time, folder, area, zooms }) {
  const { output, signal } = context
  check(options, layer, time)
  const { follow = false, force = false } = options
  if (follow) store.couch.options.retries = RETRIES
  const started = performance.now()
  const progress = new TreeProgress(output, area || zooms ? undefined : await present(store, layer))
  const said = new LayerStatements(output, { layer, folder, started, progress })
  if (options.nginx !== undefined) await writeConfig(store, options.nginx, { layer, folder, gateway: options.gateway, force })
  try {
    const summary = await exportTree(store, layer, folder, {
      area,
      zooms,
      follow,
      force,
      permission: Boolean(options.iHavePermission),
      signal,
      onProgress: tally => { said.tally = tally; progress.show(tally) },
      onState: state => said.state(state),
      onTree: (name, there) => { if (follow) said.tree(name, there) }
    })
    progress.end()
    report(output, summary, started, follow ? { event: 'stopped' } : undefined)
    return summary.failed && !follow ? 1 : 0
  } catch (error) {
    progress.end()
    if (error.summary) report(output, error.summary, started, { event: error.code === 'ABORTED' ? 'stopped' : 'given up' }, follow)
    throw error
  }
}

function check (options, layer, time) {
  const wrong = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why })
  if (time !== undefined) throw wrong('--tree', `${layer}@${time}`, 'a tree has every edition: name the layer without a time')
  for (const name of ['history', 'format', 'scheme', 'cache']) {
    if (options[name] !== undefined) throw wrong(`--${name}`, options[name], 'it does not go with --tree')
  }
  if (options.gateway !== undefined && options.nginx === undefined) throw wrong('--gateway', options.gateway, 'it goes with --nginx')
}

/** Tiles of the present, for a bar; it is not worth an error. */
const present = (store, layer) => store.count(layer).then(({ tiles }) => tiles, () => undefined)

/** For all layers that have trees in the folder. What somebody has adapted is not overwritten. */
async function writeConfig (store, file, { layer, folder, gateway, force }) {
  const names = new Set([layer, ...await treesIn(folder)])
  const layers = (await store.layers()).filter(doc => names.has(doc.layer)).map(doc => ({ layer: doc.layer, ttl: doc.ttl }))
  const text = nginxConfig({ root: folder, gateway, layers })
  try {
    const before = await readFile(file, 'utf8').catch(error => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (before === text) return
    if (before !== undefined && !force) throw new TilecouchError('TARGET_EXISTS', { value: file, why: 'it is not what would be written' })
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

function report (output, summary, started, ended, follow = Boolean(ended)) {
  const seconds = secondsSince(started)
  const value = { ...summary, seconds }
  if (output.json && follow) {
    output.stdout.write(JSON.stringify({ ...ended, ...value }) + '\n')
    return
  }
  output.result(value, [
    `${summary.layer} -> ${summary.folder}${ended ? ` (${ended.event})` : ''}: ${plural(summary.tiles, 'tile')} looked at in ${duration(seconds)}`,
    ...describe(summary),
    `  ${plural(summary.trees.length, 'tree')}: ${few(summary.trees)}`,
    ...(summary.links.length ? [`  ${plural(summary.links.length, 'link')}: ${few(summary.links)}`] : [])
  ])
}

const few = names => names.length > 6 ? `${names.slice(0, 3).join(', ')} … ${names.at(-1)}` : names.join(', ')

function describe ({ written, bytes: size, linked, copied, kept, removed, failed, failures = [] }) {
  return [
    `  ${plural(written, 'file')} written (${bytes(size)}), ${plural(linked, 'hard link')}, ${count(kept)} right already, ${count(removed)} removed`,
    ...(copied ? [`  ${count(copied)} copied: the file system takes no hard links there`] : []),
    ...(failed ? [`  ${count(failed)} left out:`, ...failures.slice(0, SHOWN_FAILURES).map(({ id, time, reason }) => `    ${id}${time ? `@${time}` : ''}  ${reason}`)] : []),
    ...(failed > SHOWN_FAILURES ? [`    … and ${count(failed - SHOWN_FAILURES)} more`] : [])
  ]
}

/** How following goes: a line, or with --json an object, when anything is different. */
class LayerStatements {
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

  /** @param {{state: string, error?: string, reason?: string}} said */
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
    if (state === 'away') output.note(`The store is away${reason ? `: ${reason}` : ''} [${error}]. What is there is served on.`)
    else if (state === 'following' && this.#begun) output.note(`${before === 'away' ? 'The store is back: following' : 'Up to date again, following'} the changes of ${layer}.`)
    else if (state === 'following') this.#following()
    else if (before) output.note(`${before === 'away' ? 'The store is back. ' : ''}Comparing the files of ${layer} with the store …`)
  }

  tree (name, there) {
    if (this.output.json) this.output.stdout.write(JSON.stringify({ event: there ? 'tree' : 'tree removed', tree: name, time: new Date().toISOString() }) + '\n')
    else if (this.#begun) { // the first are told together
      this.progress.end()
      this.output.note(there ? `${name} is whole, and served from now on` : `${name} is removed: there is no such edition any more`)
    }
  }

  #following () {
    const { output, layer, folder, started } = this
    this.#begun = true
    const seconds = (performance.now() - started) / 1000
    output.note([`${layer} -> ${folder}: up to date after ${duration(seconds)}, following the changes.`, ...(this.tally ? describe(this.tally) : [])].join('\n'))
  }
}

class TreeProgress extends ProgressLine {
  quiet = false // single changes are not worth a line

  /** @param {import('./output.js').Output} output @param {number} [total] */
  constructor (output, total) {
    super(output)
    this.total = total
  }

  /** @param {import('../tree/tiles.js').Tally} tally */
  show ({ tiles, written, linked, kept, bytes: size }) {
    if (this.quiet) return
    this.draw(tiles, this.total && tiles <= this.total ? this.total : undefined, rate => [
      `${count(Math.round(rate))}/s`, `${count(written)} written (${bytes(size)})`, `${count(linked)} linked`, ...(kept ? [`${count(kept)} right already`] : [])
    ])
  }
}
