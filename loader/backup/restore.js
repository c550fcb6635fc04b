// A database made of the files of a backup. Nobody but admins sees it until it is whole and has been compared with them.
import { TilecouchError } from '../../core/index.js'
import { ownDesigns } from '../couchapp/compose.js'
import { push } from '../couchapp/push.js'
import { peerOf } from '../mirror/peer.js'
import { warmWhatIsThere } from '../mirror/designs.js'
import { Couch } from '../store/couch.js'
import { Store } from '../store/index.js'
import { chainOf } from './chain.js'
import { compare } from './compare.js'
import { Filling } from './filling.js'
import { Ledger } from './ledger.js'
import { readBackup, readFileParts } from './reader.js'
import { settleHalfDone } from './half-done.js'
import { openSite } from './site.js'

const PAGES = 2 ** 32 // that a file has at most

/**
 * @typedef {object} RestoreSummary
 * @property {string[]} files that were read, in their order
 * @property {string[]} unneeded files that were named, and are not part of it
 * @property {{made: string, name: string, moment?: 'store' | 'tile', finished?: string}} of what the newest says of itself
 * @property {boolean} dryRun
 * @property {boolean} resumed something was there from a run before
 * @property {number} written revisions, by this run
 * @property {number} documents that are there and not deleted
 * @property {number} revisions
 * @property {number} deleted
 * @property {number} tiles versions of tiles among the documents
 * @property {number} bytes of attachments
 * @property {number} refused documents that are none of a store
 * @property {{id: string, reason: string}[]} refusals some of them
 * @property {number} compared documents
 * @property {number} differences between what is there and what the files say
 * @property {string[]} differing some of them
 * @property {{file: string, at?: number, why: string}[]} damage with `partial`: where reading ended
 * @property {'restored' | 'closed'} door restored: those may read who might before
 * @property {any} [security]
 */

/**
 * @param {string[] | AsyncIterable<Uint8Array>} files names in any order; or one backup as it comes
 * @param {string | null} url of a database that is not there, or empty; null: nothing, for a dry run
 * @param {object} [options]
 * @param {boolean} [options.partial] what comes before a damage
 * @param {boolean} [options.dryRun] reads and judges the files, and writes nothing
 * @param {number} [options.q] shards of the database; otherwise as many as it had
 * @param {AbortSignal} [options.signal]
 * @param {ConstructorParameters<typeof Couch>[1]} [options.couch]
 * @param {(progress: {step: 'reading' | 'writing' | 'indexing' | 'comparing', done: number, total?: number}) => void} [options.onProgress]
 * @returns {Promise<RestoreSummary>}
 */
export async function restore (files, url, { partial = false, dryRun = false, q, signal, couch: settings, onProgress } = {}) {
  const isStream = !Array.isArray(files)
  const { links, unneeded } = isStream ? { links: [], unneeded: [] } : await chainOf(files, { partial })
  const ledger = await Ledger.open()
  const work = new Restoring({ ledger, partial, signal, onProgress })
  try {
    const sources = isStream ? [{ file: 'standard input', parts: () => readBackup(files, 'standard input') }] : links.map(({ file }) => ({ file, parts: () => readFileParts(file) }))
    work.sources = sources
    const couch = url === null ? null : new Couch(url, settings)
    const site = couch && await openSite(couch, links.map(({ header }) => header.id))
    if (!isStream || dryRun) await work.readAll()
    if (couch && site && !dryRun) await work.write(couch, site, { isStream, q })
    return { ...work.summary(), files: sources.map(({ file }) => file), unneeded, dryRun }
  } catch (error) {
    throw Object.assign(signal?.aborted ? new TilecouchError('ABORTED') : error, { written: work.written })
  } finally {
    await ledger.close()
  }
}

class Restoring {
  /** @type {{file: string, parts: () => AsyncGenerator<import('./reader.js').Part>}[]} */
  sources = []
  /** Ids of the backups. @type {string[]} */
  chain = []
  #header
  #trailer
  #damage = /** @type {{file: string, at?: number, why: string}[]} */ ([])
  #result = { resumed: false, refused: 0, refusals: /** @type {any[]} */ ([]), compared: 0, differences: 0, differing: /** @type {string[]} */ ([]), door: /** @type {'restored' | 'closed'} */ ('closed'), security: /** @type {any} */ (undefined) }

  constructor ({ ledger, partial, signal, onProgress }) {
    this.ledger = ledger
    this.partial = partial
    this.signal = signal
    this.onProgress = onProgress
  }

  /** Revisions, also when something went wrong. */
  written = 0

  summary () {
    const { made, name } = this.#header
    return {
      of: { made, name, moment: this.#trailer?.moment, finished: this.#trailer?.finished },
      ...this.ledger.counts(),
      ...this.#result,
      written: this.written,
      damage: this.#damage
    }
  }

  /** Every part of every file is looked at before anything is written. */
  async readAll () {
    let done = 0
    for await (const { documents, rank } of this.#parts()) {
      for (const doc of documents.docs) this.ledger.add(doc, rank)
      this.onProgress?.({ step: 'reading', done: done += documents.docs.length })
    }
  }

  /** Documents of all files. With `partial` a damage ends its file. */
  async * #parts () {
    this.chain = []
    this.#damage = []
    for (const [index, { file, parts }] of this.sources.entries()) {
      this.#trailer = undefined
      try {
        for await (const part of parts()) {
          if (this.signal?.aborted) throw new TilecouchError('ABORTED')
          if (part.kind === 'header') this.#begin(part.header)
          else if (part.kind === 'trailer') this.#trailer = part.trailer
          else yield { documents: part.documents, rank: index * PAGES + part.documents.page }
        }
      } catch (error) {
        if (!this.partial || error.code !== 'BACKUP_DAMAGED' || !this.#header) throw error
        const { at, why } = error.details
        this.#damage.push({ file, at, why })
      }
    }
  }

  #begin (header) {
    if (header.base && !this.chain.includes(header.base.id)) throw new TilecouchError('BACKUP_MISSING', { file: this.sources.at(-1)?.file, why: `it was called ${header.base.file}, and was made at ${header.base.made} (${header.base.id})` })
    this.#header = header
    this.chain.push(header.id)
  }

  /** @param {Couch} couch @param {import('./site.js').Site} site */
  async write (couch, site, { isStream, q }) {
    const { ledger, signal, onProgress } = this
    const total = isStream ? undefined : ledger.counts().revisions
    const filling = await Filling.open(couch, {
      signal, resumed: site.resumed, onRefused: ({ id, rev, reason }) => this.#refuse(id, rev, reason), onProgress: done => onProgress?.({ step: 'writing', done, total })
    })
    let isBegun = false
    try {
      for await (const { documents: { docs }, rank } of this.#parts()) {
        if (!isBegun) await site.begin({ chain: this.chain, q: q ?? this.#header.q })
        isBegun = true
        await filling.take(isStream ? docs.filter(doc => ledger.add(doc, rank)) : docs.filter(({ _id: id }) => ledger.has(id, rank)))
      }
      if (!isBegun) await site.begin({ chain: this.chain, q: q ?? this.#header.q })
    } finally {
      await filling.end()
      this.written = filling.written
    }
    filling.check()
    this.#result.resumed = site.resumed
    await this.#finish(couch, site)
  }

  #refuse (id, rev, reason) {
    this.ledger.drop(id, rev)
    this.#result.refused++
    if (this.#result.refusals.length < 20) this.#result.refusals.push({ id, reason })
  }

  async #finish (couch, site) {
    const { signal, onProgress, ledger } = this
    const total = ledger.counts().revisions
    const { compared, differences, named } = await compare(peerOf(couch), ledger, { signal, onProgress: done => onProgress?.({ step: 'comparing', done, total }) })
    Object.assign(this.#result, { compared, differences, differing: named })
    const docs = await ownDesigns()
    onProgress?.({ step: 'indexing', done: 0 })
    await push(couch, docs, { signal })
    await warmWhatIsThere(couch, docs, signal)
    await settleHalfDone(couch, signal)
    if (differences || this.#damage.length) return // an admin has to look at it before anybody else
    const security = this.#trailer?.security
    if (security) await new Store(couch).secure(security) // a gateway does not tell it: then it stays closed
    await site.end()
    if (security) Object.assign(this.#result, { door: 'restored', security })
  }
}
