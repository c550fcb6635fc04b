// The space on the disk of the store, where it can be known: when the server's folder is on this machine, or the store is embedded.
import { readFile, readdir, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { isHere } from '../system.js'
import { bytes, plural } from '../text.js'
import { namesIn } from '../formats/names.js'
import { indexes } from './indexes.js'

const MOST_FILES = 100_000 // of an embedded store

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const diskConditions = [{ area: 'disk', check: 'room', needs: 'a server admin', look: space }]

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function space (inspection) {
  if (inspection.embedded) return embedded(inspection)
  const { folder, why } = await folderOf(inspection)
  const advice = 'Watch the disk of the server: compaction needs as much space as the largest shard, and as the database when all run at once.'
  if (!folder) return { state: 'unknown', found: why ?? 'not known', advice }
  await inspection.look({ area: 'disk', check: 'left over', needs: 'somebody who may read its folder', look: () => orphans(inspection, folder) })
  return room(inspection, folder)
}

/** The data folder of the server, if it is on this machine. */
async function folderOf (inspection) {
  const { hostname } = new URL(inspection.couch.url)
  if (!isHere(hostname)) return { why: `not known: ${hostname} is another machine` }
  const config = await inspection.ask({ path: '_node/_local/_config/couchdb', server: true })
  const folder = path.resolve('/', config.database_dir ?? '')
  if (!config.database_dir?.startsWith('/')) return { why: `not known: the server has a relative folder (${config.database_dir})` }
  try {
    const ranges = await readdir(path.join(folder, 'shards'))
    const files = (await Promise.all(ranges.map(range => readdir(path.join(folder, 'shards', range))))).flat()
    if (files.some(name => name.startsWith(`${inspection.couch.db}.`))) return { folder }
    return { why: `not known: ${folder} here is not that of the server, which may be in a container` }
  } catch (error) {
    return { why: error.code === 'EACCES' ? `not known: only the user of CouchDB may read ${folder}; run this as that user` : `not known: there is no ${folder} here; the server may be in a container` }
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function room (inspection, folder) {
  const { free, size } = await spaceOf(folder)
  const { sizes: { active = 0 } = {}, cluster: { q = 1 } = {} } = await inspection.info()
  const views = await indexes(inspection).then(all => all.reduce((sum, { index }) => sum + index.sizes.active, 0), () => 0)
  const shard = active / q
  const figures = { free, size, wanted: active + views }
  const found = `${bytes(free)} of ${bytes(size)} free in ${folder}`
  const needs = `Compacting all shards at once needs ${bytes(active)}, one shard ${bytes(shard)}, the indexes ${bytes(views)}.`
  const advice = 'Free some space, prune (docs/retention.md), or use a larger disk. CouchDB 3.4 and later stop writing in time with disk_monitor/enable = true.'
  if (free < shard || free < inspection.limits.fullDisk * size) return { state: 'bad', found, why: `${needs} Without that space compaction fails, and no space is ever freed.`, advice, figures }
  if (free < active + views || free < inspection.limits.free * size) return { state: 'warning', found, why: needs, advice, figures }
  return { state: 'ok', found, figures }
}

async function spaceOf (folder) {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** Index files without a design document. @returns {Promise<Found>} */
async function orphans (inspection, folder) {
  const known = new Set((await indexes(inspection)).map(({ index }) => `${index.signature}.view`))
  const found = { files: 0, bytes: 0 }
  const hidden = path.join(folder, '.shards')
  for (const range of await namesIn(hidden)) {
    for (const name of await readdir(path.join(hidden, range))) {
      if (!name.startsWith(`${inspection.couch.db}.`) || !name.endsWith('_design')) continue
      const views = path.join(hidden, range, name, 'mrview')
      for (const file of await namesIn(views)) {
        if (!/^[0-9a-f]{32}\.view$/.test(file) || known.has(file)) continue
        found.files++
        found.bytes += await stat(path.join(views, file)).then(({ size }) => size, () => 0)
      }
    }
  }
  const figures = { leftFiles: found.files, leftBytes: found.bytes }
  if (found.bytes < inspection.limits.little) return { state: 'ok', found: found.files ? `${plural(found.files, 'file')} of ${bytes(found.bytes)}` : 'nothing', figures }
  return { state: 'warning', found: `${plural(found.files, 'file')} of ${bytes(found.bytes)}: indexes of design documents that are gone`, why: 'Nobody reads them, and CouchDB does not remove them by itself.', advice: `POST ${inspection.couch.url}/_view_cleanup`, figures }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function embedded (inspection) {
  if (!await isFolderOf(inspection)) return { state: 'unknown', found: 'its folder is not known: name it with --data' }
  const folder = String(inspection.subject.folder)
  const used = await sizeOf(folder)
  const { free, size } = await spaceOf(folder)
  const found = `${bytes(used)} in ${folder}, ${bytes(free)} free`
  const figures = { used, free, size }
  const advice = 'Free some space, or move the folder.'
  if (free < inspection.limits.fullDisk * size) return { state: 'bad', found, why: 'The store cannot write when the disk is full.', advice, figures }
  if (free < inspection.limits.free * size) return { state: 'warning', found, why: 'The store cannot write when the disk is full.', advice, figures }
  return { state: 'ok', found, figures }
}

/** The server writes its id into its folder. @param {Inspection} inspection */
async function isFolderOf ({ subject: { folder }, uuid }) {
  try {
    return uuid !== undefined && JSON.parse(await readFile(path.join(folder ?? '', 'server.json'), 'utf8')).uuid === uuid
  } catch {
    return false
  }
}

async function sizeOf (folder) {
  const names = (await readdir(folder, { recursive: true })).slice(0, MOST_FILES)
  const sizes = await Promise.all(names.map(name => stat(path.join(folder, name)).then(found => found.isFile() ? found.size : 0, () => 0)))
  return sizes.reduce((sum, size) => sum + size, 0)
}
