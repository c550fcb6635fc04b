import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'libsql'
import { flipY, parseArea } from '../../core/index.js'
import { useFolder } from '../support/folder.js'
import { findings, image, rawVectorTile, tile, undecodable, vectorTile } from '../support/sample-tiles.js'

const METADATA = { name: 'City', format: 'png', minzoom: '3', maxzoom: '3', bounds: '-180,-85,180,85', center: '0,0,3' }
const PLAIN = 'CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)'
const DEDUPLICATED = `
  CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
  CREATE TABLE images (tile_data BLOB, tile_id TEXT);
  CREATE VIEW tiles AS SELECT map.zoom_level, map.tile_column, map.tile_row, images.tile_data
    FROM map JOIN images ON images.tile_id = map.tile_id`

describe('verify of an MBTiles file', () => {
  const folder = useFolder()
  const file = () => path.join(folder.dir, 'city.mbtiles')

  /** Eight by eight tiles of zoom 3, then whatever is done to them. */
  async function make ({ change = () => {}, metadata = METADATA, schema = PLAIN, bytes = tile } = {}) {
    const tiles = []
    for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) tiles.push({ x, y, data: await bytes(x * 8 + y) })
    const db = new Database(file())
    db.exec(schema)
    db.exec('CREATE TABLE metadata (name TEXT, value TEXT)')
    for (const [name, value] of Object.entries(metadata)) {
      db.prepare('INSERT INTO metadata VALUES (?, ?)').run(name, value)
    }
    for (const { x, y, data } of tiles) {
      if (schema === PLAIN) db.prepare('INSERT INTO tiles VALUES (3, ?, ?, ?)').run(x, flipY(3, y), data)
      else {
        db.prepare('INSERT INTO map VALUES (3, ?, ?, ?)').run(x, flipY(3, y), `id${x % 2}`)
        if (y === 0 && x < 2) db.prepare('INSERT INTO images VALUES (?, ?)').run(data, `id${x}`)
      }
    }
    change(db)
    db.close()
    return file()
  }

  /** Changes a file that was made. */
  const edit = async change => {
    const db = new Database(file())
    await change(db)
    db.close()
  }

  it('finds nothing in a sound file', async () => {
    const { said, summary } = await findings(await make())
    assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], 'mbtiles', 16, 16])
  })

  it('finds nothing in a file that stores equal images once', async () => {
    const { said, summary } = await findings(await make({ schema: DEDUPLICATED }))
    assert.deepEqual([said, summary.tiles], [[], 16])
  })

  it('finds nothing in vector tiles, with or without gzip', async () => {
    const metadata =
      { ...METADATA, format: 'pbf', json: JSON.stringify({ vector_layers: [{ id: 'water', fields: {} }] }) }
    for (const bytes of [vectorTile, rawVectorTile]) {
      assert.deepEqual((await findings(await make({ metadata, bytes }))).said, [])
      writeFileSync(file(), '') // the next begins anew
    }
  })

  // values in a list: libsql takes bytes that come alone for names of parameters
  const run = (sql, ...values) => db => db.prepare(sql).run(values)
  const update = (set, ...values) => run(`UPDATE tiles SET ${set} WHERE tile_column = 1 AND tile_row = 5`, ...values)
  const damage = {
    'a tile without data': [update('tile_data = NULL'), ['empty-tile 3/1/2']],
    'a tile of no bytes': [update("tile_data = x''"), ['empty-tile 3/1/2']],
    'a tile that is text': [update("tile_data = 'hello'"), ['unknown-format 3/1/2']],
    'a tile that cannot be decoded': [async db => update('tile_data = ?', await undecodable(1))(db),
      ['undecodable-tile 3/1/2']],
    'a tile of another format': [async db => update('tile_data = ?', await image('webp'))(db), ['mixed-formats 3/1/2']],
    'a vector tile among images': [update('tile_data = ?', vectorTile()), ['wrong-type 3/1/2']],
    'a row outside the pyramid': [update('tile_row = 8'), ['outside-pyramid 3/1/-1']],
    'a column that is negative': [update('tile_column = -1'), ['outside-pyramid 3/-1/2']],
    'a zoom that is text': [update("zoom_level = 'three'"), ['outside-pyramid three/1/5']],
    'a zoom of 31': [update('zoom_level = 31'), ['outside-pyramid 31/1/2147483642']],
    'two rows of one tile': [run('INSERT INTO tiles SELECT * FROM tiles WHERE tile_column = 1 AND tile_row = 5'),
      ['duplicate-tile 3/1/2']],
    'a tile outside of the zooms': [update('zoom_level = 4'), ['outside-zooms 4/1/10']],
    'two metadata rows of one name': [run("INSERT INTO metadata VALUES ('name', 'x')"), ['bad-metadata metadata']],
    'invalid bounds': [run("UPDATE metadata SET value = '1,2,3' WHERE name = 'bounds'"),
      ['bad-metadata metadata']],
    'an invalid center': [run("UPDATE metadata SET value = '500,0' WHERE name = 'center'"),
      ['bad-metadata metadata']],
    'an unknown format': [run("UPDATE metadata SET value = 'gif89' WHERE name = 'format'"),
      ['bad-metadata metadata']],
    'a metadata zoom that is no number': [run("UPDATE metadata SET value = 'deep' WHERE name = 'maxzoom'"),
      ['bad-metadata metadata']]
  }
  for (const [what, [change, expected]] of Object.entries(damage)) {
    it(`finds ${what}, and nothing else`, async () => {
      await make()
      await edit(change)
      assert.deepEqual((await findings(file())).said, expected)
    })
  }

  it('treats a row without data as a gone tile if the file is a diff', async () => {
    const made =
      await make({ metadata: { ...METADATA, agg_tiles_hash_after_apply: 'x' }, change: update('tile_data = NULL') })
    const { said, summary } = await findings(made)
    assert.deepEqual([said, summary.tiles, summary.checked.gone], [[], 15, 1])
  })

  it('checks only the given area and zooms', async () => {
    const made = await make({ change: update('tile_data = NULL') })
    const { said, summary } = await findings(made, { area: parseArea({ bbox: [-180, 50, -136, 80] }) })
    assert.deepEqual([said, summary.tiles > 0 && summary.tiles < 8], [[], true])
    assert.deepEqual((await findings(made, { zooms: { min: 4, max: 5 } })).said, ['no-tiles ' + made])
  })

  it('counts rows from the north with --scheme xyz', async () => {
    const made = await make({ metadata: { ...METADATA, bounds: '-180,0,0,85' } })
    assert.deepEqual((await findings(made)).said, [])
    assert.equal((await findings(made, { scheme: 'xyz' })).summary.kinds['outside-bounds'], 16)
  })

  it('reports files that are no database, or have no tiles', async () => {
    folder.write({ 'page.mbtiles': '<html>'.repeat(100), 'empty.mbtiles': '' })
    const db = new Database(path.join(folder.dir, 'other.mbtiles'))
    db.exec('CREATE TABLE points (x, y)')
    db.close()
    const kinds = async name => (await findings(path.join(folder.dir, name))).found.map(({ code }) => code)
    assert.deepEqual(await kinds('page.mbtiles'), ['damaged-file'])
    assert.deepEqual([...new Set(await kinds('empty.mbtiles'))], ['bad-structure'])
    assert.deepEqual(await kinds('other.mbtiles'), ['bad-structure'])
  })

  it('finds damaged pages of the database', async () => {
    await make()
    const bytes = readFileSync(file())
    const size = bytes.readUInt16BE(16)
    bytes.fill(0xff, 2 * size + 20, 3 * size)
    writeFileSync(file(), bytes)
    const { summary } = await findings(file())
    assert.ok(summary.kinds['damaged-file'] > 0, JSON.stringify(summary.kinds))
  })

  it('stops with ABORTED when its signal aborts', async () => {
    await make()
    const stop = new AbortController()
    const stopped = findings(file(), { signal: stop.signal })
    stop.abort()
    await assert.rejects(stopped, { code: 'ABORTED' })
  })
})
