// Reads the tiles that a diff marks as gone. In a folder they are listed in `gone.txt` beside the zooms: one z/x/y a
// line, with rows counted as those of the files. In MBTiles, if the metadata say that the file is a diff, they are rows
// without bytes.
import { compareIds, gridOf, parseTilePath } from '../../core/index.js'
import { attempt } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { invalid } from './reading.js'
import { Spool } from './spool.js'

export const GONE_LIST = 'gone.txt'

// metadata of MBTiles that only a diff has, as martin writes them: hashes of all tiles after and before it is applied
export const DIFF_KEYS = ['agg_tiles_hash_after_apply', 'agg_tiles_hash_before_apply']

/** Tables in which martin keeps differences within tiles, which need the tiles they were made from. */
export const BINARY_DIFFS = ['bsdiffraw', 'bsdiffrawgz']

const LONGEST_LINE = 100 // bytes

/**
 * @param {AsyncIterable<Buffer>} bytes of the list
 * @param {{file: string, tms?: boolean, grid?: string | object, signal?: AbortSignal}} options
 * @returns {Promise<Spool>} to be closed
 */
export async function readGone (bytes, { file, tms, grid, signal }) {
  const spool = await Spool.open()
  try {
    for await (const { line, number } of lines(bytes, file, signal)) {
      const { z, x, y } = parse(line, number, file)
      spool.add(z, x, tms ? gridOf({ grid }).flipY(z, y) : y)
    }
    return spool
  } catch (error) {
    await spool.close()
    throw error
  }
}

async function * lines (bytes, file, signal) {
  let remainder = ''
  let number = 0
  for await (const chunk of bytes) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const parts = (remainder + chunk.toString('latin1')).split('\n')
    remainder = parts.pop() ?? ''
    for (const part of parts) {
      number++
      if (part.trim()) yield { line: part.trim(), number }
    }
    if (remainder.length > LONGEST_LINE) throw invalid(file, `line ${number + 1} is no z/x/y`)
  }
  if (remainder.trim()) yield { line: remainder.trim(), number: number + 1 }
}

function parse (line, number, file) {
  const tile = attempt(() => parseTilePath(line))
  if (!tile) throw invalid(file, `line ${number} is ${JSON.stringify(line.slice(0, LONGEST_LINE))}, not z/x/y`)
  return tile
}

/**
 * Merges tiles and gone tiles in the order of ids. A tile that is in both fails when it is read.
 * @param {AsyncIterable<import('../load/sources/index.js').SourceTile>} tiles
 * @param {(z: number, x: number, y: number) => boolean} isSelected
 * @param {string} file the list, as a message names it
 * @returns {AsyncGenerator<import('../load/sources/index.js').SourceTile>}
 */
export async function * withGone (tiles, spool, isSelected, file) {
  const list = spool.tiles()[Symbol.asyncIterator]()
  const next = async () => {
    for (;;) {
      const { value } = await list.next()
      if (!value || isSelected(value.z, value.x, value.y)) return value
    }
  }
  let gone = await next()
  let refused // the last tile that is both stored and gone
  for await (const tile of tiles) {
    for (; gone && compareIds(placeOf(gone), placeOf(tile)) < 0; gone = await next()) {
      if (gone !== refused) yield goneTile(gone)
    }
    const isBoth = gone && placeOf(gone) === placeOf(tile)
    if (isBoth) refused = gone
    yield isBoth ? contradiction(tile, file) : tile
  }
  for (; gone; gone = await next()) {
    if (gone !== refused) yield goneTile(gone)
  }
}

const placeOf = ({ z, x, y }) => `${z}:${x}:${y}`
const goneTile = ({ z, x, y }) => ({ z, x, y, gone: true })

function contradiction ({ z, x, y }, file) {
  return { z, x, y, read () { throw invalid(file, `${z}/${x}/${y} is in it, and there is an image of it as well`) } }
}
