// How far an area has got, in its own database: it is true whatever is killed when, for it stands where the tiles do.
import { PouchPeer } from '../mirror/pouch-peer.js'

const NOTE = 'tilecouch-area' // _local/tilecouch-area

/**
 * @typedef {object} Counts
 * @property {number} tiles places with an image
 * @property {number} versions documents of tiles
 * @property {number} bytes of images
 *
 * @typedef {object} AreaNote
 * @property {string | number} [since] place in the feed of the store; nothing until everything was there once
 * @property {string} [identity] of the store's database
 * @property {string} [purged] how often the store has forgotten documents
 * @property {string} [selection] what was taken
 * @property {import('../../core/mirror/peer.js').Refused[]} failed
 * @property {Counts} held
 * @property {import('../../core/place.js').Place & {selection: string, next: import('./listing.js').Spot}} [listing] one that was broken off: what is before `next` is here as the store had it at `since`, or is among `failed`
 * @property {string[]} touched tiles that are being changed, z/x/y: they are not counted in `held`
 * @property {boolean} [buried] documents were deleted here that the store does not know any more
 * @property {string} [updated] when it lacked nothing
 */

export const NOTHING = { tiles: 0, versions: 0, bytes: 0 }

/** @param {any} db a PouchDB @returns {Promise<AreaNote>} */
export async function readNote (db) {
  const note = await new PouchPeer(db).getLocal(NOTE)
  return { failed: [], held: { ...NOTHING }, touched: [], ...note }
}

/** @param {any} db @param {AreaNote} note */
export const saveNote = (db, note) => new PouchPeer(db).updateLocal(NOTE, () => note)
