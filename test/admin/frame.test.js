/* global document, getComputedStyle -- of the page, in functions that run there */
// Tests signing in to the control room and to a closed store, and which users see which parts.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { setAccess } from '../../loader/store/access.js'
import { findBarriers } from '../support/axe.js'
import { createGate } from '../support/client/front.js'
import { onAdmin } from '../support/control-room.js'
import { resize, screens } from '../viewer/browser.js'
import { becomeUser } from './steps.js'

const PAUSE = 5000 // milliseconds before the feed is asked again after a failure
const MEMBERS = { admins: { names: [], roles: [] }, members: { names: [], roles: ['readers'] } }

onAdmin('the frame', stage => {
  beforeEach(() => setAccess(stage.store, { public: true }))

  /**
   * Opens a page, ends its session, and waits until the page notices. Its clock can be moved forward.
   * @param {string} layer to define after the session has ended
   */
  async function enterAndEnd (layer) {
    const page = await stage.visit('layers')
    await page.clock.install()
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await page.getByText('Live').waitFor()
    await page.context().clearCookies()
    await setAccess(stage.store, { public: false })
    await stage.store.defineLayer(layer) // wakes the feed
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Your session has ended').waitFor()
    return { page, dialog }
  }

  it('signs users in by name and password, and out again', async () => {
    const page = await stage.visit('layers')
    await stage.signIn(page, stage.owner.name, 'wrong')
    await page.getByText('Name or password is wrong.').waitFor()
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await page.getByRole('heading', { name: 'Layers' }).waitFor()
    await page.getByText('Live').waitFor()
    assert.equal(await page.locator('#sections [aria-current="page"]').innerText(), 'Layers')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.locator('#sections a').count(), 0)
  })

  it('opens the section of its address, and keeps the session after a reload', async () => {
    const page = await stage.enter()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.locator('#sections').getByText('Work').click()
    await page.waitForURL(/#work$/)
    await page.reload()
    await page.getByRole('heading', { name: 'Work' }).waitFor()
  })

  it('is linked from the viewer for a user who has signed in', async () => {
    const page = await stage.visit()
    await page.goto(stage.backend.viewer)
    await page.getByText('No layers yet').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Control room' }).count(), 0)
    await page.goto(stage.address)
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await page.locator('#sections a').first().waitFor()
    await page.locator('#account').getByRole('link', { name: 'Map' }).click()
    await page.getByRole('link', { name: 'Control room' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('shows a message and no sections to a user who may not write', async () => {
    const page = await stage.visit()
    await becomeUser(page, { name: 'rita', role: 'staff' })
    await page.getByText('rita may not administer this store').waitFor()
    assert.equal(await page.locator('#sections a').count(), 0)
  })

  it('asks for the password when the session ends, and continues afterwards', async () => {
    const { page, dialog } = await enterAndEnd('osm')
    assert.equal(await dialog.getByLabel('Name').inputValue(), stage.owner.name)
    await dialog.getByLabel('Password').fill(stage.owner.password)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.clock.fastForward(PAUSE)
    await page.getByText('Live').waitFor()
  })

  it('asks for the password again after the dialog was closed with Escape', async () => {
    const { page, dialog } = await enterAndEnd('later')
    await dialog.evaluate(node => { node.dataset.closed = 'true' })
    await page.keyboard.press('Escape')
    await page.clock.fastForward(PAUSE)
    // another request may be refused at once, so the page may never be seen without a dialog
    await page.locator('dialog:not([data-closed])').getByText('Your session has ended').waitFor()
  })

  it('does not ask again for a request that began before the dialog was closed', async () => {
    const page = await stage.enter('layers')
    await page.getByText('Live').waitFor()
    const { opened, open } = createGate()
    const refusal = { status: 401, json: { error: 'unauthorized', reason: 'The session has ended.' } }
    const feeds = []
    await page.route(/_changes/, async route => {
      feeds.push(route)
      if (feeds.length > 1) return // the request stays open
      await opened
      await route.fulfill(refusal)
    })
    await page.route('**/_security', route => route.fulfill(refusal))
    await stage.store.defineLayer('refused', { name: 'Refused' }) // the feed asks again
    await until(() => feeds.length, { what: 'the feed to ask' })
    await page.locator('#sections').getByText('Access').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Your session has ended').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    open()
    await page.locator('#live.away').waitFor() // the page has received the refusal
    assert.equal(await dialog.count(), 0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('opens the overview at an address that cannot be decoded', async () => {
    const page = await stage.enter('%')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('names the store without the password in commands to copy', async () => {
    await stage.store.defineLayer('osm')
    const page = await stage.enter('layers/osm')
    const line = page.locator('code').getByText(stage.command('tilecouch remove osm --all'), { exact: true }).last()
    await line.waitFor()
    for (const text of await page.locator('code').allInnerTexts()) {
      assert.ok(!text.includes(`:${stage.owner.password}@`), text)
    }
  })

  it('keeps the focus on a save button, and moves it to "Cancel" in a dialog before a removal', async () => {
    await stage.store.defineLayer('empty')
    const page = await stage.enter('layers/empty')
    await page.getByLabel('Title', { exact: true }).fill('Nothing yet')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Everything is saved.').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Save changes')
    await page.goto(`${stage.address}#access`)
    await page.locator('.access:not([aria-busy])').waitFor()
    await page.getByRole('button', { name: 'Remove the layer' }).waitFor({ state: 'detached' })
    const group = page.getByRole('group', { name: 'Admins of this store' })
    await group.getByLabel('Name').fill('berta')
    await group.getByRole('button', { name: 'Add admin' }).click()
    await group.getByRole('button', { name: 'Remove berta from the admins' }).click()
    await page.getByRole('dialog').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Cancel')
    await page.keyboard.press('Escape')
  })
})

// CouchDB serves no page of a closed store, so it has no sign-in.
onAdmin('the sign-in of a closed store', (stage, kind) => {
  if (kind === 'CouchDB') return
  before(async () => {
    await stage.store.couch.request({ method: 'PUT', path: '_security', body: MEMBERS })
  })

  const signIn = (page, password = stage.owner.password) => stage.signIn(page, stage.owner.name, password)

  it('lets a reader sign in, and then opens the place of the link', async () => {
    const page = await stage.open(`${stage.backend.viewer}#3/10/20`)
    await signIn(page, 'wrong')
    await page.getByRole('alert').getByText('The name or the password is wrong.').waitFor()
    await signIn(page)
    await page.locator('#panel h1').waitFor()
    assert.match(page.url(), /_rewrite\/#3\/10\/20$/)
  })

  it('opens the control room when that was the address', async () => {
    const page = await stage.open(`${stage.backend.viewer}admin`)
    await signIn(page)
    await page.locator('#sections a').first().waitFor()
  })

  it('does not ask again when a signed-in reader follows a link from another site', async () => {
    const page = await stage.open(stage.backend.viewer)
    await signIn(page)
    await page.locator('#panel h1').waitFor()
    await page.goto(`data:text/html,<a href="${stage.backend.viewer}">map</a>`)
    await page.getByText('map').click()
    await page.locator('#panel h1').waitFor()
  })

  it('has no accessibility barriers on a desk and on a phone, in light and dark colours', async () => {
    const page = await stage.open(stage.backend.viewer, { ...screens.desk, bypassCSP: true })
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).margin), '0px', 'its style is allowed')
    for (const screen of [screens.desk, screens.phone]) {
      await resize(page, screen)
      assert.deepEqual(await findBarriers(page), [])
    }
  })
})
