// Tests the styles of a layer on a device: the styles for the times of an area, their sprites, and the glyphs that its
// labels need.
import assert from 'node:assert/strict'
import path from 'node:path'
import { validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { until } from '../../bench/wait.js'
import { removeStyle } from '../../loader/maintain/remove/index.js'
import { storeStyle } from '../../loader/store/style.js'
import { bytesOf } from '../client/pictures.js'
import { openPolls } from '../client/requests.js'
import { publishFunctions } from '../support/published.js'
import { startFront } from '../support/client/front.js'
import { openGateway } from '../support/gateway/stand.js'
import { T1, T2, T3, folderOf, styleOf } from '../style/files.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { square } from '../support/tiles.js'
import { packTile } from '../support/vector-tile.js'
import { useDevices } from '../support/offline/devices.js'

const WORLD = { name: 'all', layer: 'osm', bbox: [-180, -85, 180, 85], zooms: '0-3' }
const FONT = 'Noto Sans Regular'
const RANGES = ['0-255', '256-511', '768-1023', '1024-1279', '1536-1791', '64256-64511', '65024-65279']
const SPRITE = ['sprite.json', 'sprite.png', 'sprite@2x.json', 'sprite@2x.png']
const glyphs = (...ranges) => ranges.map(range => `glyphs/${FONT}/${range}.pbf`)
/** The files that the labels of the tiles need, in Latin letters. */
const NEEDED = [...SPRITE, ...glyphs('0-255', '256-511')].sort()
const isFile = ({ path: name }) => /^style(:|%3A)[^?]*\/(sprite|glyphs)/.test(name)

/** A tile at 3/x/0 with one feature. */
const tile = (x, properties, time = T1) => ({
  layer: 'osm', z: 3, x, y: 0, time, bytes: packTile({ place: [{ type: 'Point', lines: [[[x, 7]]], properties }] })
})

onEachStore('styles on a device', backend => {
  const folder = useFolder()
  const device = useDevices()
  const fixture = useStore(backend, { fill: async store => {
    await store.defineLayer('osm',
      { format: 'pbf', minzoom: 0, maxzoom: 3, vector_layers: [{ id: 'place', fields: { name: 'String' } }] })
    await store.defineLayer('relief', { minzoom: 3, maxzoom: 3 })
    await store.write([tile(0, { name: 'Zürich' }), tile(1, { name: 'Łódź', other: 'Αθήνα' })])
    await store.write(square({ layer: 'relief', time: T1, z: 3, side: 2, seed: () => 1 }))
    await publishFunctions(store)
  } })
  let front, remote, number

  beforeEach(async () => {
    number = 0
    front = await startFront(fixture.url, { files: async () => ({}) })
    remote = front.accountUrl
  })
  afterEach(() => front.close())

  /** Stores a style with all ranges of a font, and a font that it does not use. */
  async function putStyle (time, fields) {
    const name = `style${number++}`
    const files = { ...folderOf(fields), 'glyphs/Unused/0-255.pbf': Buffer.from([1]) }
    for (const range of RANGES) files[`glyphs/${FONT}/${range}.pbf`] = Buffer.from(`${range} of ${FONT}`)
    folder.write(Object.fromEntries(Object.entries(files).map(([file, bytes]) => [`${name}/${file}`, bytes])))
    await storeStyle(fixture.store, 'osm', path.join(folder.dir, name), { time })
    return files
  }
  /** Returns the names of the files of a style that are on the device. */
  async function storedFiles (offline, time, files) {
    const blobs = await Promise.all(Object.keys(files).map(name => offline.device.styleFile('osm', time, name)))
    for (const [index, [name, bytes]] of Object.entries(files).entries()) {
      if (blobs[index]) assert.deepEqual(await bytesOf(blobs[index]), Buffer.from(bytes), name)
    }
    return Object.keys(files).filter((name, index) => blobs[index]).sort()
  }
  const styleNames = async (offline, times) =>
    Promise.all(times.map(async time => (await offline.device.style('osm', time))?.style.name))
  const documents = async area => (await area.db.allDocs({ startkey: 'style:', endkey: 'style;' }))
    .rows.map(({ id }) => id)

  it('are downloaded with the sprite and glyphs that they need, and read without a network', async () => {
    const files = await putStyle(T1, { name: 'A' })
    const offline = await device(remote)
    const area = await offline.areas.add(WORLD)
    await area.download()
    assert.equal(area.status().state, 'complete')
    await front.stop()
    assert.deepEqual(await storedFiles(offline, T1, files), NEEDED, 'no Greek: no label shows that attribute')
    const { style, time } = await offline.device.style('osm', '2024')
    assert.equal(time, T1)
    assert.deepEqual(style, styleOf({
      name: 'A',
      sources: {
        osm: { type: 'vector', url: 'couch://osm@2024' },
        relief: { type: 'raster', tiles: ['couch://relief@2024/{z}/{x}/{y}.png'], tileSize: 256 }
      },
      sprite: `couch://styles/osm@${T1}/sprite`,
      glyphs: `couch://styles/osm@${T1}/glyphs/{fontstack}/{range}.pbf`
    }))
    assert.deepEqual(validateStyleMin(style).map(({ message }) => message), [])
    assert.equal((await offline.device.style('osm')).style.sources.osm.url, 'couch://osm')
    assert.equal((await offline.device.styleFile('osm', T1, 'sprite.png')).type, 'image/png')
    assert.ok(await offline.device.styleFile('osm', T1, `glyphs/${FONT},Arial/0-255.pbf`), 'the first font of a stack')
    assert.equal(await offline.device.styleFile('osm', T2, 'sprite.png'), undefined)

    const gateway = await openGateway(fixture.url)
    try {
      const other = await device(`${gateway.url}/db`)
      assert.equal((await (await other.areas.add(WORLD)).download()).state, 'complete')
      assert.deepEqual(await storedFiles(other, T1, files), NEEDED, 'of a gateway')
    } finally {
      await gateway.close()
    }
  })

  it('are those of the times that their area keeps', async () => {
    for (const [time, name] of [[T1, 'A'], [T2, 'B'], [T3, 'C']]) await putStyle(time, { name })
    const times = ['2021', '2022', '2023', '2024', undefined]
    for (const [history, expectedNames] of /** @type {[any, any[]][]} */ ([
      [false, ['osm', 'osm', 'osm', 'C', 'C']],
      [true, ['osm', 'A', 'B', 'C', 'C']],
      [{ since: '2023-06' }, ['osm', 'osm', 'B', 'C', 'C']],
      [{ since: T2 }, ['osm', 'osm', 'B', 'C', 'C']],
      [{ since: '2020' }, ['osm', 'A', 'B', 'C', 'C']]
    ])) {
      const offline = await device(remote)
      await (await offline.areas.add({ ...WORLD, history })).download()
      assert.deepEqual(await styleNames(offline, times), expectedNames, JSON.stringify(history))
    }
  })

  it('share their files, which another area copies from the device', async () => {
    await putStyle(T1, { name: 'A' })
    await putStyle(T2, { name: 'B' })
    const offline = await device(remote)
    await (await offline.areas.add({ ...WORLD, history: true })).download()
    assert.equal(front.requests().filter(isFile).length, 6, 'each once')
    front.forget()
    const half = await offline.areas.add({ ...WORLD, name: 'half', zooms: '3' })
    await half.download()
    assert.deepEqual(front.requests().filter(isFile), [])
    await offline.areas.get('all').remove()
    assert.ok(await offline.device.styleFile('osm', T2, 'sprite.png'))
    await half.remove()
    assert.deepEqual([await offline.device.styleFile('osm', T2, 'sprite.png'), await offline.device.style('osm')],
      [undefined, undefined])
  })

  it('follow the store in a refresh: new styles, removed styles and new letters', async () => {
    const files = await putStyle(T1, { name: 'A' })
    const offline = await device(remote)
    const area = await offline.areas.add(WORLD)
    await area.download()
    await putStyle(T2, { name: 'B' })
    await area.refresh()
    assert.deepEqual(await styleNames(offline, [undefined, '2022']), ['B', 'osm'])
    assert.equal((await documents(area)).length, 7, 'the style before it is gone, its files are those of the next one')

    await fixture.store.write([tile(2, { name: 'القاهرة' }, T2)])
    front.forget()
    await area.refresh()
    assert.equal(front.requests().filter(isFile).length, 3)
    assert.deepEqual(await storedFiles(offline, T2, files), [
      ...SPRITE, ...glyphs('0-255', '256-511', '1536-1791', '64256-64511', '65024-65279')
    ].sort(), 'with the joined forms of Arabic')

    await removeStyle(fixture.store, 'osm', T2)
    await area.refresh()
    assert.deepEqual(await styleNames(offline, [undefined]), ['A'])
    await removeStyle(fixture.store, 'osm', T1)
    await area.refresh()
    assert.deepEqual([await styleNames(offline, [undefined]), await documents(area), area.status().styles],
      [['osm'], [], 0])
  })

  it('are downloaded by a live area as soon as they are stored', async () => {
    const offline = await device(remote)
    const area = await offline.areas.add(WORLD)
    await area.download()
    await area.live()
    const tilesEvent = new Promise(resolve => offline.on('tiles', resolve))
    await until(() => openPolls(front), { what: 'a poll' })
    await putStyle(T1, { name: 'A' })
    await tilesEvent
    await until(async () => (await styleNames(offline, [undefined]))[0] === 'A', { timeout: 10000, what: 'the style' })
  })

  it('are part of the estimate, the status and the storage figures', async () => {
    await putStyle(T1, { name: 'A' })
    const offline = await device(remote)
    const without = await offline.areas.estimate({ ...WORLD, layer: 'relief' })
    assert.equal(without.styles, 0)
    const { styles, transfer, ...figures } = await offline.areas.estimate(WORLD)
    const area = await offline.areas.add(WORLD)
    await area.download()
    const status = area.status()
    assert.ok(status.styles > 900 && status.styles < styles && styles < status.styles + 300,
      `${status.styles} of ${styles}`)
    assert.ok(transfer > styles + figures.bytes)
    assert.deepEqual([status.tiles, status.bytes], [figures.tiles, figures.bytes], 'images alone')
    assert.ok((await offline.storage()).ours >= status.styles + status.bytes)
  })

  it('are completed after an abort, with the letters of tiles that were already there', async () => {
    const files = await putStyle(T1, { name: 'A' })
    const name = 'again'
    let offline = await device(remote, { name, limits: { concurrency: 1 } })
    const stop = new AbortController()
    let answered = 0
    front.rule(entry => { if (isFile(entry) && ++answered === 4) stop.abort() })
    const area = await offline.areas.add(WORLD)
    await assert.rejects(area.download({ signal: stop.signal }), { code: 'ABORTED' })
    await offline.close()
    offline = await device(remote, { name })
    assert.deepEqual(await styleNames(offline, [undefined]), ['osm'], 'a style is there when its files are')
    front.forget()
    await offline.areas.get('all').download()
    assert.equal(front.requests().filter(isFile).length, 3)
    assert.deepEqual(await storedFiles(offline, T1, files), NEEDED)
  })

  it('have the glyphs for tiles that arrived before the process ended', async () => {
    const files = await putStyle(T1, { name: 'A' })
    await fixture.store.write(
      Array.from({ length: 4 }, (_, index) => tile(index + 2, { name: 'Bern'.repeat(index + 1) })))
    const name = 'ended'
    let offline = await device(remote, { name, limits: { batch: 1, batchMost: 1, smallBytes: 1, concurrency: 1 } })
    const stop = new AbortController()
    const isStored = async () => Boolean(await offline.device.head('osm', 3, 1, 0))
    const removeRule = front.rule(async ({ body }) => {
      if (!body?.docs?.some(({ id, atts_since: knownRevs }) => id === 'osm:3:5:0' && !knownRevs)) return
      await until(isStored, { timeout: 5000, what: 'the tile with a Polish name' })
      stop.abort()
    })
    await assert.rejects((await offline.areas.add(WORLD)).download({ signal: stop.signal }), { code: 'ABORTED' })
    removeRule()
    await offline.close()
    offline = await device(remote, { name })
    front.forget()
    await offline.areas.get('all').download()
    const requestedIds = front.requests().flatMap(({ body }) => body?.docs?.map(({ id }) => id))
    assert.ok(!requestedIds.includes('osm:3:1:0'), 'it is not asked for again')
    assert.deepEqual(await storedFiles(offline, T1, files), NEEDED)
  })

  it('are completed by the next download when a file was damaged', async () => {
    const files = await putStyle(T1, { name: 'A' })
    const offline = await device(remote, { limits: { concurrency: 1 } })
    offline.couch.options.retries = 1
    const removeRule =
      front.rule(entry => /sprite\.png/.test(entry.path) && { status: 200, body: Buffer.from('a captive portal') })
    const area = await offline.areas.add(WORLD)
    const { state, error, tiles } = await area.download()
    assert.deepEqual([state, error, tiles], ['incomplete', 'BAD_ANSWER', 2])
    removeRule()
    front.forget()
    assert.equal((await area.download()).state, 'complete')
    assert.equal(front.requests().filter(isFile).length, 1)
    assert.deepEqual(await storedFiles(offline, T1, files), NEEDED)
  })

  it('include every range of their fonts when the letters are unknown', async () => {
    const files = await putStyle(T1, { name: 'A', sources: {
      osm: { type: 'vector', url: 'couch://osm' }, relief: { type: 'raster', url: 'couch://relief' },
      more: { type: 'vector', url: 'https://example.org/more.json' }
    } })
    const offline = await device(remote)
    await (await offline.areas.add(WORLD)).download()
    assert.deepEqual(await storedFiles(offline, T1, files), [...SPRITE, ...glyphs(...RANGES)].sort(),
      'labels may come from tiles of another layer')
    await fixture.store.defineLayer('later', { format: 'pbf', minzoom: 3, maxzoom: 3 })
    await fixture.store.write([{ ...tile(0, { name: 'Bern' }), layer: 'later' }])
    const area = await offline.areas.add({ ...WORLD, name: 'later', layer: 'later' })
    await area.download()
    await storeStyle(fixture.store, 'later', path.join(folder.dir, 'style0'), { time: T1 })
    await area.refresh()
    assert.equal((await documents(area)).length, 1 + SPRITE.length + RANGES.length, 'the style came after the tiles')
  })

  it('are default styles for a layer without any, and undefined for a layer not on the device', async () => {
    const offline = await device(remote)
    const area = await offline.areas.add({ ...WORLD, layer: 'relief' })
    assert.equal((await area.download()).state, 'complete')
    const { style, time } = await offline.device.style('relief', '2022')
    assert.deepEqual([time, style.sources.relief],
      [undefined, { type: 'raster', url: 'couch://relief@2022', tileSize: 256 }])
    assert.equal(await offline.device.style('osm'), undefined)
    assert.deepEqual(await documents(area), [])
  })
}, { timeout: 30000 })
