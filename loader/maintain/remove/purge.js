// Purges documents that were just deleted, so that no trace of them is left. The change feed does not show purges.
// Therefore a purge waits until followers of the store have seen the deletion, and until every index has read it: if
// CouchDB 3.5 compacts an index that is behind, the index forgets purges and still counts the purged documents.
//
// The ids are noted in a local document before the deletion. If a removal stops between deletion and purge, the next
// removal with a purge finishes it.
import { setTimeout as sleep } from 'node:timers/promises'
import { chunks } from '../../../core/lists.js'
import { TilecouchError } from '../../errors.js'
import { readLeaves } from '../../../core/mirror/index.js'
import { warmAll } from '../../store/indexes.js'

const BATCH = 100 // documents in one purge: CouchDB's default limit
const NOTE = '_local/tilecouch-purge'

export class Purger {
  /** rev: of the deletion; at: its time by performance.now() @type {{id: string, rev: string, at: number}[]} */
  #waiting = []
  /** Ids in the note. @type {Set<string>} */
  #noted = new Set()

  /**
   * @param {import('../../store/couch.js').Couch} couch
   * @param {{heard: number, gather: number, onPurged: (documents: number) => void}} options heard: milliseconds
   * between deletion and purge; gather: deletions that are purged together
   */
  constructor (couch, { heard, gather, onPurged }) {
    this.couch = couch
    this.heard = heard
    this.gather = gather
    this.onPurged = onPurged
  }

  /** Throws if the store cannot purge, or does not allow it. */
  async check () {
    try {
      await this.#requestPurge({})
    } catch (error) {
      const { status } = error.details ?? {}
      if ([404, 405, 501].includes(status)) throw new TilecouchError('PURGE_UNSUPPORTED', { url: this.couch.url })
      if (error.code !== 'FORBIDDEN') throw error
      throw new TilecouchError('FORBIDDEN', { url: this.couch.url, reason: 'only an admin of the server may purge' })
    }
  }

  /** Reads the deletions that an earlier removal has not purged. @returns {Promise<number>} how many */
  async readLeft () {
    const { ids = [] } = await this.couch.get(NOTE) ?? {}
    this.#noted = new Set(ids)
    for (const batch of chunks(ids, BATCH)) {
      const leaves = await readLeaves(this.couch, batch)
      const deleted = [...leaves].filter(([, idLeaves]) => idLeaves.length && idLeaves.every(leaf => leaf._deleted))
      for (const [id, [{ _rev: rev }]] of deleted) this.#waiting.push({ id, rev, at: performance.now() })
    }
    return this.#waiting.length
  }

  /** Call it before documents are deleted. @param {string[]} ids */
  async note (ids) {
    const added = ids.filter(id => !this.#noted.has(id))
    if (!added.length) return
    for (const id of added) this.#noted.add(id)
    await this.couch.update(NOTE, stored => ({ ...stored, ids: [...new Set([...stored?.ids ?? [], ...added])] }))
  }

  /** @param {Map<string, string>} gone id -> revision of the deletion */
  take (gone) {
    const deletedAt = performance.now()
    for (const [id, rev] of gone) this.#waiting.push({ id, rev, at: deletedAt })
  }

  async finishIfMany () {
    if (this.#waiting.length >= this.gather) await this.finish()
  }

  async finish () {
    const lastDeletion = this.#waiting.at(-1)
    if (lastDeletion) {
      await sleep(Math.max(0, lastDeletion.at + this.heard - performance.now()))
      await warmAll(this.couch)
      while (this.#waiting.length) await this.#purge()
    }
    if (!this.#noted.size) return
    await this.couch.update(NOTE, stored => {
      const { ids = [], ...otherFields } = stored ?? {}
      return { ...otherFields, ids: ids.filter(id => !this.#noted.has(id)) } // keeps ids of another removal
    })
    this.#noted.clear()
  }

  async #purge () {
    const batch = this.#waiting.splice(0, BATCH)
    const leaves = await readLeaves(this.couch, batch.map(({ id }) => id))
    const toPurge = batch.map(({ id, rev }) => [id, revsOf(leaves.get(id), rev)])
    const { purged } = await this.#requestPurge(Object.fromEntries(toPurge))
    this.onPurged(Object.values(purged).filter(revs => revs?.length).length)
  }

  #requestPurge (body) {
    return this.couch.request({ method: 'POST', path: '_purge', body })
  }
}

/** A document that was written again after a deletion also has the deleted leaves of its earlier histories. */
const revsOf = (leaves, rev) =>
  leaves?.length && leaves.every(leaf => leaf._deleted) ? leaves.map(leaf => leaf._rev) : [rev]
