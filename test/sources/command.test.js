// The output of `tilecouch load` for sources that are not files: before, during and after the load.
import assert from 'node:assert/strict'
import { load, parseArea } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { square } from '../support/tiles.js'
import { runCommand, useEnvironment } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useSeeding } from '../support/seeding.js'
import { pattern } from '../support/pattern.js'
import { publishFunctions } from '../support/published.js'

const BOX = ['--bbox', '0,0,44,40', '--zoom', '2-4']
const tileCount = parseArea({ bbox: [0, 0, 44, 40] }).count({ min: 2, max: 4 })

onEachStore('tilecouch load', backend => {
  const map = useSeeding(backend)
  const folder = useFolder()
  useEnvironment()
  const address = () => `${map.upstream.url}/xyz/{z}/{x}/{y}.png`

  const run = argv => runCommand(['load', ...argv, '--db', map.url])

  it('prints how many tiles it will request, and then the result', async () => {
    const { code, out, err } = await run([address(), '-l', 'map', '-t', '2023', ...BOX])
    assert.equal(code, 0, err)
    assert.match(err, new RegExp(
      `^map: ${tileCount} tiles, of unknown size: the layer has none yet\n {2}zoom +tiles +about\n +2 +1 +unknown\n`
    ))
    assert.match(out, new RegExp(`^map@2023-01-01T00:00:00Z: ${tileCount} tiles in .*\n {2}${tileCount} written`))
    assert.equal((await run([address(), '-l', 'map', '-t', '2024', ...BOX]))
      .err.split('\n')[0].replace(/[\d.]+ kB/, 'SIZE'), `map: ${tileCount} tiles, about SIZE`)
  })

  it('lists failed and missing tiles', async () => {
    map.upstream.behave({ only: ({ z }) => z === 4, status: ({ x }) => x === 8 ? 404 : 403 })
    const { code, out } = await run([address(), '-l', 'map', ...BOX])
    assert.equal(code, 1)
    assert.match(out, pattern(
      /\n {2}2 missing: the source has none\n/,
      / {2}2 failed:\n/,
      / {4}map:4:9:\d {2}the upstream .* refused: it answered 403 .*\[UPSTREAM_REFUSED\], and 1 more like it\n/,
      / {6}Check its terms and limits/
    ))
  })

  it('sends the contact and the keys of the host, and never shows the keys', async () => {
    process.env.TILECOUCH_UPSTREAM_HEADERS =
      JSON.stringify({ [map.upstream.url]: { 'X-Token': 's3cret-token', '?key': 's3cret-key' } })
    map.upstream.behave({ only: ({ z, x }) => z === 4 && x === 8, status: 401 })
    const { out, err } = await run([address(), '-l', 'map', ...BOX, '--contact', 'me@example.org', '--json'])
    const [{ headers, query }] = map.upstream.asked
    assert.match(headers['user-agent'], /^tilecouch\/.* \(me@example.org\)$/)
    assert.deepEqual([headers['x-token'], query.get('key')], ['s3cret-token', 's3cret-key'])
    assert.doesNotMatch(out + err + JSON.stringify(await map.store.editions('map')), /s3cret/)
  })

  it('loads from a WMS that a file describes', async () => {
    await map.store.defineLayer('map', { tileSize: 64 })
    folder.write(
      { 'wms.json': '\ufeff' + JSON.stringify(
        { type: 'wms', url: `${map.upstream.url}/wms`, layers: 'map', buffer: 0 }
      ), 'bad.json': '{ "type": "wms" ' }
    )
    const wms = folder.path('wms.json')
    const { code, out, err } =
      await run(['--upstream', wms, '-l', 'map', ...BOX, '--concurrency', '2', '--rate', '50/s'])
    assert.equal(code, 0, err)
    assert.match(out, new RegExp(`${tileCount} written`))
    assert.equal((await run(['--upstream', folder.path('bad.json'), '-l', 'map', ...BOX]))
      .err.includes('[CONFIG_INVALID]'), true)
    assert.equal((await map.store.layer('map')).upstream, undefined)
  })

  it('loads only tiles that the polygon of a file and the box touch', async () => {
    const polygon = { type: 'Polygon', coordinates: [[[0, 0], [60, 0], [0, 60], [0, 0]]] }
    folder.write({ 'part.geojson': JSON.stringify(polygon) })
    const { code, out } = await run([address(), '-l', 'map', '--polygon',
      folder.path('part.geojson'), '--bbox', '0,0,40,40', '-z', '5', '--json'])
    assert.equal(code, 0)
    assert.equal(JSON.parse(out).created, parseArea({ polygon, bbox: '0,0,40,40' }).count({ min: 5, max: 5 }))
  })

  const refusedCommands = [
    ['a tile server without an area', ['URL', '-l', 'map', '-z', '0-14'], 'BAD_AREA'],
    ['a server whose terms forbid a load', ['https://tile.openstreetmap.org/{z}/{x}/{y}.png', '-l', 'map', '-z', '0-3'],
      'SEED_FORBIDDEN'],
    ['an address with a password', ['http://a:s3cret@127.0.0.1/{z}/{x}/{y}.png', '-l', 'map', '-z', '0-3'],
      'BAD_UPSTREAM'],
    ['too many requests at once', ['URL', '-l', 'map', ...BOX, '--concurrency', '65'], 'BAD_OPTION'],
    ['an invalid rate', ['URL', '-l', 'map', ...BOX, '--rate', 'fast'], 'BAD_OPTION'],
    ['an MBTiles file on a web server', ['http://127.0.0.1:1/town.mbtiles', '-l', 'map'], 'SOURCE_UNKNOWN'],
    ['an invalid address', ['http://[/', '-l', 'map'], 'SOURCE_UNKNOWN'],
    ['a layer that does not exist', ['--source-layer', 'nothere', '-l', 'map'], 'LAYER_NOT_FOUND'],
    ['an environment that does not exist', ['no:where', '--source-layer', 'map', '-l', 'map'], 'BAD_DATABASE']
  ]
  it('refuses other sources, areas and options that it does not take, without any request', async () => {
    await publishFunctions(map.store)
    for (const [title, argv, code] of refusedCommands) {
      const result = await run(argv.map(value => value === 'URL' ? address() : value))
      assert.equal(result.code, 1, title)
      assert.match(result.err, new RegExp(`\\[${code}\\]`), title)
      assert.doesNotMatch(result.err, /s3cret/)
      assert.deepEqual([map.upstream.requests.length, await map.store.editions('map')], [0, []], title)
    }
  })

  it('copies a layer as of a time within a store', async () => {
    const tiles = square({ layer: 'osm', time: '2021-01-01T00:00:00Z', z: 4, seed: (x, y) => x * 8 + y })
    await map.store.write(tiles)
    await map.store.defineLayer('osm', { attribution: 'me' })
    await publishFunctions(map.store)
    const copy = await run(['--source-layer', 'osm@2021', '-l', 'copy'])
    assert.equal(copy.code, 0, copy.err)
    assert.match(copy.out, /^copy@2021-01-01T00:00:00Z: 64 tiles.*\n {2}The source says this time/)
    assert.equal((await map.store.layer('copy')).attribution, 'me')
    await checkInvariants(map.url)
  })

  it('finds stores by their names in .couchapprc', async () => {
    await load(map.store, memorySource({ '4/0/0': 1, '4/0/1': 1, '4/1/0': 1, '4/1/1': 1 }), { layer: 'osm' })
    await publishFunctions(map.store)
    folder.write({ '.couchapprc': JSON.stringify({ env: { old: { db: map.url.replace(/\/\/[^@/]*@/, '//') } } }) })
    const folderBefore = process.cwd()
    process.chdir(folder.dir)
    try {
      const { code, out, err } = await run(['old', '--source-layer', 'osm', '-l', 'copy'])
      assert.equal(code, 0, err)
      assert.match(out, /4 tiles/)
    } finally {
      process.chdir(folderBefore)
    }
  })
})
