/* global window -- of the page, in functions that run there */
// Every state of the page is one that people with screen readers, keys and weak eyes can use: axe finds nothing, its best
// practice included, on a desk and on a phone, in the light and in the dark.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { T } from '../client/support/gallery.js'
import { drawnTiles, screens } from './browser.js'
import { onViewer } from './stage.js'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const BETWEEN = `#steps@${T(2)}..${T(4)}/3/0/0`

const press = async (page, key) => {
  await page.locator('#map').focus()
  await page.keyboard.press(key)
}
const open = (page, what) => page.locator(what).click()
const unfold = async page => { if (!await page.locator('#content').isVisible()) await open(page, '#toggle') }

/** How each state comes about, and what is seen then. @type {Record<string, [string, (page: any) => unknown, string]>} */
const states = {
  'the page': ['#steps/3/0/0', unfold, '.editions'],
  'two times under a handle': [BETWEEN, () => {}, '.tilecouch-compare-handle'],
  'two times faded': [`${BETWEEN}&mode=fade`, () => {}, '.tilecouch-compare-fade'],
  'two maps': [`${BETWEEN}&mode=side`, () => {}, '.tilecouch-compare-other .tilecouch-tile'],
  'a range': [`#steps/3/0/0/${T(2)}..${T(4)}`, () => {}, '.card.range .answer'],
  'a place': ['#steps/3/0/0', async page => { await press(page, 'Enter'); await open(page, '.card.tile summary') }, '.versions img'],
  'what changed here': ['#steps/3/0/0', async page => { await unfold(page); await page.getByLabel('Only what changed here').check() }, '.editions .share'],
  'how often': ['#steps/3/0/0', async page => { await unfold(page); await page.getByLabel('Show where it changed often').check() }, '.heat-legend'],
  'layers over each other': ['#steps/3/0/0&layers=late:50,*', unfold, '.stack li'],
  'an image': ['#steps/3/0/0', page => open(page, '#take'), '.card.take canvas'],
  'a time-lapse': ['#steps/3/0/0', async page => { await open(page, '#take'); await page.getByRole('button', { name: 'Time-lapse' }).click() }, '.card.take select'],
  'a link': ['#steps/3/0/0', async page => { await open(page, '#take'); await page.getByRole('button', { name: 'Link' }).click() }, '.card.take .qr svg'],
  'a search': ['#steps/3/0/0', async page => { await press(page, 'f'); await page.keyboard.type('47.5, 8.3') }, '#find li'],
  'the keys': ['#steps/3/0/0', page => press(page, '?'), 'dl.keys'],
  'offline maps': ['#steps/3/0/0', page => open(page, '#offline'), '.card.offline .primary'],
  'the map in a frame': ['?embed#steps/3/0/0', () => {}, '.embed-link']
}

onViewer('for everybody', { layers: ['steps', 'late'], demo: false }, stage => {
  let axe = ''
  before(async () => { axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8') })

  for (const [name, [hash, act, seen]] of Object.entries(states)) {
    it(`has nothing in the way in: ${name}`, async () => {
      for (const options of [{ ...screens.desk, colorScheme: /** @type {const} */ ('light') }, { ...screens.phone, colorScheme: /** @type {const} */ ('dark') }]) {
        const page = await stage.visit(hash, options)
        await drawnTiles(page)
        await act(page)
        await page.locator(seen).first().waitFor()
        await page.evaluate(axe)
        const found = await page.evaluate(async values => (await /** @type {any} */ (window).axe.run({ runOnly: { type: 'tag', values } })).violations, RULES)
        assert.deepEqual(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n')}`), [], `${name}, ${options.colorScheme}`)
      }
    })
  }
})
