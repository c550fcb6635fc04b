// Finds out which incremental backup continues which, whatever the files are called. Also checks whether a database may
// continue a backup: it must be the same database, and it must not have been restored to an older state since.
import { TilecouchError } from '../errors.js'
import { identityOf, isUnwritable } from '../../core/mirror/index.js'
import { feedPosition, sequenceNumber } from '../../core/feed-position.js'
import { readEnds, readFileParts } from './reader.js'

const NOTE = 'tilecouch-backups' // _local/…: ids of the backups of this database
const MOST_IDS = 1000 // ids that this document keeps

/** @typedef {import('../../core/mirror/peer.js').Peer} Peer */

/**
 * @typedef {object} Link
 * @property {string} file
 * @property {import('./format.js').Header} header
 * @property {import('./format.js').Trailer} [trailer] undefined: the file is damaged
 */

/**
 * The chain that ends with the newest of the files, the full backup first.
 * @param {string[]} files
 * @param {{partial?: boolean}} [options] partial: damaged files as well
 * @returns {Promise<{links: Link[], unneeded: string[]}>} unneeded: files that are not part of the chain
 */
export async function chainOf (files, { partial = false } = {}) {
  /** @type {Link[]} */
  const readLinks = []
  for (const file of new Set(files)) readLinks.push(await readLink(file, partial))
  const [{ header: { database } }] = readLinks
  const other = readLinks.find(({ header }) => header.database !== database)
  if (other) {
    const why = `it is of another database than ${readLinks[0].file}`
    throw new TilecouchError('BAD_OPTION', { option: 'the files', value: other.file, why })
  }
  const byId = new Map(readLinks.map(link => [link.header.id, link]))
  // two backups with the same base both have all changes since that base
  const newest = readLinks.reduce((a, b) => isNewer(b, a) ? b : a)
  /** @type {Link[]} */
  const links = []
  for (let link = newest; ;) {
    links.unshift(link)
    const { base } = link.header
    if (!base) break
    const previous = byId.get(base.id)
    if (!previous) throw missingBase(link.file, base)
    if (links.includes(previous)) {
      throw new TilecouchError('BACKUP_DAMAGED', { file: link.file, why: 'it continues itself' })
    }
    link = previous
  }
  return { links, unneeded: readLinks.filter(link => !links.includes(link)).map(({ file }) => file) }
}

/** @param {string | undefined} file @param {{id: string, made: string, file: string}} base */
export const missingBase = (file, { id, made, file: name }) =>
  new TilecouchError('BACKUP_MISSING', { file, why: `it was called ${name}, and was made at ${made} (${id})` })

/** Times are whole seconds. Of two backups of one second, the one that begins later in the feed is newer. */
const isNewer = ({ header: b }, { header: a }) => b.made > a.made || b.base?.id === a.id ||
  (b.made === a.made && sequenceNumber(b.since) > sequenceNumber(a.since))

async function readLink (file, partial) {
  try {
    return { file, ...await readEnds(file) }
  } catch (error) {
    if (!partial || error.code !== 'BACKUP_DAMAGED') throw error
    for await (const part of readFileParts(file)) if (part.kind === 'header') return { file, header: part.header }
    throw error
  }
}

/** The identity and state of a database. @param {import('../store/index.js').Store} store @param {Peer} peer */
export async function databaseState (store, peer) {
  const database = await identityOf(peer)
  const info = await peer.info()
  const { since: seq, purged } = feedPosition(info)
  return { store: await store.identity(), database, purged, seq, q: info.cluster?.q }
}

/**
 * Throws BACKUP_UNFIT when the database cannot continue a backup.
 * @param {string} file @param {Awaited<ReturnType<typeof databaseState>>} state
 * @param {Peer} peer
 * @returns {Promise<{id: string, made: string, file: string, seq: string | number}>}
 */
export async function checkBase (file, state, peer) {
  const { header, trailer } = await readEnds(file)
  const why = await reasonAgainst({ header, trailer }, state, peer)
  if (why) throw new TilecouchError('BACKUP_UNFIT', { file, url: peer.name, why })
  return { id: header.id, made: header.made, file, seq: trailer.seq }
}

async function reasonAgainst ({ header, trailer }, info, peer) {
  if (header.store !== info.store) return 'it is of another store'
  if (header.database !== info.database) {
    return 'it is of another database of the same store: a mirror, or the one that this was restored from'
  }
  if (sequenceNumber(trailer.seq) > sequenceNumber(info.seq)) return 'the database was restored to an older state since'
  if (trailer.purged !== info.purged) return 'documents were purged since, and the change feed does not show that'
  if (trailer.noted && !idsOf(await peer.getLocal(NOTE)).includes(header.id)) {
    return 'the database has no note of it: it was restored to an older state since, or has seen a thousand other ' +
      'backups'
  }
}

/** Every reader may have written the note, so only valid ids count. */
const idsOf = doc => Array.isArray(doc?.ids) ? doc.ids.filter(id => /^[0-9a-f-]{36}$/.test(id)) : []

/**
 * Writes the id of a backup into the database. A database that is later restored to an older state lacks the id.
 * @returns {Promise<boolean>} false: the database is read-only
 */
export async function noteBackup (peer, id, signal) {
  try {
    await peer.updateLocal(NOTE, doc => ({ ids: [...idsOf(doc), id].slice(-MOST_IDS) }), signal)
    return true
  } catch (error) {
    if (signal?.aborted || !isUnwritable(error)) throw error
    return false
  }
}
