// The figures need a quiet machine; that everybody writes the same documents, that what is missing or refused makes no figure, and that
// tables say what was measured, does not.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStored } from '../../bench/bulk/database.js'
import { DIGITS, IDS, RANDOM, SERVER, SHUFFLED, SMALL, TILES, documentsOf, smallDocuments, tileDocuments, tilesOf } from '../../bench/bulk/documents.js'
import { PUTS } from '../../bench/bulk/growth.js'
import { plots, tables } from '../../bench/bulk/page.js'
import { LOADER, atATime, settingsOf, tallyOf } from '../../bench/bulk/sweep.js'
import { table } from '../../bench/plots/words.js'
import { writeBulk, writePuts } from '../../bench/raw.js'
import { parseTileId } from '../../core/index.js'

/** A database on a Map, with what a server may do wrong. */
function mapCouch ({ refuse = () => false, forget = 0 } = {}) {
  const stored = new Map()
  const requests = []
  const put = async doc => {
    await sleep(1)
    stored.set(doc._id, { ...doc, _rev: '1-x' })
  }
  return {
    stored,
    requests,
    put,
    bulk: async body => {
      const { docs } = JSON.parse(body)
      requests.push(docs.length)
      for (const doc of docs) await put(doc)
      const results = docs.map(({ _id: id }) => refuse(id) ? { id, error: 'conflict' } : { id, ok: true })
      return results.slice(forget)
    },
    docs: async ids => ids.map(id => ({ id, doc: stored.get(id) }))
  }
}

const numbered = count => documentsOf(index => ({ number: index }), IDS[DIGITS](count))
const figures = (median, spread = 10) => ({ rates: [median - spread, median, median + spread], median, min: median - spread, max: median + spread })
const row = (batch, flights, median, spread) => ({ way: atATime(flights), batch, flights, documents: 100, ...figures(median, spread) })
const idRows = file => Object.keys(IDS).map((ids, at) => ({ ids, ...figures(1000 * (at + 1)), written: file * (5 - at), compacted: file }))
const curve = (name, rates, stopped = false) => ({
  name, stopped, written: 9e6, compacted: 3e6, points: rates.map((rate, at) => ({ documents: 1000 * (at + 1), seconds: at + 1, rate, file: 1e6 * at }))
})

/** As bench/bulk.js writes it. */
const result = () => ({
  quick: false, machine: { couchdb: '3.5.0', node: 'v20', cpu: 'cpu', cores: 2, memory: '24 GiB', date: '2026-01-01' }, rounds: 3, seconds: 8, most: 64e6, retries: 0,
  sweeps: {
    small: { documents: 100, batches: [1000, 3000, 5000], size: 256, bytes: 280, rows: [row(1, 1, 100), row(1000, 1, 5000), row(3000, 1, 4000), row(5000, 1, 5500), row(1, 4, 300), row(1000, 4, 7000)] },
    tiny: { documents: 100, batches: [100], size: 90, bytes: 400, rows: [row(1, 4, 400), row(100, 4, 3000), { ...row(120, 5, 2700), way: LOADER }] },
    tiles: { documents: 100, batches: [100, 3000], size: 10_000, bytes: 13_600, rows: [row(1, 1, 200), row(100, 1, 1000), row(1, 4, 500), row(100, 4, 2000), { ...row(180, 6, 1900), way: LOADER }] }
  },
  ids: { small: { documents: 100_000, batch: 1000, rows: idRows(20e6) }, tiles: { documents: 1000, batch: 200, rows: idRows(10e6) } },
  growth: { documents: 5000, steps: 5, seconds: 420, putSeconds: 60, batch: 1000, curves: [curve(DIGITS, [900, 800, 450]), curve(TILES, [900, 900, 900]), curve(RANDOM, [400, 200, 100], true), curve(PUTS, [40], true)] },
  programs: { CouchDB: { settings: 'as installed' } }, missing: {}, budgets: []
})

describe('the benchmark of bulk loading', () => {
  describe('makes ids', () => {
    it('of every kind, as many as wanted, none twice, the same each time', () => {
      for (const [name, ids] of Object.entries(IDS)) {
        const made = [...ids(300)]
        assert.equal(made.length, 300, name)
        assert.deepEqual([...ids(300)], made, name)
        assert.equal(new Set(made).size, name === SERVER ? 1 : 300, name)
      }
      assert.equal([...IDS[SERVER](3)][0], undefined)
    })

    it('in order where they are said to be, and not where they are not', () => {
      for (const name of [DIGITS, TILES]) assert.deepEqual([...IDS[name](300)].sort(), [...IDS[name](300)], name)
      for (const name of [RANDOM, SHUFFLED]) assert.notDeepEqual([...IDS[name](300)].sort(), [...IDS[name](300)], name)
      assert.deepEqual([...IDS[SHUFFLED](300)].sort(), [...IDS[TILES](300)])
      assert.match(String([...IDS[DIGITS](7)][6]), /^0{9}7$/)
      assert.match(String([...IDS[RANDOM](1)][0]), /^[0-9a-f]{32}$/)
      assert.equal(parseTileId(String([...IDS[TILES](9)][8])).z, 14)
    })
  })

  describe('makes documents', () => {
    it('of 256 bytes, no two alike, the same each time', () => {
      const [make, again] = [smallDocuments(), smallDocuments()]
      const docs = [0, 1, 99, 1_899_999].map(make)
      for (const doc of docs) assert.equal(JSON.stringify(doc).length, SMALL)
      assert.equal(new Set(docs.map(({ text }) => text)).size, docs.length)
      assert.deepEqual([0, 1, 99, 1_899_999].map(again), docs)
    })

    it('of tiles, whole, again and again', async () => {
      const tiles = tilesOf(3, 500)
      const make = await tileDocuments(tiles)
      make(2)
      assert.ok(Buffer.from(make(2)._attachments.tile.data, 'base64').equals(tiles[2].bytes))
      assert.equal(make(0)._id, undefined)
      assert.deepEqual([...documentsOf(make, IDS[TILES](3))].map(({ _id }) => _id), tiles.map(({ layer, z, x, y }) => `${layer}:${z}:${x}:${y}`))
    })
  })

  describe('writes', () => {
    it('every document once, in batches, several requests at a time', async () => {
      for (const concurrency of [1, 4]) {
        const couch = mapCouch()
        /** @type {any[]} */
        const told = []
        assert.equal(await writeBulk(/** @type {any} */ (couch), numbered(25), { batch: 10, concurrency, onWritten: one => told.push(one) }), 25)
        assert.deepEqual(couch.requests, [10, 10, 5])
        assert.equal(couch.stored.size, 25)
        assert.deepEqual(told.map(({ doc }) => doc.number).sort((a, b) => a - b), [0, 10, 20])
      }
      const couch = mapCouch()
      assert.equal(await writePuts(/** @type {any} */ (couch), numbered(25), { concurrency: 4 }), 25)
      assert.equal(couch.stored.size, 25)
    })

    it('until its time is up, and counts what is there', async () => {
      const couch = mapCouch()
      const count = await writeBulk(/** @type {any} */ (couch), numbered(100_000), { batch: 2, deadline: performance.now() + 30 })
      assert.ok(count > 0 && count < 10_000)
      assert.equal(count, couch.stored.size)
    })

    it('nothing that counts when a document is refused or an answer is short', async () => {
      await assert.rejects(writeBulk(/** @type {any} */ (mapCouch({ refuse: id => id === '0000000007' })), numbered(20), { batch: 5 }), /0000000007.*conflict/)
      await assert.rejects(writeBulk(/** @type {any} */ (mapCouch({ forget: 1 })), numbered(20), { batch: 5 }), /4 results for 5 documents/)
    })

    it('nothing that counts when documents are missing or are not what was written', async () => {
      const couch = mapCouch()
      /** @type {any[]} */
      const written = []
      await writeBulk(/** @type {any} */ (couch), numbered(20), { batch: 5, onWritten: one => written.push(one) })
      const store = count => /** @type {any} */ ({ url: 'db', couch, info: async () => ({ doc_count: count }) })
      await checkStored(store(20), 20, written)
      await assert.rejects(checkStored(store(19), 20, written), /19 documents, 20 were written/)
      couch.stored.get('0000000006').number = 1000
      await assert.rejects(checkStored(store(20), 20, written), /0000000006 is not what was written/)
      couch.stored.delete('0000000006')
      await assert.rejects(checkStored(store(20), 20, written), /0000000006/)
    })
  })

  it('keeps what is under way bounded', () => {
    assert.deepEqual(settingsOf({ batches: [10, 100], flights: [1, 4], bytes: 100, most: 10_000 }), [
      { batch: 1, flights: 1 }, { batch: 10, flights: 1 }, { batch: 100, flights: 1 }, { batch: 1, flights: 4 }, { batch: 10, flights: 4 }
    ])
  })

  it('draws the loader where most of its tiles went', () => {
    const tally = tallyOf()
    for (const [tiles, batch, concurrency] of [[100, 200, 8], [900, 320, 6], [1000, 200, 8]]) tally.onProgress({ tiles }, { batch, concurrency })
    assert.deepEqual(tally.most(), { batch: 320, flights: 6 })
  })

  describe('tells', () => {
    it('each figure in its table, the batches that were not measured left empty', () => {
      const made = tables(result(), table)
      assert.match(made.bulkSmall, /\| 1 \(a PUT each\) \| 100 \(90–110\) \| 300 \(290–310\) \|\n\| 1,000 \| 5,000 .* \| 7,000 .*\n\| 3,000 \| 4,000 \(3,990–4,010\) \| {2}\|/)
      assert.match(made.bulkTiles, /settled at 180 with 6 at a time/)
      assert.match(made.bulkLoader, /10,000 bytes.* reached 95 %/)
      assert.match(made.bulkStops, /10,000 bytes with one request at a time at 3,000, |10,000 bytes with 4 requests at a time at 100/)
      assert.doesNotMatch(made.bulkStops, /256 bytes/)
      assert.match(made.bulkIds, /random ids \| 1,000 .* \| 100 MB \| 1,000 \| 20 MB \| 200 \|/)
    })

    it('who was stopped, and how much slower each became', () => {
      const { bulkGrowth, bulkGrowthSays: says } = tables(result(), table)
      assert.match(bulkGrowth, /random ids \| 3,000 \| 3.0 s \| 400 \/ 100 .* stopped/)
      assert.match(says, /ids of 10 digits, in order: 50 %/)
      assert.match(says, /At 3,000 documents, random ids had taken 3.0 s and ordered ones 3.0 s: 1.0 times as long/)
      assert.match(says, /“random ids” was stopped at 3,000 of 5,000 documents, since its 7.0 min were up/)
      assert.match(says, /“a PUT each, random ids” was stopped at 1,000 of 5,000 documents, since its 60 s were up/)
    })

    it('whether there is a peak', () => {
      const peaked = result()
      assert.match(tables(peaked, table).bulkFindings, /slowest is 3,000 .* fastest 5,000 .* do not overlap/)
      peaked.sweeps.small.rows = [row(1, 1, 100), row(1000, 1, 5000, 900), row(3000, 1, 4500, 900), row(5000, 1, 5500, 900)]
      assert.match(tables(peaked, table).bulkFindings, /no peak to be seen/)
    })

    it('the same in plots', () => {
      const charts = plots(result())
      for (const name of Object.keys(charts)) assert.match(name, /^bulk-/)
      const drawn = JSON.stringify(charts['bulk-tiles'])
      assert.match(drawn, new RegExp(`"series":"${LOADER}","x":180,"y":1900,"low":1890,"high":1910`))
      assert.match(JSON.stringify(charts['bulk-peak']), /"x":5000,"y":18.18/)
    })
  })
})
