// A dated set: sources with times in their names, loaded as editions of one layer, the oldest first. All of them are found,
// opened and looked at before the first is loaded; what an earlier run has loaded is not loaded again.
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { checkLayer, compareIds } from '../core/index.js'
import { TilecouchError } from './errors.js'
import { nameTime, timeInName } from './dated.js'
import { isEmpty, load } from './load.js'
import { findSources } from './set/find.js'
import { isUrl, openSource } from './sources/index.js'

const ARCHIVE = /\.(mbtiles|pmtiles|zip|tar|tar\.gz|tgz|sqlite|db)$/i
const COUNTS = ['tiles', 'created', 'advanced', 'backfilled', 'unchanged', 'failed', 'missing', 'gone', 'bytes']

/**
 * @typedef {object} Dated
 * @property {string} path or address
 * @property {string} name without the folders before it, and without an archive's ending
 * @property {string} time exact
 * @property {boolean} [diff] it holds only what has changed
 *
 * @typedef {object} DatedSet
 * @property {Dated[]} members oldest first
 * @property {string[]} passedOver what lay among them, and is no source
 * @property {SetOptions} options they are opened with
 *
 * @typedef {NonNullable<Parameters<typeof openSource>[1]> & {onProblem?: (error: TilecouchError) => void}} SetOptions
 * onProblem: told of what else is wrong before the first thing that is wrong is thrown
 */

/**
 * Finds the sources of a set, and looks at each of them.
 * @param {string[]} names files, folders, addresses; a folder in which they lie; a pattern with * and ? in its last part
 * @param {SetOptions} [options]
 * @returns {Promise<DatedSet>}
 */
export async function openSet (names, { onProblem, ...options } = {}) {
  const { paths, passedOver } = await findSources(names)
  /** @type {Dated[]} */
  const members = paths.map(one => ({ path: one, name: baseOf(one).replace(ARCHIVE, ''), time: '' }))
  const problems = new Problems(onProblem)
  for (const member of members) await problems.try(() => { member.time = timeInName(baseOf(member.path)) ?? '' })
  await problems.try(() => refuseTwins(members))
  problems.end() // before anything is opened
  for (const member of members) await problems.try(() => lookInto(member, options))
  await problems.try(() => refuseTwins(members)) // some have said their time only now
  problems.end()
  return { members: members.sort((a, b) => compareIds(a.time, b.time)), passedOver, options }
}

const baseOf = name => path.posix.basename(isUrl(name) ? new URL(name).pathname : path.resolve(name).replaceAll(path.sep, '/'))

/** @param {Dated} member @param {SetOptions} options */
async function lookInto (member, options) {
  if (options.signal?.aborted) throw new TilecouchError('ABORTED')
  const source = await openSource(member.path, options)
  try {
    member.time ||= source.time ?? '' // an export of ours says it itself
    if (!member.time) throw new TilecouchError('NO_TIME_IN_NAME', { value: baseOf(member.path) })
    member.diff = Boolean(source.diff)
    if (!source.diff && await isEmpty(source)) throw new TilecouchError('SOURCE_EMPTY', { value: member.path })
  } finally {
    await source.close()
  }
}

/** @param {Dated[]} members */
function refuseTwins (members) {
  const byTime = new Map()
  for (const { time, path: one } of members) {
    if (byTime.has(time)) throw new TilecouchError('BAD_OPTION', { option: '--dated', value: time, why: `both ${byTime.get(time)} and ${one} are of that time` })
    if (time) byTime.set(time, one)
  }
}

/**
 * What became of one member: what `load` says of it, or that it was there already.
 * @typedef {{path: string, name: string, time: string, skipped: true, edition: Record<string, any>} | ({path: string, name: string, skipped: false} & Awaited<ReturnType<typeof load>>)} SetEdition
 *
 * @typedef {Omit<import('./load.js').LoadOptions, 'time' | 'onBegin' | 'of'> & {
 *   onBegin?: (member: Dated, index: number, source: import('./sources/index.js').Source) => void, onEdition?: (edition: SetEdition) => void
 * }} SetLoadOptions title: may hold {name} and {time}; the name unless given
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {DatedSet} set
 * @param {SetLoadOptions} options
 */
export async function loadSet (store, { members, options: opening }, { layer, title = '{name}', onBegin, onEdition, ...options }) {
  checkLayer(layer)
  const { area, zooms } = opening
  const diff = options.complete && members.find(member => member.diff)
  if (diff) throw new TilecouchError('BAD_OPTION', { option: '--complete', value: diff.path, why: 'it is a diff: what it lacks has not changed' })
  const total = { layer, editions: /** @type {SetEdition[]} */ ([]), ...Object.fromEntries(COUNTS.map(field => [field, 0])) }
  const add = summary => { for (const field of COUNTS) total[field] += summary[field] }
  try {
    for (const [index, member] of members.entries()) {
      if (options.signal?.aborted) throw new TilecouchError('ABORTED')
      const { path: one, name, time } = member
      const of = await identify(one, { opening, complete: Boolean(options.complete) })
      const before = await store.edition(layer, time)
      /** @type {SetEdition} */
      let edition
      if (of && before?.finished && !before.failed && before.of === of) edition = { path: one, name, time, skipped: true, edition: before }
      else {
        const source = await openSource(one, opening)
        try {
          onBegin?.(member, index, source)
          const result = await load(store, source, { area, zooms, ...options, layer, time, title: titleOf(title, member), of })
          add(result)
          edition = { path: one, name, skipped: false, ...result }
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

const titleOf = (title, { name, time }) => title.replace(/\{(name|time)\}/g, (_, field) => field === 'name' ? name : nameTime(time))

/**
 * What tells a source that was loaded before from one that has changed since; nothing where it cannot be told, as of a folder
 * or an area: then the tiles are compared, which takes longer.
 * @param {string} name
 * @param {{opening: SetOptions, complete: boolean}} options
 */
async function identify (name, { opening: { area, zooms, scheme, bbox, polygon }, complete }) {
  if (isUrl(name) || area || bbox || polygon) return undefined
  const stats = await stat(name)
  return stats.isFile() ? JSON.stringify({ name: baseOf(name), size: stats.size, modified: stats.mtime.toISOString(), zooms, scheme, complete }) : undefined
}

/** Collects everything that is wrong, so that it can be repaired at once and not piece by piece. */
class Problems {
  #first
  #onProblem

  /** @param {(error: TilecouchError) => void} [onProblem] told of all but the first, which `end` throws */
  constructor (onProblem) {
    this.#onProblem = onProblem
  }

  /** @param {() => void | Promise<void>} action */
  async try (action) {
    try {
      await action()
    } catch (error) {
      if (error.code === 'ABORTED' || !(error instanceof TilecouchError)) throw error
      if (this.#first) this.#onProblem?.(error)
      this.#first ??= error
    }
  }

  end () {
    if (this.#first) throw this.#first
  }
}
