// The MBTiles files of exports: their tables, metadata and hash, and how an unfinished file is resumed.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync, copyFileSync, existsSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { gzipSync } from 'node:zlib'
import Database from 'libsql'
import { flipY } from '../../core/index.js'
import { openTarget } from '../../loader/export/target.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { contentsOf, query } from '../support/exports.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-06-01T12:00:00Z']
const doc =
  { layer: 'osm', name: 'Streets', format: 'png', attribution: '© nobody', description: 'd', version: '7', ttl: 3600 }
const digestOf = bytes => `md5-${createHash('md5').update(bytes).digest('base64')}`
const tile = (z, x, y, bytes, fields = {}) =>
  ({ z, x, y, time: T1, type: 'image/png', bytes, digest: digestOf(bytes), size: bytes.length, ...fields })

describe('an MBTiles file that is written', () => {
  const folder = useFolder()
  const file = (name = 'a.mbtiles') => folder.path(name)

  const columns = table => query(file(), `SELECT name, type FROM pragma_table_info('${table}')`)
    .map(({ name, type }) => `${name} ${type}`)
  const metadata = () =>
    Object.fromEntries(query(file(), 'SELECT name, value FROM metadata').map(({ name, value }) => [name, value]))

  const open = (options = {}) => openTarget(file(options.name), { layer: 'osm', doc, run: 'run', ...options })

  async function write (tiles, options) {
    const target = await open(options)
    for (const version of tiles) if (!target.resumed || !await target.has(version)) await target.add(version)
    return { ...await target.finish(), facts: target.facts }
  }

  /** Writes tiles and stops, which leaves the same unfinished file as SIGKILL: the committed tiles. */
  async function writePart (tiles, options) {
    const target = await open(options)
    for (const version of tiles) await target.add(version)
    await target.stop()
  }

  it('counts rows from the south, and stores equal images once, with their MD5 as id', async () => {
    const { size, distinct } = await write([tile(1, 0, 0, png(1)), tile(1, 0, 1, png(2)), tile(2, 3, 0, png(1))])
    assert.deepEqual([distinct, size], [2, readFileSync(file()).length])
    const rows = query(file(), 'SELECT zoom_level z, tile_column x, tile_row y, tile_id id FROM map ORDER BY 1, 2, 3')
    const md5 = seed => createHash('md5').update(png(seed)).digest('hex').toUpperCase()
    assert.deepEqual(rows.map(({ z, x, y, id }) => [z, x, y, id]), [[1, 0, 0, md5(2)], [1, 0, 1, md5(1)],
      [2, 3, 3, md5(1)]])
    assert.deepEqual(await contentsOf(file()), new Map([['1/0/0', png(1)], ['1/0/1', png(2)], ['2/3/0', png(1)]]))
    assert.equal(query(file(), 'SELECT tile_hash FROM tiles_with_hash').length, 3)
  })

  it('has the tables by which programs recognise MBTiles, and their unique index', async () => {
    await write([tile(1, 0, 0, png(1))])
    assert.deepEqual(columns('map'),
      ['zoom_level INTEGER', 'tile_column INTEGER', 'tile_row INTEGER', 'tile_id TEXT', 'time INTEGER'])
    assert.deepEqual(columns('images'), ['tile_id TEXT', 'tile_data BLOB'])
    assert.deepEqual(columns('metadata'), ['name TEXT', 'value TEXT'])
    assert.deepEqual(columns('tiles').map(column => column.split(' ')[0]),
      ['zoom_level', 'tile_column', 'tile_row', 'tile_data'])
    const [{ name }] = query(file(), "SELECT name FROM pragma_index_list('map') WHERE [unique] = 1")
    assert.deepEqual(query(file(), `SELECT name FROM pragma_index_info('${name}')`).map(row => row.name),
      ['zoom_level', 'tile_column', 'tile_row'])
    assert.deepEqual(query(file(), "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
      .map(row => row.name), ['images', 'map', 'metadata'], 'nothing of the work is left')
    assert.equal(query(file(), 'PRAGMA application_id')[0].application_id, 0x4d504258)
    assert.equal(query(file(), 'PRAGMA integrity_check')[0].integrity_check, 'ok')
    const plan = query(file(),
      'EXPLAIN QUERY PLAN SELECT tile_data FROM tiles WHERE zoom_level = 1 AND tile_column = 0 AND tile_row = 1')
      .map(({ detail }) => detail).join('; ')
    assert.match(plan, /SEARCH map USING INDEX.*SEARCH images USING INDEX/, 'a tile is found by indexes')
  })

  it('has the description of the layer, zooms, bounds and time in its metadata', async () => {
    await write([tile(0, 0, 0, png(1)), tile(2, 0, 1, png(2)), tile(2, 1, 1, png(3), { time: T2 })])
    const { bounds, center, agg_tiles_hash: hash, ...otherValues } = metadata()
    assert.match(hash, /^[0-9A-F]{32}$/)
    assert.deepEqual(otherValues, {
      name: 'Streets', format: 'png', type: 'baselayer', minzoom: '0',
      maxzoom: '2', attribution: '© nobody', description: 'd', version: '7', 'tilecouch:time': T2
    })
    assert.deepEqual(bounds.split(',').map(value => +(+value).toFixed(4)), [-180, 0, 0, 66.5133])
    assert.deepEqual(center.split(',').map(value => +(+value).toFixed(4)), [-90, 33.2566, 2])
    await write([tile(0, 0, 0, png(1))],
      { force: true, doc: { ...doc, bounds: [1, 2, 3, 4], center: [2, 3, 0] }, time: T2 })
    const givenValues = metadata()
    assert.deepEqual([givenValues.bounds, givenValues.center, givenValues['tilecouch:time']], ['1,2,3,4', '2,3,0', T2])
  })

  it('has a center inside bounds that cross the antimeridian: the one of the layer, or their middle', async () => {
    const bounds = [177, -20, -178, -15]
    const tiles = [tile(0, 0, 0, png(1)), tile(12, 4090, 2250, png(2))]
    const expectedCenters = [[undefined, '179.5,-17.5,8'], [[179, -18, 6], '179,-18,6'], [[-179, -18, 6], '-179,-18,6'],
      [[176, -18, 6], '179.5,-17.5,8'], [[-177, -18, 6], '179.5,-17.5,8']]
    for (const [center, expected] of expectedCenters) {
      await write(tiles, { force: true, doc: { ...doc, bounds, center } })
      assert.deepEqual([metadata().bounds, metadata().center], ['177,-20,-178,-15', expected])
    }
    await write(tiles, { force: true, doc: { ...doc, bounds: [179, -20, -174, -15] } })
    assert.equal(metadata().center, '-177.5,-17.5,7')
  })

  it('has the same agg_tiles_hash as martin for the same tiles', async () => {
    // the tiles of a file of martin's tests, and the hash that its tool computes
    const texts = ['3/6/7 root', '5/0/0 same', '5/0/1 ', '5/1/1 edit-v1', '5/1/2 ', '5/1/3 non-empty',
      '5/2/2 remove', '5/2/3 ', '6/0/3 same', '6/0/5 1-keep-1-rm', '6/1/4 edit-v1', '6/2/6 1-keep-1-rm']
    const tiles = texts.map(text => {
      const [, z, x, row, data] = /^(\d+)\/(\d+)\/(\d+) (.*)$/.exec(text)
      return tile(+z, +x, flipY(+z, +row), Buffer.from(data))
    })
    for (const cache of [false, true]) {
      await write(tiles, { cache, force: true })
      assert.equal(metadata().agg_tiles_hash, '9ED9178D7025276336C783C2B54D6258')
    }
    await write(Array.from({ length: 250 }, (_, y) => tile(8, 0, y, png(y))), { force: true })
    const wholeHash = createHash('md5')
    for (let row = 6; row < 256; row++) wholeHash.update(`80${row}`).update(png(255 - row))
    assert.equal(metadata().agg_tiles_hash, wholeHash.digest('hex').toUpperCase(), 'over several pages')
  })

  it('keeps vector tiles gzipped, with a description of their layers', async () => {
    const bytes = gzipSync(Buffer.from([0x1a, 2, 0x78, 1]))
    const layers = [{ id: 'water', fields: { name: 'String' } }]
    await write([tile(1, 0, 0, bytes, { type: 'application/vnd.mapbox-vector-tile' })],
      { doc: { layer: 'osm', vector_layers: layers } })
    const values = metadata()
    assert.deepEqual([values.format, JSON.parse(values.json), values.name], ['pbf', { vector_layers: layers }, 'osm'])
    assert.deepEqual((await contentsOf(file())).get('1/0/0'), bytes)
  })

  it('has the times of fetch and expiry of each tile when it is a cache for martin', async () => {
    const fields = { stored: '2022-01-01T00:00:00Z', origin: { url: 'x', etag: '"abc"' } }
    await write([tile(1, 0, 0, png(1), { ...fields, expires: '2022-01-02T00:00:00Z' }),
      tile(1, 0, 1, png(1), fields), tile(1, 1, 0, png(1))], { cache: true, doc: { ...doc, ttl: 60 } })
    assert.deepEqual(query(file(), 'SELECT fetched, expires, etag FROM tile_cache ORDER BY ' +
      'tile_column, tile_row').map(row => [row.fetched, row.expires, row.etag]), [
      [1640995200, 1640995260, '"abc"'], [1640995200, 1641081600, '"abc"'], [null, null, null]])
    for (const column of ['fetched INTEGER', 'expires INTEGER', 'etag TEXT', 'tile_data BLOB']) {
      assert.ok(columns('tile_cache').includes(column), column)
    }
    assert.equal((await contentsOf(file())).size, 3)
    assert.equal(query(file(), "SELECT count(*) AS n FROM sqlite_master WHERE name IN ('map', 'images')")[0].n,
      0, 'which martin would take it for')
  })

  for (const cache of [false, true]) {
    const kind = cache ? ' of a cache' : ''

    it(`is resumed${kind} with the same versions, and has only the tiles that were added again`, async () => {
      const [first, old, extra] = [tile(1, 0, 0, png(1)), tile(1, 0, 1, png(2)), tile(1, 1, 0, png(3))]
      await writePart([first, old, extra], { cache })
      assert.deepEqual(readdirSync(folder.dir).filter(name => !name.endsWith('journal')), ['a.mbtiles.part'])
      const target = await open({ cache })
      assert.equal(target.resumed, true)
      const changed = tile(1, 0, 1, png(9), { time: T2 })
      const candidates = [first, changed, tile(1, 1, 1, png(1))]
      assert.deepEqual(await Promise.all(candidates.map(candidate => target.has(candidate))), [true, false, false])
      await target.add(changed)
      await target.finish()
      assert.deepEqual(await contentsOf(file()), new Map([['1/0/0', png(1)], ['1/0/1', png(9)]]))
      assert.equal(target.facts.tiles, 2)
      if (!cache) assert.equal(query(file(), 'SELECT count(*) AS n FROM images')[0].n, 2, 'no other image is left')
      assert.deepEqual(readdirSync(folder.dir), ['a.mbtiles'])
      // resumed without calls of has()
      await writePart([tile(1, 0, 0, png(1))], { cache, force: true })
      const resumedTarget = await open({ cache, force: true })
      await resumedTarget.add(tile(1, 0, 0, png(1)))
      await resumedTarget.finish()
      assert.deepEqual(await contentsOf(file()), new Map([['1/0/0', png(1)]]))
    })
  }

  const part = () => file('a.mbtiles.part')
  const rewrite = change => () => writeFileSync(part(), change(readFileSync(part())))
  const execute = sql => () => {
    const db = new Database(part())
    db.exec(sql)
    db.close()
  }
  // options of the unfinished file, damage to it, and options of the next export
  for (const [condition, firstOptions, damage, secondOptions] of [
    ['is of another export', { run: 'a' }, () => {}, { run: 'b' }],
    ['is of a cache', { cache: true }, () => {}],
    ['is of no cache', {}, () => {}, { cache: true }],
    ['is cut off', {}, rewrite(bytes => bytes.subarray(0, 100))],
    ['is empty', {}, rewrite(() => Buffer.alloc(0))],
    ['is no database', {}, rewrite(() => Buffer.from('x'.repeat(9999)))],
    ['lacks some bytes', {}, rewrite(bytes => Buffer.concat([bytes.subarray(0, 30), bytes.subarray(50)]))],
    ['has a trigger', {}, execute('CREATE TRIGGER harm AFTER INSERT ON map BEGIN DELETE FROM map; END')],
    ['has a view', {}, execute('ALTER TABLE part RENAME TO own; CREATE VIEW part AS WITH RECURSIVE n (run) AS ' +
      '(SELECT 1 UNION ALL SELECT run + 1 FROM n) SELECT max(run) AS run FROM n')],
    ['is a link', {}, () => {
      rmSync(part())
      symlinkSync(file('elsewhere'), part())
    }]
  ]) {
    it(`is begun again when the unfinished file ${condition}`, async () => {
      await writePart([tile(1, 0, 0, png(1))], firstOptions)
      damage()
      const target = await open(secondOptions)
      assert.equal(Boolean(target.resumed), false)
      await target.add(tile(1, 1, 1, png(3)))
      await target.finish()
      assert.deepEqual(await contentsOf(file()), new Map([['1/1/1', png(3)]]))
      assert.deepEqual(readdirSync(folder.dir), ['a.mbtiles'])
    })
  }

  it('cannot be finished when a tile was added twice', async () => {
    const target = await open()
    await target.add(tile(1, 0, 0, png(1)))
    await target.add(tile(1, 0, 0, png(2)))
    await assert.rejects(target.finish(), /UNIQUE/)
    await target.stop()
    assert.ok(!existsSync(file()))
    await write([tile(1, 0, 0, png(1))])
    assert.deepEqual(await contentsOf(file()), new Map([['1/0/0', png(1)]]))
  })

  it('can be read in a read-only folder', async () => {
    await write([tile(1, 0, 0, png(1))])
    copyFileSync(file(), file('copy.mbtiles'))
    chmodSync(file(), 0o444)
    chmodSync(folder.dir, 0o555)
    try {
      const db = new Database(`file:${file()}?mode=ro`)
      assert.equal(db.prepare('SELECT count(*) AS n FROM tiles').get([]).n, 1)
      assert.equal(db.prepare('PRAGMA journal_mode').get([]).journal_mode, 'delete')
      db.close()
    } finally {
      chmodSync(folder.dir, 0o755)
    }
  })
})
