// Tiles of 512 pixels: a new layer says so, another layer refuses them.
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { load, publish } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

const image = (side, red, format = 'png') => sharp(
  { create: { width: side, height: side, channels: 3, background: { r: red, g: 0, b: 0 } } }
).toFormat(format).toBuffer()

onEachStore('the size of loaded tiles', backend => {
  let store
  useStore(backend, { fill: created => { store = created } })

  const loaded = (tiles, options = {}) => load(store, memorySource(tiles), { layer: 'osm', time: T1, ...options })
  const sizeOf = async (name = 'osm') => (await store.layer(name)).tileSize

  it('is stored in a new layer, and shown in TileJSON and WMTS', async () => {
    const blank = png(1) // a few pixels, as many have for water: it tells nothing
    await loaded(
      { '0/0/0': blank, '1/0/0': await image(512, 1), '1/0/1': await image(512,
        2, 'jpeg'), '1/1/0': await image(512, 3, 'webp') }
    )
    assert.equal(await sizeOf(), 512)
    await publish(store)
    const gateway = await startGateway({ db: store.url, port: 0, logLevel: 'silent' })
    try {
      assert.equal((await (await fetch(`${gateway.url}/osm.json`)).json()).tileSize, 512)
      assert.match(await (await fetch(`${gateway.url}/wmts/1.0.0/WMTSCapabilities.xml`)).text(),
        /<TileWidth>512<\/TileWidth><TileHeight>512<\/TileHeight>/)
    } finally {
      await gateway.close()
    }
  })

  it('is not stored when it is 256, or when no tile shows it', async () => {
    await loaded({ '0/0/0': await image(256, 1) })
    assert.equal(await sizeOf(), undefined)
    await loaded({ '0/0/0': png(1) }, { layer: 'small' })
    assert.equal(await sizeOf('small'), undefined)
  })

  it('is refused before anything is written when the layer has another size', async () => {
    await loaded({ '0/0/0': await image(256, 1) })
    const wrong = { code: 'TILE_SIZE', details: { layer: 'osm', size: 512, expected: 256 } }
    await assert.rejects(loaded({ '0/0/0': await image(512, 1) }, { time: T2 }), wrong)
    assert.deepEqual((await store.editions('osm')).map(({ time }) => time), [T1])
    await store.defineLayer('osm', { tileSize: 256 })
    await assert.rejects(loaded({ '0/0/0': await image(512, 1) }, { time: T2 }), wrong)
    assert.deepEqual((await store.versions('osm', 0, 0, 0)).map(({ time }) => time), [T1])
  })

  it('that is mixed makes the tiles of another size fail, unless any size is allowed', async () => {
    const mixed =
      { '1/0/0': await image(512, 1), '1/0/1': await image(256, 2), '1/1/0': await image(512, 3), '1/1/1': png(1) }
    const result = await loaded(mixed)
    assert.deepEqual([result.created, result.failed, result.failures.map(({ id, code }) => `${id} ${code}`)],
      [3, 1, ['osm:1:0:1 TILE_SIZE']])
    assert.equal((await loaded(mixed, { anySize: true })).failed, 0)
    assert.equal(await sizeOf(), 512)
  })

  it('is set by a load when the layer has tiles of 512 pixels and no size', async () => {
    await store.defineLayer('osm', { maxzoom: 1 })
    await store.write([{ layer: 'osm', z: 0, x: 0, y: 0, time: T1, bytes: await image(512, 1) }])
    await loaded({ '0/0/0': await image(512, 2) }, { time: T2 })
    assert.equal(await sizeOf(), 512)
  })

  it('is found without reading a tile twice', async () => {
    const reads = []
    const source = memorySource({ '0/0/0': 1, '1/0/0': 2, '1/0/1': 3 })
    const { tiles } = source
    source.tiles = async function * () { for await (const tile of tiles()) {
      yield { ...tile, read: () => { reads.push(tile.z + tile.y); return tile.read() } }
    } }
    assert.equal((await load(store, source, { layer: 'osm', time: T1 })).created, 3)
    assert.deepEqual(reads, [0, 1, 2])
  })
})
