import assert from 'node:assert/strict'
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'libsql'
import { compareIds, flipY, tileId } from '../../core/index.js'
import { openSource } from '../../loader/load/sources/index.js'
import { childrenOf, filesOf } from '../support/processes.js'
import { tilesOf, useFolder } from '../support/answering-server.js'

const PLAIN = 'CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)'
const DEDUPLICATED = `
  CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
  CREATE TABLE images (tile_data BLOB, tile_id TEXT);
  CREATE VIEW tiles AS SELECT map.zoom_level, map.tile_column, map.tile_row, images.tile_data
    FROM map JOIN images ON images.tile_id = map.tile_id`

const tiles = ['0/0/0', '1/0/1', '2/3/0', '2/3/3', '10/2/1', '10/2/10', '10/2/2', '10/100/5', '10/10/5']
const sorted = [...tiles].sort((a, b) => compareIds(tileId('l', ...a.split('/')), tileId('l', ...b.split('/'))))

describe('an MBTiles file', () => {
  const folder = useFolder()

  /** Writes a file and opens it as a source. Tiles are given in XYZ, and hold their own address. */
  function make ({ name = 'city.mbtiles', deduplicated = false, metadata, holds = tiles } = {}) {
    const file = path.join(folder.dir, name)
    const db = new Database(file)
    db.exec(deduplicated ? DEDUPLICATED : PLAIN)
    for (const tile of holds) {
      const [z, x, y] = tile.split('/').map(Number)
      const bytes = Buffer.from(deduplicated ? `image ${z}` : tile)
      if (deduplicated) {
        db.prepare('INSERT INTO map VALUES (?, ?, ?, ?)').run(z, x, flipY(z, y), `id${z}`)
        if (!db.prepare('SELECT 1 FROM images WHERE tile_id = ?').get(`id${z}`)) {
          db.prepare('INSERT INTO images VALUES (?, ?)').run(bytes, `id${z}`)
        }
      } else db.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)').run(z, x, flipY(z, y), bytes)
    }
    if (metadata) {
      db.exec('CREATE TABLE metadata (name TEXT, value TEXT)')
      for (const [key, value] of Object.entries(metadata)) {
        db.prepare('INSERT INTO metadata VALUES (?, ?)').run(key, value)
      }
    }
    db.close()
    return file
  }

  const using = async (file, options, use) => {
    const source = await openSource(file, options)
    try {
      return await use(source)
    } finally {
      await source.close()
    }
  }

  async function contents (source) {
    const found = []
    for await (const { z, x, y, read } of source.tiles()) found.push([`${z}/${x}/${y}`, String(await read())])
    return found
  }

  it('gives its tiles in the order of their ids, rows counted from the north', () => using(make(), {}, async source => {
    assert.deepEqual(await contents(source), sorted.map(tile => [tile, tile]))
    assert.deepEqual(await tilesOf(source), sorted, 'again')
    assert.equal(source.name, 'city.mbtiles')
  }))

  it('may store equal images once', () => using(make({ deduplicated: true }), {}, async source => {
    assert.deepEqual(await contents(source), sorted.map(tile => [tile, `image ${tile.split('/')[0]}`]))
  }))

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
    'OpenMapTiles, by names': `
      CREATE TABLE map (zoom_level, tile_column, tile_row, tile_id TEXT, grid_id TEXT);
      CREATE TABLE images (tile_data BLOB, tile_id TEXT);
      CREATE UNIQUE INDEX images_id ON images (tile_id);
      INSERT INTO map SELECT zoom_level, tile_column, tile_row, 'id' || rowid, NULL FROM own;
      INSERT INTO images SELECT tile_data, 'id' || rowid FROM own;
      CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column,
        map.tile_row AS tile_row, images.tile_data AS tile_data
      FROM map JOIN images ON images.tile_id = map.tile_id`,
    'of several tables, in an order': `CREATE VIEW tiles AS WITH low AS (SELECT * FROM own WHERE zoom_level < 5)
      SELECT * FROM low UNION ALL SELECT CAST(zoom_level AS INTEGER), abs(tile_column), coalesce(tile_row, 0), tile_data
      FROM own WHERE zoom_level >= 5 ORDER BY 1, 2`
  }
  for (const [kind, view] of Object.entries(views)) {
    it(`may have a view for tiles: ${kind}`, () => {
      const file = make()
      const db = new Database(file)
      db.exec(`ALTER TABLE tiles RENAME TO own; ${view}`)
      db.close()
      return using(file, {}, async source => assert.deepEqual(await contents(source), sorted.map(tile => [tile, tile])))
    })
  }

  it('whose writer forgot to flip rows is read with the scheme xyz', () => using(make({ holds: ['2/3/0'] }), {
    scheme: 'xyz'
  }, async source => {
    assert.deepEqual(await tilesOf(source), ['2/3/3'])
  }))

  it('gives only the zooms and the box that were asked for', async () => {
    const file = make()
    await using(file, { zooms: { min: 1, max: 2 } },
      async source => assert.deepEqual(await tilesOf(source), ['1/0/1', '2/3/0', '2/3/3']))
    await using(file, { bbox: [100, 70, 110, 80] },
      async source => assert.deepEqual(await tilesOf(source), ['0/0/0', '2/3/0']))
  })

  it('becomes the fields of a layer', async () => {
    const metadata = {
      name: 'City', format: 'pbf', bounds: '5.9,45.8,10.5,47.8', center: '8,46,7',
      minzoom: '0', maxzoom: '14', attribution: '©', description: 'd', type: 'overlay', version: '2',
      json: JSON.stringify({ vector_layers: [{ id: 'water', fields: { name: 'String' } }], tilestats: {} })
    }
    await using(make({ metadata }), {}, source => assert.deepEqual(source.fields, {
      name: 'City', format: 'pbf', bounds: [5.9, 45.8, 10.5, 47.8],
      center: [8, 46, 7], minzoom: 0, maxzoom: 14, attribution: '©', description: 'd', version: '2',
      vector_layers: [{ id: 'water', fields: { name: 'String' } }]
    }))
  })

  it('leaves out metadata that is wrong, and may have none', async () => {
    const metadata = { name: 'City', bounds: '1,2,3', center: 'x', minzoom: '', maxzoom: '99', json: '{', format: '' }
    await using(make({ metadata }), {}, source => {
      const { format, ...fields } = source.fields
      assert.deepEqual(fields, { name: 'City' })
    })
    await using(make({ name: 'bare.mbtiles' }), {}, source => assert.deepEqual(source.fields, {}))
  })

  it('is not taken for one without metadata when those are damaged: they may say that it is a diff', async () => {
    const file = make({ metadata: { name: 'City', 'agg_tiles_hash_after_apply': 'x' } })
    const db = new Database(file)
    const [[page]] = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'metadata'").raw().all()
    const [[size]] = db.prepare('PRAGMA page_size').raw().all()
    db.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xff, (page - 1) * size, page * size))
    await assert.rejects(openSource(file), { code: 'SOURCE_UNREADABLE' })
  })

  it('may be called anything', async () => {
    for (const name of ['a b.mbtiles', 'a#b?c=d.mbtiles', '100%.mbtiles', 'ü.MBTILES', 'x.sqlite']) {
      await using(make({ name, holds: ['0/0/0'] }), {},
        async source => assert.deepEqual(await tilesOf(source), ['0/0/0'], name))
    }
  })

  it('is only read: nothing is changed or left beside it, even where nothing may be written', async () => {
    const file = make()
    const before = readFileSync(file)
    chmodSync(file, 0o444)
    chmodSync(folder.dir, 0o555)
    try {
      await using(file, {}, async source => assert.equal((await tilesOf(source)).length, tiles.length))
    } finally {
      chmodSync(folder.dir, 0o755)
    }
    assert.deepEqual(readFileSync(file), before)
    assert.deepEqual(readdirSync(folder.dir), ['city.mbtiles'])
  })

  it('is opened for reading alone, by another process', function () {
    if (!childrenOf(process.pid)) this.skip() // only Linux shows how a file was opened
    const file = make()
    return using(file, {}, async source => {
      await tilesOf(source)
      const [reader] = childrenOf(process.pid, 'sqlite')
      const own = filesOf(reader).filter(({ name }) => name === file)
      assert.ok(own.length > 0)
      for (const { flags } of own) assert.match(flags, /0$/, 'O_RDONLY')
    })
  })

  it('must be SQLite, whole, and have tiles', async () => {
    const db = new Database(path.join(folder.dir, 'other.mbtiles'))
    db.exec('CREATE TABLE points (x, y)')
    db.close()
    folder.write(
      { 'page.mbtiles': '<html>not found</html>'.repeat(50), 'empty.mbtiles': '', 'half.mbtiles': readFileSync(make())
        .subarray(0, 3000) }
    )
    for (const name of ['other', 'page', 'empty', 'half']) {
      await assert.rejects(async () => using(path.join(folder.dir, `${name}.mbtiles`), {}, tilesOf), error => {
        assert.equal(error.code, 'SOURCE_UNREADABLE', `${name}: ${error.stack}`)
        assert.match(error.message, new RegExp(`${name}\\.mbtiles`))
        return true
      })
    }
  })

  it('may hold anything in any place: what is no tile is no end of the process', async () => {
    // SQLite keeps texts that are no UTF-8, at which the binding would abort
    const junk = "CAST(x'ff80' AS TEXT)"
    const file = path.join(folder.dir, 'junk.mbtiles')
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
    const found = {}
    for await (const { z, x, y, read } of source.tiles()) found[`${z}/${x}/${y}`] = [...await read()]
    assert.deepEqual(found['1/0/0'], [1, 2])
    assert.deepEqual(found['3/0/7'], [0xff, 0x80])
    await source.close()
  })
})
