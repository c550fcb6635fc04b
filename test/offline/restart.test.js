// Tests downloads during which the tab, the browser or the store is killed, and stores that come back with older or
// other content.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { publishFunctions } from '../support/published.js'
import { json } from '../support/backends.js'
import { killableStores, startProfile } from '../support/offline/mortals.js'
import { field, isBulk, onField, take } from '../support/offline/suite.js'
import { tour } from '../support/offline/tour.js'
import { T, tilesOf, writeWorld } from '../support/offline/world.js'
import { PLAIN, SMALL, completed } from './areas.js'

const ROUNDS = +(process.env.TILECOUCH_OFFLINE_ROUNDS ?? 2) // kills of each kind
const VERSIONS = 1365

/** Small batches, so that a download can be interrupted, and short waits. */
const limits = { batch: 40, smallBytes: 0, batchMost: 40, batchBytes: 64 * 1024, retryDelay: 20 }

const stores = killableStores()
after(() => Promise.all(stores.map(store => store.close())))

onField('a device', ['plain', 'small'], stage => {
  /** Waits until this many more versions are stored. */
  async function waitForTiles (page, count) {
    const { versions } = await field(page, 'status', 'Plain')
    await until(async () => {
      const status = await field(page, 'status', 'Plain')
      return status.versions >= Math.min(versions + count, VERSIONS) || status.state === 'complete'
    }, { timeout: 30000, what: `${count} more tiles` })
  }

  /** Slows the store, so that a download can be interrupted. */
  const slow = () =>
    stage.front.rule(async entry => { if (isBulk(entry)) await new Promise(resolve => { setTimeout(resolve, 30) }) })

  /**
   * Kills the tab, browser or store during a download, ROUNDS times. `open` opens a tab, again after each kill.
   * @param {() => Promise<any>} open @param {(page: any) => Promise<any>} kill @returns {Promise<number>} kills
   */
  async function downloadWithKills (open, kill) {
    let page = await open()
    await field(page, 'add', PLAIN)
    stage.front.forget()
    slow()
    let kills = 0
    for (; kills < ROUNDS; kills++) {
      await field(page, 'begin', 'Plain', 'download')
      await waitForTiles(page, VERSIONS / (ROUNDS + 1))
      if ((await field(page, 'status', 'Plain')).state === 'complete') break
      await kill(page)
      page = await open()
      // a killed browser loses what it had not written to the disk yet, even a new area
      if ((await field(page, 'list')).length) assert.equal((await field(page, 'status', 'Plain')).state, 'incomplete')
      else await field(page, 'add', PLAIN)
    }
    await completed(field(page, 'call', 'Plain', 'download'))
    await stage.isWhole(page, PLAIN)
    return kills
  }

  it('continues a download after its tab is closed in the middle, again and again', async function () {
    this.timeout(60000 + 20000 * ROUNDS)
    const device = await stage.device()
    const kills = await downloadWithKills(() => device.open({ limits }), page => page.close())
    const requestedCount = stage.asked().length
    assert.ok(requestedCount <= VERSIONS + kills * 8 * limits.batch, `${requestedCount} asked for after ${kills} kills`)
  })

  it('completes a download although the browser is killed in the middle, again and again', async function () {
    this.timeout(60000 + 30000 * ROUNDS)
    const profile = await startProfile(this)
    try {
      await downloadWithKills(async () => (await stage.device({ context: await profile.start() })).open({ limits }),
        () => profile.kill())
    } finally {
      await profile.close()
    }
  })

  it('continues a download by itself when the store is killed and started again', async () => {
    const page = await (await stage.device()).open({ limits })
    await field(page, 'add', PLAIN)
    stage.front.forget()
    slow()
    await field(page, 'begin', 'Plain', 'download')
    await waitForTiles(page, 300)
    await stage.backend.server().kill()
    const { versions } = await field(page, 'status', 'Plain')
    assert.ok(versions >= 300 && versions < VERSIONS)
    await stage.backend.server().start()
    await completed(field(page, 'ended', 'Plain'))
    const requestedCount = stage.asked({ answered: true }).length
    assert.ok(requestedCount <= VERSIONS + 8 * limits.batch, `${requestedCount} asked for`)
    await stage.isWhole(page, PLAIN)
  })

  it('shows the same as a store that was restored to an older state', async () => {
    const page = await (await stage.device()).open({ limits })
    await take(page, SMALL)
    const restoreStore = await stage.backend.keep()
    await stage.load('small', { 4: tilesOf(4, (x, y) => x < 4 && y < 4) })
    await field(page, 'call', 'Small', 'refresh')
    await stage.isWhole(page, SMALL)
    await restoreStore()
    await stage.load('small', { 5: tilesOf(4, (x, y) => x === 2 && y < 8) })
    await completed(field(page, 'call', 'Small', 'refresh'))
    const places = /** @type {any} */ ([[60, -135, 4], [0, 0, 3]])
    const times = [T(1), T(2), T(4), T(5)]
    assert.deepEqual(await tour(page, 'small', { places, times }, { offline: true, read: 'only' }),
      await tour(page, 'small', { places, times }))
    const { versions } = await field(page, 'status', 'Small')
    assert.equal(versions, Object.keys(await stage.wanted(SMALL)).length)
  })

  it('shows the same as a store that was deleted and created again', async () => {
    const device = await stage.device()
    device.allow(/status of 404/)
    const page = await device.open({ limits })
    await take(page, SMALL)
    await json(stage.url, { method: 'DELETE' })
    assert.equal((await field(page, 'call', 'Small', 'refresh')).code, 'DATABASE_NOT_FOUND')
    assert.equal((await field(page, 'list'))[0].isComplete, true, 'what it has is as good as before')
    stage.store = await Store.create(stage.url)
    await writeWorld(stage.store, ['plain'])
    await stage.store.defineLayer('small', { name: 'Small', minzoom: 0, maxzoom: 4 })
    await stage.load('small', { 6: tilesOf(4, x => x < 8) })
    await publishFunctions(stage.store)
    await completed(field(page, 'call', 'Small', 'refresh'))
    const places = /** @type {any} */ ([[0, 0, 4]])
    const times = [T(2), T(6)]
    assert.deepEqual(await tour(page, 'small', { places, times }, { offline: true, read: 'only' }),
      await tour(page, 'small', { places, times }))
    const { versions } = await field(page, 'status', 'Small')
    assert.equal(versions, 128)
  })
}, stores)
