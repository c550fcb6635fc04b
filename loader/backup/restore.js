// Restores a database from the files of a backup. Only admins see it until it is complete and has been compared with
// the files.
import { TilecouchError } from '../errors.js'
import { hostOf } from '../../core/upstream.js'
import { ownDesigns } from '../couchapp/compose.js'
import { push } from '../couchapp/push.js'
import { peerOf } from '../store/peer.js'
import { warmIndexes } from '../couchapp/publish.js'
import { Couch } from '../store/couch.js'
import { PRIVATE_SECURITY } from '../store/index.js'
import { chainOf, missingBase } from './chain.js'
import { ExpectedDocuments, compare } from './expected.js'
import { PAGES, damaged } from './format.js'
import { readFileParts, readBackup } from './reader.js'
import { TargetWriter, openTarget, settleUnfinished } from './restore-target.js'
import { mayGive, plainSecurity, rightsBetween } from './rights.js'

const MOST_UPSTREAMS = 100 // that are reported
const MOST_REFUSALS = 20 // refused documents that are reported

/** @typedef {import('./rights.js').Change} Change */

/**
 * @typedef {object} RestoreSummary
 * @property {string[]} files that were read, in their order
 * @property {string[]} unneeded given files that are not part of it
 * @property {{made: string, name: string, moment?: 'store' | 'tile', finished?: string}} of the newest backup
 * @property {boolean} dryRun
 * @property {boolean} resumed an earlier run had written something
 * @property {number} written revisions, by this run
 * @property {number} documents not deleted
 * @property {number} revisions
 * @property {number} deleted
 * @property {number} tiles versions of tiles among the documents
 * @property {number} bytes of attachments
 * @property {number} tokens of the store, which the newest backup does not have
 * @property {number} refused documents that are not of a store
 * @property {{id: string, reason: string}[]} refusals some of them
 * @property {number} compared documents
 * @property {number} differences between the database and the files
 * @property {string[]} differing some of them
 * @property {{file: string, at?: number, why: string}[]} damage with `partial`: where reading ended
 * @property {Change[]} rights rights that the files give or take away
 * @property {{layer: string, hosts: string[]}[]} upstreams layers whose missing tiles are fetched from other servers
 * @property {boolean} withheld the rights were not confirmed: the same restore, run again with `rights`, gives them
 * @property {'restored' | 'closed'} access restored: as the backup has it; closed: for admins only
 * @property {any} [security]
 */

/**
 * @param {string[] | AsyncIterable<Uint8Array>} files names in any order, or the bytes of one backup
 * @param {string | null} url of a database that does not exist or is empty; null: none, for a dry run
 * @param {object} [options]
 * @param {boolean} [options.partial] restores the part of a damaged file before the damage
 * @param {boolean} [options.dryRun] reads and checks the files, and writes nothing
 * @param {'give' | 'leave' | ((changes: Change[]) => Promise<boolean>)} [options.rights] in the files: give them, leave
 *   them, or ask; by default they are given only if nobody gains a right
 * @param {number} [options.q] shards of the database; by default as many as it had
 * @param {AbortSignal} [options.signal]
 * @param {ConstructorParameters<typeof Couch>[1]} [options.couch]
 * @param {(progress: {step: 'reading' | 'writing' | 'indexing' | 'comparing', done: number, total?: number}) => void}
 *   [options.onProgress]
 * @returns {Promise<RestoreSummary>}
 */
export async function restore (files, url, options = {}) {
  const { partial = false, dryRun = false, rights, q, signal, onProgress } = options
  const isStream = !Array.isArray(files)
  const { links, unneeded } = isStream ? { links: [], unneeded: [] } : await chainOf(files, { partial })
  const expected = await ExpectedDocuments.open()
  const work = new Restoring({ expected, partial, rights, signal, onProgress })
  try {
    work.sources = isStream
      ? [{ file: 'standard input', parts: () => readBackup(files, 'standard input') }]
      : links.map(({ file }) => ({ file, parts: () => readFileParts(file) }))
    const couch = url === null ? null : new Couch(url, options.couch)
    const target = couch && await openTarget(couch, links.map(({ header }) => header.id))
    if (!isStream || dryRun) await work.readAll(target?.security)
    if (!isStream && !dryRun) await work.askRights()
    if (couch && target && !dryRun) await work.write(couch, target, { isStream, q })
    return { ...work.summary(), unneeded, dryRun }
  } catch (error) {
    throw Object.assign(signal?.aborted ? new TilecouchError('ABORTED') : error, { written: work.written })
  } finally {
    await expected.close()
  }
}

class Restoring {
  /** @type {{file: string, parts: () => AsyncGenerator<import('./reader.js').Part>}[]} */
  sources = []
  chain = /** @type {string[]} */ ([]) // ids of the backups
  written = 0 // revisions; also set after an error
  #header
  #trailer
  #trailers = /** @type {string[]} */ ([]) // of the files: a file must be the same when it is read again
  #upstreams = /** @type {Map<string, {rank: number, hosts: Set<string>}>} */ (new Map()) // by id of the layer
  #rights = /** @type {Change[]} */ ([])
  #security = /** @type {any} */ (null) // the rights that were compared: only these may be given
  #isGiven = false
  #damage = /** @type {{file: string, at?: number, why: string}[]} */ ([])
  #result = {
    resumed: false,
    refused: 0,
    refusals: /** @type {RestoreSummary['refusals']} */ ([]),
    compared: 0,
    differences: 0,
    differing: /** @type {string[]} */ ([]),
    withheld: false,
    access: /** @type {RestoreSummary['access']} */ ('closed'),
    security: /** @type {any} */ (undefined)
  }

  constructor ({ expected, partial, rights, signal, onProgress }) {
    this.expected = expected
    this.partial = partial
    this.permission = rights
    this.signal = signal
    this.onProgress = onProgress
  }

  summary () {
    const { made, name } = this.#header
    return {
      files: this.sources.map(({ file }) => file),
      of: { made, name, moment: this.#trailer?.moment, finished: this.#trailer?.finished },
      ...this.expected.counts(),
      ...this.#result,
      tokens: this.#trailer?.tokens ?? 0,
      rights: this.#rights,
      upstreams: [...this.#upstreams]
        .filter(([id, { rank }]) => this.expected.has(id, rank))
        .map(([id, { hosts }]) => ({ layer: id.slice('layer:'.length), hosts: [...hosts] })),
      written: this.written,
      damage: this.#damage
    }
  }

  /** Reads and checks every file before anything is written. @param {any} [security] of the database as it is */
  async readAll (security = PRIVATE_SECURITY) {
    let done = 0
    for await (const { documents, rank, file } of this.#parts()) {
      for (const doc of documents.docs) this.#add(doc, rank, file)
      this.onProgress?.({ step: 'reading', done: done += documents.docs.length })
    }
    this.#compareRights(security)
  }

  /** @returns {boolean} whether the document counts so far */
  #add (doc, rank, file) {
    const state = this.expected.add(doc, rank)
    if (state === 'twice') throw damaged(file, `it has ${doc._id} ${doc._rev} twice`)
    if (state === 'current' && doc._id.startsWith('layer:')) this.#noteUpstream(doc, rank)
    return state === 'current'
  }

  #noteUpstream ({ _id: id, upstream }, rank) {
    const { rank: previousRank = rank, hosts = new Set() } = this.#upstreams.get(id) ?? {}
    if (previousRank < rank) this.#upstreams.delete(id)
    if (!upstream || (!this.#upstreams.has(id) && this.#upstreams.size >= MOST_UPSTREAMS)) return
    const host = hostOf(String(upstream.url)).replace(/^.*@/, '').slice(0, 200)
    this.#upstreams.set(id, { rank, hosts: (previousRank < rank ? new Set() : hosts).add(host) })
  }

  #compareRights (security) {
    this.#security = this.#damage.length ? null : plainSecurity(this.#trailer?.security)
    this.#rights = this.#security ? rightsBetween(security, this.#security) : []
  }

  /** Throws RESTORE_RIGHTS if the user declines. */
  async askRights () {
    this.#isGiven = await mayGive(this.#rights, this.permission)
    this.#result.withheld = !this.#isGiven && this.permission !== 'leave'
  }

  /** Documents of all files. With `partial` a file ends at its damage. */
  async * #parts () {
    this.chain = []
    this.#damage = []
    for (const [index, { file, parts }] of this.sources.entries()) {
      this.#trailer = undefined
      try {
        for await (const part of parts()) {
          if (this.signal?.aborted) throw new TilecouchError('ABORTED')
          if (part.kind === 'header') this.#begin(part.header)
          else if (part.kind === 'trailer') this.#trailer = this.#checkSame(part.trailer, index, file)
          else yield { documents: part.documents, file, rank: index * PAGES + part.documents.page }
        }
      } catch (error) {
        if (!this.partial || error.code !== 'BACKUP_DAMAGED' || !this.#header) throw error
        const { at, why } = error.details
        this.#damage.push({ file, at, why })
      }
    }
  }

  #checkSame (trailer, index, file) {
    const text = JSON.stringify(trailer)
    if ((this.#trailers[index] ??= text) !== text) throw damaged(file, 'it has changed since it was read first')
    return trailer
  }

  #begin (header) {
    if (header.base && !this.chain.includes(header.base.id)) throw missingBase(this.sources.at(-1)?.file, header.base)
    this.#header = header
    this.chain.push(header.id)
  }

  /** @param {Couch} couch @param {import('./restore-target.js').RestoreTarget} target */
  async write (couch, target, { isStream, q }) {
    const { expected, signal, onProgress } = this
    const total = isStream ? undefined : expected.counts().revisions
    const writer = await TargetWriter.open(couch, {
      signal,
      resumed: target.resumed,
      onRefused: ({ id, rev, reason }) => this.#refuse(id, rev, reason),
      onProgress: done => onProgress?.({ step: 'writing', done, total })
    })
    let begun
    const begin = () => (begun ??= target.begin({ chain: this.chain, q: q ?? this.#header.q }))
    try {
      for await (const { documents: { docs }, rank, file } of this.#parts()) {
        await begin()
        await writer.write(docs.filter(doc => isStream ? this.#add(doc, rank, file) : expected.has(doc._id, rank)))
      }
      await begin() // a backup may have no documents
    } finally {
      await writer.end()
      this.written = writer.written
    }
    writer.check()
    if (isStream) {
      this.#compareRights(target.security)
      await this.askRights()
    }
    this.#result.resumed = target.resumed
    await this.#finish(couch, target)
  }

  #refuse (id, rev, reason) {
    this.expected.drop(id, rev)
    this.#result.refused++
    if (this.#result.refusals.length < MOST_REFUSALS) this.#result.refusals.push({ id, reason })
  }

  async #finish (couch, target) {
    const { signal, onProgress, expected } = this
    const total = expected.counts().revisions
    const { compared, differences, named } = await compare(peerOf(couch), expected, {
      signal, onProgress: done => onProgress?.({ step: 'comparing', done, total })
    })
    Object.assign(this.#result, { compared, differences, differing: named })
    const docs = await ownDesigns()
    onProgress?.({ step: 'indexing', done: 0 })
    const onIndex = onProgress && (event => onProgress({ step: 'indexing', done: event.done ?? 0, total: event.total }))
    await push(couch, docs, { signal, onProgress: onIndex })
    await warmIndexes({ couch }, { signal, onProgress: onIndex })
    await settleUnfinished(couch, signal)
    if (differences || this.#damage.length || this.#result.withheld) return // an admin has to look at it first
    const security = this.#isGiven ? this.#security : null
    // a backup through a gateway has no `_security`: the database stays closed
    await target.end(security ?? undefined)
    if (security) Object.assign(this.#result, { access: 'restored', security })
  }
}
