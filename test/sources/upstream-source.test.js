// A tile server as a source: its requests, the written tiles, and the effect of missing and failed tiles.
import assert from 'node:assert/strict'
import { openSource, parseArea } from '../../loader/index.js'
import { QUICK, TILE, useSeeding } from '../support/seeding.js'
import { codeOf } from '../upstream/support.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { loadFrom, tilesOf } from '../support/memory-source.js'
import { startUpstream } from '../support/upstream-server.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const part = { area: parseArea({ bbox: [0, 0, 44, 40] }), zooms: { min: 2, max: 4 } }

onEachStore('a load from a tile server', backend => {
  const map = useSeeding(backend)
  const address = () => `${map.upstream.url}/xyz/{z}/{x}/{y}.png`

  const loadPart = (name, { time = T1, complete, signal, onProgress, ...options } = {}) => {
    const { area = part.area, zooms = part.zooms } = options
    return loadFrom(map.store, name, { layer: 'map', time, complete, signal, onProgress, area, zooms },
      { ...part, fetching: QUICK, signal, ...options })
  }

  it('requests every tile of the area once, and writes an edition of the given time', async () => {
    const result = await loadPart(address())
    const tileCount = part.area.count(part.zooms)
    assert.deepEqual([result.tiles, result.created, map.asked().length, new Set(map.asked()).size],
      [tileCount, tileCount, tileCount, tileCount])
    assert.deepEqual((await map.tiles()).sort(), map.asked().sort())
    const tile = await map.store.head('map', 4, 8, 7)
    assert.deepEqual([tile.time, tile.bytes], [T1, await map.upstream.tile(4, 8, 7)])
    const { upstream, minzoom, maxzoom, format } = await map.store.layer('map')
    assert.deepEqual([upstream, minzoom, maxzoom, format], [undefined, 2, 4, 'png'], 'it is no cache')
    assert.equal((await map.store.edition('map', T1)).source, address())
  })

  it('makes missing tiles gone when it is complete, and keeps tiles that failed', async () => {
    await loadPart(address())
    const statusOfColumn = { 8: 500, 9: 404 }
    map.upstream.behave({ only: ({ z, x }) => z === 4 && x >= 8, status: ({ x }) => statusOfColumn[x] })
    const second = await loadPart(address(), { time: T2, complete: true })
    assert.deepEqual([second.gone, second.failed, second.missing], [2, 2, 2])
    assert.deepEqual(second.failures.map(({ id, code }) => [id, code]).sort(),
      [['map:4:8:6', 'UPSTREAM_FAILED'], ['map:4:8:7', 'UPSTREAM_FAILED']])
    const heads = await map.store.versionsById(['map:4:8:7', 'map:4:9:7'])
    assert.deepEqual([heads.get('map:4:8:7').gone, heads.get('map:4:9:7').gone], [false, true])
    assert.equal((await map.store.at('map', 4, 9, 7, '2023')).time, T1, 'the past stays')
  })

  it('fetches every metatile of a WMS once, and stores only tiles of the area', async () => {
    await map.store.defineLayer('map', { tileSize: 64 })
    const upstream =
      { type: 'wms', url: `${map.upstream.url}/wms`, layers: 'map', buffer: 8, metatile: 4, concurrency: 3 }
    const zooms = { min: 4, max: 4 }
    const result = await loadPart(upstream.url, { upstream, zooms })
    assert.equal(result.created, part.area.count(zooms))
    // columns 8 and 9, rows 6 and 7: one metatile
    assert.equal(map.upstream.asked.length, 1)
    const area = parseArea({ bbox: [-170, -60, 170, 60] })
    map.forget()
    const { tiles } = await loadPart(upstream.url, { upstream, zooms: { min: 5, max: 5 }, area })
    assert.equal(tiles, area.count({ min: 5, max: 5 }))
    assert.equal(map.upstream.asked.length, new Set(map.upstream.asked.map(({ url }) => url)).size, 'none twice')
    assert.ok(map.upstream.mostInFlight <= 3)
    assert.match((await map.store.edition('map', T1)).source, /\/wms \(map\)$/)
  })

  it('resumes after Ctrl-C without requesting loaded tiles again', async () => {
    const zooms = { min: 4, max: 6 }
    const tileCount = part.area.count(zooms)
    const stop = new AbortController()
    map.upstream.behave({ never: () => map.asked().length > tileCount / 2 })
    const loading = loadPart(address(), { zooms, signal: stop.signal, fetching: { ...QUICK, grace: 0.1 } })
      .catch(error => error)
    await until(() => map.asked().length > tileCount / 2 + 3 && map.upstream.inFlight === 4)
    stop.abort()
    const stopped = await loading
    assert.equal(stopped.code, 'ABORTED')
    const storedCount = (await map.tiles()).length
    assert.equal(stopped.summary.created, storedCount)
    assert.ok(storedCount > tileCount / 3, 'what had come is kept')
    map.upstream.behave()
    map.forget()
    const result = await loadPart(address(), { zooms })
    assert.deepEqual([result.tiles, result.unchanged, map.asked().length],
      [tileCount, storedCount, tileCount - storedCount])
    assert.equal((await map.tiles()).length, tileCount)
  })

  it('reads a named server in an inner network; the target of a redirect must be named too', async () => {
    const otherServer = await startUpstream({ tileSize: TILE })
    try {
      map.upstream.behave({ redirect: ({ url }) => `${otherServer.url}${url}` })
      await assert.rejects(loadPart(address(), { zooms: { min: 0, max: 1 } }), { code: 'UPSTREAM_ADDRESS' })
      assert.deepEqual(otherServer.requests, [])
      const { created, failed } = await loadPart(address(), { zooms: { min: 0, max: 1 }, networks: [otherServer.host] })
      assert.deepEqual([created, failed], [otherServer.asked.length, 0])
    } finally {
      await otherServer.close()
    }
  })

  it('gives up on a server that does not answer', async () => {
    await loadPart(address())
    const closedServer = await startUpstream()
    await closedServer.close()
    const failure = await loadPart(`${closedServer.url}/xyz/{z}/{x}/{y}.png`,
      { time: T2, fetching: { ...QUICK, giveUpAfter: 0.05, delay: 20 }, complete: true }).catch(error => error)
    assert.equal(failure.code, 'UPSTREAM_UNREACHABLE')
    assert.equal(failure.summary.gone, 0)
    assert.equal((await map.store.edition('map', T2)).finished, undefined)
  })

  it('reads the counted number of tiles in the order of ids, and keeps the limit of requests', async () => {
    const source = await openSource(address(), { ...part, rate: 100, requests: 2, fetching: QUICK })
    const listed = await tilesOf(source)
    assert.equal(listed.length, source.total)
    assert.deepEqual(listed.map(tile => tile.replaceAll('/', ':')),
      listed.map(tile => tile.replaceAll('/', ':')).sort())
    const { value: first } = await source.tiles()[Symbol.asyncIterator]().next()
    assert.deepEqual(await first.read(), await map.upstream.tile(first.z, first.x, first.y))
    await source.close()
    map.upstream.behave({ wait: 5 })
    await loadPart(address(), { requests: 2 })
    assert.equal(map.upstream.mostInFlight, 2)
  })
})

describe('a tile server', () => {
  const open = async (name, options) => {
    const source = await openSource(name, options)
    await source.close()
    return source
  }
  const url = 'http://127.0.0.1:1/{z}/{x}/{y}.png'
  const zooms = { min: 0, max: 3 }

  it('needs zooms, and an area for many tiles', async () => {
    assert.equal(await codeOf(open(url)), 'BAD_AREA')
    assert.equal(await codeOf(open(url, { zooms: { min: 0, max: 14 } })), 'BAD_AREA')
    assert.equal((await open(url, { zooms })).total, 85)
    assert.equal((await open(url, { zooms: { min: 0, max: 14 }, area: parseArea({ bbox: [-180, -90, 180, 90] }) }))
      .total, (4 ** 15 - 1) / 3)
    assert.equal((await open(url, { upstream: { url, maxzoom: 2 } })).total, 21)
    assert.equal((await open(url, { upstream: { url, bounds: [0, 0, 10, 10] }, zooms: { min: 0, max: 14 } })).total,
      parseArea({ bbox: [0, 0, 10, 10] }).count({ min: 0, max: 14 }))
    assert.equal(await codeOf(open(url, { upstream: { url, minzoom: 5 }, zooms })), 'BAD_AREA')
  })

  it('whose terms forbid loading is refused, unless there is permission', async () => {
    const osm = 'https://tile.openstreetmap.org/{z}/{x}/{y}.png'
    assert.equal(await codeOf(open(osm, { zooms, layer: 'osm' })), 'SEED_FORBIDDEN')
    assert.equal(await codeOf(open(url, { zooms, upstream: { url, seed: false } })), 'SEED_FORBIDDEN')
    assert.equal((await open(osm, { zooms, permission: true })).total, 85)
  })

  it('is recognised by its address: XYZ, TMS, WMTS and quadkeys', async () => {
    for (const address of [url, 'http://h/{z}/{x}/{-y}.png', 'http://h/{quadkey}.png',
      'http://h/wmts/{TileMatrix}/{TileRow}/{TileCol}.png', 'http://h/t?z={z}&x={x}&y={y}']) {
      assert.equal((await open(address, { zooms })).total, 85, address)
    }
    assert.equal(await codeOf(open('http://{s}.example.org/{z}/{x}/{y}.png', { zooms })), 'BAD_UPSTREAM')
    assert.equal(await codeOf(open('http://u:secret@h/{z}/{x}/{y}.png', { zooms })), 'BAD_UPSTREAM')
    assert.equal(await codeOf(open('http://h/{z}/{x}/{y}.png?apikey=1', { zooms })), 'BAD_UPSTREAM')
    assert.equal(await codeOf(open('http://h/{z}/{x}.png', { zooms })), 'BAD_UPSTREAM')
  })
})
