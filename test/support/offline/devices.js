// Devices in Node: OfflineStores on LevelDB, as Electron and others have them. They are removed after each test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import PouchDB from 'pouchdb-node'
import { OfflineStore } from '../../../client/offline/index.js'

/**
 * @returns {(remote: string, options?: Record<string, any>) => Promise<any>} opens a new device, or with a `name` an
 *   existing one
 */
export function useDevices () {
  const devices = /** @type {any[]} */ ([])
  let dir = ''
  beforeEach(() => { dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-device-')) })
  afterEach(async () => {
    for (const device of devices.splice(0)) await device.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  return async (remote, { name = `${devices.length}`, ...options } = {}) => {
    const device = new OfflineStore({ remote, name: path.join(dir, name), PouchDB, ...options })
    devices.push(device)
    await device.ready
    return device
  }
}
