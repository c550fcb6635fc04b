// A tar of tile files, in gzip or not: read once from beginning to end, each tile decoded as it passes.
import { Parser } from 'tar'
import { TilecouchError } from '../../../core/index.js'
import { BEHIND, FILES, SERIOUS, openBytes, recognises } from '../../sources/tar.js'
import { Spool } from '../../spool.js'
import { decodeDefaults } from '../decode.js'
import { examineAll } from '../tiles.js'
import { Listing } from './listing.js'

export { recognises as isTar }

/**
 * @param {string} name
 * @param {import('../files.js').PickedOptions} options
 */
export async function verifyTar (name, options) {
  const { report, decode, signal, onProgress } = options
  const spool = await Spool.open()
  try {
    const listing = new Listing(options, spool)
    const done = await examineAll(jobs(name, listing, { report, signal }), { report, decode, unpacked: true, signal, onTile: onProgress })
    const gone = await listing.end((times, where) => report.add('odd-structure', where, `it is there ${times} times: the last of them counts`))
    return { tiles: done.tiles, bytes: done.bytes, checked: { decoded: done.decoded, types: done.types, ...(gone !== undefined && { gone }) } }
  } finally {
    await spool.close()
  }
}

/** @returns {AsyncGenerator<import('../tiles.js').Job>} */
async function * jobs (name, listing, { report, signal }) {
  /** @type {import('../tiles.js').Job[]} */
  let ready = []
  let isLost = false // within what a damaged header left unexplained: its blocks are one fault, not many
  let ended = false
  const parser = new Parser({
    filter: (_, entry) => FILES.has(/** @type {any} */ (entry).type),
    onwarn (code, message) {
      if (!SERIOUS.has(code) || isLost) return
      isLost = true
      report.add('damaged-file', name, String(message))
    },
    onReadEntry (entry) {
      isLost = false
      take(entry, listing, job => ready.push(job))
    }
  })
  parser.on('eof', () => { ended = true })
  let behind = 0
  try {
    for await (const chunk of openBytes(name).unpacked) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      if (!ended) parser.write(chunk)
      else if ((behind += chunk.length) > BEHIND) break
      yield * ready
      ready = []
    }
    parser.end()
  } catch (error) {
    if (error instanceof TilecouchError) throw error // of the temporary files
    report.add('damaged-file', name, error.message)
    return
  }
  yield * ready
  if (!ended && !isLost) report.add('damaged-file', name, 'it ends without an end mark: it was cut off')
}

function take (entry, listing, give) {
  const tile = listing.tile(entry.path)
  const { path, size } = entry
  if (tile) listing.spool.add(tile.z, tile.x, tile.y)
  if (tile ? size > decodeDefaults.bytes : !listing.wants(path, size)) {
    entry.resume()
    if (tile) give({ where: path, size, read: () => undefined })
    return
  }
  /** @type {Buffer[]} */
  const chunks = []
  entry.on('data', chunk => chunks.push(Buffer.from(chunk)))
  entry.on('end', () => {
    const bytes = Buffer.concat(chunks)
    if (!tile) listing.keep(path, bytes)
    else {
      give({
        where: path,
        size,
        read: () => bytes,
        compare: ({ ext }) => [
          ...(ext && ext !== tile.ext ? [/** @type {[string, string]} */ (['wrong-type', `${ext}, the name says ${tile.ext}`])] : []),
          ...(bytes.length !== size ? [/** @type {[string, string]} */ (['wrong-length', `${bytes.length} bytes, its header says ${size}`])] : [])
        ]
      })
    }
  })
}
