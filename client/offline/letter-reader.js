// Reads which letters the vector tiles of an area write, while they come: before a tile is written, they are noted, so
// that a download that is killed at any moment has seen the letters of all its tiles.
import { LetterCounter } from '../../core/label-text.js'
import { TILE_ATTACHMENT, formats, isTileId } from '../../core/index.js'
import { unzipTile } from '../../core/images.js'
import { sharePromise } from '../../core/promises.js'
import { fromBase64 } from '../mirror/base64.js'

/** @typedef {Pick<import('../../core/mirror/peer.js').Peer, 'name' | 'fetch'>} Source */

/** @implements {Source} */
export class LetterReader {
  #source
  #onNew
  #letters = /** @type {LetterCounter | undefined} */ (undefined)
  /** @type {Map<LetterCounter, Promise<void>>} of all letters that were read */
  #notes = new Map()

  /**
   * @param {Source} source of the tiles
   * @param {(letters: import('../../core/label-text.js').Letters) => Promise<void>} onNew waited for before tiles with
   *   new letters are written
   */
  constructor (source, onNew) {
    this.name = source.name
    this.#source = source
    this.#onNew = onNew
  }

  /** Counts from now on. @param {import('../../core/label-text.js').Letters} letters known before */
  begin (letters) {
    this.#letters = new LetterCounter(letters)
    this.#notes.set(this.#letters, Promise.resolve())
  }

  /** @type {Source['fetch']} */
  async fetch (asked, options) {
    const answer = await this.#source.fetch(asked, options)
    const letters = this.#letters
    if (!letters) return answer
    const areNew = await Promise.all(answer.docs.map(doc => addTo(letters, doc)))
    if (areNew.includes(true)) this.#notes.clear()
    // also of letters that a tile before these had
    await sharePromise(this.#notes, letters, () => this.#onNew(letters.toJSON()))
    return answer
  }
}

/** @param {LetterCounter} letters */
async function addTo (letters, { _id: id, _attachments: attachments }) {
  const { data, content_type: type } = attachments?.[TILE_ATTACHMENT] ?? {}
  if (!data || type !== formats.mvt.type || !isTileId(id)) return false
  try {
    return letters.add(await unzipTile(typeof data === 'string' ? fromBase64(data) : data))
  } catch {
    return false // a damaged tile: no map draws it either
  }
}
