/* global document -- of the page, in functions that run there */
// Comparing anything: another layer, another time of it, side by side on two maps that move together, faded.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { T } from '../support/client/gallery.js'
import { drawnTiles, screens } from './browser.js'
import { checkFits } from './fits.js'
import { onViewer } from '../support/viewer.js'

const card = page => page.getByRole('region', { name: 'What changed here' })
const labels = page => page.locator('.tilecouch-compare-label').allTextContents()
const other = page => page.getByRole('region', { name: 'Second map' })
const choose = (page, name, value) => card(page).getByRole('combobox', { name }).selectOption(value)

onViewer('a comparison', { layers: ['steps', 'late'], demo: false }, stage => {
  it('shows two layers, each at its own time', async () => {
    const page = await stage.visit(`#steps@${T(3)}..${T(4)}/3/0/0`)
    const handle = page.locator('.tilecouch-compare-handle')
    await handle.waitFor()
    await until(async () => {
      const [grip, panel, cards] =
        await Promise.all([handle, page.locator('#panel'), page.locator('#cards')].map(part => part.boundingBox()))
      return Math.abs(grip.x + grip.width / 2 - (panel.x + panel.width + 16 + cards.x) / 2) <= 2
    }, { what: 'the handle in the middle between the panel and the card' })
    await choose(page, 'Layer at the left', 'late')
    await page.locator('.tilecouch-compare-left', { hasText: 'late · 4 Jan 2024' }).waitFor()
    assert.deepEqual(await labels(page), ['late · 4 Jan 2024', 'Steps · 4 Jan 2024'])
    await choose(page, 'Date at the left', '')
    await page.waitForURL(/#steps@2024-01-04T00:00:00Z\/3\/0\.00\/0\.00&with=late$/)
    assert.deepEqual(await labels(page), ['late · Newest', 'Steps · 4 Jan 2024'])
    await card(page).locator('.answer').waitFor({ state: 'hidden' }) // two layers have no changes in common
    const { href } = new URL(page.url())
    await page.goto('about:blank')
    await page.goto(href)
    await page.locator('.tilecouch-compare-left', { hasText: 'late · Newest' }).waitFor()
    await card(page).getByRole('button', { name: 'Stop comparing' }).click()
    await card(page).waitFor({ state: 'detached' })
    assert.equal(await page.locator('#map .leaflet-tile-pane > .leaflet-layer').count(), 1)
  })

  it('is shown on two maps that move together', async () => {
    const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0`)
    await page.locator('.tilecouch-compare-handle').waitFor()
    await card(page).getByRole('button', { name: 'Side by side', exact: true }).click()
    await other(page).waitFor()
    await page.waitForURL(/&mode=side$/)
    await page.waitForFunction(() => document.querySelectorAll('.tilecouch-compare-other .tilecouch-tile img')
      .length > 2)
    const box = /** @type {any} */ (await other(page).boundingBox())
    const free = await page.locator('#cards').evaluate(node => node.getBoundingClientRect().left)
    assert.ok(Math.abs(box.width - free / 2) <= 1 && box.height >= 790, `${box.width} of ${free}`)
    await page.waitForURL(/\/3\/0\.00\/-?0\.00&mode=side$/) // the view stays, in the middle of both maps
    /** Where a tile is in its half of the window: both show the same place. */
    const same = () => page.evaluate(width => {
      const edges = ['.tilecouch-compare-other .leaflet-tile-pane .tilecouch-tile',
        '#map > .leaflet-map-pane > .leaflet-tile-pane .tilecouch-tile'].map((selector, half) => {
        const { x, y } = /** @type {Element} */ (document.querySelector(selector)).getBoundingClientRect()
        return [x - width * half, y].map(pixel => ((pixel % 256) + 256) % 256)
      })
      return [0, 1].every(axis => {
        const apart = Math.abs(edges[0][axis] - edges[1][axis])
        return Math.min(apart, 256 - apart) <= 2
      })
    }, box.width)
    assert.ok(await same())
    await page.mouse.move(900, 600)
    await page.mouse.down()
    await page.mouse.move(820, 560, { steps: 4 })
    await page.mouse.up()
    assert.ok(await same(), 'the left one follows the right one')
    await page.mouse.move(200, 300)
    await page.mouse.down()
    await page.mouse.move(260, 340, { steps: 4 })
    await page.mouse.up()
    assert.ok(await same(), 'and the other way round')
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
    await page.waitForURL(/#steps@[^/]*\/4\//)
    await until(same, { what: 'the same place after a zoom' })
    await page.mouse.click(300, 300)
    await page.getByRole('region', { name: 'This place' }).waitFor() // of the left map, too
    await page.keyboard.press('Escape')
    await card(page).getByRole('button', { name: 'Swipe' }).click()
    await other(page).waitFor({ state: 'detached' })
    assert.equal(await page.locator('#map .leaflet-tile-pane > .leaflet-layer').count(), 2)
    await drawnTiles(page)
  })

  it('shows the stack of layers with its opacity on both maps', async () => {
    const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0&mode=side&layers=*:60,late:50`)
    const layers = selector => page.locator(`${selector} > .leaflet-map-pane > .leaflet-tile-pane > .leaflet-layer`)
      .evaluateAll(nodes => nodes.map(({ style }) => Number(/** @type {any} */ (style).opacity || 1)).sort())
    await other(page).waitFor()
    assert.deepEqual([await layers('.tilecouch-compare-other'), await layers('#map')], [[0.5, 0.6], [0.5, 0.6]])
    await page.getByRole('button', { name: 'Show the list of layers' }).click()
    await page.getByRole('slider', { name: 'Opacity of “late”' }).fill('20')
    assert.deepEqual([await layers('.tilecouch-compare-other'), await layers('#map')], [[0.2, 0.6], [0.2, 0.6]])
    await card(page).getByRole('button', { name: 'Fade', exact: true }).click()
    await other(page).waitFor({ state: 'detached' })
    assert.deepEqual(await layers('#map'), [0.2, 0.3, 0.6])
    await card(page).getByRole('button', { name: 'Stop comparing' }).click()
    await page.waitForFunction(() => document.querySelectorAll('#map .leaflet-layer').length === 2)
    assert.deepEqual(await layers('#map'), [0.2, 0.6])
  })

  it('is restored from its link with the later time or the newest on the left', async () => {
    for (const [time, label, link] of [['', 'Newest', /#steps@2024-01-03T00:00:00Z\/3\/0\.00\/0\.00&with=steps$/],
      [T(5), '5 Jan 2024', /#steps@2024-01-03T00:00:00Z\/3\/.*&with=steps@2024-01-05T00:00:00Z$/]]) {
      const page = await stage.visit(`#steps@${T(1)}..${T(3)}/3/0/0`)
      await page.locator('.tilecouch-compare-handle').waitFor()
      await choose(page, 'Date at the left', time)
      await page.waitForURL(link)
      const { href } = new URL(page.url())
      await page.goto('about:blank')
      await page.goto(href)
      await page.locator('.tilecouch-compare-left', { hasText: String(label) }).waitFor()
      assert.deepEqual(await labels(page), [label, '3 Jan 2024'])
    }
  })

  it('fades between both times with the keys of the handle', async () => {
    const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0&mode=fade`)
    const handle = page.getByRole('slider', { name: 'Compare: left and right' })
    await handle.waitFor()
    const opacity = () => page.locator('#map .leaflet-tile-pane > .leaflet-layer')
      .evaluateAll(nodes => nodes.map(({ style }) => Number(/** @type {any} */ (style).opacity || 1)).sort())
    assert.deepEqual(await opacity(), [0.5, 1])
    await handle.focus()
    await page.keyboard.press('End')
    assert.deepEqual(await opacity(), [0, 1])
    assert.equal(await handle.getAttribute('aria-valuetext'), '1 Jan 2024 100 %, 5 Jan 2024 0 %')
    await card(page).getByRole('button', { name: 'Stop comparing' }).click()
    await handle.waitFor({ state: 'detached' })
    assert.deepEqual(await opacity(), [1], 'as it was before')
  })

  for (const width of [1280, 820, 390]) {
    it(`cuts off no text of its cards in any language, ${width} pixels wide`, async () => {
      const page = await stage.visit('', { viewport: { width, height: 800 } })
      for (const language of ['en', 'de', 'fr', 'es']) {
        await page.goto(`${stage.address}?lang=${language}#steps@${T(1)}..${T(5)}/3/0/0`)
        await page.locator('.card.range .side').last().waitFor({ state: 'attached' })
        await page.locator('.tilecouch-compare-handle').waitFor()
        assert.deepEqual(await checkFits(page, '.card.range'), [], language)
        await page.locator('#map').focus()
        await page.keyboard.press('Enter')
        await page.locator('.card.tile .versions li').first().waitFor()
        assert.deepEqual(await checkFits(page, '.card.tile'), [], language)
      }
    })
  }

  it('leaves half of the screen to the map on a phone', async () => {
    for (const viewport of [{ width: 390, height: 844 }, { width: 360, height: 640 }]) {
      const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0&mode=side`, { ...screens.phone, viewport })
      await other(page).waitFor()
      const box = async selector => /** @type {any} */ (await page.locator(selector).boundingBox())
      const [timeline, half] = [await box('#time'), await box('.tilecouch-compare-other')]
      assert.ok(timeline.y >= viewport.height / 2 - 1, `${timeline.y} of ${viewport.height}`)
      assert.ok(half.width === viewport.width, 'one map above the other')
    }
  })
})
