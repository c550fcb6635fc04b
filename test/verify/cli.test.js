import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEachStore } from '../support/backends.js'
import { commandNamed, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { tile, undecodable } from '../support/sample-tiles.js'
import { pattern } from '../support/pattern.js'
import { startCommand } from '../support/command.js'


const run = (...argv) => runCommand(['check', ...argv])

describe('tilecouch check of files', () => {
  const folder = useFolder()
  const made = async (wrong = {}) =>
    folder.write({ 'tiles/2/1/1.png': await tile(1), 'tiles/2/1/2.png': await tile(2), ...wrong }) + '/tiles'

  const ODD = { 'tiles/2/0/0.png': () => tile(1, 100) }
  const BROKEN = { 'tiles/2/2/0.png': () => undecodable(1) }
  // files that are wrong, options, the exit code, and what is printed
  /** @type {[string, object, string[], number, ...RegExp[]][]} */
  const results = [
    ['prints the counts of a sound folder, and exits 0', {}, [], 0,
      /tiles \(folder\): 2 tiles, [\d.]+ kB in 0:\d\d \([\d,]+\/s\)\n {2}0 faults, 0 warnings, 2 decoded\n$/],
    ['prints the findings with counts, an example and advice, faults first, and ends with 1',
      { ...BROKEN, 'tiles/2/2/1.png': () => undecodable(2), ...ODD }, [], 1,
      pattern(
        /\n {2}2 faults, 1 warning, 3 decoded\n\n/,
        / {9}what +count {2}for example\n/,
        /fault +undecodable-tile +2 {2}2\/2\/0\.png: .*\n/,
        /warning +odd-size +1 {2}2\/0\/0\.png: 100 x 100 pixels/
      ), /\nundecodable-tile: Fetch or render it again\.\n\nAll of it: --report FILE\n$/],
    ['exits 0 when there are only warnings', ODD, [], 0],
    ['does not decode with --no-decode', BROKEN, ['--no-decode'], 0, /0 faults, 0 warnings, none decoded/]
  ]
  for (const [title, wrong, options, exit, ...printed] of results) {
    it(title, async () => {
      const files = await Promise.all(Object.entries(wrong).map(async ([name, make]) => [name, await make()]))
      const { code, out, err } = await run(await made(Object.fromEntries(files)), ...options)
      assert.deepEqual([code, err], [exit, ''])
      for (const text of printed) assert.match(out, text)
    })
  }

  it('prints one object with --json, and writes all findings with --report', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 4 }, (_, y) => [`tiles/2/3/${y}.png`, Buffer.from('<html>')]))
    const list = path.join(folder.dir, 'found.jsonl')
    const { code, out, err } = await run(await made(wrong), '--json', '--report', list)
    assert.deepEqual([code, err], [1, ''])
    const { what, kind, tiles, bytes, checked, faults, warnings, kinds, examples, first, seconds } = JSON.parse(out)
    assert.deepEqual({ kind, tiles, checked, faults, warnings, kinds }, {
      kind: 'folder', tiles: 6, checked: { decoded: 2, types: { 'image/png': 2 } },
      faults: 4, warnings: 0, kinds: { 'unknown-format': 4 }
    })
    assert.ok(what.endsWith('/tiles') && bytes > 0 && seconds >= 0)
    const lines = readFileSync(list, 'utf8').trim().split('\n').map(line => JSON.parse(line))
    assert.deepEqual(lines, first)
    assert.deepEqual(examples['unknown-format'],
      { code: 'unknown-format', level: 'fault', where: '2/3/0.png', why: 'not a tile image: it starts "<html>"' })
  })

  it('writes the findings to standard output with --report -, and the counts to standard error', async () => {
    const dir = await made({ 'tiles/2/2/0.png': Buffer.from('<html>') })
    const { code, out, err } = await run(dir, '--report', '-')
    assert.equal(code, 1)
    assert.deepEqual(out.trim().split('\n').map(line => JSON.parse(line).where), ['2/2/0.png'])
    assert.match(err, /tiles \(folder\): 3 tiles.*\n {2}1 fault, 0 warnings/)
    assert.match((await run(dir, '--report', '-', '--json')).err, /with --json standard output is for the result/)
  })

  it('checks only the given zooms, bounding box or polygon', async () => {
    const dir = await made({ 'tiles/4/1/1.png': Buffer.from('<html>') })
    assert.equal((await run(dir, '--zoom', '0-3')).code, 0)
    assert.equal((await run(dir, '--bbox', '10,10,20,20')).code, 1, 'there is nothing')
    folder.write(
      { 'area.geojson': JSON.stringify({ type: 'Polygon', coordinates: [[[-89, 1], [-1, 1], [-1, 60], [-89, 1]]] }) }
    )
    assert.match((await run(dir, '--polygon', path.join(folder.dir, 'area.geojson'))).out, /1 tile,/)
  })

  it('refuses wrong options and targets with an error code', async () => {
    const dir = await made()
    for (const [argv, wanted] of /** @type {[string[], string][]} */ ([
      [[dir, '--zoom', '9-1'], 'BAD_ZOOM'], [[dir, '--bbox', '1,2'], 'BAD_BBOX'],
      [[dir, '--scheme', 'zyx'], 'BAD_OPTION'], [[dir, '--report', `${dir}/no/where`], 'TARGET_UNWRITABLE'],
      [[`${dir}/none.mbtiles`], 'SOURCE_NOT_FOUND'], [['none.pmtiles'], 'SOURCE_NOT_FOUND'],
      [['Osm'], 'BAD_LAYER'], [['osm@'], 'BAD_TIME']
    ])) {
      const { code, err, out } = await run(...argv)
      assert.match(err, new RegExp(`\\[${wanted}\\]`), argv.join(' '))
      assert.deepEqual([code, out], [1, ''])
    }
  })

  it('has examples in its help that use existing options only', async () => {
    const { out } = await run('--help')
    const flags = (await commandNamed('check'))?.options.flatMap(({ short, long }) => [short, long])
    for (const [flag] of out.split('Examples:')[1].matchAll(/(?<= )--?[a-z][a-z-]*/g)) {
      assert.ok(flags?.includes(flag), flag)
    }
  })

  it('exits 130 on Ctrl-C, prints its counts, and leaves no files behind', async function () {
    this.timeout(60000)
    const files = {}
    const bytes = await tile(1)
    for (let x = 0; x < 100; x++) for (let y = 0; y < 100; y++) files[`tiles/7/${x}/${y}.png`] = bytes
    folder.write(files)
    const { child, said, ended } =
      startCommand(['check', 'tiles'], { cwd: folder.dir, env: { TMPDIR: folder.dir } })
    // it listens from when it has begun; before that the signal just ends it
    while (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT')
      await sleep(50)
      if (said.out) break
    }
    const { code, signal } = await ended
    if (signal) return // ended before it had begun
    assert.equal(code, 130)
    assert.match(said.out, /tiles \(file, stopped\): [\d,]+ tiles?/)
    assert.match(said.err, /\[ABORTED\]/)
    assert.deepEqual(readdirSync(folder.dir), ['tiles'])
  })
})

onEachStore('tilecouch check of a layer', backend => {
  const own = useStore(backend, {
    published: 'functions',
    async fill (store) {
      await store.defineLayer('osm', {})
      for (const [time, seed] of /** @type {const} */ ([['2021-01-01T00:00:00Z', 1], ['2022-01-01T00:00:00Z', 50]])) {
        await store.write(
          await Promise.all(Array.from({ length: 8 },
            async (_, y) => ({ layer: 'osm', z: 3, x: 1, y, time, bytes: await tile(seed + y) })))
        )
      }
    }
  })

  it('checks a layer in --db, with all its versions or as of a time', async () => {
    const { code, out } = await run('osm', '--db', own.url)
    assert.equal(code, 0)
    assert.match(out,
      /^osm \(layer\): 8 tiles, 16 versions, .*\n {2}0 faults, 0 warnings, 16 decoded, time index compared\n$/)
    assert.match((await run('osm@2021', '--db', own.url)).out,
      /^osm@2021 \(layer\): 8 tiles, 16 versions, .*\n {2}0 faults, 0 warnings, 8 decoded/)
    const { code: failed, err } = await run('relief', '--db', own.url)
    assert.equal(failed, 1)
    assert.match(err, /LAYER_NOT_FOUND/)
  })
})
