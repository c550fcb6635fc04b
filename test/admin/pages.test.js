/* global document -- of the page, in functions that run there */
// Tests with axe that people with screen readers, keys and weak eyes can use every section, on a desk and on a phone,
// in light and in dark colours. The rules include the best practice of axe. No section is wider than the screen.
import assert from 'node:assert/strict'
import { texts } from '../../attachments/admin/words.js'
import { workId } from '../../core/index.js'
import { setAccess } from '../../loader/store/access.js'
import { findBarriers } from '../support/axe.js'
import { resize, screens } from '../viewer/browser.js'
import { isRead, onAdmin } from '../support/control-room.js'

const SECTIONS = Object.keys(texts.sections)
const LAYER = ['layers/land', 'editions/land'] // places within sections

const press = (page, name) => page.getByRole('button', { name, exact: true }).click()

/**
 * States of sections: the place, the action that leads to the state, and the selector of an element that shows it.
 * @type {Record<string, [string, (page: any) => unknown, string]>}
 */
const states = {
  'a new layer': ['layers', page => press(page, 'New layer'), 'form input'],
  'the order of layers': ['layers', page => press(page, 'Change the order'), '.moves'],
  'a field with a problem': [
    'layers/land',
    async page => {
      await page.locator('[data-field="ttl"]').fill('soon')
      await press(page, 'Save changes')
    },
    '[aria-invalid="true"]'
  ],
  'a dialog': ['layers/empty', page => press(page, 'Remove the empty layer'), 'dialog'],
  'an edition': ['editions/land', page => page.locator('tbody a').first().click(), '.edition'],
  'a new token': [
    'access',
    async page => {
      await page.getByText('New token').click()
      await page.getByLabel('For whom, or what').fill('the press')
      await page.getByRole('textbox', { name: 'Layers' }).fill('land')
      await press(page, 'Make token')
    },
    '.made'
  ],
  'commands that run and that failed': [
    'work',
    page => page.getByText('1 failure', { exact: true }).first().click(),
    '.run progress'
  ]
}

onAdmin('pages', stage => {
  const check = async (page, name) => {
    assert.deepEqual(await findBarriers(page), [], name)
    const isWider = () => document.documentElement.scrollWidth > document.documentElement.clientWidth
    assert.ok(!await page.evaluate(isWider), `${name} is wider than the screen`)
  }

  for (const [name, screen] of Object.entries({ 'on a desk': screens.desk, 'on a phone': screens.phone })) {
    it(`have no barriers in any section ${name}`, async () => {
      const page = await stage.enter('', stage.owner, screen)
      for (const place of [...SECTIONS, ...LAYER]) {
        await page.evaluate(hash => { document.location.hash = hash }, place)
        await isRead(page)
        await check(page, `${place} ${name}`)
      }
    })
  }

  it('have no barriers in the sign-in form', async () => {
    const page = await stage.visit()
    await page.getByLabel('Password').waitFor()
    for (const screen of [screens.desk, screens.phone]) {
      await resize(page, screen)
      await check(page, 'the sign-in')
    }
  })

  for (const [name, [place, act, selector]] of Object.entries(states)) {
    it(`have no barriers in the state: ${name}`, async () => {
      await stage.store.defineLayer('empty')
      await writeWorkDocuments(stage)
      const page = await stage.enter(place)
      await isRead(page)
      await act(page)
      for (const screen of [screens.desk, screens.phone]) {
        await resize(page, screen)
        await page.locator(selector).first().waitFor()
        await check(page, `${name}, ${screen.viewport.width} pixels wide`)
      }
    })
  }

  it('have no barriers in the dialog of a session that has ended', async () => {
    const page = await stage.enter('layers')
    await page.getByText('Live').waitFor()
    await page.context().clearCookies()
    await setAccess(stage.store, { public: false })
    await stage.store.defineLayer('later') // wakes the feed
    await page.getByRole('dialog').waitFor()
    await check(page, 'the question')
    await setAccess(stage.store, { public: true })
  })

  it('are in English in every section when the browser asks for another language', async () => {
    const page = await stage.enter('', stage.owner, { locale: 'de-DE' })
    for (const place of [...SECTIONS, ...LAYER]) {
      await page.evaluate(hash => { document.location.hash = hash }, place)
      await isRead(page)
      const text = await page.locator('body').innerText()
      assert.doesNotMatch(text, /undefined|\[object|=>|NaN| (und|der|die|von) /, place)
    }
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en')
  })
}, {})

/** Writes the documents of a running command and of a failed one. */
async function writeWorkDocuments (stage) {
  const now = new Date().toISOString()
  const time = `${now.slice(0, 19)}Z`
  const work = {
    type: 'work',
    user: stage.owner.name,
    layer: 'land',
    started: time,
    seen: time,
    failed: 1,
    failures: ['land:1:1:1: gone']
  }
  const documents = [
    { ...work, command: 'load', state: 'running', done: 1, total: 100, rate: 10, unit: 'tiles' },
    {
      ...work,
      command: 'export',
      state: 'failed',
      finished: time,
      error: { code: 'TARGET_EXISTS', message: 'out.mbtiles exists', advice: 'Use another name.' }
    }
  ]
  for (const [index, doc] of documents.entries()) {
    await stage.store.couch.update(workId(`${now.replace(/[-:.Z]/g, '')}-000${index}`), () => doc)
  }
}
