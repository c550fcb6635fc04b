// One side of a replication in Node: a CouchDB, an embedded store or the /db of a gateway.
import { randomUUID } from 'node:crypto'
import vm from 'node:vm'
import { STORE_ID, isTileId } from '../../core/index.js'
import { CouchPeer, checkDigests } from '../../core/mirror/index.js'
import { digestOf } from './tile.js'

/** @param {import('./couch.js').Couch} couch @returns {CouchPeer} */
export const peerOf = couch => new CouchPeer(couch, { packed, check })

/**
 * Removes a `_local` document.
 * @param {import('./couch.js').Couch} couch @param {string} id @param {AbortSignal} [signal]
 * @returns {Promise<boolean>} false: it did not exist
 */
export async function removeLocal (couch, id, signal) {
  const path = `_local/${id}`
  const doc = await couch.get(path, signal)
  if (doc) await couch.find({ method: 'DELETE', path, qs: { rev: doc._rev }, signal })
  return Boolean(doc)
}

/**
 * Makes a request for one document with compressed attachments (CouchDB compresses text itself). Only so they keep
 * their digest: inside a bulk request they would be sent plain.
 */
function packed (doc) {
  const attachments = Object.entries(doc._attachments ?? {})
  if (!attachments.some(([, { encoding, data }]) => encoding && data instanceof Uint8Array)) return undefined
  const described = attachments.map(([name, { data, ...about }]) => [name, data ? { ...about, follows: true } : about])
  const json = JSON.stringify({ ...doc, _attachments: Object.fromEntries(described) })
  const boundary = randomUUID()
  const parts = [Buffer.from(`--${boundary}\r\nContent-Type: application/json\r\n\r\n${json}`)]
  for (const [, { data }] of attachments) if (data) parts.push(Buffer.from(`\r\n--${boundary}\r\n\r\n`), data)
  parts.push(Buffer.from(`\r\n--${boundary}--`))
  return { type: `multipart/related; boundary="${boundary}"`, body: Buffer.concat(parts) }
}

const check = docs => checkDigests(docs, digestOf)

/** @typedef {import('../../core/mirror/peer.js').Peer} Peer */

const ADMIN = { name: null, roles: ['_admin'] } // only documents are validated, not rights

/**
 * The target of a mirror or restore. While its database has no validation function, documents are validated here by the
 * same function: filling a database that has one takes twice as long. Also stands in for a target that does not exist,
 * in a dry run.
 * @implements {Peer}
 */
export class ValidatingPeer {
  #validate
  exists = true // the database
  /** @type {(docs: any[]) => Promise<void>} */
  beforeWrite = async () => {}
  lacked = /** @type {Record<string, number>} */ ({}) // documents that it did not have, by kind

  /** @param {Peer | null} peer null: none, for a dry run */
  constructor (peer) {
    this.peer = /** @type {Peer} */ (peer)
    this.name = peer?.name ?? 'nothing'
  }

  info () { return this.exists ? this.peer.info() : Promise.resolve({}) }
  getLocal (id, signal) { return this.exists ? this.peer.getLocal(id, signal) : Promise.resolve(undefined) }
  read (id, signal) { return this.peer.read(id, signal) }
  updateLocal (id, change, signal) { return this.peer.updateLocal(id, change, signal) }
  changes (options) { return this.peer.changes(options) }
  fetch (revisions, options) { return this.peer.fetch(revisions, options) }

  /** @param {string} source of our validation function */
  validateWith (source) {
    const validation = new vm.Script(source).runInThisContext()
    this.#validate = doc => validation(doc, null, ADMIN, {})
  }

  /** @type {Peer['revsDiff']} */
  async revsDiff (revs, signal) {
    const diff = this.exists
      ? await this.peer.revsDiff(revs, signal)
      : Object.fromEntries(Object.entries(revs).map(([id, missing]) => [id, { missing }]))
    for (const id of Object.keys(diff)) {
      const kind = kindOf(id)
      this.lacked[kind] = (this.lacked[kind] ?? 0) + 1
    }
    return diff
  }

  /** @type {Peer['write']} */
  async write (docs, signal) {
    const refused = []
    const valid = docs.filter(doc => {
      try {
        this.#validate?.(doc)
        return true
      } catch (error) {
        const reason = String(error.forbidden ?? error.unauthorized ?? error.message)
        refused.push({ id: doc._id, rev: doc._rev, error: 'forbidden', reason })
      }
    })
    if (valid.length) await this.beforeWrite(valid)
    const failed = valid.length ? await this.peer.write(valid, signal) : []
    return [...failed.filter(failure => !isOnlyForAdmins(failure)), ...refused]
  }
}

/** Whether only an admin may write the document. The mirror of a writer leaves it out: the target keeps its own. */
const isOnlyForAdmins = ({ id, reason }) => id === STORE_ID && /^only an admin /.test(reason)

function kindOf (id) {
  if (isTileId(id)) return id.includes('@') ? 'past' : 'heads'
  if (id.startsWith('layer:')) return 'layers'
  if (id === STORE_ID) return 'marker'
  if (id.startsWith('style:')) return 'styles'
  return id.startsWith('edition:') ? 'editions' : 'others'
}
