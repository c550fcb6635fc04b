// Unfinished PMTiles archives: which of them the next export resumes, also after kills.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, readdirSync,
  rmSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { noiseTile, random } from '../../bench/tiles.js'
import { end } from '../../bench/wait.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { checkArchive } from './pmtiles-archive.js'
import { begin, pyramid, tile, write } from './pmtiles-writing.js'

const script = fileURLToPath(new URL('./pmtiles-child.js', import.meta.url))

describe('an unfinished PMTiles archive', () => {
  const folder = useFolder()
  const tiles = pyramid([0, 3, 4], (z, x, y) => x % 3 ? x * 100 + y : 7)

  /** The bytes of an archive that is written without a stop. */
  async function writeAtOnce (allTiles) {
    const { file } = await write(folder.dir, allTiles, { name: 'reference.pmtiles' })
    const bytes = readFileSync(file)
    rmSync(file)
    return bytes
  }

  const writePart = async (someTiles, options) => (await begin(folder.dir, someTiles, options)).stop()

  it('has only its data and index files, and removes leftovers of a killed run', async () => {
    // left by an earlier run that was killed at its end
    for (const name of ['', '-entries', '-leaves']) {
      writeFileSync(folder.path(`map.pmtiles.part${name}`), 'killed')
    }
    await writePart(tiles.slice(0, 100))
    assert.deepEqual(readdirSync(folder.dir).sort(),
      ['-data', '-index', '-index-journal'].map(name => `map.pmtiles.part${name}`))
  })

  const changed = tiles.map((original, index) => index % 5
    ? original : tile(original.z, original.x, original.y, png(90000 + index), { time: '2024-04-01T00:00:00Z' }))
  const reloaded = tiles.map((original, index) => index % 5
    ? original : tile(original.z, original.x, original.y, noiseTile(index, 500)))
  const [partTiles, sameCount] = [tiles.slice(0, 150), tiles.filter((_, index) => index % 5).length]
  const otherTiles = pyramid([0, 3, 4], (z, x, y) => 5000 + x * 100 + y) // with the same times and sizes
  // tiles of the unfinished archive, tiles of the next export, kept tiles, and damage to the files in between
  for (const [title, firstTiles, allTiles, keptCount, { run = undefined, damage = undefined } = {}] of [
    ['is resumed, and becomes the same file as without a stop', tiles.slice(0, 200), tiles, 200],
    ['gets the new version of a tile that changed', tiles, changed, sameCount],
    ['replaces an image by another image of the same time', tiles, reloaded, sameCount],
    ['drops a tile that does not exist any more', tiles, tiles.filter((_, index) => index % 4),
      tiles.filter((_, index) => index % 4).length],
    ['of another export is begun again', otherTiles, tiles, 0, { run: 'another' }],
    ['without its data is begun again', partTiles, tiles, 0, { damage: name => rmSync(`${name}-data`) }],
    ['with less data than its index says is begun again', partTiles, tiles,
      0, { damage: name => truncateSync(`${name}-data`, 1000) }],
    ['without its index is begun again', partTiles, tiles, 0, { damage: name => rmSync(`${name}-index`) }],
    ['with an index that is not SQLite is begun again', partTiles, tiles, 0,
      { damage: name => writeFileSync(`${name}-index`, 'no SQLite') }],
    ['with an index that was cut off is begun again', partTiles, tiles,
      0, { damage: name => truncateSync(`${name}-index`, 9000) }],
    ['ignores data that its index does not list', partTiles, tiles, 150,
      { damage: name => appendFileSync(`${name}-data`, 'written, and then killed') }]
  ]) {
    it(title, async () => {
      const reference = await writeAtOnce(allTiles)
      await writePart(firstTiles.slice(0, 100), { run })
      await writePart(firstTiles, { run })
      damage?.(folder.path('map.pmtiles.part'))
      const written = await write(folder.dir, allTiles)
      assert.equal(written.kept, keptCount)
      assert.ok(readFileSync(written.file).equals(reference))
      assert.deepEqual(readdirSync(folder.dir), ['map.pmtiles'])
    })
  }

  it('is resumed when it could not be renamed at the end', async () => {
    const reference = await writeAtOnce(tiles)
    const { file, finish, stop } = await begin(folder.dir, tiles)
    mkdirSync(file)
    await assert.rejects(finish())
    await stop()
    rmdirSync(file)
    const { kept } = await write(folder.dir, tiles)
    assert.equal(kept, tiles.length)
    assert.ok(readFileSync(file).equals(reference))
    assert.deepEqual(readdirSync(folder.dir), ['map.pmtiles'])
  })

  it('may be stopped twice, and after it is complete', async () => {
    const first = await begin(folder.dir, tiles)
    await first.stop()
    await first.stop()
    const second = await begin(folder.dir, tiles)
    await second.finish()
    await second.stop()
    checkArchive(second.file)
  })

  it('becomes the same file when several tiles are added at once', async () => {
    // more bytes than the writer buffers
    const large = pyramid([3], (z, x, y) => x * 8 + y)
      .map((original, index) => tile(original.z, original.x, original.y, noiseTile(index, 100000)))
    const reference = await writeAtOnce(large)
    const { file } = await write(folder.dir, large, { together: true })
    assert.ok(readFileSync(file).equals(reference))
  })

  /** Runs the child. `delayOf` returns for a line of its output the milliseconds until it is killed, or undefined. */
  async function start (dir, delayOf = () => undefined) {
    const writer = spawn(process.execPath, [script, dir, '100', '400'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let lastLine = ''
    for await (const line of createInterface({ input: writer.stdout })) {
      lastLine = line
      const wait = delayOf(line)
      if (wait === undefined) continue
      if (wait) await sleep(wait)
      await end(writer, 'SIGKILL')
      return
    }
    return JSON.parse(lastLine)
  }

  it('becomes the same file after it was killed at random moments', async () => {
    mkdirSync(folder.path('reference'))
    const reference = await start(folder.path('reference'))
    const expected = readFileSync(reference.file)
    checkArchive(reference.file)
    const next = random(1)
    let kept = 0
    for (let round = 0; round < 2; round++) {
      const dir = folder.path(`${round}`)
      mkdirSync(dir)
      for (let kill = 0; kill < 3; kill++) {
        const killLine = kill < 2 ? `${1 + 1000 * Math.floor(next() * 10)}` : 'finishing'
        // in the first round the last kill comes before the end, so that the next run can resume
        const longest = killLine === 'finishing' ? 150 * round : 20 // milliseconds
        const result = await start(dir, line => line === killLine ? Math.floor(next() * longest) : undefined)
        assert.ok(result || killLine === 'finishing' || !readdirSync(dir).includes('map.pmtiles'))
      }
      const result = await start(dir)
      kept += result.kept
      assert.ok(readFileSync(result.file).equals(expected), `round ${round}`)
      assert.deepEqual(readdirSync(dir), ['map.pmtiles'])
    }
    assert.ok(kept > 0, 'something was gone on with')
  }).timeout(120000)
})

describe('the memory of a PMTiles archive', () => {
  const folder = useFolder()

  it('does not grow with its tiles', async () => {
    // 90,000 tiles: the heap has less than 200 bytes for each
    const writer = spawn(process.execPath, ['--max-old-space-size=18', script, folder.dir, '300', '200'],
      { stdio: ['ignore', 'pipe', 'inherit'] })
    let lastLine = ''
    for await (const line of createInterface({ input: writer.stdout })) lastLine = line
    const { peak, distinct } = JSON.parse(lastLine)
    assert.ok(peak < 250e6, `${Math.round(peak / 1e6)} MB`)
    assert.equal(distinct, 81001)
  }).timeout(120000)
})
