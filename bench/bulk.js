// How small documents and tiles get into CouchDB: one PUT each or by _bulk_docs, with which batch and under which ids.
import { setMaxListeners } from 'node:events'
import { emptyDatabase, holdCompaction } from './bulk/database.js'
import { DIGITS, IDS, SMALL, TILES, TINY, smallDocuments, tileDocuments, tilesOf } from './bulk/documents.js'
import { compareIds } from './bulk/ids.js'
import { sweep } from './bulk/sweep.js'
import { Couch } from '../loader/store/couch.js'
import { BYTES } from './block.js'
import { dropping, stoppable } from './stoppable.js'

const DENSE = [1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000] // where the original saw a peak

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
const LOADED = 5 // times the tiles of a sample, for the loader: it has to find its batch first
const MOST = 64e6 // bytes in all requests under way
const BATCH = 1000 // documents a request where ids are compared: as in the original
const TILE_BATCH = 200 // tiles a request there
const WARM = 2000 // documents written before anything counts

export async function run ({ server, restart, quick, log }) {
  const { rounds, seconds, ...scale } = SCALES[quick ? 'quick' : 'full']
  return stoppable(log, async ({ signal, closing }) => {
    setMaxListeners(0, signal)
    const own = Boolean(restart) // a server of somebody else's keeps its settings
    const url = `${server}/bench_bulk`
    const couch = new Couch(url)
    closing.push(dropping(couch))
    if (own) await holdCompaction(couch)
    let retries = 0
    const options = { rounds, seconds, most: MOST, signal, log, onRetry: () => { retries++ } }
    const make = smallDocuments()
    const [tiny, tiles] =
      [scale.tiny, scale.tiles].map(({ documents }, at) => tilesOf(documents * LOADED, at ? BYTES : TINY))
    const [makeTiny, makeTile] = [await tileDocuments(tiny), await tileDocuments(tiles)]
    const bytesOf = (made, ids) => JSON.stringify({ _id: [...IDS[ids](1)][0], ...made(0) }).length

    const { cluster: { q, n } } = await (await emptyDatabase(url)).info()
    const shards = `${q} shards, ${n === 1 ? 'one copy' : `${n} copies`} of a database`
    log('Warming up')
    await sweep(url, { documents: WARM, batches: [100], flights: [1], bytes: SMALL, make, ids: IDS[DIGITS] },
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
        { small: { documents: scale.ids.small, batch: BATCH, make }, tiles: {
          documents: scale.ids.tiles, batch: TILE_BATCH, make: makeTile
        } }
      )
    ) {
      const { documents, batch } = payload
      log(`\nIds: ${documents} ${name === 'small' ? 'small documents' : 'tiles'}, ${batch} a request`)
      ids[name] = { documents, batch, rows: await compareIds(url, payload, options) }
    }
    log(`\n${retries} requests were made again`)
    const settings = `${own ? 'does not compact by itself' : 'its own settings: it may have ' +
      'compacted meanwhile'}, otherwise as installed; ${shards}`
    return {
      rounds, seconds, most: MOST, sweeps, ids, retries, programs: { CouchDB: { settings } }, missing: {}, budgets: []
    }
  })
}
