// Every state of the page is one that people with screen readers, keys and weak eyes can use: axe finds nothing, its
// best practice included, on a desk and on a phone, in the light and in the dark.
import assert from 'node:assert/strict'
import { T } from '../support/client/gallery.js'
import { findBarriers } from '../support/axe.js'
import { begin, take } from './areas.js'
import { drawnTiles, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const BETWEEN = `#steps@${T(2)}..${T(4)}/3/0/0`
const BEFORE_ALL = '2023-01-01T00:00:00Z'

const press = async (page, key) => {
  await page.locator('#map').focus()
  await page.keyboard.press(key)
}
const open = (page, what) => page.locator(what).click()
const unfold = async page => { if (!await page.locator('#content').isVisible()) await open(page, '#toggle') }

/**
 * How each state comes about, what is seen then, and whether there are tiles.
 * @type {Record<string, [string, (page: any) => unknown, string, boolean?]>}
 */
const states = {
  'the page': ['#steps/3/0/0', unfold, '.editions'],
  'two times under a handle': [BETWEEN, () => {}, '.tilecouch-compare-handle'],
  'two times faded': [`${BETWEEN}&mode=fade`, () => {}, '.tilecouch-compare-fade'],
  'two maps': [`${BETWEEN}&mode=side`, () => {}, '.tilecouch-compare-other .tilecouch-tile'],
  'a range': [`#steps/3/0/0/${T(2)}..${T(4)}`, () => {}, '.card.range .answer'],
  'a place': [
    '#steps/3/0/0',
    async page => {
      await press(page, 'Enter')
      await open(page, '.card.tile summary')
    },
    '.versions img'
  ],
  'what changed here': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await page.getByLabel('Only what changed here').check()
    },
    '.editions .share'
  ],
  'how often': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await page.getByLabel('Show where it changed often').check()
    },
    '.heat-legend'
  ],
  'layers over each other': ['#steps/3/0/0&layers=late:50,*', unfold, '.stack li'],
  'an image': ['#steps/3/0/0', page => open(page, '#take'), '.card.take canvas'],
  'a time-lapse': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#take')
      await page.getByRole('button', { name: 'Time-lapse' }).click()
    },
    '.card.take select'
  ],
  'a link': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#take')
      await page.getByRole('button', { name: 'Link' }).click()
    },
    '.card.take .qr svg'
  ],
  'a search': [
    '#steps/3/0/0',
    async page => {
      await press(page, 'f')
      await page.keyboard.type('47.5, 8.3')
    },
    '#find li'
  ],
  'the keys': ['#steps/3/0/0', page => press(page, '?'), 'dl.keys'],
  'offline maps': ['#steps/3/0/0', page => open(page, '#offline'), '.card.offline .primary'],
  'the map in a frame': ['?embed#steps/3/0/0', () => {}, '.embed-link'],
  'the facts of a layer': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await open(page, '.facts summary')
    },
    '.address code'
  ],
  'the title alone': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await open(page, '#toggle')
    },
    '#panel.folded'
  ],
  'an image that was made': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#take')
      await page.getByRole('button', { name: 'Make the image' }).click()
    },
    '.card.take a.save'
  ],
  'a new area': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#offline')
      await begin(page)
    },
    '.area-form .estimate strong'
  ],
  'an area': ['#steps/3/0/0', page => take(page, 'Steps'), '.area .more'],
  'a time without tiles': [`#steps@${BEFORE_ALL}/3/0/0`, () => {}, '.toast', false],
  'another grid': ['#swiss', () => {}, '.elsewhere', false]
}

/** What a store answers that has no layers, or that answers nothing good, and what is seen then. */
const answers = {
  'an empty store': [{ status: 200, body: '{"total_rows":0,"offset":0,"rows":[]}' }, 'tilecouch load'],
  'a store in trouble': [{ status: 503, body: '{"reason":"not now"}' }, 'not now']
}

onViewer('for everybody', { layers: ['steps', 'late', 'swiss'], demo: false }, stage => {
  for (const [name, [hash, act, seen, hasTiles = true]] of Object.entries(states)) {
    it(`has nothing in the way in: ${name}`, async () => {
      for (const screen of [screens.desk, screens.phone]) {
        const page = await stage.visit(hash, screen)
        if (hasTiles) await drawnTiles(page)
        await act(page)
        await page.locator(seen).first().waitFor()
        assert.deepEqual(await findBarriers(page), [], `${name}, ${screen.viewport.width} pixels wide`)
      }
    })
  }

  for (const [name, [answer, text]] of Object.entries(answers)) {
    it(`has nothing in the way in: ${name}`, async () => {
      stage.allow(/503/)
      for (const screen of [screens.desk, screens.phone]) {
        stage.front.rule(({ path }) => path.includes('_all_docs') ? answer : undefined)
        const page = await stage.visit('', screen)
        await page.locator('.notice').getByText(text).waitFor()
        assert.deepEqual(await findBarriers(page), [], `${name}, ${screen.viewport.width} pixels wide`)
      }
    })
  }
})
