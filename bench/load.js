// Measures how fast tiles are loaded. It compares the loader with the raw ceiling of _bulk_docs for the same documents,
// and with one PUT per tile. It compares a second edition from MBTiles with the ceiling of its documents. It covers the
// first three budgets of DESIGN.md 7, and the size of the database.
import path from 'node:path'
import pMap from 'p-map'
import { load, openSource } from '../loader/index.js'
import { publish } from '../loader/couchapp/publish.js'
import { pastOf, tileDocument } from '../core/store/documents.js'
import { prepareTile } from '../loader/store/tile.js'
import { LAYER, placesOf, writeMbtiles } from './block.js'
import { sizes } from './bulk/database.js'
import { budget, interleave, median } from './measure.js'
import { plain, writeBulk, writePuts } from './raw.js'
import { newStore, stoppable, temporaryFolder } from './stoppable.js'
import { noiseTile } from './tiles.js'

const SIZE = 10_000 // bytes of a tile
const [T1, T2] = ['2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z']
const SERVABLE = 'first load of MBTiles, until the map can be asked'
/** The measures of a second edition. */
export const SECOND = {
  nothing: 'nothing changed',
  thirty: '30 % changed, documents written',
  must: 'raw _bulk_docs 200x4 of those documents',
  readToo: 'raw, and their heads read before'
}
export const CHANGED = 3 // tiles out of ten
const FULL = { tiles: 20_000, rounds: 3, fixed: [[100, 4], [200, 2], [200, 4], [400, 2], [400, 4]] }
// fixed: batch and concurrency; a short run has the three best of the full run
const QUICK = { tiles: 4000, rounds: 2, fixed: [[200, 4], [400, 2], [400, 4]] }

export const run = options => stoppable(options.log, means => measure({ ...options, ...means }))

async function measure ({ server, quick, log, signal, closing }) {
  const { tiles, rounds, fixed: settings } = quick ? QUICK : FULL
  const isChanged = index => index % 10 < CHANGED
  const seedOf = index => isChanged(index) ? index + tiles : index
  const places = placesOf(tiles)
  const versions = edition(places, T1, index => index)
  const advancing =
    await Promise.all(edition(places.filter(({ index }) => isChanged(index)), T2, seedOf).map(prepareTile))
  const folder = await temporaryFolder('bench-load', closing)
  const [unchangedFile, changedFile] = ['same.mbtiles', 'changed.mbtiles'].map(name => path.join(folder, name))
  writeMbtiles(unchangedFile, places, index => noiseTile(index, SIZE))
  writeMbtiles(changedFile, places, index => noiseTile(seedOf(index), SIZE))
  const prepared = await Promise.all(versions.map(prepareTile))
  const post = (batch, list = prepared) => store => writeBulk(store.couch, documents(list), { batch, concurrency: 4 })
  const url = `${server}/bench_load`
  const newEmpty = async () => {
    signal.throwIfAborted()
    return newStore(url)
  }
  const write = (store, versionList, options = {}) => store.write(versionList, { ...options, signal })
  await newStore(url, closing)
  const loadFile = async (store, file, time) => {
    const source = await openSource(file, { signal })
    try {
      const summary = await load(store, source, { layer: LAYER, time, signal })
      if (summary.failed) throw new Error(`${summary.failed} tiles failed`)
      return summary
    } finally {
      await source.close()
    }
  }
  const firstLoad = async store => {
    const { created } = await loadFile(store, unchangedFile, T1)
    await publish(store, { signal })
    return created
  }
  const newLoaded = async () => {
    const store = await newEmpty()
    await loadFile(store, unchangedFile, T1)
    return store
  }
  const newPublished = async () => {
    const store = await newEmpty()
    await publish(store)
    return store
  }
  const loading = options => async store => (await write(store, versions, options)).created
  const settledSettings = []

  log(`${tiles} tiles of ${SIZE} bytes, ${rounds} rounds\n\nThe first load`)
  const first = await interleave([
    { name: 'raw _bulk_docs 200x4', before: newEmpty, run: post(200) },
    { name: 'raw _bulk_docs 400x4', before: newEmpty, run: post(400) },
    { name: 'load, tuning itself', before: newEmpty, run: async store =>
      (await write(store, versions, { onProgress: rememberSetting(settledSettings) })).created },
    ...settings.map(([batch, concurrency]) => (
      { name: `load, fixed ${batch}x${concurrency}`, before: newEmpty, run: loading({ batch, concurrency }) }
    )),
    { name: SERVABLE, before: newEmpty, run: firstLoad },
    { name: 'one PUT a tile, 1 at a time', before: newEmpty, run: store =>
      writePuts(store.couch, documents(prepared.slice(0, tiles / 20)), { concurrency: 1 }) },
    { name: 'one PUT a tile, 64 at a time', before: newEmpty, run: store =>
      writePuts(store.couch, documents(prepared.slice(0, tiles / 10)), { concurrency: 64 }) },
    {
      name: 'raw _bulk_docs 200x4, store published', before: newPublished, run: post(200, prepared.slice(0, tiles / 4))
    },
    { name: 'load, store published', before: newPublished, run: async store =>
      (await write(store, versions.slice(0, tiles / 4))).created }
  ], rounds, log)

  log('\nThe second edition')
  const { nothing, thirty, must, readToo } = SECOND
  const storeWithHeads = () => withHeads(newLoaded, advancing)
  const batches = Array.from({ length: Math.ceil(advancing.length / 200) },
    (_, index) => advancing.slice(200 * index, 200 * (index + 1)).map(({ id }) => id))
  const second = await interleave([
    { name: SERVABLE, before: newEmpty, run: firstLoad },
    { name: nothing, before: newLoaded, run: async store => (await loadFile(store, unchangedFile, T2)).unchanged },
    { name: thirty, before: newLoaded, run: async store => 2 * (await loadFile(store, changedFile, T2)).advanced },
    { name: must, before: storeWithHeads, run: ({ store, docs }) =>
      writeBulk(store.couch, docs(), { batch: 200, concurrency: 4 }) },
    {
      name: readToo,
      before: storeWithHeads,
      run: async ({ store, docs }) => {
        await pMap(batches, ids => store.couch.docs(ids, { attachments: true }), { concurrency: 4 })
        return writeBulk(store.couch, docs(), { batch: 200, concurrency: 4 })
      }
    }
  ], rounds, log)

  const size = await databaseSize(await newLoaded(), prepared, signal)

  // Compares samples of one round, so that the machine's drift cancels out.
  const ratio = (a, b) => median(a.rates.map((value, index) => value / b.rates[index]))
  const bestRaw = best(first, name => name.startsWith('raw') && !name.includes('published'))
  const bestFixed = best(first, name => name.startsWith('load, fixed'))
  const selfTuned = first['load, tuning itself']
  const budgets = [
    budget('load / raw _bulk_docs ceiling', 0.9, ratio(selfTuned, first[bestRaw])),
    { what: 'first load, until the map can be asked / raw _bulk_docs, time', target: '<= 1.6x', ...asBudget(
      ratio(first[bestRaw], first[SERVABLE])
    ) },
    budget('load / one PUT a tile, 1 at a time', 8, ratio(selfTuned, first['one PUT a tile, 1 at a time']), 'x'),
    budget('load, tuning itself / best fixed setting', 0.95, ratio(selfTuned, first[bestFixed])),
    budget('second edition, nothing changed / first load', 8, ratio(second[nothing], second[SERVABLE]), 'x'),
    budget('second edition, 30 % changed / raw ceiling', 0.7, ratio(second[thirty], second[must])),
    {
      what: 'database after compaction / image bytes', target: '<= 1.06',
      figure: size.compacted.toFixed(3), met: size.compacted <= 1.06
    }
  ]
  log(`\nbest raw: ${bestRaw}; best fixed: ${bestFixed}; settled at ${settledSettings.join(', ')}\n`)
  log(
    `database: ${size.loaded.toFixed(3)}x the image bytes when loaded, ${size.compacted.toFixed(3)}x after compaction\n`
  )
  return { tiles, bytes: SIZE, rounds, first, second, size, settled: settledSettings, budgets }
}

/** Head documents of a first edition. */
function * documents (tiles) {
  for (const tile of tiles) yield plain(tileDocument(tile, { current: true, stored: T1 }))
}

/** The versions of a block of tiles. */
function edition (places, time, seedOf) {
  return places.map(({ z, x, y, index }) => ({ layer: LAYER, z, x, y, time, bytes: noiseTile(seedOf(index), SIZE) }))
}

const asBudget = times => ({ figure: `${times.toFixed(2)}x`, met: times <= 1.6 })

async function withHeads (newLoaded, advancing) {
  const store = await newLoaded()
  const heads = []
  for (let from = 0; from < advancing.length; from += 500) {
    heads.push(...await store.couch.docs(advancing.slice(from, from + 500).map(tile => tile.id), { attachments: true }))
  }
  const documentsToWrite = function * () {
    for (const [index, tile] of advancing.entries()) {
      yield plain(pastOf(heads[index].doc))
      yield { ...plain(tileDocument(tile, { current: true, stored: T2 })), _rev: heads[index].doc._rev }
    }
  }
  return { store, docs: documentsToWrite }
}

async function databaseSize (store, prepared, signal) {
  const image = prepared.reduce((sum, tile) => sum + tile.bytes.length, 0)
  const { written, compacted } = await sizes(store, { signal })
  return { loaded: written / image, compacted: compacted / image }
}

const best = (results, isCandidate) => Object.keys(results).filter(isCandidate)
  .reduce((a, b) => results[b].median > results[a].median ? b : a)

function rememberSetting (settledSettings) {
  let previous
  return (_, tuner) => {
    const setting = `${tuner.batch}x${tuner.concurrency}`
    if (previous === undefined) settledSettings.push(setting)
    else settledSettings[settledSettings.length - 1] = setting
    previous = setting
  }
}
