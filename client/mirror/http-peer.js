// A store over HTTP as a side of a replication: the check of what arrives, and a source that is only read.
import { TilecouchError } from '../../core/index.js'
import { CouchPeer, checkDigests } from '../../core/mirror/index.js'
import { digestOf, fromBase64 } from './digest.js'

/** @type {import('../../core/mirror/peer.js').Codec} */
export const codec = {
  // a device may keep a tile for months: no wrong byte may get there
  check: docs => checkDigests(docs, data => digestOf(typeof data === 'string' ? fromBase64(data) : data))
}

/**
 * A store that a mirror reads from and writes nothing to, not even a checkpoint: thousands of devices would leave one
 * each, most may not, and a browser that asks whether it may fills the console with errors.
 */
export class ReadOnlyPeer extends CouchPeer {
  async getLocal () {
    return undefined
  }

  /** @returns {Promise<never>} */
  async updateLocal () {
    throw new TilecouchError('READ_ONLY', { reason: `${this.name} is not written to` })
  }
}
