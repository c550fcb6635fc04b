// Finds expired tiles, by the same rule as the gateway, to the second: two indexes say where to look, the documents decide.
import { addSeconds, expiryOf, hasTtl, isExactTime, isTileId, parseTileId, toSeconds } from '../../core/index.js'
import { versionIn } from '../../core/store/settle.js'
import { describe } from '../store/reader.js'

const EXPIRING = '_design/lifecycle/_view/expiring' // [expires, layer]
const STORED = '_design/lifecycle/_view/stored' // [layer, stored], of tiles without a time of expiry
const FIRST = toSeconds('0000-01-01T00:00:00Z')

/**
 * @typedef {import('../store/reader.js').StoredVersion & {expires: string, seen: import('../../core/store/settle.js').Seen[]}} Expired a head; expires: when,
 * by its own field or by the ttl of its layer
 *
 * @typedef {object} What
 * @property {Map<string, Record<string, any>>} layers their documents by name
 * @property {boolean} all also of layers without a document
 * @property {string} at tiles that had expired by then
 * @property {string} [since] only tiles that expired after that
 * @property {number} page rows a request
 * @property {AbortSignal} [signal]
 */

/**
 * Pages of expired tiles, the earliest first: first tiles with a time of their own, then by the ttl of each layer.
 * @param {import('../store/couch.js').Couch} couch
 * @param {What} what
 * @returns {AsyncGenerator<Expired[]>}
 */
export async function * findExpired (couch, { layers, all, at, since, page, signal }) {
  const read = async function * (view, range, isWanted) {
    for await (const rows of couch.viewPages(view, range, { page, signal })) {
      const ids = rows.filter(row => isWanted(row) && isTileId(row.id)).map(({ id }) => id)
      const found = await couch.docs(ids, { signal })
      const expired = found.flatMap(({ doc }) => expiredOf(doc, layers, at, view === EXPIRING))
      if (expired.length) yield expired
    }
  }
  yield * read(EXPIRING, { ...(since && { startkey: [since, {}] }), endkey: [at, {}] }, ({ key }) => all || layers.has(key[1]))
  for (const [layer, { ttl }] of ttls(layers)) {
    const [from, to] = [since, at].map(time => time && before(time, ttl))
    if (to) yield * read(STORED, { startkey: from ? [layer, from, {}] : [layer], endkey: [layer, to, {}] }, () => true)
  }
}

const ttls = layers => [...layers].filter(([, doc]) => hasTtl(doc))

/** @returns {string | undefined} nothing before the calendar begins */
const before = (time, ttl) => toSeconds(time) - ttl < FIRST ? undefined : addSeconds(time, -Math.floor(ttl))

/** @returns {Expired[]} one, or none */
function expiredOf (doc, layers, at, isOwn) {
  // tiles in both indexes come once
  if (!doc || isExactTime(doc.expires) !== isOwn) return []
  const address = parseTileId(doc._id)
  if (address.time !== undefined) return []
  const expires = expiryOf(doc, layers.get(address.layer))
  return expires !== null && expires <= at ? [{ ...describe(doc), ...address, expires, seen: versionIn(doc).seen }] : []
}

/**
 * When the next tile expires after a time, if one does. It may belong to another layer.
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layers: Map<string, Record<string, any>>, after: string, signal?: AbortSignal}} what
 * @returns {Promise<string | undefined>}
 */
export async function nextExpiry (couch, { layers, after, signal }) {
  const [own] = await couch.view(EXPIRING, { startkey: [after, {}], limit: 1, reduce: false }, signal)
  const lasting = ttls(layers).filter(([, { ttl }]) => before(after, ttl))
  const rows = await couch.queries(STORED, lasting.map(([layer, { ttl }]) => (
    { startkey: [layer, before(after, ttl), {}], endkey: [layer, {}], limit: 1, reduce: false }
  )), signal)
  const times = [own?.key[0], ...lasting.map(([, doc], index) => rows[index][0] && expiryOf({ stored: rows[index][0].key[1] }, doc))]
  return times.filter(isExactTime).sort()[0]
}
