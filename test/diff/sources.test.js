// Diffs of other programs as sources of a load, and files that are no diffs.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import Database from 'libsql'
import { compareIds, flipY, load, openSource, tileId } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { TIMES, openStore, remember, shownAt } from '../support/diff-model.js'

// as martin's `mbtiles diff` makes them, for each kind of file
const FLAT = 'CREATE TABLE tiles (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT ' +
  'NULL, tile_data BLOB, PRIMARY KEY (zoom_level, tile_column, tile_row))'
const WITH_HASH =
  `CREATE TABLE tiles_with_hash
    (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB, tile_hash TEXT);
  CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles_with_hash`
const NORMALISED =
  `CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
  CREATE TABLE images (tile_id TEXT PRIMARY KEY, tile_data BLOB);
  CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data
    FROM map JOIN images ON map.tile_id = images.tile_id`
const HASHES = {
  agg_tiles_hash_before_apply: '84792BF4EE9AEDDC5B1A60E707011FEE',
  agg_tiles_hash_after_apply: '578FB5BD64746C39E3D344662947FD0D',
  agg_tiles_hash: '6A51FC6A9048BE033C08CDDEC0D028AC', description: null
}

const kinds = {
  flat: { schema: FLAT, insert: (db, z, x, row, bytes) => db.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
    .run(z, x, row, bytes) },
  'flat with hashes': { schema: WITH_HASH, insert: (db, z, x, row, bytes) =>
    db.prepare('INSERT INTO tiles_with_hash VALUES (?, ?, ?, ?, ?)').run(z, x, row, bytes, '') },
  normalised: {
    schema: NORMALISED,
    insert (db, z, x, row, bytes) {
      db.prepare('INSERT OR IGNORE INTO images VALUES (?, ?)').run(bytes ? `${z}/${x}/${row}` : '', bytes)
      db.prepare('INSERT INTO map VALUES (?, ?, ?, ?)').run(z, x, row, bytes ? `${z}/${x}/${row}` : '')
    }
  }
}

const CHANGES = { '4/1/9': png(7), '4/10/2': null, '4/2/1': png(8), '4/10/10': null, '10/1/1': null }
const sortedTiles = Object.keys(CHANGES)
  .sort((a, b) => compareIds(tileId('l', ...a.split('/')), tileId('l', ...b.split('/'))))

async function use (file, options, action) {
  const source = await openSource(file, options)
  try {
    return await action(source)
  } finally {
    await source.close()
  }
}

async function listOf (source) {
  const tiles = []
  for await (const { z, x, y, gone, read } of source.tiles()) tiles.push([`${z}/${x}/${y}`, gone ? null : await read()])
  return tiles
}

describe('a diff as a source', () => {
  const folder = useFolder()

  function mbtiles ({ kind = 'flat', metadata = HASHES, changes = CHANGES } = {}) {
    const file = folder.path('changes.mbtiles')
    const db = new Database(file)
    db.exec(`${kinds[kind].schema}; CREATE TABLE metadata (name TEXT NOT NULL PRIMARY KEY, value TEXT)`)
    for (const [name, value] of Object.entries(metadata)) {
      db.prepare('INSERT INTO metadata VALUES (?, ?)').run(name, value)
    }
    for (const [tile, bytes] of Object.entries(changes)) {
      const [z, x, y] = tile.split('/').map(Number)
      kinds[kind].insert(db, z, x, flipY(z, y), bytes)
    }
    db.close()
    return file
  }

  for (const kind of Object.keys(kinds)) {
    it(`of martin lists gone tiles: ${kind}`, () => use(mbtiles({ kind }), {}, async source => {
      assert.equal(source.diff, true)
      assert.deepEqual(await listOf(source), sortedTiles.map(tile => [tile, CHANGES[tile]]))
    }))
  }

  it('is recognised by either hash in its metadata; without one, rows without bytes are empty tiles', async () => {
    for (const metadata of [{ agg_tiles_hash_before_apply: 'x' }, { agg_tiles_hash_after_apply: null }]) {
      await use(mbtiles({ metadata }), {}, async source => assert.equal(source.diff, true))
      rmSync(folder.path('changes.mbtiles'))
    }
    await use(mbtiles({ metadata: { agg_tiles_hash: 'x', name: 'city' } }), {}, async source => {
      assert.ok(!source.diff)
      assert.deepEqual((await listOf(source)).map(([tile, bytes]) => [tile, bytes?.length]),
        sortedTiles.map(tile => [tile, CHANGES[tile]?.length ?? 0]), 'there, with no bytes')
    })
  })

  it('that contains patches of tiles is refused', async () => {
    const file = mbtiles()
    const db = new Database(file)
    db.exec('CREATE TABLE bsdiffraw (zoom_level, tile_column, tile_row, patch_data, tile_xxh3_64_hash)')
    db.close()
    await assert.rejects(openSource(file), { code: 'ARCHIVE_INVALID', message: /bsdiffraw.*--patch-type whole/ })
  })

  /** A folder with CHANGES. */
  const tree = (list = '4/10/2\n4/10/10\n10/1/1\n', moreFiles = {}) =>
    folder.write({ 'gone.txt': list, '4/1/9.png': png(7), '4/2/1.png': png(8), ...moreFiles })

  it('in a folder has a list of gone tiles, in any order, and only those of given zooms and box', async () => {
    for (const list of ['4/10/2\n4/10/10\n10/1/1\n', '10/1/1\r\n\r\n4/10/10\r\n4/10/2',
      '  4/10/10 \n10/1/1\n4/10/2\n4/10/10\n']) {
      await use(tree(list), {}, async source => {
        assert.equal(source.diff, true)
        assert.deepEqual(await listOf(source), sortedTiles.map(tile => [tile, CHANGES[tile]]))
        assert.equal((await listOf(source)).length, sortedTiles.length, 'again')
      })
    }
    const tilesOf = async options => (await use(tree(), options, listOf)).map(([tile]) => tile)
    assert.deepEqual(await tilesOf({ zooms: { min: 10, max: 10 } }), ['10/1/1'])
    assert.deepEqual(await tilesOf({ bbox: [45, 60, 67, 80] }), ['4/10/2'])
  })

  it('may be a folder with only a list, even an empty one; the list has the scheme of the files', async () => {
    assert.deepEqual(await use(folder.write({ 'gone.txt': '1/0/1\n' }), {}, listOf), [['1/0/1', null]])
    await use(folder.write({ 'gone.txt': '' }), {},
      async source => assert.deepEqual([source.diff, await listOf(source)], [true, []]))
    const tiles = await use(folder.write({ 'gone.txt': '4/10/2\n', '4/10/3.png': png(1) }), { scheme: 'tms' }, listOf)
    assert.deepEqual(tiles.map(([tile, bytes]) => [tile, bytes === null]), [['4/10/12', false], ['4/10/13', true]])
  })

  it('with an invalid list is refused, and the wrong line is named', async () => {
    for (const [list, pattern] of [
      ['4/1/1\n4/1\n', /gone\.txt.*line 2 is "4\/1"/], ['4/99/1\n', /line 1 is "4\/99\/1"/],
      ['4/-1/0', /line 1/], ['\n\n../../etc\n', /line 3/], ['x'.repeat(1e6), /line 1/], ['\0\0\0\n', /line 1/]
    ]) await assert.rejects(openSource(tree(list)), { code: 'ARCHIVE_INVALID', message: pattern })
    rmSync(folder.path('gone.txt'))
    mkdirSync(folder.path('gone.txt'))
    await assert.rejects(openSource(folder.dir), { code: 'SOURCE_UNREADABLE', message: /gone\.txt/ })
  })

  it('whose export was stopped has no list yet, and is refused: it would be taken for a whole layer', async () => {
    const mark = JSON.stringify({ layer: 'osm', scheme: 'xyz', diff: { since: '2021-01-01T00:00:00Z' } })
    const stoppedExport = folder.write({ '.tilecouch.json': mark, '4/1/9.png': png(7) })
    await assert.rejects(openSource(stoppedExport), { code: 'ARCHIVE_INVALID', message: /was stopped/ })
    folder.write({ '.tilecouch.json': mark.slice(0, -1) })
    await assert.rejects(openSource(stoppedExport), { code: 'SOURCE_UNREADABLE', message: /\.tilecouch\.json/ })
  })

  it('that lists an existing image as gone fails for that tile only', async () => {
    const results = []
    await use(tree('4/2/1\n10/1/1\n', { '4/2/1.jpg': png(9) }), {}, async source => {
      for await (const { z, x, y, gone, read } of source.tiles()) {
        const failure = gone ? 'gone' : await Promise.resolve().then(read).then(() => 'read', error => error.code)
        results.push(`${z}/${x}/${y} ${failure}`)
      }
    })
    assert.deepEqual(results, ['10/1/1 gone', '4/1/9 read', '4/2/1 ARCHIVE_INVALID', '4/2/1 ARCHIVE_INVALID'])
  })
})

onEachStore('loading a diff of another program', backend => {
  const folder = useFolder()
  const [T1, T2] = TIMES
  const steps = Object.keys(CHANGES).concat('0/0/0')
    .map(tile => { const [z, x, y] = tile.split('/').map(Number); return { z, x, y, time: T1, seed: 1 } })

  it('writes changed tiles, marks gone ones, and leaves the others', async () => {
    const store = await openStore(backend)
    await remember(store, 'osm', steps)
    const dir = folder.write({ 'gone.txt': '4/10/2\n4/10/10\n10/1/1\n', '4/1/9.png': png(7), '4/2/1.png': png(8) })
    const summary = await use(dir, {}, source => load(store, source, { layer: 'osm', time: T2 }))
    assert.deepEqual([summary.advanced, summary.gone, summary.failed], [5, 3, 0])
    const tiles = new Map()
    for await (const { z, x, y, bytes } of store.fetch(store.list('osm'))) tiles.set(`${z}:${x}:${y}`, bytes)
    assert.deepEqual(tiles, new Map([['0:0:0', png(1)], ['4:1:9', png(7)], ['4:2:1', png(8)]]))
    assert.equal(shownAt(steps).size, 6)

    await assert.rejects(use(dir, {}, source => load(store, source, { layer: 'osm', time: '2025', complete: true })),
      { code: 'BAD_OPTION', message: /it is a diff/ })
    const emptyLoad = await use(folder.write({ 'empty/gone.txt': '' }) + '/empty',
      {}, source => load(store, source, { layer: 'osm', time: '2025' }))
    assert.deepEqual([emptyLoad.tiles, emptyLoad.failed], [0, 0])
  })

  it('treats rows without bytes as failures if the file is no diff', async () => {
    const store = await openStore(backend)
    await remember(store, 'osm', steps)
    const file = folder.path('damaged.mbtiles')
    const db = new Database(file)
    db.exec(`${FLAT}; INSERT INTO tiles VALUES (0, 0, 0, NULL)`)
    db.close()
    const summary = await use(file, {}, source => load(store, source, { layer: 'osm', time: T2 }))
    assert.deepEqual([summary.failed, summary.gone, summary.failures[0].code], [1, 0, 'EMPTY_IMAGE'])
    assert.deepEqual((await store.head('osm', 0, 0, 0)).bytes, png(1))
  })
})
