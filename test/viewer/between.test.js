/* global document, history, location -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { T } from '../support/client/gallery.js'
import { drawnTiles, screens, shownAt } from './browser.js'
import { onViewer } from '../support/viewer.js'
import { pattern } from '../support/pattern.js'

const card = page => page.getByRole('region', { name: 'What changed here' })
/** Follows a link at the very moment when the page writes its own address. */
const follow = (page, hash) => page.evaluate(next => {
  const own = location.hash
  location.hash = next
  history.replaceState(null, '', own)
}, hash)
const handle = page => page.getByRole('slider', { name: 'Compare: left and right' })
const sides = page => page.locator('#map .leaflet-tile-pane > .leaflet-layer')
const clips = async page =>
  (await sides(page).evaluateAll(nodes => nodes.map(node => /** @type {any} */ (node).style.clipPath))).filter(Boolean)

/** Waits until the map is compared with itself, from one time to another. */
const compared = (page, from, to) => until(async () => {
  const labels = await page.locator('.tilecouch-compare-label').allTextContents()
  return labels[0] === from && labels[1] === to
}, { what: `${from} beside ${to}` })

onViewer('changes between two times', { layers: ['steps', 'bounded'], demo: false }, stage => {
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
    const one = await outline()
    const from = page.getByRole('slider', { name: 'Start of the range' })
    await from.focus()
    await page.keyboard.press('ArrowLeft')
    await card(page).getByText(/^50% of this view changed/).waitFor()
    await until(async () => await outline() !== one, { what: 'the outline of another range' })
    await card(page).getByRole('checkbox').uncheck()
    await page.locator('.changed-tiles').waitFor({ state: 'detached' })
    await page.waitForURL(/#steps\/3\/0\.00\/0\.00\/2024-01-02T00:00:00Z\.\.2024-01-04T00:00:00Z$/)
  })

  it('opens a card for a range of the timeline, which its button and Escape close', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
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
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await handle(page).waitFor()
    await compared(page, '1 Jan 2024', 'Newest')
    await page.waitForURL(
      /#steps@2024-01-01T00:00:00Z\.\.\/3\/0\.00\/0\.00\/2024-01-01T00:00:00Z\.\.2024-01-05T00:00:00Z$/
    )
    await card(page).getByRole('combobox', { name: 'Date at the left' }).selectOption('2024-01-02T00:00:00Z')
    await card(page).getByRole('combobox', { name: 'Date at the right' }).selectOption('2024-01-04T00:00:00Z')
    await shownAt(page, '4 Jan 2024')
    await compared(page, '2 Jan 2024', '4 Jan 2024')
    await until(async () => (await clips(page)).length === 2, { what: 'both sides' })
    const before = String(await clips(page))
    await handle(page).focus()
    await page.keyboard.press('Home')
    await until(async () => String(await clips(page)) !== before, { what: 'the handle at the left' })
    await page.getByRole('button', { name: 'Previous change' }).click()
    await shownAt(page, '3 Jan 2024')
    await compared(page, '2 Jan 2024', '3 Jan 2024')
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
    const page = await stage.visit('#bounded/3/30/20')
    await drawnTiles(page)
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
    await compared(page, '2 Jan 2024', '4 Jan 2024')
    await follow(page, `#steps@${T(3)}../3/0/0`)
    await page.locator('.tilecouch-compare-right', { hasText: 'Newest' }).waitFor()
    assert.equal(await page.locator('.tilecouch-compare-left').textContent(), '3 Jan 2024')
    await follow(page, '#steps/3/0/0')
    await handle(page).waitFor({ state: 'detached' })
    await card(page).waitFor({ state: 'detached' })
    await drawnTiles(page)
    await page.waitForFunction(() => document.querySelectorAll('#map .leaflet-tile-pane > .leaflet-layer').length === 1)
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
    await page.mouse.move(grip.x + 22, grip.y + 22)
    await page.mouse.down()
    await page.mouse.move(80, grip.y + 22, { steps: 4 })
    await page.mouse.up()
    await until(async () => (await box(handle(page))).x < 80, { what: 'the handle where it was dragged to' })
  })
})
