/* global document, history, location -- of the page, in functions that run there */
// Tests comparisons with another layer or time: under a handle, side by side on two maps that move together, and faded;
// and the changes between two times.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { drag } from '../support/client/controls.js'
import { T } from '../support/client/gallery.js'
import { pattern } from '../support/pattern.js'
import { drawnTiles, screens, shownAt } from './browser.js'
import { assertFits, languages } from './fits.js'
import { onViewer } from '../support/viewer.js'

const card = page => page.getByRole('region', { name: 'What changed here' })
/** Follows a link at the very moment when the page writes its own address. */
const follow = (page, hash) => page.evaluate(next => {
  const currentHash = location.hash
  location.hash = next
  history.replaceState(null, '', currentHash)
}, hash)
const handle = page => page.getByRole('slider', { name: 'Compare: left and right' })
const sides = page => page.locator('#map .leaflet-tile-pane > .leaflet-layer')
const clips = async page =>
  (await sides(page).evaluateAll(nodes => nodes.map(node => /** @type {any} */ (node).style.clipPath))).filter(Boolean)

const labels = page => page.locator('.tilecouch-compare-label').allTextContents()

/** Waits until the map is compared with itself, from one time to another. */
const waitForComparison = (page, from, to) => until(async () => {
  const [left, right] = await labels(page)
  return left === from && right === to
}, { what: `${from} beside ${to}` })
const secondMap = page => page.getByRole('region', { name: 'Second map' })
const choose = (page, name, value) => card(page).getByRole('combobox', { name }).selectOption(value)

onViewer('a comparison', { layers: ['steps', 'late', 'bounded'], demo: false }, stage => {
  it('shows two layers, each at its own time', async () => {
    const page = await stage.visit(`#steps@${T(3)}..${T(4)}/3/0/0`)
    const swipe = page.locator('.tilecouch-compare-handle')
    await swipe.waitFor()
    await until(async () => {
      const [grip, panel, cards] =
        await Promise.all([swipe, page.locator('#panel'), page.locator('#cards')].map(part => part.boundingBox()))
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
    assert.equal(await sides(page).count(), 1)
  })

  it('is shown on two maps that move together', async () => {
    const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0`)
    await page.locator('.tilecouch-compare-handle').waitFor()
    await card(page).getByRole('button', { name: 'Side by side', exact: true }).click()
    await secondMap(page).waitFor()
    await page.waitForURL(/&mode=side$/)
    await page.waitForFunction(() => document.querySelectorAll('.tilecouch-compare-other .tilecouch-tile img')
      .length > 2)
    const box = /** @type {any} */ (await secondMap(page).boundingBox())
    const free = await page.locator('#cards').evaluate(node => node.getBoundingClientRect().left)
    assert.ok(Math.abs(box.width - free / 2) <= 1 && box.height >= 790, `${box.width} of ${free}`)
    await page.waitForURL(/\/3\/0\.00\/-?0\.00&mode=side$/) // the view stays, in the middle of both maps
    /** Whether a tile has the same position in both halves of the window. */
    const isSamePlace = () => page.evaluate(width => {
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
    assert.ok(await isSamePlace())
    await drag(page, [900, 600], [820, 560])
    assert.ok(await isSamePlace(), 'the left one follows the right one')
    await drag(page, [200, 300], [260, 340])
    assert.ok(await isSamePlace(), 'and the other way round')
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
    await page.waitForURL(/#steps@[^/]*\/4\//)
    await until(isSamePlace, { what: 'the same place after a zoom' })
    await page.mouse.click(300, 300)
    await page.getByRole('region', { name: 'This place' }).waitFor() // a click on the left map opens it, too
    await page.keyboard.press('Escape')
    await card(page).getByRole('button', { name: 'Swipe' }).click()
    await secondMap(page).waitFor({ state: 'detached' })
    assert.equal(await sides(page).count(), 2)
    await drawnTiles(page)
  })

  it('shows the stack of layers with its opacity on both maps', async () => {
    const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0&mode=side&layers=*:60,late:50`)
    const layers = selector => page.locator(`${selector} > .leaflet-map-pane > .leaflet-tile-pane > .leaflet-layer`)
      .evaluateAll(nodes => nodes.map(({ style }) => Number(/** @type {any} */ (style).opacity || 1)).sort())
    await secondMap(page).waitFor()
    assert.deepEqual([await layers('.tilecouch-compare-other'), await layers('#map')], [[0.5, 0.6], [0.5, 0.6]])
    await page.getByRole('button', { name: 'Show the list of layers' }).click()
    await page.getByRole('slider', { name: 'Opacity of “late”' }).fill('20')
    assert.deepEqual([await layers('.tilecouch-compare-other'), await layers('#map')], [[0.2, 0.6], [0.2, 0.6]])
    await card(page).getByRole('button', { name: 'Fade', exact: true }).click()
    await secondMap(page).waitFor({ state: 'detached' })
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
    await handle(page).waitFor()
    const opacity = () => sides(page)
      .evaluateAll(nodes => nodes.map(({ style }) => Number(/** @type {any} */ (style).opacity || 1)).sort())
    assert.deepEqual(await opacity(), [0.5, 1])
    await handle(page).focus()
    await page.keyboard.press('End')
    assert.deepEqual(await opacity(), [0, 1])
    assert.equal(await handle(page).getAttribute('aria-valuetext'), '1 Jan 2024 100 %, 5 Jan 2024 0 %')
    await card(page).getByRole('button', { name: 'Stop comparing' }).click()
    await handle(page).waitFor({ state: 'detached' })
    assert.deepEqual(await opacity(), [1], 'as it was before')
  })

  it('cuts off no text of its cards in any language', async () => {
    const sizes = [390, 820, 1280].map(width => ({ viewport: { width, height: 800 } }))
    const page = await stage.visit()
    for (const language of languages) {
      await page.goto(`${stage.address}?lang=${language}#steps@${T(1)}..${T(5)}/3/0/0`)
      await page.locator('.card.range .side').last().waitFor()
      await page.locator('.tilecouch-compare-handle').waitFor()
      await assertFits(page, '.card.range', language, { sizes })
      await page.locator('#map').focus()
      await page.keyboard.press('Enter')
      await page.locator('.card.tile .versions li').first().waitFor()
      await assertFits(page, '.card.tile', language, { sizes })
    }
  })

  it('leaves half of the screen to the map on a phone', async () => {
    for (const viewport of [{ width: 390, height: 844 }, { width: 360, height: 640 }]) {
      const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0&mode=side`, { ...screens.phone, viewport })
      await secondMap(page).waitFor()
      const box = async selector => /** @type {any} */ (await page.locator(selector).boundingBox())
      const [timeline, half] = [await box('#time'), await box('.tilecouch-compare-other')]
      assert.ok(timeline.y >= viewport.height / 2 - 1, `${timeline.y} of ${viewport.height}`)
      assert.ok(half.width === viewport.width, 'one map above the other')
    }
  })

  describe('with an earlier time', () => {
    it('shows the share and the outline of the changed tiles, and follows the map and the range', async () => {
      const page = await stage.visit(`#steps@${T(4)}/4/60/-157.5/${T(3)}..${T(4)}`)
      await shownAt(page, '4 Jan 2024')
      await card(page).getByText('Nothing changed here.').waitFor()
      assert.equal(await page.locator('.changed-rim').count(), 0)
      await page.evaluate(from => { location.hash = `#steps/3/0/0/${from}` }, `${T(3)}..${T(4)}`)
      await card(page).getByText(/^6% of this view changed/).waitFor()
      await card(page).getByText('in 1 step').waitFor()
      await page.locator('.changed-rim').waitFor({ state: 'attached' })
      const outline = () => page.locator('.changed-tiles').getAttribute('d')
      const firstOutline = await outline()
      const from = page.getByRole('slider', { name: 'Start of the range' })
      await from.focus()
      await page.keyboard.press('ArrowLeft')
      await card(page).getByText(/^50% of this view changed/).waitFor()
      await until(async () => await outline() !== firstOutline, { what: 'the outline of another range' })
      await card(page).getByRole('checkbox').uncheck()
      await page.locator('.changed-tiles').waitFor({ state: 'detached' })
      await page.waitForURL(/#steps\/3\/0\.00\/0\.00\/2024-01-02T00:00:00Z\.\.2024-01-04T00:00:00Z$/)
    })

    it('opens a card for a range of the timeline, which its button and Escape close', async () => {
      const page = await stage.open('#steps/3/0/0')
      for (const close of [() => card(page).getByRole('button', { name: /^Close/ }).click(),
        () => page.keyboard.press('Escape')]) {
        await page.getByRole('button', { name: 'Select a range' }).click()
        await card(page).getByText('of this view changed').waitFor()
        await close()
        await card(page).waitFor({ state: 'detached' })
        await page.locator('.changed-tiles').waitFor({ state: 'detached' })
        await page.waitForURL(/#steps\/3\/0\.00\/0\.00$/)
      }
      await page.getByRole('button', { name: 'Select a range' }).click()
      await card(page).getByRole('button', { name: '4 Jan 2024' }).click()
      await shownAt(page, '4 Jan 2024')
    })

    it('compares two dates under a handle, and steps through time on the right side', async () => {
      const page = await stage.open('#steps/3/0/0')
      await page.getByRole('button', { name: 'Compare', exact: true }).click()
      await handle(page).waitFor()
      await waitForComparison(page, '1 Jan 2024', 'Newest')
      await page.waitForURL(
        /#steps@2024-01-01T00:00:00Z\.\.\/3\/0\.00\/0\.00\/2024-01-01T00:00:00Z\.\.2024-01-05T00:00:00Z$/
      )
      await card(page).getByRole('combobox', { name: 'Date at the left' }).selectOption('2024-01-02T00:00:00Z')
      await card(page).getByRole('combobox', { name: 'Date at the right' }).selectOption('2024-01-04T00:00:00Z')
      await shownAt(page, '4 Jan 2024')
      await waitForComparison(page, '2 Jan 2024', '4 Jan 2024')
      await until(async () => (await clips(page)).length === 2, { what: 'both sides' })
      const before = String(await clips(page))
      await handle(page).focus()
      await page.keyboard.press('Home')
      await until(async () => String(await clips(page)) !== before, { what: 'the handle at the left' })
      await page.getByRole('button', { name: 'Previous change' }).click()
      await shownAt(page, '3 Jan 2024')
      await waitForComparison(page, '2 Jan 2024', '3 Jan 2024')
      await page.waitForURL(
        pattern(
          /#steps@2024-01-02T00:00:00Z\.\.2024-01-03T00:00:00Z\/3\/0\.00\/0\.00\//,
          /2024-01-02T00:00:00Z\.\.2024-01-05T00:00:00Z$/
        )
      )
      await card(page).getByRole('button', { name: 'Stop comparing' }).click()
      await handle(page).waitFor({ state: 'detached' })
      await until(async () => await sides(page).count() === 1 && !(await clips(page)).length, { what: 'one side' })
      await card(page).getByText('of this view changed').waitFor()
    })

    it('offers no comparison for a layer with only one edition', async () => {
      const page = await stage.open('#bounded/3/30/20')
      await page.locator('[data-does="compare"]').waitFor({ state: 'hidden' })
      await page.keyboard.press('c')
      await page.getByText('This layer has only one edition').waitFor()
      assert.equal(await handle(page).count(), 0)
      await page.locator('[data-layer="steps"]').click()
      await page.getByRole('button', { name: 'Compare', exact: true }).waitFor()
    })

    it('opens a comparison from its address, with the times in any order or with the newest', async () => {
      const page = await stage.visit(`#steps@${T(4)}..${T(2)}/3/0/0`)
      await handle(page).waitFor()
      await waitForComparison(page, '2 Jan 2024', '4 Jan 2024')
      await follow(page, `#steps@${T(3)}../3/0/0`)
      await page.locator('.tilecouch-compare-right', { hasText: 'Newest' }).waitFor()
      assert.equal(await page.locator('.tilecouch-compare-left').textContent(), '3 Jan 2024')
      await follow(page, '#steps/3/0/0')
      await handle(page).waitFor({ state: 'detached' })
      await card(page).waitFor({ state: 'detached' })
      await drawnTiles(page)
      await until(async () => await sides(page).count() === 1, { what: 'one side' })
    })

    it('shows the card below the timeline on a phone, and lets the handle be dragged', async () => {
      const page = await stage.visit(`#steps@${T(2)}..${T(4)}/3/0/0`, screens.phone)
      await handle(page).waitFor()
      await card(page).getByText('of this view changed').waitFor()
      const box = async locator => /** @type {any} */ (await locator.boundingBox())
      const [below, timeline, grip] =
        await Promise.all([box(card(page)), box(page.locator('.tilecouch-timeline')), box(handle(page))])
      assert.ok(below.y >= timeline.y + timeline.height && below.width === 390)
      assert.ok(grip.y + grip.height < timeline.y, 'the handle is not under the timeline')
      await drag(page, [grip.x + 22, grip.y + 22], [80, grip.y + 22])
      await until(async () => (await box(handle(page))).x < 80, { what: 'the handle where it was dragged to' })
    })
  })
})
