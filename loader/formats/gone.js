// The tiles that a diff says are gone. In a folder they are listed in `gone.txt` beside the zooms: one z/x/y a line,
// with rows counted as those of the files. In MBTiles, if the metadata say that the file is a diff, they are rows
// without bytes.
import { compareIds, gridOf, parseTilePath } from '../../core/index.js'
import { attempt } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { invalid } from './reading.js'
import { Spool } from './spool.js'

export const GONE_LIST = 'gone.txt'

// metadata of MBTiles that only a diff has, as martin has them: what all tiles hash to once it is applied, and before
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
  let rest = ''
  let number = 0
  for await (const chunk of bytes) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const parts = (rest + chunk.toString('latin1')).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      number++
      if (part.trim()) yield { line: part.trim(), number }
    }
    if (rest.length > LONGEST_LINE) throw invalid(file, `line ${number + 1} is no z/x/y`)
  }
  if (rest.trim()) yield { line: rest.trim(), number: number + 1 }
}

function parse (line, number, file) {
  const tile = attempt(() => parseTilePath(line))
  if (!tile) throw invalid(file, `line ${number} is ${JSON.stringify(line.slice(0, LONGEST_LINE))}, not z/x/y`)
  return tile
}

/**
 * Tiles and gone tiles together, in the order of ids. A tile that is both fails when it is read.
 * @param {AsyncIterable<import('../load/sources/index.js').SourceTile>} tiles
 * @param {(z: number, x: number, y: number) => boolean} selected
 * @param {string} file the list, as a message names it
 * @returns {AsyncGenerator<import('../load/sources/index.js').SourceTile>}
 */
export async function * withGone (tiles, spool, selected, file) {
  const list = spool.tiles()[Symbol.asyncIterator]()
  const next = async () => {
    for (;;) {
      const { value } = await list.next()
      if (!value || selected(value.z, value.x, value.y)) return value
    }
  }
  let gone = await next()
  let refused // both there and gone
  for await (const tile of tiles) {
    for (; gone && compareIds(placeOf(gone), placeOf(tile)) < 0; gone = await next()) {
      if (gone !== refused) yield goneTile(gone)
    }
    const both = gone && placeOf(gone) === placeOf(tile)
    if (both) refused = gone
    yield both ? contradiction(tile, file) : tile
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
