// tilecouch as it is used: tiles are read through the gateway, by HTTP over one connection, and written into the store,
// which the gateway follows. A set is a new version, and a delete one that says "there is no tile here any more":
// nothing is lost.
import { addSeconds, parseTileId } from '../../../core/index.js'
import { Store } from '../../../loader/store/index.js'
import { openHttp, pathOfTile } from '../../clients/http.js'

const START = '2000-01-01T00:00:00Z'

/**
 * Versions have whole seconds, and no two of a tile the same one: a millisecond of the run is as many seconds as there
 * are
 * processes, of which each has its own.
 * @param {{slot: number, slots: number, begun: number, now?: () => number}} options begun: of the run, in milliseconds
 *   since 1970
 */
export function clockOf ({ slot, slots, begun, now = Date.now }) {
  let last = 0
  return () => {
    last = Math.max(last + 1, now() - begun)
    return addSeconds(START, last * slots + slot)
  }
}

/**
 * @param {{url: string, db: string, slot: number, slots: number, begun: number}} where url: of the gateway; db: with
 *   what it takes to write
 */
export async function openGateway ({ url, db, ...own }) {
  const store = await Store.open(db)
  const http = await openHttp({ url, pathOf: pathOfTile })
  const nextTime = clockOf(own)

  async function write (key, content) {
    const summary = await store.write([{ ...parseTileId(key), time: nextTime(), ...content }])
    if (summary.failed) throw new Error(summary.failures[0].reason)
    return summary.unchanged === 0
  }

  return {
    set: (key, bytes) => write(key, { bytes }),
    get: http.get,
    delete: key => write(key, { gone: true }),
    close: () => http.close()
  }
}
