// Malicious SQLite files: the file is refused, or the tile fails, soon and in bounded memory. Reading such a file can
// be aborted at any time.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import Database from 'libsql'
import { until } from '../../bench/wait.js'
import { check, openSource } from '../../loader/index.js'
import { sourceLimits } from '../../loader/formats/reading.js'
import { tilesOf, useDefaults } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { childrenOf, isRunning, peakOf, workOf } from '../support/processes.js'
import { png } from '../support/tiles.js'

const TABLE = 'CREATE TABLE own (zoom_level, tile_column, tile_row, tile_data)'
const ENDLESS = 'WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers) SELECT'
// a query without recursion that takes years
const VAST =
  `CREATE TABLE many (n);
  INSERT INTO many SELECT value FROM json_each('[${Array.from({ length: 1000 }, (_, n) => n)}]');
  CREATE VIEW tiles AS SELECT a.n & 1 AS zoom_level, 0 AS tile_column, 0 AS tile_row, x'00' AS tile_data
    FROM many a, many b, many c, many d, many e`
const MAX_MEMORY = 1e9 // bytes
const MIN_CPU_SECONDS = 1 // starting takes less

describe('a hostile MBTiles file', function () {
  this.timeout(120000)
  const folder = useFolder()
  useDefaults(sourceLimits)
  before(function () { if (!childrenOf(process.pid)) this.skip() }) // only Linux lists child processes

  function make (sql, values = []) {
    const file = folder.path('city.mbtiles')
    const db = new Database(file)
    db.exec(`${TABLE}; INSERT INTO own VALUES (0, 0, 0, x'${png(1).toString('hex')}')`)
    db.exec(sql)
    for (const [statement, ...parameters] of values) db.prepare(statement).run(parameters)
    db.close()
    return file
  }

  /** Returns the size or error of each tile, and the peak memory of the reading process in bytes. */
  async function readAll (file) {
    const source = await openSource(file)
    const outcomeByTile = {}
    try {
      for await (const { z, x, y, read } of source.tiles()) {
        try {
          outcomeByTile[`${z}/${x}/${y}`] = (await read()).length
        } catch (error) {
          outcomeByTile[`${z}/${x}/${y}`] = `${error.code}: ${error.details.why}`
        }
      }
      return { found: outcomeByTile, peak: Math.max(...(childrenOf(process.pid) ?? []).map(peakOf), 0) }
    } finally {
      await source.close()
    }
  }

  for (const [title, sql] of Object.entries({
    'a view that never ends': `CREATE VIEW tiles AS ${ENDLESS} 1 AS zoom_level, n AS tile_column, 0 AS tile_row, ` +
      `x'00' AS tile_data FROM numbers`,
    'a view that never ends in one column': `CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, ` +
      `(${ENDLESS} max(n) FROM numbers) AS tile_data FROM own`,
    'a view that never ends within a view': `CREATE VIEW inner AS ${ENDLESS} n FROM numbers; CREATE VIEW tiles AS ` +
      `SELECT own.* FROM own, inner`,
    'metadata that never end': `CREATE VIEW tiles AS SELECT * FROM own; CREATE VIEW metadata AS ${ENDLESS} n AS ` +
      `name, n AS value FROM numbers`
  })) {
    it(`is refused for ${title}`, async () => {
      const file = make(sql)
      await assert.rejects(openSource(file), { code: 'ARCHIVE_INVALID', message: /recursive, and may never end/ })
      const { kinds } = await check(file)
      assert.deepEqual(kinds, { 'bad-structure': 1 })
    })
  }

  it('whose query takes years stops at once on abort, in a load and a check', async () => {
    const file = make(VAST)
    for (const work of [
      async signal => {
        const source = await openSource(file, { signal })
        await tilesOf(source).finally(() => source.close())
      },
      signal => check(file, { signal })
    ]) {
      const stop = new AbortController()
      const pendingWork = work(stop.signal)
      pendingWork.catch(() => {}) // asserted below
      const reader = await readerOf()
      await until(() => workOf(reader) > MIN_CPU_SECONDS, { timeout: 60000, what: 'a query that goes on and on' })
      stop.abort()
      await assert.rejects(pendingWork, { code: 'ABORTED' })
      assert.ok(!isRunning(reader))
    }
  })

  it('fails when its reader does not answer for too long', async () => {
    const source = await openSource(make(VAST)) // starting may take longer than this limit
    sourceLimits.silence = 1000
    await assert.rejects(tilesOf(source), { code: 'SOURCE_UNREADABLE', message: /no answer for 1 seconds/ })
    await source.close()
  })

  it('has tiles that would fill the memory: these fail, and the other tiles are read', async () => {
    const { found: outcomeByTile, peak } = await readAll(make(`CREATE VIEW tiles AS SELECT * FROM own
      UNION ALL SELECT 1, 0, 0, zeroblob(900000000)
      UNION ALL SELECT 1, 0, 1, randomblob(900000000)
      UNION ALL SELECT 1, 1, 0, printf('%900000000d', 1)`))
    assert.deepEqual(outcomeByTile, {
      '0/0/0': png(1).length,
      '1/0/0': 'ARCHIVE_INVALID: 1/0/0 cannot be read: it takes more than 256000000 bytes of memory',
      '1/0/1': 'ARCHIVE_INVALID: 1/0/1 cannot be read: it takes more than 256000000 bytes of memory',
      '1/1/1': 'ARCHIVE_INVALID: 1/1/1 cannot be read: it takes more than 256000000 bytes of memory'
    })
    assert.ok(peak < MAX_MEMORY, `${peak}`)
  })

  it('has a tile that is too long: that tile fails, and the longest possible tile is read', async () => {
    const { tile } = sourceLimits
    const { found: outcomeByTile } = await readAll(make(`INSERT INTO own VALUES (2, 0, 0, zeroblob(${tile + 1})),
      (2, 1, 0, zeroblob(${tile})); ALTER TABLE own RENAME TO tiles`))
    assert.deepEqual(outcomeByTile,
      { '0/0/0': png(1).length, '2/0/3': `ARCHIVE_INVALID: 2/0/3 has ${tile + 1} bytes`, '2/1/3': tile })
  })

  it('has many tiles just below the limit: few of them are in memory at once', async () => {
    const peakBefore = peakOf('self')
    const { found: outcomeByTile, peak } = await readAll(make(
      "CREATE TABLE many (n); INSERT INTO many SELECT value FROM json_each('[0,1,2,3,4,5,6,7]'); CREATE VIEW " +
        "tiles AS SELECT 5 AS zoom_level, 0 AS tile_column, n AS tile_row, zeroblob(60000000) AS tile_data FROM " +
        "many"
    ))
    assert.equal(Object.values(outcomeByTile).filter(size => size === 6e7).length, 8)
    assert.ok(peak < MAX_MEMORY && peakOf('self') < peakBefore + MAX_MEMORY,
      `${peak}, ${peakBefore} to ${peakOf('self')}`)
  })

  it('is checked in bounded memory', async () => {
    const file = make(`CREATE TABLE many (n); INSERT INTO many SELECT value FROM json_each('[0,1,2,3,4,5,6,7]');
      CREATE VIEW tiles AS SELECT 5 AS zoom_level, 0 AS tile_column, n AS tile_row, zeroblob(60000000) AS tile_data
        FROM many;
      CREATE TABLE metadata (name, value); INSERT INTO metadata VALUES ('agg_tiles_hash', 'x')`)
    const pendingCheck = check(file, {})
    const reader = await readerOf()
    let peak = 0
    const watch = setInterval(() => { peak = Math.max(peak, peakOf(reader)) }, 20)
    const { kinds } = await pendingCheck.finally(() => clearInterval(watch))
    assert.equal(kinds['unknown-format'], 8)
    assert.ok(peak < MAX_MEMORY, `${peak}`)
  })

  it('may have large metadata, and is refused when they are too large', async () => {
    const tiles = 'CREATE VIEW tiles AS SELECT * FROM own; CREATE TABLE metadata (name, value)'
    const layers =
      Array.from({ length: 1000 }, (_, index) => ({ id: `layer-${index}`, fields: { name: 'x'.repeat(1000) } }))
    const json = JSON.stringify({ vector_layers: layers, tilestats: 'x'.repeat(2e6) })
    const source = await openSource(make(tiles, [['INSERT INTO metadata VALUES (?, ?)', 'json', json]]))
    await source.close()
    assert.equal(source.fields.vector_layers.length, layers.length)
    for (const statement of ["INSERT INTO metadata VALUES ('name', zeroblob(20000000))",
      'INSERT INTO metadata SELECT a.value, b.value FROM json_each(:list) a, json_each(:list) b']) {
      const file = folder.path('city.mbtiles')
      const db = new Database(file)
      db.exec(statement.replaceAll(':list', `'[${Array.from({ length: 500 }, (_, n) => n)}]'`))
      db.close()
      await assert.rejects(openSource(file),
        { code: 'SOURCE_UNREADABLE', message: /metadata have more than 16000000 bytes/ })
      assert.ok((await check(file)).kinds['bad-metadata'])
    }
  })

  it('is refused when it has too many columns, or too many rows in a column', async () => {
    sourceLimits.names = 500
    for (const columns of ['n AS tile_column, 0 AS tile_row', '0 AS tile_column, n AS tile_row']) {
      const source = await openSource(make(
        `DROP VIEW IF EXISTS tiles; DROP TABLE IF EXISTS many; ${VAST.slice(0, VAST.indexOf('CREATE VIEW'))} ` +
          `CREATE VIEW tiles AS SELECT 1 AS zoom_level, ${columns}, x'00' AS tile_data FROM many; DROP TABLE own`
      ))
      await assert.rejects(tilesOf(source), { code: 'ARCHIVE_INVALID', message: /more than 500/ })
      await source.close()
    }
  })

  it('leaves no file beside it, also in WAL mode', async () => {
    const file = make('PRAGMA journal_mode = WAL; CREATE VIEW tiles AS SELECT * FROM own')
    const filesBefore = readdirSync(folder.dir)
    assert.deepEqual((await readAll(file)).found, { '0/0/0': png(1).length })
    assert.deepEqual(readdirSync(folder.dir), filesBefore)
  })

  /** Waits for the process that reads, and returns its id. */
  async function readerOf () {
    let reader
    await until(() => ([reader] = childrenOf(process.pid, 'sqlite')).length,
      { timeout: 60000, what: 'a process that reads' })
    return reader
  }
})
