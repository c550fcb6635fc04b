// Stores an answer of an upstream: new bytes become a version, the same bytes make the stored version expire later.
import { addSeconds, now as currentTime, tileId } from '../../core/index.js'
import { digestOf } from '../store/tile.js'

/**
 * The head of a tile, as `store.head` gives it; its bytes are not needed.
 * @typedef {{id: string, rev: string, time: string, stored?: string, digest?: string | null, expires?: string, origin?: Record<string, any>, type?: string}} Head
 *
 * @typedef {object} SavedTile
 * @property {string} id
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {'written' | 'extended' | 'overtaken' | 'failed'} outcome overtaken: another program wrote the head meanwhile; failed: the store did not take it
 * @property {string | null} rev of the head that holds these bytes; null when overtaken or failed
 * @property {string} time of the version
 * @property {string} stored
 * @property {string | null} expires
 * @property {string} [type] content type
 * @property {string} [digest] `md5-…`
 * @property {Buffer} [bytes] of what was fetched; none when the upstream said that nothing changed
 * @property {{code: string, reason: string}} [failure]
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string | {layer: string}} layer name or document
 * @param {import('./index.js').Answer} answer
 * @param {object} [options]
 * @param {Head | null} [options.head] of the tile that was asked for, if it was read already; null when there is none
 * @param {string} [options.now] exact time
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<SavedTile[]>} nothing when the tile is missing
 */
export async function saveAnswer (store, layer, answer, { head, now = currentTime(), signal } = {}) {
  if (answer.kind === 'missing') return []
  const name = typeof layer === 'string' ? layer : layer.layer
  const tiles = answer.tiles.map(tile => ({ ...tile, id: tileId(name, tile.z, tile.x, tile.y) }))
  const heads = await headsOf(store, tiles.map(({ id }) => id), head, signal)
  const same = []
  const other = []
  for (const tile of tiles) {
    const stored = heads.get(tile.id)
    if (answer.kind === 'unchanged') {
      if (stored && isOf(stored, answer, tile)) same.push({ tile, stored })
      continue
    }
    const digest = digestOf(tile.bytes)
    if (stored?.digest === digest) same.push({ tile: { ...tile, digest }, stored })
    else other.push({ ...tile, layer: name, digest, time: versionTime(answer, stored, now), expires: answer.expires ?? undefined, origin: answer.origin })
  }
  const [extended, written] = [await extend(store, same, answer, now, signal), await write(store, other, now, signal)]
  return [...extended, ...written]
}

/** The heads as they are, read unless they are known. */
async function headsOf (store, ids, head, signal) {
  const heads = new Map()
  if (head && head.digest !== undefined) heads.set(head.id, head)
  else if (head === null && ids.length === 1) heads.set(ids[0], null)
  const unknown = ids.filter(id => !heads.has(id))
  for (const { id, doc } of await store.couch.docs(unknown, { signal })) heads.set(id, doc ? describe(doc) : null)
  return heads
}

function describe ({ _id, _rev, time, stored, expires, origin, _attachments }) {
  const attachment = _attachments?.tile
  return { id: _id, rev: _rev, time, stored, expires, origin, digest: attachment?.digest ?? null, type: attachment?.content_type }
}

// "nothing changed" was said of the tile that was asked for, and so of those that came in the same picture
function isOf ({ digest, origin }, { origin: said, asked }, { z, x, y }) {
  if (digest === null) return false
  if (z === asked.z && x === asked.x && y === asked.y) return true
  return origin?.url === said.url && (said.digest ? origin.digest === said.digest : origin.etag === said.etag && origin.lastModified === said.lastModified)
}

/**
 * The time of a new version: what the upstream says of itself, so that two who fetch the same tile write the same version;
 * never before what is there.
 * @param {{lastModified?: string}} answer
 * @param {{time: string} | null | undefined} stored the head
 * @param {string} now
 */
export function versionTime ({ lastModified }, stored, now) {
  if (lastModified && lastModified <= now && (!stored || lastModified > stored.time)) return lastModified
  return stored && stored.time >= now ? addSeconds(stored.time, 1) : now
}

async function extend (store, same, { expires, origin }, now, signal) {
  const checked = { ...origin, checked: now }
  const { extended } = await store.extend(same.map(({ stored: { id, rev } }) => ({ id, rev, expires, origin: checked })), { signal })
  return same.map(({ tile, stored }) => {
    const rev = extended.get(stored.id)
    return result(tile, { outcome: rev ? 'extended' : 'overtaken', rev: rev ?? null, time: stored.time, stored: stored.stored, expires, type: stored.type ?? tile.type, digest: stored.digest })
  })
}

async function write (store, versions, now, signal) {
  if (!versions.length) return []
  const failures = new Map()
  const attempt = async some => {
    await store.write(some, { stored: now, concurrency: 1, signal, onFailure: ({ id, ...failure }) => failures.set(id, failure) })
    // somebody wrote another version of that very second: this one came after it
    return some.filter(({ id }) => failures.get(id)?.code === 'VERSION_TAKEN').map(version => ({ ...version, time: addSeconds(now, 1) }))
  }
  const taken = await attempt(versions.toSorted((a, b) => a.id < b.id ? -1 : 1))
  for (const { id } of taken) failures.delete(id)
  if (taken.length) await attempt(taken)
  // what stands there now, whoever was quicker
  const rows = await store.couch.docs(versions.map(({ id }) => id), { signal })
  return versions.map(({ layer, origin, ...version }, index) => {
    const head = rows[index].doc && describe(rows[index].doc)
    const failure = failures.get(version.id)
    if (head?.digest === version.digest) {
      return result(version, { outcome: 'written', rev: head.rev, time: head.time, stored: head.stored, expires: head.expires ?? null, type: head.type, digest: head.digest })
    }
    return result(version, { outcome: failure ? 'failed' : 'overtaken', rev: null, stored: now, expires: version.expires ?? null, ...(failure && { failure }) })
  })
}

/** @returns {SavedTile} */
const result = (/** @type {any} */ { id, z, x, y, bytes, type, time, digest }, more) => ({ id, z, x, y, ...(bytes && { bytes }), type, time, digest, ...more })
