/* global document -- of the page, in functions that run there */
// The page in the languages that it speaks.
import assert from 'node:assert/strict'
import { drawnTiles, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

onViewer('languages', {}, stage => {
  for (const [locale, { lang, compare, newest, summary, date }] of Object.entries({
    'de-DE': {
      lang: 'de', compare: 'Vergleichen', newest: 'Neueste', summary: /^2 Ebenen · /, date: '20. Juni 2024, 01:00 UTC'
    },
    'fr-FR': {
      lang: 'fr', compare: 'Comparer', newest: 'Dernier état', summary: /^2 couches · .* ko$/,
      date: '20 juin 2024, 01:00 UTC'
    },
    es: { lang: 'es', compare: 'Comparar', newest: 'Lo último', summary: /^2 capas · /, date: '20 jun 2024, 1:00 UTC' },
    'en-US': {
      lang: 'en', compare: 'Compare', newest: 'Newest', summary: /^2 layers · /, date: 'Jun 20, 2024, 1:00 AM UTC'
    },
    'pt-BR': {
      lang: 'en', compare: 'Compare', newest: 'Newest', summary: /^2 layers · /, date: 'Jun 20, 2024, 1:00 AM UTC'
    }
  })) {
    it(`shows texts and dates for the locale ${locale}`, async () => {
      const page = await stage.visit('#daylight@2024-06-20T01:00:00Z/2/0/0', { ...screens.desk, locale })
      await drawnTiles(page)
      await page.getByText(summary).waitFor()
      assert.equal(await page.locator('html').getAttribute('lang'), lang)
      await page.getByRole('button', { name: compare }).waitFor()
      await page.getByRole('button', { name: newest }).first().waitFor()
      const shown = String(await page.locator('.tilecouch-timeline-time').textContent()).replace(/[\u202f\u00a0]/g, ' ')
      if (lang !== 'en' || locale === 'en-US') assert.equal(shown, date)
      // nothing of the page is left in English
      if (lang === 'en') return
      const english = /\b(the|and|layer|tiles?|edition|show|newest|changed?)\b/i
      const labels = await page.locator('[aria-label], [title], [placeholder]')
        .evaluateAll(nodes => nodes.filter(node => !node.closest('.layer, .leaflet-control-attribution'))
        .flatMap(node => ['aria-label', 'title', 'placeholder'].map(name => node.getAttribute(name) ?? ''))
          .filter(Boolean))
      assert.ok(labels.length > 20)
      assert.deepEqual(labels.filter(text => english.test(text.replace('Land and borders', ''))), [])
    })
  }

  it('uses the language that the address names', async () => {
    const page = await stage.visit('?lang=fr#land/1/0/0')
    await page.getByText(/^2 couches/).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'fr')
  })

  it('shows the only time of a layer with one edition, without an axis', async () => {
    const page = await stage.visit('#land/1/0/0')
    await drawnTiles(page)
    await page.locator('.tilecouch-timeline-time', { hasText: '21 May 2018' }).waitFor()
    await page.getByText('The only time of this layer').waitFor()
    assert.equal(await page.locator('.tilecouch-timeline-axis').isVisible(), false)
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).isVisible(), false)
  })
})
