// A command that reads a hostile file, whose SQL takes years, ends at a signal and leaves no process running.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import Database from 'libsql'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { flipY } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'
import { json, onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkLoaded } from '../support/invariants.js'
import { childrenOf, isRunning, workOf } from '../support/processes.js'
import { square } from '../support/tiles.js'
import { startCommand } from '../support/command.js'

const SOON = 5000 // milliseconds, on a busy machine
const WORK = 1 // seconds of processor time: starting a process takes less
const TIME = '2024-01-01T00:00:00Z'
const TABLES = `CREATE TABLE own (zoom_level, tile_column, tile_row, tile_data);
  CREATE TABLE many (n); INSERT INTO many SELECT value FROM json_each('[${Array.from({ length: 1000 }, (_, n) => n)}]')`
const YEARS = 'FROM many a, many b, many c, many d, many e' // SQLite needs years for it

const start = (...args) => startCommand(args)

onEachStore('a command on a hostile file', backend => {
  const folder = useFolder()
  const tiles = square({ layer: 'osm', time: TIME, z: 5, side: 16, seed: (x, y) => x * 16 + y })
  let db
  beforeEach(async function () {
    this.timeout(60000)
    if (!childrenOf(process.pid)) this.skip() // only Linux lists the processes
    db = await backend.database()
  })

  /** Creates an MBTiles file with the tiles, and with a view that may take years. */
  function makeFile (name, view) {
    const file = folder.path(name)
    const sqlite = new Database(file)
    sqlite.exec(`${TABLES}; BEGIN`)
    const insert = sqlite.prepare('INSERT INTO own VALUES (?, ?, ?, ?)')
    for (const { z, x, y, bytes } of tiles) insert.run([z, x, flipY(z, y), bytes])
    sqlite.exec(`COMMIT; CREATE VIEW tiles AS ${view}`)
    sqlite.close()
    return file
  }

  const views = {
    'listing the zooms': `SELECT a.n & 1 AS zoom_level, 0 AS tile_column, 0 AS tile_row, x'00' AS tile_data ${YEARS}`,
    'reading ahead, and writing': `SELECT zoom_level, tile_column, tile_row, CASE WHEN tile_column <> 9 THEN ` +
      `tile_data ELSE (SELECT sum(a.n + own.tile_column) ${YEARS}) END AS tile_data FROM own`
  }

  /** Waits until the child process that reads the file is busy, and returns its id. */
  async function readerOf (child) {
    let reader
    await until(() => child.exitCode !== null || ([reader] = childrenOf(child.pid)).length && workOf(reader) > WORK,
      { timeout: 30000, what: 'a process that reads' })
    return reader
  }

  for (const [phase, view] of Object.entries(views)) {
    for (const signal of ['SIGINT', 'SIGTERM']) {
      it(`exits 130 on ${signal} while ${phase}, and leaves no process`, async () => {
        const { child, ended } = start('load', makeFile('years.mbtiles', view), '-l', 'osm', '-t', TIME, '--db', db)
        const reader = await readerOf(child)
        const signalledAt = performance.now()
        child.kill(signal)
        const { code, err } = await ended
        assert.equal(code, 130, err)
        assert.match(err, /\[ABORTED\]/)
        assert.ok(performance.now() - signalledAt < SOON * TIME_FACTOR, `${performance.now() - signalledAt} ms`)
        assert.ok(!isRunning(reader))
      }).timeout(60000)
    }
  }

  it('stores the tiles that it read before it was stopped, and continues with a sound file', async () => {
    const { child, ended } =
      start('load', makeFile('years.mbtiles', views['reading ahead, and writing']), '-l', 'osm', '-t', TIME, '--db', db)
    await readerOf(child)
    child.kill('SIGINT')
    await ended
    assert.ok((await json(db)).doc_count > 50)
    const resumed = await start('load', makeFile('whole.mbtiles', 'SELECT * FROM own'),
      '-l', 'osm', '-t', TIME, '--db', db, '--json').ended
    assert.equal(resumed.code, 0, resumed.err)
    assert.ok(JSON.parse(resumed.out).unchanged > 50)
    assert.equal((await (await Store.open(db)).editions('osm')).length, 1)
    await checkLoaded(db, tiles)
  }).timeout(60000)

  it('leaves no process when a check is ended or killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL']) {
      const { child, ended } = start('check', makeFile(`${signal}.mbtiles`, views['listing the zooms']))
      const reader = await readerOf(child)
      child.kill(signal)
      const { code } = await ended
      assert.equal(code, signal === 'SIGTERM' ? 130 : null)
      await until(() => !isRunning(reader), { timeout: SOON, what: 'the end of what read it' })
    }
  }).timeout(60000)

  it('loads the images of a folder with pipes and links to devices, and names the others', async () => {
    const [tile] = tiles
    folder.write({ [`tiles/5/0/${tile.y}.png`]: tile.bytes })
    execFileSync('mkfifo', [folder.path('tiles/5/0/8.png')])
    symlinkSync('/dev/zero', folder.path('tiles/5/0/9.png'))
    symlinkSync('/etc/hostname', folder.path('tiles/5/0/10.png'))
    const { code, out, err } =
      await start('load', folder.path('tiles'), '-l', 'osm', '-t', TIME, '--db', db, '--json').ended
    const { created, failed, failures } = JSON.parse(out)
    assert.deepEqual([code, created, failed], [1, 1, 3], err)
    assert.deepEqual(failures.map(({ reason }) => /no regular file|leads out of the folder/.test(reason)),
      [true, true, true])
  }).timeout(60000)
})
