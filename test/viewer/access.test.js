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
  'the open panel': ['#steps/3/0/0', unfold, '.editions'],
  'a comparison under a handle': [BETWEEN, () => {}, '.tilecouch-compare-handle'],
  'a faded comparison': [`${BETWEEN}&mode=fade`, () => {}, '.tilecouch-compare-fade'],
  'a comparison on two maps': [`${BETWEEN}&mode=side`, () => {}, '.tilecouch-compare-other .tilecouch-tile'],
  'a range of the timeline': [`#steps/3/0/0/${T(2)}..${T(4)}`, () => {}, '.card.range .answer'],
  'the versions of a tile': [
    '#steps/3/0/0',
    async page => {
      await press(page, 'Enter')
      await open(page, '.card.tile summary')
    },
    '.versions img'
  ],
  'the editions that changed the view': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await page.getByLabel('Only what changed here').check()
    },
    '.editions .share'
  ],
  'the marks of frequent changes': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await page.getByLabel('Show where it changed often').check()
    },
    '.heat-legend'
  ],
  'a stack of layers': ['#steps/3/0/0&layers=late:50,*', unfold, '.stack li'],
  'the dialog for an image': ['#steps/3/0/0', page => open(page, '#take'), '.card.take canvas'],
  'the dialog for a time-lapse': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#take')
      await page.getByRole('button', { name: 'Time-lapse' }).click()
    },
    '.card.take select'
  ],
  'the dialog for a link': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#take')
      await page.getByRole('button', { name: 'Link' }).click()
    },
    '.card.take .qr svg'
  ],
  'the results of a search': [
    '#steps/3/0/0',
    async page => {
      await press(page, 'f')
      await page.keyboard.type('47.5, 8.3')
    },
    '#find li'
  ],
  'the list of keys': ['#steps/3/0/0', page => press(page, '?'), 'dl.keys'],
  'the card of offline maps': ['#steps/3/0/0', page => open(page, '#offline'), '.card.offline .primary'],
  'the map as it is embedded in other pages': ['?embed#steps/3/0/0', () => {}, '.embed-link'],
  'the facts of a layer': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await open(page, '.facts summary')
    },
    '.address code'
  ],
  'the folded panel': [
    '#steps/3/0/0',
    async page => {
      await unfold(page)
      await open(page, '#toggle')
    },
    '#panel.folded'
  ],
  'the dialog with a finished image': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#take')
      await page.getByRole('button', { name: 'Make the image' }).click()
    },
    '.card.take a.save'
  ],
  'the form of a new offline area': [
    '#steps/3/0/0',
    async page => {
      await open(page, '#offline')
      await begin(page)
    },
    '.area-form .estimate strong'
  ],
  'a downloaded offline area': ['#steps/3/0/0', page => take(page, 'Steps'), '.area .more'],
  'a time without tiles': [`#steps@${BEFORE_ALL}/3/0/0`, () => {}, '.toast', false],
  'a layer in another grid': ['#swiss', () => {}, '.elsewhere', false]
}

/** What a store answers that has no layers, or that answers nothing good, and what is seen then. */
const answers = {
  'an empty store': [{ status: 200, body: '{"total_rows":0,"offset":0,"rows":[]}' }, 'tilecouch load'],
  'a store that answers 503': [{ status: 503, body: '{"reason":"not now"}' }, 'not now']
}

onViewer('accessibility', { layers: ['steps', 'late', 'swiss'], demo: false }, stage => {
  for (const [name, [hash, act, seen, hasTiles = true]] of Object.entries(states)) {
    it(`axe finds no barriers: ${name}`, async () => {
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
    it(`axe finds no barriers: ${name}`, async () => {
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
