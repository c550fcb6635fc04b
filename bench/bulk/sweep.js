// Measures the best number of documents per request. The same documents are written with batches of every size, by one
// and by several requests at a time, and with one PUT each. Tiles are also written by the loader, which finds its own
// batch size.
import { tileId } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'
import { NEW } from '../block.js'
import { interleave, median } from '../measure.js'
import { writeBulk, writePuts } from '../raw.js'
import { checkStored, emptyDatabase } from './database.js'
import { documentsOf } from './documents.js'

export const LOADER = 'tilecouch load'
export const atATime = flights => flights === 1 ? 'one request at a time' : `${flights} requests at a time`

/**
 * @typedef {object} Payload
 * @property {number} documents of a sample at most
 * @property {number[]} batches
 * @property {number[]} flights
 * @property {number} bytes approximate size of a document in a request
 * @property {(index: number) => any} make
 * @property {(count: number) => Iterable<string | undefined>} ids
 * @property {any[]} [tiles] for the loader
 */

/**
 * `seconds`: duration of a sample; `most`: bytes in all open requests.
 * @param {string} url
 * @param {Payload} payload
 * @param {any} options
 */
export async function sweep (url, { documents, batches, flights, bytes, make, ids, tiles },
  { rounds, seconds, most, signal, log, onRetry }) {
  const settingsByName = {}
  const contenders = settingsOf({ batches, flights, bytes, most }).map(({ batch, flights: concurrency }) => {
    const way = atATime(concurrency)
    const name = `${batch === 1 ? 'a PUT each' : `${batch} a request`}, ${way}`
    settingsByName[name] = { way, batch, flights: concurrency, documents: Infinity }
    const written = /** @type {any[]} */ ([])
    let count = 0
    return {
      name,
      before: () => emptyDatabase(url, { onRetry }),
      run: async store => {
        written.length = 0
        const options = {
          batch, concurrency, signal, deadline: performance.now() + seconds * 1000, onWritten: doc => written.push(doc)
        }
        count = await (batch === 1 ? writePuts : writeBulk)(store.couch, documentsOf(make, ids(documents)), options)
        return count
      },
      after: async store => {
        settingsByName[name].documents = Math.min(settingsByName[name].documents, count)
        await checkStored(store, count, written)
        await store.destroy()
      }
    }
  })
  const settledSettings = []
  if (tiles) {
    settingsByName[LOADER] = { way: LOADER, batch: 0, flights: 0, documents: tiles.length }
    contenders.push({
      name: LOADER,
      before: async () => {
        await (await emptyDatabase(url)).destroy()
        return Store.create(url, { public: false, onRetry })
      },
      run: async store => {
        const tally = tallyOf()
        const { created, failed } = await store.write(tiles, { signal, stored: NEW, onProgress: tally.onProgress })
        if (failed || created !== tiles.length) {
          throw new Error(`${LOADER}: ${created} of ${tiles.length} tiles written, ${failed} failed`)
        }
        settledSettings.push(tally.most())
        return created
      },
      after: async store => {
        const sample = tiles.map(({ layer, z, x, y }, index) => ({ id: tileId(layer, z, x, y), index }))
          .filter(({ index }) => index % 500 === 0)
        // plus the document that marks a store
        await checkStored(store, tiles.length + 1, sample.map(({ id, index }) => ({ id, doc: make(index) })))
        await store.destroy()
      }
    })
  }
  const results = await interleave(contenders, rounds, log, signal)
  if (tiles) for (const field of /** @type {const} */ (['batch', 'flights'])) {
    settingsByName[LOADER][field] = Math.round(median(settledSettings.map(setting => setting[field])))
  }
  return Object.entries(results).map(([name, figures]) => ({ ...settingsByName[name], ...figures }))
}

/** Every batch size with every number of concurrent requests, up to `most` bytes in all open requests. */
export const settingsOf = ({ batches, flights, bytes, most }) =>
  flights.flatMap(concurrency => [1, ...batches].filter(batch => batch * concurrency * bytes <= most)
    .map(batch => ({ batch, flights: concurrency })))

/** Finds the setting of a tuner that wrote most tiles. */
export function tallyOf () {
  const counts = new Map()
  let countedTiles = 0
  return {
    onProgress: ({ tiles }, { batch, concurrency }) => {
      const key = `${batch}x${concurrency}`
      const entry = counts.get(key) ?? { batch, flights: concurrency, tiles: 0 }
      counts.set(key, { ...entry, tiles: entry.tiles + tiles - countedTiles })
      countedTiles = tiles
    },
    most: () => {
      const [{ batch, flights }] = [...counts.values()].sort((a, b) => b.tiles - a.tiles)
      return { batch, flights }
    }
  }
}
