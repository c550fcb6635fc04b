// Finds expired tiles by the same rule as the gateway, to the second. Two indexes give the candidates, their documents
// decide.
import { addSeconds, expiryOf, hasTtl, isExactTime, isTileId, parseTileId, toSeconds } from '../../../core/index.js'
import { versionIn } from '../../../core/store/plan.js'
import { storedVersionOf } from '../../store/reader.js'

const EXPIRING = '_design/versions/_view/expiring' // [expires, layer]
const STORED = '_design/versions/_view/stored' // [layer, stored], of tiles without the field `expires`
const FIRST = toSeconds('0000-01-01T00:00:00Z')

/**
 * @typedef {import('../../../core/store/plan.js').Seen} Seen
 * @typedef {import('../../store/reader.js').StoredVersion & {expires: string, seen: Seen[]}} Expired a head; expires:
 *   from its own field or the ttl of its layer
 */

/**
 * Reads pages of expired tiles, earliest first: first tiles with the field `expires`, then tiles of layers with a ttl.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {object} options
 * @param {Map<string, Record<string, any>>} options.layers name -> document
 * @param {boolean} options.all also tiles of layers without a document
 * @param {string} options.at tiles that had expired by this time
 * @param {string} [options.since] only tiles that expired after this time
 * @param {number} options.page rows per request
 * @param {AbortSignal} [options.signal]
 * @returns {AsyncGenerator<Expired[]>}
 */
export async function * findExpired (couch, { layers, all, at, since, page, signal }) {
  const readExpired = async function * (view, range, isSelected) {
    for await (const rows of couch.viewPages(view, range, { page, signal })) {
      const ids = rows.filter(row => isSelected(row) && isTileId(row.id)).map(({ id }) => id)
      const docRows = await couch.docs(ids, { signal })
      const expired = docRows.flatMap(({ doc }) => expiredOf(doc, layers, at, view === EXPIRING))
      if (expired.length) yield expired
    }
  }
  const range = { ...(since && { startkey: [since, {}] }), endkey: [at, {}] }
  yield * readExpired(EXPIRING, range, ({ key }) => all || layers.has(key[1]))
  for (const [layer, { ttl }] of layersWithTtl(layers)) {
    const [firstStored, lastStored] = [since, at].map(time => time && storedBefore(time, ttl))
    const startkey = firstStored ? [layer, firstStored, {}] : [layer]
    if (lastStored) yield * readExpired(STORED, { startkey, endkey: [layer, lastStored, {}] }, () => true)
  }
}

const layersWithTtl = layers => [...layers].filter(([, doc]) => hasTtl(doc))

/** The time `ttl` seconds earlier. @returns {string | undefined} undefined before year 0 */
const storedBefore = (time, ttl) => toSeconds(time) - ttl < FIRST ? undefined : addSeconds(time, -Math.floor(ttl))

/** @returns {Expired[]} one or none */
function expiredOf (doc, layers, at, hasOwnExpiry) {
  // a tile in both indexes is returned once
  if (!doc || isExactTime(doc.expires) !== hasOwnExpiry) return []
  const address = parseTileId(doc._id)
  if (address.time !== undefined) return []
  const expires = expiryOf(doc, layers.get(address.layer))
  if (expires === null || expires > at) return []
  return [{ ...storedVersionOf(doc), ...address, expires, seen: versionIn(doc).seen }]
}

/** The first expiry of a tile after a time. @returns {Promise<string | undefined>} */
export async function nextExpiry (couch, { layers, after, signal }) {
  const [earliestWithExpiry] = await couch.view(EXPIRING, { startkey: [after, {}], limit: 1, reduce: false }, signal)
  const expiring = layersWithTtl(layers).filter(([, { ttl }]) => storedBefore(after, ttl))
  const answers = await couch.queries(STORED, expiring.map(([layer, { ttl }]) => (
    { startkey: [layer, storedBefore(after, ttl), {}], endkey: [layer, {}], limit: 1, reduce: false }
  )), signal)
  const byTtl = expiring.map(([, doc], index) => answers[index].map(row => expiryOf({ stored: row.key[1] }, doc))[0])
  return [earliestWithExpiry?.key[0], ...byTtl].filter(isExactTime).sort()[0]
}
