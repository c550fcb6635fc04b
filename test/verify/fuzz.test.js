// Checks and loads files with random damage. Both end soon and in bounded memory, with tiles or with an error that has
// a code. A file without faults has every tile. FUZZ_ROUNDS multiplies the rounds, TILECOUCH_SEED changes the damage.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { TIME_FACTOR } from '../../bench/wait.js'
import { TilecouchError, inspectTile, isTileId, tileId } from '../../core/index.js'
import { pmtilesDefaults } from '../../loader/load/sources/pmtiles.js'
import { random as seeded } from '../../bench/tiles.js'
import { openAs } from '../support/archives.js'
import { writeArchive, writeMbtiles } from '../sources/archive-writers.js'
import { useFolder } from '../support/folder.js'
import { findings, tile } from '../support/sample-tiles.js'

const TIMES = Number(process.env.FUZZ_ROUNDS) || 1
const SEED = Number(process.env.TILECOUCH_SEED) || 0
const SLOWEST = 20000 // milliseconds of one round on a busy machine
const MAP = { bounds: [-180, -85, 180, 85], center: [0, 0, 2] }

/** Damages a file as accidents or attackers would. @param {Buffer} good @param {() => number} next */
function damaged (good, next) {
  let bytes = Buffer.from(good)
  const below = limit => Math.floor(next() * limit)
  // headers are damaged more often than their share of the bytes
  const somewhere = () => below(next() < 0.4 ? Math.min(2000, bytes.length) : bytes.length)
  for (let change = 0; change < 1 + next() * 4; change++) {
    const [pos, length] = [somewhere(), 1 + below(64)]
    const kinds = [
      () => { bytes[pos] ^= 1 << below(8) },
      () => { bytes[pos] = [0, 0xff, 0x7f, 0x80, below(256)][below(5)] },
      () => bytes.fill([0, 0xff][below(2)], pos, Math.min(pos + length, bytes.length)),
      () => { bytes = bytes.subarray(0, Math.max(1, pos)) },
      () => { bytes = Buffer.concat([bytes.subarray(0, pos), bytes.subarray(pos + length)]) },
      () => { bytes = Buffer.concat([bytes.subarray(0, pos), bytes.subarray(pos, pos + length), bytes.subarray(pos)]) },
      () => { bytes.copy(bytes, pos, somewhere(), somewhere()) }
    ]
    kinds[below(kinds.length)]()
  }
  return bytes
}

describe('files that were damaged at random', () => {
  const folder = useFolder()
  const tiles = {}
  const { uncounted } = pmtilesDefaults

  before(async () => {
    pmtilesDefaults.uncounted = 900 // damage makes runs that are too long for a test
    for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) tiles[`2/${x}/${y}`] = await tile(x * 4 + y)
  })
  after(() => { pmtilesDefaults.uncounted = uncounted })

  const plain = bytes => bytes
  const mbtiles = () => {
    const list = Object.entries(tiles).map(([name, bytes]) => {
      const [z, x, y] = name.split('/').map(Number)
      return { z, x, y, bytes }
    })
    const metadata = { name: 'a', format: 'png', minzoom: '2', maxzoom: '2', bounds: `${MAP.bounds}`, center: '0,0,2' }
    return readFileSync(writeMbtiles(folder.path('made.mbtiles'), list, metadata))
  }
  // rounds, kind, and how to make the file
  const archives = {
    'a.pmtiles': { rounds: 60, kind: 'pmtiles', make: () => writeArchive({ tiles, leaf: 4, header: MAP }) },
    'plain.pmtiles': {
      rounds: 60, kind: 'pmtiles', make: () => writeArchive({ tiles, leaf: 4, pack: plain, header: MAP })
    },
    'a.mbtiles': { rounds: 8, kind: 'mbtiles', make: mbtiles } // each starts a process
  }

  for (const [name, { rounds, kind, make }] of Object.entries(archives)) {
    it(`${name}: all tiles are loaded if check finds no fault, and every error has a code`, async () => {
      const original = make()
      const file = folder.path(name)
      folder.write({ [name]: original })
      assert.deepEqual((await findings(file)).said, [])
      const memory = process.memoryUsage.rss()
      let faulty = 0
      for (let round = 0; round < rounds * TIMES; round++) {
        folder.write({ [name]: damaged(original, seeded(SEED * 1e6 + round + 1000 * rounds)) })
        const started = performance.now()
        try {
          const { summary } = await findings(file).catch(error => {
            // damage of the first bytes makes it another kind of file
            if (error.code === 'SOURCE_UNKNOWN') return { summary: { faults: 1, tiles: 0 } }
            throw error
          })
          const loaded = await readAll(kind, file)
          if (summary.faults) faulty++
          else assert.deepEqual(loaded, { read: summary.tiles, failed: 0 })
        } catch (error) {
          throw Object.assign(error, { message: `round ${round}: ${error.message}` })
        }
        assert.ok(performance.now() - started < SLOWEST * TIME_FACTOR, `round ${round} took too long`)
      }
      assert.ok(faulty > rounds * TIMES / 2, `${faulty} were seen to be damaged`)
      assert.ok(process.memoryUsage.rss() - memory < 5e8)
    }).timeout(rounds * TIMES * SLOWEST)
  }

  /** Counts the tiles that can be read and those that fail with a TilecouchError. Other errors are thrown. */
  async function readAll (kind, file) {
    const counts = { read: 0, failed: 0 }
    const countFailure = error => {
      if (!(error instanceof TilecouchError) || error.code === 'INTERNAL') throw error
      counts.failed++
    }
    const source = await openAs(kind, file).catch(countFailure)
    try {
      for await (const { z, x, y, read } of source?.tiles() ?? []) {
        if (kind === 'pmtiles') assert.ok(isTileId(tileId('l', z, x, y)), `${z}/${x}/${y}`)
        assert.ok(counts.read + counts.failed < 1000)
        try {
          const bytes = Buffer.from(await read())
          inspectTile(bytes)
          counts.read++
        } catch (error) {
          countFailure(error)
        }
      }
    } catch (error) {
      countFailure(error)
    } finally {
      await source?.close()
    }
    return counts
  }
})
