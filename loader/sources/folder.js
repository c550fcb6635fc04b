// A folder of z/x/y.ext files, as gdal2tiles, mbutil and most tile tools write it.
import { createReadStream } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError, compareInner, compareRows, flipY } from '../../core/index.js'
import { GONE_LIST, readGone, withGone } from './gone.js'
import { layerFieldsOf, timeOf } from './metadata.js'

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
export async function open (folder, { selected, zooms, scheme }) {
  const tms = scheme === 'tms'

  async function * tiles () {
    for (const z of await numbers(folder, compareInner)) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of await numbers(path.join(folder, `${z}`), compareInner)) {
        yield * column(z, x)
      }
    }
  }

  async function * column (z, x) {
    const directory = path.join(folder, `${z}`, `${x}`)
    const files = []
    for (const name of await namesIn(directory)) {
      const match = TILE_FILE.exec(name)
      if (match) files.push({ y: tms ? flipY(z, +match[1]) : +match[1], name })
    }
    files.sort((a, b) => compareRows(a.y, b.y) || (a.name < b.name ? -1 : 1))
    for (const { y, name } of files) {
      if (selected(z, x, y)) yield { z, x, y, read: () => readFile(path.join(directory, name)) }
    }
  }

  const metadata = await readMetadata(folder)
  const list = path.join(folder, GONE_LIST)
  const gone = await ifThere(list, async () => {
    await stat(list)
    return readGone(createReadStream(list), { file: list, tms })
  })
  if (!gone && await isDiff(folder)) throw new TilecouchError('ARCHIVE_INVALID', { file: folder, why: 'the diff in it was stopped before it was whole: run the export again' })
  return {
    name: path.basename(path.resolve(folder)),
    fields: layerFieldsOf(metadata),
    time: timeOf(metadata),
    diff: Boolean(gone),
    tiles: gone ? () => withGone(tiles(), gone, selected, list) : tiles,
    close: () => gone?.close()
  }
}

/** Whether an export says that it is one: its list of what is gone comes last. */
async function isDiff (folder) {
  const mark = await ifThere(path.join(folder, MARK), async file => JSON.parse(await readFile(file, 'utf8')))
  return mark?.diff !== undefined
}

/** Folders whose names are numbers, in order. */
async function numbers (directory, compare) {
  const found = []
  for (const name of await namesIn(directory)) {
    if (NUMBER.test(name) && await isFolder(path.join(directory, name))) found.push(+name)
  }
  return found.sort(compare)
}

const namesIn = directory => reading(directory, readdir)

const isFolder = name => reading(name, async file => (await stat(file)).isDirectory())

async function reading (name, read) {
  try {
    return await read(name)
  } catch (error) {
    throw error instanceof TilecouchError ? error : new TilecouchError('SOURCE_UNREADABLE', { value: name, why: error.message })
  }
}

/** mbutil and tippecanoe leave a metadata.json beside the tiles. */
async function readMetadata (folder) {
  const text = await ifThere(path.join(folder, 'metadata.json'), file => readFile(file, 'utf8'))
  try {
    return Object(JSON.parse(text ?? '{}'))
  } catch {
    return {} // it is a courtesy: a folder without one, or with another program's, is as good
  }
}

/** Nothing where there is no such file. One that cannot be read is there: it may say that the folder is a diff. */
async function ifThere (file, read) {
  return reading(file, async () => {
    try {
      return await read(file)
    } catch (error) {
      if (error.code === 'ENOENT') return undefined
      throw error
    }
  })
}
