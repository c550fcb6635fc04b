// MBTiles files as a source: layouts of other programs, damaged files, and values of any type.
import assert from 'node:assert/strict'
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import Database from 'libsql'
import { openSource } from '../../loader/load/sources/index.js'
import { childrenOf, filesOf } from '../support/processes.js'
import { tilesOf, withSource } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { tilesByName } from '../support/archives.js'
import { tileListOf, writeMbtiles } from '../sources/archive-writers.js'

// some images are equal
const images = { '0/0/0': 'sea', '1/0/1': 'sea', '2/3/0': 'land', '10/100/5': 'town', '10/2/10': 'sea' }

describe('an MBTiles file', () => {
  const folder = useFolder()

  const make = ({ name = 'city.mbtiles', metadata, tiles = images } = {}) =>
    writeMbtiles(folder.path(name), tileListOf(tiles), metadata)

  const using = async (file, use) => withSource(await openSource(file), use)

  const views = {
    'planetiler, compact': `CREATE TABLE tiles_shallow
        (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data_id INTEGER,
        PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID;
      CREATE TABLE tiles_data (tile_data_id INTEGER PRIMARY KEY, tile_data BLOB);
      INSERT INTO tiles_shallow SELECT zoom_level, tile_column, tile_row, rowid FROM own;
      INSERT INTO tiles_data SELECT rowid, tile_data FROM own;
      CREATE VIEW tiles AS SELECT tiles_shallow.zoom_level AS zoom_level, tiles_shallow.tile_column AS tile_column,
        tiles_shallow.tile_row AS tile_row, tiles_data.tile_data AS tile_data
      FROM tiles_shallow JOIN tiles_data ON tiles_shallow.tile_data_id = tiles_data.tile_data_id`,
    'OpenMapTiles, equal images once': `
      CREATE TABLE map (zoom_level, tile_column, tile_row, tile_id TEXT, grid_id TEXT);
      CREATE TABLE images (tile_data BLOB, tile_id TEXT);
      CREATE UNIQUE INDEX images_id ON images (tile_id);
      INSERT INTO map SELECT zoom_level, tile_column, tile_row, hex(tile_data), NULL FROM own;
      INSERT INTO images SELECT DISTINCT tile_data, hex(tile_data) FROM own;
      CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column,
        map.tile_row AS tile_row, images.tile_data AS tile_data
      FROM map JOIN images ON images.tile_id = map.tile_id`,
    'several tables, in an order': `CREATE VIEW tiles AS WITH low AS (SELECT * FROM own WHERE zoom_level < 5)
      SELECT * FROM low UNION ALL SELECT CAST(zoom_level AS INTEGER), abs(tile_column), coalesce(tile_row, 0), tile_data
      FROM own WHERE zoom_level >= 5 ORDER BY 1, 2`
  }
  for (const [kind, view] of Object.entries(views)) {
    it(`is read when its tiles are a view: ${kind}`, () => {
      const file = make()
      const db = new Database(file)
      db.exec(`ALTER TABLE tiles RENAME TO own; ${view}`)
      db.close()
      return using(file, async source => assert.deepEqual(await tilesByName(source), images))
    })
  }

  it('is refused when its metadata are damaged, because they may say that it is a diff', async () => {
    const file = make({ metadata: { name: 'City', 'agg_tiles_hash_after_apply': 'x' } })
    const db = new Database(file)
    const [[page]] = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'metadata'").raw().all()
    const [[size]] = db.prepare('PRAGMA page_size').raw().all()
    db.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xff, (page - 1) * size, page * size))
    await assert.rejects(openSource(file), { code: 'SOURCE_UNREADABLE' })
  })

  it('is read when its name has special characters', async () => {
    for (const name of ['a b.mbtiles', 'a#b?c=d.mbtiles', '100%.mbtiles', 'ü.MBTILES', 'x.sqlite']) {
      await using(make({ name, tiles: { '0/0/0': 'x' } }), async source => {
        assert.deepEqual(await tilesOf(source), ['0/0/0'])
        assert.equal(source.name, name)
      })
    }
  })

  it('is not changed, and no file is left beside it, also in a read-only folder', async () => {
    const file = make()
    const bytesBefore = readFileSync(file)
    chmodSync(file, 0o444)
    chmodSync(folder.dir, 0o555)
    try {
      await using(file, async source => assert.equal((await tilesOf(source)).length, 5))
    } finally {
      chmodSync(folder.dir, 0o755)
    }
    assert.deepEqual(readFileSync(file), bytesBefore)
    assert.deepEqual(readdirSync(folder.dir), ['city.mbtiles'])
  })

  it('is opened read-only, by another process', function () {
    if (!childrenOf(process.pid)) this.skip() // only Linux shows how a file was opened
    const file = make()
    return using(file, async source => {
      await tilesOf(source)
      const [reader] = childrenOf(process.pid, 'sqlite')
      const openFiles = filesOf(reader).filter(({ name }) => name === file)
      assert.ok(openFiles.length > 0)
      for (const { flags } of openFiles) assert.match(flags, /0$/, 'O_RDONLY')
    })
  })

  it('is refused when it is not SQLite, is cut off, or has no tiles', async () => {
    const db = new Database(folder.path('other.mbtiles'))
    db.exec('CREATE TABLE points (x, y)')
    db.close()
    folder.write(
      { 'page.mbtiles': '<html>not found</html>'.repeat(50), 'empty.mbtiles': '', 'half.mbtiles': readFileSync(make())
        .subarray(0, 3000) }
    )
    for (const name of ['other', 'page', 'empty', 'half']) {
      const file = folder.path(`${name}.mbtiles`)
      const refusal = { code: 'SOURCE_UNREADABLE', message: new RegExp(`${name}\\.mbtiles`) }
      await assert.rejects(name === 'half' ? using(file, tilesOf) : openSource(file), refusal)
      assert.deepEqual(childrenOf(process.pid, 'sqlite') ?? [], [], 'no process is left that reads it')
    }
  })

  it('is read without a crash when its rows hold values of any type', async () => {
    // SQLite can hold texts that are not UTF-8; reading them as texts would abort the binding
    const junk = "CAST(x'ff80' AS TEXT)"
    const file = folder.path('junk.mbtiles')
    const db = new Database(file)
    db.exec(`CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data);
      CREATE TABLE metadata (name, value);
      INSERT INTO metadata VALUES
        ('name', 'Town'), (${junk}, 'x'), ('attribution', ${junk}), ('description', NULL), (NULL, 1.5);
      INSERT INTO tiles VALUES
        (1, 0, 1, x'0102'), (${junk}, 0, 0, x'00'), (2, ${junk}, 0, x'00'), (2, 1, ${junk}, x'00'),
        (3, 0, 0, ${junk}), (NULL, NULL, NULL, NULL), ('4', '5', '6', x'03'), (1.5, 0, 0, x'04'),
        (-1, -1, -1, x'05'), (9223372036854775807, 9223372036854775807, -9223372036854775808, x'06'),
        (3, 1000000000000, 7, x'07'), (x'ff', 0, 0, x'08')`)
    db.close()
    const source = await openSource(file)
    assert.equal(source.fields.name, 'Town')
    const bytesByTile = {}
    for await (const { z, x, y, read } of source.tiles()) bytesByTile[`${z}/${x}/${y}`] = [...await read()]
    assert.deepEqual(bytesByTile['1/0/0'], [1, 2])
    assert.deepEqual(bytesByTile['3/0/7'], [0xff, 0x80])
    await source.close()
  })
})
