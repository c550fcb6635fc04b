// Finds expired tiles by the same rule as the gateway, to the second: two indexes say where to look, the documents
// decide.
import { addSeconds, expiryOf, hasTtl, isExactTime, isTileId, parseTileId, toSeconds } from '../../../core/index.js'
import { versionIn } from '../../../core/store/plan.js'
import { describe } from '../../store/reader.js'

const EXPIRING = '_design/versions/_view/expiring' // [expires, layer]
const STORED = '_design/versions/_view/stored' // [layer, stored], of tiles without a time of expiry
const FIRST = toSeconds('0000-01-01T00:00:00Z')

/**
 * @typedef {import('../../../core/store/plan.js').Seen} Seen
 * @typedef {import('../../store/reader.js').StoredVersion & {expires: string, seen: Seen[]}} Expired a head; expires:
 *   by its own field or by the ttl of its layer
 */

/**
 * Pages of expired tiles, the earliest first: first tiles with the field `expires`, then by the ttl of each layer.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {object} options
 * @param {Map<string, Record<string, any>>} options.layers name -> document
 * @param {boolean} options.all also of layers without a document
 * @param {string} options.at tiles that had expired by then
 * @param {string} [options.since] only tiles that expired after that
 * @param {number} options.page rows a request
 * @param {AbortSignal} [options.signal]
 * @returns {AsyncGenerator<Expired[]>}
 */
export async function * findExpired (couch, { layers, all, at, since, page, signal }) {
  const read = async function * (view, range, isWanted) {
    for await (const rows of couch.viewPages(view, range, { page, signal })) {
      const ids = rows.filter(row => isWanted(row) && isTileId(row.id)).map(({ id }) => id)
      const docRows = await couch.docs(ids, { signal })
      const expired = docRows.flatMap(({ doc }) => expiredOf(doc, layers, at, view === EXPIRING))
      if (expired.length) yield expired
    }
  }
  const range = { ...(since && { startkey: [since, {}] }), endkey: [at, {}] }
  yield * read(EXPIRING, range, ({ key }) => all || layers.has(key[1]))
  for (const [layer, { ttl }] of ttls(layers)) {
    const [from, to] = [since, at].map(time => time && before(time, ttl))
    const startkey = from ? [layer, from, {}] : [layer]
    if (to) yield * read(STORED, { startkey, endkey: [layer, to, {}] }, () => true)
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

/** When the next tile expires after a time, if one does. @returns {Promise<string | undefined>} */
export async function nextExpiry (couch, { layers, after, signal }) {
  const [earliestWithExpiry] = await couch.view(EXPIRING, { startkey: [after, {}], limit: 1, reduce: false }, signal)
  const expiring = ttls(layers).filter(([, { ttl }]) => before(after, ttl))
  const answers = await couch.queries(STORED, expiring.map(([layer, { ttl }]) => (
    { startkey: [layer, before(after, ttl), {}], endkey: [layer, {}], limit: 1, reduce: false }
  )), signal)
  const byTtl = expiring.map(([, doc], at) => answers[at].map(row => expiryOf({ stored: row.key[1] }, doc))[0])
  return [earliestWithExpiry?.key[0], ...byTtl].filter(isExactTime).sort()[0]
}
