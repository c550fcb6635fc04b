// A load lists the source layers and fields of its vector tiles in `vector_layers` of the layer.
import assert from 'node:assert/strict'
import { layerDocument } from '../../core/layer-document.js'
import { defaultStyle } from '../../core/style.js'
import { SourceLayers, sourceLayersDefaults } from '../../loader/load/source-layers.js'
import { onEachStore } from '../support/backends.js'
import { loadFrom } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { encodeTile, packTile } from '../support/vector-tile.js'

const feature = properties => ({ type: 'Point', lines: [[[1, 1]]], properties })
const tileOf = layers =>
  packTile(Object.fromEntries(Object.entries(layers).map(([name, features]) => [name, features.map(feature)])))
const summary = layers => layers?.map(
  ({ id, fields, minzoom, maxzoom }) => [id, Object.entries(fields).map(String).join(' '), minzoom, maxzoom]
)

onEachStore('the vector tiles of a load', backend => {
  const folder = useFolder()
  const fixture = useStore(backend, { published: 'functions' })
  const loadFiles = (files, time, metadata) => loadFrom(fixture.store,
    folder.write({ ...files, ...(metadata && { 'metadata.json': JSON.stringify(metadata) }) }), { layer: 'osm', time })
  const readLayers = async () => summary((await fixture.store.layer('osm')).vector_layers)

  it('give the layer its source layers, with fields and zooms, and so a default style', async () => {
    await loadFiles({
      '0/0/0.pbf': tileOf({ water: [{ name: 'Rhine' }, { depth: 2.5, salty: false }] }),
      '2/1/1.pbf': tileOf({ roads: [{ ref: 'A1' }], water: [{ name: 7 }] }),
      '2/1/2.pbf': encodeTile({ places: [feature({ name: 'Bern' })] })
    }, '2023')
    assert.deepEqual(await readLayers(), [
      ['places', 'name,String', 2, 2], ['roads', 'ref,String', 2, 2],
      ['water', 'depth,Number name,String salty,Boolean', 0, 2]
    ])
    assert.ok(defaultStyle(await fixture.store.layer('osm'))?.layers.some(layer => layer['source-layer'] === 'water'))
  })

  it('add to the source layers of the layer, and change nothing when they have nothing new', async () => {
    await fixture.store.defineLayer('osm', {
      vector_layers: [{ id: 'water', description: 'wet', fields: { name: 'in German' }, minzoom: 3 }, { id: 'air' }]
    })
    const tile = tileOf({ water: [{ name: 'Rhine', wide: true }], land: [{}] })
    await loadFiles({ '2/0/0.pbf': tile }, '2023')
    const first = await fixture.store.layer('osm')
    assert.deepEqual(first.vector_layers, [
      { id: 'water', description: 'wet', fields: { name: 'in German', wide: 'Boolean' }, minzoom: 2 }, { id: 'air' },
      { id: 'land', fields: {}, minzoom: 2, maxzoom: 2 }
    ])
    const { _rev: rev } = await fixture.store.couch.get('layer:osm')
    await loadFiles({ '2/0/0.pbf': tile }, '2024')
    assert.equal((await fixture.store.couch.get('layer:osm'))._rev, rev)
  })

  it('are not read for source layers when the metadata of the source list them', async () => {
    const sourceLayers = [{ id: 'water', fields: {} }]
    await loadFiles({ '2/0/0.pbf': tileOf({ land: [{}] }) }, '2023',
      { format: 'pbf', json: JSON.stringify({ vector_layers: sourceLayers }) })
    assert.deepEqual((await fixture.store.layer('osm')).vector_layers, sourceLayers)
  })

  it('add no source layers to a layer of images', async () => {
    await fixture.store.defineLayer('osm', { format: 'png' })
    await loadFiles({ '2/0/0.pbf': tileOf({ land: [{}] }), '2/0/1.png': png(1) }, '2023')
    assert.equal(await readLayers(), undefined)
  })

  it('fill an empty list of source layers in the metadata of the source', async () => {
    await loadFiles({ '2/0/0.pbf': tileOf({ land: [{}] }) }, '2023', { format: 'pbf', json: '{"vector_layers":[]}' })
    assert.deepEqual(await readLayers(), [['land', '', 2, 2]])
  })

  it('add source layers only when they are not damaged', async () => {
    const intact = tileOf({ water: [{}] })
    await loadFiles(
      { '2/0/0.pbf': encodeTile({ bad: [feature({ a: 1 })] }).subarray(0, -3), '2/0/1.pbf': intact }, '2023'
    )
    assert.deepEqual(await readLayers(), [['water', '', 2, 2]])
  })

  it('cannot make the layer document too large with many source layers and fields', async () => {
    const wide =
      index => Object.fromEntries(Array.from({ length: 400 }, (_, field) => [`${'f'.repeat(150)}${index}-${field}`, 1]))
    const many = Object.fromEntries(
      Array.from({ length: 1500 }, (_, index) => [`layer ${index}`, [index === 700 ? wide(index) : {}]])
    )
    await loadFiles(
      { '2/0/0.pbf': tileOf(many), '2/0/1.pbf': tileOf({ wide: [wide(1)], '': [{}], ['n'.repeat(500)]: [{}] }) }, '2023'
    )
    const { vector_layers: layers } = await fixture.store.layer('osm')
    assert.ok(layers.length > 50 && layers.length <= 1000)
    assert.ok(JSON.stringify(layers).length <= sourceLayersDefaults.size)
    assert.ok(layers.every(({ id, fields }) => id && id.length < 300 &&
      Object.keys(fields).length <= sourceLayersDefaults.fields))
  }).timeout(20000)
})

describe('the source layers of a load', () => {
  const complete = async (tiles, doc = {}) => {
    const layers = new SourceLayers()
    for (const [z, bytes] of tiles) await layers.add({ z }, bytes)
    return layers.complete(layerDocument('osm', { format: 'pbf', ...doc }))
  }

  it('are read from a part of many tiles: the first tile, a sample, and larger tiles', async () => {
    const [plain, larger] =
      [tileOf({ land: [{}] }), tileOf({ peaks: [{ name: 'a rare thing, in a tile that has more than the others' }] })]
    const layers = new SourceLayers()
    for (let index = 0; index < 5000; index++) await layers.add({ z: 9 }, index === 2600 ? larger : plain)
    assert.deepEqual(layers.complete({ format: 'pbf' }).vector_layers?.map(({ id }) => id), ['land', 'peaks'])
    assert.ok(layers.decoded < 120, `${layers.decoded} tiles`)
  })

  it('are not added to a layer document that has no room for them', async () => {
    const doc = { legend: 'x'.repeat(100_000), description: 'x'.repeat(100_000), attribution: 'x'.repeat(49_900) }
    assert.equal((await complete([[1, tileOf({ land: [{ name: 'x' }] })]], doc)).vector_layers, undefined)
    const full = Array.from({ length: 1000 }, (_, index) => ({ id: `l${index}` }))
    assert.equal((await complete([[1, tileOf({ land: [{}] })]], { vector_layers: full })).vector_layers.length, 1000)
  })

  it('do not change listed entries that have an unknown form', async () => {
    const oddLayers = [{ id: 'land', fields: 'all' }, { fields: {} }, { id: { a: 1 } }]
    assert.deepEqual(
      (await complete([[1, tileOf({ land: [{ name: 'x' }] })]], { vector_layers: oddLayers })).vector_layers, oddLayers
    )
  })

  it('may have the names __proto__ and constructor', async () => {
    const { vector_layers: layers } =
      await complete([[1, tileOf({ ['__proto__']: [{ ['__proto__']: 1, constructor: 2 }] })]])
    assert.deepEqual(JSON.stringify(layers),
      '[{"id":"__proto__","fields":{"__proto__":"Number","constructor":"Number"},"minzoom":1,"maxzoom":1}]')
  })
})
