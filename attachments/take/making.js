// Makes a file: a button that begins and cancels, how far it is, and what came of it: the file, or what went wrong and
// what to do.
import { element } from '../../client/timeline/dom.js'
import { button } from '../dom.js'
import { canLeaveOut, problem } from './errors.js'

/**
 * @typedef {{blob: Blob, name: string, missing: number}} Made missing: images that were left out
 * @typedef {(options: {signal: AbortSignal, lenient: boolean, onProgress: (done: number, all: number) => void}) =>
 *   Promise<Made>} Make
 */

export class Making {
  #page
  #label
  #make
  /** @type {AbortController | null} */
  #running = null
  #address = ''
  #parts

  /**
   * @param {import('./index.js').Page} page
   * @param {{label: string, make: Make, others?: HTMLElement[]}} options label: of the button; others: beside it
   */
  constructor (page, { label, make, others = [] }) {
    const { words } = page
    this.#page = page
    this.#label = label
    this.#make = make
    this.#parts = {
      start: button(label, () => this.#running ? this.cancel() : this.run(), { class: 'primary' }),
      bar: element('progress', { max: 1, 'aria-label': words.progressLabel, hidden: true }),
      status: element('p', { class: 'hint', role: 'status' }),
      problem: element('div', { role: 'alert' }),
      result: element('div', { class: 'acts' })
    }
    const { start, bar, status, problem: trouble, result } = this.#parts
    this.node = element(
      'div', { class: 'making' }, trouble, bar, status, result, element('div', { class: 'acts' }, start, ...others)
    )
  }

  get isRunning () {
    return this.#running !== null
  }

  /** @param {string | null} why it cannot begin; null: it can */
  refuse (why) {
    if (this.isRunning) return
    this.#parts.start.setAttribute('aria-disabled', String(Boolean(why))) // a button that is disabled loses the focus
    if (why) this.#parts.status.textContent = why
    else if (this.#parts.start.dataset.refused) this.#parts.status.textContent = ''
    this.#parts.start.dataset.refused = why ? 'true' : ''
  }

  /** @param {{lenient?: boolean, done?: (made: Made) => void | Promise<void>}} [options] done: what becomes of it */
  async run ({ lenient = false, done = made => this.#offer(made) } = {}) {
    if (this.#running || this.#parts.start.getAttribute('aria-disabled') === 'true') return
    const { words } = this.#page
    const { signal } = this.#running = new AbortController()
    this.#begin()
    try {
      const made = await this.#make({ signal, lenient, onProgress: (...at) => this.#progress(...at) })
      signal.throwIfAborted()
      this.#parts.status.textContent = ''
      await done(made)
    } catch (error) {
      if (signal.aborted) this.#parts.status.textContent = words.cancelled
      else this.#fail(error, done)
    } finally {
      this.#running = null
      this.#end()
    }
  }

  cancel () {
    this.#running?.abort()
  }

  /** Lets go of the file. @returns {boolean} whether something was under way */
  close () {
    const wasRunning = this.isRunning
    this.cancel()
    this.#forget()
    return wasRunning
  }

  #begin () {
    const { start, bar, status, problem: trouble } = this.#parts
    this.#forget()
    trouble.replaceChildren()
    bar.removeAttribute('value')
    bar.hidden = false
    status.textContent = this.#page.words.working
    start.textContent = this.#page.words.cancel
    start.className = 'secondary'
  }

  #end () {
    const { start, bar } = this.#parts
    bar.hidden = true
    start.textContent = this.#label
    start.className = 'primary'
  }

  #progress (done, all) {
    this.#parts.bar.value = done / all
    // not each of them: it is read aloud
    if (done === 1 || done % 10 === 0) this.#parts.status.textContent = this.#page.words.progress({ done, all })
  }

  #offer ({ blob, name, missing }) {
    const { words, numbers } = this.#page
    this.#address = URL.createObjectURL(blob)
    const file = new File([blob], name, { type: blob.type })
    const size = numbers.bytes(blob.size)
    this.#parts.status.textContent = [words.done(size), missing && words.missing(missing)].filter(Boolean).join(' ')
    this.#parts.result.replaceChildren(
      element('a', { class: 'primary save', href: this.#address, download: name }, words.save),
      ...navigator.canShare?.({ files: [file] })
        ? [button(words.share, () => this.#share(file), { class: 'secondary' })]
        : []
    )
  }

  async #share (file) {
    try {
      await navigator.share({ files: [file] })
    } catch (error) {
      if (error.name !== 'AbortError') this.#parts.status.textContent = this.#page.words.notShared
    }
  }

  #fail (error, done) {
    const { words } = this.#page
    const text = problem(error, this.#page)
    this.#parts.status.textContent = ''
    this.#parts.problem.replaceChildren(element('div', { class: 'problem' },
      element('p', null, text),
      element('div', { class: 'acts' },
        button(words.again, () => this.run({ done }), { class: 'secondary' }),
        canLeaveOut(error) && button(words.without, () => this.run({ lenient: true, done }), { class: 'secondary' }))))
  }

  #forget () {
    this.#parts.result.replaceChildren()
    if (this.#address) URL.revokeObjectURL(this.#address)
    this.#address = ''
  }
}
