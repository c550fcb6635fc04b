// PMTiles 3: one file, here or on a web server. Its tiles lie along a Hilbert curve and many of them may share their bytes;
// its directories say where. They are read when the source is opened, and put into the order of ids.
import path from 'node:path'
import { TilecouchError } from '../../core/index.js'
import { Spool } from '../spool.js'
import { LocalFile } from './file.js'
import { recogniser } from './magic.js'
import { layerFieldsOf, timeOf } from './metadata.js'
import { Archive } from './pmtiles/archive.js'
import { RemoteFile } from './pmtiles/remote.js'
import { reading } from './reading.js'

export const recognises = recogniser('pmtiles', /\.pmtiles$/i)

/** @param {URL} url */
export const recognisesUrl = url => /\.pmtiles$/i.test(url.pathname)

/**
 * @param {string} name path or URL
 * @param {import('./index.js').SourceOptions} options
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (name, options) {
  if (options.scheme === 'tms') throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: options.scheme, why: 'PMTiles always count rows from the north' })
  const remote = /^https?:\/\//i.test(name)
  const file = remote ? await RemoteFile.open(name, options) : await reading(name, async () => new LocalFile(name))
  /** @type {Spool | undefined} */
  let spool
  const close = async () => {
    await file.close()
    await spool?.close()
  }
  try {
    const archive = new Archive(file, file instanceof RemoteFile ? file.shown : name)
    const { header, metadata } = await archive.describe()
    spool = await Spool.open()
    await archive.index(spool, options)
    return {
      name: remote ? basename(new URL(name)) : path.basename(path.resolve(name)),
      fields: fieldsOf(header, metadata),
      time: timeOf(metadata),
      total: spool.count(),
      tiles: () => archive.tiles(),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

function basename ({ pathname }) {
  const name = path.posix.basename(pathname)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The header knows where the map is; writers that do not say leave zeros there. */
function fieldsOf ({ type, map: { minzoom, maxzoom, bounds, center } }, metadata) {
  const placed = bounds.some(Boolean)
  return layerFieldsOf({
    ...metadata,
    ...(minzoom <= maxzoom && { minzoom, maxzoom }),
    ...(placed && { bounds: bounds.join(), center }),
    ...(type !== 'unknown' && { format: type })
  })
}
