// "Cache as you browse": keeps what the map has shown, up to a number of bytes, and shows it again without a network.
// It uses an IndexedDB of its own, since PouchDB keeps a tombstone of everything it deletes; images are ArrayBuffers,
// since Chromium makes a file of every Blob.
import { TilecouchError } from '../../core/index.js'
import { BLOCK } from '../engine/version-index.js'
import { isImageOf } from '../mirror/digest.js'
import { BrowseDatabase, answer, keysOf } from './browse-database.js'
import { BrowseWriter } from './browse-writer.js'
import { blobOf } from './database-reader.js'
import { Emitter } from '../engine/emitter.js'

export const browseDefaults = {
  size: 50 * 1024 * 1024 // bytes kept; what was not used for longest goes first
}

const LISTS = 'lists' // after the layer, where a tile has its zoom: text sorts after numbers
const FACTS = 'facts'
const VERSION_BYTES = 150 // what an entry of a list is counted as

/**
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {{bytes: number, tiles: number}} Total
 * @typedef {object} Entry
 * @property {number} bytes
 * @property {number} used when, in milliseconds
 * @property {number} [seen] when it was put, of an image
 * @property {Version} [version] of an image; none for a head that is known by its place alone
 */

/**
 * Fires `change` with {layers} when something was kept or removed in this tab.
 * @extends {Emitter<{change: {layers?: string[]}}>}
 */
export class BrowseCache extends Emitter {
  #db
  #queue
  /** @type {Set<string>} layers whose terms forbid to keep them */
  #forbidden = new Set()
  /** Facts of layers that this page has learnt. @type {Map<string, Map<string, any>>} */
  #facts = new Map()
  /** @type {Set<string>} layers that were cleared: with the next tile come its facts */
  #cleared = new Set()

  /** @param {string} name of its database @param {true | Partial<typeof browseDefaults>} [options] */
  constructor (name, options = {}) {
    super()
    const { size } = { ...browseDefaults, ...(options === true ? {} : options) }
    if (!(size > 0 && size < Infinity)) throw new TilecouchError('BAD_OPTION', { option: 'browse.size', value: size, why: 'it is a number of bytes' })
    if (!('indexedDB' in globalThis)) throw new TilecouchError('BAD_OPTION', { option: 'browse', value: options, why: 'what was browsed is kept in IndexedDB, which only browsers have' })
    this.size = size
    this.#db = new BrowseDatabase(name)
    this.#queue = new BrowseWriter(this.#db, size, layers => this.fire('change', { layers }))
  }

  /** The image of a version, when it is kept. @param {Version} version @returns {Promise<Blob | undefined>} */
  async get (version) {
    const key = keyOf(version)
    const exact = await this.#content(key)
    if (exact) return imageOf(exact, version)
    const same = (await this.#place(...keyOf(version).slice(0, 5)))
      .find(({ entry }) => hasImageOf(entry.version, version))
    return same && imageOf(await this.#content(same.key), version)
  }

  /**
   * Keeps the image of a version. Resolves when it is there, or when it cannot be.
   * @param {Version} version @param {Blob} blob
   */
  async put (version, blob) {
    await this.#put(version.layer, keyOf(version), blob, plain(version))
  }

  /**
   * The newest image of a place that is kept.
   * @returns {Promise<{blob: Blob, version?: Version} | undefined>} version: unless only the place of it is known
   */
  async head (layer, z, x, y) {
    const images = await this.#place(layer, z, x, y)
    const nameless = images.find(({ entry }) => !entry.version)
    const newest = images.filter(({ entry }) => entry.version).sort(
      (a, b) => a.entry.version.time < b.entry.version.time ? 1 : -1
    )[0]
    const isLater = newest && (!nameless || (newest.entry.version.current && newest.entry.seen >= nameless.entry.seen))
    const chosen = isLater ? newest : nameless
    const content = chosen && await this.#content(chosen.key)
    return content && { blob: blobOfContent(content), version: chosen.entry.version }
  }

  /** Keeps the newest image of a place, whose version is not known. @param {Blob} blob */
  async putHead (layer, z, x, y, blob) {
    await this.#put(layer, keyOf({ layer, z, x, y }), blob)
  }

  /**
   * The rows of a column of which an image is kept.
   * @param {string} layer @param {Column} column
   * @returns {Promise<number[]>} ascending
   */
  async places (layer, { z, x, y0, y1 }) {
    const keys =
      await this.#read(({ entries }) => answer(entries.getAllKeys(keysOf([layer, z, x, y0], [layer, z, x, y1]))))
    return [...new Set(/** @type {any[][]} */ (keys ?? []).map(([, , , y]) => y))]
  }

  /**
   * The versions of tiles as they were when the network was asked for them last; nothing of what was never asked for.
   * @param {string} layer @param {Column[]} columns
   * @returns {Promise<Version[][]>} one answer for each column, ascending by row, then time
   */
  async versions (layer, columns) {
    const found = await this.#read(({ contents }) => Promise.all(columns.map(({ z, x, y0, y1 }) => (
      answer(contents.getAll(keysOf([layer, LISTS, z, x, blockOf(y0)], [layer, LISTS, z, x, blockOf(y1)])))
    ))))
    for (const { z, x, y0, y1 } of columns) {
      for (let block = blockOf(y0); block <= blockOf(y1); block++) this.#queue.touch([layer, LISTS, z, x, block])
    }
    return columns.map(({ y0, y1 }, at) => (found?.[at] ?? []).flat().filter(({ y }) => y >= y0 && y <= y1))
  }

  /**
   * @param {string} layer @param {Column[]} columns in whole blocks of rows, as they are asked for
   * @param {Version[][]} answers
   */
  async putVersions (layer, columns, answers) {
    if (this.#forbidden.has(layer)) return
    await Promise.all(columns.flatMap(({ z, x, y0, y1 }, at) => {
      const kept = []
      for (let block = Math.ceil(y0 / BLOCK); block * BLOCK <= y1; block++) {
        if (y1 < Math.min(2 ** z, (block + 1) * BLOCK) - 1) break // what is not whole would be taken for it
        const versions = answers[at].filter(({ y }) => blockOf(y) === block).map(plain)
        kept.push(this.#queue.put({
          key: [layer, LISTS, z, x, block], entry: { bytes: VERSION_BYTES * (versions.length + 1) }, content: versions
        }))
      }
      return kept
    }))
  }

  /** What else is known of a layer: its document under `layer`. @returns {Promise<any>} */
  async fact (layer, name) {
    return this.#content([layer, FACTS, name])
  }

  /**
   * Without it the tiles are of little use: it stays as long as they do. A document that says `offline: false` takes
   * its layer out of the cache, and keeps it out.
   * @param {any} value JSON
   */
  async putFact (layer, name, value) {
    if (name === 'layer') {
      if (value?.offline === false) this.#forbidden.add(layer)
      else this.#forbidden.delete(layer)
    }
    if (this.#forbidden.has(layer)) return this.clear(layer)
    this.#facts.set(layer, (this.#facts.get(layer) ?? new Map()).set(name, value))
    await this.#queue.put({
      key: [layer, FACTS, name], entry: { bytes: JSON.stringify(value)?.length ?? 0, used: Infinity }, content: value
    })
  }

  /** @returns {Promise<string[]>} layers of which anything is kept */
  async layers () {
    return /** @type {string[]} */ (await this.#read(({ totals }) => answer(totals.getAllKeys())) ?? [])
  }

  /**
   * @returns {Promise<{bytes: number, tiles: number, size: number, layers: Record<string, Total>}>} size: bytes it may
   *   have at most
   */
  async usage () {
    await this.#queue.flush()
    const found =
      await this.#read(async ({ totals }) => Promise.all([answer(totals.getAllKeys()), answer(totals.getAll())]))
    const [names, totals] = found ?? [[], []]
    const sum = field => totals.reduce((all, total) => all + total[field], 0)
    return { bytes: sum('bytes'), tiles: sum('tiles'), size: this.size, layers: Object.fromEntries(names.map((name, at) => [name, totals[at]])) }
  }

  /** Forgets a layer, or everything. @param {string} [layer] */
  async clear (layer) {
    await this.#queue.flush()
    await this.#db.run('readwrite', async ({ entries, contents, totals }) => {
      for (const store of [entries, contents]) layer === undefined ? store.clear() : store.delete(keysOf([layer]))
      layer === undefined ? totals.clear() : totals.delete(layer)
    }).catch(() => {})
    // not before: what is put meanwhile goes, too
    for (const known of layer === undefined ? this.#facts.keys() : [layer]) this.#cleared.add(known)
    this.fire('change', { layers: layer === undefined ? undefined : [layer] })
  }

  async close () {
    await this.#queue.close()
    await this.#db.close()
  }

  /** Closes it, and removes its database. */
  async destroy () {
    await this.#queue.close()
    await this.#db.destroy()
  }

  async #put (layer, key, blob, version) {
    if (this.#forbidden.has(layer) || blob.size > this.size) return
    const data = await blob.arrayBuffer().catch(() => undefined)
    if (!data?.byteLength) return
    if (this.#cleared.delete(layer)) {
      for (const [name, value] of this.#facts.get(layer) ?? []) this.putFact(layer, name, value)
    }
    await this.#queue.put({ key, entry: {
      bytes: blob.size, seen: Date.now(), ...(version && { version })
    }, content: { type: blob.type, data } })
  }

  async #content (key) {
    const waiting = this.#queue.find(key)
    if (waiting) return waiting.content
    const content = await this.#read(({ contents }) => answer(contents.get(key)))
    if (content !== undefined) this.#queue.touch(key)
    return content
  }

  /**
   * The images of one place, or of one time of it.
   * @param {any[]} start of their keys
   * @returns {Promise<{key: any[], entry: any}[]>}
   */
  async #place (...start) {
    const range = keysOf(start)
    const [keys, entries] = await this.#read(
      ({ entries: store }) => Promise.all([answer(store.getAllKeys(range)), answer(store.getAll(range))])
    ) ?? [[], []]
    return [
      ...this.#queue.within(start), ...entries.map((entry, at) => ({ key: /** @type {any[]} */ (keys[at]), entry }))
    ]
  }

  /**
   * @template T
   * @param {(stores: import('./browse-database.js').Stores) => Promise<T>} work
   * @returns {Promise<T | undefined>}
   */
  #read (work) {
    return this.#db.run('readonly', work).catch(() => undefined)
  }
}

/** A place has at most one image without a time: that of a head. @param {any} version */
const keyOf = ({ layer, z, x, y, time = '', rev = '', content = rev }) => [layer, z, x, y, time, content]

const blockOf = y => Math.floor(y / BLOCK)

const blobOfContent = ({ data, type }) => blobOf(data, type)

/** Not one that an earlier library kept without comparing it. */
async function imageOf (content, version) {
  const blob = content && blobOfContent(content)
  return blob && await isImageOf(blob, version) ? blob : undefined
}

/** As the index answers it: what a layer notes of it besides is not kept. @param {Version} version */
const plain = ({ layer, z, x, y, time, rev, bytes, gone, current, expires, digest }) => (
  { layer, z, x, y, time, rev, bytes, gone, current, expires, ...(digest && { digest }) }
)

/**
 * A head that went to the past is another document with the same image.
 * @param {Version} kept @param {Version} version
 */
const hasImageOf = (kept, { rev, bytes, current, digest }) => kept.digest && digest
  ? kept.digest === digest
  : kept.rev === rev || (kept.bytes === bytes && kept.current && !current)
