// No text of the card of offline maps is cut off or covered, in any language, at any width and in any state.
import assert from 'node:assert/strict'
import { gate } from '../support/client/front.js'
import { hang } from '../support/offline/world.js'
import { checkFits } from './fits.js'
import { AWAY, onViewer } from '../support/viewer.js'

const SCREENS = [
  { viewport: { width: 1280, height: 800 } },
  { viewport: { width: 820, height: 1112 }, hasTouch: true },
  { viewport: { width: 390, height: 844 }, hasTouch: true }
]

const isBatch = ({ path }) => /_bulk_get/.test(path)
const isFailing = ({ path, body }) => isBatch({ path })
  ? body.docs.some(({ id }) => id === 'small:0:0:0')
  : /^small(:|%3A)0(:|%3A)0(:|%3A)0/.test(path)

onViewer('text of the card of offline maps', { layers: ['steps'], demo: false }, stage => {
  before(() => hang(stage.store, ['small']))

  for (const language of ['en', 'de', 'fr', 'es']) {
    for (const screen of SCREENS) {
      const { width } = screen.viewport
      it(`is not cut off in any state in ${language} at ${width} pixels`, async () => {
        const page = await stage.visit(`?lang=${language}#small/2/0/0`, screen)
        await page.locator('#map .tilecouch-tile img').first().waitFor()
        await page.locator('#offline').click()
        const card = page.locator('.card.offline')
        const area = card.locator('.area')
        const pressMain = () => area.locator('> .acts .primary').click()
        const check = async part => assert.deepEqual(await checkFits(page, '.card.offline'), [], part)
        const waitFor = state => card.locator(`.area[data-state="${state}"]`).waitFor()
        await check('no areas')
        await card.locator('.offline-areas > .primary').click()
        const isEstimated = card.locator('.estimate:not(.waiting) strong')
        await isEstimated.waitFor()
        await check('form')
        await card.locator('.area-form select').last().selectOption('all')
        await check('form with all of the past')
        await card.locator('.area-form select').last().selectOption('since')
        await card.locator('.area-form summary').click()
        await check('form with a date and numbers')
        await card.locator('[data-value="polygon"]').click()
        await check('form with a free shape')
        await card.locator('[data-value="box"]').click()
        await isEstimated.waitFor()

        const { opened, open } = gate()
        const heal = stage.front.rule(async entry => {
          if (!isBatch(entry)) return
          await opened
          return isFailing(entry) ? { status: 500, body: '{"error":"broken","reason":"broken"}' } : undefined
        })
        await card.locator('.area-form .foot .primary').click()
        await waitFor('downloading')
        await check('downloading')
        await area.locator('> .acts .secondary').click()
        await check('question whether to cancel')
        await area.locator('.ask .secondary').click()
        await pressMain()
        await waitFor('paused')
        await check('paused')
        open()
        await pressMain()
        await waitFor('incomplete')
        await check('incomplete')
        heal()
        await pressMain()
        await waitFor('complete')
        await area.locator('.more').waitFor()
        await check('complete')
        await card.locator('.coverage input').click()
        await card.locator('.meter summary').click()
        await check('legend and room')
        const [, , rename, remove] = await area.locator('.more button').all()
        await rename.click()
        await check('rename')
        await area.locator('.ask .secondary').click()
        await remove.click()
        await check('question whether to remove')
        stage.allow(AWAY, /500/)
      })
    }
  }
})
