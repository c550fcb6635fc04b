// Backs up a store to one file: all documents with their revisions and images as they were at one moment, while others
// write to it.
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { now, tokenId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { RevisionCopier, isUnwritable, newCopyTally } from '../../core/mirror/index.js'
import { feedPosition } from '../../core/feed-position.js'
import { peerOf } from '../store/peer.js'
import { checkBase, databaseState, noteBackup } from './chain.js'
import { FORMAT } from './format.js'
import { SnapshotReader } from './snapshot.js'
import { OutputStream } from '../formats/atomic-file.js'
import { BackupWriter, openBackupFile } from './writer.js'
import { version } from '../store/package.js'

export const backupDefaults = {
  page: 1000, // changes read at once
  quiet: 200, // tries to find a moment at which nothing changes in the store
  tries: 200, // the same for each tile, if the store has no such moment
  rounds: 10 // repetitions for revisions that were compacted away before they were read
}

const MOST_REPORTED = 20 // refused documents that are reported at most

/**
 * @typedef {object} BackupSummary
 * @property {string} file
 * @property {string} id
 * @property {string} [base] the file that it continues
 * @property {'store' | 'tile'} moment the whole store is as it was at one moment, or only each tile
 * @property {string | number} seq
 * @property {number} size bytes
 * @property {number} documents revisions
 * @property {number} deleted
 * @property {number} tiles
 * @property {number} attachments
 * @property {number} bytes of attachments
 * @property {number} designs design documents that were left out: a restore deploys its own
 * @property {number} tokens of the store: a backup does not have them
 * @property {number} refused documents that no backup takes: too large, or with an invalid id or revision
 * @property {{id: string, reason: string}[]} named some of the refused documents
 * @property {boolean} noted false: the next backup cannot tell whether the database was restored to an older state
 */

/**
 * verifying: the file is read again
 * @typedef {{step: 'writing' | 'verifying', documents: number, total?: number, size: number, bytes: number}}
 * BackupProgress
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string | NodeJS.WritableStream} target a file name or a stream
 * @param {object} [options]
 * @param {string} [options.base] an earlier backup file: writes only later changes
 * @param {boolean} [options.force] replaces an existing file
 * @param {AbortSignal} [options.signal]
 * @param {(progress: BackupProgress) => void} [options.onProgress]
 * @param {Partial<typeof backupDefaults>} [options.limits]
 * @returns {Promise<BackupSummary>}
 */
export async function backup (store, target, options = {}) {
  const { base, force, signal, onProgress, limits } = options
  const peer = peerOf(store.couch)
  const before = await databaseState(store, peer)
  const baseBackup = base === undefined ? null : await checkBase(base, before, peer)
  if (base !== undefined && typeof target === 'string' && path.resolve(target) === path.resolve(base)) {
    const why = 'the new backup would replace its base'
    throw new TilecouchError('BAD_OPTION', { option: '--base', value: base, why })
  }
  let lastState = { documents: 0, size: 0, bytes: 0 }
  let verified = 0
  const onWritten = onProgress && (state => {
    lastState = state
    onProgress({ step: 'writing', ...state })
  })
  const onRead = onProgress && (documents => {
    verified += documents
    onProgress({ ...lastState, step: 'verifying', documents: verified, total: lastState.documents })
  })
  const sink = typeof target === 'string' ? await openBackupFile(target, { force, onRead }) : new OutputStream(target)
  try {
    const writer = new BackupWriter(sink)
    const since = baseBackup?.seq ?? 0
    const usedLimits = { ...backupDefaults, ...limits }
    const source = new BackupSource(peer, writer, { since, limits: usedLimits, signal, onProgress: onWritten })
    const id = randomUUID()
    await writer.begin({
      format: FORMAT,
      program: `tilecouch ${version}`,
      id,
      made: now(),
      store: before.store,
      database: before.database,
      name: store.couch.db,
      q: before.q,
      since,
      base: baseBackup && { id: baseBackup.id, made: baseBackup.made, file: path.basename(baseBackup.file) }
    })
    const { moment, seq } = await source.run()
    const { purged } = feedPosition(await peer.info())
    if (purged !== before.purged) {
      throw overtaken(store.url, 'documents were purged: the change feed does not show that')
    }
    const noted = await noteBackup(peer, id, signal)
    const security = await securityOf(store)
    const tokens = (await store.couch.page({ startkey: tokenId(''), endkey: tokenId('~') }, signal)).length
    const { counts } = await writer.end({ id, finished: now(), moment, seq, purged, noted, security, tokens })
    const { blocks: _, ...contentCounts } = counts
    const { designs, refused, named } = source
    return {
      file: sink.name,
      id,
      ...(baseBackup && { base: baseBackup.file }),
      moment,
      seq,
      size: writer.size,
      ...contentCounts,
      designs,
      tokens,
      refused,
      named,
      noted
    }
  } catch (error) {
    await sink.discard()
    throw signal?.aborted ? new TilecouchError('ABORTED') : error
  }
}

const overtaken = (url, why) => new TilecouchError('BACKUP_OVERTAKEN', { url, why })

/** Copies revisions from the feed to the file. */
class BackupSource {
  #page = 0
  #missing = /** @type {Map<string, Set<string>>} */ (new Map()) // revisions that were not read yet, by document
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
    this.snapshot = new SnapshotReader(peer, { since, limits, signal })
    this.copier = new RevisionCopier({
      source: { name: peer.name, fetch: (revisions, options) => peer.fetch(revisions, { ...options, latest: false }) },
      target: /** @type {any} */ ({ name: 'the backup', write: docs => this.#write(docs) }),
      tally: newCopyTally(),
      onRefused: refusal => this.#refuse(refusal)
    })
  }

  async run () {
    await this.snapshot.readExisting(rows => this.#take(rows))
    for (let round = 0; round < this.limits.rounds; round++) {
      // a revision that does not exist any more has a successor, which comes with a later change
      const end = await this.snapshot.readChanges(async pages => {
        for await (const rows of pages) await this.#take(rows)
      })
      if (!this.#missing.size) return end
    }
    const [first] = this.#missing.keys()
    throw overtaken(this.url, `${first} and ${this.#missing.size - 1} more did not exist any more when they were read`)
  }

  async #take (rows) {
    this.#page++
    const storedRows = rows.filter(({ id }) => !id.startsWith('_design/'))
    this.designs += rows.length - storedRows.length
    // readers refuse a page that has a document twice
    const latestRows = [...new Map(storedRows.map(row => [row.id, row])).values()]
    const revisions = latestRows.flatMap(({ id, revs }) => revs.map(rev => ({ id, rev })))
    for (const { id, revs } of latestRows) this.#missing.set(id, new Set(revs))
    if (revisions.length) await this.copier.copy(revisions, this.signal)
  }

  async #write (docs) {
    const page = this.#page
    for (const { _attachments: attachments = {} } of docs) {
      for (const attachment of Object.values(attachments)) { // the embedded store omits the length
        if (attachment.encoded_length === undefined) attachment.length = attachment.data.length
      }
    }
    const omitted = await this.writer.write(page, docs)
    for (const { _id: id, _rev: rev } of docs) this.#markArrived(id, rev)
    const { counts, size } = this.writer
    this.onProgress?.({ documents: counts.documents, total: this.snapshot.total, size, bytes: counts.bytes })
    return omitted.map(({ doc: { _id: id, _rev: rev }, why }) => ({ id, rev, error: 'forbidden', reason: why }))
  }

  #markArrived (id, rev) {
    const revs = this.#missing.get(id)
    revs?.delete(rev)
    if (!revs?.size) this.#missing.delete(id)
  }

  /** @param {import('../../core/mirror/peer.js').Refused} refused */
  #refuse ({ id, rev, reason }) {
    this.#markArrived(id, rev)
    this.refused++
    if (this.named.length < MOST_REPORTED) this.named.push({ id, reason })
  }
}

const securityOf = store => store.security().catch(error => {
  if (!isUnwritable(error)) throw error
  return null // a gateway does not show it
})
