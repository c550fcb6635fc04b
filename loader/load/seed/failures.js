// Reads the list of tiles that failed, to try them again: one JSON object a line, { id, code, reason }.
import { createReadStream } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseTileId } from '../../../core/index.js'
import { attempt } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'

const LONGEST = 10000 // characters of a valid line at most

/**
 * The tiles of a list. All lines are checked before the first tile is requested.
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
    // opened first: readline loses errors of its input that come before it is read
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
  const tile = attempt(() => parseTileId(JSON.parse(line.slice(0, LONGEST)).id))
  if (!tile) throw wrong('names no tile: a line is {"id": "osm:10:300:412", …}')
  if (tile.layer !== layer) throw wrong(`is of the layer ${tile.layer}, not ${layer}`)
  return { z: tile.z, x: tile.x, y: tile.y }
}
