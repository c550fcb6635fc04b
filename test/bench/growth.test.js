// The figures need a quiet machine; that they are figures of the right thing, and what is said of them, does not.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { compareIds, tileId } from '../../core/index.js'
import { NEW, OLD } from '../../bench/block.js'
import { AT, HEAD, HISTORY, REDIRECT, SMALL, asksOf } from '../../bench/growth/asks.js'
import { curvesOf, shapeOf } from '../../bench/growth/bends.js'
import { FULL, QUICK, bytesOf, changes, edition } from '../../bench/growth/data.js'
import { plots, tables } from '../../bench/growth/page.js'
import { load } from '../../bench/growth/stages.js'
import { numbersOf, processOf, readsOf, watching } from '../../bench/growth/process.js'
import { judge } from '../../bench/growth.js'
import { VIEW, blocksOf, newTiles, viewsOf } from '../../bench/history/data.js'
import { columnsOf } from '../../bench/history/viewport.js'
import { table } from '../../bench/plots/words.js'
import { skip } from '../support/tools.js'

const ASKED = [HEAD, AT, REDIRECT, HISTORY]

/** A result in which every question takes as long as it is told at every size. */
function resultOf ({ ms = () => 10, small = () => 10, reads = true } = {}) {
  const stages = [10_000, 100_000, 1_000_000].map(tiles => ({
    tiles,
    versions: tiles * 1.1,
    first: { seconds: tiles / 5000, rate: 5000, slices: [{ tiles: tiles / 2, rate: 4000 }, { tiles, rate: 6000 }] },
    second: { seconds: 1, rate: 2500, slices: [{ tiles, rate: 2500 }] },
    database: { loaded: 1900, file: tiles * 1.1 * 1500, compaction: 3 },
    index: { seconds: tiles / 8000, rate: 8000, built: tiles * 300, compacted: tiles * 1.1 * 150 },
    results: Object.fromEntries(ASKED.flatMap(name => [[name, ms(tiles, name)], [name + SMALL, small(tiles)]]).map(([name, p50]) => [name, { ms: { p50, p90: p50 * 2, p99: p50 * 3, max: p50 * 4 } }])),
    reads: reads ? Object.fromEntries(ASKED.map(name => [name, { bytes: Math.round(1000 * Math.log10(tiles)), disk: 0 }])) : null,
    memory: reads ? { loading: 150, compacting: 140, indexing: 130, asking: 120 } : null
  }))
  return {
    name: 'growth', quick: false, machine: { couchdb: '3.5.0', node: 'v20', cpu: 'a CPU', cores: 2, memory: '8 GiB', date: '2026-01-01' },
    bytes: 1124, share: 0.1, rounds: 400, counted: 200, settings: { batch: 500, concurrency: 4, q: 2 }, missing: reads ? {} : { 'memory and reads': 'only on Linux' }, stages, budgets: judge(stages)
  }
}

describe('the benchmark of growth', () => {
  it('grows to exactly the sizes it names, from ten thousand to a million', () => {
    assert.deepEqual([FULL[0].tiles, FULL[FULL.length - 1].tiles], [10_000, 1_000_000])
    const seen = new Set()
    for (const [at, stage] of QUICK.entries()) {
      let last = ''
      for (const { layer, z, x, y } of newTiles(stage, QUICK[at - 1])) {
        const id = tileId(layer, z, x, y)
        assert.ok(compareIds(last, id) < 0, `${last} before ${id}`)
        last = id
        seen.add(id)
      }
      assert.equal(seen.size, stage.tiles)
    }
    assert.deepEqual([...edition(QUICK[0], undefined, OLD)].map(({ x, y }) => [x, y]), [...newTiles(QUICK[0])].map(({ x, y }) => [x, y]))
  })

  it('changes a tenth of the tiles with the second edition, and no other byte', () => {
    const [first, second] = [OLD, NEW].map(time => [...edition(QUICK[0], undefined, time)].slice(0, 500))
    const differ = first.filter(({ bytes }, at) => !bytes.equals(second[at].bytes))
    assert.equal(differ.length, 50)
    assert.ok(differ.every(changes))
    assert.deepEqual(bytesOf({ x: 300, y: 300 }, NEW), bytesOf({ x: 300, y: 300 }, NEW))
    assert.notDeepEqual(bytesOf({ x: 300, y: 300 }, NEW), bytesOf({ x: 300, y: 301 }, NEW))
  })

  it('has the rates of a load in parts that are not mere batches, the last one at its end', async () => {
    // of a store that takes whatever it gets, 500 tiles a batch
    const taking = ends => /** @type {any} */ ({ write: async (tiles, { onProgress }) => { ends.forEach(end => onProgress({ tiles: end })); return { failed: 0 } } })
    const batches = count => Array.from({ length: count / 500 }, (_, at) => (at + 1) * 500)
    const { slices } = await load(taking(batches(28_000)), QUICK[2], QUICK[1], OLD, new AbortController().signal)
    assert.deepEqual(slices.map(({ tiles }) => tiles), [26_000, 40_000])
    const few = await load(taking(batches(4000)), QUICK[0], undefined, OLD, new AbortController().signal)
    assert.deepEqual(few.slices.map(({ tiles }) => tiles), [4000])
    await assert.rejects(load(/** @type {any} */ ({ write: async () => ({ failed: 2 }) }), QUICK[0], undefined, OLD, new AbortController().signal), /2 tiles were not written/)
  })

  it('has the same number of versions in every view of every size', () => {
    for (const stage of [QUICK[0], FULL[4]]) {
      for (const view of viewsOf(blocksOf(stage), 100, 1)) {
        const tiles = columnsOf(view).flatMap(({ x, y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, row) => ({ x, y: y0 + row })))
        assert.equal(tiles.length, VIEW.columns * VIEW.rows)
        assert.equal(tiles.filter(changes).length, VIEW.rows)
      }
    }
  })

  describe('takes no answer that is wrong:', () => {
    let server, body, status
    before(async () => {
      server = createServer((_, response) => { response.writeHead(status, { 'content-type': 'application/json' }).end(body) })
      await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
    })
    beforeEach(() => { [status, body] = [200, ''] })
    after(() => new Promise(resolve => { server.close(resolve); server.closeAllConnections() }))

    const asked = name => {
      const url = `http://127.0.0.1:${server.address().port}/db`
      const store = /** @type {any} */ ({ url, at: async () => ({ bytes: Buffer.from(body) }) })
      return asksOf(store, QUICK[0], 1, new AbortController().signal)[name](0)
    }

    for (const name of [HEAD, AT, REDIRECT]) {
      it(`other bytes for the ${name}`, async () => {
        body = 'another tile'
        await assert.rejects(asked(name), /12 bytes that are not the \d+ of the source/)
      })
    }

    it('an error instead of a tile', async () => {
      [status, body] = [404, '{"error":"not_found"}']
      await assert.rejects(asked(HEAD), /404 for .*not_found/)
    })

    it('a history that lacks a version', async () => {
      const rows = count => JSON.stringify({ results: [{ rows: Array(count).fill({}) }] })
      body = rows(88)
      await asked(HISTORY)
      body = rows(87)
      await assert.rejects(asked(HISTORY), /87 rows instead of 88/)
    })
  })

  describe('says of a curve', () => {
    const curve = (...values) => shapeOf(values.map((y, at) => ({ x: 10_000 * 10 ** at, y })))

    it('that it is level, grows as the logarithm, grows faster, or falls', () => {
      assert.equal(curve(10, 11, 11).kind, 'level')
      assert.equal(curve(10, 12, 14).kind, 'logarithm')
      assert.equal(curve(10, 12, 16).kind, 'faster')
      assert.equal(curve(10, 6, 5).kind, 'falling')
      assert.equal(curve(10, 12, 16).change, 1.6)
    })

    it('where it bends most', () => {
      const { from, to } = curve(10, 11, 30)
      assert.deepEqual([from, to], [100_000, 1_000_000])
      const falls = curve(30, 10, 9)
      assert.deepEqual([falls.from, falls.to], [10_000, 100_000])
    })

    it('nothing of the machine: questions are compared with the smallest store beside them', () => {
      const slow = curvesOf(resultOf({ ms: tiles => tiles / 1000, small: tiles => tiles / 1000 }))
      assert.deepEqual(shapeOf(slow.find(({ name }) => name === AT).points).kind, 'level')
      const chance = curvesOf(resultOf({ small: tiles => tiles === 10_000 ? 40 : 10 }))
      assert.equal(shapeOf(chance.find(({ name }) => name === AT).points).change, 1)
    })
  })

  it('is judged by the largest size, in turns with the smallest', () => {
    assert.deepEqual(judge(resultOf().stages).map(({ figure, met }) => [figure, met]), [['10.0 ms', true], ['1.00x', true], ['1.00x', true]])
    const slow = judge(resultOf({ ms: tiles => tiles === 1_000_000 ? 60 : 10, small: () => 30 }).stages)
    assert.deepEqual(slow.map(({ figure, met }) => [figure, met]), [['60.0 ms', false], ['2.00x', false], ['2.00x', false]])
    assert.match(slow[0].what, /1,000,000 tiles/)
  })

  it('reads what Linux counts of a process, where there is such a thing', async function () {
    assert.deepEqual(numbersOf('rchar: 12\nwchar: 3\nName:\tx\n'), { rchar: 12, wchar: 3 })
    assert.equal(await readsOf(undefined, 3, async () => {}), null)
    assert.deepEqual(await watching(undefined, async () => 7), { result: 7, peak: null })
    assert.equal(await processOf('http://192.0.2.1:5984'), undefined)
    if (process.platform !== 'linux') return skip(this, 'only Linux counts')
    const file = new URL('growth.test.js', import.meta.url)
    const { length } = await readFile(file)
    const { bytes } = /** @type {any} */ (await readsOf(process.pid, 10, () => readFile(file)))
    assert.ok(bytes >= length && bytes < length * 2, `${bytes} of ${length}`)
    const { result, peak } = await watching(process.pid, async () => 7)
    assert.ok(result === 7 && peak > 20, `${peak} MB`)
  })

  it('finds the process behind an address', async function () {
    if (process.platform !== 'linux') return skip(this, 'only Linux tells')
    const server = createServer()
    await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    assert.equal(await processOf(`http://127.0.0.1:${port}`), process.pid)
    await new Promise(resolve => { server.close(resolve) })
    assert.equal(await processOf(`http://127.0.0.1:${port}`), undefined)
  })

  it('has a page that says where curves bend and why, or that it does not know', () => {
    const told = tables(resultOf(), table)
    assert.match(told.growthMachine, /images of 1,124 bytes, 10 % of the tiles with a second version; 2 shards/)
    assert.match(told.growthBends, /tile as of a time, store\.at \| 1\.00x \| level/)
    assert.match(told.growthBends, /store\.at, bytes read \| 1\.50x \| no faster than the logarithm; steepest between 10,000 and 100,000 tiles/)
    assert.match(told.growthReason, /4,000 bytes, then 6,000 \(1\.50x\).*nothing came from the disk/)
    assert.match(told.growthReason, /left 400 bytes in the file/)
    assert.match(told.growthLoad, /lowest and highest part of it \| 4,000–6,000/)
    assert.match(told.growthSizes, /bytes a version when compacted \| 1,500 \| 1,500 \| 1,500/)
    const grown = tables(resultOf({ ms: tiles => tiles === 1_000_000 ? 30 : 10 }), table)
    assert.match(grown.growthBends, /store\.at \| 3\.00x \| \*\*faster than the logarithm\*\*; steepest between 100,000 and 1,000,000 tiles/)
    const blind = tables(resultOf({ reads: false }), table)
    assert.match(blind.growthReason, /not measured \(only on Linux\), so these figures do not say why/)
    assert.match(blind.growthReads, /Not measured: memory and reads, only on Linux/)
    for (const text of Object.values({ ...told, ...blind })) assert.doesNotMatch(text, /undefined|NaN/)
  })

  it('draws what it has', () => {
    assert.deepEqual(Object.keys(plots(resultOf())), ['growth-load', 'growth-asks', 'growth-reads', 'growth-size', 'growth-memory'])
    assert.deepEqual(Object.keys(plots(resultOf({ reads: false }))), ['growth-load', 'growth-asks', 'growth-size'])
    assert.doesNotMatch(JSON.stringify(plots(resultOf())), /"y":null|NaN/)
  })
})
