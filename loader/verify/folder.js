// A folder of z/x/y.ext: names, extensions, and every tile. Folders are read one column at a time.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { MAX_ZOOM, compareInner, compareRows, flipY } from '../../core/index.js'
import { GONE_LIST, readGone } from '../sources/gone.js'
import { sourceLimits } from '../sources/limits.js'
import { METADATA } from '../sources/listing.js'
import { FileTree } from '../sources/tree.js'
import { Claims, claimsOf } from './metadata.js'
import { readName } from './names.js'
import { examineAll } from './tiles.js'

const EXTENSIONS = ['png', 'jpg', 'jpeg', 'webp', 'avif', 'pbf', 'mvt']
const NUMBER = /^\d+$/

/**
 * @param {string} folder
 * @param {import('./files.js').PickedOptions} options
 */
export async function verifyFolder (folder, { report, selected, isPart, decode, scheme, signal, onProgress }) {
  const tree = new FileTree(folder, signal)
  const claims = new Claims(report, await readMetadata(tree, report), isPart)
  const gone = await checkGone(tree, folder, { report, signal })

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async function * jobs () {
    for (const z of await numbers('')) {
      for (const x of await numbers(z)) yield * column(x)
    }
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async function * column (x) {
    let last = { name: '', y: -1 }
    for (const { name, found } of await tilesOf(x)) {
      const y = scheme === 'tms' ? flipY(found.z, found.y) : found.y
      if (!selected(found.z, found.x, y)) continue
      if (last.y === found.y) report.add('duplicate-tile', name, `beside ${last.name}`)
      last = { name, y: found.y }
      claims.see(name, found.z, found.x, y)
      yield {
        where: name,
        read: () => tree.read(name),
        compare: ({ ext }) => ext && ext !== found.ext ? [['wrong-type', `${ext}, the name says ${found.ext}`]] : []
      }
    }
  }

  const done = await examineAll(jobs(), { report, decode, unpacked: true, signal, onTile: onProgress })
  claims.end(METADATA)
  return { tiles: done.tiles, bytes: done.bytes, checked: { decoded: done.decoded, types: done.types, ...(gone !== undefined && { gone }) } }

  /** Folders that are numbers; others are somebody else's. */
  async function numbers (below) {
    const found = []
    for await (const entry of list(below, one => NUMBER.test(one))) {
      const { name } = entry
      const where = path.posix.join(below, name)
      try {
        if (!await tree.isFolder(below, entry)) continue
      } catch (error) {
        report.add('unreadable-tile', where, error.message)
        continue
      }
      if (/^0\d/.test(name)) report.add('not-a-tile-name', where, 'numbers have no zeros in front')
      else if (!below && +name > MAX_ZOOM) report.add('outside-pyramid', where, `zoom ${name}`)
      else found.push(where)
    }
    return found.sort((a, b) => compareInner(path.posix.basename(a), path.posix.basename(b)))
  }

  async function * list (below, wanted) {
    try {
      yield * tree.list(below, wanted)
    } catch (error) {
      if (error.code === 'ABORTED') throw error
      report.add('unreadable-tile', below || '.', error.message)
    }
  }

  /** The tiles of one column in the order of their ids. */
  async function tilesOf (x) {
    const tiles = []
    for await (const { name: file } of list(x, () => true)) {
      const name = `${x}/${file}`
      const found = readName(name)
      if (found && 'code' in found) report.add(found.code, name, found.why)
      else if (found) tiles.push({ name, found })
    }
    return tiles.sort((a, b) => compareRows(a.found.y, b.found.y) || (a.name < b.name ? -1 : 1))
  }
}

async function readMetadata (tree, report) {
  try {
    if (!await tree.has(METADATA)) return {} // it is a courtesy
    return claimsOf(JSON.parse(String(await tree.read(METADATA, sourceLimits.metadata))), why => report.add('bad-metadata', METADATA, why))
  } catch (error) {
    report.add('bad-metadata', METADATA, error.message)
    return {}
  }
}

/** How many tiles a diff says are gone, none of which may be there; nothing where it is no diff. */
async function checkGone (tree, folder, { report, signal }) {
  if (!await tree.has(GONE_LIST)) return undefined
  let gone
  try {
    gone = await readGone(await tree.stream(GONE_LIST), { file: GONE_LIST, signal })
    for await (const { z, x, y } of gone.tiles()) {
      const there = EXTENSIONS.find(ext => existsSync(path.join(folder, `${z}/${x}/${y}.${ext}`)))
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
