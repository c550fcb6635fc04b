// Reads the store again and again while the overview is open: sizes, indexes, figures of layers, expired tiles,
// running tasks. No request waits for an index.
import { figureDefaults, pendingOf, readExpiring, readFigures, readState } from './figures.js'

const pauses = {
  look: 5000, // milliseconds between two looks
  soon: 1000, // the same, while an index catches up
  change: 500, // the same, after a change of a layer or an edition
  share: 10, // figures are read again after this many times the duration of the last read
  again: 60_000 // milliseconds after which expired tiles and design documents are read again
}

/**
 * The results of the looks so far.
 * @typedef {object} Seen
 * @property {Awaited<ReturnType<typeof readState>>} [state]
 * @property {Awaited<ReturnType<typeof readFigures>>} [figures]
 * @property {Awaited<ReturnType<typeof readExpiring>>} [expiring]
 * @property {any[]} [designs]
 * @property {boolean} [isEmbedded]
 */

export class Look {
  #app
  #onSeen
  #stop = new AbortController()
  #timer
  #isLooking = false
  /** @type {Seen} */
  #seen = {}
  #figuresAt = -Infinity
  #figuresTook = 0
  #figuresOf = ''
  #slowAt = -Infinity

  /**
   * @param {import('../app.js').App} app
   * @param {(seen: Seen, problem: string) => void} onSeen after each look
   */
  constructor (app, onSeen) {
    this.#app = app
    this.#onSeen = onSeen
    document.addEventListener('visibilitychange', this.#onVisible)
    this.#look()
  }

  /** @param {'layer' | 'edition'} kind of a document that has changed */
  changed (kind) {
    if (kind === 'layer') this.#slowAt = -Infinity // a ttl may have changed
    const isMissing = !this.#seen.expiring && this.#app.docs.known.has('layer')
    this.soon(isMissing ? 0 : pauses.change)
  }

  soon (delay = 0) {
    clearTimeout(this.#timer)
    if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => this.#look(), delay)
  }

  stop () {
    this.#stop.abort()
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#onVisible)
  }

  #onVisible = () => { if (!document.hidden) this.#look() }

  async #look () {
    if (this.#isLooking || document.hidden) return
    this.#isLooking = true
    let problem = ''
    try {
      await this.#read()
    } catch (error) {
      problem = error.message
    } finally {
      this.#isLooking = false
    }
    if (this.#stop.signal.aborted) return
    this.#onSeen({ ...this.#seen }, problem)
    const pending = pendingOf(this.#seen.state?.index)
    const isMissing = !this.#seen.expiring && this.#app.docs.known.has('layer')
    const isSoon = (pending && pending <= figureDefaults.soon) || isMissing
    this.soon(isSoon ? pauses.soon : pauses.look)
  }

  async #read () {
    const { couch, user, docs } = this.#app
    const { signal } = this.#stop
    const seen = this.#seen
    seen.isEmbedded ??= await couch.isEmbedded()
    seen.state = await readState(couch, user, signal)
    const { index } = seen.state
    const isOld = performance.now() - this.#slowAt > pauses.again
    if (isOld) seen.designs = await couch.designs(signal)
    // the figures change with the index
    const state = index ? `${index.signature} ${JSON.stringify(index.update_seq)} ${pendingOf(index)}` : ''
    const isDue = performance.now() - this.#figuresAt > pauses.share * this.#figuresTook
    const isChanged = state !== this.#figuresOf || seen.figures === undefined
    if (isChanged && isDue) {
      const began = performance.now()
      seen.figures = await readFigures(couch, index, signal)
      this.#figuresOf = state
      this.#figuresAt = performance.now()
      this.#figuresTook = performance.now() - began
    }
    if (docs.known.has('layer') && (isOld || !seen.expiring || (isChanged && isDue))) {
      seen.expiring = await readExpiring(couch, docs.all('layer'), couch.now(), signal)
      this.#slowAt = performance.now()
    }
  }
}
