// The command `tilecouch load` on folders and MBTiles, on every store, and its messages about wrong arguments and
// sources.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'libsql'
import { Store } from '../../loader/store/index.js'
import { as, json, onEachStore, put, request } from '../support/backends.js'
import { checkLoaded } from '../support/invariants.js'
import { png, square } from '../support/tiles.js'
import { until } from '../../bench/wait.js'
import { runCommand } from '../support/cli.js'
import { bin, startCommand } from '../support/command.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']

let folder
before(async () => { folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-load-')) })
after(() => rm(folder, { recursive: true, force: true }))

const tilecouch = (...args) => runCommand(args)
const fileOf = name => path.join(folder, name)

async function writeFolder (name, edition, nameOf = ({ y }) => `${y}.png`) {
  for (const tile of edition) {
    if (!tile.bytes) continue
    const directory = path.join(folder, name, `${tile.z}`, `${tile.x}`)
    await mkdir(directory, { recursive: true })
    await writeFile(path.join(directory, nameOf(tile)), tile.bytes)
  }
  return fileOf(name)
}

const firstEdition = square({ layer: 'osm', time: T1, z: 4, seed: (x, y) => x * 8 + y })
const changedFirstRow = (x, y) => y ? x * 8 + y : 100 + x
const secondEdition =
  square({ layer: 'osm', time: T2, z: 4, seed: (x, y) => x === 7 ? null : changedFirstRow(x, y) })

onEachStore('tilecouch load', backend => {
  let db
  beforeEach(async () => { db = await backend.database() })

  it('loads editions and publishes the store; info and get show its content', async () => {
    const firstRun = await tilecouch('load', await writeFolder('one', firstEdition),
      '-l', 'osm', '-t', '2021', '--title', 'First', '--ttl', '7d', '--db', db)
    assert.equal(firstRun.code, 0, firstRun.err)
    assert.match(firstRun.out, /64 tiles .*\n {2}64 written/)
    const secondRun = await tilecouch('load', await writeFolder('two', secondEdition),
      '-l', 'osm', '-t', '2022-01-01', '--complete', '--db', db, '--json')
    assert.equal(secondRun.code, 0, secondRun.err)
    const { advanced, unchanged, gone, failed, time } = JSON.parse(secondRun.out)
    assert.deepEqual({ advanced, unchanged, gone, failed, time },
      { advanced: 15, unchanged: 49, gone: 8, failed: 0, time: T2 })
    await checkLoaded(db, [...firstEdition, ...secondEdition])

    const info = JSON.parse((await tilecouch('info', 'osm', '--db', db, '--json')).out)
    assert.deepEqual([info.stats.tiles, info.stats.versions, info.minzoom, info.maxzoom, info.ttl, info.format],
      [56, 79, 4, 4, 604800, 'png'])
    assert.deepEqual(info.bounds.map(Math.round), [-180, 0, 0, 85])
    assert.deepEqual(info.editions.map(
      ({ time: editionTime, title, complete, finished }) => [editionTime, title, complete, Boolean(finished)]
    ), [[T1, 'First', false, true], [T2, undefined, true, true]])
    assert.match((await tilecouch('info', '--db', db)).out, /osm .* 56 .* 79/)
    const history = await tilecouch('info', 'osm', '4/7/3', '--db', db)
    assert.match(history.out, /2021-01-01T00:00:00Z.*image\/png.*\n2022-01-01T00:00:00Z.*gone.*current/)

    for (const [reference, place, seed] of /** @type {const} */ (
      [['osm@2021', '4/7/3', 7 * 8 + 3], ['osm', '4/1/0', 101]])) {
      assert.equal((await tilecouch('get', reference, place, '-o', fileOf('tile.png'), '--db', db)).code, 0)
      assert.deepEqual(await readFile(fileOf('tile.png')), png(seed))
    }
    assert.equal((await request(`${as(db)}/_design/tiles/_rewrite/osm/4/1/0.png`)).status, 200, 'everybody reads')
  }).timeout(60000)

  it('loads MBTiles with their metadata, and counts their rows from the south', async () => {
    const file = fileOf(`${backend.name}.mbtiles`)
    const sqlite = new Database(file)
    sqlite.exec(`CREATE TABLE metadata (name TEXT, value TEXT);
      CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
      CREATE TABLE images (tile_id TEXT, tile_data BLOB);
      CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
      CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data
        FROM map JOIN images ON images.tile_id = map.tile_id;
      INSERT INTO metadata VALUES ('name', 'Town'), ('attribution', 'me'), ('format', 'png');`)
    for (const { z, x, y, bytes } of firstEdition) {
      sqlite.prepare('INSERT INTO map VALUES (?, ?, ?, ?)').run(z, x, 2 ** z - 1 - y, `${x}/${y}`)
      sqlite.prepare('INSERT INTO images VALUES (?, ?)').run(`${x}/${y}`, bytes)
    }
    sqlite.close()
    const { code, err } = await tilecouch('load', file, '-l', 'osm', '-t', T1, '--db', db)
    assert.equal(code, 0, err)
    await checkLoaded(db, firstEdition)
    const layer = await (await Store.open(db)).layer('osm')
    assert.deepEqual([layer.name, layer.attribution], ['Town', 'me'])
  }).timeout(60000)

  it('stores the good tiles, names the bad ones, and exits 1', async () => {
    const badFolder = await writeFolder(`bad-${backend.name}`, firstEdition)
    await writeFile(path.join(badFolder, '4/0/0.png'), png(1).subarray(0, 200))
    await writeFile(path.join(badFolder, '4/0/1.png'), '<!doctype html><title>404</title>')
    await writeFile(path.join(badFolder, '4/0/2.png'), '')
    await mkdir(path.join(badFolder, '4/99'))
    await writeFile(path.join(badFolder, '4/99/1.png'), png(1))
    await rm(path.join(badFolder, '4/0/3.png'))
    await mkdir(path.join(badFolder, '4/0/3.png')) // unreadable as a file, for root too
    const { code, out } = await tilecouch('load', badFolder, '-l', 'osm', '-t', T1, '--db', db)
    assert.equal(code, 1)
    for (const line of ['osm:4:0:0 .*[TRUNCATED_IMAGE]', 'osm:4:0:1 .*[UNKNOWN_IMAGE]',
      'osm:4:0:2 .*[EMPTY_IMAGE]', 'osm:4:0:3 .*[SOURCE_UNREADABLE]', 'osm:4:99:1 .*[BAD_TILE]']) {
      assert.match(out, new RegExp(line.replace('[', '\\[').replace(']', '\\]')))
    }
    await checkLoaded(db, firstEdition.filter(({ x, y }) => x > 0 || y > 3))
  })

  it('exits 130 on Ctrl-C, and continues when the time of the stopped load is given', async () => {
    const large =
      await writeFolder('many', square({ layer: 'osm', time: T1, z: 6, side: 40, seed: (x, y) => x * 40 + y }))
    const load = startCommand(['load', large, '-l', 'osm', '--db', db, '--batch', '20', '--store-concurrency', '1'])
    await until(async () => (await json(db).catch(() => ({}))).doc_count > 100, { what: 'a hundred tiles' })
    load.child.kill('SIGINT')
    const stopped = await load.ended
    assert.equal(stopped.code, 130, stopped.err)
    assert.match(stopped.out, /stopped/)
    assert.match(stopped.err, /\[ABORTED\]/)
    const [unfinished] = await (await Store.open(db)).editions('osm')
    assert.equal(unfinished.finished, undefined)
    assert.ok(stopped.err.includes(`--time ${unfinished.time}`), 'it says how to go on')
    const resumed = await tilecouch('load', large, '-l', 'osm', '--db', db, '--time', unfinished.time, '--json')
    assert.equal(resumed.code, 0, resumed.err)
    const summary = JSON.parse(resumed.out)
    assert.ok(summary.unchanged >= 100 && summary.created > 0)
    assert.equal((await (await Store.open(db)).editions('osm')).length, 1)
  }).timeout(60000)

  it('starts an edition of its own beside an unfinished one with the same source name', async () => {
    const store = await Store.create(db)
    const [T3, T4] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
    await store.putEdition('osm', T3,
      { source: await writeFolder('nightly', firstEdition), complete: false, started: T4 })
    const { code, out } =
      await tilecouch('load', await writeFolder('nightly', firstEdition), '-l', 'osm', '--db', db, '--json')
    assert.equal(code, 0)
    assert.ok(JSON.parse(out).time > T4, 'it is an edition of its own')
  })

  it('refuses a database with other documents, and writes nothing to it', async () => {
    await request(db, { method: 'PUT' })
    await put(`${db}/invoice-1`, { total: 5 })
    const { code, err } = await tilecouch('load', await writeFolder('one', firstEdition), '-l', 'osm', '--db', db)
    assert.equal(code, 1)
    assert.match(err, /invoice-1.*\[NOT_A_STORE\]/)
    assert.equal((await json(db)).doc_count, 1)
  })

  it('prints an error code for wrong arguments, sources and databases', async () => {
    const tiles = await writeFolder('one', firstEdition)
    await writeFile(fileOf('fake.mbtiles'), 'this is not SQLite, whatever its name says')
    await mkdir(fileOf('empty'), { recursive: true })
    const wrongCalls = [
      [['load', fileOf('nowhere'), '-l', 'osm'], 'SOURCE_NOT_FOUND'],
      [['load', fileOf('fake.mbtiles'), '-l', 'osm'], 'SOURCE_UNREADABLE'],
      [['load', bin, '-l', 'osm'], 'SOURCE_UNKNOWN'], [['load', fileOf('empty'), '-l', 'osm'], 'SOURCE_EMPTY'],
      [['load', tiles, '-l', 'Osm!'], 'BAD_LAYER'],
      [['load', tiles, '-l', 'layer'], 'BAD_LAYER'],
      [['load', tiles, '-l', 'osm', '-t', 'yesterday'], 'BAD_TIME'],
      [['load', tiles, '-l', 'osm', '-t', '2021-02-30'], 'BAD_TIME'],
      [['load', tiles, '-l', 'osm', '-z', '9-3'], 'BAD_ZOOM'],
      [['load', tiles, '-l', 'osm', '--bbox', '1,2'], 'BAD_BBOX'],
      [['load', tiles, '-l', 'osm', '--ttl', 'soon'], 'BAD_DURATION'],
      [['load', tiles, '-l', 'osm', '--batch', '-3'], 'BAD_OPTION'],
      [['load', tiles, '-l', 'osm', '--scheme', 'wms'], 'BAD_OPTION'],
      [['info', 'osm'], 'DATABASE_NOT_FOUND', `${db}_missing`], [['info'], 'BAD_DATABASE', 'http://localhost/No Such'],
      [['get', 'osm', '99/0/0', '-o', fileOf('x')], 'BAD_TILE'], [['info'], 'UNREACHABLE', 'http://127.0.0.1:9/tiles']
    ]
    await Store.create(db)
    for (const [args, code, target = db] of wrongCalls) {
      const { code: exitCode, err } = await tilecouch(...args, '--db', target)
      assert.equal(exitCode, 1, args.join(' '))
      assert.match(err, new RegExp(`\\[${code}\\]`), args.join(' '))
    }
  }).timeout(120000)
})

describe('tilecouch without --db', () => {
  it('loads into the embedded store of --data, and reads from it', async () => {
    const tiles = await writeFolder('one', firstEdition)
    const runHere = (...args) => startCommand([...args, '--data', 'store'], { cwd: folder }).ended
    assert.equal((await runHere('load', tiles, '-l', 'osm', '-t', T1)).code, 0)
    assert.match((await runHere('info')).out, /osm .* 64/)
    assert.deepEqual((await runHere('get', 'osm', '4/0/5', '-o', '-')).bytes, png(5))
  }).timeout(60000)
})
