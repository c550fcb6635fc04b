// A store over HTTP as a side of a replication: how browsers encode attachments, and a source that is only read.
import { TilecouchError } from '../../core/index.js'
import { CouchPeer, checkDigests } from '../../core/mirror/index.js'
import { digestOf, fromBase64, toBase64 } from './digest.js'

/**
 * Unzips attachments: CouchDB compresses text by itself, and sends it so.
 * @param {any[]} docs
 * @returns {Promise<any[]>}
 */
export const unpack = docs => Promise.all(docs.map(async doc => {
  const packed = Object.entries(doc._attachments ?? {}).filter(([, { encoding, data }]) => encoding === 'gzip' && data instanceof Uint8Array)
  if (!packed.length) return doc
  const plain = await Promise.all(packed.map(async ([name, { encoding, encoded_length: length, data, ...about }]) => [name, { ...about, data: await gunzip(data) }]))
  return { ...doc, _attachments: { ...doc._attachments, ...Object.fromEntries(plain) } }
}))

const gunzip = async bytes => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())

/** How documents are sent to a CouchDB. @type {import('../../core/mirror/peer.js').Codec} */
export const codec = {
  async bulkBody (docs) {
    return JSON.stringify({ new_edits: false, docs: await unpack(docs) }, (key, value) => value instanceof Uint8Array ? toBase64(value) : value)
  },
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
