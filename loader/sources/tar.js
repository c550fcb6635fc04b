// A tar of tile files, in gzip or not. It can only be read from beginning to end, so that it is unpacked into temporary files
// once. Nothing is written to the names in it.
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser } from 'tar'
import { TilecouchError } from '../../core/index.js'
import { openRegular } from '../regular-file.js'
import { Spool } from '../spool.js'
import { LocalFile } from './file.js'
import { sourceLimits } from './limits.js'
import { Listing } from './listing.js'
import { recogniser } from './magic.js'
import { invalid, reading } from './reading.js'

const CHUNK = 256 * 1024 // bytes read from the file at once
export const FILES = new Set(['File', 'OldFile', 'ContiguousFile'])
const NOWHERE = -1 // the place of a tile that is not kept; why is said beside it
export const SERIOUS = new Set(['TAR_BAD_ARCHIVE', 'TAR_ENTRY_INVALID', 'TAR_ABORT']) // warnings of the parser
export const BEHIND = 64e6 // bytes behind the end that are read

export const recognises = recogniser('tar', /\.(?:tar|tgz|tar\.gz)$/i)

/**
 * @param {string} name
 * @param {import('./index.js').SourceOptions} options
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (name, options) {
  const spool = await Spool.open()
  return reading(name, async () => {
    try {
      const listing = new Listing(name, options)
      await unpackInto(spool, name, listing, options)
      return await listing.source({ name: path.basename(path.resolve(name)), tiles: () => tiles(name, spool), total: spool.count(), close: () => spool.close() })
    } catch (error) {
      await spool.close()
      throw error
    }
  })
}

/** @param {Spool} spool @param {string} name @param {Listing} listing @param {import('./index.js').SourceOptions} options */
async function unpackInto (spool, name, listing, { signal, onReading }) {
  let failure
  let ended = false
  const parser = new Parser({
    onwarn (code, message) {
      // others are remarks, such as of a time before 1970
      if (SERIOUS.has(code)) failure ??= new Error(String(message))
    },
    onReadEntry (entry) {
      try {
        keep(entry, spool, listing)
      } catch (error) {
        failure ??= error
        entry.resume()
      }
    }
  })
  // of kinds that the parser does not know, such as files with holes
  parser.on('ignoredEntry', entry => refuse(entry, spool, listing))
  parser.on('eof', () => { ended = true })
  let behind = 0
  const { file, unpacked, total } = openBytes(name)
  for await (const chunk of unpacked) {
    if (!ended) parser.write(chunk)
    // the check sum of gzip comes last; but what is behind the end may be endless
    else if ((behind += chunk.length) > BEHIND) break
    if (failure) throw failure
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    onReading?.({ bytes: file.bytesRead, total })
  }
  parser.end()
  if (failure) throw failure
  if (!ended) throw new Error('it ends without an end mark: it was cut off')
}

/** The bytes of a tar from beginning to end, out of gzip where they are in it. @param {string} name */
export function openBytes (name) {
  const { size: total, packed } = look(name)
  const file = createReadStream(name, { fd: openRegular(name), highWaterMark: CHUNK })
  // errors are for who reads the last of them
  return { file, total, unpacked: packed ? pipeline(file, createGunzip({ chunkSize: CHUNK }), () => {}) : file }
}

function look (name) {
  const file = new LocalFile(name)
  try {
    return { size: file.size, packed: file.size > 1 && file.readSync(0, 2).readUInt16BE() === 0x1f8b }
  } finally {
    file.close()
  }
}

function keep (entry, spool, listing) {
  if (!FILES.has(entry.type)) {
    link(entry, spool, listing)
    return entry.resume()
  }
  const tile = listing.tile(entry.path)
  if (!tile) {
    let kept = false
    listing.note(entry.path, () => {
      kept = true
      return beside(entry, spool)
    })
    if (!kept) entry.resume()
  } else if (entry.size > sourceLimits.tile) {
    spool.add(tile.z, tile.x, tile.y, NOWHERE, 0, `has ${entry.size} bytes`)
    entry.resume()
  } else append(entry, spool, offset => spool.add(tile.z, tile.x, tile.y, offset, entry.size))
}

// folders of tiles whose equal files are one file have links to it in a tar
function link (entry, spool, listing) {
  const tile = listing.tile(entry.path)
  const to = tile && entry.type === 'Link' && listing.tile(entry.linkpath)
  const fields = to && spool.get(to.z, to.x, to.y)
  if (fields) spool.add(tile.z, tile.x, tile.y, ...fields)
  else refuse(entry, spool, listing)
}

// what is called as a tile is not passed over in silence
function refuse (entry, spool, listing) {
  const tile = listing.tile(entry.path)
  if (tile) spool.add(tile.z, tile.x, tile.y, NOWHERE, 0, `is no file in it, but a ${entry.type}: unpack it, and load the folder`)
}

function append (entry, spool, then) {
  let offset = 0
  let length = 0
  entry.on('data', bytes => {
    const at = spool.append(bytes)
    if (!length) offset = at
    length += bytes.length
  })
  entry.on('end', () => then(offset))
}

function beside (entry, spool) {
  let offset = 0
  append(entry, spool, at => { offset = at })
  return {
    length: entry.size,
    async * stream () {
      for (let at = 0; at < entry.size; at += CHUNK) yield spool.slice(offset + at, Math.min(CHUNK, entry.size - at))
    }
  }
}

/** @returns {AsyncGenerator<import('./index.js').SourceTile>} in the order of their ids */
async function * tiles (name, spool) {
  // of a tile that is there several times, the last counts: so tar brings files up to date
  for await (const { z, x, y, fields: [offset, length, trouble] } of spool.tiles()) {
    const read = () => {
      if (offset === NOWHERE) throw invalid(name, `${z}/${x}/${y} ${trouble}`)
      return spool.slice(offset, length)
    }
    yield { z, x, y, read }
  }
}
