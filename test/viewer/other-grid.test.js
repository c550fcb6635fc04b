/* global document, innerWidth, location -- of the page, in functions that run there */
// A layer in another grid than Web Mercator: the page says that it cannot draw it, and offers it nowhere as if it
// could.
import assert from 'node:assert/strict'
import { drawnTiles, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

onViewer('a layer in another grid', { demo: false, layers: ['steps', 'swiss'] }, stage => {
  const card = page => page.locator('.elsewhere')
  const options = (page, select) => page.locator(`${select} option`)
    .evaluateAll(list => list.map(option => option.value))

  for (const [name, screen] of Object.entries({ desk: screens.desk, phone: screens.phone })) {
    it(`is listed, and the page names its address and programs that draw it (${name})`, async () => {
      const page = await stage.visit('#swiss', screen)
      await card(page).waitFor()
      assert.match(String(await card(page).textContent()),
        /“swiss” is not in Web Mercator.*LV95.*Leaflet and OpenLayers draw it; QGIS and GDAL do through a gateway/)
      assert.equal(await card(page).locator('code').textContent(), `${stage.address}swiss/{z}/{x}/{y}.png`)
      assert.equal(await page.locator('[data-layer="swiss"]').count(), 1)
      assert.deepEqual([await page.locator('#map .leaflet-tile').count(),
        stage.front.requests('tile', 'swiss').filter(({ path }) => path.includes('rev=')).length], [0, 0])
      assert.ok(!await page.locator('#time').isVisible() && !await page.locator('.toast').count())
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
    })
  }

  it('is not offered as a base map, over another layer or in a comparison', async () => {
    const page = await stage.visit('#swiss')
    await card(page).waitFor()
    await page.evaluate(() => { location.hash = '#steps/3/0/0' })
    await page.waitForFunction(() => !document.querySelector('.elsewhere') &&
      document.querySelectorAll('#map .leaflet-tile-loaded').length >= 4)
    assert.ok(await drawnTiles(page) >= 4)
    assert.deepEqual(await options(page, '.on-map select'), ['', 'steps'])
    assert.ok(!await page.locator('li:has([data-layer="swiss"]) .over').isVisible())
    await page.locator('[data-does="compare"]').first().click()
    await page.locator('.side select').first().waitFor({ state: 'attached' })
    assert.ok(!(await options(page, '.side select')).includes('swiss'))
    await page.evaluate(() => { location.hash = '#swiss' })
    await card(page).waitFor()
    await page.waitForFunction(() => !document.querySelector('#map .leaflet-tile'))
  })
})
