// What PMTiles are made of: directories, and pieces of files put into another order.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { random } from '../../bench/tiles.js'
import { copyDefaults, copyPieces } from '../../loader/formats/pmtiles/copy.js'
import { directoryDefaults, serialize, writeDirectories } from '../../loader/formats/pmtiles/directory.js'
import { EntryFile } from '../../loader/formats/pmtiles/writer.js'
import { useFolder } from '../support/folder.js'
import { parseDirectory } from './pmtiles-archive.js'

const LAST_ID = (4 ** 27 - 1) / 3 - 1

describe('a directory of PMTiles', () => {
  const folder = useFolder()

  it('is read as it was written, up to the last tile and the largest offset', () => {
    const entry = fc.record({
      gap: fc.oneof(fc.integer({ min: 1, max: 300 }),
        fc.maxSafeInteger().map(number => 1 + Math.abs(number) % (LAST_ID / 60))).map(Math.floor),
      run: fc.oneof(fc.constant(0), fc.constant(1), fc.integer({ min: 1, max: 2 ** 32 - 1 })),
      length: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      // none: behind the one before
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

  it('holds numbers around each limit at which a number needs another bit', () => {
    for (let bits = 7; bits < 53; bits++) {
      for (const number of [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]) {
        const entries =
          [{ id: number, run: Math.min(number, 2 ** 32 - 1), length: Math.min(number, 2 ** 32 - 1), offset: number }]
        assert.deepEqual(parseDirectory(gunzipSync(serialize(entries))), entries)
      }
    }
  })

  /** Leaves, and how often they were begun. */
  function collect () {
    const written = { leaves: [], begun: 0, clear: async () => {
      written.begun++; written.leaves = []
    }, write: async bytes => { written.leaves.push(bytes) } }
    return written
  }

  function make (count) {
    const entries = new EntryFile(path.join(folder.dir, 'entries'))
    const next = random(count)
    const made = Array.from({ length: count },
      (_, index) => ({ id: index * 3, run: 1 + Math.floor(next() * 2), length: 1 +
        Math.floor(next() * 50000), offset: Math.floor(next() * 1e12) }))
    for (const entry of made) entries.push(entry)
    return { entries, made }
  }

  it('has no leaves when its entries fit into the root', async () => {
    const { entries, made } = make(100)
    const written = collect()
    const { root, leaves } = await writeDirectories(entries, written)
    assert.deepEqual([leaves, written.begun], [0, 0])
    assert.deepEqual(parseDirectory(gunzipSync(root)), made)
    entries.close()
  })

  it('has leaves exactly when its entries do not fit into the root', async () => {
    const seen = new Set()
    for (let count = 1900; count < 2600; count += 50) {
      const { entries, made } = make(count)
      const { root, leaves } = await writeDirectories(entries, collect())
      const fits = serialize(made).length <= 16384 - 127
      assert.equal(leaves === 0, fits, `${count} entries`)
      assert.ok(root.length <= 16384 - 127)
      seen.add(fits)
      entries.close()
    }
    assert.equal(seen.size, 2)
  })

  it('stores the offset of a content that follows the previous content as 0', () => {
    const entries = Array.from({ length: 50 }, (_, index) => ({ id: index, run: 1, length: 100, offset: index * 100 }))
    assert.equal(gunzipSync(serialize(entries)).length, 1 + 4 * 50)
  })

  it('has leaves of 4096 entries, to which the root points', async () => {
    const { entries, made } = make(9000)
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
    const { entries, made } = make(20000)
    const written = collect()
    const { root } = await writeDirectories(entries, written, { ...directoryDefaults, root: 120, leaf: 16 })
    assert.ok(written.begun > 10 && root.length <= 120)
    assert.deepEqual(written.leaves.flatMap(leaf => parseDirectory(gunzipSync(leaf))),
      made, 'nothing of the tries before is left')
    entries.close()
  })

  it('has its entries in a file, which is read in groups', () => {
    const { entries, made } = make(20001)
    assert.equal(entries.count, 20001)
    for (const size of [1, 7, 8192, 30000]) {
      const groups = [...entries.groups(size)]
      assert.ok(groups.slice(0, -1).every(group => group.length === size))
      assert.deepEqual(groups.flat().map(({ at, ...entry }) => entry), made)
    }
    entries.close()
  })
})

describe('pieces of a file', () => {
  const folder = useFolder()

  /** Copies, and compares with what putting the pieces together in memory gives. */
  async function copy (size, pieces, limits) {
    const [from, to] = ['from', 'to'].map(name => path.join(folder.dir, name))
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
      Buffer.concat([Buffer.alloc(5), ...pieces.map(({ at, length }) => bytes.subarray(at, at + length))])
    assert.ok(readFileSync(to).equals(pieces.length ? expected : Buffer.alloc(0)))
  }

  it('are copied in any order, with any limits of reading and writing', () => {
    const piece = fc.record({ at: fc.nat(900), length: fc.integer({ min: 1, max: 100 }) })
    const limits = fc.record(
      {
        window: fc.integer({ min: 1, max: 300 }), read: fc.integer({ min: 1, max: 200 }),
        gap: fc.nat(50), readers: fc.integer({ min: 1, max: 5 })
      }
    )
    return fc.assert(fc.asyncProperty(fc.array(piece, { maxLength: 40 }),
      limits, (pieces, drawn) => copy(1000, pieces, drawn)), { numRuns: 100 })
  })

  it('may be larger than the buffers',
    () => copy(300000, [{ at: 100000, length: 200000 }, { at: 0, length: 100000 }], { window: 4096, read: 1000 }))

  it('that lie beyond the end of the file are an error', async () => {
    await assert.rejects(copy(1000, [{ at: 0, length: 10 }, { at: 990, length: 20 }]), { message: /cut off/ })
  })
})
