// Stores an answer of an upstream: new bytes become a version, the same bytes make the stored version expire later.
import { addSeconds, now as currentTime, tileId } from '../../../core/index.js'
import { storedVersionOf } from '../../store/reader.js'
import { digestOf } from '../../store/tile.js'

/**
 * @typedef {object} Head of a tile, as `store.head` gives it; its bytes are not needed
 * @property {string} id
 * @property {string} rev
 * @property {string} time
 * @property {string} [stored]
 * @property {string | null} [digest] null or undefined if it is gone
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 * @property {string} [type]
 *
 * @typedef {object} SavedTile
 * @property {string} id
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {'written' | 'extended' | 'overtaken' | 'failed'} outcome overtaken: another program wrote the head
 * meanwhile; failed: the store did not take it
 * @property {string | null} rev of the head with these bytes; null if overtaken or failed
 * @property {string} time of the version
 * @property {string} stored
 * @property {string | null} expires
 * @property {string} [type] content type
 * @property {string} [digest] `md5-…`
 * @property {Buffer} [bytes] that were fetched; none if the upstream answered that nothing changed
 * @property {{code: string, reason: string}} [failure]
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string | {layer: string}} layer name or document
 * @param {import('./index.js').Answer} answer
 * @param {object} [options]
 * @param {Head | null} [options.head] of the requested tile, if it was read already; null if it does not exist
 * @param {string} [options.now] exact time
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<SavedTile[]>} nothing if the tile is missing
 */
export async function saveAnswer (store, layer, answer, { head, now = currentTime(), signal } = {}) {
  if (answer.kind === 'missing') return []
  const name = typeof layer === 'string' ? layer : layer.layer
  const ids = answer.tiles.map(({ z, x, y }) => tileId(name, z, x, y))
  const { same, changed } = compareAnswer(name, answer, await headsOf(store, ids, head, signal), now)
  const extended = await extend(store, same, answer, now, signal)
  return [...extended, ...await write(store, changed, now, signal)]
}

/**
 * @typedef {import('./index.js').Tile & {bytes?: Buffer, type?: string}} FetchedTile
 * @typedef {import('../../store/extend.js').Extension} Extension
 * @typedef {{tile: FetchedTile & {id: string}, head: any, extension: Extension}} SameTile
 */

/**
 * Compares an answer with what is stored.
 * @param {string} layer
 * @param {Exclude<import('./index.js').Answer, {kind: 'missing'}>} answer
 * @param {Map<string, Head | null | undefined>} heads by id; tiles that are not among them are left out
 * @param {string} now
 * @returns {{same: SameTile[], changed: any[]}} same: heads that expire later; changed: new versions
 */
export function compareAnswer (layer, answer, heads, now) {
  const { expires, origin } = answer
  /** @type {SameTile[]} */
  const same = []
  const changed = []
  for (const { z, x, y, ...content } of /** @type {FetchedTile[]} */ (answer.tiles)) {
    const id = tileId(layer, z, x, y)
    if (!heads.has(id)) continue
    const head = heads.get(id)
    const tile = { id, z, x, y, ...content }
    const digest = content.bytes && digestOf(content.bytes)
    const isSame = head && (digest ? head.digest === digest : isUnchanged(head, /** @type {any} */ (answer), tile))
    if (isSame) {
      same.push({ tile, head, extension: { id, rev: head.rev, expires, origin: { ...origin, checked: now } } })
    } else if (digest) {
      const time = versionTime(/** @type {any} */ (answer), head, now)
      changed.push({ ...tile, layer, digest, time, expires: expires ?? undefined, origin })
    }
  }
  return { same, changed }
}

/** The heads of tiles by id. Heads that are not known are read. */
async function headsOf (store, ids, head, signal) {
  const heads = new Map()
  if (head && head.digest !== undefined) heads.set(head.id, head)
  else if (head === null && ids.length === 1) heads.set(ids[0], null)
  const missingIds = ids.filter(id => !heads.has(id))
  for (const { id, doc } of await store.couch.docs(missingIds, { signal })) {
    heads.set(id, doc ? storedVersionOf(doc) : null)
  }
  return heads
}

/** "Nothing changed" applies to the requested tile, and to those that came in the same picture. */
function isUnchanged (head, { origin: current, asked }, { z, x, y }) {
  const { digest, origin } = head
  if (!digest) return false // it is gone
  if (z === asked.z && x === asked.x && y === asked.y) return true
  if (origin?.url !== current.url) return false
  if (current.digest) return origin.digest === current.digest
  return origin.etag === current.etag && origin.lastModified === current.lastModified
}

/**
 * The time of a new version: that of the upstream, so that two programs that fetch the same tile write the same
 * version; never before the head.
 * @param {{lastModified?: string}} answer
 * @param {{time: string} | null | undefined} head
 * @param {string} now
 */
export function versionTime ({ lastModified }, head, now) {
  if (lastModified && lastModified <= now && (!head || lastModified > head.time)) return lastModified
  return head && head.time >= now ? addSeconds(head.time, 1) : now
}

async function extend (store, same, { expires }, now, signal) {
  const { extended } = await store.extend(same.map(({ extension }) => extension), { signal })
  return same.map(({ tile, head: { id, time, stored, digest, type = tile.type } }) => {
    const rev = extended.get(id) ?? null
    return savedTile(tile, { outcome: rev ? 'extended' : 'overtaken', rev, time, stored, expires, type, digest })
  })
}

async function write (store, versions, now, signal) {
  if (!versions.length) return []
  const failures = new Map()
  const onFailure = ({ id, ...failure }) => failures.set(id, failure)
  const attempt = batch => store.write(batch, { stored: now, concurrency: 1, signal, onFailure })
  await attempt(versions.toSorted((a, b) => a.id < b.id ? -1 : 1))
  // another program wrote a version of that second: this version comes after it
  const taken = versions.filter(({ id }) => failures.get(id)?.code === 'VERSION_TAKEN')
  for (const { id } of taken) failures.delete(id)
  // the head may be ahead of the clock
  const nextTime = ({ time }) => addSeconds(time > now ? time : now, 1)
  if (taken.length) await attempt(taken.map(version => ({ ...version, time: nextTime(version) })))
  const heads = await headsOf(store, versions.map(({ id }) => id), undefined, signal)
  return versions.map(({ layer, origin, expires = null, ...version }) => {
    const head = heads.get(version.id)
    const failure = failures.get(version.id)
    if (head?.digest !== version.digest) {
      const outcome = failure ? 'failed' : 'overtaken'
      return savedTile(version, { outcome, rev: null, stored: now, expires, ...(failure && { failure }) })
    }
    const { rev, time, stored, type, digest } = head
    return savedTile(version, { outcome: 'written', rev, time, stored, expires: head.expires ?? null, type, digest })
  })
}

/** @returns {SavedTile} */
const savedTile = (/** @type {any} */ { id, z, x, y, bytes, type, time, digest }, fields) =>
  ({ id, z, x, y, ...(bytes && { bytes }), type, time, digest, ...fields })
