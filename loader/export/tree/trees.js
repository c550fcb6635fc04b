// The trees of a layer: the present and one for each edition, and links for periods. A new tree is built in a hidden
// folder and appears when it is complete; a link is replaced at once.
//
// A period such as 2024 or 2024-03 is a link to the tree of its last edition. Where the map changed in it after that
// edition, no tree is right, and there is no link: the gateway answers.
import { mkdir, readlink, rename, rm, unlink } from 'node:fs/promises'
import path from 'node:path'
import { AFTER, addSeconds, endOf, formatReference, isExactTime } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { BY_TIME } from '../../store/reader.js'
import { namesIn } from '../../formats/names.js'

/**
 * @typedef {{time?: string, root: string, complete: boolean}} Tree
 *   time: none for the present; complete: at its final place
 * @typedef {{time: string, finished?: string}} Edition
 * @typedef {{name: string, time: string, end: string}} Period
 *   name: 2024-03; time: of the last edition in it; end: its last second
 */

export class Trees {
  /** The present first, then the past, oldest first. @type {Tree[]} */
  list = []
  /** Periods with a link, or without one because no tree is right for them. @type {Map<string, Period>} */
  #periods = new Map()
  #editions = new Set() // times of all of them, finished or not
  #removals = new Set()

  /**
   * @param {import('../../store/index.js').Store} store @param {import('./paths.js').Paths} paths
   * @param {import('./files.js').Files} files
   * @param {{editions: boolean, onTree?: (name: string, there: boolean) => void}} options editions: the past as well;
   *   onTree: called when one appears or disappears
   */
  constructor (store, paths, files, { editions, onTree }) {
    this.store = store
    this.paths = paths
    this.files = files
    this.past = editions
    this.onTree = onTree
    /** Called before the tree of a removed edition goes. @type {(time: string) => Promise<void>} */
    this.onEnd = async () => {}
  }

  /** The trees without their final places. */
  get unfinished () {
    return this.list.filter(tree => !tree.complete)
  }

  /** Looks which editions there are. Trees of others are removed, new ones begun. */
  async arrange () {
    const { paths } = this
    const { trees: existing } = await paths.look()
    const editions = this.past ? (await this.store.editions(paths.layer)).filter(({ time }) => isExactTime(time)) : []
    this.#editions = new Set(editions.map(({ time }) => time))
    const times = treeTimes(/** @type {any} */ (editions), existing)
    // links first: none of them ever leads nowhere
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

  /** The new trees are complete: from now on they are found. */
  async finish () {
    for (const tree of this.unfinished) {
      const target = this.paths.tree(tree.time)
      await mkdir(tree.root, { recursive: true }) // of an edition that shows nothing
      await rename(tree.root, target)
      Object.assign(tree, { root: target, complete: true })
      this.onTree?.(path.basename(target), true)
    }
    await this.#link(periodsOf(this.list.flatMap(({ time }) => time ?? [])))
  }

  /**
   * Versions that are of no edition make trees wrong for the rest of their period: removes those links before.
   * @param {Set<string>} times of versions that are about to be shown
   */
  async unlinkWrong (times) {
    if (!this.#wrongAfter(times).length) return
    await this.arrange() // their edition may be new, and not heard of yet
    for (const { name } of this.#wrongAfter(times)) await this.#unlink(name)
  }

  /** @param {Period[]} periods */
  async #link (periods) {
    const right = await this.#right(periods)
    const { links } = await this.paths.look()
    for (const name of links) if (!right.has(name)) await this.#unlink(name)
    for (const [name, { time }] of right) {
      const to = formatReference(this.paths.layer, time)
      const target = this.paths.tree(name)
      if (await leadsTo(target) !== to) await this.files.symlink(to, target)
    }
    this.#periods = right
  }

  async #unlink (name) {
    this.#periods.delete(name)
    const target = this.paths.tree(name)
    if (await leadsTo(target) !== undefined) await unlink(target)
  }

  /** Those periods after whose last edition nothing changed but by editions that are still being loaded. */
  async #right (periods) {
    const { layer } = this.paths
    const open = periods.filter(({ time, end }) => time < end) // CouchDB refuses a range in which nothing can be
    const limit = this.#editions.size + 1
    const rows = await this.store.couch.queries(BY_TIME, open.map(({ time, end }) => (
      { startkey: [layer, addSeconds(time, 1)], endkey: [layer, end, AFTER], group_level: 2, limit }
    )))
    const wrong = new Set(open.filter((_, at) => !rows[at].every(({ key }) => this.#editions.has(key[1]))))
    return new Map(periods.filter(period => !wrong.has(period)).map(period => [period.name, period]))
  }

  /** Moves it away at once; its files are removed meanwhile, or when the next process starts. */
  async #discard (dir) {
    const aside = path.join(this.paths.trash, `${Date.now()}-${path.basename(dir)}`)
    await rename(dir, aside)
    const removal = rm(aside, { recursive: true, force: true }).catch(() => {})
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  /** Whether one of these times may make a link wrong. @param {Set<string>} times */
  #wrongAfter (times) {
    const others = [...times].filter(time => !this.#editions.has(time))
    return [...this.#periods.values()].filter(period => others.some(time => isWrongAfter(time, period)))
  }

  async close () {
    await Promise.all(this.#removals)
  }
}

/** Where a link leads; nothing when it is missing. A folder of that name is not ours. */
async function leadsTo (target) {
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
 * The times of the trees. A tree that is there stays as long as its edition does: loading an edition again makes it
 * unfinished for a while, and takes nothing away.
 * @param {Edition[]} editions
 * @param {Iterable<string>} existing times of trees that are there
 * @returns {string[]} ascending
 */
export function treeTimes (editions, existing) {
  const existingTimes = new Set(existing)
  return editions.filter(({ time, finished }) => finished || existingTimes.has(time)).map(({ time }) => time).sort()
}

/** The periods that have an edition in them. @param {string[]} times of the trees, ascending @returns {Period[]} */
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

/** Whether a change at a time makes the tree of a period's last edition wrong for the end of the period. */
export const isWrongAfter = (time, period) => time > period.time && time <= period.end
