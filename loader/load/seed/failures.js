// The list of tiles that failed: one JSON object a line, { id, code, reason }, written as they fail and read to try
// them again.
import { createReadStream, createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseTileId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'

const LONGEST = 10000 // characters of a line that can be one

/**
 * Tiles of a list, checked to its last line before any of them is asked for.
 * @param {string} file
 * @param {string} layer
 * @returns {Promise<import('./index.js').TileList>}
 */
export async function readFailures (file, layer) {
  const count = new Map()
  for await (const { z } of tilesIn(file, layer)) count.set(z, (count.get(z) ?? 0) + 1)
  return { count, tiles: () => tilesIn(file, layer) }
}

async function * tilesIn (file, layer) {
  const input = createReadStream(file, 'utf8')
  const wrong = (why, cause) => new TilecouchError('SOURCE_UNREADABLE', { value: file, why }, { cause })
  try {
    // opened first: readline loses errors of its input that come before anybody listens
    await once(input, 'open')
    let number = 0
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      number++
      if (line.trim()) yield tileOf(line, layer, why => wrong(`line ${number} ${why}`))
    }
  } catch (error) {
    throw error instanceof TilecouchError ? error : wrong(error.message, error)
  } finally {
    input.destroy()
  }
}

function tileOf (line, layer, wrong) {
  let tile
  try {
    tile = parseTileId(JSON.parse(line.slice(0, LONGEST)).id)
  } catch {
    throw wrong('names no tile: a line is {"id": "osm:10:300:412", …}')
  }
  if (tile.layer !== layer) throw wrong(`is of the layer ${tile.layer}, not ${layer}`)
  return { z: tile.z, x: tile.x, y: tile.y }
}

/** Writes a list as the failures come. The file is empty when none did. */
export class FailureList {
  #stream
  #error

  /** @param {string} file what was in it is lost */
  static async open (file) {
    const list = new FailureList()
    list.#stream = createWriteStream(file)
    list.#stream.on('error', error => { list.#error ??= notWritable(file, error) })
    try {
      await once(list.#stream, 'open')
    } catch (error) {
      throw notWritable(file, error)
    }
    return list
  }

  /** @param {{id: string, code: string, reason: string}} failure */
  add (failure) {
    this.#stream.write(JSON.stringify(failure) + '\n')
  }

  async close () {
    if (!this.#error) await new Promise(resolve => { this.#stream.end(resolve) })
    if (this.#error) throw this.#error
  }
}

const notWritable = (file, error) =>
  new TilecouchError('BAD_OPTION', { option: '--failed', value: `${file}: ${error.message}` }, { cause: error })
