// A benchmark client of the gateway's memory for tiles, called in process. Each process has its own memory.
import { Memory } from '../../../server/gateway/tiles/memory.js'

export const MEGABYTES = 256 // the default of the gateway

export function openMemory () {
  const memory = /** @type {Memory<Buffer>} */ (new Memory(MEGABYTES * 1e6))
  return {
    set: (key, bytes) => memory.keep(key, bytes, bytes.length),
    get: key => memory.get(key) ?? null,
    delete: key => memory.delete(key),
    close () {}
  }
}
