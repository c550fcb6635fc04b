/* global window -- of the page, in functions that run there */
// Tests downloads to a device that has little or no free room.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../core/index.js'
import { checkFits, storageRoom, storageSize } from '../../client/offline/storage.js'
import { field, onField, take } from '../support/offline/suite.js'
import { WORLD_BOX, completed } from './areas.js'

const ALL = { name: 'All', layer: 'heavy', bbox: WORLD_BOX, zooms: '0-4', history: true }
const LOTS = { limits: { batch: 50, smallBytes: 1, batchMost: 50 } }
const PART = { name: 'Part', layer: 'small', bbox: WORLD_BOX, zooms: '0-3' }

onField('areas on a device with little room', ['heavy', 'small'], stage => {
  let device, page, session
  beforeEach(async () => {
    session = undefined
    device = await stage.device()
    page = await device.open(LOTS)
  })

  /** Gives the page this many free bytes, or all that the device has. @param {number} [bytes] */
  async function give (bytes) {
    session ??= await device.context.newCDPSession(page) // the quota applies while this session is open
    const { usage } = await storage()
    await session.send('Storage.overrideQuotaForOrigin',
      { origin: new URL(page.url()).origin, ...(bytes !== undefined && { quotaSize: usage + bytes }) })
  }
  const storage = () => page.evaluate(() => /** @type {any} */ (window).offline.storage())
  const images = () => page.evaluate(async () => {
    const { offline } = /** @type {any} */ (window)
    const { rows } = await offline.areas.get('All').db.allDocs({ startkey: 'heavy:', endkey: 'heavy;' })
    const last = rows.at(-1)?.id
    const [, z, x, y] = last?.split(':') ?? []
    return { count: rows.length, shown: last && (await offline.device.head('heavy', +z, +x, +y)).blob.size > 0 }
  })

  /**
   * Opens a new device with room for one area, but not for the second one. The quota is set first, because Chromium
   * caches it for a while.
   */
  async function openFull () {
    device = await stage.device()
    await device.ready
    page = await device.context.newPage()
    await page.goto(device.address)
    session = await device.context.newCDPSession(page)
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(page.url()).origin, quotaSize: 2300000 })
    device.allow(/Database has a global failure|QuotaExceededError/)
    await device.begin(page, LOTS)
    await take(page, PART)
    await field(page, 'add', ALL)
  }

  it('report the free room and their own size', async () => {
    const before = await storage()
    assert.ok(before.quota > 1e6 && before.free > 0 && before.usage >= 0 &&
      typeof before.persisted === 'boolean' && before.ours === 0)
    const { bytes, versions } = await take(page, PART)
    assert.equal((await storage()).ours, storageSize({ bytes, versions }))
    assert.equal(typeof await page.evaluate(() => /** @type {any} */ (window).offline.persist()), 'boolean')
  })

  it('are refused with figures before the download of tiles when they do not fit', async () => {
    await field(page, 'add', ALL)
    await give(200000)
    stage.front.forget()
    const { code, message, details } = await field(page, 'call', 'All', 'download')
    assert.equal(code, 'QUOTA_EXCEEDED')
    assert.match(message, /^no room on this device for "All": it needs \d\.\d MB, and 0\.\d MB are free$/)
    assert.ok(details.needed > details.free && details.quota > 0, JSON.stringify(details))
    const { state, versions } = await field(page, 'status', 'All')
    assert.deepEqual([state, versions], ['new', 0])
    assert.ok(stage.asked().length < 200, 'some are looked at for how large they are')
    await give()
    await completed(field(page, 'call', 'All', 'download', { force: true }))
  })

  it('stop when the device becomes full, keep their tiles, and continue when there is room', async () => {
    await openFull()
    const { code, message, details } = await field(page, 'call', 'All', 'download', { force: true })
    assert.equal(code, 'QUOTA_EXCEEDED', message)
    assert.equal(details.area, 'All')
    const status = await field(page, 'status', 'All')
    assert.deepEqual([status.state, status.error, status.reason], ['incomplete', 'QUOTA_EXCEEDED', message])
    const storedImages = await images()
    assert.ok(storedImages.count > 20 && storedImages.count < 341 && storedImages.shown, JSON.stringify(storedImages))
    assert.equal((await field(page, 'status', 'Part')).state, 'complete')
    assert.deepEqual(await field(page, 'unreadable', 'Part'), [])
    await device.reload(page, LOTS) // still full
    assert.deepEqual([(await field(page, 'status', 'All')).error, await images()], ['QUOTA_EXCEEDED', storedImages])
    // makes room: an area is removed, and the quota is raised
    const { result: removed, ...removeError } = await field(page, 'call', 'Part', 'remove')
    assert.equal(removed, null, removeError.message)
    await give()
    stage.front.forget()
    const { tiles, error } = await completed(field(page, 'call', 'All', 'download'))
    assert.deepEqual([tiles, error], [341, undefined])
    assert.ok(stage.asked().length <= 341 - storedImages.count + 150, 'not from the beginning')
    assert.deepEqual(await field(page, 'unreadable', 'All'), [])
  })

  it('can be paused, added, removed and continued in the tab that found the device full', async () => {
    await openFull()
    // repeated, so that the room reserved for notes is used up as well
    for (let attempt = 0; attempt < 4; attempt++) {
      assert.equal((await field(page, 'call', 'All', 'download', { force: true })).code,
        'QUOTA_EXCEEDED', `${attempt} times`)
    }
    assert.deepEqual([(await field(page, 'call', 'All', 'pause')).code, (await field(page, 'status', 'All')).state],
      [undefined, 'paused'])
    assert.equal((await field(page, 'add', { ...PART, name: 'Other' })).code,
      'DISK_FULL', 'that it is full is no lie yet')
    assert.equal((await field(page, 'call', 'Part', 'remove')).code, undefined, 'it is what makes room')
    await give()
    for (const [name, verb, ...args] of [['All', 'pause'], ['All', 'rename', 'World'], ['World', 'rename', 'All']]) {
      const { code } = await field(page, 'call', name, verb, ...args)
      assert.equal(code, undefined, verb)
    }
    const { code, message } = await field(page, 'add', { ...PART, name: 'Other' })
    assert.equal(code, undefined, message)
    assert.equal((await completed(field(page, 'call', 'All', 'download'))).tiles, 341)
    assert.deepEqual(await field(page, 'unreadable', 'All'), [])
    await device.reload(page, LOTS)
    assert.deepEqual((await field(page, 'list')).map(({ name }) => name), ['All', 'Other'])
  })

  it('use between a quarter and 1.5 times of their stated size', async () => {
    await take(page, PART)
    const before = await storage()
    const { bytes, versions } = await take(page, { ...ALL, name: 'Large' })
    const used = (await storage()).usage - before.usage
    const stated = storageSize({ bytes, versions })
    assert.ok(used < 1.5 * stated && used > stated / 4, `${used} used, ${stated} said`)
  })
})

describe('the check of free room', () => {
  const MB = 1e6
  const checkRoom = (bytes, storedBytes, room) => {
    try {
      checkFits('A', { bytes, versions: 0 }, { bytes: storedBytes, versions: 0 }, room)
      return true
    } catch (error) {
      assert.ok(error instanceof TilecouchError && error.code === 'QUOTA_EXCEEDED')
      return error.details
    }
  }

  it('compares the missing bytes, a third larger as text, with the free room minus a reserve, if any', async () => {
    const room = { quota: 1000 * MB, free: 500 * MB }
    assert.equal(checkRoom(330 * MB, 0, room), true)
    assert.deepEqual(checkRoom(360 * MB, 0, room),
      { area: 'A', needed: 480 * MB, free: 450 * MB, quota: 1000 * MB, reserve: 50 * MB })
    assert.equal(checkRoom(360 * MB, 60 * MB, room), true)
    assert.equal(checkRoom(360 * MB, 360 * MB, { quota: 1000 * MB, free: 0 }), true, 'nothing more is needed')
    assert.equal(checkRoom(1e15, 0, {}), true, 'the browser reports no quota')
    for (const storage of [undefined, /** @type {any} */ ({ estimate: async () => ({}) })]) {
      assert.deepEqual(await storageRoom(storage),
        { usage: undefined, quota: undefined, free: undefined, persisted: undefined })
    }
  })
})
