// Writes tiles of the store into trees. Right files stay, images that another tree has are linked, and other images are
// fetched once. It may be stopped at any moment and run again.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import pMap from 'p-map'
import { asOf, inspectTile } from '../../../core/index.js'
import { digestOf } from '../../store/tile.js'
import { EXTENSIONS } from '../../formats/names.js'
import { look } from './files.js'
import { FileTimes } from './state.js'

const AT_ONCE = { concurrency: 16 } // tiles whose files are checked or written at the same time
const FIRST_SURE = '1980-01-01T00:00:00Z' // some file systems change earlier times
const MOST_FAILURES = 100 // failures in memory; all are counted

/**
 * @typedef {import('./trees.js').Tree} Tree
 * @typedef {import('../../store/list.js').Listed & {time: string, digest?: string}} Version
 * @typedef {{id: string, z: number, x: number, y: number, versions: Version[]}} Tile versions: oldest first
 * @typedef {{file: string, stat: import('node:fs').Stats}} Found
 * @typedef {(tree: Tree, tile: Tile) => Promise<string[]>} Names returns the files of a tile in a tree
 * @typedef {{tile: Tile, version: Version, lacking: Tree[], extra: [Tree, string][], holder?: string}} Job
 *
 * @typedef {object} Tally
 * @property {number} tiles checked tiles, in all trees together
 * @property {number} kept files that were right
 * @property {number} written files that were fetched
 * @property {number} bytes of the written files
 * @property {number} linked additional names of files
 * @property {number} copied files that could not be linked
 * @property {number} removed
 * @property {number} failed tiles whose bytes are no known image
 */

/** The version of a tile that a tree shows. @returns {Version | undefined} */
export function shownIn ({ versions }, { time }) {
  const newest = versions[versions.length - 1]
  const head = newest?.current ? newest : undefined
  const version = time === undefined ? head : asOf(versions, time)
  return version?.gone ? undefined : version
}

/** All possible file names of a tile, for a folder that was not listed. @type {Names} */
export async function candidates ({ root }, { z, x, y }) {
  return EXTENSIONS.map(ext => path.join(root, `${z}`, `${x}`, `${y}.${ext}`))
}

export class TileWriter {
  /** @type {Tally} */
  tally = { tiles: 0, kept: 0, written: 0, bytes: 0, linked: 0, copied: 0, removed: 0, failed: 0 }
  /** @type {{id: string, time?: string, reason: string}[]} the first failures */
  failures = []

  /**
   * @param {import('../../store/index.js').Store} store @param {import('./files.js').Files} files
   * @param {{signal?: AbortSignal}} [options]
   */
  constructor (store, files, { signal } = {}) {
    this.store = store
    this.files = files
    this.signal = signal
    this.times = new FileTimes()
    /** Saves the spent times, before a file gets another time. */
    this.saveTimes = async () => {}
    /** Whether time and size identify a version of unknown digest. False while all tiles are compared. */
    this.trust = true
  }

  /**
   * @param {Tile[]} tiles each once
   * @param {Tree[]} trees all trees
   * @param {object} [options]
   * @param {Tree[]} [options.check] trees that may be wrong
   * @param {Names} [options.names]
   * @param {boolean} [options.heads] the tiles have only their heads
   * @returns {Promise<string[]>} ids of tiles that changed and have to be read again
   */
  async update (tiles, trees, { check = trees, names = candidates, heads = false } = {}) {
    if (!this.trust) await this.#learnDigests(tiles, check, names)
    const jobs = (await pMap(tiles, tile => this.#compare(tile, trees, check, names, heads), AT_ONCE)).flat()
    this.tally.tiles += tiles.length
    const changedIds = await this.#fetch(jobs.filter(job => job.lacking.length && !job.holder))
    const linked = jobs.filter(job => job.holder)
    await pMap(linked, job => this.#linkTrees(job, /** @type {string} */ (job.holder), job.lacking), AT_ONCE)
    return changedIds
  }

  /**
   * Whether a change of a tile leaves the trees of editions right, judged by the times of the files. A new version does
   * not concern a tree that shows a later version, or already shows the new one.
   * @param {Tile} tile with its head @param {import('./changes.js').Change} change
   * @param {Tree[]} past
   * @param {Map<string, {digest?: string}>} stored id -> new version
   */
  async isPastRight (tile, { times, deleted }, past, stored) {
    const [head] = tile.versions
    if (deleted || !head || !this.trust) return false
    const newTimes = [...times, head.time]
    const digestAt = time => time === head.time ? head.digest : stored.get(`${tile.id}@${time}`)?.digest
    const isVersion = async ({ file, stat }, time) =>
      this.times.fits(stat.mtimeMs, time) && digestOf(await readFile(file)) === digestAt(time)
    for (const tree of past) {
      const concerningTimes = newTimes.filter(time => time <= /** @type {string} */ (tree.time))
      if (!concerningTimes.length) continue
      const files = await this.#findFiles(tree, tile, candidates)
      if (files.length !== 1) return false
      for (const time of concerningTimes) {
        if (time <= FIRST_SURE) return false
        if (!this.times.isLater(files[0].stat.mtimeMs, time) && !await isVersion(files[0], time)) return false
      }
    }
    return true
  }

  /** Makes a job for each version that a tree shows. Removes files of trees that show no version. */
  async #compare (tile, trees, check, names, heads) {
    /** @type {Map<string, Job>} */
    const jobs = new Map()
    for (const tree of check) {
      const version = shownIn(tile, tree)
      const files = await this.#findFiles(tree, tile, names)
      if (!version) {
        for (const foundFile of files) await this.#retire(foundFile, tile, heads)
        for (const { file } of files) await this.remove(file, tree)
        continue
      }
      let job = jobs.get(version.time)
      if (!job) jobs.set(version.time, job = { tile, version, lacking: [], extra: [] })
      let isRight = false
      for (const foundFile of files) {
        if (!isRight && await this.#isFileOf(foundFile, version)) {
          isRight = true
          job.holder ??= foundFile.file
          this.tally.kept++
        } else {
          await this.#retire(foundFile, tile, heads)
          job.extra.push([tree, foundFile.file])
        }
      }
      if (!isRight) job.lacking.push(tree)
    }
    for (const job of jobs.values()) {
      if (job.lacking.length) job.holder ??= await this.#locate(job, trees.filter(tree => !check.includes(tree)), names)
    }
    return [...jobs.values()].filter(job => job.lacking.length || job.extra.length)
  }

  /** Call it before a file is removed. Marks the time as spent if the image of the file no longer exists. */
  async #retire ({ file, stat }, { versions }, heads) {
    const version = versions.find(({ time }) => this.times.fits(stat.mtimeMs, time))
    if (version ? version.digest === undefined || version.digest === digestOf(await readFile(file)) : heads) return
    await this.#spend(stat)
  }

  async #spend ({ mtimeMs }) {
    this.times.spend(mtimeMs)
    await this.saveTimes()
  }

  /** Call it before the tree of an edition is removed. */
  async endEdition (time) {
    await this.#spend({ mtimeMs: Date.parse(this.times.next(time)) })
  }

  /** Removes a file whose tile is not in the store. */
  async removeUnknown (file, tree) {
    const stat = await look(file)
    if (stat) await this.#spend(stat)
    await this.remove(file, tree)
  }

  async #findFiles (tree, tile, names) {
    /** @type {Found[]} */
    const files = []
    for (const file of await names(tree, tile)) {
      const stat = await look(file)
      if (stat) files.push({ file, stat })
    }
    return files
  }

  async #locate ({ tile, version }, trees, names) {
    for (const tree of trees) {
      if (shownIn(tile, tree)?.time !== version.time) continue
      for (const candidate of await this.#findFiles(tree, tile, names)) {
        if (await this.#isFileOf(candidate, version)) return candidate.file
      }
    }
    return undefined
  }

  /**
   * Whether a file is a version. A file is always written again if the file system cannot store its time.
   * @param {Found} found @param {Version} version
   */
  async #isFileOf ({ file, stat }, { time, size, digest }) {
    if (!stat.isFile() || stat.size !== size || !this.times.fits(stat.mtimeMs, time)) return false
    return digest === undefined ? this.trust : digestOf(await readFile(file)) === digest
  }

  /** Reads missing digests of tiles that have files. */
  async #learnDigests (tiles, trees, names) {
    const hasFiles = async tile => (await Promise.all(trees.map(tree => names(tree, tile)))).flat().length > 0
    const hasFile = await pMap(tiles, hasFiles, AT_ONCE)
    const versions = tiles.filter((_, index) => hasFile[index]).flatMap(tile => tile.versions)
      .filter(({ digest, gone }) => !digest && !gone)
    const storedVersions = await this.store.versionsById(versions.map(({ id }) => id), { signal: this.signal })
    for (const version of versions) {
      const stored = storedVersions.get(version.id)
      if (stored && stored.time === version.time) version.digest = stored.digest
    }
  }

  /** @param {Job[]} jobs */
  async #fetch (jobs) {
    const changedIds = new Set()
    const fetched = this.store.fetch(jobs.map(job => ({ ...job.version, job })), {
      signal: this.signal,
      onMissing: ({ job }) => changedIds.add(job.tile.id)
    })
    await pMap(/** @type {AsyncIterable<{job: Job, bytes: Buffer}>} */ (fetched), async ({ job, bytes }) => {
      const ext = this.#extensionOf(job, bytes)
      if (ext === undefined) {
        for (const [tree, file] of job.extra) await this.remove(file, tree)
        return
      }
      const [firstTree, ...otherTrees] = job.lacking
      const target = fileOf(firstTree, job.tile, ext)
      await this.files.move(await this.files.write(bytes, this.times.next(job.version.time)), target)
      this.tally.written++
      this.tally.bytes += bytes.length
      await this.#linkTrees(job, target, otherTrees, firstTree)
    }, AT_ONCE)
    return [...changedIds]
  }

  /** The file extension for the bytes of a tile, or undefined if they are no known image. */
  #extensionOf ({ tile, version }, bytes) {
    try {
      return inspectTile(bytes).ext
    } catch (error) {
      this.fail({ id: tile.id, time: version.time, reason: error.message })
      return undefined
    }
  }

  /** @param {{id: string, time?: string, reason: string}} failure */
  fail (failure) {
    this.tally.failed++
    if (this.failures.length < MOST_FAILURES) this.failures.push(failure)
  }

  /** @param {Tree[]} trees get a link @param {Tree} [firstTree] already has the file */
  async #linkTrees (job, holder, trees, firstTree) {
    const name = path.extname(holder).slice(1)
    for (const tree of trees) {
      if (await this.files.link(holder, fileOf(tree, job.tile, name))) this.tally.linked++
      else this.tally.copied++
    }
    const placed = new Set([firstTree, ...trees].flatMap(tree => tree ? fileOf(tree, job.tile, name) : []))
    for (const [tree, file] of job.extra) if (!placed.has(file)) await this.remove(file, tree)
  }

  async remove (file, tree) {
    await this.files.remove(file, tree.root)
    this.tally.removed++
  }
}

const fileOf = ({ root }, { z, x, y }, ext) => path.join(root, `${z}`, `${x}`, `${y}.${ext}`)
