// A folder of z/x/y.ext files as a source, as gdal2tiles, mbutil and most tile tools write it.
import path from 'node:path'
import { sourceLimits } from '../formats/limits.js'
import { FolderReader, MARK } from '../formats/folder/reader.js'
import { GONE_LIST, withGone } from '../formats/gone.js'
import { layerFieldsOf, parseObject, timeOf } from '../formats/metadata.js'
import { invalid, unreadable } from '../formats/reading.js'

/**
 * @param {string} folder
 * @param {import('./index.js').SourceOptions} options
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (folder, { selected, zooms, scheme, signal }) {
  const reader = new FolderReader(folder, { signal })
  const tms = scheme === 'tms'

  async function * tiles () {
    for (const z of await reader.numbers()) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of await reader.numbers(`${z}`)) {
        for (const tile of await reader.tiles(z, x, tms)) {
          if (selected(z, x, tile.y)) yield { z, x, y: tile.y, read: () => reader.read(tile.path) }
        }
      }
    }
  }

  const metadata = parseObject(await reader.metadata() ?? '')
  const list = path.join(folder, GONE_LIST)
  const gone = await reader.gone({ file: list, tms })
  if (!gone && await isDiff(reader)) throw invalid(folder, 'the export of a diff into it was stopped: run the export again')
  return {
    name: path.basename(path.resolve(folder)),
    fields: layerFieldsOf(metadata),
    time: timeOf(metadata),
    diff: Boolean(gone),
    tiles: gone ? () => withGone(tiles(), gone, selected, list) : tiles,
    close: () => gone?.close()
  }
}

/** Whether an export says that it is one: its list of what is gone comes last. @param {FolderReader} reader */
async function isDiff (reader) {
  if (!await reader.has(MARK)) return false
  const text = await reader.read(MARK, sourceLimits.metadata)
  try {
    return JSON.parse(String(text))?.diff !== undefined
  } catch (error) {
    throw unreadable(MARK, error)
  }
}
