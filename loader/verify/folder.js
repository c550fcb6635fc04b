// A folder of z/x/y.ext: names, extensions, and every tile. Folders are read one column at a time.
import { createReadStream, existsSync } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { MAX_ZOOM, compareInner, compareRows, flipY } from '../../core/index.js'
import { GONE_LIST, readGone } from '../sources/gone.js'
import { Claims, claimsOf } from './metadata.js'
import { readName } from './names.js'
import { examineAll } from './tiles.js'

const METADATA = 'metadata.json'
const EXTENSIONS = ['png', 'jpg', 'jpeg', 'webp', 'avif', 'pbf', 'mvt']
const NUMBER = /^\d+$/

/**
 * @param {string} folder
 * @param {import('./files.js').PickedOptions} options
 */
export async function verifyFolder (folder, { report, selected, isPart, decode, scheme, signal, onProgress }) {
  const claims = new Claims(report, await readMetadata(folder, report), isPart)
  const gone = await checkGone(folder, { report })

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
        read: () => readFile(path.join(folder, name)),
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
    for (const name of await list(path.join(folder, below))) {
      if (!NUMBER.test(name)) continue
      const where = path.posix.join(below, name)
      try {
        if (!(await stat(path.join(folder, where))).isDirectory()) continue
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

  async function list (directory) {
    try {
      return await readdir(directory)
    } catch (error) {
      report.add('unreadable-tile', path.relative(folder, directory) || '.', error.message)
      return []
    }
  }

  /** The tiles of one column in the order of their ids. */
  async function tilesOf (x) {
    const tiles = []
    for (const file of await list(path.join(folder, x))) {
      const name = `${x}/${file}`
      const found = readName(name)
      if (found && 'code' in found) report.add(found.code, name, found.why)
      else if (found) tiles.push({ name, found })
    }
    return tiles.sort((a, b) => compareRows(a.found.y, b.found.y) || (a.name < b.name ? -1 : 1))
  }
}

async function readMetadata (folder, report) {
  let text
  try {
    text = await readFile(path.join(folder, METADATA), 'utf8')
  } catch {
    return {} // it is a courtesy
  }
  try {
    return claimsOf(JSON.parse(text), why => report.add('bad-metadata', METADATA, why))
  } catch (error) {
    report.add('bad-metadata', METADATA, error.message)
    return {}
  }
}

/** How many tiles a diff says are gone, none of which may be there; nothing where it is no diff. */
async function checkGone (folder, { report }) {
  const list = path.join(folder, GONE_LIST)
  if (!existsSync(list)) return undefined
  let gone
  try {
    gone = await readGone(createReadStream(list), { file: GONE_LIST })
    for await (const { z, x, y } of gone.tiles()) {
      const there = EXTENSIONS.find(ext => existsSync(path.join(folder, `${z}/${x}/${y}.${ext}`)))
      if (there) report.add('bad-structure', `${z}/${x}/${y}.${there}`, `${GONE_LIST} says that it is gone, and it is there`)
    }
    return gone.count()
  } catch (error) {
    report.add('bad-structure', GONE_LIST, error.details?.why ?? error.message)
    return 0
  } finally {
    await gone?.close()
  }
}
