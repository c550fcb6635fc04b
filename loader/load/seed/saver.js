// Writes fetched tiles to the store, many in a request, so that storing never delays fetching. Unchanged tiles expire
// later, new ones become versions.
import { now } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { compareAnswer } from '../upstream/save.js'

const MOST_TILES = 200 // in a batch
const MOST_BYTES = 2e6 // in a batch
const WAIT = 2000 // milliseconds after which even a small batch is written: a killed seed loses no more than that
const MOST_BATCHES = 3 // at once

export class SeedSaver {
  #versions = []
  #extensions = []
  #bytes = 0
  #inFlight = new Set()
  #timer
  #error

  /** @param {import('../../store/index.js').Store} store @param {import('./index.js').Tally} tally */
  constructor (store, layer, tally) {
    this.store = store
    this.layer = layer
    this.tally = tally
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
    const heads = new Map(tiles.map(({ id, head }) => [id, head]))
    const { same, changed } = compareAnswer(this.layer, answer, heads, now())
    this.tally.fetched += same.length + changed.length
    this.tally.missing += tiles.length - same.length - changed.length
    this.#extensions.push(...same.map(({ extension }) => extension))
    this.#versions.push(...changed)
    this.#bytes += changed.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (this.#versions.length + this.#extensions.length >= MOST_TILES || this.#bytes >= MOST_BYTES) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), WAIT)
    while (this.#inFlight.size >= MOST_BATCHES) await Promise.race(this.#inFlight)
    if (this.#error) throw this.#error
  }

  #flush () {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#versions.length && !this.#extensions.length) return
    const storing = this.#store(this.#versions, this.#extensions)
      .catch(error => { this.#error ??= error })
      .finally(() => { this.#inFlight.delete(storing) })
    this.#inFlight.add(storing)
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
    // not tuned: the upstream is slower
    const onFailure = failure => tally.fail(failure)
    const summary = await this.store.write(versions, { batch: versions.length, concurrency: 1, onFailure })
    tally.new += summary.created
    tally.changed += summary.advanced + summary.backfilled
    tally.unchanged += summary.unchanged
    tally.bytes += summary.bytes
    for (const [type, count] of Object.entries(summary.types)) tally.types[type] = (tally.types[type] ?? 0) + count
    // without the right to write, there is no point in fetching more
    const { failed, failures: [first] } = summary
    if (failed === versions.length && summary.failures.every(({ code }) => code === 'REFUSED')) {
      throw new TilecouchError('FORBIDDEN', { url: this.store.url, reason: first.reason })
    }
  }

  /** Writes the last batch, and waits until all batches are stored. */
  async finish () {
    this.#flush()
    await Promise.all(this.#inFlight)
    if (this.#error) throw this.#error
  }
}
