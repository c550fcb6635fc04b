// A benchmark client of tilecouch in normal use. It reads through the gateway, over one HTTP connection, and writes
// into the store, which the gateway follows. A set is a new version. A delete is a version that says "gone".
import { addSeconds, parseTileId } from '../../../core/index.js'
import { Store } from '../../../loader/store/index.js'
import { openHttp, pathOfTile } from '../../clients/http.js'

const START = '2000-01-01T00:00:00Z'

/**
 * Times of versions have whole seconds, and no tile may get the same time twice. One millisecond of the run becomes as
 * many seconds as there are processes, and each process has its own second.
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
 *   a name and password
 */
export async function openGateway ({ url, db, ...clockOptions }) {
  const store = await Store.open(db)
  const http = await openHttp({ url, pathOf: pathOfTile })
  const nextTime = clockOf(clockOptions)

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
