// Collects the letters in the labels of vector tiles during a download. Letters are saved before their tile is written,
// so that a killed download has the letters of all its tiles.
import { LetterCounter } from '../../core/label-text.js'
import { TILE_ATTACHMENT, formats, isTileId } from '../../core/index.js'
import { unzipTile } from '../../core/images.js'
import { shared } from '../../core/promises.js'
import { fromBase64 } from '../mirror/base64.js'

/** @typedef {Pick<import('../../core/mirror/peer.js').Peer, 'name' | 'fetch'>} Source */

/** @implements {Source} */
export class LetterReader {
  #source
  #onNew
  #letters = /** @type {LetterCounter | undefined} */ (undefined)
  /** the last save of the letters; it starts again if it failed @type {() => Promise<void>} */
  #save = async () => {}

  /**
   * @param {Source} source of the tiles
   * @param {(letters: import('../../core/label-text.js').Letters) => Promise<void>} onNew awaited before tiles with
   *   new letters are written
   */
  constructor (source, onNew) {
    this.name = source.name
    this.#source = source
    this.#onNew = onNew
  }

  /** Starts to count letters. @param {import('../../core/label-text.js').Letters} letters of earlier tiles */
  begin (letters) {
    this.#letters = new LetterCounter(letters)
  }

  /** @type {Source['fetch']} */
  async fetch (revisions, options) {
    const answer = await this.#source.fetch(revisions, options)
    const letters = this.#letters
    if (!letters) return answer
    const areNew = await Promise.all(answer.docs.map(doc => addTo(letters, doc)))
    if (areNew.includes(true)) this.#save = shared(() => this.#onNew(letters.toJSON()))
    await this.#save() // also the save of letters that an earlier tile had
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
    return false // no map draws a damaged tile
  }
}
