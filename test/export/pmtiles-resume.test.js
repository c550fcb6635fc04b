import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, readdirSync,
  rmSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
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

  /** The same tiles in one go, elsewhere. */
  async function inOneGo (all) {
    const { file } = await write(folder.dir, all, { name: 'reference.pmtiles' })
    const bytes = readFileSync(file)
    rmSync(file)
    return bytes
  }

  const begun = async (some, options) => (await begin(folder.dir, some, options)).stop()

  it('has only its data and index files, and removes leftovers of a killed run', async () => {
    // a run before was killed at its very end
    for (const name of ['', '-entries', '-leaves']) {
      writeFileSync(path.join(folder.dir, `map.pmtiles.part${name}`), 'killed')
    }
    await begun(tiles.slice(0, 100))
    assert.deepEqual(readdirSync(folder.dir).sort(),
      ['-data', '-index', '-index-journal'].map(name => `map.pmtiles.part${name}`))
  })

  const changed = tiles.map((one, index) => index % 5
    ? one : tile(one.z, one.x, one.y, png(90000 + index), { time: '2024-04-01T00:00:00Z' }))
  const reloaded = tiles.map((one, index) => index % 5 ? one : tile(one.z, one.x, one.y, noiseTile(index, 500)))
  const [part, same] = [tiles.slice(0, 150), tiles.filter((_, index) => index % 5).length]
  const another = pyramid([0, 3, 4], (z, x, y) => 5000 + x * 100 + y) // with the same times and sizes
  // what was gathered before, what is written then, how many tiles are kept, and what happened to the files in between
  for (const [what, before, all, kept, { run = undefined, damage = undefined } = {}] of [
    ['is resumed, and becomes the same file as without a stop', tiles.slice(0, 200), tiles, 200],
    ['gets the new version of a tile that changed', tiles, changed, same],
    ['replaces an image by another image of the same time', tiles, reloaded, same],
    ['drops a tile that does not exist any more', tiles, tiles.filter((_, index) => index % 4),
      tiles.filter((_, index) => index % 4).length],
    ['of another export is begun again', another, tiles, 0, { run: 'another' }],
    ['without its data is begun again', part, tiles, 0, { damage: name => rmSync(`${name}-data`) }],
    ['with less data than its index says is begun again', part, tiles,
      0, { damage: name => truncateSync(`${name}-data`, 1000) }],
    ['without its index is begun again', part, tiles, 0, { damage: name => rmSync(`${name}-index`) }],
    ['with an index that is not SQLite is begun again', part, tiles, 0,
      { damage: name => writeFileSync(`${name}-index`, 'no SQLite') }],
    ['with an index that was cut off is begun again', part, tiles,
      0, { damage: name => truncateSync(`${name}-index`, 9000) }],
    ['ignores data that its index does not list', part, tiles, 150,
      { damage: name => appendFileSync(`${name}-data`, 'written, and then killed') }]
  ]) {
    it(what, async () => {
      const reference = await inOneGo(all)
      await begun(before.slice(0, 100), { run })
      await begun(before, { run })
      damage?.(path.join(folder.dir, 'map.pmtiles.part'))
      const written = await write(folder.dir, all)
      assert.equal(written.kept, kept)
      assert.ok(readFileSync(written.file).equals(reference))
      assert.deepEqual(readdirSync(folder.dir), ['map.pmtiles'])
    })
  }

  it('is resumed when it could not be renamed at the end', async () => {
    const reference = await inOneGo(tiles)
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
    const one = await begin(folder.dir, tiles)
    await one.stop()
    await one.stop()
    const other = await begin(folder.dir, tiles)
    await other.finish()
    await other.stop()
    checkArchive(other.file)
  })

  it('becomes the same file when several tiles are added at once', async () => {
    // more than is gathered before it is written
    const large = pyramid([3], (z, x, y) => x * 8 + y)
      .map((one, index) => tile(one.z, one.x, one.y, noiseTile(index, 100000)))
    const reference = await inOneGo(large)
    const { file } = await write(folder.dir, large, { together: true })
    assert.ok(readFileSync(file).equals(reference))
  })

  /** Runs the child; `until` decides at each line it says whether it is killed, and how many milliseconds later. */
  async function start (dir, until = () => undefined) {
    const writer = spawn(process.execPath, [script, dir, '100', '400'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let last = ''
    for await (const line of createInterface({ input: writer.stdout })) {
      last = line
      const wait = until(line)
      if (wait === undefined) continue
      if (wait) await sleep(wait)
      await end(writer, 'SIGKILL')
      return
    }
    return JSON.parse(last)
  }

  it('becomes the same file after it was killed at random moments', async () => {
    mkdirSync(path.join(folder.dir, 'reference'))
    const reference = await start(path.join(folder.dir, 'reference'))
    const expected = readFileSync(reference.file)
    checkArchive(reference.file)
    const next = random(1)
    let kept = 0
    for (let round = 0; round < 2; round++) {
      const dir = path.join(folder.dir, `${round}`)
      mkdirSync(dir)
      for (let kill = 0; kill < 3; kill++) {
        const at = kill < 2 ? `${1 + 1000 * Math.floor(next() * 10)}` : 'finishing'
        // in the first round the last kill comes before the end, so that there is something to go on with
        const longest = at === 'finishing' ? 150 * round : 20 // milliseconds
        const result = await start(dir, line => line === at ? Math.floor(next() * longest) : undefined)
        assert.ok(result || at === 'finishing' || !readdirSync(dir).includes('map.pmtiles'))
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
    // there are 90,000 tiles: not even 200 bytes of each fit
    const writer = spawn(process.execPath, ['--max-old-space-size=18', script, folder.dir, '300', '200'],
      { stdio: ['ignore', 'pipe', 'inherit'] })
    let last = ''
    for await (const line of createInterface({ input: writer.stdout })) last = line
    const { peak, distinct } = JSON.parse(last)
    assert.ok(peak < 250e6, `${Math.round(peak / 1e6)} MB`)
    assert.equal(distinct, 81001)
  }).timeout(120000)
})
