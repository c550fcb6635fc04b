// Reads the editions of the chosen layer from the store, newest first: a page at a time, or all of them for a search.
// During a load it asks the page to read again from time to time.
const POLL = 5000 // milliseconds between two readings during a load
const MAX_POLL = 300000 // milliseconds: the pause doubles while a load makes no progress

export const PAGE = 50 // editions that are read and listed at once: a layer of hourly editions has thousands

/** @typedef {Pick<import('./panel.js').PanelState, 'editions' | 'hasOlder' | 'searched'>} Read */

export class EditionReader {
  /** @type {Read} */
  state = { editions: [], hasOlder: false, searched: null }
  #store
  #onRead
  #onLoad
  #layer = ''
  #stop = new AbortController()
  #isReadingAll = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #pause = POLL
  #progress = '' // tiles of each running load

  /**
   * @param {import('./store.js').Store} store
   * @param {{onRead: (state: Read) => void, onLoad: () => void}} listeners onLoad: a load may have written more
   */
  constructor (store, { onRead, onLoad }) {
    this.#store = store
    this.#onRead = onRead
    this.#onLoad = onLoad
  }

  /** The title of the edition that is shown at a time; null: the newest. @param {string | null} shown */
  titleAt (shown) {
    return this.state.editions.find(({ time }) => shown === null || time <= shown)?.title
  }

  /** Forgets the editions of the previous layer. @returns {Read} */
  open (layer) {
    this.#stop.abort()
    clearTimeout(this.#timer)
    this.#stop = new AbortController()
    this.#layer = layer
    this.#isReadingAll = false
    this.state = { editions: [], hasOlder: false, searched: null }
    return this.state
  }

  /** Reads the newest editions. Older ones that were read before stay. */
  async read (limit = PAGE) {
    const { signal } = this.#stop
    const answer = await this.#store.editions(this.#layer, limit + 1).catch(() => null) // the map shows the error
    if (!answer || signal.aborted) return
    const newest = answer.slice(0, limit)
    const isWhole = answer.length <= limit
    const { editions, hasOlder } = this.state
    const older = isWhole ? [] : editions.filter(({ time }) => time < newest[newest.length - 1].time)
    this.#set({ editions: [...newest, ...older], hasOlder: older.length ? hasOlder : !isWhole })
    this.#followLoad(answer.filter(({ finished }) => !finished))
  }

  readOlder () {
    return this.read(this.state.editions.length + PAGE)
  }

  /** Reads all editions, once for each layer. */
  async readAll () {
    if (this.#isReadingAll || !this.state.hasOlder) return
    this.#isReadingAll = true
    const { signal } = this.#stop
    const onProgress = ({ length }) => { if (!signal.aborted) this.#set({ searched: length }) }
    const editions = await this.#store.allEditions(this.#layer, signal, onProgress).catch(() => null)
    if (signal.aborted) return
    this.#isReadingAll = false
    this.#set(editions ? { editions, hasOlder: false, searched: null } : { searched: null })
  }

  /** @param {Partial<Read>} changes */
  #set (changes) {
    this.state = { ...this.state, ...changes }
    this.#onRead(this.state)
  }

  /** @param {import('./store.js').Edition[]} unfinished editions of loads that are running, or were stopped */
  #followLoad (unfinished) {
    clearTimeout(this.#timer)
    if (!unfinished.length) return
    const progress = unfinished.map(({ time, tiles }) => `${time} ${tiles}`).join()
    this.#pause = progress === this.#progress ? Math.min(2 * this.#pause, MAX_POLL) : POLL
    this.#progress = progress
    this.#timer = setTimeout(this.#onLoad, this.#pause)
  }
}
