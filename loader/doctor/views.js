// What CouchDB says of the indexes of a store.
import { encodeId } from '../../core/couch/client.js'
import { designs } from './door.js'

/** What each design document with views says of its index. @param {import('./visit.js').Visit} visit @returns {Promise<{id: string, index: any}[]>} */
export const indexes = visit => visit.once('indexes', async () => {
  const docs = (await designs(visit)).filter(({ views }) => views && Object.keys(views).length)
  return Promise.all(docs.map(async ({ _id: id }) => ({ id, index: (await visit.ask({ path: `${encodeId(id)}/_info` })).view_index })))
})

/**
 * What an index told, unless it lacks so much that it says little.
 * @param {import('./visit.js').Visit} visit @param {string} id of the design document
 * @param {import('./visit.js').Found} found
 * @returns {Promise<import('./visit.js').Found>}
 */
export async function asFarAs (visit, id, found) {
  const own = (await indexes(visit)).find(one => one.id === id)
  if (found.state !== 'ok' || (own?.index.updates_pending?.total ?? 0) <= visit.limits.behind) return found
  return { state: 'unknown', found: `its index (${id}) is far behind`, advice: 'Look again when it is there.' }
}
