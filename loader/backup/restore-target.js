// Opens and fills the database of a restore. The database does not exist, is empty, or was left by the same restore
// when it was killed. `TargetWriter` writes documents, several batches at once. `settleUnfinished` completes the tiles
// that a load was writing at the moment of the backup.
import { isDeepStrictEqual } from 'node:util'
import { tileId } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { RevisionCopier, newCopyTally } from '../../core/mirror/index.js'
import { ValidatingPeer, peerOf } from '../store/peer.js'
import { versions } from '../store/columns.js'
import { CLOSED_SECURITY, PRIVATE_SECURITY, Store } from '../store/index.js'
import { settleAll } from '../store/settle.js'
import { readValidation } from '../store/design-source.js'
import { walk } from '../store/walk.js'

const BLOCKS = 4 // blocks of a file that are written at once
// during a restore the rights hold the ids of the backups, since only admins write rights; opening removes the ids
const filledFrom = chain => ({ ...CLOSED_SECURITY, tilecouch: { ...CLOSED_SECURITY.tilecouch, restoring: chain } })

/** @typedef {Awaited<ReturnType<typeof openTarget>>} RestoreTarget */

/** @param {import('../store/couch.js').Couch} couch @param {string[]} chain ids of the backups; empty while unknown */
export async function openTarget (couch, chain) {
  const info = await couch.info().catch(ignoring('DATABASE_NOT_FOUND'))
  const security = info ? await new Store(couch).security() : PRIVATE_SECURITY
  const storedChain = security.tilecouch?.restoring
  const begunChain = isDeepStrictEqual(security, filledFrom(storedChain)) ? storedChain : undefined
  const isEmpty = !info || (!info.doc_count && !info.doc_del_count) // update_seq counts setting its rights as a change
  const refusal = why => new TilecouchError('RESTORE_NOT_EMPTY', { db: couch.url, why })
  const check = newChain => {
    if (begunChain && !isEmpty && String(begunChain) !== String(newChain)) {
      throw refusal('another restore was started there and not finished; remove the database to start again')
    }
  }
  if (!begunChain && !isEmpty) throw refusal()
  if (chain.length) check(chain)
  return {
    resumed: !isEmpty,
    security: begunChain ? CLOSED_SECURITY : security, // as it is now
    /** Closes the database, and creates it if necessary. @param {{chain: string[], q?: number}} options */
    async begin ({ chain: newChain, q }) {
      check(newChain)
      if (!info && !await couch.createDatabase({ q })) {
        throw new TilecouchError('RESTORE_NOT_EMPTY', { db: couch.url, why: 'somebody else has just created it' })
      }
      await new Store(couch).secure(filledFrom(newChain))
    },
    /** @param {any} [rights] unless given, it stays closed */
    end: (rights = CLOSED_SECURITY) => new Store(couch).secure(rights)
  }
}

/**
 * Writes documents of a backup. They are validated here: a validation function in the database would halve the speed.
 */
export class TargetWriter {
  #docs = new Map() // documents of unfinished batches, by id and revision
  #tasks = new Set()
  #failure
  #copier
  #tally = newCopyTally()

  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {boolean} options.resumed the database has some of the documents
   * @param {(refused: import('../../core/mirror/peer.js').Refused) => void} options.onRefused
   * @param {(written: number) => void} options.onProgress
   */
  static async open (couch, options) {
    return new TargetWriter(couch, await readValidation(), options)
  }

  constructor (couch, validation, { signal = new AbortController().signal, resumed, onRefused, onProgress }) {
    this.signal = signal
    this.resumed = resumed
    const target = new ValidatingPeer(peerOf(couch))
    target.validateWith(validation)
    this.#copier = new RevisionCopier({
      source: /** @type {any} */ ({ name: 'the backup', fetch: async revisions => this.#readDocs(revisions) }),
      target,
      tally: this.#tally,
      onRefused,
      onProgress: () => onProgress(this.#tally.docs)
    })
  }

  get written () {
    return this.#tally.docs
  }

  #readDocs (revisions) {
    const docs = revisions.map(({ id, rev }) => this.#docs.get(`${id} ${rev}`))
    const attachments = docs.flatMap(doc => Object.values(doc._attachments ?? {}))
    return { docs, bytes: attachments.reduce((sum, { data }) => sum + data.length, 0) }
  }

  /** Resolves when there is room for more. @param {any[]} docs */
  async write (docs) {
    this.check()
    // the page of changes repeats all leaves of a document: another batch may still be writing one
    const newDocs = docs.filter(doc => !this.#docs.has(keyOf(doc)))
    if (!newDocs.length) return
    const task = this.#copy(newDocs).catch(error => { this.#failure ??= error }).finally(() => this.#tasks.delete(task))
    this.#tasks.add(task)
    if (this.#tasks.size >= BLOCKS) await Promise.race(this.#tasks)
  }

  async #copy (docs) {
    for (const doc of docs) this.#docs.set(keyOf(doc), doc)
    try {
      const revisions = docs.map(({ _id: id, _rev: rev }) => ({ id, rev }))
      if (this.resumed) await this.#copier.copyMissing(rowsOf(revisions), this.signal)
      else await this.#copier.copy(revisions, this.signal)
    } finally {
      for (const doc of docs) this.#docs.delete(keyOf(doc))
    }
  }

  /** Waits for all batches. */
  async end () {
    await Promise.all(this.#tasks)
  }

  /** Throws the first failure. */
  check () {
    if (this.signal.aborted) throw new TilecouchError('ABORTED')
    if (this.#failure) throw this.#failure
  }
}

const keyOf = ({ _id: id, _rev: rev }) => `${id} ${rev}`

/** Groups revisions by document. */
function rowsOf (revisions) {
  const rows = new Map()
  for (const { id, rev } of revisions) rows.set(id, { id, revs: [...rows.get(id)?.revs ?? [], rev] })
  return [...rows.values()]
}

/**
 * Settles the tiles that a load or removal was writing at the moment of the backup. This load or removal does not
 * continue in the restored store.
 */
export async function settleUnfinished (couch, signal) {
  for (const { layer } of await new Store(couch).layers()) {
    await settleAll(couch, layer, unfinishedTiles(couch, layer, signal), { signal })
  }
}

/**
 * Tiles whose head is older than their past. A tile without a head was left so on purpose.
 * @returns {AsyncGenerator<string>}
 */
async function * unfinishedTiles (couch, layer, signal) {
  for await (const { z, x, y, rows } of walk(couch, versions, layer, { signal })) {
    const id = tileId(layer, z, x, y)
    const head = rows.find(row => row.id === id)
    if (head && rows.some(({ key }) => key[4] > head.key[4])) yield id
  }
}
