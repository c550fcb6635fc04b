// A database made of the files of a backup. Nobody but admins sees it until it is whole and has been compared with them.
import { TilecouchError } from '../../core/index.js'
import { hostOf } from '../../core/upstream.js'
import { ownDesigns } from '../couchapp/compose.js'
import { push } from '../couchapp/push.js'
import { peerOf } from '../mirror/peer.js'
import { warmWhatIsThere } from '../mirror/designs.js'
import { Couch } from '../store/couch.js'
import { PRIVATE_SECURITY, Store } from '../store/index.js'
import { chainOf } from './chain.js'
import { compare } from './compare.js'
import { Filling } from './filling.js'
import { Ledger } from './ledger.js'
import { damaged } from './format.js'
import { readFileParts, readStreamParts } from './reader.js'
import { mayGive, plainSecurity, rightsBetween } from './rights.js'
import { settleHalfDone } from './half-done.js'
import { openSite } from './site.js'
import { PAGES } from './judge.js'

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
 * @property {string} [signer] id of the key that signed the newest, and that was checked with `signedBy` alone
 * @property {import('./rights.js').Change[]} rights who gets and who loses which right by the files
 * @property {{layer: string, hosts: string[]}[]} upstreams layers that have missing tiles fetched from elsewhere
 * @property {boolean} withheld nobody said that the rights may be given: the same restore gives them when it is run again
 * @property {'restored' | 'closed'} door restored: those may read who might before
 * @property {any} [security]
 */

/**
 * @param {string[] | AsyncIterable<Uint8Array>} files names in any order; or one backup as it comes
 * @param {string | null} url of a database that is not there, or empty; null: nothing, for a dry run
 * @param {object} [options]
 * @param {boolean} [options.partial] what comes before a damage
 * @param {boolean} [options.dryRun] reads and judges the files, and writes nothing
 * @param {'give' | 'leave' | ((changes: import('./rights.js').Change[]) => Promise<boolean>)} [options.rights] those that stand in the files: give or leave
 *   them, or who is asked; otherwise they are given only where nobody gets any by them, or where signatures are checked
 * @param {import('./age-keys.js').Identity[]} [options.identities] open what is encrypted
 * @param {import('./signature.js').PublicKey[]} [options.signedBy] every file must be signed by one of them
 * @param {number} [options.q] shards of the database; otherwise as many as it had
 * @param {AbortSignal} [options.signal]
 * @param {ConstructorParameters<typeof Couch>[1]} [options.couch]
 * @param {(progress: {step: 'reading' | 'writing' | 'indexing' | 'comparing', done: number, total?: number}) => void} [options.onProgress]
 * @returns {Promise<RestoreSummary>}
 */
export async function restore (files, url, { partial = false, dryRun = false, rights, identities, signedBy, q, signal, couch: settings, onProgress } = {}) {
  const isStream = !Array.isArray(files)
  const keys = { identities, signedBy }
  if (partial && signedBy) throw new TilecouchError('BAD_OPTION', { option: '--signed-by', value: null, why: 'what comes before a damage is not signed; leave out --partial' })
  const { links, unneeded } = isStream ? { links: [], unneeded: [] } : await chainOf(files, { partial, keys })
  const ledger = await Ledger.open()
  const work = new Restoring({ ledger, partial, rights, signed: Boolean(signedBy), signal, onProgress })
  try {
    const sources = isStream ? [{ file: 'standard input', parts: () => readStreamParts(files, 'standard input', keys) }] : links.map(({ file }) => ({ file, parts: () => readFileParts(file, keys) }))
    work.sources = sources
    const couch = url === null ? null : new Couch(url, settings)
    const site = couch && await openSite(couch, links.map(({ header }) => header.id))
    if (!isStream || dryRun) await work.readAll(site?.security)
    if (!isStream && !dryRun) await work.askRights()
    if (couch && site && !dryRun) await work.write(couch, site, { isStream, q })
    return { ...work.summary(), files: sources.map(({ file }) => file), unneeded, dryRun }
  } catch (error) {
    throw Object.assign(signal?.aborted ? new TilecouchError('ABORTED') : error, { written: work.written })
  } finally {
    await ledger.close()
  }
}

const MOST_UPSTREAMS = 100 // that are told

class Restoring {
  /** @type {{file: string, parts: () => AsyncGenerator<import('./reader.js').Part>}[]} */
  sources = []
  /** Ids of the backups. @type {string[]} */
  chain = []
  #header
  #trailer
  #sums = /** @type {string[]} */ ([]) // of the files, so that none is another one when it is read again
  #upstreams = /** @type {Map<string, {rank: number, hosts: Set<string>}>} */ (new Map()) // by id of the layer
  #rights = /** @type {import('./rights.js').Change[]} */ ([])
  #security = /** @type {any} */ (null) // that was compared, and no other, is what may be given
  #isGiven = false
  #damage = /** @type {{file: string, at?: number, why: string}[]} */ ([])
  #result = { resumed: false, refused: 0, refusals: /** @type {any[]} */ ([]), compared: 0, differences: 0, differing: /** @type {string[]} */ ([]), withheld: false, door: /** @type {'restored' | 'closed'} */ ('closed'), security: /** @type {any} */ (undefined) }

  constructor ({ ledger, partial, rights, signed, signal, onProgress }) {
    this.ledger = ledger
    this.partial = partial
    this.said = { given: rights, signed }
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
      ...(this.#trailer?.signer && { signer: this.#trailer.signer }),
      rights: this.#rights,
      upstreams: [...this.#upstreams].filter(([id, { rank }]) => this.ledger.has(id, rank)).map(([id, { hosts }]) => ({ layer: id.slice('layer:'.length), hosts: [...hosts] })),
      written: this.written,
      damage: this.#damage
    }
  }

  /** Every part of every file is looked at before anything is written. @param {any} [security] of the database as it is */
  async readAll (security = PRIVATE_SECURITY) {
    let done = 0
    for await (const { documents, rank, file } of this.#parts()) {
      for (const doc of documents.docs) this.#add(doc, rank, file)
      this.onProgress?.({ step: 'reading', done: done += documents.docs.length })
    }
    this.#compareRights(security)
  }

  /** @returns {boolean} whether it stands, as far as is known */
  #add (doc, rank, file) {
    const found = this.ledger.add(doc, rank)
    if (found === 'twice') throw damaged(file, `it says two things of ${doc._id} ${doc._rev}`)
    if (found === 'stands' && doc._id.startsWith('layer:')) this.#noteUpstream(doc, rank)
    return found === 'stands'
  }

  #noteUpstream ({ _id: id, upstream }, rank) {
    const { rank: before = rank, hosts = new Set() } = this.#upstreams.get(id) ?? {}
    if (before < rank) this.#upstreams.delete(id)
    if (!upstream || (!this.#upstreams.has(id) && this.#upstreams.size >= MOST_UPSTREAMS)) return
    this.#upstreams.set(id, { rank, hosts: (before < rank ? new Set() : hosts).add(hostOf(String(upstream.url)).replace(/^.*@/, '').slice(0, 200)) })
  }

  #compareRights (security) {
    this.#security = this.#damage.length ? null : plainSecurity(this.#trailer?.security)
    this.#rights = this.#security ? rightsBetween(security, this.#security) : []
  }

  /** Throws where somebody said no. */
  async askRights () {
    this.#isGiven = await mayGive(this.#rights, this.said)
    this.#result.withheld = !this.#isGiven && this.said.given !== 'leave'
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
          else if (part.kind === 'trailer') this.#trailer = this.#same(part.trailer, index, file)
          else yield { documents: part.documents, file, rank: index * PAGES + part.documents.page }
        }
      } catch (error) {
        if (!this.partial || error.code !== 'BACKUP_DAMAGED' || !this.#header) throw error
        const { at, why } = error.details
        this.#damage.push({ file, at, why })
      }
    }
  }

  #same (trailer, index, file) {
    const sum = JSON.stringify(trailer)
    if ((this.#sums[index] ??= sum) !== sum) throw damaged(file, 'it is another one than a moment ago')
    return trailer
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
      for await (const { documents: { docs }, rank, file } of this.#parts()) {
        if (!isBegun) await site.begin({ chain: this.chain, q: q ?? this.#header.q })
        isBegun = true
        await filling.take(isStream ? docs.filter(doc => this.#add(doc, rank, file)) : docs.filter(({ _id: id }) => ledger.has(id, rank)))
      }
      if (!isBegun) await site.begin({ chain: this.chain, q: q ?? this.#header.q })
    } finally {
      await filling.end()
      this.written = filling.written
    }
    filling.check()
    if (isStream) {
      this.#compareRights(site.security)
      await this.askRights()
    }
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
    if (this.#result.withheld) return
    const security = this.#isGiven ? this.#security : null
    if (security) await new Store(couch).secure(security) // a gateway does not tell it: then it stays closed
    await site.end()
    if (security) Object.assign(this.#result, { door: 'restored', security })
  }
}
