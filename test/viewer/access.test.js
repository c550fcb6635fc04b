// Tests with axe that people with screen readers, keys and weak eyes can use every state of the page. The rules include
// the best practice of axe, on a desk and on a phone, in light and in dark colours.
import assert from 'node:assert/strict'
import { T } from '../support/client/gallery.js'
import { findBarriers } from '../support/axe.js'
import { begin, take } from './areas.js'
import { drawnTiles, resize, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const BETWEEN = `#steps@${T(2)}..${T(4)}/3/0/0`
const BEFORE_ALL = '2023-01-01T00:00:00Z'

const press = async (page, key) => {
  await page.locator('#map').focus()
  await page.keyboard.press(key)
}
const open = (page, selector) => page.locator(selector).click()
const unfold = async page => { if (!await page.locator('#content').isVisible()) await open(page, '#toggle') }
const inDialog = name => async page => {
  await open(page, '#take')
  await page.getByRole('button', { name }).click()
}

/**
 * How a test reaches each state, and what `seen` selects in it.
 * @type {Record<string, {at?: string, answer?: {status: number, body: string}, act?: (page: any) => unknown,
 *   seen: string, isUnfolded?: boolean, hasTiles?: boolean, isPlaced?: boolean}>}
 *   answer: to the request for layers; isUnfolded: the panel; isPlaced: the state depends on the size at its start
 */
const states = {
  'the open panel': { isUnfolded: true, seen: '.editions' },
  'a comparison under a handle': { at: BETWEEN, seen: '.tilecouch-compare-handle' },
  'a faded comparison': { at: `${BETWEEN}&mode=fade`, seen: '.tilecouch-compare-fade' },
  'a comparison on two maps': { at: `${BETWEEN}&mode=side`, seen: '.tilecouch-compare-other .tilecouch-tile' },
  'a range of the timeline': { at: `#steps/3/0/0/${T(2)}..${T(4)}`, seen: '.card.range .answer' },
  'the versions of a tile': {
    async act (page) {
      await press(page, 'Enter')
      await open(page, '.card.tile summary')
    },
    seen: '.versions img'
  },
  'the editions that changed the view': {
    isUnfolded: true, act: page => page.getByLabel('Only what changed here').check(), seen: '.editions .share'
  },
  'the marks of frequent changes': {
    isUnfolded: true, act: page => page.getByLabel('Show where it changed often').check(), seen: '.heat-legend'
  },
  'a stack of layers': { at: '#steps/3/0/0&layers=late:50,*', isUnfolded: true, seen: '.stack li' },
  'the dialog for an image': { act: page => open(page, '#take'), seen: '.card.take canvas' },
  'the dialog for a time-lapse': { act: inDialog('Time-lapse'), seen: '.card.take select' },
  'the dialog for a link': { act: inDialog('Link'), seen: '.card.take .qr svg' },
  'the results of a search': {
    async act (page) {
      await press(page, 'f')
      await page.keyboard.type('47.5, 8.3')
    },
    seen: '#find li'
  },
  'the list of keys': { act: page => press(page, '?'), seen: 'dl.keys' },
  'the card of offline maps': { act: page => open(page, '#offline'), seen: '.card.offline .primary' },
  'the map as it is embedded in other pages': { at: '?embed#steps/3/0/0', seen: '.embed-link' },
  'the facts of a layer': { isUnfolded: true, act: page => open(page, '.facts summary'), seen: '.address code' },
  'the folded panel': { act: page => open(page, '#toggle'), seen: '#panel.folded' },
  'the dialog with a finished image': { act: inDialog('Make the image'), seen: '.card.take a.save' },
  'the form of a new offline area': {
    async act (page) {
      await open(page, '#offline')
      await begin(page)
    },
    seen: '.area-form .estimate strong',
    isPlaced: true
  },
  'a downloaded offline area': { act: page => take(page, 'Steps'), seen: '.area .more' },
  'a time without tiles': { at: `#steps@${BEFORE_ALL}/3/0/0`, seen: '.toast', hasTiles: false },
  'a layer in another grid': { at: '#swiss', seen: '.elsewhere', hasTiles: false },
  'an empty store': {
    at: '', answer: { status: 200, body: '{"total_rows":0,"offset":0,"rows":[]}' },
    seen: '.notice >> text=tilecouch load', hasTiles: false
  },
  'a store that answers 503': {
    at: '', answer: { status: 503, body: '{"reason":"not now"}' }, seen: '.notice >> text=not now', hasTiles: false
  }
}

const SCREENS = [screens.desk, screens.phone]

onViewer('accessibility', { layers: ['steps', 'late', 'swiss'], demo: false }, stage => {
  for (const [name, { at: hash = '#steps/3/0/0', answer, act, seen, isUnfolded, hasTiles = true, isPlaced }] of
    Object.entries(states)) {
    it(`axe finds no barriers: ${name}`, async () => {
      stage.front.rule(({ path }) => path.includes('_all_docs') ? answer : undefined)
      if (answer?.status === 503) stage.allow(/503/)
      for (const sizes of isPlaced ? SCREENS.map(screen => [screen]) : [SCREENS]) {
        const page = await stage.visit(hash, sizes[0])
        if (hasTiles) await drawnTiles(page)
        await act?.(page)
        for (const screen of sizes) {
          await resize(page, screen)
          if (isUnfolded) await unfold(page)
          await page.locator(seen).first().waitFor()
          assert.deepEqual(await findBarriers(page), [], `${screen.viewport.width} pixels wide`)
        }
      }
    })
  }
})
