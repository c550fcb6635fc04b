// When a checkpoint is written: now and then, when there is something to tell, and last of all when a session ends.
import { timeoutSignal } from '../abort.js'

const LOOK = 500 // milliseconds between two looks at the clock

export class Notes {
  #window = /** @type {import('./window.js').Window | undefined} */ (undefined)
  #status = () => /** @type {any} */ ({})
  #told = 0 // when anything was written last
  #saved // place
  #saving = /** @type {Promise<void> | undefined} */ (undefined)
  #timer
  #before
  #what = '' // it was told of last
  #isDeaf = false // the side that is told

  /**
   * @param {import('./checkpoint.js').Checkpoint} checkpoint
   * @param {{limits: typeof import('./replication.js').replicationDefaults, tally: import('./carrier.js').Tally, refusals: import('./refusals.js').Refusals, isSilent: boolean}} options isSilent: nothing is written
   */
  constructor (checkpoint, { limits, tally, refusals, isSilent }) {
    this.checkpoint = checkpoint
    this.limits = limits
    this.tally = tally
    this.refusals = refusals
    this.isSilent = isSilent
    this.#before = { ...tally } // what other sessions of this run have done
    this.#saved = checkpoint.since
  }

  /** @param {import('./window.js').Window} window @param {() => any} status @param {(error: any) => void} onError */
  begin (window, status, onError) {
    this.#window = window
    this.#status = status
    this.#told = Date.now()
    if (!this.isSilent) this.#timer = setInterval(() => { this.#look().catch(onError) }, LOOK)
  }

  async #look () {
    const since = Date.now() - this.#told
    if (this.#saving || since < this.limits.checkpoint) return
    if (this.#window?.since !== this.#saved || this.refusals.isChanged) await this.save()
    else if (since >= this.limits.sign) await this.#write(() => this.checkpoint.note(this.#state()))
  }

  /** How far it got. @param {AbortSignal} [signal] */
  async save (signal) {
    const seq = this.#window?.since
    if (this.isSilent || seq === undefined || (seq === this.#saved && !this.refusals.isChanged)) return
    this.refusals.isChanged = false
    await this.#write(() => this.checkpoint.save(seq, this.#counts(), this.#state(), signal)).catch(error => {
      this.refusals.isChanged = true
      throw error
    })
    this.#saved = seq
  }

  /** Of this session, in CouchDB's words. */
  #counts () {
    const done = key => this.tally[key] - this.#before[key]
    return {
      missing_checked: done('checked'), missing_found: done('missing'), docs_read: done('docs') + done('refused'), docs_written: done('docs'), doc_write_failures: done('refused')
    }
  }

  #state ({ state, error, reason, upToDate } = this.#status()) {
    const time = milliseconds => new Date(milliseconds).toISOString().replace(/\.\d+/, '')
    return { state, error, reason, noted: time(Date.now()), up_to_date: upToDate && time(upToDate), bytes: this.tally.bytes, lacking: this.refusals.size, refused: this.refusals.list }
  }

  async #write (task) {
    this.#told = Date.now()
    const saving = task().finally(() => { if (this.#saving === saving) this.#saving = undefined })
    this.#saving = saving
    await saving
  }

  /**
   * A state that people want to know of, if the target can be told; once.
   * @param {any} status @param {string} [state] that it has come to, instead
   */
  async tell (status, state = status.state) {
    const what = `${state} ${status.error}`
    if (this.isSilent || this.#what === what) return
    this.#what = what
    await this.#soon(signal => this.checkpoint.tell(this.#state({ ...status, state }), signal))
  }

  /** No more looks. The end may be long in coming: a PouchDB that is closed never answers what it was asked before. */
  stop () {
    clearInterval(this.#timer)
  }

  /** What got there is noted, whatever came in between. */
  async end () {
    this.stop()
    await this.#soon(signal => this.save(signal))
  }

  /** Nobody waits long for a side that may be away. */
  async #soon (task) {
    if (this.#isDeaf) return
    const waiting = timeoutSignal(this.limits.parting)
    await task(waiting.signal).catch(() => { this.#isDeaf = waiting.isOver }).finally(waiting.end)
  }
}
