// Turns the tiles of a source into versions of one time for the store. It checks the tiles while they are read, and
// passes them to those that collect facts about them.
import { gridOf, tileId, versionId } from '../../core/index.js'
import { Spool } from '../formats/spool.js'
import { invalid, sourceLimits } from '../formats/reading.js'
import { isRawVectorTile, pack } from '../formats/unpack.js'
import { TilecouchError } from '../errors.js'
import { tileSizeOf } from '../../core/images.js'
import { imageOf } from '../store/tile.js'

export class SourceReader {
  /** @type {Promise<Spool> | undefined} tiles that did not exist when they were read */
  absent
  #skipped = 0
  /** Digests of tiles that an earlier run has stored, by the ids of heads. @type {Map<string, string | undefined>} */
  #digests = new Map()
  /**
   * @type {AsyncIterator<import('./sources/index.js').SourceTile> | undefined} set by `begin`, as the next two
   */
  #tiles
  /** @type {Promise<IteratorResult<import('./sources/index.js').SourceTile>> | undefined} */
  #first
  /**
   * Pixels a side. All tiles of a layer have one size, since clients are told it once. It comes from the layer
   * document, else from its stored tiles, else from the first tile of the source.
   * @type {number | undefined}
   */
  #tileSize

  /**
   * @param {{layer: Record<string, any>, time: string, complete: boolean, again: boolean, anySize?: boolean, signal?:
   *   AbortSignal, georeference: import('./georeference.js').Georeference,
   *   onKnown: (tile: {z: number, x: number, y: number, digest: string | null}) => void,
   *   same?: import('./same.js').SameTiles, sourceLayers?: import('./source-layers.js').SourceLayers}} options
   * layer: its document; complete: remember the tiles that do not exist; again: some tiles may be stored already;
   * anySize: tiles may have another size than those of the layer; georeference: gets every tile; onKnown: called for
   * tiles that are stored already; same: finds tiles that are unchanged although their bytes differ; sourceLayers: gets
   * every vector tile, if the source layers are not described
   */
  constructor (store, source, options) {
    this.store = store
    this.source = source
    this.options = options
  }

  get #extent () {
    return this.options.georeference.extent
  }

  /** Reads the first tile: a source with another tile size is refused before anything is written. */
  async begin () {
    const { layer, again, signal } = this.options
    this.#tileSize = layer.tileSize ?? await storedTileSize(this.store, layer.layer, signal)
    const { source } = this
    const tiles = source.walk
      ? source.walk({ layer, ...(again && { known: places => this.#areKnown(places) }) })
      : source.tiles()
    const iterator = this.#tiles = tiles[Symbol.asyncIterator]()
    const reading = this.#first = iterator.next()
    // an error here occurs again when the tile is written, and is counted there
    const first = (await reading.catch(() => undefined))?.value
    if (!first?.read) return
    const { read } = first
    const bytes = (async () => read())()
    first.read = () => bytes
    const image = await bytes.catch(() => null)
    this.#checkSize(image)
    this.options.same?.check(image)
  }

  async * #allTiles () {
    const first = await this.#first
    if (!first || first.done) return
    yield first.value
    yield * { [Symbol.asyncIterator]: () => /** @type {AsyncIterator<any>} */ (this.#tiles) }
  }

  /**
   * @param {(z: number, x: number, y: number) => boolean} [only] selects the tiles to read once more
   * @returns {AsyncGenerator<import('../store/tile.js').NewVersion>}
   */
  async * versions (only) {
    const { layer, time, onKnown } = this.options
    for await (const { z, x, y, read, known, ...more } of only ? this.source.tiles() : this.#allTiles()) {
      if (only && !only(z, x, y)) continue
      if (known) {
        this.#extent.add(z, x, y)
        this.#skipped++
        onKnown({ z, x, y, digest: this.#digests.get(tileId(layer.layer, z, x, y)) ?? null })
        this.#digests.delete(tileId(layer.layer, z, x, y))
      } else {
        const reading = read && { read: () => this.#read({ z, x, y, ext: more.ext }, read, !only) }
        yield { layer: layer.layer, z, x, y, time, ...more, ...reading }
      }
    }
  }

  async #read (tile, read, isFirst) {
    const { z, x, y, ext } = tile
    gridOf(this.options.layer).check(z, x, y)
    const received = await read()
    if (received?.length > sourceLimits.tile) {
      throw invalid(this.source.name, `${z}/${x}/${y} has ${received.length} bytes`)
    }
    const bytes = this.#isRawVector(received, ext) ? await pack(received) : received
    this.#checkSize(bytes)
    this.#extent.tileSize = this.#tileSize
    if (bytes && isFirst) {
      this.options.georeference.add(tile, bytes)
      await this.options.sourceLayers?.add(tile, bytes)
    } else if (bytes) this.#extent.add(z, x, y)
    else if (bytes === null && this.options.complete) (await (this.absent ??= Spool.open())).add(z, x, y)
    const { same } = this.options
    return bytes && same ? same.bytesFor({ z, x, y }, bytes) : bytes
  }

  /** @param {Uint8Array | null | undefined} bytes of a tile */
  #checkSize (bytes) {
    const size = bytes ? tileSizeOf(bytes) : undefined
    if (size === undefined) return
    const expected = this.#tileSize ??= size
    const { layer: { layer }, anySize } = this.options
    if (size !== expected && !anySize) throw new TilecouchError('TILE_SIZE', { layer, size, expected })
  }

  /** Whether bytes are a vector tile without gzip. The store has vector tiles in gzip. */
  #isRawVector (bytes, ext = this.source.fields?.format) {
    return ext === 'pbf' && bytes && isRawVectorTile(bytes)
  }

  /** Which tiles have a version of this time: an earlier run fetched them. */
  async #areKnown (tiles) {
    const { layer: { layer }, time } = this.options
    const ids = tiles.map(({ z, x, y }) => [tileId(layer, z, x, y), versionId(layer, z, x, y, time)])
    const storedVersions = await this.store.versionsById(ids.flat())
    return ids.map(([head, past]) => {
      const version = [storedVersions.get(head), storedVersions.get(past)].find(stored => stored?.time === time)
      if (version) this.#digests.set(head, version.digest)
      return Boolean(version)
    })
  }

  /**
   * Adds the skipped tiles to the summary of a write.
   * @template {import('../store/writer.js').WriteSummary} T
   * @param {T} summary
   */
  count (summary) {
    summary.tiles += this.#skipped
    summary.unchanged += this.#skipped
    this.#skipped = 0
    return summary
  }

  async close () {
    await this.#tiles?.return?.()
    await (await this.absent)?.close()
  }
}

const LOOKED_AT = 8 // stored tiles that are read if the layer document has no size

async function storedTileSize (store, layer, signal) {
  const ids = []
  for await (const { id } of store.heads(layer, { signal })) if (ids.push(id) >= LOOKED_AT) break
  const rows = await store.couch.docs(ids, { attachments: true, signal })
  const images = rows.map(({ doc }) => imageOf(doc)?.data)
  return images.map(bytes => bytes && tileSizeOf(bytes)).find(Boolean)
}
