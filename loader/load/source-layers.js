// What is in the vector tiles of a load: their source layers and fields, for `vector_layers` of the layer document. The
// default style is made of them. Only a sample of the tiles is decoded, and a hostile tile cannot make the list long.
import { formatOf } from '../../core/images.js'
import { isObject } from '../../core/values.js'
import { insideOf, isGzip } from '../formats/unpack.js'
import { readSourceLayers } from '../check/files/vector-tile.js'

export const sourceLayersDefaults = {
  growth: 1.1, // a tile is decoded each time that a zoom has this many times as many tiles, or one is so much larger
  layers: 1000, // source layers in a layer document
  fields: 250, // of a source layer
  size: 65_536, // characters of `vector_layers`, as JSON
  document: 250_000 // characters of a layer document: validate_doc_update takes few more
}

const ENTRY = 64 // characters that a source layer takes beside its name and fields: "id", "fields", zooms
const FIELD = 12 // the same of a field: its type

/** @typedef {{fields: Map<string, string>, minzoom: number, maxzoom: number}} Found */

export class SourceLayers {
  /** Of each zoom: tiles seen, at which number the next is read, and bytes from which on one is read. */
  #zooms = /** @type {Map<number, {seen: number, next: number, large: number}>} */ (new Map())
  /** @type {Map<string, Found>} by name */
  #found = new Map()
  #size = 0
  /** How many tiles were decoded. */
  decoded = 0

  /** @param {{z: number}} tile @param {Uint8Array} bytes of it */
  async add ({ z }, bytes) {
    if (formatOf(bytes) !== 'mvt' || !this.#isSample(z, bytes.length)) return
    this.decoded++
    const content = isGzip(bytes) ? await insideOf(bytes).catch(() => undefined) : bytes
    if (content) for (const [id, fields] of readSourceLayers(content)) this.#note(z, id, fields)
  }

  #isSample (z, bytes) {
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
    let layer = this.#found.get(id)
    if (!layer) {
      if (this.#found.size >= most.layers || !this.#takes(id, ENTRY)) return
      this.#found.set(id, layer = { fields: new Map(), minzoom: z, maxzoom: z })
    }
    layer.minzoom = Math.min(layer.minzoom, z)
    layer.maxzoom = Math.max(layer.maxzoom, z)
    for (const [name, type] of fields) {
      const storedType = layer.fields.get(name)
      // as MBTiles has it for several types
      if (storedType) layer.fields.set(name, storedType === type ? type : 'String')
      else if (layer.fields.size < most.fields && this.#takes(name, FIELD)) layer.fields.set(name, type)
    }
  }

  /** Whether there is room for another name. */
  #takes (name, more) {
    const size = this.#size + JSON.stringify(name).length + more
    if (size > sourceLayersDefaults.size) return false
    this.#size = size
    return true
  }

  /**
   * Adds what is missing in `vector_layers`. What is there stays as it is, except that zooms become wider.
   * @template {Record<string, any>} T
   * @param {T} doc a layer document
   * @returns {T}
   */
  complete (doc) {
    if (doc.format !== 'pbf' || !this.#found.size) return doc
    const most = sourceLayersDefaults
    const listed = /** @type {any[]} */ (doc.vector_layers ?? [])
    const ids = new Set(listed.map(({ id }) => id))
    const newLayers = [...this.#found].sort(byName).filter(([id]) => !ids.has(id))
    const layers = [
      ...listed.map(layer => widened(layer, this.#found.get(layer.id))),
      ...newLayers.map(([id, found]) => ({ id, ...found, fields: Object.fromEntries([...found.fields].sort(byName)) }))
    ].slice(0, Math.max(most.layers, listed.length))
    const completed = { ...doc, vector_layers: layers }
    const areLayersSmall = JSON.stringify(layers).length <= most.size
    return areLayersSmall && JSON.stringify(completed).length <= most.document ? completed : doc
  }
}

/** @param {[string, any]} one @param {[string, any]} other */
const byName = ([a], [b]) => a < b ? -1 : 1

/** @param {any} layer of a layer document @param {Found} [found] */
function widened (layer, found) {
  const { fields: listed = {}, minzoom, maxzoom } = layer
  if (!found || !isObject(listed)) return layer
  const room = Math.max(0, sourceLayersDefaults.fields - Object.keys(listed).length)
  const fields = [...found.fields].filter(([name]) => !Object.hasOwn(listed, name)).sort(byName).slice(0, room)
  return {
    ...layer,
    fields: { ...listed, ...Object.fromEntries(fields) },
    ...(minzoom > found.minzoom && { minzoom: found.minzoom }),
    ...(maxzoom < found.maxzoom && { maxzoom: found.maxzoom })
  }
}
