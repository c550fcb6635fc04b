// Exports only the differences: new and changed tiles with their later bytes, and the names of tiles that are gone.
// Loaded into a store that is like the earlier side, they make it like the later one.
import { gridOf } from '../../core/index.js'
import { digestsOf } from '../store/digests.js'
import { TilecouchError } from '../errors.js'
import { checkTerms } from '../export/index.js'
import { formatOf, openTarget } from '../export/target.js'
import { HASH_AFTER } from '../formats/gone.js'
import { TIME_KEY } from '../formats/metadata.js'

/**
 * @typedef {object} ExportOptions
 * @property {string} target
 * @property {string} [format] folder or mbtiles; unless given, by the name of the target
 * @property {'xyz' | 'tms'} [scheme] how a folder counts rows (xyz)
 * @property {boolean} [force] replace what exists
 * @property {boolean} [permission] although the terms of the layer's upstream forbid it
 *
 * @typedef {object} ExportSummary
 * @property {string} target
 * @property {string} format
 * @property {string} [time] of the edition that it becomes if it is loaded without a time
 * @property {number} tiles in the target
 * @property {number} bytes of them
 * @property {number} gone listed as gone
 * @property {number} written
 * @property {number} kept written by an earlier run
 * @property {number} missing deleted from the store before they could be read: the diff lacks them
 * @property {number} [size] of the target
 * @property {number} [distinct] contents in it
 */

export class ChangesTarget {
  #store
  #from
  #to
  #opened
  #metadata
  #counted = { gone: 0, written: 0, kept: 0, missing: 0 }
  /** @type {string | undefined} */
  #last

  /**
   * @param {import('../store/index.js').Store} store
   * @param {import('./sides.js').Side} from @param {import('./sides.js').Side} to
   * @param {ExportOptions & import('./sides.js').Wanted} options
   */
  static async open (store, from, to, { target, format, scheme = 'xyz', force, permission, area: given, zooms }) {
    const refuse = why => new TilecouchError('BAD_OPTION', { option: '--export', value: target, why })
    if (to.layer === undefined) throw refuse(`the tiles to export are in ${to.name} already`)
    const kind = await formatOf(target, format)
    if (kind === 'pmtiles') throw refuse('PMTiles cannot say that a tile is gone: write a folder or MBTiles')
    checkTerms(to.doc, permission)
    const area = given?.in(gridOf(to.doc))
    const diff = [from, to].map(exactName).join('..')
    const metadata = metadataOf(to.doc, kind, Boolean(area || zooms))
    const run = JSON.stringify({ store: await store.identity(), diff, area: area?.key, zooms, scheme })
    const opened = await openTarget(target, {
      format: kind, layer: to.layer, doc: to.doc, run, diff, area, zooms, scheme, force, metadata
    })
    return new ChangesTarget(store, from, to, opened, metadata)
  }

  /** Use `ChangesTarget.open`. */
  constructor (store, from, to, opened, metadata) {
    this.#store = store
    this.#from = from
    this.#to = to
    this.#opened = opened
    this.#metadata = metadata
  }

  /**
   * @param {AsyncIterable<import('./changes.js').Change>} changes those that differ
   * @param {AbortSignal} [signal]
   */
  async take (changes, signal) {
    const onMissing = () => { this.#counted.missing++ }
    const toWrite = /** @type {any} */ (this.#toWrite(changes))
    for await (const tile of this.#store.fetch(toWrite, { signal, onMissing })) {
      await this.#opened.add(tile)
      this.#counted.written++
    }
  }

  async * #toWrite (changes) {
    for await (const { z, x, y, to, since } of changes) {
      const time = to?.time ?? since
      if (time !== undefined && (this.#last === undefined || time > this.#last)) this.#last = time
      if (!to) {
        await this.#opened.gone({ z, x, y })
        this.#counted.gone++
      } else if (await this.#has(to)) this.#counted.kept++
      else yield to
    }
  }

  async #has (to) {
    if (!this.#opened.resumed) return false
    return this.#opened.has({ ...to, digest: (await digestsOf(this.#store, [to])).get(to) })
  }

  /** @param {() => AsyncIterable<import('./changes.js').Change>} again to remove what an earlier run left */
  async finish (again) {
    if (this.#opened.tidies) {
      for await (const { z, x, y, change, from, to, versions = [from, to].filter(Boolean) } of again()) {
        await this.#opened.tidy(/** @type {any} */ ({ z, x, y, versions }), change === 'same' ? undefined : to?.time)
      }
    }
    // targets read it when they end
    Object.assign(this.#metadata, { [TIME_KEY]: this.#time })
    const ended = await this.#opened.finish()
    return { ...this.summary, ...ended }
  }

  /** The last change of the later side, if it is later than the earlier side. */
  get #time () {
    const [from, to, last] = [this.#from, this.#to, this.#last]
    if (from.layer !== to.layer || last === undefined || from.time === undefined) return undefined
    return last > from.time ? last : undefined
  }

  /** @returns {ExportSummary} */
  get summary () {
    const { name, format, facts: { tiles, bytes } } = this.#opened
    return { target: name, format, ...(this.#time && { time: this.#time }), tiles, bytes, ...this.#counted }
  }

  /** Keeps what a later run can use; does nothing after finish(). */
  stop () {
    return this.#opened.stop()
  }
}

/** @param {import('./sides.js').Side} side */
const exactName = ({ name, layer, time }) => layer === undefined || time === undefined ? name : `${layer}@${time}`

/**
 * The metadata of a diff describe the complete later side: `mbtiles apply-patch` copies them. Those that are unknown
 * are left out. The hash over the bytes of all tiles would need both sides to be read completely, while a diff only
 * reads what changed. So it is written as unknown: that marks the diff, and the earlier hash does not stay in a patched
 * file.
 */
function metadataOf (doc, format, isPart) {
  const { bounds, center, minzoom, maxzoom } = isPart ? /** @type {Record<string, any>} */ ({}) : doc
  return /** @type {Record<string, any>} */ ({
    bounds: bounds?.join(','),
    center: center?.join(','),
    minzoom,
    maxzoom,
    ...(format === 'mbtiles' && { [HASH_AFTER]: null })
  })
}
