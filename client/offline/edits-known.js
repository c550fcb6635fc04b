// What the areas of the device know of tiles that are made here.
import { headId, tileId, versionId } from '../../core/index.js'
import { toBase64 } from '../mirror/digest.js'
import { Reader, versionOf } from './reader.js'

/**
 * @typedef {import('./device.js').Database} Database
 * @typedef {import('./reader.js').HeldVersion} HeldVersion
 * @typedef {{layer: string, z: number, x: number, y: number, time: string}} Place
 *
 * @typedef {object} Known
 * @property {string} [newest] time of the newest version
 * @property {(draft: {bytes?: string}) => Promise<boolean>} [same] whether an image is that of the very time; nothing where there is none
 */

/**
 * @param {Database[]} databases of areas @param {Place[]} places
 * @returns {Promise<Known[]>}
 */
export async function knownOf (databases, places) {
  const known = places.map(() => /** @type {Known} */ ({}))
  for (const { db, holds } of databases) {
    const held = await versionsIn(db, places.filter(({ z, x, y }) => holds(z, x, y)))
    places.forEach((place, at) => {
      for (const version of held.get(tileId(place.layer, place.z, place.x, place.y)) ?? []) {
        if (version.current && (!known[at].newest || version.time > known[at].newest)) known[at].newest = version.time
        if (version.time === place.time) known[at].same ??= draft => isImage(db, version, draft.bytes)
      }
    })
  }
  return known
}

/**
 * Whether an area has what was made here, or what came of it at the store: then it need not be kept twice. One without a
 * past has only what is newest.
 * @param {Database} database @param {import('./edits-index.js').Entry[]} entries of one layer that lie in the area
 * @param {string} layer
 * @returns {Promise<boolean[]>}
 */
export async function hasArrived ({ db, hasHistory }, entries, layer) {
  const held = await versionsIn(db, entries.map(({ z, x, y, time }) => ({ layer, z, x, y, time })), { past: Boolean(hasHistory) })
  return entries.map(({ head, time, digest }) => {
    const versions = (held.get(head) ?? []).sort((a, b) => a.time < b.time ? -1 : 1)
    const newest = versions.find(({ current }) => current)
    const keeps = hasHistory === true || (hasHistory && time >= hasHistory)
    if (!keeps && newest && newest.time >= time) return true
    const shown = versions.filter(version => version.time <= time).pop()
    return (shown?.digest ?? null) === digest && (shown !== undefined || digest === null)
  })
}

/**
 * @param {any} db @param {Place[]} places
 * @param {{past?: boolean}} [options] past: all of it, and not the version of the very time alone
 * @returns {Promise<Map<string, HeldVersion[]>>}
 */
async function versionsIn (db, places, { past = false } = {}) {
  const reader = Reader.of(db)
  const found = /** @type {Map<string, HeldVersion[]>} */ (new Map())
  const take = doc => {
    const version = versionOf(doc)
    if (!version) return
    const id = headId(doc._id)
    found.set(id, [...found.get(id) ?? [], version])
  }
  const ids = places.flatMap(({ layer, z, x, y, time }) => [tileId(layer, z, x, y), versionId(layer, z, x, y, time)])
  for (const doc of (await reader.docs(ids)).values()) if (!past || doc.current) take(doc)
  if (past) {
    const pasts = await Promise.all(places.map(({ layer, z, x, y }) => reader.beginning(`${tileId(layer, z, x, y)}@`)))
    for (const doc of pasts.flat()) take(doc)
  }
  return found
}

/** @param {any} db @param {HeldVersion} version @param {string} [bytes] as base64 */
async function isImage (db, { layer, z, x, y, time, rev, current, gone }, bytes) {
  if (gone || !bytes) return gone === !bytes
  const found = await Reader.of(db).image(current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time), rev)
  return Boolean(found) && toBase64(new Uint8Array(await /** @type {any} */ (found).blob.arrayBuffer())) === bytes
}
