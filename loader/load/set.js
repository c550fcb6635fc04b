// Loads a dated set: sources with times in their names, as editions of one layer, the oldest first. All sources are
// opened and checked before the first is loaded. Unchanged sources that an earlier run has loaded are skipped.
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { checkLayer, compareIds } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { LayerStatements } from '../../core/store/statements.js'
import { TilecouchError } from '../errors.js'
import { nameTime, timeInName } from './dated.js'
import { FolderReader } from '../formats/folder/reader.js'
import { GONE_LIST } from '../formats/gone.js'
import { unreadable } from '../formats/reading.js'
import { recognise } from '../formats/recognise.js'
import { load } from './index.js'
import { checkComplete, emptySource, isEmpty } from './source-checks.js'
import { isUrl, openSource } from './sources/index.js'
import { schemeError } from './sources/services.js'

const ZOOM = /^([12]?\d|30)$/
const PATTERN = /[*?]/

// hidden files, files that programs keep beside a database, and unfinished files
const BESIDE = /^\.|-(wal|shm|journal)$|\.(part|tmp|lock|bak)$|\.part-|~$/
const ENDING = /\.(mbtiles|pmtiles|sqlite|db)$/i
const COUNTS = ['tiles', 'created', 'advanced', 'backfilled', 'unchanged', 'failed', 'missing', 'gone', 'bytes']

/**
 * @typedef {object} Dated
 * @property {string} path or address
 * @property {string} name without the folders before it, and without the ending of a file
 * @property {string} time exact
 * @property {boolean} [diff] it has only the changed tiles
 *
 * @typedef {object} DatedSet
 * @property {Dated[]} members oldest first
 * @property {string[]} passedOver files and folders among them that are no sources
 * @property {SetOptions} options they are opened with
 *
 * @typedef {NonNullable<Parameters<typeof openSource>[1]> & {onProblem?: (error: TilecouchError) => void}} SetOptions
 * onProblem: called with all errors but the first, which is thrown
 */

/**
 * Finds the sources of a set, and checks each of them.
 * @param {string[]} names files, folders, addresses; a folder of them; a pattern with * and ? in its last part
 * @param {SetOptions} [options]
 * @returns {Promise<DatedSet>}
 */
export async function openSet (names, { onProblem, ...options } = {}) {
  const { paths, passedOver } = await findSources(names)
  /** @type {Dated[]} */
  const members = paths.map(source => ({ path: source, name: baseOf(source).replace(ENDING, ''), time: '' }))
  /** The first error. It is thrown after all sources were checked. @type {TilecouchError | undefined} */
  let first
  const collect = async action => {
    try {
      await action()
    } catch (error) {
      if (error.code === 'ABORTED' || !(error instanceof TilecouchError)) throw error
      if (first) onProblem?.(error)
      first ??= error
    }
  }
  for (const member of members) await collect(() => { member.time = timeInName(baseOf(member.path)) ?? '' })
  await collect(() => refuseTwins(members))
  if (first) throw first // before anything is opened
  for (const member of members) await collect(() => lookInto(member, options))
  await collect(() => refuseTwins(members)) // some times are known only after the sources were opened
  if (first) throw first
  return { members: members.sort((a, b) => compareIds(a.time, b.time)), passedOver, options }
}

const baseOf = name =>
  path.posix.basename(isUrl(name) ? new URL(name).pathname : path.resolve(name).replaceAll(path.sep, '/'))

/** @param {Dated} member @param {SetOptions} options */
async function lookInto (member, options) {
  if (options.signal?.aborted) throw new TilecouchError('ABORTED')
  const source = await openSource(member.path, options)
  try {
    member.time ||= source.time ?? '' // our own exports contain their time
    if (!member.time) throw new TilecouchError('NO_TIME_IN_NAME', { value: baseOf(member.path) })
    member.diff = Boolean(source.diff)
    if (!source.diff && await isEmpty(source)) throw emptySource({ ...source, name: member.path })
  } finally {
    await source.close()
  }
}

/** Refuses a set with a diff as complete. @param {DatedSet} set @param {boolean} [complete] */
export function checkDiffs ({ members }, complete = false) {
  for (const { path: name, diff } of members) checkComplete({ name, diff }, complete)
}

/** @param {Dated[]} members */
function refuseTwins (members) {
  const byTime = new Map()
  for (const { time, path: source } of members) {
    if (byTime.has(time)) {
      throw new TilecouchError('BAD_OPTION', {
        option: '--dated', value: time, why: `both ${byTime.get(time)} and ${source} are of that time`
      })
    }
    if (time) byTime.set(time, source)
  }
}

/**
 * The result of one member: that of `load`, or that it was loaded before.
 * @typedef {{path: string, name: string, time: string, skipped: true, edition: Record<string, any>} |
 *   ({path: string, name: string, skipped: false} & Awaited<ReturnType<typeof load>>)} SetEdition
 *
 * @typedef {Omit<import('./index.js').LoadOptions, 'time' | 'onBegin' | 'of'> & {
 *   onBegin?: (member: Dated, index: number, source: import('./sources/index.js').Source) => void, onEdition?:
 * (edition: SetEdition) => void }} SetLoadOptions title: may hold {name} and {time}; the name unless given
 */

/** @param {import('../store/index.js').Store} store @param {DatedSet} set @param {SetLoadOptions} options */
export async function loadSet (store, set, { layer, title = '{name}', onBegin, onEdition, ...options }) {
  const { members, options: opening } = set
  checkLayer(layer)
  checkDiffs(set, options.complete)
  const { area, zooms } = opening
  const counts = Object.fromEntries(COUNTS.map(field => [field, 0]))
  const total = { layer, editions: /** @type {SetEdition[]} */ ([]), ...counts }
  const add = summary => { for (const field of COUNTS) total[field] += summary[field] }
  const statements = new LayerStatements(store.couch, layer, options.signal)
  try {
    for (const [index, member] of members.entries()) {
      if (options.signal?.aborted) throw new TilecouchError('ABORTED')
      const { path: file, name, time } = member
      const sourceState = await identify(file, { opening, complete: Boolean(options.complete) })
      const before = await store.edition(layer, time)
      const isLoaded = sourceState && before?.finished && !before.failed && before.of === sourceState
      if (isLoaded) await statements.refresh() // its tiles may have been removed since
      /** @type {SetEdition} */
      let edition
      if (isLoaded && statements.isWhole(before)) {
        edition = { path: file, name, time, skipped: true, edition: before }
      } else {
        const source = await openSource(file, { ...opening, usualGrid: (await store.grid(layer)).field })
        try {
          if (isDated(source.fields?.name)) delete source.fields.name // it is a name of the edition, not of the layer
          onBegin?.(member, index, source)
          const editionOptions = { layer, time, title: titleOf(title, member), of: sourceState }
          const result = await load(store, source, { area, zooms, ...options, ...editionOptions })
          add(result)
          edition = { path: file, name, skipped: false, ...result }
        } finally {
          await source.close()
        }
      }
      total.editions.push(edition)
      onEdition?.(edition)
    }
  } catch (error) {
    if (error.summary) add(error.summary)
    throw Object.assign(error, { summary: total })
  }
  return total
}

/** Whether a name contains one time or several. @param {string} [name] of a layer */
function isDated (name = '') {
  try {
    return timeInName(name) !== undefined
  } catch {
    return true
  }
}

const titleOf = (title, { name, time }) => title.replace(/\{(name|time)\}/g, (_, field) => field === 'name'
  ? name
  : nameTime(time))

/**
 * Describes the state of a file, to recognise it if it was loaded before and has not changed. Undefined for folders and
 * areas: then the tiles are compared, which takes longer.
 * @param {string} name
 * @param {{opening: SetOptions, complete: boolean}} options
 */
async function identify (name, { opening: { area, zooms, scheme, bbox, polygon }, complete }) {
  if (isUrl(name) || area || bbox || polygon) return undefined
  const stats = await stat(name)
  if (!stats.isFile()) return undefined
  const { size, mtime } = stats
  return JSON.stringify({ name: baseOf(name), size, modified: mtime.toISOString(), zooms, scheme, complete })
}

/** @returns {Promise<{paths: string[], passedOver: string[]}>} passedOver: files and folders that are no sources */
async function findSources (names) {
  /** @type {Map<string, string>} by absolute path: two patterns may name the same source */
  const paths = new Map()
  const passedOver = new Set()
  for (const name of names) {
    const expanded = await expand(name)
    for (const source of expanded.paths) paths.set(isUrl(source) ? source : path.resolve(source), source)
    for (const file of expanded.passedOver) passedOver.add(file)
  }
  return { paths: [...paths.values()], passedOver: [...passedOver] }
}

async function expand (name) {
  if (isUrl(name)) return { paths: [name], passedOver: [] }
  const foreign = schemeError(name)
  if (foreign) throw foreign
  const stats = await statOf(name)
  if (!stats && PATTERN.test(path.basename(name))) return sourcesIn(path.dirname(name), matching(name), name)
  if (!stats) throw new TilecouchError('SOURCE_NOT_FOUND', { value: name })
  if (stats.isDirectory() && !await isTileFolder(name)) return sourcesIn(name, () => true, name)
  return { paths: [name], passedOver: [] }
}

/** @returns {Promise<import('node:fs').Stats | undefined>} nothing if there is no such file */
const statOf = name => stat(name).catch(ignoring('ENOENT')).catch(error => { throw unreadable(name, error) })

/** The test of a pattern such as surveys/*.mbtiles, for shells that have none. */
function matching (pattern) {
  const source = path.basename(pattern).replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')
  const test = new RegExp(`^${source}$`, 's')
  return name => test.test(name)
}

/** The sources in a folder. */
async function sourcesIn (folder, matches, name) {
  const paths = []
  const passedOver = []
  if (!await statOf(folder)) throw new TilecouchError('SOURCE_NOT_FOUND', { value: folder })
  const tree = new FolderReader(folder)
  const entries = []
  for await (const entry of tree.list('', matches)) entries.push(entry)
  for (const entry of entries.sort((a, b) => compareIds(a.name, b.name))) {
    const file = path.join(folder, entry.name)
    if (BESIDE.test(entry.name) || !await tree.isHere('', entry) || !await isSource(file)) passedOver.push(file)
    else paths.push(file)
  }
  if (!paths.length) throw new TilecouchError(passedOver.length ? 'SOURCE_EMPTY' : 'SOURCE_NOT_FOUND', { value: name })
  return { paths, passedOver }
}

const isSource = async name => (await statOf(name))?.isDirectory() ? isTileFolder(name) : Boolean(await recognise(name))

/** Whether a folder has zooms or is a diff. A diff may only have a list of gone tiles. */
async function isTileFolder (name) {
  const tree = new FolderReader(name)
  for await (const entry of tree.list('', child => child === GONE_LIST || ZOOM.test(child))) {
    if (entry.name === GONE_LIST || (await statOf(path.join(name, entry.name)))?.isDirectory()) return true
  }
  return false
}
