// The target of a mirror or restore. While its database has no validation function, documents are validated here by the
// same function: filling a database that has one takes twice as long. Also stands in for a target that does not exist,
// in a dry run.
import vm from 'node:vm'
import { STORE_ID, isTileId } from '../../core/index.js'

/** @typedef {import('../../core/mirror/peer.js').Peer} Peer */

const ADMIN = { name: null, roles: ['_admin'] } // only documents are validated, not rights

/** @implements {Peer} */
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
  fetch (asked, options) { return this.peer.fetch(asked, options) }

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
    return [...failed.filter(one => !isOfAdmin(one)), ...refused]
  }
}

/** A writer's mirror leaves out what only an admin changes: the document of the target stays as it is. */
const isOfAdmin = ({ id, reason }) => id === STORE_ID && /^only an admin /.test(reason)

function kindOf (id) {
  if (isTileId(id)) return id.includes('@') ? 'past' : 'heads'
  if (id.startsWith('layer:')) return 'layers'
  if (id === STORE_ID) return 'marker'
  if (id.startsWith('style:')) return 'styles'
  return id.startsWith('edition:') ? 'editions' : 'others'
}
