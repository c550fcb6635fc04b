// Whether a backup may go on from another one: of the same database, which has only gone forwards since.
import { TilecouchError } from '../../core/index.js'
import { identityOf } from '../../core/mirror/index.js'
import { placeOf, position } from '../../core/place.js'
import { readEnds } from './reader.js'

const NOTE = 'tilecouch-backups' // _local/…: the backups that were made of this database
const MOST = 1000 // of them that are kept in mind

/**
 * What a database is, for its backups.
 * @typedef {{store: string, database: string, purged: string, seq: string | number, q?: number}} Standing
 */

/** @param {import('../store/index.js').Store} store @param {import('../../core/mirror/peer.js').Peer} peer @returns {Promise<Standing>} */
export async function standingOf (store, peer) {
  const database = await identityOf(peer)
  const info = await peer.info()
  const { since: seq, purged } = placeOf(info)
  return { store: await store.identity(), database, purged, seq, q: info.cluster?.q }
}

/**
 * @param {string} file @param {Standing} now @param {import('../../core/mirror/peer.js').Peer} peer @param {import('./file.js').Keys} keys
 * @returns {Promise<{id: string, made: string, file: string, seq: string | number}>}
 */
export async function checkBase (file, now, peer, keys) {
  const { header, trailer } = await readEnds(file, keys)
  const why = await unfit({ header, trailer }, now, peer)
  if (why) throw new TilecouchError('BACKUP_UNFIT', { file, url: peer.name, why })
  return { id: header.id, made: header.made, file, seq: trailer.seq }
}

async function unfit ({ header, trailer }, now, peer) {
  if (header.store !== now.store) return 'it is of another store'
  if (header.database !== now.database) return 'it is of another database with the same store: a mirror, or what it was restored from'
  if (position(trailer.seq) > position(now.seq)) return 'the database was put back to an older state since'
  if (trailer.purged !== now.purged) return 'documents were purged since, which no change tells of'
  if (trailer.noted && !idsOf(await peer.getLocal(NOTE)).includes(header.id)) return 'the database does not remember it: it was put back to an older state since, or it has seen a thousand others'
}

/** Whoever may read may have written it: nonsense is nothing. */
const idsOf = doc => Array.isArray(doc?.ids) ? doc.ids.filter(id => /^[0-9a-f-]{36}$/.test(id)) : []

/**
 * The database remembers its backups: one that was put back to an older state does not.
 * @returns {Promise<boolean>} false: one may only read there
 */
export async function note (peer, id, signal) {
  try {
    await peer.updateLocal(NOTE, doc => ({ ids: [...idsOf(doc), id].slice(-MOST) }), signal)
    return true
  } catch (error) {
    if (signal?.aborted || !(['UNAUTHORIZED', 'FORBIDDEN', 'READ_ONLY'].includes(error.code) || [403, 404, 405].includes(error.details?.status))) throw error
    return false
  }
}
