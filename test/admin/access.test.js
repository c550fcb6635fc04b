// Tests the section Access of the control room: who may read and write, what an anonymous user sees, and tokens.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { accessOf, setAccess } from '../../loader/store/access.js'
import { activityOf, hashOf, parseToken } from '../../core/index.js'
import { createGate } from '../support/client/front.js'
import { holdWrites, isRead, onAdmin } from '../support/control-room.js'
import { enterSection } from './steps.js'

const group = (page, name) => page.getByRole('group', { name, exact: true })

/** Adds a user or a role to a list. */
async function add (page, list, name, kind = 'User') {
  const form = group(page, list)
  await form.getByLabel('What').selectOption({ label: kind })
  await form.getByLabel('Name').fill(name)
  await form.getByRole('button').last().click()
  await form.locator('.chip').filter({ hasText: name }).waitFor()
}

onAdmin('the section Access', stage => {
  before(() => stage.store.defineLayer('osm', { name: 'OSM' }))
  beforeEach(() => setAccess(stage.store, { public: true, writers: null }))

  /** The activity documents. */
  const notes = async () => (await stage.store.couch.page(
    { startkey: 'activity:', endkey: 'activity;', include_docs: true }
  )).map(({ doc }) => doc)
  /** Records a change of the access, after which the page reads the access again. */
  const noteChange = () => stage.store.couch.bulk([activityOf({ what: 'access', done: 'changed' },
    { user: stage.owner.name, at: Date.now(), via: 'access' })])

  it('shows who may read and write, and closes and opens the store after a confirmation', async () => {
    const page = await stage.enter('access')
    await page.getByText('Everybody may read this store, without a name.').waitFor()
    await page.getByText('Every user with the role tilecouch-writer may write').waitFor()
    await page.getByRole('button', { name: 'Close the store' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await accessOf(stage.store)).public, true, 'not without an answer')
    await page.getByRole('button', { name: 'Close the store' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close the store' }).click()
    await page.getByText('Only readers, writers and admins may read this store.').waitFor()
    const closed = await accessOf(stage.store)
    assert.equal(closed.public, false)
    assert.deepEqual(closed.readers.roles, ['tilecouch-writer'], 'who may write goes on reading')
    await page.locator('.stranger dd').first().getByText('sees nothing').waitFor()
    await page.getByRole('button', { name: 'Open to everybody' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Open to everybody' }).click()
    await page.getByText('Everybody may read this store, without a name.').waitFor()
    assert.equal((await accessOf(stage.store)).public, true)
  })

  it('adds and removes readers, writers and admins, and records it as activity', async () => {
    const page = await stage.enter('access')
    await page.getByRole('button', { name: 'Close the store' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close the store' }).click()
    await add(page, 'Readers', 'staff', 'Role')
    await add(page, 'Writers', 'anna')
    await add(page, 'Admins of this store', 'boss')
    const { readers, writers, admins } = await accessOf(stage.store)
    assert.deepEqual([readers.names, readers.roles], [['anna'], ['tilecouch-writer', 'staff']], 'a writer reads, too')
    assert.deepEqual([writers.names, writers.roles], [['anna'], ['tilecouch-writer']])
    assert.ok(admins.names.includes('boss'))
    await group(page, 'Writers').getByRole('button', { name: 'Remove anna from the writers' }).click()
    await group(page, 'Writers').locator('.chip').filter({ hasText: 'anna' }).waitFor({ state: 'detached' })
    await group(page, 'Admins of this store').getByRole('button', { name: 'Remove boss from the admins' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await group(page, 'Admins of this store').locator('.chip').filter({ hasText: 'boss' })
      .waitFor({ state: 'detached' })
    const after = await accessOf(stage.store)
    assert.deepEqual([after.writers.names, after.admins.names.includes('boss')], [[], false])
    assert.ok((await notes()).some(({ what, fields }) => what === 'access' &&
      fields?.writers?.after?.names?.includes('anna')))
  })

  it('asks before a change when another admin has changed the access, and keeps both changes', async () => {
    const page = await enterSection(stage, 'access')
    await setAccess(stage.store, { writers: { names: ['otto'] } })
    const form = group(page, 'Writers')
    await form.getByLabel('Name').fill('anna')
    await form.getByRole('button', { name: 'Add writer' }).click()
    await page.getByRole('dialog').getByText('Somebody else has changed the access').waitFor()
    await form.locator('.chip').filter({ hasText: 'otto' }).waitFor()
    await page.getByRole('button', { name: 'Change it all the same' }).click()
    await form.locator('.chip').filter({ hasText: 'anna' }).waitFor()
    assert.deepEqual((await accessOf(stage.store)).writers.names, ['otto', 'anna'])
  })

  it('shows a change of another admin as soon as its activity is recorded', async () => {
    const page = await enterSection(stage, 'access')
    await setAccess(stage.store, { writers: { names: ['<b>otto</b>'] } })
    await noteChange()
    await group(page, 'Writers').getByText('<b>otto</b>').waitFor()
  })

  it('keeps a change when an older answer arrives late', async () => {
    const page = await enterSection(stage, 'access')
    const [requestArrived, lateAnswer, requestEnded] = [createGate(), createGate(), createGate()]
    let isFirst = true
    await page.route('**/_security', async route => {
      const request = route.request()
      if (!isFirst || request.method() !== 'GET') return route.continue()
      isFirst = false
      const end = endedRequest => { if (endedRequest === request) requestEnded.open() }
      page.on('requestfinished', end).on('requestfailed', end)
      const response = await route.fetch()
      requestArrived.open()
      await lateAnswer.opened
      await route.fulfill({ response }).catch(() => {}) // the page may have cancelled the request
    })
    await noteChange()
    await requestArrived.opened
    await add(page, 'Writers', 'anna')
    await isRead(page, '.access')
    lateAnswer.open()
    await requestEnded.opened
    await add(page, 'Writers', 'otto')
    assert.deepEqual((await accessOf(stage.store)).writers.names, ['anna', 'otto'])
  })

  it('leaves the focus where somebody types while a change is under way', async () => {
    const page = await stage.enter('access')
    const release = await holdWrites(page, '**/_security')
    const [writer, admin] = ['Writers', 'Admins of this store'].map(name => group(page, name).getByLabel('Name'))
    await writer.fill('anna')
    await writer.press('Enter')
    await admin.focus()
    release()
    await until(async () => await writer.inputValue() === '', { what: 'the answer to the change' })
    await page.keyboard.type('boss')
    assert.deepEqual([await writer.inputValue(), await admin.inputValue()], ['', 'boss'])
  })

  it('keeps a name that is typed while the one before is being added', async () => {
    const page = await stage.enter('access')
    const release = await holdWrites(page, '**/_security')
    const writer = group(page, 'Writers').getByLabel('Name')
    await writer.fill('anna')
    await writer.press('Enter')
    await writer.fill('otto')
    release()
    await group(page, 'Writers').locator('.chip').filter({ hasText: 'anna' }).waitFor()
    await group(page, 'Writers').locator('button[type="submit"]:not([aria-disabled])').waitFor()
    assert.equal(await writer.inputValue(), 'otto')
  })

  it('shows what an anonymous user can see', async () => {
    const page = await stage.enter('access')
    const line = name => page.locator('.stranger dl > div').filter({ hasText: name }).locator('dd')
    await line('The database').getByText('reads').waitFor()
    assert.match(await line('Layers').innerText(), /^sees 1 of 1\s+osm$/)
    assert.equal(await line('Writing').innerText(), 'may not write')
    await setAccess(stage.store, { public: false })
    await page.getByRole('button', { name: 'Ask again' }).click()
    await line('The database').getByText('sees nothing').waitFor()
    assert.equal(await line('The map').innerText(), 'sees nothing')
    assert.equal(await line('Layers').innerText(), 'sees nothing')
  })

  it('warns when everybody may write', async () => {
    const { couch } = stage.store
    const design = await couch.request({ path: '_design/tiles' })
    await couch.request(
      { method: 'PUT', path: '_design/tiles', body: JSON.stringify({ ...design, validate_doc_update: undefined }) }
    )
    try {
      const page = await stage.enter('access')
      await page.getByText('EVERYBODY MAY WRITE').waitFor()
      assert.equal(await page.locator('.stranger dd').last().innerText(), 'may write')
    } finally {
      const { _rev } = await couch.request({ path: '_design/tiles' })
      await couch.request({ method: 'PUT', path: '_design/tiles', body: JSON.stringify({ ...design, _rev }) })
    }
  })

  it('makes a token, shows it once, and revokes it', async () => {
    const page = await enterSection(stage, 'access')
    const card = page.locator('.tokens')
    await card.getByText('New token').click()
    await card.getByLabel('For whom, or what').fill('<i>the press</i>')
    const layers = card.getByRole('textbox', { name: 'Layers' })
    for (const text of ['../x', 'manifest']) {
      await layers.fill(text)
      await card.getByRole('button', { name: 'Make token' }).click()
      assert.ok(await layers.evaluate(field => /** @type {HTMLInputElement} */ (field).validationMessage), text)
      assert.equal(await card.getByText('Copy it now').count(), 0, 'not for what is no layer')
    }
    await layers.fill('osm, draft-*')
    await card.getByRole('button', { name: 'Make token' }).click()
    await card.getByText('Copy it now').waitFor()
    const text = await card.locator('.made code').first().innerText()
    const { id, secret } = /** @type {any} */ (parseToken(text))
    const stored = await stage.store.couch.request({ path: `token:${id}` })
    assert.deepEqual([stored.hash, stored.layers, stored.user],
      [await hashOf(secret), ['osm', 'draft-*'], stage.owner.name])
    const row = card.getByRole('row').filter({ hasText: '<i>the press</i>' })
    await row.getByText('valid', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Done' }).click()
    await card.getByText('Copy it now').waitFor({ state: 'detached' })
    assert.ok(!(await page.content()).includes(secret), 'the page keeps no secret')
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.getByText('revoked', { exact: true }).waitFor()
    assert.ok((await stage.store.couch.request({ path: `token:${id}` })).revoked)
    // a change is recorded after the page shows it
    await until(async () => (await notes()).filter(({ what }) => what === 'token').length === 2)
    const activityText = JSON.stringify(await notes())
    assert.ok(!activityText.includes(secret) && !activityText.includes(stored.hash), 'neither secret nor hash')
    await row.getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
  })
})
