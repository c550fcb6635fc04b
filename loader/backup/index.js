// A store in one file: all documents with their revisions and images, as they were at one moment, though it is written to meanwhile.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { TilecouchError, now } from '../../core/index.js'
import { Carrier, replicationDefaults } from '../../core/mirror/index.js'
import { placeOf } from '../../core/place.js'
import { peerOf } from '../mirror/peer.js'
import { sealFor } from './age.js'
import { checkBase, note, standingOf } from './base.js'
import { FORMAT } from './format.js'
import { Moments } from './moment.js'
import { BackupWriter, openFile, openStream, sealSink } from './writer.js'

export const backupDefaults = {
  page: 1000, // changes read at once
  quiet: 200, // times the store is asked for a quiet moment
  tries: 200, // times each tile is asked for one, where the store has none
  rounds: 10 // times it begins anew for revisions that were compacted away before they were read
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/**
 * @typedef {object} BackupSummary
 * @property {string} file
 * @property {string} id
 * @property {string} [base] the file that it goes on from
 * @property {'store' | 'tile'} moment what is as it was at one moment
 * @property {string | number} seq
 * @property {number} size bytes
 * @property {number} documents revisions
 * @property {number} deleted
 * @property {number} tiles
 * @property {number} attachments
 * @property {number} bytes of attachments
 * @property {boolean} encrypted
 * @property {string} [signer] id of the key that signed it
 * @property {number} designs design documents that were left out: ours are deployed by a restore
 * @property {number} refused documents that no backup takes: too large, or with an id or a revision that is none
 * @property {{id: string, reason: string}[]} named some of those
 * @property {boolean} noted false: whether the database was put back to an older state cannot be told next time
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string | NodeJS.WritableStream} target the name of a file; or a stream
 * @param {object} [options]
 * @param {string} [options.base] a file: only what has changed since
 * @param {boolean} [options.force] replaces a file that is there
 * @param {import('./age-keys.js').Recipient[]} [options.recipients] encrypts it for them
 * @param {import('./age-keys.js').Identity[]} [options.identities] to read an encrypted base
 * @param {import('./signature.js').Signer} [options.signer] signs it; the base must be signed by the same key
 * @param {AbortSignal} [options.signal]
 * @param {(progress: {documents: number, total?: number, size: number, bytes: number}) => void} [options.onProgress]
 * @param {Partial<typeof backupDefaults>} [options.limits]
 * @returns {Promise<BackupSummary>}
 */
export async function backup (store, target, { base, force, recipients, identities, signer, signal, onProgress, limits } = {}) {
  const peer = peerOf(store.couch)
  const before = await standingOf(store, peer)
  const from = base === undefined ? null : await checkBase(base, before, peer, { identities, signedBy: signer && [signer] })
  if (base !== undefined && typeof target === 'string' && path.resolve(target) === path.resolve(base)) throw new TilecouchError('BAD_OPTION', { option: '--base', value: base, why: 'it would be replaced by what goes on from it' })
  const sealed = recipients?.length ? sealFor(recipients) : undefined
  const keys = { sealed: sealed && { length: sealed.start.length, chunks: sealed.chunks }, signedBy: signer && [signer] }
  const sink = typeof target === 'string' ? await openFile(target, { force, keys }) : openStream(target)
  try {
    const writer = new BackupWriter(sealed ? await sealSink(sink, sealed) : sink, { signer })
    const work = new Work(peer, writer, { since: from?.seq ?? 0, limits: { ...backupDefaults, ...limits }, signal, onProgress })
    const id = randomUUID()
    await work.writer.begin({
      format: FORMAT,
      program: `tilecouch ${version}`,
      id,
      made: now(),
      store: before.store,
      database: before.database,
      name: store.couch.db,
      q: before.q,
      since: from?.seq ?? 0,
      base: from && { id: from.id, made: from.made, file: path.basename(from.file) }
    })
    const { moment, seq } = await work.run()
    const { purged } = placeOf(await peer.info())
    if (purged !== before.purged) throw new TilecouchError('BACKUP_OVERTAKEN', { url: store.url, why: 'documents were purged, which no change tells of' })
    const noted = await note(peer, id, signal)
    const { counts: { blocks, ...counts } } = await work.writer.end({ id, finished: now(), moment, seq, purged, noted, security: await securityOf(store) })
    const { designs, refused, named } = work
    return { file: sink.name, id, ...(from && { base: from.file }), moment, seq, size: sealed ? sealed.sizeOf(writer.size) : writer.size, encrypted: Boolean(sealed), ...(signer && { signer: signer.id }), ...counts, designs, refused, named, noted }
  } catch (error) {
    await sink.stop()
    throw signal?.aborted ? new TilecouchError('ABORTED') : error
  }
}

const NAMED = 20 // documents

/** Takes revisions from the feed to the file. */
class Work {
  #page = 0
  #owed = /** @type {Map<string, Set<string>>} */ (new Map()) // documents with the revisions of them that have not come
  designs = 0
  refused = 0
  named = /** @type {{id: string, reason: string}[]} */ ([])

  /** @param {import('../../core/mirror/index.js').CouchPeer} peer @param {BackupWriter} writer */
  constructor (peer, writer, { since, limits, signal = new AbortController().signal, onProgress }) {
    this.writer = writer
    this.limits = limits
    this.signal = signal
    this.url = peer.name
    this.onProgress = onProgress
    this.moments = new Moments(peer, { since, limits, signal })
    const tally = { changes: 0, selected: 0, checked: 0, missing: 0, docs: 0, deleted: 0, bytes: 0, tiles: 0, absent: 0, refused: 0 }
    this.carrier = new Carrier({
      source: /** @type {any} */ ({ name: peer.name, fetch: (asked, options) => peer.fetch(asked, { ...options, latest: false }) }),
      target: /** @type {any} */ ({ name: 'the backup', write: docs => this.#write(docs) }),
      tally,
      dryRun: false,
      limits: replicationDefaults,
      onRefused: one => this.#refuse(one)
    })
  }

  async run () {
    await this.moments.begin(rows => this.#take(rows))
    for (let round = 0; round < this.limits.rounds; round++) {
      // a revision that is not there any more has a successor, which comes with a later change
      const end = await this.moments.settle(async pages => { for await (const rows of pages) await this.#take(rows) })
      if (!this.#owed.size) return end
    }
    throw new TilecouchError('BACKUP_OVERTAKEN', { url: this.url, why: `${[...this.#owed.keys()][0]} and ${this.#owed.size - 1} more were not there any more when they were read` })
  }

  /** @param {import('../../core/mirror/peer.js').Row[]} rows */
  async #take (rows) {
    this.#page++
    const own = rows.filter(({ id }) => !id.startsWith('_design/'))
    this.designs += rows.length - own.length
    const wanted = [...new Map(own.map(row => [row.id, row])).values()] // a file that says two things of one document at once is refused
    const asked = wanted.flatMap(({ id, revs }) => revs.map(rev => ({ id, rev })))
    for (const { id, revs } of wanted) this.#owed.set(id, new Set(revs))
    if (asked.length) await this.carrier.bring(asked, this.signal)
  }

  async #write (docs) {
    const page = this.#page
    for (const { _attachments: attachments = {} } of docs) for (const attachment of Object.values(attachments)) plain(attachment)
    const left = await this.writer.write(page, docs)
    for (const { _id: id, _rev: rev } of docs) this.#pay(id, rev)
    const { counts, size } = this.writer
    this.onProgress?.({ documents: counts.documents, total: this.moments.total, size, bytes: counts.bytes })
    return left.map(({ doc: { _id: id, _rev: rev }, why }) => ({ id, rev, error: 'forbidden', reason: why }))
  }

  #pay (id, rev) {
    const owed = this.#owed.get(id)
    owed?.delete(rev)
    if (!owed?.size) this.#owed.delete(id)
  }

  /** @param {import('../../core/mirror/peer.js').Refused} refused */
  #refuse ({ id, rev, reason }) {
    this.#pay(id, rev)
    this.refused++
    if (this.named.length < NAMED) this.named.push({ id, reason })
  }
}

/** Bytes as bytes: the embedded store sends base64. And how many there are, which it does not say. */
function plain (attachment) {
  if (typeof attachment.data === 'string') attachment.data = Buffer.from(attachment.data, 'base64')
  if (attachment.encoded_length === undefined) attachment.length = attachment.data.length
}

/** @param {import('../store/index.js').Store} store */
async function securityOf (store) {
  try {
    return await store.security()
  } catch (error) {
    if (['UNAUTHORIZED', 'FORBIDDEN'].includes(error.code) || [403, 404, 405].includes(error.details?.status)) return null // a gateway keeps it to itself
    throw error
  }
}
