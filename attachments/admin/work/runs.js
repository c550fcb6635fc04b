// Documents of work, by what became of them.
import { workState } from '../../../core/work.js'

const endOf = ({ finished, seen }) => finished ?? seen ?? ''

/** The newest first: by when they began. */
const newest = (a, b) => a._id < b._id ? 1 : -1

/** The newest first: by when they ended. */
const endedLast = (a, b) => endOf(a) < endOf(b) ? 1 : endOf(a) > endOf(b) ? -1 : newest(a, b)

export class Runs {
  /** As they were found. @type {any[]} */
  #found = []
  /** @type {any[]} */
  #ended = []

  /**
   * @param {any[]} docs @param {number} now milliseconds by the clock of the server
   * @returns {{running: any[], interrupted: any[], ended: any[]}} ended: the same list while none of them changes
   */
  sort (docs, now) {
    const running = []
    const interrupted = []
    const found = []
    for (const doc of docs) {
      const state = workState(doc, now)
      if (state === 'running') running.push(doc)
      else if (state === 'interrupted') interrupted.push(doc)
      else found.push(doc)
    }
    if (found.length !== this.#found.length || found.some((doc, at) => doc !== this.#found[at])) {
      this.#found = found
      this.#ended = [...found].sort(endedLast)
    }
    return { running: running.sort(newest), interrupted: interrupted.sort(endedLast), ended: this.#ended }
  }
}

/** Milliseconds that it has run. */
export const lasted = ({ started, finished, seen, state }, now) =>
  Math.max(0, (state === 'running' ? now : Date.parse(finished ?? seen)) - Date.parse(started))

/** Milliseconds until it is done, as far as its rate tells; undefined where it does not. */
export function timeLeft ({ done, total, rate }) {
  if (!(total > done) || !(rate > 0)) return undefined
  return (total - done) / rate * 1000
}

/** Whether it goes on until it is stopped, as a live mirror does. */
export const follows = ({ about, every }) => typeof about?.state === 'string' && every > 5
