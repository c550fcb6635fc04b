// What a removal has begun and may not have finished, in a document that is not replicated: which copies of heads are being
// ended. Whoever may read a store may write such documents, so that what stands there is a hint, and nothing is done of it but
// what the store itself bears out.
import { randomUUID } from 'node:crypto'
import { isExactTime, parseTileId } from '../../core/index.js'
import { rewrite } from '../../core/rewrite.js'

export const JOURNAL = '_local/tilecouch-ending'

const MOST = 5000 // notes that are believed to be ours
const REV = /^\d{1,9}-[0-9a-f]{1,64}$/

/**
 * @typedef {object} Note of a head
 * @property {string} time that its content and the copy have
 * @property {string} copy revision of the copy, which is about to be ended
 * @property {string} [head] revision of the head, when it is about to be written unchanged
 */

export class Journal {
  #key = randomUUID()
  #noted = false

  /** @param {import('../store/couch.js').Couch} couch */
  constructor (couch) {
    this.couch = couch
  }

  /** Notes what begins now, instead of what was noted before. @param {Map<string, Note>} notes by the id of a head @param {AbortSignal} [signal] */
  async note (notes, signal) {
    if (!notes.size && !this.#noted) return
    await this.#change(runs => ({ ...runs, [this.#key]: notes.size ? Object.fromEntries(notes) : undefined }), signal)
    this.#noted = notes.size > 0
  }

  clear () {
    return this.note(new Map())
  }

  /** What others have left. @param {AbortSignal} [signal] @returns {Promise<{key: string, notes: Map<string, Note>}[]>} */
  async left (signal) {
    const doc = await this.couch.find({ path: JOURNAL, signal })
    let room = MOST
    return Object.entries(runsOf(doc)).filter(([key]) => key !== this.#key).map(([key, run]) => {
      const notes = new Map(Object.entries(Object(run)).slice(0, room).filter(([id, note]) => isNote(id, note)))
      room -= notes.size
      return { key, notes }
    })
  }

  /** @param {string[]} keys of runs that were finished */
  async forget (keys) {
    await this.#change(runs => Object.fromEntries(Object.entries(runs).filter(([key]) => !keys.includes(key))))
  }

  async #change (change, signal) {
    await rewrite(JOURNAL, {
      read: () => this.couch.find({ path: JOURNAL, signal }),
      change: stored => ({ runs: change(runsOf(stored)) }),
      write: (doc, stored) => this.couch.request({ method: 'PUT', path: JOURNAL, body: { ...doc, _id: JOURNAL, _rev: stored?._rev }, signal })
    })
  }
}

const runsOf = doc => typeof doc?.runs === 'object' && doc.runs !== null && !Array.isArray(doc.runs) ? doc.runs : {}

function isNote (id, note) {
  const { time, copy, head } = Object(note)
  try {
    return parseTileId(id).time === undefined && isExactTime(time) && REV.test(copy) && (head === undefined || REV.test(head))
  } catch {
    return false
  }
}
