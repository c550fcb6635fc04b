// PMTiles v3: one file that maps in browsers read by ranges, without a server. Tiles come in any order and are gathered
// beside the file; at the end they are put in the order of the format, each content once, and the file appears whole.
import { rename } from 'node:fs/promises'
import { zxyToTileId } from 'pmtiles'
import { TilecouchError } from '../../core/index.js'
import { digestOf } from '../store/tile.js'
import { assemble, removeAssembled } from './pmtiles/assemble.js'
import { Gathered, removeGathered } from './pmtiles/gathered.js'
import { VECTOR, tileTypes } from './pmtiles/header.js'

export const MAX_ZOOM = 26 // beyond it the numbers of tiles are not exact in JavaScript, and its readers refuse them

/** @typedef {import('./target.js').Target} Target */

/**
 * @param {string} file
 * @param {import('./target.js').TargetOptions} options
 * @returns {Promise<Target>}
 */
export async function open (file, options) {
  const { doc, zooms, run } = options
  const deepest = Math.min(zooms?.max ?? Infinity, doc.maxzoom ?? 0)
  if (deepest > MAX_ZOOM) throw tooDeep(file, deepest)
  const part = `${file}.part`
  await removeAssembled(part)
  return new PmtilesTarget(file, options, await Gathered.open(part, run))
}

/** @implements {Target} */
class PmtilesTarget {
  #file
  #part
  #options
  #gathered
  #vector = /** @type {boolean | undefined} */ (undefined)

  constructor (file, options, gathered) {
    this.#file = file
    this.#part = `${file}.part`
    this.#options = options
    this.#gathered = gathered
    this.resumed = gathered.resumed
  }

  /** @param {import('./target.js').Known} tile */
  has ({ z, x, y, time, size, digest }) {
    return z <= MAX_ZOOM && this.#gathered.has(zxyToTileId(z, x, y), { time, size, digest })
  }

  /** @param {import('./target.js').TargetTile} tile */
  async add ({ z, x, y, time, type, bytes, digest = digestOf(bytes) }) {
    if (z > MAX_ZOOM) throw tooDeep(this.#file, z)
    if (!bytes.length) throw new TilecouchError('EMPTY_IMAGE')
    const number = tileTypes[type]
    if (!number) throw this.#unwritable(`PMTiles has no tiles of the type ${type}`)
    this.#check([number])
    await this.#gathered.add(zxyToTileId(z, x, y), { time, type: number, bytes, digest })
  }

  // readers unpack every tile of an archive or none
  #check (types) {
    for (const type of types) {
      this.#vector ??= type === VECTOR
      if (this.#vector !== (type === VECTOR)) throw this.#unwritable('there are vector tiles and images in it, and PMTiles holds either')
    }
  }

  /** The format has no word for it. @param {{z: number, x: number, y: number}} tile */
  gone ({ z, x, y }) {
    throw this.#unwritable(`PMTiles cannot say that a tile is gone, as ${z}/${x}/${y} is; .mbtiles, .zip and folders can`)
  }

  #unwritable (why) {
    return new TilecouchError('TARGET_UNWRITABLE', { value: this.#file, why })
  }

  /** @param {import('./facts.js').Facts} facts */
  async finish (facts) {
    if (!facts.tiles) throw this.#unwritable('PMTiles have to have tiles')
    await this.#gathered.flush()
    const result = await assemble(this.#part, this.#gathered, this.#options, facts, types => this.#check(types))
    await rename(this.#part, this.#file)
    await this.#gathered.close()
    await removeGathered(this.#part)
    return result
  }

  async stop () {
    try {
      await this.#gathered.flush()
    } finally {
      await this.#gathered.close()
      if (this.#gathered.isEmpty) await removeGathered(this.#part)
    }
  }
}

const tooDeep = (file, z) => new TilecouchError('TARGET_UNWRITABLE', { value: file, why: `it would hold zoom ${z}, and PMTiles are read up to zoom ${MAX_ZOOM}; say --zoom 0-${MAX_ZOOM}` })
