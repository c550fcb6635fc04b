// Room on disk, where it can be known: when the server's folder is on this very machine, and when the store is a folder of ours.
import { readFile, readdir, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { isHere } from '../this-machine.js'
import { bytes, plural } from '../cli/output.js'
import { namesIn } from '../formats/names.js'
import { indexes } from './views.js'

const MOST_FILES = 100_000 // of an embedded store

/** @param {import('./visit.js').Visit} visit */
export async function lookAtDisk (visit) {
  if (visit.embedded) return visit.look('disk', 'room', 'whoever may read its folder', () => embedded(visit))
  await visit.look('disk', 'room', 'a server admin', /** @returns {Promise<import('./visit.js').Found>} */ async () => {
    const { folder, why } = await folderOf(visit)
    if (!folder) return { state: 'unknown', found: why ?? 'not known', advice: 'Watch the disk of the server: compaction needs as much room as the largest shard, and for all at once as much as the database.' }
    await visit.look('disk', 'left over', 'whoever may read its folder', () => orphans(visit, folder))
    return room(visit, folder)
  })
}

/** The data folder of the server, if it is here and is the one. */
async function folderOf (visit) {
  const { hostname } = new URL(visit.couch.url)
  if (!isHere(hostname)) return { why: `not known: ${hostname} is another machine` }
  const config = await visit.ask({ path: '_node/_local/_config/couchdb', server: true })
  const folder = path.resolve('/', config.database_dir ?? '')
  if (!config.database_dir?.startsWith('/')) return { why: `not known: the server names its folder from where it was started (${config.database_dir})` }
  try {
    const ranges = await readdir(path.join(folder, 'shards'))
    const files = (await Promise.all(ranges.map(range => readdir(path.join(folder, 'shards', range))))).flat()
    if (files.some(name => name.startsWith(`${visit.couch.db}.`))) return { folder }
    return { why: `not known: ${folder} here is not what the server sees, which may be in a container` }
  } catch (error) {
    return { why: error.code === 'EACCES' ? `not known: ${folder} is for the user of CouchDB alone; run this as that user` : `not known: there is no ${folder} here; the server may be in a container` }
  }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function room (visit, folder) {
  const { free, size } = await spaceOf(folder)
  const { sizes: { active = 0 } = {}, cluster: { q = 1 } = {} } = await visit.info()
  const views = await indexes(visit).then(all => all.reduce((sum, { index }) => sum + index.sizes.active, 0), () => 0)
  const shard = active / q
  const figures = { free, size, wanted: active + views }
  const found = `${bytes(free)} of ${bytes(size)} free in ${folder}`
  const needs = `All shards compacted at once need ${bytes(active)}, one alone ${bytes(shard)}, the indexes ${bytes(views)}.`
  const advice = 'Free some, prune (docs/retention.md), or put the store on a larger disk; CouchDB 3.4 and later stop writing in time with disk_monitor/enable = true.'
  if (free < shard || free < visit.limits.fullDisk * size) return { state: 'bad', found, why: `${needs} Without that room nothing is ever given back.`, advice, figures }
  if (free < active + views || free < visit.limits.free * size) return { state: 'warning', found, why: needs, advice, figures }
  return { state: 'ok', found, figures }
}

async function spaceOf (folder) {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** Indexes that belong to no design document any more. @returns {Promise<import('./visit.js').Found>} */
async function orphans (visit, folder) {
  const known = new Set((await indexes(visit)).map(({ index }) => `${index.signature}.view`))
  const found = { files: 0, bytes: 0 }
  const hidden = path.join(folder, '.shards')
  for (const range of await namesIn(hidden)) {
    for (const name of await readdir(path.join(hidden, range))) {
      if (!name.startsWith(`${visit.couch.db}.`) || !name.endsWith('_design')) continue
      const views = path.join(hidden, range, name, 'mrview')
      for (const file of await namesIn(views)) {
        if (!/^[0-9a-f]{32}\.view$/.test(file) || known.has(file)) continue
        found.files++
        found.bytes += await stat(path.join(views, file)).then(({ size }) => size, () => 0)
      }
    }
  }
  const figures = { leftFiles: found.files, leftBytes: found.bytes }
  if (found.bytes < visit.limits.little) return { state: 'ok', found: found.files ? `${plural(found.files, 'file')} of ${bytes(found.bytes)}` : 'nothing', figures }
  return { state: 'warning', found: `${plural(found.files, 'file')} of ${bytes(found.bytes)}: indexes of design documents that are gone`, why: 'Nobody reads them, and nobody takes them away by himself.', advice: `POST ${visit.couch.url}/_view_cleanup`, figures }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function embedded (visit) {
  if (!await isFolderOf(visit)) return { state: 'unknown', found: 'which folder it has is not known here: name it with --data' }
  const used = await sizeOf(visit.folder)
  const { free, size } = await spaceOf(visit.folder)
  const found = `${bytes(used)} in ${visit.folder}, ${bytes(free)} free`
  const figures = { used, free, size }
  const advice = 'Free some, or move the folder.'
  if (free < visit.limits.fullDisk * size) return { state: 'bad', found, why: 'It cannot write when there is none left.', advice, figures }
  if (free < visit.limits.free * size) return { state: 'warning', found, why: 'It cannot write when there is none left.', advice, figures }
  return { state: 'ok', found, figures }
}

/** The server that has a folder says so there. */
async function isFolderOf ({ folder, uuid }) {
  try {
    return uuid !== undefined && JSON.parse(await readFile(path.join(folder, 'server.json'), 'utf8')).uuid === uuid
  } catch {
    return false
  }
}

async function sizeOf (folder) {
  const names = (await readdir(folder, { recursive: true })).slice(0, MOST_FILES)
  const sizes = await Promise.all(names.map(name => stat(path.join(folder, name)).then(found => found.isFile() ? found.size : 0, () => 0)))
  return sizes.reduce((sum, size) => sum + size, 0)
}
