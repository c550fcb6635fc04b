// Opens folders as sources: files z/x/y.ext, as gdal2tiles, mbutil and most tile tools write them, with metadata and
// the list of a diff beside them.
import path from 'node:path'
import { MAX_ZOOM } from '../../../core/index.js'
import { FolderReader, MARK } from '../../formats/folder/reader.js'
import { GONE_LIST, withGone } from '../../formats/gone.js'
import { invalid, unreadable } from '../../formats/reading.js'
import {
  METADATA, TILEJSON, TILEMAP, layerFieldsOf, otherGridOf, parseObject, readTileMap, timeOf
} from '../../formats/metadata.js'
import { kindOfName, loadCommand, notTiles, quoted, refusal } from '../../formats/other-kinds.js'

/** @type {import('./index.js').OpenSource} */
export async function open (folder, { selected, zooms, scheme = 'xyz', grid, signal, onFault }) {
  const reader = new FolderReader(folder, { scheme, grid, signal, onFault })
  const list = path.join(folder, GONE_LIST)
  const text = await reader.text(METADATA) ?? await reader.text(TILEJSON) ?? '{}'
  const onBad = why => onFault?.('bad-metadata', METADATA, why)
  const metadata = parseObject(text, onBad)
  const tileMap = readTileMap(await reader.text(TILEMAP) ?? '')
  const fields = layerFieldsOf({ ...(tileMap.grid && { grid: tileMap.grid }), ...metadata }, onBad)
  const gone = await reader.gone(list)
  if (!gone && await isDiff(reader)) {
    throw invalid(folder, 'the export of a diff into it was stopped, so it is neither a layer nor a whole diff')
  }
  const kindError = gone ? undefined : await otherFolder(folder, reader)
  if (kindError) throw kindError
  return {
    name: path.basename(path.resolve(folder)),
    fields,
    bounds: fields.bounds ?? tileMap.bounds,
    profile: tileMap.profile ?? otherGridOf(metadata),
    scheme,
    time: timeOf(metadata),
    diff: Boolean(gone),
    tiles: gone ? () => withGone(tiles(), gone, selected, list) : tiles,
    close: async () => gone?.close()
  }

  async function * tiles () {
    for (const z of await reader.numbers()) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of await reader.numbers(`${z}`)) {
        for (const { y, ext, path: file, isOutside } of await reader.tiles(z, x)) {
          const isReported = isOutside && onFault
          if (!isReported && selected(z, x, y)) yield { z, x, y, ext, file, read: () => reader.read(file) }
        }
      }
    }
  }
}

const TILE_NAME = /^\d+(?:@2x)?\.(?:png|jpe?g|webp|avif|pbf|mvt)$/i
const LISTED = 1000 // names that are read in a folder without zooms

/**
 * The error for a folder without zooms that contains a folder of tiles, or files of another kind.
 * @param {string} folder @param {FolderReader} reader
 */
async function otherFolder (folder, reader) {
  const tileFolders = []
  let otherFile
  try {
    const error = await tooDeep(folder, reader)
    if (error) return error
    if (await hasZooms(reader)) return undefined
    let count = 0
    for await (const entry of reader.list('', name => !name.startsWith('.'))) {
      if (entry.isFile()) otherFile ??= kindOfName(entry.name) && entry.name
      else if (entry.isDirectory() && await hasZooms(reader, entry.name)) tileFolders.push(entry.name)
      if (++count >= LISTED) break
    }
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    return undefined // the error occurs again when the tiles are listed
  }
  if (tileFolders.length > 1) {
    return refusal(folder, `a folder with ${tileFolders.length} folders of tiles in it`, {
      how: 'Load one of them; or, if their names hold times, all of them as editions',
      lines: [loadCommand(path.join(folder, tileFolders.sort()[0])), loadCommand(folder, ' --dated')]
    })
  }
  if (tileFolders.length) {
    const lines = [loadCommand(path.join(folder, tileFolders[0]))]
    return refusal(folder, `not the folder with the zooms: that is ${tileFolders[0]}, in it`, {
      how: 'Load that one', lines
    })
  }
  if (!otherFile) return undefined
  const kind = kindOfName(otherFile) ?? ''
  const inside = path.join(folder, otherFile)
  if (kind !== 'tiff' && kind !== 'raster') return notTiles(kind, folder, { inside })
  const made = `${path.basename(path.resolve(folder))}.vrt` // all files as one raster
  const before = [`gdalbuildvrt ${quoted(made)} ${quoted(folder)}/*${path.extname(otherFile)}`]
  return notTiles(kind, folder, { inside, made, before })
}

/** The error for the folder of one zoom or one column. @param {string} folder @param {FolderReader} reader */
async function tooDeep (folder, reader) {
  const [column, zoom] = ['.', '..'].map(up => path.basename(path.resolve(folder, up)))
  if (!/^\d+$/.test(column)) return undefined
  if (/^\d+$/.test(zoom) && await hasTiles(reader, '')) {
    const above = path.join(folder, '../..')
    return refusal(folder, `one column of zoom ${zoom}: the zooms are in ${above}`, {
      how: 'Load that', lines: [loadCommand(above)]
    })
  }
  const [first] = await reader.numbers()
  if (first === undefined || !await hasTiles(reader, String(first))) return undefined
  const above = path.join(folder, '..')
  const lines = [loadCommand(above, ` --zoom ${column}`)]
  return refusal(folder, `only zoom ${column}: the zooms are in ${above}`, {
    how: 'Load that, for this zoom or without --zoom', lines
  })
}

/** Whether there are files of tiles. @param {FolderReader} reader @param {string} below */
async function hasTiles (reader, below) {
  for await (const entry of reader.list(below, name => TILE_NAME.test(name))) return Boolean(entry)
  return false
}

/** Whether there are folders of zooms. @param {FolderReader} reader @param {string} [below] */
const hasZooms = async (reader, below) => (await reader.numbers(below)).some(zoom => zoom <= MAX_ZOOM)

/**
 * Whether the folder is marked as a diff of an earlier tilecouch, which wrote the list of gone tiles last.
 * @param {FolderReader} reader
 */
async function isDiff (reader) {
  const text = await reader.text(MARK)
  try {
    return text !== undefined && JSON.parse(text)?.diff !== undefined
  } catch (error) {
    throw unreadable(MARK, error)
  }
}
