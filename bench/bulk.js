// Measures how small documents and tiles are written into CouchDB: with one PUT each or with _bulk_docs, with various
// batch sizes and ids.
import { setMaxListeners } from 'node:events'
import { emptyDatabase, holdCompaction } from './bulk/database.js'
import { DIGITS, IDS, SMALL, TILES, TINY, smallDocuments, tileDocuments, tilesOf } from './bulk/documents.js'
import { compareIds } from './bulk/ids.js'
import { sweep } from './bulk/sweep.js'
import { Couch } from '../loader/store/couch.js'
import { BYTES } from './block.js'
import { dropping, stoppable } from './stoppable.js'

const DENSE = [1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000] // near the peak of the original benchmark

const SCALES = {
  quick: {
    rounds: 2,
    seconds: 1.5, // after which a sample of a sweep ends
    small: { documents: 10_000, batches: [10, 100, 1000, 3000, 5000, 10_000], flights: [1, 4] },
    tiny: { documents: 4000, batches: [100, 1000, 4000], flights: [4] },
    tiles: { documents: 1000, batches: [10, 50, 100, 200, 400, 10_000], flights: [1, 4] },
    ids: { small: 10_000, tiles: 1000 }
  },
  full: {
    rounds: 2,
    seconds: 3,
    small: { documents: 40_000, batches: [10, 20, 50, 100, 200, 500, ...DENSE, 6000, 8000, 10_000], flights: [1, 4] },
    tiny: { documents: 20_000, batches: [100, 500, 1000, 2000, 3000, 4000], flights: [4] },
    tiles: {
      documents: 4000, batches: [10, 20, 50, 100, 200, 300, 400, 600, 1000, 2000, 4000, 10_000], flights: [1, 4]
    },
    ids: { small: 100_000, tiles: 6000 }
  }
}
const LOADER_FACTOR = 5 // times the tiles of a sample, for the loader: it needs time to find its batch size
const LIMIT = 64e6 // bytes in all open requests
const ID_BATCH = 1000 // documents per request in the comparison of ids, as in the original
const TILE_BATCH = 200 // tiles per request in the comparison of ids
const WARM_UP = 2000 // documents written before the measurement starts

export async function run ({ server, restart, quick, log }) {
  const { rounds, seconds, ...scale } = SCALES[quick ? 'quick' : 'full']
  return stoppable(log, async ({ signal, closing }) => {
    setMaxListeners(0, signal)
    const isOwnServer = Boolean(restart) // a server that this run did not start keeps its settings
    const url = `${server}/bench_bulk`
    const couch = new Couch(url)
    closing.push(dropping(couch))
    if (isOwnServer) await holdCompaction(couch)
    let retries = 0
    const options = { rounds, seconds, most: LIMIT, signal, log, onRetry: () => { retries++ } }
    const make = smallDocuments()
    const [tiny, tiles] =
      [scale.tiny, scale.tiles].map(({ documents }, index) => tilesOf(documents * LOADER_FACTOR, index ? BYTES : TINY))
    const [makeTiny, makeTile] = [await tileDocuments(tiny), await tileDocuments(tiles)]
    const bytesOf = (makeDocument, ids) => JSON.stringify({ _id: [...IDS[ids](1)][0], ...makeDocument(0) }).length

    const { cluster: { q, n } } = await (await emptyDatabase(url)).info()
    const shards = `${q} shards, ${n === 1 ? 'one copy' : `${n} copies`} of a database`
    log('Warming up')
    await sweep(url, { documents: WARM_UP, batches: [100], flights: [1], bytes: SMALL, make, ids: IDS[DIGITS] },
      { ...options, rounds: 1, log: () => {} })
    const sweeps = {}
    /** @type {Record<string, import('./bulk/sweep.js').Payload & {size: number}>} */
    const payloads = {
      small: { ...scale.small, make, ids: IDS[DIGITS], size: SMALL, bytes: bytesOf(make, DIGITS) },
      tiny: { ...scale.tiny, make: makeTiny, ids: IDS[TILES], tiles: tiny, size: tiny[
        0
      ].bytes.length, bytes: bytesOf(makeTiny, TILES) },
      tiles: { ...scale.tiles, make: makeTile, ids: IDS[TILES], tiles, size: tiles[
        0
      ].bytes.length, bytes: bytesOf(makeTile, TILES) }
    }
    for (const [name, payload] of Object.entries(payloads)) {
      const { documents, batches, size, bytes, tiles: list } = payload
      log(`\n${name === 'small' ? 'Documents' : 'Tiles'} of ${size} bytes, at most ${documents} a sample`)
      sweeps[name] = { documents, loaded: list?.length, batches, size, bytes, rows: await sweep(url, payload, options) }
    }
    const ids = {}
    for (
      const [name, payload] of Object.entries(
        { small: { documents: scale.ids.small, batch: ID_BATCH, make }, tiles: {
          documents: scale.ids.tiles, batch: TILE_BATCH, make: makeTile
        } }
      )
    ) {
      const { documents, batch } = payload
      log(`\nIds: ${documents} ${name === 'small' ? 'small documents' : 'tiles'}, ${batch} a request`)
      ids[name] = { documents, batch, rows: await compareIds(url, payload, options) }
    }
    log(`\n${retries} requests were made again`)
    const settings = `${isOwnServer ? 'does not compact by itself' : 'its own settings: it may have ' +
      'compacted meanwhile'}, otherwise as installed; ${shards}`
    return {
      rounds, seconds, most: LIMIT, sweeps, ids, retries, programs: { CouchDB: { settings } }, missing: {}, budgets: []
    }
  })
}
