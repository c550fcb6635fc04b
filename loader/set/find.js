// Finds the files and folders of a dated set.
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { compareIds } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { GONE_LIST } from '../formats/gone.js'
import { recognise } from '../formats/recognise.js'
import { isUrl } from '../sources/index.js'
import { FolderReader } from '../formats/folder/reader.js'

const ZOOM = /^([12]?\d|30)$/
const PATTERN = /[*?]/

// hidden files; what programs keep beside a database or leave of unfinished work
const BESIDE = /^\.|-(wal|shm|journal)$|\.(part|tmp|lock|bak)$|\.part-|~$/

/**
 * @param {string[]} names
 * @returns {Promise<{paths: string[], passedOver: string[]}>} passedOver: lay among them, and is no source
 */
export async function findSources (names) {
  /** @type {Map<string, string>} by where they are: two patterns may name the same */
  const paths = new Map()
  const passedOver = new Set()
  for (const name of names) {
    const found = await expand(name)
    for (const one of found.paths) paths.set(isUrl(one) ? one : path.resolve(one), one)
    for (const one of found.passedOver) passedOver.add(one)
  }
  return { paths: [...paths.values()], passedOver: [...passedOver] }
}

async function expand (name) {
  if (isUrl(name)) return { paths: [name], passedOver: [] }
  const stats = await statOf(name)
  if (!stats && PATTERN.test(path.basename(name))) return among(path.dirname(name), matching(name), name)
  if (!stats) throw new TilecouchError('SOURCE_NOT_FOUND', { value: name })
  return stats.isDirectory() && !await isTileFolder(name) ? among(name, () => true, name) : { paths: [name], passedOver: [] }
}

async function statOf (name) {
  try {
    return await stat(name)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw new TilecouchError('SOURCE_UNREADABLE', { value: name, why: error.message })
  }
}

/** The test of a pattern such as surveys/*.mbtiles, for shells that have none. */
function matching (pattern) {
  const source = path.basename(pattern).replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')
  const test = new RegExp(`^${source}$`, 's')
  return name => test.test(name)
}

/** What lies in a folder and is a source. */
async function among (folder, matches, name) {
  const paths = []
  const passedOver = []
  const tree = await treeOf(folder)
  for (const entry of await list(tree, matches)) {
    const one = path.join(folder, entry.name)
    if (BESIDE.test(entry.name) || !await tree.isHere('', entry) || !await isSource(one)) passedOver.push(one)
    else paths.push(one)
  }
  if (!paths.length) throw new TilecouchError(passedOver.length ? 'SOURCE_EMPTY' : 'SOURCE_NOT_FOUND', { value: name })
  return { paths, passedOver }
}

const isSource = async name => (await statOf(name))?.isDirectory() ? isTileFolder(name) : Boolean(await recognise(name))

/** Whether there are zooms in a folder, or it is a diff, which may do nothing but take tiles away. */
async function isTileFolder (name) {
  const tree = new FolderReader(name)
  for await (const entry of tree.list('', child => child === GONE_LIST || ZOOM.test(child))) {
    if (entry.name === GONE_LIST || (await statOf(path.join(name, entry.name)))?.isDirectory()) return true
  }
  return false
}

async function treeOf (folder) {
  if (!await statOf(folder)) throw new TilecouchError('SOURCE_NOT_FOUND', { value: folder })
  return new FolderReader(folder)
}

async function list (tree, matches) {
  const found = []
  for await (const entry of tree.list('', matches)) found.push(entry)
  return found.sort((a, b) => compareIds(a.name, b.name))
}
