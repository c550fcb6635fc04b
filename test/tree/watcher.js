// Reads the files of trees all the time, as a web server does. Each file must be exactly one of the loaded versions of
// its tile, and must never become older. The tests of following trees use it.
import assert from 'node:assert/strict'
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'

export class Watcher {
  reads = 0
  /** Addresses seen with more than one version. */
  changed = new Set()
  #versions = new Map()
  #lastTimes = new Map()
  #stopped = false
  #running

  /** @param {string} folder @param {string} [layer] */
  constructor (folder, layer = 'osm') {
    this.folder = folder
    this.layer = layer
  }

  /**
   * Adds versions that may be seen from now on. Call it before they are loaded.
   * @param {{z: number, x: number, y: number, time: string, bytes?: Buffer}[]} versions
   */
  expect (versions) {
    for (const { z, x, y, time, bytes } of versions) {
      if (!bytes) continue
      const key = `${z}/${x}/${y}`
      if (!this.#versions.has(key)) this.#versions.set(key, new Map())
      this.#versions.get(key).set(bytes.toString('latin1'), time)
    }
  }

  start () {
    this.#running = this.#watch()
    this.#running.catch(() => {})
    return this
  }

  /** Stops reading. Throws the first wrong file. */
  async stop () {
    this.#stopped = true
    await this.#running
  }

  async #watch () {
    while (!this.#stopped) {
      const names = (await readdir(this.folder).catch(() => []))
        .filter(name => name === this.layer || name.startsWith(`${this.layer}@`))
      for (const name of names) {
        for (const key of this.#versions.keys()) {
          if (this.#stopped) return
          await this.#check(name, key)
        }
      }
      await breathe()
    }
  }

  async #check (name, key) {
    let handle
    try {
      handle = await open(path.join(this.folder, name, `${key}.png`))
    } catch (error) {
      assert.ok(['ENOENT', 'ENOTDIR'].includes(error.code), error.code)
      return
    }
    try {
      const bytes = await handle.readFile()
      const { mtimeMs } = await handle.stat()
      const address = `${name}/${key}`
      const time = this.#versions.get(key).get(bytes.toString('latin1'))
      assert.ok(time, `${address} is a version that was loaded, whole (${bytes.length} bytes)`)
      assert.equal(mtimeMs, Date.parse(time), `${address} carries its time`)
      const previous = this.#lastTimes.get(address)
      assert.ok(previous === undefined || previous <= time, `${address} went back from ${previous} to ${time}`)
      if (previous !== undefined && previous !== time) this.changed.add(address)
      this.#lastTimes.set(address, time)
      this.reads++
    } finally {
      await handle.close()
    }
  }
}
