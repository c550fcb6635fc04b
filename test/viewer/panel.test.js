/* global document -- of the page, in functions that run there */
// Tests the panel and the header: no text is cut off, the layout is stable, and the chosen layer is in view.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { tilesOf } from '../support/client/gallery.js'
import { memorySource } from '../support/memory-source.js'
import { screens } from './browser.js'
import { assertFits, languages } from './fits.js'
import { onViewer } from '../support/viewer.js'

const HERE = '.editions .row input[type="checkbox"]'

onViewer('the panel', { layers: ['steps', 'bounded', 'late', 'deep', 'vector'] }, stage => {
  before(async () => {
    const world = n => Object.fromEntries(tilesOf(3).map(([z, x, y]) => [`${z}/${x}/${y}`, n]))
    const editions = /** @type {const} */ ([
      ['2019-12-31T00:00:00Z', 'Survey of 2019'], ['2020-12-31T00:00:00Z', 'Survey of 2020'],
      ['2021-06-03T13:05:00Z', 'The flood in the valleys, photographed in the afternoon'],
      ['2022-01-01T00:00:00Z', 'Survey of 2021'], ['2023-03-01T00:00:00Z', 'Corrections']
    ])
    for (const [index, [time, title]] of editions.entries()) {
      await load(stage.store, memorySource(world(index + 1)), { layer: 'town', time, title })
    }
    await stage.store.defineLayer('town', { name: 'Town', description: 'Aerial images.', minzoom: 3, maxzoom: 3 })
  })
  /** Whether an element lies in the part of the list that is in view. */
  const isInView = locator => locator.evaluate(node => {
    const [box, view] =
      [node, document.getElementById('content')].map(element => /** @type {any} */ (element).getBoundingClientRect())
    return box.top >= view.top - 1 && box.bottom <= view.bottom + 1
  })

  it('says what the page is for, and names its buttons', async () => {
    const page = await stage.visit('#town/3/0/0')
    await page.getByText('A map that remembers: drag the timeline to travel back.').waitFor()
    for (const name of ['Offline', 'Share']) await page.locator('.actions').getByText(name, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Save or share the map' }).waitFor()
  })

  it('shows the heading and the editions of the layer that is chosen, and folds its figures', async () => {
    for (const options of [screens.desk, screens.phone]) {
      const page = await stage.open('#town@2020-12-31T00:00:00Z/3/0/0', options)
      if (options === screens.phone) await page.getByRole('button', { name: 'Show the list' }).tap()
      await page.locator('[data-layer="daylight"]').click()
      await page.locator('.editions h3').waitFor()
      await page.locator('[data-layer="town"]').click()
      await page.getByText('5 editions').waitFor()
      await page.waitForFunction(() => document.querySelectorAll('.editions [data-time]').length === 6)
      for (const part of ['[data-layer="town"]', '.editions h3', '.editions [aria-pressed="true"]']) {
        assert.ok(await isInView(page.locator(part).first()), part)
      }
      assert.equal(await page.getByRole('button', { name: 'Survey of 2020 31 Dec 2020', exact: true }).count(), 1)
      assert.equal(await page.getByRole('button', { name: /^The flood .* 3 Jun 2021, 13:05 UTC$/ }).count(), 1)
      assert.equal(await page.locator('.facts dl').isVisible(), false)
    }
  })

  it('has room for four changes with pictures, and keeps its layout when one is chosen', async () => {
    const page = await stage.visit('#town/3/0/0')
    await page.getByText('5 editions').waitFor()
    await page.getByLabel('Only what changed here').check()
    await page.locator('.of-view canvas').nth(4).waitFor()
    const rows = await page.locator('.of-view').evaluate(list => {
      const end = list.getBoundingClientRect().bottom
      return [...list.children].filter(row => row.getBoundingClientRect().bottom <= end).length
    })
    assert.ok(rows >= 4, `${rows} rows are in view`)
    const [picture, name, share] = await Promise.all(
      ['canvas', '.name', '.share'].map(part => page.locator('.of-view li').nth(1).locator(part).boundingBox())
    ).then(boxes => boxes.map(box => /** @type {any} */ (box)))
    assert.ok(picture.x + picture.width < name.x && name.x + name.width <= share.x && Math.abs(name.y - share.y) < 6)
    const heights = () => page.locator('.details > *')
      .evaluateAll(nodes => nodes.map(node => node.getBoundingClientRect().height))
    const before = await heights()
    await page.locator('.of-view button').nth(2).click()
    await page.locator('.of-view li:nth-child(3) [aria-pressed="true"]').waitFor()
    assert.deepEqual(await heights(), before)
  })

  for (const language of languages) {
    it(`cuts off no text in ${language}`, async () => {
      const page = await stage.visit(`?lang=${language}#town@2020-12-31T00:00:00Z/3/0/0&layers=steps:40,*`)
      await page.locator('.editions [data-time]').nth(5).waitFor({ state: 'attached' })
      const content = page.locator('#content')
      const prepare = async () => { if (!await content.isVisible()) await page.locator('#toggle').click() }
      await assertFits(page, '#panel', 'at first')
      await assertFits(page, '#panel', 'open', { prepare })
      await page.locator(HERE).check()
      await page.locator('.editions > .toggle input').check()
      await page.locator('.facts summary').click()
      await assertFits(page, '#panel', 'with all that opens', { prepare })
    })
  }
})
