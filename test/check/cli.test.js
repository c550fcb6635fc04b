// tilecouch check on the command line.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { publish } from '../../loader/couchapp/publish.js'
import { backends, onEachStore } from '../support/backends.js'
import { commandNamed, runCommand } from '../support/cli.js'
import { startCommand } from '../support/command.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { document, tile, undecodable } from '../support/sample-tiles.js'
import { plant } from './damage.js'
import { pattern } from '../support/pattern.js'

const run = (...argv) => runCommand(['check', ...argv])

describe('tilecouch check', () => {
  const folder = useFolder()
  let store, url
  const fill = async (...opened) => {
    [store, url] = opened
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
    await plant(store, await Promise.all([
      document('osm:3:1:0@2021-06-01T00:00:00Z'), document('osm:3:1:1', { time: '2021-06-01T00:00:00Z' }),
      document('osm:3:1:1@2022-06-01T00:00:00Z', {}, tile(2)),
      document('osm:3:1:2', {}, Promise.resolve(Buffer.from('<html>')))
    ]))
    await publish(store)
  }
  useStore(backends[0], { once: true, public: false, fill })

  it('prints faults, repairs some of them with --fix, and prints the others', async () => {
    const first = await run('--db', url)
    assert.equal(first.code, 1)
    assert.match(first.out, /: 1 layer, 3 tiles, 4 versions, .*\n {2}3 faults, 0 warnings\n/)
    assert.match(first.out, /\n--fix repairs 2 of these\.\n$/)
    const list = folder.path('found.jsonl')
    const second = await run('--fix', '--db', url, '--report', list)
    assert.equal(second.code, 1)
    assert.match(second.out, pattern(
      /\n2 repaired:\n/,
      / {2}no-head: 1 \(.*\)\n/,
      / {2}head-too-old: 1 \(.*\)\n/,
      /1 fault and 0 warnings left:\n/,
      / {2}unknown-format osm:3:1:2: .*\n\n/,
      /unknown-format: Often an error page .*\n$/
    ))
    assert.deepEqual(readFileSync(list, 'utf8').trim().split('\n').map(line => JSON.parse(line).code),
      ['no-head', 'head-too-old', 'unknown-format'])
    const third = await run('osm', '--json', '--no-decode', '--db', url)
    const { what, kind, faults, kinds, seconds, repair } = JSON.parse(third.out)
    assert.deepEqual([third.code, what, kind, faults, kinds, repair],
      [1, 'osm', 'layer', 1, { 'unknown-format': 1 }, undefined])
    assert.ok(seconds >= 0)
  })

  it('repairs a layer although a folder has its name, and refuses to repair the folder', async () => {
    const before = process.cwd()
    mkdirSync(folder.path('osm'))
    process.chdir(folder.dir)
    try {
      const { code, out, err } = await run('osm', '--fix', '--db', url)
      assert.equal(code, 1, err)
      assert.match(out, /\nNothing was repaired\.\n1 fault and 0 warnings left:\n {2}unknown-format osm:3:1:2: /)
      assert.match((await run('osm', '--db', url)).out, /^osm \(folder\)/)
      assert.match((await run('./osm', '--fix', '--db', url)).err, /\[BAD_OPTION\]/)
    } finally {
      process.chdir(before)
    }
  })

  it('refuses conflicting options and missing layers', async () => {
    for (const argv of [
      ['--only', 'pixels'], ['--live'], ['--only', 'conflicts', '--live'], ['--only', 'conflicts', '--report', 'x'],
      ['osm', '--only', 'upgrade'], ['osm@2024', '--fix'], ['osm@2024', 'relief'],
      ['osm', '--fix', '--zoom', '3'], ['--zoom', '3'],
      ['osm', 'relief', '--zoom', '3'], ['osm', '--only', 'conflicts', '--bbox', '0,0,1,1']
    ]) {
      const { code, err } = await run(...argv, '--db', url)
      assert.match(err, /BAD_OPTION/, argv.join(' '))
      assert.equal(code, 1)
    }
    const { code, out, err } = await run('ocean', 'osm', '--db', url)
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /LAYER_NOT_FOUND/)
  })

  it('lists the steps of an upgrade with --only upgrade, and does them with --fix', async () => {
    await store.couch.update('tilecouch', ({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
    const dryRun = await run('--only', 'upgrade', '--db', url)
    assert.deepEqual([dryRun.code, dryRun.out.split('\n').slice(0, 2)],
      [0, [`${url}: schema 0, this tilecouch writes 1`,
        '  to do: mark: the database is marked as a store: another program, or replication of a part, has filled it']])
    const upgrade = () => run('--only', 'upgrade', '--fix', '--db', url)
    assert.equal((await upgrade()).code, 0)
    assert.equal((await upgrade()).out, `${url}: schema 1, this tilecouch writes 1\n  Nothing to do.\n`)
    await store.putEdition('osm', '2024-03-01T00:00:00Z', { tiles: 3 })
    assert.equal((await upgrade()).out,
      `${url}: schema 1, this tilecouch writes 1\n  Without a manifest: 1 edition, made by an earlier program or on ` +
        `a device. Only their versions say what they found.\n  Nothing to do.\n`)
    const runId = '20240301T101500123-4f9k'
    await store.couch.update(`manifest:osm@2024-03-01T00:00:00Z:${runId}`, () => ({
      type: 'manifest', layer: 'osm', time: '2024-03-01T00:00:00Z',
      run: runId, complete: false, tiles: 0, root: '', blocks: {}
    }))
    assert.match((await upgrade()).out, /tilecouch writes 1\n {2}Nothing to do\.\n$/)
    await store.couch.update('tilecouch', doc => ({ ...doc, schema: 2 }))
    assert.match((await upgrade()).err, /the store has schema 2, this tilecouch knows 1: upgrade it/)
  })
})

describe('tilecouch check of files', () => {
  const folder = useFolder()
  const folderWith = async (damaged = {}) =>
    folder.write({ 'tiles/2/1/1.png': await tile(1), 'tiles/2/1/2.png': await tile(2), ...damaged }) + '/tiles'

  const ODD = { 'tiles/2/0/0.png': () => tile(1, 100) }
  const BROKEN = { 'tiles/2/2/0.png': () => undecodable(1) }
  // title, damaged files, options, exit code, and patterns of the output
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
  for (const [title, damaged, options, exit, ...printed] of results) {
    it(title, async () => {
      const files = await Promise.all(Object.entries(damaged).map(async ([name, make]) => [name, await make()]))
      const { code, out, err } = await run(await folderWith(Object.fromEntries(files)), ...options)
      assert.deepEqual([code, err], [exit, ''])
      for (const text of printed) assert.match(out, text)
    })
  }

  it('prints one object with --json, and writes all findings with --report', async () => {
    const files = Object.fromEntries(Array.from({ length: 4 }, (_, y) => [`tiles/2/3/${y}.png`, Buffer.from('<html>')]))
    const list = folder.path('found.jsonl')
    const { code, out, err } = await run(await folderWith(files), '--json', '--report', list)
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
    const dir = await folderWith({ 'tiles/2/2/0.png': Buffer.from('<html>') })
    const { code, out, err } = await run(dir, '--report', '-')
    assert.equal(code, 1)
    assert.deepEqual(out.trim().split('\n').map(line => JSON.parse(line).where), ['2/2/0.png'])
    assert.match(err, /tiles \(folder\): 3 tiles.*\n {2}1 fault, 0 warnings/)
    assert.match((await run(dir, '--report', '-', '--json')).err, /with --json standard output is for the result/)
  })

  it('checks only the given zooms, bounding box or polygon', async () => {
    const dir = await folderWith({ 'tiles/4/1/1.png': Buffer.from('<html>') })
    assert.equal((await run(dir, '--zoom', '0-3')).code, 0)
    assert.equal((await run(dir, '--bbox', '10,10,20,20')).code, 1, 'there is nothing')
    const triangle = { type: 'Polygon', coordinates: [[[-89, 1], [-1, 1], [-1, 60], [-89, 1]]] }
    folder.write({ 'area.geojson': JSON.stringify(triangle) })
    assert.match((await run(dir, '--polygon', folder.path('area.geojson'))).out, /1 tile,/)
  })

  it('refuses wrong options and targets with an error code', async () => {
    const dir = await folderWith()
    for (const [argv, expectedCode] of [
      [[dir, '--zoom', '9-1'], 'BAD_ZOOM'], [[dir, '--bbox', '1,2'], 'BAD_BBOX'],
      [[dir, '--scheme', 'zyx'], 'BAD_OPTION'], [[dir, '--report', `${dir}/no/where`], 'TARGET_UNWRITABLE'],
      [[`${dir}/none.mbtiles`], 'SOURCE_NOT_FOUND'], [['none.pmtiles'], 'SOURCE_NOT_FOUND'],
      [['Osm'], 'BAD_LAYER'], [['osm@'], 'BAD_TIME']
    ]) {
      const { code, err, out } = await run(...argv)
      assert.match(err, new RegExp(`\\[${expectedCode}\\]`), argv.join(' '))
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

  it('exits 130 on Ctrl-C, prints its counts, and leaves no files behind', async () => {
    const files = {}
    const bytes = await tile(1)
    for (let x = 0; x < 100; x++) for (let y = 0; y < 100; y++) files[`tiles/7/${x}/${y}.png`] = bytes
    folder.write(files)
    const { child, said, ended } = startCommand(['check', 'tiles'], { cwd: folder.dir, env: { TMPDIR: folder.dir } })
    // The command handles the signal only after its start. Before that, the signal ends it.
    while (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT')
      await sleep(50)
      if (said.out) break
    }
    const { code, signal } = await ended
    if (signal) return // ended before its start
    assert.equal(code, 130)
    assert.match(said.out, /tiles \(file, stopped\): [\d,]+ tiles?/)
    assert.match(said.err, /\[ABORTED\]/)
    assert.deepEqual(readdirSync(folder.dir), ['tiles'])
  }).timeout(60000)
})

onEachStore('tilecouch check of a layer', backend => {
  const opened = useStore(backend, {
    published: 'functions',
    async fill (store) {
      await store.defineLayer('osm', {})
      for (const [time, seed] of [['2021-01-01T00:00:00Z', 1], ['2022-01-01T00:00:00Z', 50]]) {
        await store.write(await Promise.all(Array.from({ length: 8 },
          async (_, y) => ({ layer: 'osm', z: 3, x: 1, y, time, bytes: await tile(seed + y) }))))
      }
    }
  })

  it('checks a layer in --db, with all its versions or as of a time', async () => {
    const { code, out } = await run('osm', '--db', opened.url)
    assert.equal(code, 0)
    assert.match(out,
      /^osm \(layer\): 8 tiles, 16 versions, .*\n {2}0 faults, 0 warnings, 16 decoded, time index compared\n$/)
    assert.match((await run('osm@2021', '--db', opened.url)).out,
      /^osm@2021 \(layer\): 8 tiles, 16 versions, .*\n {2}0 faults, 0 warnings, 8 decoded/)
    const { code: failed, err } = await run('relief', '--db', opened.url)
    assert.equal(failed, 1)
    assert.match(err, /LAYER_NOT_FOUND/)
  })
})
