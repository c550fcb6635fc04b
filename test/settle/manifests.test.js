// Manifests and blocks, which hold the statements of editions: their bytes, their reading from a partly replicated
// store, and their use as the baseline of the next edition.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { BLOCK_SIDE, Block, GONE, contentOf } from '../../core/store/blocks.js'
import { LayerStatements } from '../../core/store/statements.js'
import { ManifestWriter, manifestDefaults } from '../../loader/load/manifest.js'
import { Database } from './memory.js'
import { load } from '../../loader/load/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png, yearStart } from '../support/tiles.js'

const digest = seed => `md5-${hash('md5', String(seed), 'base64')}`
const content = seed => contentOf(digest(seed))

describe('a block of an edition', () => {
  /** @param {Map<string, string>} tiles column,row -> content */
  const blockOf = tiles => {
    const block = new Block()
    for (const [place, tileContent] of tiles) {
      block.set(.../** @type {[number, number]} */ (place.split(',').map(Number)), tileContent)
    }
    return block
  }
  const check = tiles => {
    const bytes = blockOf(tiles).encode()
    const block = Block.decode(bytes)
    assert.ok(block)
    for (let x = 0; x < BLOCK_SIDE; x++) for (let y = 0; y < BLOCK_SIDE; y++) {
      assert.equal(block.get(x, y), tiles.get(`${x},${y}`), `${x},${y}`)
    }
    assert.deepEqual(block.encode(), bytes, 'as it was')
    assert.equal([...block.tiles()].length, tiles.size)
    return bytes
  }
  const square = (side, contentAt) =>
    new Map(Array.from({ length: side * side }, (_, n) => [`${n % side},${Math.floor(n / side)}`, contentAt(n)]))

  it('decodes to the tiles that were encoded', () => {
    const place = fc.tuple(fc.nat(63), fc.nat(63)).map(([x, y]) => `${x},${y}`)
    const tiles = fc.array(fc.tuple(place, fc.option(fc.nat(9), { freq: 3 })), { minLength: 1, maxLength: 60 })
    fc.assert(fc.property(
      tiles, entries => { check(new Map(entries.map(([key, seed]) => [key, seed === null ? GONE : content(seed)]))) }
    ), { seed: 5, numRuns: 60 })
  })

  it('takes eight bytes a tile when it is dense, and ten when it is sparse', () => {
    const full = check(square(64, index => content(index)))
    assert.deepEqual([full[0], full.length], [0, 5 + 64 * 64 * 8])
    const part = check(square(10, index => index % 7 ? content(index) : GONE))
    assert.deepEqual([...part.subarray(0, 5), part.length], [0, 0, 0, 10, 10, 5 + 100 * 8],
      'the box that holds them, with those that are gone')
    const corners = check(new Map([['0,0', content(1)], ['63,63', GONE], ['63,0', content(2)]]))
    assert.deepEqual([corners[0], corners.length], [1, 1 + 3 * 10])
  })

  it('distinguishes a gone tile from a tile that the edition did not read', () => {
    const block = blockOf(new Map([['3,4', GONE]]))
    assert.deepEqual([block.get(3, 4), block.get(4, 3), block.get(64 + 3, 128 + 4)],
      [GONE, undefined, GONE], 'columns and rows count within the block')
    assert.equal(contentOf(null), GONE)
    assert.equal(content(1).length, 8)
  })

  it('is undefined for bytes that are no block', () => {
    const bytes =
      [[], [2, 0], [0, 60, 0, 10, 1], [0, 0, 0, 1, 1, 1, 2, 3], [1, 0], [1, 255, 255, 1, 2, 3, 4, 5, 6, 7, 8]]
    for (const input of bytes) assert.equal(Block.decode(new Uint8Array(input)), undefined, String(input))
  })
})

describe('the statements of editions about a tile', () => {
  const { part } = manifestDefaults
  afterEach(() => { manifestDefaults.part = part })

  /** A database with one manifest of tiles on a diagonal, each in a block of its own. */
  async function storeManifest ({ complete = true, tiles = 3 } = {}) {
    const couch = new Database('m')
    const writer = new ManifestWriter(couch, { layer: 'osm', time: yearStart(2024), run: '20240101T000000000-aaaa' })
    for (let index = 0; index < tiles; index++) {
      writer.add({ z: 10, x: index * 64, y: index * 64, digest: index === 1 ? null : digest(index) })
    }
    await writer.publish({ complete, known: [] })
    return couch
  }
  const idOf = index => `osm:10:${index * 64}:${index * 64}`
  const readContents = async (couch, id) => (await new LayerStatements(couch, 'osm').readFacts([id]))(id)
    .statements.map(statement => statement.content)

  it('hold its content, or GONE where a complete edition does not name it', async () => {
    const couch = await storeManifest()
    assert.deepEqual(await readContents(couch, idOf(0)), [content(0)])
    assert.deepEqual(await readContents(couch, idOf(1)), [GONE])
    assert.deepEqual(await readContents(couch, 'osm:10:1:0'), [GONE], 'beside another in its block')
    assert.deepEqual(await readContents(couch, 'osm:10:700:0'), [GONE], 'where it has no block')
    assert.deepEqual(await readContents(await storeManifest({ complete: false }), 'osm:10:1:0'), [])
  })

  /** A copy of a database without some documents. */
  const copyWithout = (couch, isMissing) => {
    const partialCopy = new Database('n')
    partialCopy.take(couch, couch.ids.filter(id => !isMissing(id)))
    return partialCopy
  }

  it('are empty for the tiles of a block that has not arrived', async () => {
    const couch = await storeManifest()
    const partialCopy = copyWithout(couch, id => id.startsWith('block:osm:10:2:2:'))
    assert.deepEqual(await readContents(partialCopy, idOf(2)), [])
    assert.deepEqual(await readContents(partialCopy, 'osm:10:129:128'), [], 'beside it')
    assert.deepEqual(await readContents(partialCopy, idOf(0)), [content(0)], 'what has come counts')
    assert.deepEqual(await readContents(partialCopy, 'osm:10:700:0'), [GONE],
      'where the edition has no block, it has none to wait for')
  })

  it('are empty for the tiles of a manifest part until that part arrives', async () => {
    manifestDefaults.part = 2
    const couch = await storeManifest({ tiles: 5 })
    const parts = couch.ids.filter(id => id.startsWith('manifest:'))
    assert.equal(parts.length, 4)
    for (let n = 0; n < 5; n++) assert.deepEqual(await readContents(couch, idOf(n)), [n === 1 ? GONE : content(n)])
    const partialCopy = copyWithout(couch, id => id.endsWith(':1'))
    const reader = new LayerStatements(partialCopy, 'osm')
    const readFresh = async id =>
      (await reader.readFacts([id], { isFresh: true }))(id).statements.map(statement => statement.content)
    assert.deepEqual(await readFresh(idOf(2)), [])
    assert.deepEqual(await readFresh('osm:10:129:128'), [])
    assert.deepEqual(await readFresh(idOf(0)), [content(0)])
    partialCopy.take(couch, couch.ids)
    assert.deepEqual(await readFresh(idOf(2)), [content(2)])
  })

  it('are empty when the manifest has not arrived', async () => {
    const couch = copyWithout(await storeManifest(), id => id.startsWith('manifest:'))
    assert.deepEqual(await readContents(couch, idOf(0)), [])
  })
})

const [D, E] = [1, 2]
const SIDE = 6
const TILE = { z: 5, x: 3, y: 4 }
const FEW = 20 // more than the tiles that a load reads to estimate their size

const squareOf = seed => Object.fromEntries(Array.from({ length: SIDE ** 2 }, (_, index) =>
  [`5/${index % SIDE}/${Math.floor(index / SIDE)}`, seed]))

const workDocuments = length => Array.from({ length }, (_, index) => ({ _id: `work:${index}`, type: 'work' }))

/** Counts requested tiles and feeds, and reports the same time of creation for every database. */
class Counting extends Couch {
  asked = 0
  feeds = 0

  async request (request) {
    if (request.path === '_changes') this.feeds++
    if (request.path === '_bulk_get') this.asked += request.body.docs.filter(({ id }) => /^\w+:5:/.test(id)).length
    const answer = await super.request(request)
    return request.path === '' ? { ...answer, instance_start_time: '1700000000' } : answer
  }
}

// the baseline is the previous manifest if no other client has written since then, else the heads
onEachStore('the baseline of an edition', backend => {
  let url
  useStore(backend, { once: true, fill: (_, storeUrl) => { url = storeUrl } })

  const open = address => new Store(new Counting(address))
  const edition = (store, layer, year, seed, options) =>
    load(store, memorySource(squareOf(seed)), { layer, time: yearStart(year), ...options })

  it('is the last manifest, even if other documents and layers were written during its load', async () => {
    const store = open(url)
    const otherStore = new Store(new Couch(url))
    let running
    const work = async () => {
      await otherStore.couch.update('work:20260101T000000000-abcd', () => ({ type: 'work', done: 1 }))
      await otherStore.write([{ layer: 'another', ...TILE, time: yearStart(2022), bytes: png(E) }])
    }
    await edition(store, 'first', 2022, D, { onBegin: () => { running = work() } })
    await running
    store.couch.asked = 0
    assert.equal((await edition(store, 'first', 2023, D)).unchanged, SIDE ** 2)
    assert.ok(store.couch.asked < FEW, `${store.couch.asked} tiles were asked for`)
  }).timeout(60000)

  /** A source that calls a function after its last tile. */
  const sourceAfter = (seed, doLast) => {
    const source = memorySource(squareOf(seed))
    return {
      ...source,
      async * tiles () {
        yield * source.tiles()
        await doLast()
      }
    }
  }

  it('is the last manifest, even if a load of another time was never finished', async () => {
    const store = open(url)
    const broken = sourceAfter(D, () => { throw new Error('the disk is gone') })
    await edition(store, 'left', 2022, D)
    await assert.rejects(load(store, broken, { layer: 'left', time: yearStart(2023) }), /the disk is gone/)
    await edition(store, 'left', 2024, D)
    store.couch.asked = 0
    assert.equal((await edition(store, 'left', 2025, D)).unchanged, SIDE ** 2)
    assert.ok(store.couch.asked < FEW, `${store.couch.asked} tiles were asked for`)
  }).timeout(60000)

  it('needs no feed of changes where the same client wrote other documents meanwhile', async () => {
    const store = open(url)
    const source = sourceAfter(D, async () => {
      await store.couch.update('work:20260101T000000000-efgh', () => ({ type: 'work', done: 1 }))
      await store.couch.put({ _id: '_local/something', done: 1 })
      await store.write([{ layer: 'another', ...TILE, time: yearStart(2021), bytes: png(E) }])
    })
    await load(store, source, { layer: 'alone', time: yearStart(2022) })
    assert.equal(store.couch.feeds, 0)
    store.couch.asked = 0
    assert.equal((await edition(store, 'alone', 2023, D)).unchanged, SIDE ** 2)
    assert.ok(store.couch.asked < FEW, `${store.couch.asked} tiles were asked for`)
  }).timeout(60000)

  it('is the head of a tile that the same client wrote during the last load', async () => {
    const store = open(url)
    let isFirst = true
    const source = sourceAfter(D, async () => {
      if (!isFirst) return
      isFirst = false
      await store.write([{ layer: 'same', ...TILE, time: yearStart(2023), bytes: png(E) }])
    })
    await load(store, source, { layer: 'same', time: yearStart(2022) })
    assert.ok(store.couch.feeds > 0)
    await edition(store, 'same', 2024, D)
    assert.deepEqual((await store.head('same', 5, 3, 4)).bytes, png(D))
  }).timeout(60000)

  it('is the head of a tile that another program wrote during the last load', async () => {
    const store = open(url)
    const otherStore = new Store(new Couch(url))
    let writing
    await edition(store, 'second', 2022, D, {
      onProgress ({ created }) {
        if (created === SIDE ** 2) writing ??=
          otherStore.write([{ layer: 'second', ...TILE, time: yearStart(2023), bytes: png(E) }])
      }
    })
    await writing
    await edition(store, 'second', 2024, D)
    assert.deepEqual((await store.head('second', 5, 3, 4)).bytes, png(D))
  }).timeout(60000)

  it('is the head of a tile that was corrected in a mirror after the mirrored edition', async () => {
    const store = open(url)
    await store.couch.bulk(workDocuments(300)) // a mirror does not copy these
    await edition(store, 'third', 2022, D)
    const mirrorUrl = await backend.database()
    const copy = open(mirrorUrl)
    await Store.create(mirrorUrl)
    await mirror(url, mirrorUrl)
    // a correction before the feed position of the other database
    await copy.write([{ layer: 'third', ...TILE, time: yearStart(2023), bytes: png(E) }])
    const version = { layer: 'another', z: 10, y: 0, time: yearStart(2023), bytes: png(E) }
    const otherTiles = Array.from({ length: 600 }, (_, x) => ({ ...version, x }))
    assert.equal((await copy.write(otherTiles)).failed, 0)
    await edition(copy, 'third', 2024, D)
    assert.deepEqual((await copy.head('third', 5, 3, 4)).bytes, png(D))
    await copy.destroy()
  }).timeout(60000)
})
