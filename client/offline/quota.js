// How much room the device gives, and whether something fits. In Node there is nobody to ask.
import { TilecouchError } from '../../core/index.js'

export const quotaDefaults = {
  text: 4 / 3, // of an image in the database to its bytes: it is kept as text
  perVersion: 1200, // bytes of everything else about a version: its document, its revisions and their indexes
  reserve: 0.05, // of all that is given, kept free for what else the page keeps
  mostReserve: 100 * 1024 * 1024 // bytes of that at most
}

/** @typedef {{usage?: number, quota?: number, free?: number, persisted?: boolean}} Room */

/** What the device says. @returns {Promise<Room>} */
export async function roomOf (storage = globalThis.navigator?.storage) {
  if (!storage?.estimate) return { usage: undefined, quota: undefined, free: undefined, persisted: undefined }
  const [{ usage, quota }, persisted] = await Promise.all([storage.estimate(), storage.persisted?.()])
  const free = usage === undefined || quota === undefined ? undefined : Math.max(0, quota - usage)
  return { usage, quota, free, persisted }
}

/** What images and versions take on the device. @param {{bytes: number, versions: number}} figures */
export const sizeOf = ({ bytes, versions }) => Math.round(bytes * quotaDefaults.text + versions * quotaDefaults.perVersion)

/**
 * @param {string} area its name
 * @param {{bytes: number, versions: number}} total what it will be
 * @param {{bytes: number, versions: number}} have what is there of it
 * @param {Room} room
 */
export function checkFits (area, total, have, { free, quota }) {
  if (free === undefined || quota === undefined) return
  const needed = Math.max(0, sizeOf(total) - sizeOf(have))
  const reserve = Math.round(Math.min(quota * quotaDefaults.reserve, quotaDefaults.mostReserve))
  if (needed && needed > free - reserve) throw new TilecouchError('QUOTA_EXCEEDED', { area, needed, free: Math.max(0, free - reserve), quota, reserve })
}
