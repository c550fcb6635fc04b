// The database that a restore fills: it does not exist, or is empty, or was left by the same restore when it was
// killed. `TargetWriter` writes documents into it, several batches at once; `settleUnfinished` completes what a load
// had half done when the backup was made.
import { isDeepStrictEqual } from 'node:util'
import { tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { RevisionCopier, newCopyTally } from '../../core/mirror/index.js'
import { ValidatingPeer, peerOf } from '../store/peer.js'
import { versions } from '../store/columns.js'
import { CLOSED_SECURITY, PRIVATE_SECURITY, Store } from '../store/index.js'
import { settleAll } from '../store/settle.js'
import { readValidation } from '../store/design-source.js'
import { walk } from '../store/walk.js'

const BLOCKS = 4 // of a file that are written at once
// while it is filled: the ids of the backups are in its rights, which only admins write. Opening it takes them out
const filledFrom = chain => ({ ...CLOSED_SECURITY, tilecouch: { ...CLOSED_SECURITY.tilecouch, restoring: chain } })

/** @typedef {Awaited<ReturnType<typeof openTarget>>} RestoreTarget */

/** @param {import('../store/couch.js').Couch} couch @param {string[]} chain ids of the backups; empty while unknown */
export async function openTarget (couch, chain) {
  const info = await infoOf(couch)
  const security = info ? await new Store(couch).security() : PRIVATE_SECURITY
  const chainThere = security.tilecouch?.restoring
  const begun = isDeepStrictEqual(security, filledFrom(chainThere)) ? chainThere : undefined
  const isEmpty = !info || (!info.doc_count && !info.doc_del_count) // update_seq counts setting its rights as a change
  const refuse = why => new TilecouchError('RESTORE_NOT_EMPTY', { db: couch.url, why })
  const check = of => {
    if (begun && !isEmpty && String(begun) !== String(of)) {
      throw refuse('another restore was started there and not finished; remove the database to start again')
    }
  }
  if (!begun && !isEmpty) throw refuse()
  if (chain.length) check(chain)
  return {
    resumed: !isEmpty,
    security: begun ? CLOSED_SECURITY : security, // as it is now
    /** Closes the database, and creates it if necessary. @param {{chain: string[], q?: number}} of */
    async begin ({ chain: of, q }) {
      check(of)
      if (!info) await createDatabase(couch, q)
      await new Store(couch).secure(filledFrom(of))
    },
    /** @param {any} [rights] unless given, it stays closed */
    end: (rights = CLOSED_SECURITY) => new Store(couch).secure(rights)
  }
}

async function infoOf (couch) {
  try {
    return await couch.info()
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') return undefined
    throw error
  }
}

async function createDatabase (couch, q) {
  try {
    await couch.request({ method: 'PUT', qs: { ...(q && { q }) } })
  } catch (error) {
    if (error.details?.status !== 412) throw error
    throw new TilecouchError('RESTORE_NOT_EMPTY', { db: couch.url, why: 'somebody else has just created it' })
  }
}

/**
 * Writes documents of a backup. While the database has no validation function, which would halve the speed, they are
 * validated here.
 */
export class TargetWriter {
  #docs = new Map() // under way, by id and revision
  #working = new Set()
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
      source: /** @type {any} */ ({ name: 'the backup', fetch: async asked => this.#find(asked) }),
      target,
      tally: this.#tally,
      onRefused,
      onProgress: () => onProgress(this.#tally.docs)
    })
  }

  get written () {
    return this.#tally.docs
  }

  #find (asked) {
    const docs = asked.map(({ id, rev }) => this.#docs.get(`${id} ${rev}`))
    const attachments = docs.flatMap(doc => Object.values(doc._attachments ?? {}))
    return { docs, bytes: attachments.reduce((sum, { data }) => sum + data.length, 0) }
  }

  /** Resolves when there is room for more. @param {any[]} docs */
  async write (docs) {
    this.check()
    if (!docs.length) return
    const work = this.#copy(docs).catch(error => { this.#failure ??= error }).finally(() => this.#working.delete(work))
    this.#working.add(work)
    if (this.#working.size >= BLOCKS) await Promise.race(this.#working)
  }

  async #copy (docs) {
    const keys = docs.map(({ _id: id, _rev: rev }) => `${id} ${rev}`)
    docs.forEach((doc, index) => this.#docs.set(keys[index], doc))
    try {
      const asked = docs.map(({ _id: id, _rev: rev }) => ({ id, rev }))
      if (this.resumed) await this.#copier.copyMissing(rowsOf(asked), this.signal)
      else await this.#copier.copy(asked, this.signal)
    } finally {
      for (const key of keys) this.#docs.delete(key)
    }
  }

  /** Waits for all batches. */
  async end () {
    await Promise.all(this.#working)
  }

  /** Throws the first failure. */
  check () {
    if (this.signal.aborted) throw new TilecouchError('ABORTED')
    if (this.#failure) throw this.#failure
  }
}

/** Groups revisions by document. */
function rowsOf (asked) {
  const rows = new Map()
  for (const { id, rev } of asked) rows.set(id, { id, revs: [...rows.get(id)?.revs ?? [], rev] })
  return [...rows.values()]
}

/**
 * The moment of a backup may lie between two requests of a load or removal, which does not continue in the restored
 * store: settles the tiles that it was writing.
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
