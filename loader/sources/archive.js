// Zip and tar as sources: files of tiles below one folder, with what a folder of tiles may have beside them.
import path from 'node:path'
import { ArchiveNames } from '../formats/archive-names.js'
import { GONE_LIST, withGone } from '../formats/gone.js'
import { sourceLimits } from '../formats/limits.js'
import { LocalFile } from '../formats/local-file.js'
import { layerFieldsOf, parseObject, timeOf } from '../formats/metadata.js'
import { invalid, reading, throwFaults } from '../formats/reading.js'
import { keepEntry, readTar, spoolEntry } from '../formats/tar.js'
import { contentOf, readZip, readZipped, streamZipped, unreadableFile, wrongContent } from '../formats/zip/reader.js'
import { Spool } from '../spool.js'

const NOWHERE = -1 // the place of a tile in a tar that is not kept; why is said beside it

/**
 * A zip has a directory, so that nothing is unpacked before it is wanted.
 * @param {string} name @param {import('./index.js').SourceOptions} options
 */
export const openZip = (name, options) => openArchive(name, options, async (names, spool) => {
  const file = new LocalFile(name)
  const close = async () => file.close()
  try {
    await listZip(name, file, names, spool, options.signal)
    return { tiles: () => tilesOfZip(name, file, spool), close }
  } catch (error) {
    await close()
    throw error
  }
})

/**
 * A tar is unpacked into temporary files when it is opened.
 * @param {string} name @param {import('./index.js').SourceOptions} options
 */
export const openTar = (name, options) => openArchive(name, options, async (names, spool) => {
  await unpackTar(name, names, spool, options)
  return { tiles: () => tilesOfTar(name, spool), close: async () => {} }
})

/**
 * @param {string} name
 * @param {import('./index.js').SourceOptions} options
 * @param {(names: ArchiveNames, spool: Spool) => Promise<{tiles: () => AsyncIterable<import('./index.js').SourceTile>, close: () => Promise<void>}>} list
 * @returns {Promise<import('./index.js').Source>}
 */
async function openArchive (name, { selected, scheme, signal }, list) {
  const spool = await Spool.open()
  return reading(name, async () => {
    const names = new ArchiveNames({ selected, scheme, signal, onFault: throwFaults(name) })
    let opened
    try {
      const { tiles } = opened = await list(names, spool)
      const metadata = parseObject(await names.metadata() ?? '')
      const gone = await names.gone(`${name}: ${GONE_LIST}`)
      const { close } = opened
      return {
        name: path.basename(path.resolve(name)),
        fields: layerFieldsOf(metadata),
        time: timeOf(metadata),
        diff: Boolean(gone),
        ...(!gone && { total: spool.count() }),
        tiles: gone ? () => withGone(tiles(), gone, selected, name) : tiles,
        async close () {
          await gone?.close()
          await close()
          await spool.close()
        }
      }
    } catch (error) {
      await opened?.close()
      await spool.close()
      throw error
    }
  })
}

/** @param {string} name @param {LocalFile} file @param {ArchiveNames} names @param {Spool} spool @param {AbortSignal} [signal] */
async function listZip (name, file, names, spool, signal) {
  for await (const { name: entry, place, isEncrypted } of readZip(file, { onFault: throwFaults(name), signal })) {
    const tile = names.tile(entry)
    if (!tile) {
      names.beside(entry, place.size)?.(() => streamZipped(file, place))
      continue
    }
    if (isEncrypted) throw new Error('it is encrypted: unpack it with its password, and load the folder')
    const why = unreadableFile(place, file.size)
    if (why) throw new Error(`${entry}: ${why}: unpack it, and load the folder`)
    // the method beside the check sum, in one number
    spool.add(tile.z, tile.x, tile.y, place.offset, place.packed, place.size, place.sum * 256 + place.method)
  }
}

/** @returns {AsyncGenerator<import('./index.js').SourceTile>} in the order of their ids */
async function * tilesOfZip (name, file, spool) {
  for await (const { z, x, y, fields: [offset, packed, size, code], times } of spool.tiles()) {
    const read = async () => {
      const tile = `${z}/${x}/${y}`
      if (times > 1) throw invalid(name, `${tile} is in it ${times} times`)
      if (packed > sourceLimits.tile || size > sourceLimits.tile) throw invalid(name, `${tile} has ${size} bytes`)
      const place = { offset, packed, size, method: code % 256, sum: Math.floor(code / 256) }
      try {
        const bytes = await readZipped(file, place)
        const wrong = wrongContent(place, contentOf(bytes))
        if (wrong) throw new Error(wrong[1])
        return bytes
      } catch (error) {
        throw invalid(name, `${tile} cannot be read: ${error.message}`, error)
      }
    }
    yield { z, x, y, read }
  }
}

/** @param {string} name @param {ArchiveNames} names @param {Spool} spool @param {import('./index.js').SourceOptions} options */
async function unpackTar (name, names, spool, { signal, onReading }) {
  // what is called as a tile is not passed over in silence
  const refuse = ({ z, x, y }, why) => spool.add(z, x, y, NOWHERE, 0, why)
  const files = readTar(name, {
    signal,
    onFault: throwFaults(name),
    onFile (entry) {
      const tile = names.tile(entry.path)
      const keep = tile ? undefined : names.beside(entry.path, entry.size)
      if (keep) keep(keepEntry(entry, spool))
      else if (tile && entry.size <= sourceLimits.tile) spoolEntry(entry, spool, offset => spool.add(tile.z, tile.x, tile.y, offset, entry.size))
      else {
        if (tile) refuse(tile, `has ${entry.size} bytes`)
        entry.resume()
      }
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
  for await (const { z, x, y, fields: [offset, length, trouble] } of spool.tiles()) {
    const read = () => {
      if (offset === NOWHERE) throw invalid(name, `${z}/${x}/${y} ${trouble}`)
      return spool.slice(offset, length)
    }
    yield { z, x, y, read }
  }
}
