/* global document, location -- of the page, in functions that run there */
// Tests the timeline and every key of docs/viewer.md. The keys work while the map or no element has the focus.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { memorySource } from '../support/memory-source.js'
import { drag } from '../support/client/controls.js'
import { T, layers, tilesOf } from '../support/client/gallery.js'
import { drawnTiles, shownAt } from './browser.js'
import { onViewer } from '../support/viewer.js'

const DAY = '2024-06-20T'
const thumb = page => page.getByRole('slider', { name: 'Time' })
const play = page => page.getByRole('button', { name: 'Play', exact: true })

onViewer('time', { layers: ['steps', 'late', 'vector'] }, stage => {
  it('steps by keys from change to change, and asks for each version that differs once', async () => {
    const page = await stage.visit(`#steps@${T(1)}/3/0/0`)
    await shownAt(page, '1 Jan 2024')
    await thumb(page).focus()
    for (const step of [2, 3, 4, 5]) {
      await page.keyboard.press('ArrowRight')
      await shownAt(page, `${step} Jan 2024`)
    }
    const requests = stage.images().map(({ tile, path }) => `${tile} ${path}`)
    assert.equal(new Set(requests).size, requests.length, 'nothing twice')
    const inView = new Set(stage.images().map(({ tile }) => tile))
    const steps = /** @type {any} */ (layers.steps.steps)
    const expected = Object.values(steps).flat().filter(tile => inView.has(tile.join('/')))
    assert.equal(requests.length, expected.length)
    assert.ok(inView.size >= 20)
    await page.keyboard.press('Home')
    await shownAt(page, '1 Jan 2024')
    await page.keyboard.press('End')
    await shownAt(page, '5 Jan 2024')
    assert.equal(stage.images().length, requests.length, 'the way back costs nothing')
    await page.waitForURL(/#steps@2024-01-05T00:00:00Z\/3\//)
  })

  it('outlines the blocks that the chosen edition covers', async () => {
    for (const [time, tiles] of /** @type {const} */ (
      [['2024-02-01T00:00:00Z', { '3/1/1': 1, '7/1/1': 2, '7/100/70': 3 }], ['2024-03-01T00:00:00Z', { '3/1/1': 1 }]]
    )) {
      await load(stage.store, memorySource(tiles), { layer: 'survey', time, title: `Survey of ${time.slice(0, 10)}` })
    }
    const page = await stage.visit('#survey/1/0/0')
    const rims = () => page.evaluate(() => [
      ...document.querySelectorAll('#map .covered-rim')
    ].map(path => path.getAttribute('d')?.split('M').length ?? 0))
    const outline = page.getByRole('button', { name: 'Outline what it covers' })
    await page.getByRole('button', { name: 'Survey of 2024-02-01' }).click()
    await outline.click()
    await page.waitForFunction(() => document.querySelector('#map .covered-rim'))
    assert.ok((await rims())[0] > 8, 'two blocks of zoom 7, each with four sides')
    await page.getByRole('button', { name: 'Survey of 2024-03-01' }).click()
    await page.waitForFunction(() => (document.querySelector('#map .covered-rim')?.getAttribute('d') ?? '')
      .split('M').length <= 5 * 3)
    await page.locator('.editions').getByRole('button', { name: 'Newest' }).click()
    await page.waitForFunction(() => !document.querySelector('#map .covered-rim'))
    assert.ok(await outline.isDisabled(), 'the newest of every tile is no edition')
    stage.allow(/404/)
  })

  it('goes to the time to which the thumb is dragged', async () => {
    const page = await stage.visit(`#steps@${T(1)}/3/0/0`)
    await shownAt(page, '1 Jan 2024')
    const axis = /** @type {any} */ (await page.locator('.tilecouch-timeline-axis').boundingBox())
    await page.mouse.move(axis.x + 12, axis.y + 25)
    await page.mouse.down()
    await page.mouse.move(axis.x + axis.width * 0.6, axis.y + 25, { steps: 5 })
    await page.mouse.move(axis.x + axis.width / 2, axis.y + 25, { steps: 2 })
    await page.mouse.up()
    await shownAt(page, '3 Jan 2024')
    await page.waitForURL(/#steps@2024-01-03T00:00:00Z\/3\/0\.00\/0\.00$/)
  })

  it('plays to the end while the map is dragged', async () => {
    const page = await stage.visit(`#daylight@${DAY}00:00:00Z/2/0/0`)
    await shownAt(page, '20 Jun 2024, 00:00 UTC')
    await play(page).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.locator('[aria-label="Time"]:not([aria-valuetext^="20 Jun 2024, 00:00"])').waitFor({ state: 'attached' })
    await drag(page, [800, 300], [600, 350])
    await shownAt(page, '20 Jun 2024, 04:00 UTC')
    await play(page).waitFor()
    await page.waitForURL(url => /#daylight@2024-06-20T04:00:00Z\/2\//.test(url.href) &&
      !/\/2\/0\.00\/0\.00/.test(url.href))
    assert.equal(await page.locator('.editions [aria-pressed="true"]').getAttribute('data-time'),
      `${DAY}04:00:00Z`, 'the list follows')
  })

  it('says that a place has no tiles before a time, and goes to that time', async () => {
    const page = await stage.visit(`#late@${T(2)}/3/0/0`)
    await page.getByText('This place has no tiles before 4 Jan 2024.').waitFor()
    assert.equal(await page.locator('#map .tilecouch-tile img').count(), 0)
    await page.getByRole('button', { name: 'Go there' }).click()
    await shownAt(page, '4 Jan 2024')
    assert.ok(await drawnTiles(page) > 0)
    await page.locator('[data-topic="sight"]').waitFor({ state: 'detached' })
  })

  it('keeps its time when a layer is chosen that starts later', async () => {
    const page = await stage.visit(`#steps@${T(3)}/3/0/0`)
    await shownAt(page, '3 Jan 2024')
    await page.locator('[data-layer="late"]').click()
    await page.getByText('This place has no tiles before 4 Jan 2024.').waitFor()
    await page.waitForFunction(() => !document.querySelector('#map .tilecouch-tile img'))
    await page.waitForURL(/#late@2024-01-03T00:00:00Z\/3\//)
    await page.locator('[data-layer="steps"]').click()
    await shownAt(page, '3 Jan 2024')
    await drawnTiles(page)
    assert.equal(await page.locator('.toast').count(), 0)
  })

  it('shows times in the chosen time zone, also after a reload', async () => {
    const page = await stage.visit(`#daylight@${DAY}02:00:00Z/2/0/0`,
      { viewport: { width: 1280, height: 800 }, timezoneId: 'Asia/Kolkata' })
    await shownAt(page, '20 Jun 2024, 02:00 UTC')
    await page.locator('#panel').getByRole('button', { name: 'Local' }).click()
    await shownAt(page, '20 Jun 2024, 07:30')
    await page.locator('.facts summary').click()
    await page.locator('dd', { hasText: '20 Jun 2024, 05:30' }).waitFor()
    await page.waitForURL(/#daylight@2024-06-20T02:00:00Z\//)
    assert.equal(await page.locator('.tilecouch-choices').isVisible(), false, 'the timeline has no second switch')
    await page.reload()
    await shownAt(page, '20 Jun 2024, 07:30')
  })

  it('shows a new edition by itself while the page is open', async () => {
    const page = await stage.open('#late/3/0/0')
    await page.locator('.facts summary').click()
    await page.locator('.facts dt', { hasText: 'Tiles' }).waitFor()
    const before = await page.locator('.facts').innerText()
    stage.front.forget()
    await stage.write('late', { 9: tilesOf(3) })
    await page.getByText('9 Jan 2024').first().waitFor()
    await page.waitForFunction(text => /** @type {any} */ (document.querySelector('.facts')).innerText !== text, before)
    await drawnTiles(page)
    assert.ok(stage.images().length >= 20, 'the new tiles are shown')
  })

  describe('keys', () => {
    const focusedId = page => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)

    it('step through time, go to the newest and play', async () => {
      const page = await stage.open('#steps/3/0/0')
      for (const [key, day] of [['[', 4], ['j', 3], [']', 4], ['K', 5], ['[', 4]]) {
        await page.keyboard.press(String(key))
        await shownAt(page, `${day} Jan 2024`)
      }
      await page.keyboard.press('n')
      await shownAt(page, 'Newest')
      await page.keyboard.press('[')
      await page.keyboard.press(' ')
      await shownAt(page, '5 Jan 2024')
    })

    it('move and zoom the map, and give it the focus', async () => {
      const page = await stage.open('#steps/3/0/0')
      await page.keyboard.press('ArrowRight')
      await page.waitForURL(/#steps\/3\/0\.00\/14\.06$/)
      assert.equal(await focusedId(page), 'map')
      await page.keyboard.press('ArrowLeft')
      await page.waitForURL(/#steps\/3\/0\.00\/-?0\.00$/)
      await page.keyboard.press('+')
      await page.waitForURL(/#steps\/4\//)
      await page.keyboard.press('-')
      await page.waitForURL(/#steps\/3\//)
      await page.keyboard.press('[')
      await shownAt(page, '4 Jan 2024')
    })

    it('start a comparison, open the search, and show the list of keys', async () => {
      const page = await stage.open('#steps/3/0/0')
      await page.keyboard.press('c')
      await page.getByRole('slider', { name: 'Compare: left and right' }).waitFor()
      await page.keyboard.press('c')
      await page.getByRole('slider', { name: 'Compare: left and right' }).waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await page.waitForURL(url => !url.hash.includes('@'))
      await page.keyboard.press('f')
      await page.getByRole('searchbox', { name: 'Find a place' }).fill('nothing')
      assert.ok(!(await page.evaluate(() => location.hash)).includes('@'), 'in a field they are letters')
      await page.keyboard.press('Escape')
      assert.equal(await focusedId(page), 'map')
      await page.keyboard.press('?')
      const list = page.getByRole('region', { name: 'Keys' })
      await list.waitFor()
      assert.ok((await list.locator('dt').count()) >= 11)
      await page.keyboard.press('Escape')
      await list.waitFor({ state: 'detached' })
      assert.equal(await focusedId(page), 'map')
    })

    it('do nothing with Control or while a button has the focus', async () => {
      const page = await stage.open('#steps/3/0/0')
      await page.keyboard.press('Control+[')
      await page.locator('[data-layer="late"]').focus()
      await page.keyboard.press('[')
      await page.keyboard.press('Space')
      await page.waitForURL(/#late\/3\//)
      assert.ok(!(await page.evaluate(() => location.hash)).includes('@'))
    })
  })
})
