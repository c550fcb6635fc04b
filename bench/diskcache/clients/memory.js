// The gateway's own memory for tiles, called in process: each process has one of its own.
import { Memory } from '../../../server/gateway/tiles/memory.js'

export const MEGABYTES = 256 // as much as a gateway takes unless told otherwise

export function openMemory () {
  const memory = /** @type {Memory<Buffer>} */ (new Memory(MEGABYTES * 1e6))
  return {
    set: (key, bytes) => memory.keep(key, bytes, bytes.length),
    get: key => memory.get(key) ?? null,
    delete: key => memory.delete(key),
    close () {}
  }
}
