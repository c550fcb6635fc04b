// Loads that compare tiles by pixels or features: a tile that is only encoded anew makes no version.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import sharp from 'sharp'
import { Store, check, load, removeEdition } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { memorySource } from '../support/memory-source.js'
import { packTile } from '../support/vector-tile.js'
import { publishFunctions } from '../support/published.js'

const [T0, T1, T2, T3] = ['2020', '2021', '2022', '2023'].map(year => `${year}-01-01T00:00:00Z`)
const SIDE = 256

/** An image of a few colours. A seed other than 0 changes one pixel by the difference. */
function pixels (seed, difference = 50) {
  const data = Buffer.alloc(SIDE * SIDE * 4)
  for (let offset = 0; offset < data.length; offset += 4) {
    data.set([(offset >> 12) % 4 * 60, (offset >> 6) % 4 * 60, 90, offset % 5 ? 255 : 0], offset)
  }
  if (seed) data[4 * 17 * seed + 1] += difference
  return sharp(data, { raw: { width: SIDE, height: SIDE, channels: 4 } })
}
const encoders = {
  first: seed => pixels(seed).png({ compressionLevel: 9 }).toBuffer(),
  other: seed => pixels(seed).png({ compressionLevel: 1, adaptiveFiltering: true }).toBuffer(),
  palette: seed => pixels(seed).png({ palette: true, quality: 100, effort: 10, dither: 0 }).toBuffer(),
  lossless: seed => pixels(seed).webp({ lossless: true }).toBuffer(),
  slightly: () => pixels(3, 2).png().toBuffer()
}

const road = (id, name) => (
  { id, type: 'LineString', lines: [[[0, 0], [100, id], [200, 5], [90, 3]]], properties: { name, lanes: 2 } }
)
const features = name => ({ roads: [road(1, 'A'), road(2, name)], water: [{ type: 'Point', lines: [[[5, 5]]] }] })

onEachStore('tiles that differ only in their encoding', backend => {
  const folder = useFolder()
  let store, layer
  let layerCount = 0
  before(async () => {
    store = await Store.create(await backend.database())
    await publishFunctions(store)
  })
  beforeEach(() => { layer = `layer${layerCount++}` })

  const loadTiles = (tiles, time, options = {}) => load(store, memorySource(tiles), { layer, time, ...options })
  const images =
    (encoder, seeds) => Object.fromEntries(seeds.map((seed, x) => [`4/${x}/3`, () => encoders[encoder](seed)]))
  const versionsOf = async (x = 0) => (await store.versions(layer, 4, x, 3)).map(({ time, digest }) => [time, digest])

  for (const encoder of ['other', 'palette', 'lossless']) {
    it(`make no version when pixels are compared: ${encoder}`, async () => {
      const first = await loadTiles(images('first', [0, 1, 2]), T1, { same: 'pixels' })
      assert.deepEqual([first.created, first.reencoded], [3, 0])
      assert.equal((await store.layer(layer)).same, 'pixels')
      const second = await loadTiles(images(encoder, [0, 1, 9]), T2)
      assert.deepEqual([second.unchanged, second.advanced, second.reencoded, second.failed], [2, 1, 2, 0])
      assert.deepEqual((await versionsOf()).map(([time]) => time), [T1])
      assert.deepEqual((await versionsOf(2)).map(([time]) => time), [T1, T2])
      assert.equal((await store.versions(layer, 4, 0, 3))[0].checked, T2, 'the edition confirmed it')
    })
  }

  it('make versions by default, and again after --same bytes', async () => {
    await loadTiles(images('first', [0]), T1)
    assert.equal((await loadTiles(images('other', [0]), T2)).advanced, 1)
    assert.equal((await loadTiles(images('first', [0]), T3, { same: 'pixels' })).advanced, 0)
    await store.defineLayer(layer, { same: null })
    const repeated = await loadTiles(images('lossless', [0]), '2024-01-01T00:00:00Z', { same: 'bytes' })
    assert.deepEqual([repeated.advanced, repeated.reencoded, (await store.layer(layer)).same],
      [1, undefined, undefined])
  })

  it('make no version when their pixels differ by at most the tolerance of the layer', async () => {
    const slightly = { '4/0/3': encoders.slightly }
    await loadTiles(images('first', [0]), T1)
    for (const [time, same, changed] of [[T2, 'pixels:2', 0], [T3, 'pixels:1', 1]]) {
      assert.equal((await loadTiles(slightly, time, { same })).advanced, changed, same)
    }
  })

  it('are compared without the colours of transparent pixels, and with all 16 bits', async () => {
    const hidden = pixels(0).raw().toBuffer().then(data => {
      for (let offset = 0; offset < data.length; offset += 4) if (!data[offset + 3]) data[offset] ^= 0xff
      return sharp(data, { raw: { width: SIDE, height: SIDE, channels: 4 } }).png().toBuffer()
    })
    await loadTiles(images('first', [0]), T1, { same: 'pixels' })
    assert.equal((await loadTiles({ '4/0/3': () => hidden }, T2)).reencoded, 1)
    const deep =
      value => sharp(new Uint16Array(SIDE * SIDE).fill(value), { raw: { width: SIDE, height: SIDE, channels: 1 } })
      .toColourspace('grey16').png().toBuffer()
    await loadTiles({ '4/9/3': () => deep(512) }, T1)
    assert.equal((await loadTiles({ '4/9/3': () => deep(513) }, T2)).advanced, 1)
  })

  it('make no version when features are compared', async () => {
    const tiles = (other, names) =>
      Object.fromEntries(names.map((name, x) => [`4/${x}/3`, () => packTile(features(name), { other })]))
    await loadTiles(tiles(false, ['B', 'C']), T1, { same: 'features' })
    const second = await loadTiles(tiles(true, ['B', 'D']), T2)
    assert.deepEqual([second.unchanged, second.advanced, second.reencoded], [1, 1, 1])
  })

  it('are refused before anything is written when the comparison does not fit their type', async () => {
    await assert.rejects(loadTiles(images('first', [0]), T1, { same: 'features' }),
      { code: 'SAME_UNFIT', message: /images/ })
    await assert.rejects(store.layer(layer), { code: 'LAYER_NOT_FOUND' })
    await loadTiles({ '4/0/3': () => packTile(features('B')) }, T1)
    await assert.rejects(loadTiles({ '4/0/3': () => packTile(features('C')) }, T2, { same: 'pixels' }),
      { code: 'SAME_UNFIT', message: /vector tiles/ })
    assert.equal((await store.layer(layer)).same, undefined, 'the next load is not refused')
    await assert.rejects(loadTiles({}, T2, { same: 'pixels:999' }), { code: 'BAD_OPTION' })
  })

  it('give a complete edition the same root digest when they are loaded again', async () => {
    await loadTiles(images('first', [0, 1]), T1, { same: 'pixels' })
    const first = await loadTiles(images('other', [0, 9]), T2, { complete: true })
    const repeated = await loadTiles(images('other', [0, 9]), T2, { complete: true })
    assert.deepEqual([repeated.unchanged, repeated.edition.root], [2, first.edition.root])
    const third = await loadTiles(images('palette', [0, 9]), T2, { complete: true })
    assert.deepEqual([third.unchanged, third.failed, third.edition.root],
      [2, 0, first.edition.root], 'also by a third encoder')
  })

  it('keep the stored bytes when the edition that brought these is removed', async () => {
    await loadTiles(images('first', [0, 1]), T1, { same: 'pixels' })
    await loadTiles(images('other', [0, 9]), T2)
    const [[, digest]] = await versionsOf()
    await removeEdition(store, layer, T1)
    assert.deepEqual(await versionsOf(), [[T2, digest]])
    assert.deepEqual((await store.at(layer, 4, 0, 3, T2)).bytes, await encoders.first(0))
    await assert.rejects(store.at(layer, 4, 0, 3, T1), { code: 'TILE_NOT_FOUND' })
  })

  it('are compared with the version that the layer shows at their time', async () => {
    await loadTiles(images('first', [0]), T1, { same: 'pixels' })
    await loadTiles(images('first', [9]), T3)
    const middle = await loadTiles(images('other', [0]), T2)
    assert.deepEqual([middle.backfilled, middle.reencoded], [0, 1])
    assert.deepEqual((await versionsOf()).map(([time]) => time), [T1, T3])
    const earlyLoad = await loadTiles(images('other', [0]), T0)
    assert.deepEqual([earlyLoad.backfilled, earlyLoad.reencoded], [1, 0], 'nothing is shown then')
    assert.deepEqual((await versionsOf()).map(([time]) => time), [T0, T1, T3])
  })

  it('are written when the version that they equal is removed during the load', async () => {
    await loadTiles(images('first', [0, 1, 2]), T1, { same: 'pixels' })
    const tiles = images('other', [0, 1, 2])
    const [last] = Object.keys(tiles).slice(-1)
    const { [last]: read } = tiles
    tiles[last] = async () => {
      await removeEdition(store, layer, T1)
      return read()
    }
    const second = await loadTiles(tiles, T2, { batch: 1, concurrency: 1 })
    assert.equal(second.failed, 0)
    for (const x of [0, 1, 2]) {
      assert.ok((await store.at(layer, 4, x, 3, T2)).bytes.equals(await encoders.other(x)), 'as the source has it')
      assert.deepEqual((await versionsOf(x)).map(([time]) => time), [T2])
    }
    assert.deepEqual((await check(store, { layers: [layer], decode: false })).kinds, {})
  }).timeout(60000)

  it('show the newest remaining edition at every time, after any order of loads and removals', async () => {
    const small = seed => sharp(Buffer.alloc(16 * 16 * 3, seed * 20), { raw: { width: 16, height: 16, channels: 3 } })
    const encodings = await Promise.all([0, 1, 2].map(seed => Promise.all([
      small(seed).png({ compressionLevel: 9 }).toBuffer(), small(seed).png({ compressionLevel: 0 }).toBuffer(),
      small(seed).webp({ lossless: true }).toBuffer()
    ])))
    const seedOf = async bytes => (await sharp(bytes).raw().toBuffer())[0] / 20
    const places = [0, 1, 2]
    const edition = fc.record({
      time: fc.constantFrom(T0, T1, T2, T3),
      seeds: fc.tuple(...places.map(() => fc.option(fc.nat(2), { nil: undefined, freq: 4 }))),
      encoder: fc.nat(2),
      removes: fc.option(fc.nat(3), { nil: undefined, freq: 2 }) // an edition that is there by then
    })
    const histories = fc.uniqueArray(edition, { selector: ({ time }) => time, minLength: 2, maxLength: 4 })
    await fc.assert(fc.asyncProperty(histories, async editions => {
      layer = `layer${layerCount++}`
      const removed = new Set()
      for (const [index, { time, seeds, encoder, removes }] of editions.entries()) {
        const tiles = Object.fromEntries(
          places.filter(x => seeds[x] !== undefined).map(x => [`4/${x}/3`, () => encodings[seeds[x]][encoder]])
        )
        if (!Object.keys(tiles).length) continue
        await loadTiles(tiles, time, { same: 'pixels' })
        if (removes === undefined) continue
        const { time: removedTime } = editions[removes % (index + 1)]
        if (removed.has(removedTime) || !await store.edition(layer, removedTime)) continue
        await removeEdition(store, layer, removedTime)
        removed.add(removedTime)
      }
      for (const time of [T0, T1, T2, T3]) {
        for (const x of places) {
          const [newest] = editions.filter(candidate => candidate.time <= time && candidate.seeds[x] !== undefined &&
            !removed.has(candidate.time)).sort((a, b) => a.time < b.time ? 1 : -1)
          const tile = await store.at(layer, 4, x, 3, time)
            .catch(error => { assert.equal(error.code, 'TILE_NOT_FOUND') })
          assert.equal(tile && await seedOf(tile.bytes), newest?.seeds[x], `${x} as of ${time}`)
        }
      }
    }), { seed: 24, numRuns: 25 })
  }).timeout(120000)

  it('show the right pixels after two loads at the same moment', async () => {
    await loadTiles(images('first', [0, 1, 2, 3]), T1, { same: 'pixels' })
    await Promise.all([loadTiles(images('other', [0, 1, 9, 8]), T3), loadTiles(images('palette', [0, 9, 9, 3]), T2)])
    assert.deepEqual((await versionsOf(0)).map(([time]) => time), [T1])
    for (const [x, seed] of [[0, 0], [1, 1], [2, 9], [3, 8]]) {
      const image = await sharp((await store.at(layer, 4, x, 3, T3)).bytes).ensureAlpha().raw().toBuffer()
      assert.ok(image.equals(await pixels(seed).raw().toBuffer()), `${x} as of T3`)
    }
  })

  it('are counted by tilecouch load --same; tilecouch layer shows and resets this setting', async () => {
    const db = new URL(store.couch.access.path, await backend.url()).href
    const write = async (name, encoder) => {
      for (const x of [0, 1]) folder.write({ [`${name}/4/${x}/3.png`]: await encoders[encoder](x) })
      return folder.path(name)
    }
    const tilecouch = (...argv) => runCommand([...argv, '--db', db])
    assert.equal((await tilecouch('load', await write('first', 'first'), '-l', layer, '-t', '2021', '--same', 'pixels'))
      .code, 0)
    assert.match((await tilecouch('load', await write('second', 'other'), '-l', layer, '-t', '2022')).out,
      /\n {2}2 unchanged, 2 of them encoded anew\n/)
    assert.match((await tilecouch('layer', layer, '--title', 'Town')).out, /\nloads compare tiles by pixels\n/)
    assert.doesNotMatch((await tilecouch('layer', layer, '--same', 'bytes')).out, /compare/)
    for (const command of [['layer', layer], ['load', folder.path('first'), '-l', layer]]) {
      assert.match((await tilecouch(...command, '--same', 'colours')).err,
        /bad value "colours" for --same.*\[BAD_OPTION\]/)
    }
  })
})
