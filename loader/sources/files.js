// Folders, zip and tar as sources: files z/x/y.ext below one folder, as gdal2tiles, mbutil and most tile tools write
// them, with metadata and the list of a diff beside them.
import path from 'node:path'
import { MAX_ZOOM } from '../../core/index.js'
import { ArchiveNames } from '../formats/archive-names.js'
import { FolderReader, MARK } from '../formats/folder/reader.js'
import { GONE_LIST, withGone } from '../formats/gone.js'
import { sourceLimits } from '../formats/limits.js'
import { LocalFile } from '../formats/local-file.js'
import {
  METADATA, TILEJSON, TILEMAP, layerFieldsOf, otherGridOf, parseObject, readTileMap, timeOf
} from '../formats/metadata.js'
import { kindOfName, loadCommand, notTiles, quoted, refusal } from '../formats/other-kinds.js'
import { invalid, reading, throwFaults, unreadable } from '../formats/reading.js'
import { keepEntry, readTar, spoolEntry } from '../formats/tar.js'
import * as zip from '../formats/zip/reader.js'
import { Spool } from '../spool.js'

const NOWHERE = -1 // offset of a tile in a tar that cannot be read; the reason is the next field

/** @type {import('./index.js').OpenSource} */
export async function openFolder (folder, { selected, zooms, scheme, grid, signal }) {
  const reader = new FolderReader(folder, { scheme, grid, signal })
  const list = path.join(folder, GONE_LIST)
  const source = await describe(folder, reader, { list, selected, scheme, tiles })
  if (!source.diff && await isDiff(reader)) throw invalid(folder, 'the export of a diff into it was stopped: run the export again')
  const other = source.diff ? undefined : await otherFolder(folder, reader)
  if (other) throw other
  return source

  async function * tiles () {
    for (const z of await reader.numbers()) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of await reader.numbers(`${z}`)) {
        for (const { y, ext, path: file } of await reader.tiles(z, x)) {
          if (selected(z, x, y)) yield { z, x, y, ext, read: () => reader.read(file) }
        }
      }
    }
  }
}

const TILE_NAME = /^\d+(?:@2x)?\.(?:png|jpe?g|webp|avif|pbf|mvt)$/i
const LISTED = 1000 // names in a folder without zooms that are looked at

/**
 * The error for a folder without zooms, if something else is in it: a folder of tiles, or files of another kind.
 * @param {string} folder @param {FolderReader} reader
 */
async function otherFolder (folder, reader) {
  const inner = []
  let other
  try {
    const deep = await tooDeep(folder, reader)
    if (deep) return deep
    if (await hasZooms(reader)) return undefined
    let count = 0
    for await (const entry of reader.list('', name => !name.startsWith('.'))) {
      if (entry.isFile()) other ??= kindOfName(entry.name) && entry.name
      else if (entry.isDirectory() && await hasZooms(reader, entry.name)) inner.push(entry.name)
      if (++count >= LISTED) break
    }
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    return undefined // it is met again when the tiles are listed
  }
  if (inner.length > 1) {
    return refusal(folder, `a folder with ${inner.length} folders of tiles in it`, {
      how: 'Load one of them; or, if their names hold times, all of them as editions',
      lines: [loadCommand(path.join(folder, inner.sort()[0])), loadCommand(folder, ' --dated')]
    })
  }
  if (inner.length) {
    const lines = [loadCommand(path.join(folder, inner[0]))]
    return refusal(folder, `not the folder with the zooms: that is ${inner[0]}, in it`, { how: 'Load that one', lines })
  }
  if (!other) return undefined
  const kind = kindOfName(other) ?? ''
  const inside = path.join(folder, other)
  if (kind !== 'tiff' && kind !== 'raster') return notTiles(kind, folder, { inside })
  const made = `${path.basename(path.resolve(folder))}.vrt` // all of them as one
  const before = [`gdalbuildvrt ${quoted(made)} ${quoted(folder)}/*${path.extname(other)}`]
  return notTiles(kind, folder, { inside, made, before })
}

/** The error for the folder of one zoom or one column. @param {string} folder @param {FolderReader} reader */
async function tooDeep (folder, reader) {
  const [column, zoom] = ['.', '..'].map(up => path.basename(path.resolve(folder, up)))
  if (!/^\d+$/.test(column)) return undefined
  if (/^\d+$/.test(zoom) && await hasTiles(reader, '')) {
    const above = path.join(folder, '../..')
    return refusal(folder, `one column of zoom ${zoom}: the zooms are in ${above}`, { how: 'Load that', lines: [loadCommand(above)] })
  }
  const [first] = await reader.numbers()
  if (first === undefined || !await hasTiles(reader, String(first))) return undefined
  const above = path.join(folder, '..')
  const lines = [loadCommand(above, ` --zoom ${column}`)]
  return refusal(folder, `only zoom ${column}: the zooms are in ${above}`, { how: 'Load that, for this zoom or without --zoom', lines })
}

/** Whether there are files of tiles. @param {FolderReader} reader @param {string} below */
async function hasTiles (reader, below) {
  for await (const entry of reader.list(below, name => TILE_NAME.test(name))) return Boolean(entry)
  return false
}

/** Whether there are folders of zooms. @param {FolderReader} reader @param {string} [below] */
const hasZooms = async (reader, below) => (await reader.numbers(below)).some(zoom => zoom <= MAX_ZOOM)

/**
 * Whether the folder is marked as a diff: an export writes the list of what is gone last.
 * @param {FolderReader} reader
 */
async function isDiff (reader) {
  if (!await reader.has(MARK)) return false
  const text = await reader.read(MARK, sourceLimits.metadata)
  try {
    return JSON.parse(String(text))?.diff !== undefined
  } catch (error) {
    throw unreadable(MARK, error)
  }
}

/** A zip has a directory, so that nothing is unpacked before it is wanted. @type {import('./index.js').OpenSource} */
export const openZip = (name, options) => openArchive(name, options, async (names, spool, opened) => {
  const file = new LocalFile(name)
  opened.push(file)
  const entries = zip.readZip(file, { onFault: throwFaults(name), signal: options.signal })
  for await (const { name: entry, place, isEncrypted } of entries) {
    const tile = names.tile(entry)
    if (!tile) {
      names.beside(entry, place.size)?.(() => zip.streamZipped(file, place))
      continue
    }
    if (isEncrypted) throw new Error('it is encrypted: unpack it with its password, and load the folder')
    const why = zip.unreadableFile(place, file.size)
    if (why) throw new Error(`${entry}: ${why}: unpack it, and load the folder`)
    spool.add(tile.z, tile.x, tile.y, ...zip.fieldsOf(place, tile.ext))
  }
  return () => tilesOfZip(name, file, spool)
})

/** @typedef {import('./index.js').Source['tiles']} Tiles */

/** A tar is unpacked into temporary files when it is opened. @type {import('./index.js').OpenSource} */
export const openTar = (name, options) => openArchive(name, options, async (names, spool) => {
  await unpackTar(name, names, spool, options)
  return () => tilesOfTar(name, spool)
})

/**
 * @param {string} name @param {import('./index.js').SourceOptions} options
 * @param {(names: ArchiveNames, spool: Spool, opened: {close: () => any}[]) => Promise<Tiles>} list
 */
async function openArchive (name, { selected, scheme, grid, signal }, list) {
  const spool = await Spool.open()
  const opened = [/** @type {{close: () => any}} */ (spool)]
  const close = async () => { for (const one of opened) await one.close() }
  try {
    return await reading(name, async () => {
      const names = new ArchiveNames({ selected, scheme, grid, signal, onFault: throwFaults(name) })
      const tiles = await list(names, spool, opened)
      if (names.other) throw otherArchive(name, names.other)
      return await describe(name, names, {
        list: `${name}: ${GONE_LIST}`, selected, scheme, tiles, total: spool.count(), close
      })
    })
  } catch (error) {
    await close()
    throw error
  }
}

const WHOLE = new Set(['kml', 'qgis']) // kinds that are such an archive themselves: .kmz, .qgz

/** The error for an archive without tiles. @param {string} name @param {{kind: string, name: string}} other in it */
function otherArchive (name, { kind, name: inside }) {
  if (WHOLE.has(kind)) return notTiles(kind, name)
  const unpacking = /\.(?:tar|tgz|tar\.gz)$/i.test(name) ? 'tar xf' : 'unzip'
  return notTiles(kind, name, { inside, before: [`${unpacking} ${quoted(name)}`] })
}

/**
 * @param {string} name
 * @param {FolderReader | ArchiveNames} reader of what is beside the tiles
 * @param {{list: string, selected: any, scheme?: 'xyz' | 'tms', tiles: Tiles, total?: number, close?: () =>
 *   Promise<void>}} options list: of what is gone, for messages
 * @returns {Promise<import('./index.js').Source>}
 */
async function describe (name, reader, { list, selected, scheme = 'xyz', tiles, total, close }) {
  const metadata = parseObject(await reader.text(METADATA) ?? await reader.text(TILEJSON) ?? '')
  const tileMap = readTileMap(await reader.text(TILEMAP) ?? '')
  const fields = layerFieldsOf({ ...(tileMap.grid && { grid: tileMap.grid }), ...metadata })
  const gone = await reader.gone(list)
  return {
    name: path.basename(path.resolve(name)),
    fields,
    bounds: fields.bounds ?? tileMap.bounds,
    profile: tileMap.profile ?? otherGridOf(metadata),
    scheme,
    time: timeOf(metadata),
    diff: Boolean(gone),
    ...(!gone && total !== undefined && { total }),
    tiles: gone ? () => withGone(tiles(), gone, selected, list) : tiles,
    async close () {
      await gone?.close()
      await close?.()
    }
  }
}

/** @returns {AsyncGenerator<import('./index.js').SourceTile>} in the order of their ids */
async function * tilesOfZip (name, file, spool) {
  for await (const { z, x, y, fields, times } of spool.tiles()) {
    const { place, ext } = zip.placeOf(fields)
    const read = async () => {
      const tile = `${z}/${x}/${y}`
      if (times > 1) throw invalid(name, `${tile} is in it ${times} times`)
      if (place.packed > sourceLimits.tile || place.size > sourceLimits.tile) throw invalid(name, `${tile} has ${place.size} bytes`)
      try {
        const bytes = await zip.readZipped(file, place)
        const wrong = zip.wrongContent(place, zip.contentOf(bytes))
        if (wrong) throw new Error(wrong[1])
        return bytes
      } catch (error) {
        throw invalid(name, `${tile} cannot be read: ${error.message}`, error)
      }
    }
    yield { z, x, y, ext, read }
  }
}

/**
 * @param {string} name @param {ArchiveNames} names @param {Spool} spool
 * @param {import('./index.js').SourceOptions} options
 */
async function unpackTar (name, names, spool, { signal, onReading }) {
  // a tile that cannot be read fails when it is read, and is not left out
  const refuse = ({ z, x, y, ext }, why) => spool.add(z, x, y, NOWHERE, 0, why, ext)
  const files = readTar(name, {
    signal,
    onFault: throwFaults(name),
    onFile (entry) {
      const tile = names.tile(entry.path)
      const keep = tile ? undefined : names.beside(entry.path, entry.size)
      if (keep) return keep(keepEntry(entry, spool))
      if (tile && entry.size <= sourceLimits.tile) {
        return spoolEntry(entry, spool, offset => spool.add(tile.z, tile.x, tile.y, offset, entry.size, null, tile.ext))
      }
      if (tile) refuse(tile, `has ${entry.size} bytes`)
      entry.resume()
    },
    onOther (entry) {
      const tile = names.tile(entry.path)
      if (!tile) return
      // folders of tiles whose equal files are one file have links to it in a tar
      const to = entry.type === 'Link' ? names.tile(String(entry.linkpath)) : undefined
      const fields = to && spool.get(to.z, to.x, to.y)
      if (fields) spool.add(tile.z, tile.x, tile.y, ...fields)
      else refuse(tile, `is no file in it, but a ${entry.type}: unpack it, and load the folder`)
    }
  })
  for await (const done of files) onReading?.(done)
}

/** @returns {AsyncGenerator<import('./index.js').SourceTile>} in the order of their ids */
async function * tilesOfTar (name, spool) {
  // of a tile that is there several times, the last counts: so tar brings files up to date
  for await (const { z, x, y, fields: [offset, length, trouble, ext] } of spool.tiles()) {
    const read = () => {
      if (offset === NOWHERE) throw invalid(name, `${z}/${x}/${y} ${trouble}`)
      return spool.slice(offset, length)
    }
    yield { z, x, y, ext, read }
  }
}
