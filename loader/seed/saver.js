// Writes fetched tiles to the store, many in a request, so that storing never delays fetching. Unchanged tiles expire later,
// new ones become versions.
import { now } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { digestOf } from '../store/tile.js'
import { versionTime } from '../upstream/save.js'

export const saveDefaults = {
  tiles: 200, // tiles in a batch at most
  bytes: 2e6, // bytes in a batch at most
  wait: 2000, // milliseconds after which a batch goes out however small: what is lost when the seed is killed
  inFlight: 3 // batches at once
}

export class SeedSaver {
  #versions = []
  #extensions = []
  #bytes = 0
  #inFlight = new Set()
  #timer
  #error

  /**
   * @param {import('../store/index.js').Store} store
   * @param {string} layer
   * @param {import('./index.js').Tally} tally
   * @param {Partial<typeof saveDefaults>} [options]
   */
  constructor (store, layer, tally, options) {
    this.store = store
    this.layer = layer
    this.tally = tally
    this.options = { ...saveDefaults, ...options }
  }

  /**
   * @param {import('./index.js').Job} job
   * @param {import('../upstream/index.js').Answer} answer
   */
  async add ({ tiles }, answer) {
    if (answer.kind === 'missing') {
      this.tally.missing += tiles.length
      return
    }
    for (const tile of tiles) {
      const found = answer.kind === 'tiles' ? answer.tiles.find(({ x, y }) => x === tile.x && y === tile.y) : undefined
      if (answer.kind === 'tiles' && !found) this.tally.missing++
      else this.#take(tile, found, answer)
    }
    if (this.#versions.length + this.#extensions.length >= this.options.tiles || this.#bytes >= this.options.bytes) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), this.options.wait)
    while (this.#inFlight.size >= this.options.inFlight) await Promise.race(this.#inFlight)
    if (this.#error) throw this.#error
  }

  /** @param {import('./index.js').Wanted} tile */
  #take ({ z, x, y, id, head }, found, answer) {
    this.tally.fetched++
    const time = now()
    const origin = { ...answer.origin, checked: time }
    if (head && (!found || (head.digest && digestOf(found.bytes) === head.digest))) {
      this.#extensions.push({ id, rev: head.rev, expires: answer.expires, origin })
      return
    }
    this.#versions.push({
      layer: this.layer, z, x, y, time: versionTime(answer, head, time), bytes: found.bytes, ...(answer.expires && { expires: answer.expires }), origin: answer.origin
    })
    this.#bytes += found.bytes.length
  }

  #flush () {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#versions.length && !this.#extensions.length) return
    const done = this.#store(this.#versions, this.#extensions)
      .catch(error => { this.#error ??= error })
      .finally(() => { this.#inFlight.delete(done) })
    this.#inFlight.add(done)
    this.#versions = []
    this.#extensions = []
    this.#bytes = 0
  }

  async #store (versions, extensions) {
    const { tally } = this
    if (extensions.length) {
      await this.store.extend(extensions)
      tally.unchanged += extensions.length
    }
    if (!versions.length) return
    // not tuned: the upstream is what is waited for
    const written = await this.store.write(versions, { batch: versions.length, concurrency: 1, onFailure: failure => tally.fail(failure) })
    tally.new += written.created
    tally.changed += written.advanced + written.backfilled
    tally.unchanged += written.unchanged
    tally.bytes += written.bytes
    for (const [type, count] of Object.entries(written.types)) tally.types[type] = (tally.types[type] ?? 0) + count
    // without the right to write there is no point in fetching on
    const [first] = written.failures
    if (written.failed === versions.length && written.failures.every(({ code }) => code === 'REFUSED')) throw new TilecouchError('FORBIDDEN', { url: this.store.url, reason: first.reason })
  }

  /** Writes the rest, and waits until everything is in the store. */
  async finish () {
    this.#flush()
    await Promise.all(this.#inFlight)
    if (this.#error) throw this.#error
  }
}
