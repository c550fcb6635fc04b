/* global document, getComputedStyle -- of the page, in functions that run there */
// The sign-in of a closed store, in a browser, and what it leads to. CouchDB has none: it shows no page of such a
// store.
import assert from 'node:assert/strict'
import { onAdmin } from '../support/control-room.js'
import { findBarriers } from '../support/axe.js'
import { openPage, screens } from './browser.js'

const MEMBERS = { admins: { names: [], roles: [] }, members: { names: [], roles: ['readers'] } }

onAdmin('the sign-in of a closed store', (stage, kind) => {
  if (kind === 'CouchDB') return
  before(async () => {
    await stage.store.couch.request({ method: 'PUT', path: '_security', body: MEMBERS })
  })

  /** @param {any} page @param {string} password */
  async function signIn (page, password) {
    await page.getByLabel('Name').fill(stage.owner.name)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  const visit = async (address, options = screens.desk) => {
    const view = await openPage(stage.browser, options)
    await view.page.goto(address)
    return view
  }

  it('lets a reader sign in, and then opens the place of the link', async () => {
    const { page, errors, close } = await visit(`${stage.backend.viewer}#3/10/20`)
    await signIn(page, 'wrong')
    await page.getByRole('alert').getByText('The name or the password is wrong.').waitFor()
    await signIn(page, stage.owner.password)
    await page.locator('#panel h1').waitFor()
    assert.match(page.url(), /_rewrite\/#3\/10\/20$/)
    assert.deepEqual(errors.filter(text => !/401 \(Unauthorized\)/.test(text)), [])
    await close()
  })

  it('opens the control room when that was the address', async () => {
    const { page, close } = await visit(`${stage.backend.viewer}admin`)
    await signIn(page, stage.owner.password)
    await page.locator('#sections a').first().waitFor()
    await close()
  })

  it('does not ask again when a signed-in reader follows a link from another site', async () => {
    const { page, close } = await visit(stage.backend.viewer)
    await signIn(page, stage.owner.password)
    await page.locator('#panel h1').waitFor()
    await page.goto(`data:text/html,<a href="${stage.backend.viewer}">map</a>`)
    await page.getByText('map').click()
    await page.locator('#panel h1').waitFor()
    await close()
  })

  it('has no accessibility barriers on a desk and on a phone, in light and dark colours', async () => {
    for (const screen of [screens.desk, screens.phone]) {
      const { page, close } = await visit(stage.backend.viewer, { ...screen, bypassCSP: true })
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).margin), '0px', 'its style is allowed')
      assert.deepEqual(await findBarriers(page), [])
      await close()
    }
  })
})
