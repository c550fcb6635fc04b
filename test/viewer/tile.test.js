/* global document -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { T } from '../support/client/gallery.js'
import { load } from '../../loader/load/index.js'
import { memorySource } from '../support/memory-source.js'
import { drawnTiles, screens, shownAt } from './browser.js'
import { onViewer } from '../support/viewer.js'

const card = page => page.getByRole('region', { name: 'This place' })
const TILE_333 = { x: 600, y: 300 } // left of and above the middle of a desk's map at 0, 0

onViewer('the card of a tile', { layers: ['holes', 'steps'], demo: false }, stage => {
  it('lists the versions of a clicked tile, goes to their times, and offers their images', async () => {
    const page = await stage.visit(`#holes@${T(1)}/3/0/0`)
    await shownAt(page, '1 Jan 2024')
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).getByText('3 versions, times in UTC').waitFor()
    assert.equal(await card(page).getByRole('heading').textContent(), 'This placeholes')
    const details = card(page).locator('details')
    assert.equal(await details.evaluate(node => /** @type {any} */ (node).open), false, 'what nobody asks for first')
    assert.match(String(await details.textContent()), /3\/3\/3.*\d+ bytes.*image\/png.*holes:3:3:3@2024-01-01/)
    const times = () => card(page).locator('.versions .title').allTextContents()
    assert.deepEqual(await times(), ['3 Jan 2024newest', '2 Jan 2024', '1 Jan 2024'])
    const notes = await card(page).locator('.versions li').allInnerTexts()
    assert.match(notes[1], /Gone: no tile from here on/)
    const pressed = () => card(page).locator('[aria-pressed="true"]').getAttribute('data-version')
    assert.equal(await pressed(), T(1))
    await page.locator('.picked-tile').waitFor({ state: 'attached' })
    await card(page).getByRole('button', { name: '3 Jan 2024' }).click()
    await shownAt(page, '3 Jan 2024')
    assert.equal(await pressed(), T(3))
    const link = card(page).getByRole('link', { name: 'Download the image of 1 Jan 2024' })
    assert.equal(await link.getAttribute('download'), 'holes-3-3-3@2024-01-01T000000Z.png')
    const bytes =
      await page.evaluate(async url => (await (await fetch(url)).blob()).size, await link.getAttribute('href'))
    await card(page).getByRole('button', { name: '1 Jan 2024' }).click()
    await card(page).locator('.shown .date', { hasText: '1 Jan 2024' }).waitFor()
    assert.match(String(await details.textContent()), new RegExp(`${bytes} bytes`))
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).waitFor({ state: 'detached' })
    assert.equal(await page.locator('.picked-tile').count(), 0, 'the same tile again closes it')
  })

  it('says when a tile expires by the time to live of its layer', async () => {
    await stage.store.defineLayer('steps', { name: 'Steps', minzoom: 3, maxzoom: 3, ttl: 86400 * 365 })
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await card(page).locator('dt', { hasText: 'Expires' }).waitFor({ state: 'attached' })
  })

  it('opens by keyboard for the middle of the map, and gives the focus back', async () => {
    const page = await stage.visit('#steps/3/10/10')
    await drawnTiles(page)
    await page.locator('#map').focus()
    await page.keyboard.press('Enter')
    await card(page).getByText('2 versions').waitFor()
    assert.match(String(await card(page).locator('details').textContent()), /3\/4\/3/)
    for (const name of ['Close: This place', null, /^Download the image of 5 Jan/]) {
      await page.keyboard.press('Tab')
      if (name) {
        assert.match(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''),
          new RegExp(name))
      }
    }
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shownAt(page, '1 Jan 2024')
    await page.keyboard.press('Escape')
    await card(page).waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'map')
  })

  it('stays closed when a double click zooms', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
    await page.mouse.dblclick(TILE_333.x, TILE_333.y)
    await page.waitForURL(/#steps\/4\//)
    await drawnTiles(page)
    assert.equal(await card(page).count(), 0)
  })

  it('says when the store has no tile, and shows a version that is written later', async () => {
    const page = await stage.visit('#holes/3/0/0')
    await drawnTiles(page)
    await page.mouse.click(TILE_333.x, 430)
    await card(page).getByText('The store has no tile here.').waitFor()
    await stage.write('holes', { 7: [[3, 3, 4]] })
    await card(page).getByText('1 version, times in UTC').waitFor()
  })

  it('lies below the timeline on a phone, with the tile in sight', async () => {
    const page = await stage.visit('#steps/3/0/0', screens.phone)
    await drawnTiles(page)
    await page.touchscreen.tap(100, 560)
    await card(page).locator('.versions li').first().waitFor()
    const box = async selector => /** @type {any} */ (await page.locator(selector).boundingBox())
    const [below, timeline] = [await box('.card'), await box('.tilecouch-timeline')]
    assert.ok(below.y >= timeline.y + timeline.height)
    await page.waitForFunction(bottom => {
      const tile = document.querySelector('.picked-tile')?.getBoundingClientRect()
      return tile && tile.top + tile.height / 4 < bottom
    }, timeline.y)
    await card(page).getByRole('button', { name: /^Close/ }).tap()
    await page.locator('#panel').waitFor()
  })

  it('shows the date, the source and the last check of the tile', async () => {
    for (const [time, title, tiles] of /** @type {const} */ ([
      ['2024-02-01T00:00:00Z', 'Spring survey', { '3/3/3': 1, '3/4/4': 1 }],
      ['2024-05-01T00:00:00Z', 'Summer survey', { '3/3/3': 1, '3/4/4': 2 }]
    ])) await load(stage.store, memorySource(tiles), { layer: 'checked', time, title })
    const page = await stage.visit('#checked/3/0/0')
    await drawnTiles(page)
    const shown = card(page).locator('.shown')
    await page.mouse.click(TILE_333.x, TILE_333.y)
    await shown.getByText('Summer survey').waitFor()
    assert.equal(await shown.locator('.date').textContent(), '1 Feb 2024')
    const facts = async () => Object.fromEntries(await shown.locator('dt')
      .evaluateAll(terms => terms.map(term => [term.textContent, term.nextElementSibling?.textContent])))
    assert.deepEqual(await facts(),
      { Source: 'Spring survey', 'Unchanged since': '1 Feb 2024', Checked: '1 May 2024 · Summer survey' })
    await page.mouse.click(700, 450) // 3/4/4, which the summer survey changed
    await shown.locator('.date', { hasText: '1 May 2024' }).waitFor()
    await shown.getByText('Summer survey').waitFor()
    await card(page).getByRole('button', { name: '1 Feb 2024' }).click()
    await shown.getByText('Changed again').waitFor()
    await shown.getByText('Spring survey').waitFor()
  })
})
