// Tests OfflineStore in Node on LevelDB, without a window and without Leaflet, as tools and Electron's main process use
// it. One test kills its process during a download.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import PouchDB from 'pouchdb-node'
import { OfflineStore, TilecouchError } from '../../client/offline/index.js'
import { Store } from '../../loader/index.js'
import { bytesOf } from '../client/pictures.js'
import { publishFunctions } from '../support/published.js'
import { startFront } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'

const child = fileURLToPath(new URL('../support/offline/node-device.js', import.meta.url))
const SIDE = 10
const T = year => `${year}-01-01T00:00:00Z`
const flight = year => square({ layer: 'osm', time: T(year), side: SIDE, seed: (x, y) => year === 2023 ||
  (x + y) % 3 === 0 ? year + x * SIDE + y : undefined })
const WORLD = { name: 'all', layer: 'osm', bbox: [-180, -85, 180, 85], zooms: '0-8', history: true }
// many small requests, so that a download can be interrupted
const SMALL = { batch: 5, smallBytes: 1000, batchBytes: 2000, concurrency: 1 }

onEachStore('a device in Node', backend => {
  const folder = useFolder()
  /** @type {OfflineStore[]} */
  const opened = []
  let url, store, front, remote

  beforeEach(async function () {
    this.timeout(20000)
    url = await backend.database()
    store = await Store.create(url)
    await store.write(flight(2023))
    await store.write(flight(2024))
    await store.defineLayer('osm', { name: 'Map', minzoom: 5, maxzoom: 5 })
    await publishFunctions(store)
    front = await startFront(url, { files: async () => ({}) })
    remote = front.accountUrl
  })
  afterEach(async () => {
    for (const offline of opened.splice(0)) await offline.close()
    await front.close()
  })

  const open = async (name = 'device') => {
    const offline = new OfflineStore({ remote, name: path.join(folder.dir, name), PouchDB, limits: SMALL })
    opened.push(offline)
    await offline.ready
    return offline
  }
  /** Runs a device in a process of its own, which is killed at the first report for which `kill` is true. */
  const run = async (task, options, { kill = () => false, script = child } = {}) => {
    const childProcess = spawn(process.execPath, [
      script, remote, path.join(folder.dir, 'device'), task, JSON.stringify({ limits: SMALL, ...options })
    ], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(childProcess, 'exit')
    const reports = []
    for await (const line of createInterface({ input: childProcess.stdout })) {
      reports.push(JSON.parse(line))
      if (kill(reports[reports.length - 1])) childProcess.kill('SIGKILL')
    }
    return { said: reports, how: (await ended).join() }
  }
  const readImages = async offline => Object.fromEntries(await Promise.all(flight(2023).map(async ({ x, y }) => {
    const storedHead = await offline.device.head('osm', 5, x, y)
    return [`${x}/${y}`, storedHead && (await bytesOf(storedHead.blob)).toString('base64')]
  })))
  const expectedImages = (years = [2023, 2024]) =>
    Object.fromEntries(years.flatMap(flight).map(({ x, y, bytes }) => [`${x}/${y}`, bytes.toString('base64')]))

  it('downloads areas, reads them without a network, refreshes changes, and removes one of two', async function () {
    this.timeout(30000)
    const offline = await open()
    const area = await offline.areas.add(WORLD)
    const half = await offline.areas.add({ ...WORLD, name: 'half', bbox: [-180, 0, -120, 85], history: false })
    const { tiles, versions, bytes } = await area.estimate()
    assert.deepEqual([tiles, versions, bytes], [100, 134, 134 * png(1).length])
    const status = await area.download()
    await half.download()
    assert.deepEqual([status.state, status.tiles, status.versions, status.bytes], ['complete', tiles, versions, bytes])
    await front.stop()
    assert.deepEqual(await readImages(offline), expectedImages())
    const [listedVersions] = await offline.device.versions('osm', [{ z: 5, x: 0, y0: 0, y1: 0 }])
    assert.deepEqual(listedVersions.map(({ time }) => time), [T(2023), T(2024)])
    await front.restart()
    await store.write(flight(2025).slice(0, 7))
    front.forget()
    const { changed } = await area.refresh()
    assert.equal(changed.tiles, 14, 'seven heads, and what they were before')
    await area.remove()
    assert.ok(await offline.device.head('osm', 5, 0, 0))
    assert.deepEqual(offline.areas.list().map(({ name }) => name), ['half'])
    const { usage, ours } = await offline.storage()
    assert.ok(usage === undefined && ours >= half.status().bytes, `${ours} bytes`)
    await offline.destroy()
    assert.equal(existsSync(path.join(folder.dir, 'device')), false)
  })

  it('continues a download whose process was killed in the middle', async function () {
    this.timeout(30000)
    const { said: reports, how } = await run('take', WORLD, { kill: ({ tiles }) => tiles > 25 })
    assert.equal(how, ',SIGKILL')
    const offline = await open()
    const area = offline.areas.get('all')
    assert.equal(area.state, 'incomplete')
    const { state, tiles, changed } = await area.refresh()
    assert.deepEqual([state, tiles], ['complete', 100])
    assert.deepEqual(await readImages(offline), expectedImages())
    assert.ok(changed.docs < 134 - 15, `${changed.docs} fetched after ${reports.length} reports`)
  })

  it('lets its process end by itself after close()', async function () {
    this.timeout(30000)
    folder.write({
      'ends.mjs': `
        import PouchDB from ${JSON.stringify(import.meta.resolve('pouchdb-node'))}
        import { OfflineStore } from ${JSON.stringify(import.meta.resolve('../../client/offline/index.js'))}
        const [remote, name] = process.argv.slice(2)
        const offline = new OfflineStore({ remote, name, PouchDB })
        await offline.ready
        offline.on('online', () => {})
        const area = await offline.areas.add(${JSON.stringify(WORLD)})
        await area.download()
        await area.live(true)
        console.log(JSON.stringify([typeof globalThis.L, typeof globalThis.window, typeof globalThis.localStorage]))
        await offline.close()`
    })
    const { said: reports, how } = await run('', {}, { script: path.join(folder.dir, 'ends.mjs') })
    assert.deepEqual([reports, how], [[['undefined', 'undefined', 'undefined']], '0,'])
  })

  it('refuses a missing PouchDB, a bad address and calls after close()', async () => {
    assert.throws(() => new OfflineStore({ remote: front.url }),
      error => error instanceof TilecouchError && error.code === 'NO_POUCHDB')
    assert.throws(() => new OfflineStore({ remote: 'nonsense', PouchDB }), { code: 'BAD_DATABASE' })
    const offline = await open()
    await offline.close()
    await offline.close()
    await assert.rejects(offline.areas.add(WORLD), { code: 'ABORTED' })
  })
})
