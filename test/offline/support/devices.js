// Devices in Node: OfflineStores on LevelDB, as Electron and others have them. All of them gone after each test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import PouchDB from 'pouchdb-node'
import { Edits } from '../../../client/edits/index.js'
import { OfflineStore } from '../../../client/offline/index.js'

/**
 * @returns {(remote: string, options?: Record<string, any>) => Promise<any>} a new one, or with its `name` one that was
 *   there
 */
export function useDevices () {
  const made = /** @type {any[]} */ ([])
  let dir = ''
  beforeEach(() => { dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-device-')) })
  afterEach(async () => {
    for (const device of made.splice(0)) await device.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  return async (remote, { name = `${made.length}`, ...options } = {}) => {
    const device = new OfflineStore({ remote, name: path.join(dir, name), PouchDB, Edits, ...options })
    made.push(device)
    await device.ready
    return device
  }
}

/** What was made on a device, as it stands in its database: tile -> its versions, oldest first. */
export async function madeOn (device) {
  const [{ db } = { db: undefined }] = device.edits.databases()
  const tiles = new Map()
  if (!db) return tiles
  const { rows } = await db.allDocs({ include_docs: true, attachments: true, conflicts: true })
  for (const { doc } of rows) {
    if (doc.type !== 'tile') continue
    const id = doc._id.split('@')[0]
    tiles.set(id, [...tiles.get(id) ?? [], doc])
  }
  for (const versions of tiles.values()) versions.sort((a, b) => a.time < b.time ? -1 : 1)
  return tiles
}
