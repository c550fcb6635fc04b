// Verifies a folder of z/x/y.ext: names, extensions, and every tile. It is read one column at a time.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { MAX_ZOOM } from '../../core/index.js'
import { FolderReader } from '../formats/folder/reader.js'
import { GONE_LIST } from '../formats/gone.js'
import { METADATA } from '../formats/metadata.js'
import { TILE_ENDINGS } from '../formats/names.js'
import { Claims, claimsOf } from './claims.js'
import { examineAll } from './tiles.js'

/**
 * @param {string} folder
 * @param {import('./files.js').PickedOptions} options
 */
export async function verifyFolder (folder, { report, selected, isPart, decode, scheme, signal, onProgress }) {
  const reader = new FolderReader(folder, { signal, onFault: report.add })
  const claims = new Claims(report, await readClaims(reader, report), isPart)
  const gone = await checkGone(reader, folder, report)

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async function * jobs () {
    for (const z of await reader.numbers()) {
      if (z > MAX_ZOOM) report.add('outside-pyramid', `${z}`, `zoom ${z}`)
      else for (const x of await reader.numbers(`${z}`)) yield * column(z, x)
    }
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async function * column (z, x) {
    let last = { path: '', y: -1 }
    for (const tile of await reader.tiles(z, x, scheme === 'tms')) {
      const { path: where, y, ext } = tile
      if (tile.isOutside || !selected(z, x, y)) continue
      if (last.y === y) report.add('duplicate-tile', where, `beside ${last.path}`)
      last = tile
      claims.see(where, z, x, y)
      yield {
        where,
        read: () => reader.read(where),
        compare: found => found.ext && found.ext !== ext ? [['wrong-type', `${found.ext}, the name says ${ext}`]] : []
      }
    }
  }

  const { tiles, bytes, decoded, types } = await examineAll(jobs(), { report, decode, unpacked: true, signal, onTile: onProgress })
  claims.end(METADATA)
  return { tiles, bytes, checked: { decoded, types, ...(gone !== undefined && { gone }) } }
}

async function readClaims (reader, report) {
  const bad = why => report.add('bad-metadata', METADATA, why)
  try {
    const text = await reader.metadata()
    return text === undefined ? {} : claimsOf(JSON.parse(text), bad)
  } catch (error) {
    bad(error.message)
    return {}
  }
}

/** How many tiles a diff says are gone, none of which may be there; nothing where it is no diff. */
async function checkGone (reader, folder, report) {
  let gone
  try {
    gone = await reader.gone({ file: GONE_LIST })
    if (!gone) return undefined
    for await (const { z, x, y } of gone.tiles()) {
      const there = TILE_ENDINGS.find(ext => existsSync(path.join(folder, `${z}/${x}/${y}.${ext}`)))
      if (there) report.add('bad-structure', `${z}/${x}/${y}.${there}`, `${GONE_LIST} says that it is gone, and it is there`)
    }
    return gone.count()
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    report.add('bad-structure', GONE_LIST, error.details?.why ?? error.message)
    return 0
  } finally {
    await gone?.close()
  }
}
