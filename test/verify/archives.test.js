// Tests checks of MBTiles files and PMTiles archives: sound ones, and ones with each kind of damage.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import Database from 'libsql'
import { flipY, parseArea } from '../../core/index.js'
import { TIME_FACTOR } from '../../bench/wait.js'
import { useFolder } from '../support/folder.js'
import { directory, layOut, varint, writeArchive } from '../sources/archive-writers.js'
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
  const file = () => folder.path('city.mbtiles')

  /** Writes four by four tiles of zoom 3, then applies a change. */
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

  /** Changes the file that `make` wrote. */
  const edit = async change => {
    const db = new Database(file())
    await change(db)
    db.close()
  }

  it('finds nothing in a sound file, in one that stores equal images once, and in vector tiles', async () => {
    const { said, summary } = await findings(await make())
    assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], 'mbtiles', 16, 16])
    const metadata =
      { ...METADATA, format: 'pbf', json: JSON.stringify({ vector_layers: [{ id: 'water', fields: {} }] }) }
    for (const how of [{ schema: DEDUPLICATED }, { metadata, bytes: vectorTile }, { metadata, bytes: rawVectorTile }]) {
      writeFileSync(file(), '') // empties the file
      const other = await findings(await make(how))
      assert.deepEqual([other.said, other.summary.tiles], [[], 16])
    }
  })

  // values in a list: libsql takes a single Buffer for named parameters
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
    'invalid bounds': [run("UPDATE metadata SET value = '1,2,3' WHERE name = 'bounds'"), ['bad-metadata metadata']],
    'an invalid center': [run("UPDATE metadata SET value = '500,0' WHERE name = 'center'"), ['bad-metadata metadata']],
    'an unknown format': [run("UPDATE metadata SET value = 'gif89' WHERE name = 'format'"), ['bad-metadata metadata']],
    'a metadata zoom that is no number': [run("UPDATE metadata SET value = 'deep' WHERE name = 'maxzoom'"),
      ['bad-metadata metadata']]
  }
  for (const [name, [change, expected]] of Object.entries(damage)) {
    it(`finds ${name}, and nothing else`, async () => {
      await make()
      await edit(change)
      assert.deepEqual((await findings(file())).said, expected)
    })
  }

  it('treats a row without data as a gone tile if the file is a diff', async () => {
    const target =
      await make({ metadata: { ...METADATA, agg_tiles_hash_after_apply: 'x' }, change: update('tile_data = NULL') })
    const { said, summary } = await findings(target)
    assert.deepEqual([said, summary.tiles, summary.checked.gone], [[], 15, 1])
  })

  it('checks only the given area and zooms', async () => {
    const target = await make({ change: update('tile_data = NULL') })
    const { said, summary } = await findings(target, { area: parseArea({ bbox: [-180, 50, -136, 80] }) })
    assert.deepEqual([said, summary.tiles > 0 && summary.tiles < 8], [[], true])
    assert.deepEqual((await findings(target, { zooms: { min: 4, max: 5 } })).said, ['no-tiles ' + target])
  })

  it('counts rows from the north with --scheme xyz, and stops with ABORTED when its signal aborts', async () => {
    const target = await make({ metadata: { ...METADATA, bounds: '-180,0,0,85' } })
    assert.deepEqual((await findings(target)).said, [])
    assert.equal((await findings(target, { scheme: 'xyz' })).summary.kinds['outside-bounds'], 16)
    const stop = new AbortController()
    const stopped = findings(file(), { signal: stop.signal })
    stop.abort()
    await assert.rejects(stopped, { code: 'ABORTED' })
  })

  it('reports files that are no database, have no tiles, or have damaged pages', async () => {
    folder.write({ 'page.mbtiles': '<html>'.repeat(100), 'empty.mbtiles': '' })
    const db = new Database(folder.path('other.mbtiles'))
    db.exec('CREATE TABLE points (x, y)')
    db.close()
    const kinds = async name => (await findings(folder.path(name))).found.map(({ code }) => code)
    assert.deepEqual(await kinds('page.mbtiles'), ['damaged-file'])
    assert.deepEqual([...new Set(await kinds('empty.mbtiles'))], ['bad-structure'])
    assert.deepEqual(await kinds('other.mbtiles'), ['bad-structure'])
    await make()
    const bytes = readFileSync(file())
    const size = bytes.readUInt16BE(16)
    bytes.fill(0xff, 2 * size + 20, 3 * size)
    writeFileSync(file(), bytes)
    const { summary } = await findings(file())
    assert.ok(summary.kinds['damaged-file'] > 0, JSON.stringify(summary.kinds))
  })
})

const MAP = { bounds: [-180, -85, 180, 85], center: [0, 0, 1] }

describe('verify of a PMTiles archive', () => {
  const folder = useFolder()
  const tiles = {}

  before(async () => {
    for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) tiles[`2/${x}/${y}`] = await tile(x === 3 ? 99 : x * 4 + y)
    for (let y = 0; y < 2; y++) for (let x = 0; x < 2; x++) tiles[`1/${x}/${y}`] = await tile(50 + x * 2 + y)
  })

  const check = (spec, options) => {
    folder.write({
      'a.pmtiles': Buffer.isBuffer(spec) ? spec : writeArchive({ tiles, ...spec, header: { ...MAP, ...spec.header } })
    })
    return findings(folder.path('a.pmtiles'), options)
  }
  const whole = () => writeArchive({ tiles, header: MAP })

  it('finds nothing in a sound archive, with leaf directories or without compression', async () => {
    const { said, summary } = await check({})
    assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], 'pmtiles', 20, 20])
    for (const archive of [{ leaf: 3 }, { pack: bytes => bytes }, { leaf: 5, pack: bytes => bytes }]) {
      const other = await check(archive)
      assert.deepEqual([other.said, other.summary.tiles], [[], 20])
    }
  })

  it('finds nothing in vector tiles, with or without gzip, whatever the header states', async () => {
    for (const [make, tilePacking] of [[vectorTile, 2], [rawVectorTile, 1]]) {
      const vectorTiles = Object.fromEntries(Object.keys(tiles).map((name, seed) => [name, make(seed)]))
      const { said, summary } =
        await check({ tiles: vectorTiles, metadata: { vector_layers: [] }, header: { type: 1, tilePacking } })
      assert.deepEqual([said, summary.checked.decoded], [[], 20])
    }
    const mixedTiles = { '1/0/0': vectorTile(1), '1/0/1': rawVectorTile(2), '1/1/0': rawVectorTile(3) }
    for (const tilePacking of [1, 2]) {
      const { said, summary } = await check({ tiles: mixedTiles, header: { type: 1, tilePacking } })
      assert.deepEqual([said, summary.checked.decoded], [[], 3])
    }
  })

  it('finds nothing in an archive that is not clustered', async () => {
    const { entries, data } = layOut(tiles)
    // writes the contents from the last to the first
    let end = data.length
    const newOffsets = new Map()
    const chunks = []
    let position = 0
    for (const offset of [...new Set(entries.map(entry => entry.offset))].sort((a, b) => b - a)) {
      chunks.push(data.subarray(offset, end))
      newOffsets.set(offset, position)
      position += end - offset
      end = offset
    }
    const root = gzipSync(directory(entries.map(entry => ({ ...entry, offset: newOffsets.get(entry.offset) }))))
    const scattered = { root, data: Buffer.concat(chunks) }
    const { said, summary } = await check({ ...scattered, header: { clustered: 0 } })
    assert.deepEqual([said, summary.tiles], [[], 20])
  })

  const HEADER_FAULTS = {
    'an unknown version': [{ version: 4 }, ['bad-structure header']],
    'an unknown compression': [{ tilePacking: 9 }, ['bad-structure header']],
    'invalid bounds': [{ bounds: [-180, 80, 180, -80] }, ['bad-metadata header']],
    'bounds that leave tiles out': [{ bounds: [1, 1, 90, 80] }, ['outside-bounds']],
    'a center beyond the poles': [{ center: [0, 95, 1] }, ['bad-metadata header']],
    'fewer entries than there are': [{ entries: 3 }, ['damaged-file']],
    'fewer zooms than there are': [{ maxzoom: 1 }, ['outside-zooms']],
    'another type than the tiles have': [{ type: 3 }, ['mixed-formats']],
    'a section beyond the end': [{ dataLength: 1e9 }, ['bad-structure header']],
    'a section at an offset beyond any file': [{ dataOffset: 2 ** 60 }, ['bad-structure']],
    'sections that overlap': [{ metadataOffset: 130 }, ['bad-metadata metadata', 'bad-structure header']],
    'a root directory too far from the beginning': [{ rootOffset: 20000 }, ['bad-structure header', 'damaged-file']],
    'a root directory of no bytes': [{ rootLength: 0 }, ['no-tiles']],
    'no metadata': [{ metadataLength: 0 }, ['bad-metadata metadata']]
  }
  for (const [name, [header, expected]] of Object.entries(HEADER_FAULTS)) {
    it(`finds ${name}, and nothing else`, async () => {
      const { found } = await check({ header })
      const kinds = found.map(({ code, where }) => expected.includes(code) ? code : `${code} ${where}`)
      assert.deepEqual([...new Set(kinds)].sort(), expected)
    })
  }

  /** Makes an invalid directory from columns of steps, runs, lengths and offsets. */
  const columns = (...lists) => gzipSync(Buffer.concat([varint(lists[0].length), ...lists.flat().map(varint)]))
  const LENGTH = 300
  const DIRECTORY_FAULTS = {
    'a directory that is cut off': [columns([1, 1], [1, 1]), 'damaged-file'],
    'a directory that claims a billion entries': [
      gzipSync(Buffer.concat([varint(1e9), Buffer.alloc(100)])), 'damaged-file'
    ],
    'a directory that is no gzip': [Buffer.from('not gzip at all, but long enough to be'), 'damaged-file'],
    'a directory with bytes behind its end': [
      gzipSync(Buffer.concat([directory([{ id: 1, run: 1, length: 10, offset: 0 }]), Buffer.alloc(3)])), 'bad-structure'
    ],
    'an empty directory': [columns([]), 'no-tiles'],
    'a first entry that refers to a previous one': [columns([1], [1], [9], [0]), 'damaged-file'],
    'two entries of one tile': [columns([5, 0], [1, 1], [9, 9], [1, 0]), 'duplicate-tile'],
    'a run that reaches over the next tile': [columns([5, 2], [4, 1], [9, 9], [1, 0]), 'duplicate-tile'],
    'an entry of no bytes': [columns([5, 1], [1, 1], [0, 9], [1, 1]), 'bad-structure'],
    'an entry beyond the data': [columns([5], [1], [9], [1e12]), 'bad-structure'],
    'a tile of a zoom that is too deep': [columns([2 ** 54], [1], [9], [1]), 'damaged-file'],
    'a run longer than the world': [columns([5], [2 ** 53], [9], [1]), 'damaged-file'],
    'a missing leaf directory': [columns([5], [0], [9], [1]), 'bad-structure']
  }
  for (const [name, [root, code]] of Object.entries(DIRECTORY_FAULTS)) {
    it(`finds ${name}`, async () => {
      const { summary } = await check(
        { root, data: Buffer.alloc(LENGTH, 1), header: { addressed: 0, entries: 0, contents: 0, maxzoom: 30 } }
      )
      assert.ok(summary.kinds[code] > 0, JSON.stringify(summary.first))
    })
  }

  it('warns of directories in three levels, and of unused bytes between them', async () => {
    const entry = { id: 5, run: 1, length: tiles['2/0/0'].length, offset: 0 }
    const inner = gzipSync(directory([entry]))
    const outer = gzipSync(directory([{ id: 5, run: 0, length: inner.length, offset: 0 }]))
    const root = gzipSync(directory([{ id: 5, run: 0, length: outer.length, offset: inner.length }]))
    const leaves = Buffer.concat([inner, outer, Buffer.alloc(9)])
    const header = { addressed: 0, entries: 0, contents: 0 }
    const { said } = await check({ root, leaves, data: tiles['2/0/0'], header })
    assert.deepEqual(said, ['odd-structure leaf directory of tile id 5', 'unused-bytes leaf directories'])
  })

  it('ends soon at leaf directories that refer to themselves or to one another', async () => {
    const plain = bytes => bytes
    const refersTo = length => ({ run: 0, length, offset: 0 })
    const leaf = directory([{ id: 1, ...refersTo(10) }, { id: 2, ...refersTo(10) }])
    const loop = directory([{ id: 1, ...refersTo(leaf.length) }, { id: 2, ...refersTo(leaf.length) }])
    const started = performance.now()
    const { summary } = await check({ pack: plain, root: loop, leaves: leaf, header: { packing: 1 } })
    assert.ok(summary.kinds['bad-structure'] > 0)
    // each of many leaves points to all of them
    const many = directory(
      Array.from({ length: 1000 }, (_, index) => ({ id: index + 1, run: 0, length: 4000, offset: index })))
    await check({ pack: plain, root: many, leaves: Buffer.alloc(5e6, many), header: { packing: 1 } })
    assert.ok(performance.now() - started < 10000 * TIME_FACTOR)
  })

  it('finds damaged tiles, and continues with the others; finds that an archive was cut off anywhere', async () => {
    const damagedTiles =
      { ...tiles, '2/1/1': await undecodable(1), '2/0/3': Buffer.from('<html>'), '1/0/0': await image('jpeg') }
    assert.deepEqual((await check({ tiles: damagedTiles })).said,
      ['mixed-formats 1/0/0', 'undecodable-tile 2/1/1', 'unknown-format 2/0/3'])
    const bytes = whole()
    for (const length of [0, 50, 126, 127, 200, bytes.length - 5000, bytes.length - 1]) {
      const { summary } = await check(bytes.subarray(0, length))
      assert.ok(summary.faults > 0, `${length} bytes`)
    }
  })

  it('finds metadata that are no JSON object, and refuses MapLibre tiles', async () => {
    assert.match((await check({ header: { type: 6 } })).found[0].why ?? '', /MapLibre tiles/)
    const bytes = whole()
    const findingsFor = async metadata => (await check({ metadata })).said
    assert.deepEqual(await findingsFor([1]), ['bad-metadata metadata'])
    assert.deepEqual(await findingsFor(null), ['bad-metadata metadata'])
    bytes[Number(bytes.readBigUInt64LE(24)) + 12] ^= 0xff
    assert.deepEqual((await check(bytes)).said, ['bad-metadata metadata'])
  })

  it('checks only the given area and zooms', async () => {
    const otherTiles = { ...tiles, '2/3/3': Buffer.from('<html>') }
    assert.deepEqual((await check({ tiles: otherTiles }, { zooms: { min: 1, max: 1 } })).summary.tiles, 4)
    const { said, summary } =
      await check({ tiles: otherTiles }, { area: parseArea({ bbox: [-170, 10, -100, 60] }), zooms: { min: 2, max: 2 } })
    assert.deepEqual([said, summary.tiles], [[], 1])
  })

  it('asks for an area if a run has a thousand million tiles, and checks that area', async () => {
    const root =
      gzipSync(directory([{ id: (4 ** 16 - 1) / 3 + 5e8, run: 1e9, length: tiles['2/0/0'].length, offset: 0 }]))
    const archive = { root, data: tiles['2/0/0'], header: {
      addressed: 0, entries: 0, contents: 0, minzoom: 16, maxzoom: 16, center: [0, 0, 16], bounds: [-180, -86, 180, 86]
    } }
    const { found } = await check(archive)
    assert.match(found[0].why ?? '', /more than \d+ tiles: say which/)
    const { summary } = await check(archive, { area: parseArea({ bbox: [-170, 10, -169, 11] }) })
    assert.deepEqual([summary.faults, summary.tiles > 0], [0, true])
  })
})
