// Writes the manifest of a load: the tiles that it read, with the digest of each. Digests are collected in blocks. Some
// blocks are written when too many are open, the manifest itself at the end: a load that was killed has none.
import { hash } from 'node:crypto'
import { chunks } from '../../core/lists.js'
import { blockId, compareIds, manifestId } from '../../core/index.js'
import { Block, contentOf, placeOfTile } from '../../core/store/blocks.js'

export const manifestDefaults = {
  open: 1024, // blocks in memory, of 32 kB each
  batch: 50, // blocks a request
  waiting: 4, // requests that wait to be sent
  part: 1000 // blocks listed in one document
}

const NAME = 12 // characters of a block's digest that are its name

export class ManifestWriter {
  /** Place -> its block, the last used one at the end. @type {Map<string, Block>} */
  #open = new Map()
  /** Place -> names of blocks that are stored. @type {Map<string, string[]>} */
  #stored = new Map()
  #writing = Promise.resolve()
  #waiting = 0
  #error
  tiles = 0

  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {{layer: string, time: string, run: string, signal?: AbortSignal}} edition
   */
  constructor (couch, { layer, time, run, signal }) {
    this.couch = couch
    this.layer = layer
    this.time = time
    this.run = run
    this.signal = signal
  }

  /** Adds a tile. @param {{z: number, x: number, y: number, digest: string | null}} tile */
  add ({ z, x, y, digest }) {
    const place = placeOfTile(z, x, y)
    let block = this.#open.get(place)
    if (block) this.#open.delete(place)
    else block = new Block()
    this.#open.set(place, block)
    if (block.get(x, y) === undefined) this.tiles++
    block.set(x, y, contentOf(digest))
    if (this.#open.size > manifestDefaults.open) this.#close([...this.#open.keys()].slice(0, manifestDefaults.batch))
  }

  #close (places) {
    const blocks = places.map(place => {
      const bytes = /** @type {Block} */ (this.#open.get(place)).encode()
      this.#open.delete(place)
      const name = nameOf(bytes)
      this.#stored.set(place, [...this.#stored.get(place) ?? [], name])
      return { place, name, bytes }
    })
    this.#waiting++
    this.#writing = this.#writing.then(() => this.#error ? undefined : this.#write(blocks))
      .catch(error => { this.#error ??= error })
      .finally(() => { this.#waiting-- })
  }

  /** Waits while too many blocks wait to be written. */
  async ready () {
    if (this.#waiting > manifestDefaults.waiting) await this.#writing
  }

  async #write (blocks) {
    const ids = blocks.map(({ place, name }) => blockId(this.layer, place, name))
    // if an edition repeats another one, most of its blocks are stored already
    const storedBlocks = await this.couch.docs(ids, { signal: this.signal })
    const documentOf = ({ place, bytes }, index) => blockDocument(ids[index], this.layer, place, bytes)
    const missing = blocks.map(documentOf).filter((_, index) => !storedBlocks[index].doc)
    // a conflict means that another load has written the same block
    await this.couch.writeAll(missing, this.signal)
  }

  /**
   * Writes the manifest, which counts from then on. It is not written if it repeats an earlier run of its edition.
   * @param {{complete: boolean, area?: import('../../core/area.js').Area, zooms?: import('../../core/grid.js').Zooms,
   *   known: import('../../core/store/statements.js').Manifest[]}} end
   * @returns {Promise<{root: string, run: string, blocks: number}>}
   */
  async publish ({ complete, area, zooms, known: storedManifests }) {
    const places = [...this.#open.keys()]
    const { batch, part } = manifestDefaults
    for (const chunk of chunks(places, batch)) this.#close(chunk)
    await this.#writing
    if (this.#error) throw this.#error
    const entries = [...this.#stored].sort(([a], [b]) => compareIds(a, b))
    const scope = { complete, ...(complete && area && { area: area.toJSON() }), ...(complete && zooms && { zooms }) }
    const root = rootOf(entries, scope)
    const repeated = storedManifests.find(manifest => manifest.time === this.time && manifest.root === root)
    if (repeated) return { root, run: repeated.run, blocks: entries.length }
    const isLong = entries.length > part
    const parts = isLong ? [...chunks(entries, part)] : []
    const { layer, time, run, tiles } = this
    const fields = { type: 'manifest', layer, time, run }
    for (const [index, entriesOfPart] of parts.entries()) {
      const _id = manifestId(layer, time, run, index)
      await this.#put({ _id, ...fields, part: index, blocks: Object.fromEntries(entriesOfPart) })
    }
    await this.#put({
      _id: manifestId(layer, time, run), ...fields, ...scope, tiles, root,
      ...(isLong ? { parts: parts.map(([[first]]) => first) } : { blocks: Object.fromEntries(entries) })
    })
    return { root, run, blocks: entries.length }
  }

  async #put (doc) {
    await this.couch.update(doc._id, stored => stored ? undefined : doc)
  }
}

/** The name of a block: the beginning of its digest. */
export const nameOf = bytes => hash('md5', bytes, 'base64url').slice(0, NAME)

/** The digest of a whole manifest. @param {[string, string[]][]} entries in the order of their places */
export const rootOf = (entries, scope) => hash('md5', JSON.stringify([entries, scope]), 'hex')

export function blockDocument (id, layer, place, bytes) {
  const [z, x, y] = place.split(':').map(Number)
  const digests = { content_type: 'application/octet-stream', data: bytes }
  return { _id: id, type: 'block', layer, z, x, y, _attachments: { digests } }
}
