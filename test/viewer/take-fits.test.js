// No text of the dialog "Save or share the map" is cut off or covered, in any language and at any width.
import assert from 'node:assert/strict'
import { T } from '../support/client/gallery.js'
import { checkFits } from './fits.js'
import { onViewer } from '../support/viewer.js'

const SCREENS = [
  { viewport: { width: 1280, height: 800 } },
  { viewport: { width: 820, height: 1112 }, hasTouch: true },
  { viewport: { width: 390, height: 844 }, hasTouch: true }
]

onViewer('text of the dialog "Save or share the map"', { layers: ['steps'], demo: false }, stage => {
  for (const language of ['en', 'de', 'fr', 'es']) {
    for (const screen of SCREENS) {
      const { width } = screen.viewport
      it(`is not cut off in any tab in ${language} at ${width} pixels`, async () => {
        const page = await stage.visit(`?lang=${language}#steps@${T(3)}/3/0/0/${T(2)}..${T(4)}`, screen)
        await page.locator('#map .tilecouch-tile img').first().waitFor()
        await page.locator('#take').evaluate(button => button.click()) // on a phone the card of the range lies over it
        const card = page.locator('.card.take')
        const check = async part => assert.deepEqual(await checkFits(page, '.card.take'), [], part)
        const ready = card.locator('.making .primary:not([aria-disabled])').first()
        await ready.waitFor()
        await check('image')
        await card.locator('select').first().selectOption('own')
        await check('image of another size')
        await ready.click()
        await card.locator('a.save').waitFor()
        await check('image that was made')
        await card.locator('[data-value="timelapse"]').click()
        await ready.waitFor()
        await check('time-lapse of a range')
        await card.locator('.pair select').first().selectOption('all')
        await check('time-lapse of the whole past')
        await card.locator('[data-value="link"]').click()
        for (const fold of await card.locator('summary').all()) await fold.click()
        await check('link')
      })
    }
  }
})
