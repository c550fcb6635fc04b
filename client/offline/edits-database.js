// A PouchDB as what is made here is kept in it: documents that several tabs write, and work that ends with it.
import { TilecouchError } from '../../core/index.js'
import { raceAbort } from '../../core/abort.js'
import { rewrite } from '../../core/rewrite.js'
import { PouchPeer } from '../mirror/pouch-peer.js'
import { Reader } from './reader.js'

/**
 * A document as `change` makes it of what is stored.
 * @param {any} db @param {string} id @param {(stored: any) => any} change answers nothing to leave it alone
 */
export const write = (db, id, change) => rewrite(id, {
  read: async () => (await Reader.of(db).docs([id])).get(id),
  change,
  async write (doc, stored) {
    try {
      await db.put({ ...doc, _id: id, _rev: stored?._rev })
      return doc
    } catch (error) {
      throw new PouchPeer(db).explain(error)
    }
  }
})

/**
 * What a PouchDB was asked that is closed in the meantime, it may never answer.
 * @template T
 * @param {any} db @param {(signal: AbortSignal) => Promise<T>} task ends by itself when the signal says so @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function untilClosed (db, task, signal) {
  const [stop, closed] = [new AbortController(), new AbortController()]
  const end = () => stop.abort()
  const leave = () => {
    stop.abort()
    closed.abort()
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  db.once('closed', leave).once('destroyed', leave)
  try {
    return await raceAbort(task(stop.signal), closed.signal)
  } catch (error) {
    throw error.name === 'AbortError' ? new TilecouchError('ABORTED') : error
  } finally {
    signal?.removeEventListener('abort', end)
    db.removeListener('closed', leave).removeListener('destroyed', leave)
  }
}
