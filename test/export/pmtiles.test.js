// PMTiles archives, read with the official library and against the specification, and the parts of the writer:
// directories, and copies of pieces of a file.
import assert from 'node:assert/strict'
import { openAsBlob, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { FileSource, PMTiles, zxyToTileId } from 'pmtiles'
import sharp from 'sharp'
import { Facts } from '../../loader/export/target.js'
import { copyDefaults, copyPieces } from '../../loader/formats/pmtiles/copy.js'
import { directoryDefaults, serialize, writeDirectories } from '../../loader/formats/pmtiles/directory.js'
import { EntryFile } from '../../loader/formats/pmtiles/writer.js'
import { random } from '../../bench/tiles.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { checkArchive, parseDirectory } from './pmtiles-archive.js'
import { TIME, begin, pyramid, tile, write } from './pmtiles-writing.js'

const SEA = 7

/** Opens an archive with the official library. */
async function openReader (file) {
  const blob = await openAsBlob(file)
  return new PMTiles(new FileSource(Object.assign(blob, { name: path.basename(file) })))
}

async function assertHolds (file, tiles) {
  const reader = await openReader(file)
  for (const { z, x, y, bytes } of tiles) {
    const result = await reader.getZxy(z, x, y)
    assert.ok(result && Buffer.from(result.data).equals(bytes), `${z}/${x}/${y}`)
  }
}

const picture = format => sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  .toFormat(format).toBuffer()

function shuffled (items) {
  const next = random(3)
  return items.map(item => ({ item, key: next() })).sort((a, b) => a.key - b.key).map(({ item }) => item)
}

describe('a PMTiles archive', () => {
  const folder = useFolder()

  it('holds every tile of the first zooms, byte for byte', async () => {
    const tiles = pyramid([0, 1, 2, 3, 4, 5])
    const { file, size, distinct } = await write(folder.dir, tiles)
    const { header, bytes } = checkArchive(file)
    assert.equal(header.addressed, 1365)
    assert.deepEqual([size, distinct], [bytes.length, 1365])
    await assertHolds(file, tiles)
    assert.deepEqual(readdirSync(folder.dir), ['map.pmtiles'], 'nothing is left beside it')
  })

  it('is the same file for any order of its tiles', async () => {
    const tiles = pyramid([0, 2, 4], (z, x, y) => (x + y) % 5 === 0 ? SEA : z * 1e6 + x * 1000 + y)
    const { file } = await write(folder.dir, tiles)
    const otherArchive = await write(folder.dir, shuffled(tiles), { name: 'other.pmtiles' })
    assert.ok(readFileSync(file).equals(readFileSync(otherArchive.file)))
    checkArchive(file)
  })

  it('has no tile that was not added', async () => {
    const { file } = await write(folder.dir, pyramid([3], (z, x, y) => (x + y) % 2 ? undefined : SEA))
    const reader = await openReader(file)
    for (let x = 0; x < 8; x++) for (let y = 0; y < 8; y++) {
      assert.equal(Boolean(await reader.getZxy(3, x, y)), (x + y) % 2 === 0)
    }
    assert.equal(await reader.getZxy(2, 0, 0), undefined)
  })

  it('joins a run over the border of two zooms', async () => {
    const { file } = await write(folder.dir, pyramid([0, 1, 2], () => SEA))
    assert.deepEqual(checkArchive(file).entries.map(({ id, run }) => [id, run]), [[0, 21]])
  })

  it('stores equal tiles once, and neighbours in runs', async () => {
    const tiles = pyramid([4, 5], (z, x) => x < 2 ** (z - 1) ? SEA : undefined)
    const { file, distinct } = await write(folder.dir, tiles)
    const { header, entries } = checkArchive(file)
    assert.equal(distinct, 1)
    assert.equal(header.dataLength, png(SEA).length)
    assert.equal(header.addressed, tiles.length)
    // the western half is at most two runs of the curve per zoom; runs may continue over the border of two zooms
    assert.ok(entries.length <= 4, `${entries.length} entries`)
    await assertHolds(file, tiles)
  })

  it('puts entries into leaves when they do not fit behind the header', async () => {
    const tiles = pyramid([8], (z, x, y) => (x * 7 + y * 13) % 50)
    const { file } = await write(folder.dir, tiles)
    const { header, leaves, entries } = checkArchive(file)
    assert.ok(entries.length > 16384)
    assert.deepEqual(leaves.slice(0, -1).map(leaf => leaf.entries.length), Array(leaves.length - 1).fill(4096))
    assert.ok(header.leavesLength > 0 && leaves.length > 1)
    await assertHolds(file, shuffled(tiles).slice(0, 500))
  })

  it('may hold a single tile', async () => {
    for (const [z, x, y] of [[0, 0, 0], [13, 4303, 2881], [26, 0, 0],
      [26, 2 ** 26 - 1, 2 ** 26 - 1], [26, 2 ** 26 - 1, 0], [26, 12345678, 66666666]]) {
      const name = `${z}-${x}-${y}.pmtiles`
      const { file } = await write(folder.dir, [tile(z, x, y, png(1))], { name })
      const { header, entries } = checkArchive(file)
      assert.deepEqual([header.minZoom, header.maxZoom, entries[0].id], [z, z, zxyToTileId(z, x, y)])
      await assertHolds(file, [tile(z, x, y, png(1))])
    }
  })

  it('refuses zooms above 26, which readers do not find', async () => {
    for (const z of [27, 28, 30]) {
      const { target, stop } = await begin(folder.dir, [tile(3, 0, 0, png(1))])
      await assert.rejects(target.add(tile(z, 5, 5, png(1))),
        { code: 'TARGET_UNWRITABLE', message: new RegExp(`zoom ${z}.*--zoom 0-26`) })
      assert.equal(target.has(tile(z, 5, 5, png(1))), false)
      await stop()
    }
    await assert.rejects(begin(folder.dir, [], { doc: { maxzoom: 28 } }),
      { code: 'TARGET_UNWRITABLE' }, 'before anything is fetched')
    await assert.rejects(begin(folder.dir, [], { doc: { maxzoom: 30 }, zooms: { min: 0, max: 27 } }),
      { code: 'TARGET_UNWRITABLE' })
    await write(folder.dir, [tile(26, 5, 5, png(1))], { doc: { maxzoom: 30 }, zooms: { min: 0, max: 26 } })
  })

  it('has the description of the layer', async () => {
    const doc = {
      name: 'City', description: 'Streets', attribution: '© us', version: '3',
      legend: 'red: roads', center: [8.5, 47.4, 2], bounds: [5.9, 45.8, 10.5, 47.8],
      tileSize: 512, upstream: { url: 'https://secret.example/{z}/{x}/{y}' }
    }
    const { file } = await write(folder.dir, pyramid([1, 2, 3]), { doc, time: '2024-03-01T00:00:00Z' })
    const { header, metadata } = checkArchive(file)
    assert.deepEqual(metadata, {
      name: 'City', description: 'Streets', attribution: '© us', version: '3',
      legend: 'red: roads', type: 'baselayer', format: 'png', tileSize: '512', 'tilecouch:time': TIME
    })
    assert.deepEqual([header.minLon, header.minLat, header.maxLon, header.maxLat], doc.bounds)
    assert.deepEqual([header.centerLon, header.centerLat, header.centerZoom], doc.center)
    assert.deepEqual([header.tileType, header.tileCompression], [2, 1])
  })

  it('has the bounds of its tiles when the layer has none, and those of the world over the antimeridian', async () => {
    const { file } = await write(folder.dir, [tile(4, 8, 5, png(1)), tile(4, 8, 4, png(2))])
    const { header, metadata } = checkArchive(file)
    assert.equal(metadata.name, 'map')
    assert.deepEqual([header.minLon, header.maxLon], [0, 22.5])
    assert.ok(Math.abs(header.minLat - 40.9798981) < 1e-7 && Math.abs(header.maxLat - 66.5132604) < 1e-7)
    assert.deepEqual([header.centerLon, header.centerZoom], [11.25, 4])
    const doc = { bounds: [170, -50, -170, -30], center: [179, -40, 2] }
    const world = checkArchive((await write(folder.dir, pyramid([2]), { name: 'b.pmtiles', doc })).file).header
    assert.deepEqual([world.minLon, world.minLat, world.maxLon, world.maxLat], [-180, -50, 180, -30])
    assert.deepEqual([world.centerLon, world.centerLat], [179, -40])
    const { center, ...undirected } = doc
    const { file: undirectedFile } = await write(folder.dir, pyramid([2]), { name: 'c.pmtiles', doc: undirected })
    const { minLon, maxLon, centerLon, centerLat } = checkArchive(undirectedFile).header
    assert.deepEqual([minLon, maxLon, centerLon, centerLat], [-180, 180, 180, -40])
  })

  it('names the most frequent type when its tiles have several', async () => {
    const jpeg = await picture('jpeg')
    const tiles = [tile(1, 0, 0, jpeg), tile(1, 0, 1, png(1)), tile(1, 1, 0, png(2))]
    const { file } = await write(folder.dir, tiles)
    const { header, metadata } = checkArchive(file)
    assert.equal(header.tileType, 2)
    assert.deepEqual([metadata.format, metadata.formats], ['png', 'png,jpg'])
    await assertHolds(file, tiles)
  })

  for (const [format, number, extension] of [['jpeg', 3, 'jpg'], ['webp', 4, 'webp'], ['avif', 5, 'avif']]) {
    it(`may hold ${format} tiles`, async () => {
      const bytes = await picture(format)
      const { file } = await write(folder.dir, [tile(0, 0, 0, bytes)])
      const { header, metadata } = checkArchive(file)
      assert.deepEqual([header.tileType, header.tileCompression, metadata.format], [number, 1, extension])
      await assertHolds(file, [tile(0, 0, 0, bytes)])
    })
  }

  it('has vector tiles unchanged, marked as gzipped', async () => {
    const bytes = gzipSync(Buffer.from([0x1a, 2, 0x78, 2]))
    const { file } =
      await write(folder.dir, [tile(0, 0, 0, bytes)], { doc: { vector_layers: [{ id: 'roads', fields: {} }] } })
    const { header, metadata, entries, content } = checkArchive(file)
    assert.deepEqual([header.tileType, header.tileCompression, metadata.format], [1, 2, 'pbf'])
    assert.deepEqual(metadata.vector_layers, [{ id: 'roads', fields: {} }])
    assert.ok(content(entries[0]).equals(bytes))
    assert.ok(Buffer.from((await (await openReader(file)).getZxy(0, 0, 0)).data).equals(gunzipSync(bytes)))
    const { file: otherFile } = await write(folder.dir, [tile(0, 0, 0, bytes)], { name: 'other.pmtiles' })
    assert.deepEqual(checkArchive(otherFile).metadata.vector_layers, [], 'which must be there')
  })

  it('refuses vector tiles together with images, also when they come in two runs', async () => {
    const vector = tile(1, 0, 0, gzipSync(Buffer.from([0x1a, 2, 0x78, 2])))
    const { target, stop } = await begin(folder.dir, [vector])
    await assert.rejects(target.add(tile(1, 0, 1, png(1))),
      { code: 'TARGET_UNWRITABLE', message: /vector tiles and images/ })
    await stop()
    const resumed = await begin(folder.dir, [tile(1, 0, 1, png(1)), vector])
    assert.equal(resumed.kept, 1)
    await assert.rejects(resumed.finish(), { code: 'TARGET_UNWRITABLE', message: /vector tiles and images/ })
    await resumed.stop()
    assert.ok(!readdirSync(folder.dir).includes('map.pmtiles'))
    assert.ok(!readdirSync(folder.dir).includes('map.pmtiles.part'))
  })

  it('refuses empty tiles, unknown types, and an archive without tiles', async () => {
    const { target, stop } = await begin(folder.dir, [])
    await assert.rejects(target.add({ ...tile(0, 0, 0, png(1)), bytes: Buffer.alloc(0) }), { code: 'EMPTY_IMAGE' })
    await assert.rejects(target.add({ ...tile(0, 0, 0, png(1)), type: 'text/html' }),
      { code: 'TARGET_UNWRITABLE', message: /text\/html/ })
    await assert.rejects(target.finish(new Facts()), { code: 'TARGET_UNWRITABLE', message: /have to have tiles/ })
    await stop()
    assert.deepEqual(readdirSync(folder.dir), [], 'nothing is left of it')
  })

  it('keeps different tiles apart when they have no digest', async () => {
    const tiles = pyramid([2], (z, x, y) => (x + y) % 3).map(({ digest, ...fields }) => fields)
    const { file, distinct } = await write(folder.dir, tiles)
    assert.equal(distinct, 3)
    checkArchive(file)
    await assertHolds(file, tiles)
  })
})

const LAST_ID = (4 ** 27 - 1) / 3 - 1

describe('a directory of PMTiles', () => {
  const folder = useFolder()

  it('is read as it was written, up to the last tile and the largest offset', () => {
    const entry = fc.record({
      gap: fc.oneof(fc.integer({ min: 1, max: 300 }),
        fc.maxSafeInteger().map(number => 1 + Math.abs(number) % (LAST_ID / 60))).map(Math.floor),
      run: fc.oneof(fc.constant(0), fc.constant(1), fc.integer({ min: 1, max: 2 ** 32 - 1 })),
      length: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      // undefined: directly after the previous entry
      offset: fc.option(fc.oneof(fc.nat(), fc.maxSafeInteger().map(number => Math.floor(Math.abs(number) / 2))),
        { nil: undefined })
    })
    fc.assert(fc.property(fc.array(entry, { minLength: 1, maxLength: 50 }), drawn => {
      let id = -1
      let end = 0
      const entries = drawn.map(({ gap, run, length, offset = end }) => {
        id += gap
        end = offset + length
        return { id, run, length, offset }
      })
      assert.deepEqual(parseDirectory(gunzipSync(serialize(entries))), entries)
    }), { numRuns: 200 })
  })

  it('holds numbers around each limit at which a number needs another bit, and 0 for what follows', () => {
    for (let bits = 7; bits < 53; bits++) {
      for (const number of [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]) {
        const entries =
          [{ id: number, run: Math.min(number, 2 ** 32 - 1), length: Math.min(number, 2 ** 32 - 1), offset: number }]
        assert.deepEqual(parseDirectory(gunzipSync(serialize(entries))), entries)
      }
    }
    const entries = Array.from({ length: 50 }, (_, index) => ({ id: index, run: 1, length: 100, offset: index * 100 }))
    assert.equal(gunzipSync(serialize(entries)).length, 1 + 4 * 50)
  })

  /** Collects the leaves, and counts how often the writer began again. */
  function collect () {
    const written = {
      leaves: [], begun: 0, clear: async () => Object.assign(written, { leaves: [], begun: written.begun + 1 }),
      write: async bytes => { written.leaves.push(bytes) }
    }
    return written
  }

  function makeEntries (count) {
    const entries = new EntryFile(folder.path('entries'))
    const next = random(count)
    const upTo = limit => Math.floor(next() * limit)
    const made = Array.from({ length: count },
      (_, index) => ({ id: index * 3, run: 1 + upTo(2), length: 1 + upTo(50000), offset: upTo(1e12) }))
    for (const entry of made) entries.push(entry)
    return { entries, made }
  }

  it('has no leaves when its entries fit into the root', async () => {
    const { entries, made } = makeEntries(100)
    const written = collect()
    const { root, leaves } = await writeDirectories(entries, written)
    assert.deepEqual([leaves, written.begun], [0, 0])
    assert.deepEqual(parseDirectory(gunzipSync(root)), made)
    entries.close()
  })

  it('has leaves exactly when its entries do not fit into the root', async () => {
    const outcomes = new Set()
    for (let count = 1900; count < 2600; count += 50) {
      const { entries, made } = makeEntries(count)
      const { root, leaves } = await writeDirectories(entries, collect())
      const fitsRoot = serialize(made).length <= 16384 - 127
      assert.equal(leaves === 0, fitsRoot, `${count} entries`)
      assert.ok(root.length <= 16384 - 127)
      outcomes.add(fitsRoot)
      entries.close()
    }
    assert.equal(outcomes.size, 2)
  })

  it('has leaves of 4096 entries, to which the root points', async () => {
    const { entries, made } = makeEntries(9000)
    const written = collect()
    const { root, leaves } = await writeDirectories(entries, written)
    assert.deepEqual([written.begun, written.leaves.length], [1, 3])
    assert.equal(leaves, Buffer.concat(written.leaves).length)
    assert.deepEqual(parseDirectory(gunzipSync(root)).map(({ run, id }) => [run, id]),
      [0, 4096, 8192].map(index => [0, made[index].id]))
    assert.deepEqual(written.leaves.flatMap(leaf => parseDirectory(gunzipSync(leaf))), made)
    entries.close()
  })

  it('has larger leaves when the root cannot hold so many leaves', async () => {
    const { entries, made } = makeEntries(20000)
    const written = collect()
    const { root } = await writeDirectories(entries, written, { ...directoryDefaults, root: 120, leaf: 16 })
    assert.ok(written.begun > 10 && root.length <= 120)
    assert.deepEqual(written.leaves.flatMap(leaf => parseDirectory(gunzipSync(leaf))),
      made, 'nothing of the tries before is left')
    entries.close()
  })

  it('has its entries in a file, which is read in groups', () => {
    const { entries, made } = makeEntries(20001)
    assert.equal(entries.count, 20001)
    for (const size of [1, 7, 8192, 30000]) {
      const groups = [...entries.groups(size)]
      assert.ok(groups.slice(0, -1).every(group => group.length === size))
      assert.deepEqual(groups.flat().map(({ stagedOffset, ...entry }) => entry), made)
    }
    entries.close()
  })
})

describe('pieces of a file', () => {
  const folder = useFolder()

  /** Copies pieces, and compares the file with the same pieces joined in memory. */
  async function copy (size, pieces, limits) {
    const [from, to] = ['from', 'to'].map(name => folder.path(name))
    const next = random(size)
    const bytes = Buffer.from(Array.from({ length: size }, () => Math.floor(next() * 256)))
    writeFileSync(from, bytes)
    const [source, target] = [await open(from, 'r'), await open(to, 'w')]
    try {
      await copyPieces(source, target, 5, pieces, { ...copyDefaults, ...limits })
    } finally {
      await Promise.all([source.close(), target.close()])
    }
    const expected =
      Buffer.concat([Buffer.alloc(5), ...pieces.map(({ offset, length }) => bytes.subarray(offset, offset + length))])
    assert.ok(readFileSync(to).equals(pieces.length ? expected : Buffer.alloc(0)))
  }

  it('are copied in any order, with any limits of reading and writing', () => {
    const piece = fc.record({ offset: fc.nat(900), length: fc.integer({ min: 1, max: 100 }) })
    const limits = fc.record({
      window: fc.integer({ min: 1, max: 300 }), read: fc.integer({ min: 1, max: 200 }),
      gap: fc.nat(50), readers: fc.integer({ min: 1, max: 5 })
    })
    return fc.assert(fc.asyncProperty(fc.array(piece, { maxLength: 40 }),
      limits, (pieces, drawn) => copy(1000, pieces, drawn)), { numRuns: 100 })
  })

  it('may be larger than the buffers, and are an error beyond the end of the file', async () => {
    const pieces = [{ offset: 100000, length: 200000 }, { offset: 0, length: 100000 }]
    await copy(300000, pieces, { window: 4096, read: 1000 })
    await assert.rejects(copy(1000, [{ offset: 0, length: 10 }, { offset: 990, length: 20 }]), { message: /cut off/ })
  })
})
