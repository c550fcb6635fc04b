// tilecouch diff on the command line.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { TIMES, openStore, remember } from '../support/diff-model.js'
import { startCommand } from '../support/command.js'

const [T1, T2] = TIMES

// of zoom 3, 20 tiles stay, 4 change, 2 are removed and 1 is added; one tile of zoom 2 changes
const steps = [
  ...Array.from(
    { length: 26 }, (_, index) => ({ z: 3, x: index % 8, y: Math.floor(index / 8), time: T1, seed: index })
  ), { z: 2, x: 0, y: 0, time: T1, seed: 1 },
  ...[0, 1, 2, 3].map(x => ({ z: 3, x, y: 0, time: T2, seed: 100 + x })),
  { z: 3, x: 4, y: 0, time: T2, seed: null }, { z: 3, x: 5, y: 0, time: T2, seed: null },
  { z: 3, x: 7, y: 7, time: T2, seed: 9 }, { z: 2, x: 0, y: 0, time: T2, seed: 2 }
]

onEachStore('tilecouch diff', backend => {
  const folder = useFolder()
  let store, db
  before(async () => {
    store = await openStore(backend)
    await remember(store, 'osm', steps)
    await remember(store, 'copy', steps)
    const { href } = new URL(store.couch.access.path, await backend.url())
    db = href
  })


  const tilecouch = (...argv) => runCommand([...argv, '--db', db])

  it('reports differences by zoom, in the given area and zooms, and ends with 0', async () => {
    const { code, out, err } = await tilecouch('diff', 'osm@2021', 'osm@2022')
    assert.deepEqual([code, err], [0, ''])
    const [title, sums, , head, two, three, ...tail] = out.replace(/\d:\d\d/, 'TIME').split('\n')
    assert.equal(title, 'osm@2021 -> osm@2022: 8 of 28 tiles differ, in TIME')
    assert.match(sums, /^ {2}1 added \(.* k?B\), 2 removed \(.*\), 5 changed \(now .*\), 20 the same$/)
    assert.match(head, /^zoom +added +removed +changed +same +new$/)
    assert.match(two, /^ +2 +0 +0 +1 +0 +\d+ B$/)
    assert.match(three, /^ +3 +1 +2 +4 +20 +[\d.]+ k?B$/)
    assert.deepEqual(tail, [''])
    assert.match((await tilecouch('diff', 'osm@2021', 'osm', '--bbox', '-179,80,-150,84')).out, /2 of 2 tiles differ/)
    assert.match((await tilecouch('diff', 'osm@2021', 'osm', '--zoom', '9')).out, /none of 0 tiles differ/)
  })

  it('prints the differences as JSON with --json, and exits 1 with --exit-code when any tile differs', async () => {
    const { out } = await tilecouch('diff', 'osm@2021', 'osm@2022', '--json')
    const { seconds, ...summary } = JSON.parse(out)
    assert.ok(seconds >= 0)
    assert.deepEqual(summary.tiles, { added: 1, removed: 2, changed: 5, same: 20 })
    assert.deepEqual(summary.zooms.map(({ z, tiles }) => [z, tiles.changed]), [[2, 1], [3, 4]])
    assert.equal(summary.bytes.added, png(9).length)
    for (const [from, to, exitCode] of [['osm@2021', 'osm@2022', 1],
      ['osm@2022', 'osm', 0], ['osm', 'copy', 0], ['osm@2021', 'copy', 1]]) {
      const { code, out: report } = await tilecouch('diff', from, to, '--exit-code')
      assert.equal(code, exitCode, report)
      if (!exitCode) assert.match(report, /none of 26 tiles differ/)
    }
  })

  it('writes a list of tiles and a GeoJSON file in one run', async () => {
    const { code, out } =
      await tilecouch('diff', 'osm@2021', 'osm',
        '--report', folder.path('l.jsonl'), '--geojson', folder.path('g.geojson'))
    assert.equal(code, 0)
    assert.match(out, /g\.geojson: 7 polygons of zoom 3\n/)
    assert.equal(readFileSync(folder.path('l.jsonl'), 'utf8').trimEnd().split('\n').length, 8)
    assert.equal(JSON.parse(readFileSync(folder.path('g.geojson'), 'utf8')).features.length, 7)
    assert.deepEqual(readdirSync(folder.dir).sort(), ['g.geojson', 'l.jsonl'])
  })

  it('writes the list to standard output with --report -, and the summary to standard error', async () => {
    const { code, out, err } = await tilecouch('diff', 'osm@2021', 'osm', '--report', '-', '-z', '3')
    assert.equal(code, 0)
    assert.deepEqual(out.trimEnd().split('\n').map(line => JSON.parse(line).z), Array(7).fill(3))
    assert.match(err, /7 of 27 tiles differ/)
  })

  it('refuses bad options before anything is written', async () => {
    for (const [line, expectedCode] of Object.entries({
      'osm@2021 nowhere': 'LAYER_NOT_FOUND', 'osm@2021 nothing.mbtiles': 'BAD_LAYER', 'osm@2021 ./nothing': 'BAD_LAYER',
      'osm http://127.0.0.1:1/x': 'BAD_LAYER', 'Osm osm': 'BAD_LAYER', 'osm@soon osm': 'BAD_TIME',
      'osm@ osm': 'BAD_TIME', 'osm osm --zoom 9-3': 'BAD_ZOOM', 'osm osm --bbox 1,2': 'BAD_BBOX',
      'osm osm --polygon /no/where.json': 'SOURCE_NOT_FOUND',
      'osm osm --every-zoom': 'BAD_OPTION', 'osm osm --geojson -': 'BAD_OPTION',
      'osm osm --report - --json': 'BAD_OPTION', 'osm osm --report DIR/x --geojson DIR/x': 'BAD_OPTION',
      'osm osm --report DIR/no/where': 'TARGET_UNWRITABLE', 'osm nowhere --report DIR/x': 'LAYER_NOT_FOUND'
    })) {
      const { code, out, err } = await tilecouch('diff', ...line.replaceAll('DIR', folder.dir).split(' '))
      assert.equal(code, 1, line)
      assert.match(err, new RegExp(expectedCode), line)
      assert.equal(out, '', line)
    }
    assert.deepEqual(readdirSync(folder.dir), [])
    assert.equal((await tilecouch('diff', 'osm')).code, 2)
  })

  /** Starts a diff, and sends it a signal after it has created its files. */
  async function interruptDiff (signal, args) {
    const { child, ended } = startCommand([...args, '--db', db])
    const lock = folder.path('l.jsonl.part-lock')
    await until(() => existsSync(lock) && readFileSync(lock, 'utf8').includes(`"pid":${child.pid},`) &&
      existsSync(folder.path('l.jsonl.part')), { what: 'the files it works on' })
    child.kill(signal)
    return ended
  }

  it('exits 130 on Ctrl-C, shows no incomplete file even when killed, and can be run again', async () => {
    const manySteps = []
    for (let x = 0; x < 40; x++) for (let y = 0; y < 40; y++) {
      manySteps.push({ z: 6, x, y, time: T1, seed: 1 }, { z: 6, x, y, time: T2, seed: 2 + (x + y) % 9 })
    }
    await remember(store, 'many', manySteps)
    const names = ['g.geojson', 'l.jsonl']
    const args =
      ['diff', 'many@2021', 'many@2022', '--report', folder.path('l.jsonl'), '--geojson', folder.path('g.geojson')]
    const completeFiles = () => names.filter(name => existsSync(folder.path(name)))

    assert.equal((await interruptDiff('SIGKILL', args)).signal, 'SIGKILL')
    assert.deepEqual(completeFiles(), [])
    const stopped = await interruptDiff('SIGINT', args)
    assert.equal(stopped.code, 130, stopped.err)
    assert.match(stopped.err, /\[ABORTED\]/)
    assert.deepEqual(completeFiles(), [])
    assert.deepEqual(readdirSync(folder.dir), [], 'of lists and polygons nothing is left')

    const { code, out, err } = await tilecouch(...args, '--json')
    assert.equal(code, 0, err)
    assert.equal(JSON.parse(out).tiles.changed, 1600)
    assert.deepEqual(readdirSync(folder.dir).sort(), names)
    assert.equal(readFileSync(folder.path('l.jsonl'), 'utf8').trimEnd().split('\n').length, 1600)
  }).timeout(90000)
})
