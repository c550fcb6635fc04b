// A folder of z/x/y.ext files, as gdal2tiles, mbutil and most tile tools write it.
import path from 'node:path'
import { TilecouchError, compareInner, compareRows, flipY } from '../../core/index.js'
import { GONE_LIST, readGone, withGone } from './gone.js'
import { sourceLimits } from './limits.js'
import { METADATA } from './listing.js'
import { layerFieldsOf, timeOf } from './metadata.js'
import { FileTree } from './tree.js'

const NUMBER = /^(0|[1-9]\d{0,9})$/
// other files lie about in tile folders too: .kml, .xml, .json, thumbnails
const TILE_FILE = /^(0|[1-9]\d{0,9})\.(png|jpg|jpeg|webp|avif|pbf|mvt)$/i

const MARK = '.tilecouch.json' // of our own exports

export const recognises = (name, stats) => stats.isDirectory()

/**
 * @param {string} folder
 * @param {import('./index.js').SourceOptions} options
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (folder, { selected, zooms, scheme, signal }) {
  const tree = new FileTree(folder, signal)
  const tms = scheme === 'tms'

  async function * tiles () {
    for (const z of await numbers(tree, '', compareInner)) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of await numbers(tree, `${z}`, compareInner)) {
        yield * column(z, x)
      }
    }
  }

  async function * column (z, x) {
    const directory = path.join(`${z}`, `${x}`)
    const files = []
    for await (const { name } of tree.list(directory, one => TILE_FILE.test(one))) {
      const row = parseInt(name)
      files.push({ y: tms ? flipY(z, row) : row, name })
    }
    files.sort((a, b) => compareRows(a.y, b.y) || (a.name < b.name ? -1 : 1))
    for (const { y, name } of files) {
      if (selected(z, x, y)) yield { z, x, y, read: () => tree.read(path.join(directory, name)) }
    }
  }

  const metadata = await readMetadata(tree)
  const list = path.join(folder, GONE_LIST)
  const gone = await tree.has(GONE_LIST) ? await readGone(await tree.stream(GONE_LIST), { file: list, tms, signal }) : undefined
  if (!gone && await isDiff(tree)) throw new TilecouchError('ARCHIVE_INVALID', { file: folder, why: 'the diff in it was stopped before it was whole: run the export again' })
  return {
    name: path.basename(path.resolve(folder)),
    fields: layerFieldsOf(metadata),
    time: timeOf(metadata),
    diff: Boolean(gone),
    tiles: gone ? () => withGone(tiles(), gone, selected, list) : tiles,
    close: () => gone?.close()
  }
}

/** Whether an export says that it is one: its list of what is gone comes last. @param {FileTree} tree */
async function isDiff (tree) {
  if (!await tree.has(MARK)) return false
  const text = await tree.read(MARK, sourceLimits.metadata)
  try {
    return JSON.parse(String(text))?.diff !== undefined
  } catch (error) {
    throw new TilecouchError('SOURCE_UNREADABLE', { value: MARK, why: error.message }, { cause: error })
  }
}

/** Folders whose names are numbers, in order. */
async function numbers (tree, below, compare) {
  const found = []
  for await (const entry of tree.list(below, name => NUMBER.test(name))) {
    if (await tree.isFolder(below, entry)) found.push(+entry.name)
  }
  return found.sort(compare)
}

/** mbutil and tippecanoe leave a metadata.json beside the tiles. @param {FileTree} tree */
async function readMetadata (tree) {
  const text = await tree.has(METADATA) ? await tree.read(METADATA, sourceLimits.metadata) : '{}'
  try {
    return Object(JSON.parse(String(text)))
  } catch {
    return {} // it is a courtesy: a folder without one, or with another program's, is as good
  }
}
