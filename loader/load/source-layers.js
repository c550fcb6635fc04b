// Collects the source layers and fields of the vector tiles of a load, for `vector_layers` of the layer document. The
// default style is made of them. Only a sample of the tiles is decoded, and a hostile tile cannot make the list long.
import { formatOf } from '../../core/images.js'
import { isObject } from '../../core/values.js'
import { insideOf, isGzip } from '../formats/unpack.js'
import { readSourceLayers } from '../check/files/vector-tile.js'

export const sourceLayersDefaults = {
  growth: 1.1, // a tile is decoded when the tiles of its zoom have grown by this factor, or the tile is larger by it
  layers: 1000, // source layers in a layer document
  fields: 250, // of a source layer
  size: 65_536, // characters of `vector_layers`, as JSON
  document: 250_000 // characters of a layer document: validate_doc_update allows few more
}

const ENTRY = 64 // characters that a source layer takes besides its name and fields: "id", "fields", zooms
const FIELD = 12 // the same of a field: its type

/** @typedef {{fields: Map<string, string>, minzoom: number, maxzoom: number}} SourceLayer */

export class SourceLayers {
  /** By zoom: seen tiles, the number at which the next is decoded, and the bytes above which a tile is decoded. */
  #zooms = /** @type {Map<number, {seen: number, next: number, large: number}>} */ (new Map())
  /** @type {Map<string, SourceLayer>} by name */
  #layers = new Map()
  #size = 0
  /** Number of tiles that were decoded. */
  decoded = 0

  /** @param {{z: number}} tile @param {Uint8Array} bytes of it */
  async add ({ z }, bytes) {
    if (formatOf(bytes) !== 'mvt' || !this.#takeSample(z, bytes.length)) return
    this.decoded++
    const content = isGzip(bytes) ? await insideOf(bytes).catch(() => undefined) : bytes
    if (content) for (const [id, fields] of readSourceLayers(content)) this.#note(z, id, fields)
  }

  /** Counts a tile of a zoom. Returns whether it is decoded. */
  #takeSample (z, bytes) {
    const { growth } = sourceLayersDefaults
    const zoom = this.#zooms.get(z) ?? { seen: 0, next: 1, large: 0 }
    this.#zooms.set(z, zoom)
    zoom.seen++
    if (zoom.seen < zoom.next && bytes <= zoom.large) return false
    if (zoom.seen >= zoom.next) zoom.next = Math.ceil(zoom.seen * growth) // the first 10 are all read
    zoom.large = Math.max(zoom.large, bytes * growth)
    return true
  }

  /** @param {number} z @param {string} id @param {Map<string, string>} fields */
  #note (z, id, fields) {
    const most = sourceLayersDefaults
    let layer = this.#layers.get(id)
    if (!layer) {
      if (this.#layers.size >= most.layers || !this.#reserve(id, ENTRY)) return
      this.#layers.set(id, layer = { fields: new Map(), minzoom: z, maxzoom: z })
    }
    layer.minzoom = Math.min(layer.minzoom, z)
    layer.maxzoom = Math.max(layer.maxzoom, z)
    for (const [name, type] of fields) {
      const storedType = layer.fields.get(name)
      // MBTiles has String for a field of several types
      if (storedType) layer.fields.set(name, storedType === type ? type : 'String')
      else if (layer.fields.size < most.fields && this.#reserve(name, FIELD)) layer.fields.set(name, type)
    }
  }

  /** Reserves room for another name. @returns {boolean} false: there is no room */
  #reserve (name, more) {
    const size = this.#size + JSON.stringify(name).length + more
    if (size > sourceLayersDefaults.size) return false
    this.#size = size
    return true
  }

  /**
   * Adds missing layers and fields to `vector_layers`. Existing ones stay as they are, except that zooms become wider.
   * @template {Record<string, any>} T
   * @param {T} doc a layer document
   * @returns {T}
   */
  complete (doc) {
    if (doc.format !== 'pbf' || !this.#layers.size) return doc
    const most = sourceLayersDefaults
    const listed = /** @type {any[]} */ (doc.vector_layers ?? [])
    const ids = new Set(listed.map(({ id }) => id))
    const newLayers = [...this.#layers].sort(byName).filter(([id]) => !ids.has(id))
    const layers = [
      ...listed.map(layer => widened(layer, this.#layers.get(layer.id))),
      ...newLayers.map(([id, layer]) => ({ id, ...layer, fields: Object.fromEntries([...layer.fields].sort(byName)) }))
    ].slice(0, Math.max(most.layers, listed.length))
    const completed = { ...doc, vector_layers: layers }
    const areLayersSmall = JSON.stringify(layers).length <= most.size
    return areLayersSmall && JSON.stringify(completed).length <= most.document ? completed : doc
  }
}

/** @param {[string, any]} first @param {[string, any]} second */
const byName = ([a], [b]) => a < b ? -1 : 1

/** @param {any} layer of a layer document @param {SourceLayer} [seen] the same one in the tiles */
function widened (layer, seen) {
  const { fields: listed = {}, minzoom, maxzoom } = layer
  if (!seen || !isObject(listed)) return layer
  const room = Math.max(0, sourceLayersDefaults.fields - Object.keys(listed).length)
  const fields = [...seen.fields].filter(([name]) => !Object.hasOwn(listed, name)).sort(byName).slice(0, room)
  return {
    ...layer,
    fields: { ...listed, ...Object.fromEntries(fields) },
    ...(minzoom > seen.minzoom && { minzoom: seen.minzoom }),
    ...(maxzoom < seen.maxzoom && { maxzoom: seen.maxzoom })
  }
}
