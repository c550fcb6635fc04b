// Verifies a zip or tar of tile files: its names, every tile, and in a zip every file against its check sum.
import { compareIds } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { ArchiveNames } from '../formats/archive-names.js'
import { GONE_LIST } from '../formats/gone.js'
import { LocalFile } from '../formats/local-file.js'
import { METADATA } from '../formats/metadata.js'
import { EXTENSIONS } from '../formats/names.js'
import { breather } from '../formats/reading.js'
import { keepEntry, readTar } from '../formats/tar.js'
import { contentOf, readZip, readZipped, streamZipped, wrongContent } from '../formats/zip/reader.js'
import { Spool } from '../spool.js'
import { Claims, claimsOf } from './claims.js'
import { decodeDefaults } from './decode.js'
import { examineAll } from './tiles.js'

/** @typedef {import('./files.js').PickedOptions} Options */

/**
 * @param {string} name
 * @param {Options} options
 */
export async function verifyZip (name, options) {
  const { report, signal, onProgress } = options
  const file = new LocalFile(name)
  const spool = await Spool.open()
  try {
    const names = namesOf(options)
    for await (const { name: entry, place, isEncrypted } of readZip(file, { onFault: report.add, signal })) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      const tile = names.tile(entry)
      if (isEncrypted) report.add('unreadable-tile', entry, 'it is encrypted')
      else if (tile) {
        // the method and extension beside the check sum, in one number
        const code = (place.sum * 256 + place.method) * 16 + EXTENSIONS.indexOf(tile.ext)
        if (!tile.isOutside) spool.add(tile.z, tile.x, tile.y, place.offset, place.packed, place.size, code)
      } else if (!entry.endsWith('/') && await isSound(file, entry, place, options)) {
        names.beside(entry, place.size)?.(() => streamZipped(file, place))
      }
    }
    const gone = await checkList(names, spool, options, (times, where) => report.add('duplicate-tile', where, `${times} times`))
    const total = spool.count()
    const done = await examine(jobsOfZip(file, spool), { ...options, onProgress: now => onProgress?.({ ...now, total }) })
    return summaryOf(done, gone)
  } finally {
    file.close()
    await spool.close()
  }
}

/**
 * A tar is read once from beginning to end, each tile decoded as it passes.
 * @param {string} name
 * @param {Options} options
 */
export async function verifyTar (name, options) {
  const spool = await Spool.open()
  try {
    const names = namesOf(options)
    const done = await examine(jobsOfTar(name, names, spool, options), options)
    const twice = (times, where) => options.report.add('odd-structure', where, `it is there ${times} times: the last of them counts`)
    return summaryOf(done, await checkList(names, spool, options, twice))
  } finally {
    await spool.close()
  }
}

/** @param {Options} options */
const namesOf = ({ report, selected, scheme, signal }) => new ArchiveNames({ selected, scheme, signal, onFault: report.add })

/** @param {AsyncIterable<import('./tiles.js').Job>} jobs @param {Options} options */
const examine = (jobs, { report, decode, signal, onProgress }) =>
  examineAll(jobs, { report, decode, unpacked: true, signal, onTile: onProgress })

const summaryOf = ({ tiles, bytes, decoded, types }, gone) => ({ tiles, bytes, checked: { decoded, types, ...(gone !== undefined && { gone }) } })

/**
 * Whether a file beside the tiles is what the directory says.
 * @param {LocalFile} file @param {string} name @param {import('../formats/zip/reader.js').Place} place @param {Options} options
 */
async function isSound (file, name, place, { report, signal }) {
  try {
    for await (const chunk of streamZipped(file, place)) if (chunk && signal?.aborted) throw new TilecouchError('ABORTED')
    return true
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    report.add(error.fault ?? 'unreadable-tile', name, error.message)
    return false
  }
}

/** @returns {AsyncGenerator<import('./tiles.js').Job>} */
async function * jobsOfZip (file, spool) {
  for await (const { z, x, y, fields: [offset, packed, size, code] } of spool.tiles()) {
    const place = { offset, packed, size, method: Math.floor(code / 16) % 256, sum: Math.floor(code / 4096) }
    const ext = EXTENSIONS[code % 16]
    yield {
      where: `${z}/${x}/${y}`,
      size: Math.max(packed, size),
      read: () => readZipped(file, place),
      compare ({ ext: found, bytes }) {
        const wrong = wrongContent(place, contentOf(bytes))
        return [...compareExt(found, ext), ...(wrong ? [wrong] : [])]
      }
    }
  }
}

/**
 * @param {string} name @param {ArchiveNames} names @param {Spool} spool @param {Options} options
 * @returns {AsyncGenerator<import('./tiles.js').Job>}
 */
async function * jobsOfTar (name, names, spool, { report, signal }) {
  /** @type {import('./tiles.js').Job[]} */
  let ready = []
  const files = readTar(name, {
    signal,
    onFault: report.add,
    onFile (entry) {
      const { path: where, size } = entry
      const tile = names.tile(where)
      const keep = tile ? undefined : names.beside(where, size)
      if (keep) return keep(keepEntry(entry, spool))
      if (!tile || tile.isOutside || size > decodeDefaults.bytes) entry.resume()
      if (!tile || tile.isOutside) return
      spool.add(tile.z, tile.x, tile.y)
      /** @type {Buffer[]} */
      const chunks = []
      const give = () => {
        const bytes = Buffer.concat(chunks)
        ready.push({
          where,
          size,
          read: () => bytes,
          compare: ({ ext }) => [
            ...compareExt(ext, tile.ext),
            ...(bytes.length !== size ? [/** @type {[string, string]} */ (['wrong-length', `${bytes.length} bytes, its header says ${size}`])] : [])
          ]
        })
      }
      if (size > decodeDefaults.bytes) return give() // not read: it is too large
      entry.on('data', chunk => chunks.push(Buffer.from(chunk)))
      entry.on('end', give)
    }
  })
  for await (const part of files) {
    if (!part) continue
    yield * ready
    ready = []
  }
  yield * ready
}

const compareExt = (found, ext) => found && found !== ext ? [/** @type {[string, string]} */ (['wrong-type', `${found}, the name says ${ext}`])] : []

/**
 * What can be said of the tiles when all names have been seen.
 * @param {ArchiveNames} names
 * @param {Spool} spool
 * @param {Options} options
 * @param {(times: number, where: string) => void} onTwice
 * @returns {Promise<number | undefined>} how many tiles are gone, in a diff
 */
async function checkList (names, spool, { report, isPart, signal }, onTwice) {
  const claims = await readClaims(names, report, isPart)
  const gone = await readGone(names, report)
  try {
    const takeBreak = breather(signal)
    const list = gone?.tiles()
    let next = (await list?.next())?.value
    for await (const { z, x, y, times } of spool.tiles()) {
      const pause = takeBreak()
      if (pause) await pause
      const where = `${z}/${x}/${y}`
      claims.see(where, z, x, y)
      if (times > 1) onTwice(times, where)
      const id = `${z}:${x}:${y}`
      while (next && compareIds(idOf(next), id) < 0) next = (await list?.next())?.value
      if (next && idOf(next) === id) report.add('bad-structure', where, `${GONE_LIST} says that it is gone, and it is there`)
    }
    claims.end(METADATA)
    return gone?.count()
  } finally {
    await gone?.close()
  }
}

const idOf = ({ z, x, y }) => `${z}:${x}:${y}`

async function readClaims (names, report, isPart) {
  const bad = why => report.add('bad-metadata', METADATA, why)
  try {
    const text = await names.metadata()
    // each tile's own extension says its format
    const claims = text === undefined ? {} : { ...claimsOf(Object(JSON.parse(text)), bad), format: undefined }
    return new Claims(report, claims, isPart)
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    bad(error.message)
    return new Claims(report, {})
  }
}

async function readGone (names, report) {
  try {
    return await names.gone()
  } catch (error) {
    if (error.code !== 'ARCHIVE_INVALID') throw error
    report.add('bad-structure', GONE_LIST, error.details.why)
  }
}
