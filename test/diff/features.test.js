import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { parseArea } from '../../core/index.js'
import { FeatureDiff } from '../../core/features.js'
import { diffFeatures } from '../../loader/index.js'
import { featureDefaults } from '../../loader/export/diff/features.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { encodeTile, packTile } from '../support/vector-tile.js'
import { TIMES, openStore } from '../support/diff-model.js'
import { pattern } from '../support/pattern.js'

const [T1, T2] = TIMES
const places = [[2, 1, 1], ...[[4, 6], [4, 7], [5, 6], [5, 7], [10, 10]].map(([x, y]) => [4, x, y])]

/** Roads and shops of a tile at a time: roads have ids, shops have none; each place changes in its own way. */
function contentOf (index, time) {
  const isLater = time === T2
  if (index === 4 && isLater) return undefined
  const road =
    (id, length, properties) => ({ id, type: 'LineString', lines: [[[0, 100 * id], [length, 100 * id]]], properties })
  const shop = (x, name) => ({ type: 'Point', lines: [[[x, 50]]], properties: { name } })
  return {
    roads: [road(1, 4096, { name: 'Main' }), road(10 + index, 900, { lanes: isLater && index === 2 ? 4 : 2 }),
      ...(isLater ? [road(7, 300)] : [])],
    shops: [shop(20, 'Baker'), shop(30, isLater && index === 1 ? 'Bank' : 'Bar')]
  }
}

onEachStore('differences of features in a store', backend => {
  const folder = useFolder()
  let store, db
  before(async () => {
    store = await openStore(backend)
    await store.defineLayer('roads')
    for (const time of [T1, T2]) {
      await store.write(places.map(([z, x, y], index) => {
        const content = contentOf(index, time)
        return { layer: 'roads', z, x, y, time, ...(content ? { bytes: packTile(content) } : { gone: true }) }
      }))
    }
    db = new URL(store.couch.access.path, await backend.url()).href
  })

  /** Of the given places, in the order of ids; the tile of zoom 2 must not count. */
  function expected (indexes = [5, 1, 2, 3, 4]) {
    const differ = new FeatureDiff()
    for (const index of indexes) {
      const [z, x, y] = places[index]
      const [before, after] = [T1, T2].map(time => contentOf(index, time))
        .map(content => content && encodeTile(content))
      differ.add({ z, x, y }, before, after)
    }
    return [...differ.features()]
  }

  it('are taken from the changed tiles of the deepest zoom, and joined across tiles', async () => {
    const { features, ...summary } = await diffFeatures(store, 'roads@2021', 'roads')
    assert.deepEqual([...features], expected())
    assert.deepEqual(summary, {
      zoom: 4, tiles: 5, missing: 0, unreadable: [],
      layers: { roads: { added: 1, removed: 1, changed: 2 }, shops: { added: 0, removed: 2, changed: 1 } }
    })
  })

  it('are the same in small batches', async () => {
    const { batch } = featureDefaults
    try {
      featureDefaults.batch = 2
      assert.deepEqual([...(await diffFeatures(store, 'roads@2021', 'roads')).features], expected())
    } finally {
      featureDefaults.batch = batch
    }
  })

  it('are limited to zooms and an area', async () => {
    const { zoom } = await diffFeatures(store, 'roads@2021', 'roads', { zooms: { min: 0, max: 3 } })
    assert.equal(zoom, 2)
    const { features } =
      await diffFeatures(store, 'roads@2021', 'roads', { area: parseArea({ bbox: [50, -60, 60, -50] }) })
    assert.deepEqual([...features], expected([5]))
    const none = await diffFeatures(store, 'roads@2021', 'roads@2021')
    assert.deepEqual([none.zoom, none.layers, [...none.features]], [undefined, {}, []])
  })

  it('cannot be taken from images, and name damaged tiles', async () => {
    await store.defineLayer('images')
    await store.write([{ layer: 'images', z: 4, x: 1, y: 1, time: T1, bytes: png(1) }])
    await assert.rejects(diffFeatures(store, 'images@2020', 'images'), { code: 'NOT_VECTOR_TILES', message: /4\/1\/1/ })
    await store.defineLayer('damaged')
    const damaged = gzipSync(Buffer.from('1a057802120901', 'hex'))
    await store.write([
      { layer: 'damaged', z: 4, x: 1, y: 1, time: T1, bytes: damaged },
      { layer: 'damaged', z: 4, x: 2, y: 1, time: T1, bytes: packTile(contentOf(0, T1)) }
    ])
    const { features, unreadable } = await diffFeatures(store, 'damaged@2020', 'damaged')
    assert.deepEqual([unreadable, [...features].length], [['4/1/1'], 4])
  })

  it('fail with TOO_MANY_FEATURES above a limit', async () => {
    const { most } = featureDefaults
    try {
      featureDefaults.most = 3
      await assert.rejects(diffFeatures(store, 'roads@2021', 'roads'), { code: 'TOO_MANY_FEATURES' })
    } finally {
      featureDefaults.most = most
    }
  })

  const tilecouch = (...argv) => runCommand([...argv, '--db', db])

  it('are written by tilecouch diff --features, with a table by source layer', async () => {
    const file = path.join(folder.dir, 'changed.geojson')
    const { code, out } = await tilecouch('diff', 'roads@2021', 'roads', '--features', file)
    assert.equal(code, 0)
    assert.match(out,
      pattern(
        /changed\.geojson: features of 5 tiles of zoom 4\n/,
        /source layer +added +removed +changed\n/,
        /roads +1 +1 +2\n/,
        /shops +0 +2 +1\n/
      ))
    const { type, name, features } = JSON.parse(readFileSync(file, 'utf8'))
    assert.deepEqual([type, name, features],
      ['FeatureCollection', 'roads@2021 -> roads', JSON.parse(JSON.stringify(expected()))])

    const piped = await tilecouch('diff', 'roads@2021', 'roads', '--features', '-')
    assert.equal(JSON.parse(piped.out).features.length, features.length)
    assert.match(piped.err, /5 tiles of zoom 4/)
    const { features: said } =
      JSON.parse((await tilecouch('diff', 'roads@2021', 'roads', '--features', file, '--without-ids', '--json')).out)
    assert.equal(said.layers.roads.added, 4, 'one in each later tile')
    assert.match((await tilecouch('diff', 'roads', 'roads', '--features', file)).out,
      /changed\.geojson: features: none differ/)
  })

  it('leave no file behind after an error, and conflicting options are refused', async () => {
    const file = path.join(folder.dir, 'none.geojson')
    const { code, err } = await tilecouch('diff', 'images@2020', 'images', '--features', file)
    assert.deepEqual([code, existsSync(file), existsSync(`${file}.part`)], [1, false, false])
    assert.match(err, /NOT_VECTOR_TILES/)
    for (const argv of [['--without-ids'], ['--features', '-', '--json'],
      ['--features', '-', '--report', '-'], ['--features', file, '--report', file]]) {
      assert.match((await tilecouch('diff', 'roads@2021', 'roads', ...argv)).err, /BAD_OPTION/)
    }
  })
})
