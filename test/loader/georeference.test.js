// The report of a load about its tiles: their place, and warnings. Each warning is tested in both directions: that it
// appears, and that it does not.
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import sharp from 'sharp'
import { flipY, parseArea } from '../../core/index.js'
import { noiseTile } from '../../bench/tiles.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { loadFrom } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { writeMbtiles } from '../sources/archive-writers.js'
import { rawVectorTile } from '../support/sample-tiles.js'
import { pattern } from '../support/pattern.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const BERN = [7.3, 46.9, 7.5, 47]
const BERLIN = [13.2, 52.4, 13.5, 52.6]
const UGANDA = [30, -1, 34, 3.5]

const asRead = ({ z, x, y }) => [z, x, y]
const fromSouth = ({ z, x, y }) => [z, x, flipY(z, y)]
const rowsFirst = ({ z, x, y }) => [z, y, x]

/** The tilemapresource.xml that gdal2tiles writes beside its tiles. */
const tileMap = ([west, south, east, north], profile = 'mercator') =>
  `<?xml version="1.0" encoding="utf-8"?>\n<TileMap version="1.0.0"><BoundingBox minx="${west}" miny="${south}" ` +
    `maxx="${east}" maxy="${north}"/><TileSets profile="${profile}"></TileSets></TileMap>`

const image = (side, format = 'png') =>
  sharp({ create: { width: side, height: side, channels: 3, background: '#123456' } }).toFormat(format).toBuffer()

onEachStore('the report of a load about its tiles', backend => {
  const folder = useFolder()
  const fixture = useStore(backend)
  let store, url
  beforeEach(() => { ({ store, url } = fixture) })

  /** Writes the tiles of a box into a folder, and the files `beside` them. */
  function pyramid (name, bbox, {
    place = asRead, min = 3, max = 10, beside = {}, bytes = tile => png(tile.x + tile.y)
  } = {}) {
    const files = {}
    for (let z = min; z <= max; z++) {
      for (const tile of parseArea({ bbox }).tiles(z)) files[`${name}/${place(tile).join('/')}.png`] = bytes(tile)
    }
    folder.write(files)
    folder.write(Object.fromEntries(Object.entries(beside).map(([file, text]) => [`${name}/${file}`, text])))
    return folder.path(name)
  }

  const loadTiles = (name, { scheme, ...options } = {}) =>
    loadFrom(store, name, { layer: 'osm', time: T1, ...options }, { scheme, area: options.area, zooms: options.zooms })
  const codes = ({ warnings = [] }) => warnings.map(({ code }) => code)

  it('names the place, bounds, zooms, size and types of the tiles', async () => {
    const { where, warnings } = await loadTiles(pyramid('bern', BERN, { bytes: () => png(1), min: 0 }))
    assert.equal(warnings, undefined)
    assert.deepEqual([where.place, where.zooms, where.formats, where.tileSize, where.flipped],
      ['Switzerland, near Bern', { min: 0, max: 10 }, ['png'], undefined, undefined])
    assert.ok(where.bounds[0] < 7.3 && where.bounds[2] > 7.5 && where.bounds[1] < 46.9 && where.bounds[3] > 47)
    folder.write({ 'sized/0/0/0.png': await image(256) })
    assert.equal((await loadTiles(folder.path('sized'), { layer: 'sized' })).where.tileSize, 256)
    assert.match(JSON.stringify({ where }), /"place":"Switzerland, near Bern"/)
  })

  it('comes once after the first tiles, before the load ends', async () => {
    const events = []
    const name = pyramid('tms', BERN, { place: fromSouth, beside: { 'tilemapresource.xml': tileMap(BERN) }, max: 12 })
    const result = await loadTiles(name, {
      batch: 5,
      onFirstTiles: first => events.push(['first', first.where.place, codes(first)]),
      onProgress: () => events.push(['progress'])
    })
    assert.deepEqual(events.filter(([kind]) => kind === 'first'),
      [['first', 'the South Atlantic Ocean', ['ROWS_FLIPPED']]])
    assert.equal(events[0][0], 'first')
    assert.ok(events.length > 2)
    assert.deepEqual(codes(result), ['ROWS_FLIPPED'])
  })

  it('says whether the time comes from the option, the clock or the source', async () => {
    const name = pyramid('bern', BERN, { max: 4 })
    const starts = []
    const onBegin = ({ time, timeFrom }) => starts.push([time, timeFrom])
    assert.equal((await loadTiles(name, { onBegin })).timeFrom, 'option')
    assert.equal((await loadTiles(name, { onBegin, time: undefined })).timeFrom, 'clock')
    const dated =
      pyramid('dated', BERN, { max: 4, beside: { 'metadata.json': JSON.stringify({ 'tilecouch:time': T2 }) } })
    assert.equal((await loadTiles(dated, { onBegin, time: undefined })).timeFrom, 'source')
    assert.deepEqual(starts.map(([, from]) => from), ['option', 'clock', 'source'])
    assert.deepEqual([starts[0][0], starts[2][0]], [T1, T2])
  })

  describe('for rows that are counted from the wrong side', () => {
    const metadataFiles = {
      'the tilemapresource.xml of gdal2tiles': { 'tilemapresource.xml': tileMap(BERN) },
      'a metadata.json': { 'metadata.json': JSON.stringify({ bounds: BERN.join(',') }) },
      'a tilejson.json': { 'tilejson.json': JSON.stringify({ tilejson: '3.0.0', bounds: BERN, tiles: [] }) }
    }
    for (const [kind, beside] of Object.entries(metadataFiles)) {
      it(`warns when ${kind} contradicts the rows, and is silent when it agrees`, async () => {
        const { warnings: [warning, ...otherWarnings] } =
          await loadTiles(pyramid('tms', BERN, { place: fromSouth, beside }))
        assert.deepEqual([warning.code, otherWarnings], ['ROWS_FLIPPED', []])
        assert.match(warning.message, pattern(
          /as read, the tiles lie in the South Atlantic Ocean; counted from the other side, in Switzerland, near /,
          /Bern, and its metadata say so/
        ))
        assert.equal(warning.advice,
          `If so, remove this edition with \`tilecouch remove osm --edition ${T1}\`, and load it with --scheme tms.`)
        const north = pyramid('xyz', BERN, { beside })
        assert.deepEqual(codes(await loadTiles(north, { layer: 'north' })), [])
        assert.deepEqual(codes(await loadTiles(folder.path('tms'), { scheme: 'tms', layer: 'south' })), [])
        const { warnings: [second] } = await loadTiles(north, { scheme: 'tms', layer: 'other' })
        assert.match(second.advice, /load it with --scheme xyz\.$/)
      })
    }

    it('warns of MBTiles whose writer did not flip the rows, and of no other MBTiles', async () => {
      const tiles = [...parseArea({ bbox: BERN }).tiles(9)].map(tile => ({ ...tile, bytes: png(tile.y) }))
      const metadata = { bounds: BERN.join(',') }
      const right = writeMbtiles(folder.path('right.mbtiles'), tiles, metadata)
      const wrong = writeMbtiles(folder.path('wrong.mbtiles'),
        tiles.map(tile => ({ ...tile, y: flipY(9, tile.y) })), metadata)
      assert.deepEqual(codes(await loadTiles(right)), [])
      const { warnings: [warning] } = await loadTiles(wrong, { layer: 'wrong' })
      assert.equal(warning.code, 'ROWS_FLIPPED')
      assert.match(warning.advice, /--scheme xyz\.$/)
      assert.deepEqual(codes(await loadTiles(wrong, { layer: 'turned', scheme: 'xyz' })), [])
    })

    it('warns when only flipped rows would lie where the other editions of the layer lie', async () => {
      await loadTiles(pyramid('first', BERN))
      const { warnings: [warning] } = await loadTiles(pyramid('second', BERN, { place: fromSouth }), { time: T2 })
      assert.equal(warning.code, 'ROWS_FLIPPED')
      assert.match(warning.message, /and the other editions of the layer lie there$/)
      assert.match(warning.advice, /--scheme tms\. If the other editions are wrong, remove those\.$/)
      assert.deepEqual(codes(await loadTiles(pyramid('elsewhere', BERLIN), { time: '2025' })), [], 'a layer may grow')
    })

    it('does not compare an edition with itself', async () => {
      await loadTiles(pyramid('first', BERN, { place: fromSouth }))
      assert.deepEqual(codes(await loadTiles(pyramid('again', BERN))), [], 'it is corrected')
    })

    it('suggests a scheme when only flipped rows lie in the selected area', async () => {
      const area = parseArea({ bbox: BERN })
      const name = pyramid('tms', [6.5, 46.5, 8, 47.5], { place: fromSouth })
      await assert.rejects(loadTiles(name, { area }), {
        code: 'SOURCE_EMPTY',
        message: pattern(
          /as read, they lie not in this area, but in the South Atlantic Ocean; with rows counted from the other /,
          /side they lie in Switzerland/
        ),
        advice: 'Load it with --scheme tms.'
      })
      assert.equal((await loadTiles(name, { area, scheme: 'tms' })).failed, 0)
      const coarse = pyramid('coarse', [6.5, 46.5, 8, 47.5], { place: fromSouth, min: 0 })
      const { tiles, warnings } = await loadTiles(coarse, { area, layer: 'coarse' })
      assert.deepEqual([tiles, codes({ warnings })], [1, ['ROWS_FLIPPED']], 'the tile of zoom 0 is everywhere')
    })

    it('says where the tiles lie when none is in the area, and suggests no scheme', async () => {
      const berlin = pyramid('berlin', BERLIN, { min: 6 })
      await assert.rejects(loadTiles(berlin, { area: parseArea({ bbox: BERN }) }), error => {
        assert.match(error.message, /its tiles lie in Germany, near Berlin, at zooms 6 to 10, and not in this area/)
        assert.doesNotMatch(error.advice, /--scheme/)
        return true
      })
    })

    it('does not warn for a map on both sides of the equator, nor for tiles without bounds', async () => {
      const beside = { 'metadata.json': JSON.stringify({ bounds: UGANDA }) }
      assert.deepEqual(codes(await loadTiles(pyramid('uganda', UGANDA, { place: fromSouth, beside, max: 7 }))), [])
      const { where, warnings } = await loadTiles(pyramid('unknown', BERN, { place: fromSouth }), { layer: 'unknown' })
      assert.equal(warnings, undefined)
      assert.deepEqual([where.place, where.flipped], ['the South Atlantic Ocean', 'Switzerland, near Bern'],
        'but it says both')
    })
  })

  it('warns when columns and rows are exchanged, and not when the bounds are wrong', async () => {
    const beside = { 'metadata.json': JSON.stringify({ bounds: BERN }) }
    const { warnings: [warning, ...otherWarnings] } =
      await loadTiles(pyramid('zyx', BERN, { place: rowsFirst, beside }))
    assert.deepEqual([warning.code, otherWarnings], ['AXES_SWAPPED', []])
    assert.match(warning.message, /z\/y\/x instead of z\/x\/y.*exchanged, in Switzerland, near Bern/)
    assert.match(warning.advice, /rename the files to z\/x\/y/)
    assert.deepEqual(codes(await loadTiles(pyramid('other', BERLIN, { beside }), { layer: 'other' })),
      [], 'metadata that are wrong')
  })

  it('warns when tiles are in an unknown grid, and stores a known grid in the layer', async () => {
    const beside = { 'tilemapresource.xml': tileMap(BERN, 'raster') }
    const { warnings: [warning] } = await loadTiles(pyramid('raster', BERN, { beside }))
    assert.deepEqual([warning.code, warning.details.profile], ['NOT_WEB_MERCATOR', 'raster'])
    const swiss = { 'metadata.json': JSON.stringify({ crs: 'EPSG:21781' }) }
    const { warnings: [second] } = await loadTiles(pyramid('swiss', BERN, { beside: swiss }), { layer: 'swiss' })
    assert.deepEqual([second.code, second.details.profile], ['NOT_WEB_MERCATOR', 'EPSG:21781'])
    const folderOf = (name, file, text) => {
      folder.write({ [`${name}/1/0/0.png`]: png(1), [`${name}/${file}`]: text })
      return folder.path(name)
    }
    for (const [name, file, text] of [['geodetic', 'tilemapresource.xml', tileMap(BERN, 'geodetic')],
      ['degrees', 'metadata.json', '{"crs":"EPSG:4326"}']]) {
      assert.deepEqual(codes(await loadTiles(folderOf(name, file, text), { layer: name })), [], name)
      assert.equal((await store.layer(name)).grid, 'WorldCRS84Quad')
    }
  })

  it('warns of several tile sizes when they are accepted', async () => {
    const sizes = { '1/0/0': await image(512), '1/0/1': await image(256), '1/1/0': await image(512), '1/1/1': png(1) }
    folder.write(Object.fromEntries(Object.entries(sizes).map(([tile, bytes]) => [`mixed/${tile}.png`, bytes])))
    const name = folder.path('mixed')
    const { warnings: [warning, ...otherWarnings] } = await loadTiles(name, { anySize: true })
    assert.deepEqual([warning.code, otherWarnings], ['MIXED_SIZES', []])
    assert.equal(warning.message,
      'the tiles have several sizes: 2 of 512 x 512 pixels; 1 of 256 x 256 pixels, such as 1/0/1')
    assert.match(warning.advice, /Load each size as a layer of its own/)
    assert.deepEqual(codes(await loadTiles(name, { layer: 'strict' })), [], 'what is refused is not there')
  })

  it('warns of tiles of more than 1 MB', async () => {
    folder.write(
      { 'large/1/0/0.png': noiseTile(1, 1.2e6), 'large/1/0/1.png': noiseTile(2, 2.4e6), 'large/1/1/0.png': png(1) }
    )
    const { warnings } = await loadTiles(folder.path('large'), { anySize: true })
    const large = warnings?.find(({ code }) => code === 'LARGE_TILES')
    assert.deepEqual([large?.details.count, large?.details.tile], [2, '1/0/1'])
    assert.match(large?.message, /^2 tiles of more than 1 MB: 1\/0\/1 has 2\.4 MB$/)
    assert.match(large?.advice, /smaller as JPEG or WebP/)
  })

  it('warns when image types differ from file names or metadata', async () => {
    const jpeg = await image(256, 'jpeg')
    folder.write({ 'named/1/0/0.png': jpeg, 'named/1/0/1.png': await image(256), 'named/1/1/0.jpeg': jpeg })
    const { warnings: [warning, ...otherWarnings], where } = await loadTiles(folder.path('named'))
    assert.deepEqual([warning.code, warning.message, otherWarnings],
      ['OTHER_TYPE', '1 tile is jpg, but called .png, such as 1/0/0', []])
    assert.match(warning.advice, /tilecouch layer osm --tile-format jpg/)
    assert.deepEqual(where.formats, ['jpg', 'png'])
    const tiles = [0, 1].flatMap(x => [0, 1].map(y => ({ z: 1, x, y, bytes: jpeg })))
    const wrong = writeMbtiles(folder.path('wrong.mbtiles'), tiles, { format: 'png' })
    const right = writeMbtiles(folder.path('right.mbtiles'), tiles, { format: 'jpg' })
    assert.equal((await loadTiles(wrong, { layer: 'wrong' })).warnings[0].message,
      'the metadata say that the tiles are png, but most are jpg')
    assert.deepEqual(codes(await loadTiles(right, { layer: 'right' })), [])
  })

  it('has no failures for uncompressed vector tiles, which the load stores in gzip', async () => {
    const raw = rawVectorTile(1)
    folder.write({ 'vector/1/0/0.pbf': raw, 'vector/1/0/1.mvt': raw })
    const { failed, created, where } = await loadTiles(folder.path('vector'))
    assert.deepEqual([failed, created, where.formats], [0, 2, ['pbf']])
    assert.deepEqual(gunzipSync((await store.head('osm', 1, 0, 0)).bytes), raw)
    const tiles = [{ z: 1, x: 0, y: 0, bytes: raw }]
    const file = writeMbtiles(folder.path('vector.mbtiles'), tiles, { format: 'pbf' })
    assert.equal((await loadTiles(file, { layer: 'packed' })).failed, 0)
    assert.equal((await loadTiles(file, { layer: 'packed', time: T2 })).unchanged, 1)
    assert.equal((await store.layer('packed')).format, 'pbf')
  })

  it('is printed by the command after the first tiles and at the end', async () => {
    const name = pyramid('tms', BERN, { place: fromSouth, beside: { 'tilemapresource.xml': tileMap(BERN) } })
    const run = (...argv) => runCommand(['load', name, '--layer', 'osm', '--time', '2024', '--db', url, ...argv])
    const planned = await run('--dry-run')
    assert.match(planned.out, pattern(
      /\n {2}place: the South Atlantic Ocean\n[^]*\n/,
      /WARNING: the rows look counted from the wrong side: .*\n/,
      / {2}If so, load it with --scheme tms\.\n/,
      /Nothing was changed\.\n$/
    ))
    const { code, out, err } = await run()
    assert.equal(code, 0, err)
    assert.match(err, pattern(
      /^First tiles: the South Atlantic Ocean\n/m,
      / {2}PNG, zooms? .*, bounds .*\n/m,
      / {2}With rows counted from the other side \(--scheme\) it would be Switzerland, near Bern\.\n/m,
      /WARNING: the rows look/m
    ))
    assert.doesNotMatch(out, /Place: /) // it was printed after the first tiles
    assert.match(out, pattern(
      /\nWARNING: the rows look .*\n/,
      / {2}If so, remove this edition with `tilecouch remove osm --edition 2024-01-01T00:00:00Z`, and load it /,
      /with --scheme tms\.\n$/
    ))
    const json = JSON.parse((await run('--json')).out)
    assert.deepEqual([json.where.place, json.warnings.map(({ error }) => error), json.timeFrom],
      ['the South Atlantic Ocean', ['ROWS_FLIPPED'], 'option'])
  })
})
