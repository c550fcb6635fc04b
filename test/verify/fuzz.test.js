import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'libsql'
import { flipY, inspectTile } from '../../core/index.js'
import { openSource } from '../../loader/sources/index.js'
import { seeded } from '../loader/helpers.js'
import { writeTar, writeZip } from '../sources/archive-writers.js'
import { writeArchive } from '../sources/pmtiles-writer.js'
import { useFolder } from '../support/folder.js'
import { findings, tile } from './helpers.js'

const SLOWEST = 20000 // milliseconds of one check, on a machine that has much else to do

/** A file as disks, networks and enemies leave it. @param {Buffer} good @param {() => number} next */
function damaged (good, next) {
  let bytes = Buffer.from(good)
  const somewhere = () => Math.floor(next() * (next() < 0.4 ? Math.min(2000, bytes.length) : bytes.length)) // headers more often than their share
  for (let change = 0; change < 1 + next() * 5; change++) {
    const at = somewhere()
    const how = next()
    if (how < 0.5) bytes[at] = next() * 256
    else if (how < 0.7) bytes.fill(next() < 0.5 ? 0 : 255, at, Math.min(bytes.length, at + Math.floor(next() * 64)))
    else if (how < 0.85) bytes.copy(bytes, at, somewhere(), somewhere())
    else bytes = bytes.subarray(0, Math.max(1, Math.floor(bytes.length * (0.3 + 0.7 * next()))))
  }
  return bytes
}

describe('verify of files that were damaged at random', () => {
  const folder = useFolder()
  /** @type {Record<string, Buffer>} */
  const tiles = {}

  before(async () => {
    for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) tiles[`2/${x}/${y}`] = await tile(x * 4 + y)
  })

  const files = () => Object.entries(tiles).map(([name, bytes]) => ({ name: `${name}.png`, bytes }))
  const kinds = {
    'a.pmtiles': [80, () => writeArchive({ tiles, leaf: 4, header: { bounds: [-180, -85, 180, 85], center: [0, 0, 2] } })],
    'a.zip': [60, () => writeZip(files())],
    'a.tar': [60, () => writeTar(files())],
    'a.tgz': [30, () => gzipSync(writeTar(files()))],
    // each starts a process of its own
    'a.mbtiles': [8, () => {
      const db = new Database(':memory:')
      db.exec('CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB); CREATE TABLE metadata (name TEXT, value TEXT)')
      for (const [name, value] of Object.entries({ name: 'a', format: 'png', minzoom: '2', maxzoom: '2', bounds: '-180,-85,180,85', center: '0,0,2' })) db.prepare('INSERT INTO metadata VALUES (?, ?)').run(name, value)
      for (const [name, bytes] of Object.entries(tiles)) {
        const [z, x, y] = name.split('/').map(Number)
        db.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)').run(z, x, flipY(z, y), bytes)
      }
      const file = path.join(folder.dir, 'made.mbtiles')
      db.exec(`VACUUM INTO '${file}'`)
      db.close()
      return readFileSync(file)
    }]
  }

  for (const [name, [rounds, make]] of /** @type {[string, [number, () => Buffer]][]} */ (Object.entries(kinds))) {
    it(`answers for ${name}, and what it calls sound can be loaded`, async function () {
      this.timeout(rounds * SLOWEST)
      const good = make()
      const file = path.join(folder.dir, name)
      folder.write({ [name]: good })
      assert.deepEqual((await findings(file)).said, [])
      let found = 0
      for (let round = 0; round < rounds; round++) {
        const seed = round + 1000 * rounds
        folder.write({ [name]: damaged(good, seeded(seed)) })
        const started = performance.now()
        const { summary } = await findings(file).catch(error => {
          if (error.code === 'SOURCE_UNKNOWN') return { summary: { faults: 1, tiles: 0 } } // its first bytes are another's
          throw Object.assign(error, { message: `round ${round} of ${name}: ${error.message}` })
        })
        assert.ok(performance.now() - started < SLOWEST, `round ${round} took too long`)
        if (summary.faults) found++
        else assert.equal(await loadable(file), summary.tiles, `round ${round} of ${name}`)
      }
      assert.ok(found > rounds / 2, `${found} of ${rounds} were seen to be damaged`)
    })
  }

  /** How many tiles a source has, all of which are images. */
  async function loadable (file) {
    const source = await openSource(file)
    try {
      let count = 0
      for await (const { read } of source.tiles()) {
        inspectTile(/** @type {Uint8Array} */ (await read?.()))
        count++
      }
      return count
    } finally {
      await source.close()
    }
  }
})
