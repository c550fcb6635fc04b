/* global document, location -- of the page, in functions that run there */
// Keys, while the map has the focus or nothing has: those of docs/viewer.md, each.
import assert from 'node:assert/strict'
import { drawnTiles, shownAt } from './browser.js'
import { onViewer } from '../support/viewer.js'

onViewer('keys', { layers: ['steps', 'late'], demo: false }, stage => {
  const focused = page => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)

  it('step through time, go to the newest and play', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
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
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/#steps\/3\/0\.00\/14\.06$/)
    assert.equal(await focused(page), 'map')
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
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
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
    assert.equal(await focused(page), 'map')
    await page.keyboard.press('?')
    const list = page.getByRole('region', { name: 'Keys' })
    await list.waitFor()
    assert.ok((await list.locator('dt').count()) >= 11)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    assert.equal(await focused(page), 'map')
  })

  it('do nothing with Control or while a button has the focus', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await drawnTiles(page)
    await page.keyboard.press('Control+[')
    await page.locator('[data-layer="late"]').focus()
    await page.keyboard.press('[')
    await page.keyboard.press('Space')
    await page.waitForURL(/#late\/3\//)
    assert.ok(!(await page.evaluate(() => location.hash)).includes('@'))
  })
})
