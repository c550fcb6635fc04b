// Tests that no text of the dialog "Save or share the map" and of the card of offline maps is cut off or covered, in
// any language, at any width and in any state. The first suite tests the search for such text on small pages.
import assert from 'node:assert/strict'
import { createGate } from '../support/client/front.js'
import { T } from '../support/client/gallery.js'
import { isBulk } from '../support/offline/suite.js'
import { writeWorld } from '../support/offline/world.js'
import { AWAY, onViewer } from '../support/viewer.js'
import { openBrowser, openPage } from './browser.js'
import { assertFits, checkFits, languages } from './fits.js'

describe('the search for text that does not fit', function () {
  this.timeout(60000)
  let browser
  before(async function () { browser = await openBrowser(this, { webgl: false }) })
  after(() => browser?.close())

  /** @param {string} body @returns {Promise<string[]>} */
  async function offenders (body) {
    const { page, close } = await openPage(browser)
    try {
      await page.setContent(`<!doctype html><style>* { font: 16px sans-serif; box-sizing: border-box }</style>${body}`)
      return await checkFits(page)
    } finally {
      await close()
    }
  }

  it('finds text that a button, a badge, a select or a date cuts off', async () => {
    assert.deepEqual(await offenders(`
      <button style="width: 60px; white-space: nowrap; overflow: hidden">Download an area</button>
      <div style="width: 60px; overflow: hidden">
        <span class="badge" style="white-space: nowrap">Not complete</span>
      </div>
      <select style="width: 60px"><option>short</option><option selected>All of the past</option></select>
      <input type="date" style="width: 70px" value="2024-06-20">`), [
      'cut off: button “Download an area”',
      'cut off: input “2024-06-20”',
      'cut off: select “All of the past”',
      'cut off: span.badge “Not complete”'
    ])
  })

  it('finds text that lies outside the window, or over other text', async () => {
    assert.deepEqual(await offenders(`
      <label style="position: absolute; left: -20px; top: 0">Name</label>
      <button style="position: absolute; left: 100px; top: 100px">Pause</button>
      <div class="over"
        style="position: absolute; left: 90px; top: 90px; width: 200px; height: 60px; background: red"></div>
      <h2 style="position: absolute; left: 100px; top: 200px; margin: 0">Areas</h2>
      <label style="position: absolute; left: 110px; top: 205px">Layer</label>`), [
      'covered: button “Pause” by div.over “”',
      'covered: h2 “Areas” by label “Layer”',
      'cut off: label “Name”',
      'one over the other: h2 “Areas” and label “Layer”'
    ].sort())
  })

  it('finds nothing where text wraps, is hidden, or is scrolled to', async () => {
    assert.deepEqual(await offenders(`
      <button style="width: 110px">Download an area</button>
      <button hidden>Pause</button>
      <label style="position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)">Unseen</label>
      <select><option>short</option><option selected>All of the past</option></select>
      <div style="height: 60px; overflow-y: auto">
        <p style="height: 100px">x</p>
        <button>Below</button>
        <div style="position: sticky; bottom: 0; background: white"><button>Always seen</button></div>
      </div>`), [])
  })
})

const isFailing = entry => isBulk(entry)
  ? entry.body.docs.some(({ id }) => id === 'small:0:0:0')
  : /^small(:|%3A)0(:|%3A)0(:|%3A)0/.test(entry.path)

onViewer('text of cards', { layers: ['steps'], demo: false }, stage => {
  before(() => writeWorld(stage.store, ['small']))

  for (const language of languages) {
    it(`is not cut off in any tab of the dialog "Save or share the map" in ${language}`, async () => {
      const page = await stage.visit(`?lang=${language}#steps@${T(3)}/3/0/0/${T(2)}..${T(4)}`)
      await page.locator('#map .tilecouch-tile img').first().waitFor()
      await page.locator('#take').click()
      const card = page.locator('.card.take')
      const check = state => assertFits(page, '.card.take', state)
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

    it(`is not cut off in any state of the card of offline maps in ${language}`, async () => {
      const page = await stage.visit(`?lang=${language}#small/2/0/0`)
      await page.locator('#map .tilecouch-tile img').first().waitFor()
      await page.locator('#offline').click()
      const card = page.locator('.card.offline')
      const area = card.locator('.area')
      const pressMain = () => area.locator('> .acts .primary').click()
      const check = state => assertFits(page, '.card.offline', state)
      const waitFor = state => card.locator(`.area[data-state="${state}"]`).waitFor()
      await card.waitFor()
      await check('no areas')
      await card.locator('.offline-areas > .primary').click()
      const estimate = card.locator('.estimate:not(.waiting) strong')
      await estimate.waitFor()
      await check('form')
      await card.locator('.area-form select').last().selectOption('all')
      await check('form with all of the past')
      await card.locator('.area-form select').last().selectOption('since')
      await card.locator('.area-form summary').click()
      await check('form with a date and numbers')
      await card.locator('[data-value="polygon"]').click()
      await check('form with a free shape')
      await card.locator('[data-value="box"]').click()
      await estimate.waitFor()

      const { opened, open } = createGate()
      const heal = stage.front.rule(async entry => {
        if (!isBulk(entry)) return
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
})
