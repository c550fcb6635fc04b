// Exports of a layer with a known past, in each format: as of any time, of any area, and loaded again.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { exportLayer, load, openSource, parseArea } from '../../loader/index.js'
import { exportHistory, targetAt } from '../../loader/export/history.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { withSource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import {
  EDITIONS, MOMENTS, assertSameTiles, contentsOf, expected, query, shownAt, useLayer, withStore
} from '../support/exports.js'
import { checkArchive } from './pmtiles-archive.js'
import { publishFunctions } from '../support/published.js'

const TARGETS = ['out', 'out.mbtiles', 'out.pmtiles']

/** The name in the metadata of an export. */
function titleOf (target) {
  if (target.endsWith('.mbtiles')) return query(target, "SELECT value FROM metadata WHERE name = 'name'")[0].value
  if (target.endsWith('.pmtiles')) return checkArchive(target).metadata.name
  return JSON.parse(readFileSync(path.join(target, 'metadata.json'), 'utf8')).name
}

onEachStore('an export', backend => {
  const folder = useFolder()
  const context = useLayer(backend)
  const run = (target, options) => exportLayer(context.store, 'osm', folder.path(target), options)

  const loadInto = async (store, target, { scheme = undefined, ...options } = {}) =>
    withSource(await openSource(target, { scheme }), source => {
      if (options.time) assert.equal(source.time, options.time, 'it says when the map looked like this')
      return load(store, source, { layer: 'osm', ...options })
    })

  for (const target of TARGETS) {
    it(`has the right tiles of every time: ${target}`, async () => {
      for (const [index, time] of MOMENTS.entries()) {
        const name = `${index}${target}`
        const expectedTiles = expected(time)
        const summary = await run(name, { time })
        assertSameTiles(await contentsOf(folder.path(name)), expectedTiles, `${target} as of ${time}`)
        assert.equal(titleOf(folder.path(name)), time ? `Streets, ${time.slice(0, 10)}` : 'Streets')
        assert.deepEqual([summary.tiles, summary.written, summary.kept, summary.missing],
          [expectedTiles.size, expectedTiles.size, 0, 0])
        assert.equal(summary.bytes, [...expectedTiles.values()].reduce((sum, bytes) => sum + bytes.length, 0))
        assert.deepEqual(summary.types, { 'image/png': expectedTiles.size })
      }
    })

    it(`of every edition is loaded again to a layer with the same history: ${target}`, async () => {
      const summary = await exportHistory(context.store, 'osm', folder.path(target))
      assert.deepEqual(summary.exports.map(({ time }) => time), EDITIONS)
      await withStore(backend, async copy => {
        for (const [index, { target: name }] of summary.exports.entries()) {
          await loadInto(copy, name, { time: EDITIONS[index], complete: true })
        }
        await publishFunctions(copy)
        for (const time of EDITIONS) {
          const tilesByName = new Map()
          for await (const tile of copy.fetch(copy.list('osm', { time }))) {
            tilesByName.set(`${tile.z}/${tile.x}/${tile.y}`, tile)
          }
          assertSameTiles(new Map([...tilesByName].map(([key, { bytes }]) => [key, bytes])),
            expected(time), `the copy as of ${time}`)
          for (const [key, { time: since }] of shownAt(time)) {
            assert.equal(tilesByName.get(key).time, since, `${key} as of ${time}`)
          }
        }
        const { name, attribution, format, tileSize, encoding } = await copy.layer('osm')
        assert.deepEqual([name, attribution, format, tileSize, encoding],
          ['Streets', '© nobody', 'png', 512, 'terrarium'])
      })
    })
  }

  it('is loaded again correctly when rows count from the south in both', async () => {
    await run('tms', { scheme: 'tms' })
    assertSameTiles(await contentsOf(folder.path('tms'), { tms: true }), expected())
    await withStore(backend, async copy => {
      await loadInto(copy, folder.path('tms'), { scheme: 'tms' })
      assert.deepEqual((await copy.head('osm', 3, 0, 1)).bytes, expected().get('3/0/1'))
    })
  })

  const triangle = { type: 'Polygon', coordinates: [[[-170, 80], [-60, 60], [-150, -20], [-170, 80]]] }
  const areas = {
    'a box': { bbox: '-180,0,-90,85' },
    'a box over the antimeridian': { bbox: '100,-60,-140,60' },
    'a polygon': { polygon: triangle },
    'a box and a polygon': { bbox: '-180,0,-120,85', polygon: triangle }
  }
  for (const [areaName, areaOptions] of Object.entries(areas)) {
    it(`holds the tiles that touch ${areaName}, at a past time and now`, async () => {
      const area = parseArea(areaOptions)
      for (const [index, time] of ['2021', undefined].entries()) {
        for (const zooms of [undefined, { min: 2, max: 3 }]) {
          const expectedTiles = new Map([...expected(time)].filter(([name]) => {
            const [z, x, y] = name.split('/').map(Number)
            return area.has(z, x, y) && (!zooms || (z >= zooms.min && z <= zooms.max))
          }))
          assert.ok(expectedTiles.size > 3 && expectedTiles.size < expected(time).size)
          for (const target of TARGETS) {
            const name = `${index}${zooms ? 'zoom' : ''}${target}`
            await run(name, { time, area, zooms })
            assertSameTiles(await contentsOf(folder.path(name)), expectedTiles, name)
          }
        }
      }
    })
  }

  it('leaves no files beside the requested targets', async () => {
    for (const target of TARGETS) await run(target)
    assert.deepEqual(readdirSync(folder.dir).sort(), [...TARGETS].sort())
    assert.deepEqual(readdirSync(folder.path('out')).sort(), ['.tilecouch.json', '1', '2', '3', '5', 'metadata.json'])
    assert.ok(!existsSync(folder.path('out.part-lock')))
  })

  it('creates no target when there is nothing to export', async () => {
    const emptySelections = [
      { zooms: { min: 4, max: 4 } }, { zooms: { min: 20, max: 30 } }, { time: '2020' },
      { time: '1999-12-31T23:59:59Z' }, { area: parseArea({ bbox: '120,-80,121,-79' }), zooms: { min: 5, max: 5 } }
    ]
    for (const target of TARGETS) {
      for (const options of emptySelections) {
        await assert.rejects(run(target, options), { code: 'NOTHING_TO_EXPORT' }, JSON.stringify(options))
      }
      await assert.rejects(exportLayer(context.store, 'nowhere', folder.path(target)), { code: 'LAYER_NOT_FOUND' })
      await assert.rejects(exportLayer(context.store, 'No Layer', folder.path(target)), { code: 'BAD_LAYER' })
      await assert.rejects(run(target, { time: 'soon' }), { code: 'BAD_TIME' })
    }
    assert.deepEqual(readdirSync(folder.dir), [])
    await assert.rejects(exportHistory(context.store, 'osm', folder.path('h.mbtiles'), { zooms: { min: 4, max: 4 } }),
      { code: 'NOTHING_TO_EXPORT' })
    assert.deepEqual(readdirSync(folder.dir), [])
  })

  it('reports the zooms and bounds of its tiles, and its progress with their number', async () => {
    const area = parseArea({ bbox: '-170,70,-160,75' })
    const summary = await run('out.mbtiles', { time: '2021', area, zooms: { min: 2, max: 3 } })
    assert.deepEqual([summary.minzoom, summary.maxzoom, summary.tiles], [2, 3, 2])
    assert.deepEqual(summary.bounds.map(Math.round), [-180, 67, -135, 79])
    const progressReports = []
    await run('b.mbtiles', { onProgress: progress => progressReports.push(progress) })
    assert.equal(progressReports.length, expected().size)
    assert.deepEqual(progressReports.map(({ tiles }) => tiles), progressReports.map((_, index) => index + 1))
    for (const { total } of progressReports) assert.ok(total === undefined || total === expected().size)
  })

  it('creates no target for an edition without tiles in the area', async () => {
    const { exports, empty } = await exportHistory(context.store,
      'osm', folder.path('h.mbtiles'), { area: parseArea({ bbox: '-1,-1,1,1' }), zooms: { min: 0, max: 0 } })
    assert.deepEqual([exports.map(({ time }) => time), empty], [[EDITIONS[0]], EDITIONS.slice(1)])
    const zooms = { min: 4, max: 4 }
    await assert.rejects(exportHistory(context.store, 'osm', folder.path('none.mbtiles'), { zooms }),
      { code: 'NOTHING_TO_EXPORT' })
    assert.deepEqual(readdirSync(folder.dir), ['h@2021-05-01.mbtiles'])
  })

  it('needs finished editions for a history, and none for the newest tiles', () => withStore(backend, async store => {
    await store.defineLayer('bare', {})
    await store.write([{ layer: 'bare', z: 0, x: 0, y: 0, time: EDITIONS[0], bytes: png(1) }])
    await store.putEdition('bare', EDITIONS[1], { started: EDITIONS[1] })
    await publishFunctions(store)
    await assert.rejects(exportHistory(store, 'bare', folder.path('h.mbtiles')),
      { code: 'NOTHING_TO_EXPORT', message: /no finished editions/ })
    await exportLayer(store, 'bare', folder.path('one.mbtiles'))
  }))

  it('counts tiles that are deleted while it reads as missing, and continues', () => withStore(backend, async store => {
    await store.defineLayer('osm', { format: 'png' })
    await store.write(
      Array.from({ length: 600 }, (_, y) => ({ layer: 'osm', z: 10, x: 1, y, time: EDITIONS[0], bytes: png(y % 50) }))
    )
    await publishFunctions(store)
    const listed = []
    for await (const tile of store.list('osm')) listed.push(tile)
    for (const id of ['osm:10:1:98', 'osm:10:1:99']) {
      await store.couch.update(id, ({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
    }
    store.list = async function * () { yield * listed } // the list before the deletions
    const { tiles, missing, written } = await exportLayer(store, 'osm', folder.path('out.mbtiles'))
    assert.deepEqual([tiles, written, missing], [598, 598, 2])
    assert.equal((await contentsOf(folder.path('out.mbtiles'))).size, 598)
  }))

  it('refuses a layer whose upstream forbids it, unless there is permission', async () => {
    const forbidden = { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png' }
    await context.store.defineLayer('osm', { upstream: forbidden })
    try {
      for (const action of [() => run('out.mbtiles'),
        () => exportHistory(context.store, 'osm', folder.path('out.mbtiles'))]) {
        await assert.rejects(action(), { code: 'EXPORT_FORBIDDEN', message: /tile\.openstreetmap\.org/ })
      }
      assert.ok(!existsSync(folder.path('out.mbtiles')))
      await run('out.mbtiles', { permission: true })
      await context.store.defineLayer('osm', { upstream: { url: 'https://tiles.example.org/{z}/{x}/{y}.png' } })
      await run('b.mbtiles')
      await context.store.defineLayer('osm',
        { upstream: { url: 'https://tiles.example.org/{z}/{x}/{y}.png', seed: false } })
      await assert.rejects(run('c.mbtiles'), { code: 'EXPORT_FORBIDDEN', message: /tiles\.example\.org/ })
    } finally {
      await context.store.defineLayer('osm', { upstream: null })
    }
  })
}, { timeout: 60000 })

describe('the name of a target of a history', () => {
  it('has the time in the place of {time}, or before the extension', () => {
    const day = '2024-03-01T00:00:00Z'
    const hour = '2024-03-01T12:15:00Z'
    for (const [target, time, expectedName] of [
      ['osm.mbtiles', day, 'osm@2024-03-01.mbtiles'], ['osm.mbtiles', hour, 'osm@2024-03-01T121500Z.mbtiles'],
      ['osm', day, 'osm@2024-03-01'], ['a/b/osm/', day, 'a/b/osm@2024-03-01'],
      ['a.b/osm', day, 'a.b/osm@2024-03-01'], ['v1.2', day, 'v1.2@2024-03-01'],
      ['{time}', day, '2024-03-01'], ['{time}/osm.mbtiles', hour, '2024-03-01T121500Z/osm.mbtiles'],
      ['x-{time}/{time}.pmtiles', day, 'x-2024-03-01/2024-03-01.pmtiles']
    ]) assert.equal(targetAt(target, time), expectedName)
  })
})
