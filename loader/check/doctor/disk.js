// Checks the space on the disk of the store, if the folder of the server is on this machine or the store is embedded.
import { readFile, readdir, statfs } from 'node:fs/promises'
import path from 'node:path'
import { jsonOf } from '../../../core/values.js'
import { isHere, sizeOfFolder } from '../../formats/system.js'
import { bytes } from '../../text.js'
import { indexes } from './indexes.js'
import { bad, ok, unknown, warning } from './inspection.js'

export const diskConditions = [{ area: 'disk', check: 'room', needs: 'a server admin', look: checkSpace }]

async function checkSpace (inspection) {
  if (inspection.embedded) return checkEmbeddedRoom(inspection)
  const { folder, why } = await folderOf(inspection)
  if (!folder) {
    return unknown(`not known: ${why}`, 'Watch the disk of the server: compaction needs as much space ' +
      'as the largest shard, and as the database when all run at once.')
  }
  return checkRoom(inspection, folder)
}

/** Returns the data folder of the server if it is on this machine, else the reason. */
async function folderOf (inspection) {
  const { hostname } = new URL(inspection.couch.url)
  if (!isHere(hostname)) return { why: `${hostname} is another machine` }
  const config = await inspection.couch.request({ path: '_node/_local/_config/couchdb', server: true })
  const folder = path.resolve('/', config.database_dir ?? '')
  if (!config.database_dir?.startsWith('/')) return { why: `the server has a relative folder (${config.database_dir})` }
  try {
    const ranges = await readdir(path.join(folder, 'shards'))
    const files = (await Promise.all(ranges.map(range => readdir(path.join(folder, 'shards', range))))).flat()
    if (files.some(name => name.startsWith(`${inspection.couch.db}.`))) return { folder }
    return { why: `${folder} here is not that of the server, which may be in a container` }
  } catch (error) {
    return {
      why: error.code === 'EACCES'
        ? `only the user of CouchDB may read ${folder}; run this as that user`
        : `there is no ${folder} here; the server may be in a container`
    }
  }
}

async function checkRoom (inspection, folder) {
  const { free, size } = await spaceOf(folder)
  const { sizes: { active = 0 } = {}, cluster: { q = 1 } = {} } = await inspection.info()
  const allIndexes = await indexes(inspection).catch(() => [])
  const views = allIndexes.reduce((sum, { index }) => sum + index.sizes.active, 0)
  const shard = active / q
  const figures = { free, size, wanted: active + views }
  const finding = `${bytes(free)} of ${bytes(size)} free in ${folder}`
  const needs = `Compacting all shards needs ${bytes(active)}, one shard ${bytes(shard)}, the indexes ${bytes(views)}.`
  const advice = 'Free some space, prune (docs/retention.md), or use a larger disk. ' +
    'CouchDB 3.4 and later stop writing in time with disk_monitor/enable = true.'
  if (free < shard || free < inspection.limits.fullDisk * size) {
    const why = `${needs} Without that space compaction fails, and no space is ever freed.`
    return bad(finding, why, advice, { figures })
  }
  if (free < active + views || free < inspection.limits.free * size) return warning(finding, needs, advice, { figures })
  return ok(finding, figures)
}

async function spaceOf (folder) {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

async function checkEmbeddedRoom (inspection) {
  if (!await isFolderOf(inspection)) return unknown('its folder is not known', 'Name the folder with --data.')
  const { folder } = inspection.subject
  const used = await sizeOfFolder(folder)
  const { free, size } = await spaceOf(folder)
  const finding = `${bytes(used)} in ${folder}, ${bytes(free)} free`
  const figures = { used, free, size }
  const { free: leastFree, fullDisk } = inspection.limits
  if (free >= leastFree * size) return ok(finding, figures)
  const why = 'The store cannot write when the disk is full.'
  return (free < fullDisk * size ? bad : warning)(finding, why, 'Free some space, or move the folder.', { figures })
}

/** Whether the folder is that of the server, which writes its id into it. */
async function isFolderOf ({ subject: { folder = '' }, uuid }) {
  const text = await readFile(path.join(folder, 'server.json'), 'utf8').catch(() => '')
  return uuid !== undefined && jsonOf(text)?.uuid === uuid
}
