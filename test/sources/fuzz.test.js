// Archives with random damage: whatever it is, the answer is an error of ours or tiles, soon and in bounded memory.
// FUZZ_ROUNDS tries more of them than the suite has time for.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { TilecouchError, isTileId, tileId } from '../../core/index.js'
import { pmtilesDefaults } from '../../loader/sources/pmtiles.js'
import { seeded, useFolder } from '../loader/helpers.js'
import { writeTar, writeZip } from './archive-writers.js'
import { openAs } from './helpers.js'
import { writeMbtiles } from './mbtiles-writer.js'
import { writeArchive } from './pmtiles-writer.js'

const ROUNDS = Number(process.env.FUZZ_ROUNDS) || 300
const SLOW = 5000 // milliseconds that one archive may take, on a machine that has other things to do

const tiles = Object.fromEntries(['0/0/0', '1/0/1', '2/3/0', ...Array.from({ length: 20 }, (_, index) => `5/7/${index}`)].map((name, index) => [name, `${name} `.repeat(1 + index % 5)]))
const files = [{ name: 'a/metadata.json', bytes: '{"name": "x"}' }, ...Object.entries(tiles).map(([name, bytes]) => ({ name: `a/${name}.png`, bytes }))]
const plain = bytes => bytes

// checked: what is guarded by check sums, so that nothing wrong can come of it
const archives = [
  { title: 'PMTiles', kind: 'pmtiles', bytes: writeArchive({ tiles, leaf: 5, metadata: { name: 'x' } }) },
  { title: 'PMTiles that are not packed', kind: 'pmtiles', bytes: writeArchive({ tiles, leaf: 5, pack: plain, header: { entries: 0, addressed: 0 } }) },
  { title: 'PMTiles without leaves', kind: 'pmtiles', bytes: writeArchive({ tiles, pack: plain }) },
  { title: 'a zip', kind: 'zip', bytes: writeZip(files), checked: true },
  { title: 'a zip64', kind: 'zip', bytes: writeZip(files.map(file => ({ ...file, stored: true })), { zip64: true }), checked: true },
  { title: 'a tar', kind: 'tar', bytes: writeTar(files) },
  { title: 'a tar in gzip', kind: 'tar', bytes: gzipSync(writeTar(files)), checked: true }
]

/** Damage of a kind that happens, or that somebody would try. */
function damaged (original, random) {
  const below = limit => Math.floor(random() * limit)
  let bytes = Buffer.from(original)
  for (let times = 1 + below(3); times > 0; times--) {
    const at = random() < 0.3 ? below(Math.min(130, bytes.length)) : below(bytes.length)
    const length = 1 + below(20)
    const kinds = [
      () => { bytes[at] ^= 1 << below(8) },
      () => { bytes[at] = [0, 0xff, 0x7f, 0x80, below(256)][below(5)] },
      () => bytes.fill([0, 0xff][below(2)], at, Math.min(at + length, bytes.length)),
      () => { bytes = bytes.subarray(0, at) },
      () => { bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]) },
      () => { bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)]) },
      () => { bytes.copy(bytes, at, below(bytes.length)) }
    ]
    kinds[below(kinds.length)]()
    if (!bytes.length) break
  }
  return bytes
}

describe('archives with random damage', function () {
  this.timeout(60000 + ROUNDS * 500)
  const folder = useFolder()
  const uncounted = pmtilesDefaults.uncounted
  before(() => { pmtilesDefaults.uncounted = 900 }) // damage makes long runs: too long for a test
  after(() => { pmtilesDefaults.uncounted = uncounted })

  it('MBTiles: an error that says so, or tiles', async () => {
    const list = Object.entries(tiles).map(([name, text]) => ({ ...Object.fromEntries(name.split('/').map((number, at) => ['zxy'[at], +number])), bytes: Buffer.from(text) }))
    const bytes = readFileSync(writeMbtiles(path.join(folder.dir, 'sound'), /** @type {any} */ (list), { name: 'x' }))
    await tryDamage({ number: archives.length, kind: 'mbtiles', bytes, rounds: Math.ceil(ROUNDS / 10) }) // each starts a process
  })

  for (const [number, { title, kind, bytes, checked }] of archives.entries()) {
    it(`${title}: an error that says so, or tiles`, async () => {
      const { refused } = await tryDamage({ number, kind, bytes, checked, rounds: ROUNDS })
      assert.ok(refused > ROUNDS / 5, `${refused}`) // it is damage indeed
    })
  }

  async function tryDamage ({ number, kind, bytes, checked, rounds }) {
      const file = path.join(folder.dir, 'damaged')
      const counts = { refused: 0, whole: 0, parts: 0 }
      const before = process.memoryUsage.rss() // of all that was tested before
      for (let round = 0; round < rounds; round++) {
        const damage = damaged(bytes, seeded(number * 1e6 + round))
        writeFileSync(file, damage)
        const started = performance.now()
        try {
          const { read, wrong } = await readAll(kind, file, checked)
          counts[wrong ? 'parts' : 'whole']++
          assert.ok(read < 1000, `${read} tiles`)
        } catch (error) {
          if (!(error instanceof TilecouchError) || error.code === 'INTERNAL') throw Object.assign(error, { message: `round ${round}: ${error.message}` })
          counts.refused++
        }
        assert.ok(performance.now() - started < SLOW, `round ${round} took ${performance.now() - started} ms`)
      }
      assert.ok(process.memoryUsage.rss() - before < 5e8)
      return counts
  }
})

async function readAll (kind, file, checked) {
  const source = await openAs(kind, file)
  let [read, wrong] = [0, 0]
  try {
    for await (const tile of source.tiles()) {
      const name = `${tile.z}/${tile.x}/${tile.y}`
      if (kind === 'pmtiles') assert.ok(isTileId(tileId('l', tile.z, tile.x, tile.y)), name)
      if (++read >= 1000) break
      try {
        const content = String(await tile.read?.())
        if (content === tiles[name]) continue
        // a name may be damaged without anybody's noticing, but no content that has a check sum
        if (checked) assert.ok(Object.values(tiles).includes(content), `${name} is ${JSON.stringify(content)}`)
      } catch (error) {
        if (!(error instanceof TilecouchError) || error.code === 'INTERNAL') throw error
      }
      wrong++
    }
  } finally {
    await source.close()
  }
  return { read, wrong }
}
