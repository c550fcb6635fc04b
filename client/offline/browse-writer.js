// Writes to the browse cache: many tiles in one transaction, now and then the times of last use, and it removes the
// least recently used entries when there is no room.
import { answer } from './browse-database.js'

const FILL_AFTER_EVICTION = 0.9 // of the limit, after some had to go: the next tile need not take out another
const MAX_TOUCHED = 500 // entries used before that is noted
const TOUCH_DELAY = 5000 // milliseconds before it is noted all the same
const FULL_DISK_PAUSE = 60000 // milliseconds without writing, when there is no room on the device

/** @typedef {{key: any[], entry: Record<string, any>, content: any}} Item */

export class BrowseWriter {
  #db
  #size
  #onWritten
  /** @type {Map<string, Item & {done: (() => void)[]}>} */
  #waiting = new Map()
  /** @type {Map<string, Item>} being written */
  #writing = new Map()
  #isRunning = false
  /** @type {Promise<void> | undefined} the last that was begun */
  #batch
  /** @type {Map<string, {key: any[], at: number}>} */
  #touched = new Map()
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #restUntil = 0
  #onHide = () => { if (globalThis.document?.visibilityState !== 'visible') this.#saveTouched() }

  /**
   * @param {import('./browse-database.js').BrowseDatabase} db @param {number} size bytes kept at most
   * @param {(layers: string[]) => void} onWritten
   */
  constructor (db, size, onWritten) {
    this.#db = db
    this.#size = size
    this.#onWritten = onWritten
    globalThis.document?.addEventListener('visibilitychange', this.#onHide)
  }

  /** Resolves when it is written, or when it cannot be. @returns {Promise<void>} */
  put (item) {
    const name = keyName(item.key)
    return new Promise(resolve => {
      const before = this.#waiting.get(name)
      this.#waiting.delete(name)
      this.#waiting.set(name, { ...item, done: [...before?.done ?? [], resolve] })
      if (!this.#isRunning) this.#run()
    })
  }

  /** What is not written yet. */
  find (key) {
    const name = keyName(key)
    return this.#waiting.get(name) ?? this.#writing.get(name)
  }

  /** What is not written yet of what begins so. @param {any[]} start of keys */
  within (start) {
    return [...this.#waiting.values(), ...this.#writing.values()]
      .filter(({ key }) => start.every((part, at) => key[at] === part))
  }

  /** Everything up to now is written, or given up; what comes meanwhile is not waited for. */
  async flush () {
    const last = [...this.#waiting.values()].pop()
    if (last) await new Promise(resolve => { last.done.push(() => resolve(undefined)) })
    else await this.#batch
  }

  /** An entry was used. */
  touch (key) {
    this.#touched.set(keyName(key), { key, at: Date.now() })
    if (this.#touched.size >= MAX_TOUCHED) this.#saveTouched()
    else this.#timer ??= setTimeout(() => this.#saveTouched(), TOUCH_DELAY)
  }

  async close () {
    globalThis.document?.removeEventListener('visibilitychange', this.#onHide)
    await this.flush()
    await this.#saveTouched()
  }

  async #run () {
    this.#isRunning = true
    await undefined // what is put in the same turn is written together
    while (this.#waiting.size) {
      const batch = this.#writing = this.#waiting
      this.#waiting = new Map()
      await (this.#batch = this.#write([...batch.values()]))
      this.#writing = new Map()
      for (const { done } of batch.values()) for (const resolve of done) resolve()
      this.#onWritten([...new Set([...batch.values()].map(({ key }) => key[0]))])
    }
    this.#isRunning = false
  }

  /** @param {Item[]} items */
  async #write (items) {
    if (Date.now() < this.#restUntil) return
    try {
      await this.#store(items, this.#size)
    } catch (error) {
      if (error?.name !== 'QuotaExceededError') return
      // the device is full: a part of the cache makes room, and if that does not help the rest of the page needs it
      // more
      const isWritten = await this.#free().then(() => this.#store(items, this.#size)).then(() => true, () => false)
      if (!isWritten) this.#restUntil = Date.now() + FULL_DISK_PAUSE
    }
  }

  /** @param {Item[]} items */
  async #store (items, size) {
    await this.#db.run('readwrite', async stores => {
      const now = Date.now()
      const before = await Promise.all(items.map(({ key }) => answer(stores.entries.get(key))))
      const sums = new CacheTotals()
      items.forEach(({ key, entry, content }, at) => {
        stores.entries.put({ used: now, ...entry }, key)
        stores.contents.put(content, key)
        if (before[at]) sums.add(key, before[at], -1)
        sums.add(key, entry, 1)
      })
      if (await sums.write(stores.totals) > size) await this.#evict(stores, FILL_AFTER_EVICTION * size)
    })
  }

  async #free () {
    await this.#db.run('readwrite', async stores => {
      const bytes = await new CacheTotals().write(stores.totals)
      await this.#evict(stores, bytes / 2)
    })
  }

  /** Takes out what was not used for longest. @param {number} size until it has only so many bytes */
  async #evict (stores, size) {
    await this.#writeTouched(stores)
    const sums = new CacheTotals()
    let bytes = await new CacheTotals().write(stores.totals)
    const request = stores.entries.index('used').openCursor()
    for (let cursor = await answer(request); cursor && bytes > size; cursor = await answer(request)) {
      const key = /** @type {any[]} */ (cursor.primaryKey)
      bytes -= cursor.value.bytes
      sums.add(key, cursor.value, -1)
      stores.entries.delete(key)
      stores.contents.delete(key)
      cursor.continue()
    }
    await sums.write(stores.totals)
  }

  async #saveTouched () {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#touched.size) await this.#db.run('readwrite', stores => this.#writeTouched(stores)).catch(() => {})
  }

  async #writeTouched ({ entries }) {
    const touched = [...this.#touched.values()]
    this.#touched.clear()
    const found = await Promise.all(touched.map(({ key }) => answer(entries.get(key))))
    touched.forEach(({ key, at }, index) => {
      if (found[index]?.used < at) entries.put({ ...found[index], used: at }, key)
    })
  }
}

/** What was added and taken away, layer by layer: every tab adds to the same figures. */
class CacheTotals {
  /** @type {Map<string, {bytes: number, tiles: number}>} */
  #layers = new Map()

  /** @param {any[]} key @param {Record<string, any>} entry @param {1 | -1} sign */
  add (key, { bytes, seen }, sign) {
    const sum = this.#layers.get(key[0]) ?? { bytes: 0, tiles: 0 }
    this.#layers.set(
      key[0], { bytes: sum.bytes + sign * bytes, tiles: sum.tiles + sign * (seen === undefined ? 0 : 1) }
    )
  }

  /** @param {IDBObjectStore} totals @returns {Promise<number>} bytes of everything then */
  async write (totals) {
    const [names, before] = await Promise.all([answer(totals.getAllKeys()), answer(totals.getAll())])
    const all = new Map(names.map((name, at) => [`${name}`, before[at]]))
    for (const [layer, { bytes, tiles }] of this.#layers) {
      const sum = all.get(layer) ?? { bytes: 0, tiles: 0 }
      all.set(layer, { bytes: sum.bytes + bytes, tiles: sum.tiles + tiles })
      totals.put(all.get(layer), layer)
    }
    return [...all.values()].reduce((bytes, sum) => bytes + sum.bytes, 0)
  }
}

const keyName = key => key.join('\n')
