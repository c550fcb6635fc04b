// OfflineStores without a browser: LevelDB in a temporary folder, and a server before the store that logs requests.
import { OfflineStore } from '../../../client/offline/index.js'
import { Store } from '../../../loader/store/index.js'
import { startFront } from '../client/front.js'
import { publishFunctions } from '../published.js'
import { PouchDB } from '../client/pouches.js'
import { useFolder } from '../folder.js'
import { square, yearStart } from '../tiles.js'
import { isBulk } from './suite.js'

export const SIDE = 10 // tiles of zoom 6 in the north-west, and two versions of each

/** The box of some tiles: first and last column, first and last row. */
export const box = ([x0, x1], [y0, y1]) => {
  const lon = x => x / 64 * 360 - 180
  const lat = y => Math.atan(Math.sinh(Math.PI * (1 - 2 * y / 64))) * 180 / Math.PI
  return [lon(x0) + 0.1, lat(y1 + 1) + 0.01, lon(x1 + 1) - 0.1, lat(y0) - 0.01]
}

/** Whether a request downloads tiles. An estimate reads several without their images, or a single one with it. */
export const isCarried = entry => isBulk(entry) && entry.body.docs.length > 1 &&
  !entry.body.docs.every(({ rev, atts_since: knownRevs }) => knownRevs?.includes(rev))

/** A store with a layer in it, for a suite. @param {{database: () => Promise<string>}} backend */
export function useShelf (backend) {
  const folder = useFolder()
  const openStores = []
  const shelf = {
    url: '',
    store: undefined,
    front: undefined,
    /** Opens a store of the device. @param {Record<string, any>} [options] */
    async open (options = {}) {
      const offline = new OfflineStore({ remote: shelf.front.url, name: shelf.path('field'), PouchDB, ...options })
      openStores.push(offline)
      await offline.ready
      return offline
    },
    path: folder.path,
    /** Loads the tiles of an edition. */
    load: (time, seed) => shelf.store.write(square({ layer: 'osm', time, z: 6, side: SIDE, seed })),
    /** Ids of documents that were requested in bulk, once for each request. */
    asked: () => shelf.front.requests().filter(isCarried).flatMap(({ body }) => body.docs.map(({ id }) => id))
      .filter(id => /^osm:\d/.test(id))
  }
  before(async () => {
    shelf.url = await backend.database()
    shelf.store = await Store.create(shelf.url)
    await shelf.store.defineLayer('osm', { minzoom: 6, maxzoom: 6 })
    for (const year of [2023, 2024]) await shelf.load(yearStart(year), (x, y) => year * 1000 + x * SIDE + y)
    await publishFunctions(shelf.store)
    // the name and password of the store are passed on, as a reader of a closed store gives them
    const front = await startFront(shelf.url)
    shelf.front = { ...front, url: front.accountUrl }
  })
  after(() => shelf.front?.close())
  beforeEach(() => shelf.front.reset())
  afterEach(async () => {
    for (const offline of openStores.splice(0)) await offline.close()
    shelf.front.reset()
  })
  return shelf
}

/** The value of a promise, or the code of its error. */
export const outcome = promise => promise.then(value => value, error => error.code ?? error)
