// Exports only the differences: new and changed tiles with their later bytes, and the names of tiles that are gone. Loaded into a
// store that is like the earlier side, they make it like the later one.
import { digestsOf } from '../store/digests.js'
import { TilecouchError } from '../errors.js'
import { checkTerms } from '../export/index.js'
import { formatOf, openTarget } from '../export/target.js'
import { HASH_AFTER } from '../formats/gone.js'
import { TIME_KEY } from '../formats/metadata.js'

/**
 * @typedef {object} ExportOptions
 * @property {string} target
 * @property {string} [format] folder, mbtiles or zip; the name of the target tells unless given
 * @property {'xyz' | 'tms'} [scheme] how a folder or zip counts rows (xyz)
 * @property {boolean} [force] replace what is there
 * @property {boolean} [permission] although the terms of the layer's upstream forbid it
 *
 * @typedef {object} ExportSummary
 * @property {string} target
 * @property {string} format
 * @property {string} [time] of the edition it becomes when it is loaded without any
 * @property {number} tiles in the target
 * @property {number} bytes of them
 * @property {number} gone said to be gone
 * @property {number} written
 * @property {number} kept there already from a run before
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
  static async open (store, from, to, { target, format, scheme = 'xyz', force, permission, area, zooms }) {
    const refuse = why => new TilecouchError('BAD_OPTION', { option: '--export', value: target, why })
    if (to.layer === undefined) throw refuse(`the tiles to export are in ${to.name} already`)
    const kind = await formatOf(target, format)
    if (kind === 'pmtiles') throw refuse('PMTiles cannot say that a tile is gone: write a folder, MBTiles or a zip')
    checkTerms(to.doc, permission)
    const diff = [from, to].map(exactName).join('..')
    const metadata = aboutOf(to.doc, kind, Boolean(area || zooms))
    const run = JSON.stringify({ store: await store.identity(), diff, area: area?.key, zooms, scheme })
    const opened = await openTarget(target, { format: kind, layer: to.layer, doc: to.doc, run, diff, area, zooms, scheme, force, metadata })
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
    for await (const tile of this.#store.fetch(/** @type {any} */ (this.#lacking(changes)), { signal, onMissing })) {
      await this.#opened.add(tile)
      this.#counted.written++
    }
  }

  async * #lacking (changes) {
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

  /** @param {() => AsyncIterable<import('./changes.js').Change>} again walks once more, for what a run before left */
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

  /** When the later side came to be as it is, where that is later than the earlier one. */
  get #time () {
    const [from, to] = [this.#from, this.#to]
    return from.layer === to.layer && this.#last !== undefined && from.time !== undefined && this.#last > from.time ? this.#last : undefined
  }

  /** @returns {ExportSummary} */
  get summary () {
    const { name, format, facts: { tiles, bytes } } = this.#opened
    return { target: name, format, ...(this.#time && { time: this.#time }), tiles, bytes, ...this.#counted }
  }

  /** Keeps what a later run can use; nothing after finish(). */
  stop () {
    return this.#opened.stop()
  }
}

/** @param {import('./sides.js').Side} side */
const exactName = ({ name, layer, time }) => layer === undefined || time === undefined ? name : `${layer}@${time}`

/**
 * What a diff says of its tiles is what the whole of them is to say: `mbtiles apply-patch` copies it. What is not known of
 * the whole is left out. So is its hash: over the bytes of all tiles in order, it would mean to read both sides whole, where a
 * diff reads what changed. LayerStatements to be unknown, it marks the diff, and no hash of before stays in what was patched.
 */
function aboutOf (doc, format, isPart) {
  const whole = isPart ? {} : doc
  return /** @type {Record<string, any>} */ ({
    bounds: whole.bounds?.join(','),
    center: whole.center?.join(','),
    minzoom: whole.minzoom,
    maxzoom: whole.maxzoom,
    ...(format === 'mbtiles' && { [HASH_AFTER]: null })
  })
}
