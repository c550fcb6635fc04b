/* global window, document -- of the page, in functions that run there */
// Every section is one that people with screen readers, keys and weak eyes can use: axe finds nothing, its best practice
// included, on a desk and on a phone, in the light and in the dark; nothing is wider than the screen.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { texts } from '../../attachments/admin/words.js'
import { screens } from '../viewer/browser.js'
import { onAdmin } from './stage.js'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const SECTIONS = Object.keys(texts.sections)
const LAYER = ['layers/land', 'editions/land'] // places within sections

/** The section is there, and nothing of it is still being read. */
const isThere = page => page.waitForFunction(() => document.querySelector('#content h2') && !document.querySelector('#content [aria-busy="true"]'))

onAdmin('for everybody', stage => {
  let axe = ''
  before(async () => { axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8') })

  for (const [name, options] of Object.entries({ 'on a desk in the light': { ...screens.desk, colorScheme: 'light' }, 'on a phone in the dark': { ...screens.phone, colorScheme: 'dark' } })) {
    it(`has nothing in the way ${name}`, async () => {
      const page = await stage.enter('', stage.owner, /** @type {any} */ (options))
      await page.evaluate(axe)
      for (const place of [...SECTIONS, ...LAYER]) {
        await page.evaluate(hash => { document.location.hash = hash }, place)
        await isThere(page)
        const found = await page.evaluate(async values => (await /** @type {any} */ (window).axe.run({ runOnly: { type: 'tag', values } })).violations, RULES)
        assert.deepEqual(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n')}`), [], `${place} ${name}`)
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${place} is wider than the screen, ${name}`)
      }
    })
  }

  it('opens every section in English, whatever the browser asks for', async () => {
    const page = await stage.enter('', stage.owner, { locale: 'de-DE' })
    for (const place of [...SECTIONS, ...LAYER]) {
      await page.evaluate(hash => { document.location.hash = hash }, place)
      await isThere(page)
      const text = await page.locator('body').innerText()
      assert.doesNotMatch(text, /undefined|\[object|=>|NaN| (und|der|die|von) /, place)
    }
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en')
  })
}, {})
