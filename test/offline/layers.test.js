/* global window, document -- of the page, in functions that run there */
// Tests maps that read from a device, in Chromium on IndexedDB. The server is stopped, or it accepts requests and does
// not answer.
import assert from 'node:assert/strict'
import { draw, pictureAt, waitForRest } from '../support/client/maps.js'
import { field, onField, take } from '../support/offline/suite.js'
import { T, tilesOf } from '../support/offline/world.js'

const WEST = { name: 'West', layer: 'small', bbox: [-179.9, -84, -0.1, 84], zooms: '0-3' }
const PAST = { ...WEST, name: 'Past', history: true }
const ALL = [-179.9, -84, 179.9, 84]
const KINDS = ['couch', 'history']
const isWest = key => +key.split('/')[1] < 2 ** (+key.split('/')[0] - 1)

/** Waits until no tile is loading and the visible tiles satisfy `isRight`. Returns the picture. */
async function settled (page, isRight, argument) {
  await page.waitForFunction(() => !/** @type {any} */ (window).layer.isLoading())
  await page.waitForFunction(([rule, given]) => {
    const { see, layer } = /** @type {any} */ (window)
    const picture = see.picture()
    return Object.keys(picture).length && (layer.history ?? layer._link).isReady &&
      new Function('picture', 'given', `return (${rule})(picture, given)`)(picture, given)
  }, [isRight.toString(), argument])
  return page.evaluate(() => /** @type {any} */ (window).see.picture())
}
/** Waits until every tile in view shows a step. Returns the picture. */
const waitForStep = (page, step) =>
  settled(page, (tiles, text) => Object.values(tiles).every(shown => shown === text), `${step}`)
/** Waits until every tile in the western half of the view shows step 2. Returns the picture. */
const waitForWest = page => settled(page,
  tiles => Object.entries(tiles).filter(([key]) => +key.split('/')[1] < 4).every(([, text]) => text === '2'))
const events = (page, type) =>
  page.evaluate(eventType => /** @type {any} */ (window).events.filter(event => event.type === eventType), type)
const readMarked = page => page.evaluate(() => {
  const { layer } = /** @type {any} */ (window)
  return Object.values(layer._tiles)
    .filter(({ el, current }) => current && el.classList.contains('tilecouch-on-device'))
      .map(({ coords: { z, x, y } }) => `${z}/${x}/${y}`).sort()
})
const run = (page, task, value) => page.evaluate(task, value)

onField('maps that read from a device', ['small'], stage => {
  let device
  let page

  before(async () => {
    device = await stage.device({ stays: true })
    page = await device.open()
    await take(page, PAST)
  })
  beforeEach(() => stage.front.forget())

  for (const kind of KINDS) {
    it(`show the tiles of the device without a network, each marked (${kind})`, async () => {
      await device.leave()
      await draw(page, 'small', { kind, offline: true, map: { center: [0, -90] } })
      const picture = await waitForWest(page)
      assert.ok(Object.keys(picture).filter(isWest).length >= 6, JSON.stringify(picture))
      const markedKeys = await readMarked(page)
      assert.deepEqual(markedKeys.filter(key => !isWest(key)), [])
      for (const key of Object.keys(picture).filter(isWest)) assert.ok(markedKeys.includes(key), key)
      assert.equal((await run(page, () => /** @type {any} */ (window).see.urls())).open, 0, 'object URLs')
      await device.comeBack()
    })

    it(`draw the other tiles by themselves when the store is back (${kind})`, async () => {
      await device.leave()
      await draw(page, 'small', { kind, offline: true })
      await page.waitForFunction(() => /** @type {any} */ (window).events.some(({ type }) => type === 'storeerror'))
      await settled(page, tiles => Object.entries(tiles).some(([, text]) => text === '2'))
      await device.comeBack()
      const picture = await waitForStep(page, 2)
      assert.ok(Object.keys(picture).some(key => !isWest(key)))
      assert.deepEqual((await readMarked(page)).filter(key => !isWest(key)), [])
      await page.waitForFunction(() => /** @type {any} */ (window).events.some(({ type }) => type === 'storeback'))
      assert.ok((await events(page, 'storeerror')).length)
    })

    it(`show the tiles of the device while the store does not answer (${kind})`, async () => {
      await draw(page, 'small', { kind, offline: true, timeout: 4000, attempts: 1, map: { center: [0, 170] } })
      await waitForStep(page, 2)
      stage.front.rule(() => new Promise(() => {}))
      await run(page, () => { /** @type {any} */ (window).map.setView([0, 0], 3, { animate: false }) })
      await page.waitForFunction(() => {
        const { see } = /** @type {any} */ (window)
        const west = Object.entries(see.picture()).filter(([key]) => +key.split('/')[1] < 4)
        return west.length >= 4 && west.every(([, text]) => text === '2')
      })
      assert.deepEqual(await events(page, 'storeerror'), [], 'before the store is given up')
      // the loads of the other tiles end, too
      await page.waitForFunction(() => !/** @type {any} */ (window).layer.isLoading())
      await run(page, () => { /** @type {any} */ (window).layer.remove() }) // otherwise it requests tiles later
      stage.front.reset()
    })

    it(`enlarge the nearest ancestor on the device at a deeper zoom (${kind})`, async () => {
      await draw(page, 'small', { kind, offline: true, read: 'only', map: { center: [0, -90], zoom: 4 } })
      const picture = await settled(page, tiles => Object.entries(tiles)
        .filter(([key]) => +key.split('/')[1] < 8).every(([, text]) => /^2<3\.[0-3]$/.test(text)))
      for (const [key, text] of Object.entries(picture).filter(([name]) => isWest(name))) {
        const [, x, y] = key.split('/').map(Number)
        assert.equal(text, `2<3.${x % 2 + 2 * (y % 2)}`, key)
      }
      assert.deepEqual(stage.front.requests('tile'), [])
    })

    it(`request an image from the store when it is damaged on the device (${kind})`, async () => {
      await run(page, () => {
        const { device: localDevice } = /** @type {any} */ (window).offline
        const brokenImage = new Blob([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])], { type: 'image/png' })
        const { tile } = localDevice
        localDevice.tile = version => version.x === 1 && version.y === 3 ? brokenImage : tile.call(localDevice, version)
      })
      await draw(page, 'small', { kind, offline: true, map: { center: [0, -90] } })
      await waitForWest(page)
      assert.deepEqual(stage.front.tiles().filter(isWest), ['3/1/3'])
      await run(page, () => { delete /** @type {any} */ (window).offline.device.tile })
    })
  }

  it('show changes, the extent and every step without a network', async () => {
    await draw(page, 'small', { offline: true, map: { center: [0, -90] } })
    await waitForRest(page)
    const onlineChanges = await run(page, () => /** @type {any} */ (window).layer.changes())
    await device.leave()
    await draw(page, 'small', { offline: true, read: 'only', map: { center: [0, -90] } })
    await page.waitForFunction(() => /** @type {any} */ (window).layer.extent())
    assert.deepEqual(await run(page, () => /** @type {any} */ (window).layer.extent()), { first: T(1), last: T(2) })
    for (const step of [1, 2, 1]) {
      const picture = await pictureAt(page, T(step))
      for (const [key, text] of Object.entries(picture)) assert.equal(text, isWest(key) ? `${step}` : '-', key)
    }
    await pictureAt(page, null)
    const deviceChanges = await run(page, () => /** @type {any} */ (window).layer.changes())
    assert.deepEqual(deviceChanges.map(({ time }) => time), onlineChanges.map(({ time }) => time))
    await pictureAt(page, '2023-01-01')
    assert.deepEqual(await events(page, 'storeerror'), [])
    await device.comeBack()
  })

  it('cause no unhandled rejection when the map, layer, area or store ends during a load', async () => {
    for (const kind of KINDS) {
      const shortPage = await device.open({ name: `short-${kind}` })
      await take(shortPage, { ...WEST, zooms: '3' })
      await shortPage.evaluate(() => {
        Object.assign(window, { failures: [] })
        window.addEventListener('unhandledrejection',
          ({ reason }) => /** @type {any} */ (window).failures.push(String(reason)))
      })
      for (const end of ['map', 'layer', 'area', 'store']) {
        await draw(shortPage, 'small', { kind, offline: true, map: { center: [0, -90] } })
        await shortPage.evaluate(target => {
          const { map, layer, offline } = /** @type {any} */ (window)
          map.panBy([300, 0], { animate: false })
          if (target === 'map') map.remove()
          if (target === 'layer') layer.remove()
          if (target === 'area') return offline.areas.get('West').remove()
          if (target === 'store') return offline.close()
        }, end)
        if (end === 'map') await shortPage.evaluate(() => Object.assign(window, { map: undefined }))
        else if (end !== 'layer') await waitForStep(shortPage, 2)
        assert.deepEqual(await shortPage.evaluate(() => /** @type {any} */ (window).failures), [], `${kind}, ${end}`)
      }
      await shortPage.close()
    }
  })
})

onField('maps and changes of a device', ['small'], stage => {
  let step = 2

  for (const kind of KINDS) {
    it(`show tiles that are added, changed and removed on the device, without a gap (${kind})`, async () => {
      const page = await (await stage.device()).open()
      await draw(page, 'small', { kind, offline: true, read: 'only', map: { center: [0, -90] } })
      await page.waitForFunction(() => /** @type {any} */ (window).events.some(({ code }) => code === 'NOT_ON_DEVICE'))
      await take(page, { ...WEST, bbox: ALL })
      await settled(page, tiles => Object.values(tiles).every(text => /^\d$/.test(text)))
      const markedKeys = await readMarked(page)
      assert.ok(markedKeys.length >= 8)
      await page.evaluate(() => /** @type {any} */ (window).see.watch())
      await stage.load('small', { [++step]: tilesOf(3) })
      await field(page, 'call', 'West', 'refresh')
      await waitForStep(page, step)
      const shownTexts = new Set((await page.evaluate(() => /** @type {any} */ (window).frames()))
        .flatMap(frame => Object.values(frame)))
      assert.deepEqual([...shownTexts].sort().filter(text => !/^\d$/.test(text)), [], 'nothing between')
      await field(page, 'call', 'West', 'remove')
      await page.waitForFunction(() => !document.querySelector('.tilecouch-on-device'))
      assert.deepEqual(stage.front.requests('tile'), [])
      await page.evaluate(() => /** @type {any} */ (window).map.remove())
    })

    it(`show live changes of the store although the device has older tiles (${kind})`, async () => {
      const page = await (await stage.device()).open()
      await take(page, { ...WEST, bbox: ALL, history: true })
      await draw(page, 'small', { kind, offline: true, live: true, map: { center: [0, -90] } })
      await settled(page, tiles => Object.values(tiles).every(text => /^\d$/.test(text)))
      await page.waitForFunction(() => performance.getEntriesByType('resource')
        .some(({ name }) => /_changes/.test(name)))
      await stage.load('small', { [++step]: [[3, 1, 3]] })
      await page.waitForFunction(newest => /** @type {any} */ (window).see.picture()['3/1/3'] === `${newest}`, step)
      assert.deepEqual([...new Set(stage.front.tiles())], ['3/1/3'])
    })

    it(`read the network first by their option read, and the device while the network is away (${kind})`, async () => {
      const device = await stage.device()
      const page = await device.open()
      await take(page, { ...WEST, bbox: ALL })
      const redraw = () => draw(page, 'small', { kind, offline: true, read: 'network', map: { center: [0, -90] } })
      await stage.load('small', { [++step]: tilesOf(3) })
      await redraw()
      await waitForStep(page, step)
      assert.deepEqual(await readMarked(page), [])
      await device.leave()
      await redraw()
      await settled(page, (tiles, newest) => Object.values(tiles).every(text => /^\d$/.test(text) && text < newest),
        `${step}`)
      assert.ok((await readMarked(page)).length >= 6)
      await device.comeBack()
      await waitForStep(page, step)
      assert.deepEqual(await readMarked(page), [])
    })
  }
})
