// Whether a document is to blame for a failure, or a side that is away. One document that a server cannot read must not keep the
// others from coming, and a server that is away must not make five thousand documents look bad.

import { UNSAID } from '../couch/answers.js'

const DOUBTFUL = new Set(['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR']) // what one document alone may bring about

export const doubtsDefaults = {
  inRow: 200 // documents that fail one after the other before all of them are taken for bad together
}

/** @param {import('./peer.js').Refused[]} named @returns {(asked: {id: string}) => boolean} */
export const isUnsaid = named => ({ id }) => !named.some(one => one.id === id)

export class Doubts {
  #row = 0

  /**
   * @param {object} parts
   * @param {() => Promise<any>} parts.probe asks both sides for what they answer when they are well; throws when one is not
   * @param {(failed: import('./peer.js').Refused) => void} parts.onFailed
   * @param {Partial<typeof doubtsDefaults>} [parts.limits]
   */
  constructor ({ probe, onFailed, limits }) {
    this.probe = probe
    this.onFailed = onFailed
    this.limits = { ...doubtsDefaults, ...limits }
  }

  /** Something got across. */
  clear () {
    this.#row = 0
  }

  /** Throws when documents are not to blame. */
  async judge (error) {
    if (!DOUBTFUL.has(error.code) || this.#row >= this.limits.inRow) throw error
    await this.probe()
  }

  /** @param {import('./peer.js').Asked} asked @param {any} error */
  fail ({ id, rev }, error) {
    this.#row++
    this.onFailed({ id, rev, error: error.code, reason: error.message })
  }

  /** One of a batch whose others came. Whether it is among those that the source named, or said nothing of. @param {import('./peer.js').Asked} asked @param {import('./peer.js').Refused[]} named */
  failOne ({ id, rev }, named) {
    const trouble = named.find(one => one.id === id && (one.rev === undefined || one.rev === rev) && one.error !== 'not_found') ?? (isUnsaid(named)({ id }) ? UNSAID : undefined)
    if (trouble) this.onFailed({ id, rev, error: trouble.error, reason: trouble.reason })
    return Boolean(trouble)
  }
}
