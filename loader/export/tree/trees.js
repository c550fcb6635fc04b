// The trees of a layer: one of the present, one for each edition, and links for periods. A new tree is built in a
// hidden folder and moved to its place when it is complete. A link is replaced in one step.
//
// A period such as 2024 or 2024-03 is a link to the tree of its last edition. If the map changed in the period after
// that edition, no tree is right and there is no link: the gateway answers.
import { mkdir, readlink, rename, rm, unlink } from 'node:fs/promises'
import path from 'node:path'
import { AFTER, addSeconds, endOf, formatReference, isExactTime } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { BY_TIME } from '../../store/reader.js'
import { namesIn } from '../../formats/names.js'

/**
 * @typedef {{time?: string, root: string, complete: boolean}} Tree
 *   time: undefined for the present; complete: the tree is at its final place
 * @typedef {{time: string, finished?: string}} Edition
 * @typedef {{name: string, time: string, end: string}} Period
 *   name: such as 2024-03; time: of the last edition in it; end: its last second
 */

export class Trees {
  /** The present first, then the editions, oldest first. @type {Tree[]} */
  list = []
  /** The periods that have a link. @type {Map<string, Period>} */
  #periods = new Map()
  #editions = new Set() // times of all editions, finished or not
  #removals = new Set()

  /**
   * @param {import('../../store/index.js').Store} store @param {import('./paths.js').Paths} paths
   * @param {import('./files.js').Files} files
   * @param {{editions: boolean, onTree?: (name: string, there: boolean) => void}} options editions: not only the
   *   present; onTree: called when a tree appears or disappears
   */
  constructor (store, paths, files, { editions, onTree }) {
    this.store = store
    this.paths = paths
    this.files = files
    this.past = editions
    this.onTree = onTree
    /** Called before the tree of a removed edition is removed. @type {(time: string) => Promise<void>} */
    this.onEnd = async () => {}
  }

  /** The trees that are not complete. */
  get unfinished () {
    return this.list.filter(tree => !tree.complete)
  }

  /** Reads the editions. Removes trees without an edition, and begins trees of new editions. */
  async arrange () {
    const { paths } = this
    const { trees: existing } = await paths.look()
    const editions = this.past ? (await this.store.editions(paths.layer)).filter(({ time }) => isExactTime(time)) : []
    this.#editions = new Set(editions.map(({ time }) => time))
    const times = treeTimes(/** @type {any} */ (editions), existing)
    // links first, so that no link leads to a missing tree
    const periods = periodsOf(times.filter(time => existing.includes(time)))
    await this.#link(periods)
    for (const time of existing) {
      if (times.includes(time)) continue
      await this.onEnd(time)
      await this.#discard(paths.tree(time))
      this.onTree?.(formatReference(paths.layer, time), false)
    }
    const names = new Set(times.map(time => path.basename(paths.tree(time))))
    for (const name of await namesIn(paths.unfinished)) {
      if (!names.has(name)) await this.#discard(path.join(paths.unfinished, name))
    }
    await mkdir(paths.tree(), { recursive: true })
    this.list = [{ root: paths.tree(), complete: true }, ...times.map(time => existing.includes(time)
      ? { time, root: paths.tree(time), complete: true }
      : { time, root: paths.unfinishedTree(time), complete: false })]
  }

  /** Moves the new trees, which are complete, to their places. */
  async finish () {
    for (const tree of this.unfinished) {
      const target = this.paths.tree(tree.time)
      await mkdir(tree.root, { recursive: true }) // missing if the edition has no tiles
      await rename(tree.root, target)
      Object.assign(tree, { root: target, complete: true })
      this.onTree?.(path.basename(target), true)
    }
    await this.#link(periodsOf(this.list.flatMap(({ time }) => time ?? [])))
  }

  /**
   * Removes links of periods that become wrong. A version without an edition makes the tree wrong for the rest of the
   * period.
   * @param {Set<string>} times of versions that will be written to the trees
   */
  async unlinkWrong (times) {
    if (!this.#periodsWrongAfter(times).length) return
    await this.arrange() // their edition may be new and not read yet
    for (const { name } of this.#periodsWrongAfter(times)) await this.#unlink(name)
  }

  /** @param {Period[]} periods */
  async #link (periods) {
    const rightPeriods = await this.#rightPeriods(periods)
    const { links } = await this.paths.look()
    for (const name of links) if (!rightPeriods.has(name)) await this.#unlink(name)
    for (const [name, { time }] of rightPeriods) {
      const destination = formatReference(this.paths.layer, time)
      const target = this.paths.tree(name)
      if (await destinationOf(target) !== destination) await this.files.symlink(destination, target)
    }
    this.#periods = rightPeriods
  }

  async #unlink (name) {
    this.#periods.delete(name)
    const target = this.paths.tree(name)
    if (await destinationOf(target) !== undefined) await unlink(target)
  }

  /** The periods in which only unfinished editions changed the layer after the last edition. */
  async #rightPeriods (periods) {
    const { layer } = this.paths
    const candidates = periods.filter(({ time, end }) => time < end) // CouchDB refuses an empty range
    const limit = this.#editions.size + 1
    const rows = await this.store.couch.queries(BY_TIME, candidates.map(({ time, end }) => (
      { startkey: [layer, addSeconds(time, 1)], endkey: [layer, end, AFTER], group_level: 2, limit }
    )))
    const wrong = new Set(candidates.filter((_, index) => !rows[index].every(({ key }) => this.#editions.has(key[1]))))
    return new Map(periods.filter(period => !wrong.has(period)).map(period => [period.name, period]))
  }

  /** Moves a tree away. Its files are removed in the background, or when the next process starts. */
  async #discard (dir) {
    const aside = path.join(this.paths.trash, `${Date.now()}-${path.basename(dir)}`)
    await rename(dir, aside)
    const removal = rm(aside, { recursive: true, force: true }).catch(() => {})
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  /** The periods whose link one of these times makes wrong. @param {Set<string>} times */
  #periodsWrongAfter (times) {
    const timesWithoutEdition = [...times].filter(time => !this.#editions.has(time))
    return [...this.#periods.values()].filter(period => timesWithoutEdition.some(time => isWrongAfter(time, period)))
  }

  async close () {
    await Promise.all(this.#removals)
  }
}

/** The destination of a link, or undefined if it is missing. Throws if it is not a link. */
async function destinationOf (target) {
  try {
    return await readlink(target)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    if (error.code === 'EINVAL') {
      throw new TilecouchError('TARGET_EXISTS', { value: target, why: 'a link is to be there' })
    }
    throw error
  }
}

/**
 * The times of the trees. An existing tree stays as long as its edition exists: an edition that is loaded again is
 * unfinished for a while, but keeps its tree.
 * @param {Edition[]} editions
 * @param {Iterable<string>} existing times of existing trees
 * @returns {string[]} ascending
 */
export function treeTimes (editions, existing) {
  const existingTimes = new Set(existing)
  return editions.filter(({ time, finished }) => finished || existingTimes.has(time)).map(({ time }) => time).sort()
}

/** The periods that contain an edition. @param {string[]} times of the trees, ascending @returns {Period[]} */
export function periodsOf (times) {
  const periods = new Map()
  for (const time of times) {
    for (const length of [4, 7, 10]) {
      const name = time.slice(0, length)
      periods.set(name, { name, time, end: endOf(name) })
    }
  }
  return [...periods.values()]
}

/** Whether a change at a time makes the tree of a period's last edition wrong for the period. */
export const isWrongAfter = (time, period) => time > period.time && time <= period.end
