/* global dispatchEvent, document -- of the page, in functions that run there */
// Tests the section Layers: layers are made, edited by two users at once, tested, pruned, put in order and removed.
import assert from 'node:assert/strict'
import { layerId } from '../../core/index.js'
import { png } from '../support/tiles.js'
import { holdWrites, onAdmin } from '../support/control-room.js'
import { becomeUser } from './steps.js'

const input = (page, name) => page.locator(`[data-field="${name}"]`)
const fill = async (page, values) => {
  for (const [name, value] of Object.entries(values)) await input(page, name).fill(value)
}
const waitUntilSaved = page => page.getByText('Everything is saved.').waitFor()
const save = page => page.getByRole('button', { name: 'Save changes' }).click()
const asksBeforeClosing =
  page => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))

onAdmin('the section Layers', stage => {
  const doc = layer => stage.store.couch.get(layerId(layer))
  /** Opens the form of a layer. */
  const form = async layer => {
    const page = await stage.enter(`layers/${layer}`)
    await page.locator('.layer:not([aria-busy])').waitFor()
    await waitUntilSaved(page)
    return page
  }
  /** The activity documents of a layer, the oldest first. */
  const notes = async layer => {
    const rows = await stage.store.couch.page({ startkey: 'activity:', endkey: 'activity;', include_docs: true })
    return rows.map(row => row.doc).filter(note => note.layer === layer).sort((a, b) => a._id < b._id ? -1 : 1)
  }

  it('makes a layer, and refuses names that are bad or taken', async () => {
    const page = await stage.enter('layers')
    await page.getByText('No layers yet.').waitFor()
    await page.getByRole('button', { name: 'New layer' }).click()
    const makeButton = page.getByRole('button', { name: 'Make the layer' })
    for (const [name, why] of [['Big Town', 'A name has 1 to 63'],
      ['edition', 'A name has 1 to 63'], ['work', 'This name is reserved']]) {
      await page.getByLabel('Name in addresses').fill(name)
      await makeButton.click()
      await page.getByText(why).waitFor()
    }
    await page.getByLabel('Name in addresses').fill('made')
    await page.getByLabel('Title for people').fill('<b>Made</b>')
    await makeButton.click()
    await page.getByRole('heading', { name: '<b>Made</b>' }).waitFor()
    const madeLayer = await doc('made')
    assert.deepEqual([madeLayer.type, madeLayer.layer, madeLayer.name], ['layer', 'made', '<b>Made</b>'])
    await page.getByRole('link', { name: 'All layers' }).click()
    await page.getByRole('button', { name: 'New layer' }).click()
    await page.getByLabel('Name in addresses').fill('made')
    await makeButton.click()
    await page.getByText('There is a layer made already.').waitFor()
    const [note] = await notes('made')
    assert.deepEqual([note.what, note.done, note.user, note.fields.name.after],
      ['layer', 'created', stage.owner.name, '<b>Made</b>'])
  })

  it('writes only changed fields, and shows each problem at its field', async () => {
    await stage.store.defineLayer('plain',
      { name: 'Plain', description: 'stays', minzoom: 2, maxzoom: 9, ttl: 3600, bounds: [5, 45, 10, 48] })
    const before = await doc('plain')
    const page = await form('plain')
    assert.deepEqual(await Promise.all(['ttl', 'bounds', 'minzoom'].map(name => input(page, name).inputValue())),
      ['1h', '5, 45, 10, 48', '2'])
    for (const [name, bad, why] of [
      ['bounds', '5, 48, 10, 45', 'Type four numbers'], ['ttl', 'soon', 'a number and a unit'],
      ['minzoom', '31', 'from 0 to 30'],
      ['minzoom', '10', 'must not be greater'], ['retina', 'Town', 'name of another layer'],
      ['same', 'colours', 'Type pixels'],
      ['upstream.url', 'https://tiles.example.org/{z}/{x}.png', 'needs {y}'],
      ['upstream.url', 'https://tiles.example.org/{z}/{x}/{y}.png?key=abc', 'which is secret'],
      ['retention.daily', '1.5', 'whole number']
    ]) {
      await input(page, name).fill(bad)
      await save(page)
      await page.locator(`.field:has([data-field="${name}"]) .problem`, { hasText: why }).waitFor()
      assert.equal(await input(page, name).getAttribute('aria-invalid'), 'true')
      await page.getByRole('button', { name: 'Discard changes' }).click()
    }
    assert.deepEqual(await doc('plain'), before, 'nothing bad was written')
    await fill(page, { ttl: '7d', name: 'Plain map', group: 'Base maps', maxzoom: '' })
    await input(page, 'offline').selectOption({ label: 'forbidden by its terms' })
    await page.getByText('5 changes not saved').waitFor()
    await save(page)
    await waitUntilSaved(page)
    const { _rev, maxzoom, ...otherFields } = before
    const { _rev: next, ...after } = await doc('plain')
    assert.deepEqual(after, { ...otherFields, ttl: 604800, name: 'Plain map', group: 'Base maps', offline: false })
    const note = (await notes('plain')).pop()
    assert.deepEqual(note.fields.ttl, { before: 3600, after: 604800 })
    assert.deepEqual(Object.keys(note.fields).sort(), ['group', 'maxzoom', 'name', 'offline', 'ttl'])
  })

  it('shows changes of other users, and keeps the typed text of a field', async () => {
    await stage.store.defineLayer('live', { name: 'Live', attribution: 'old' })
    const page = await form('live')
    await page.getByText('Live', { exact: true }).first().waitFor()
    await input(page, 'name').fill('Mine')
    await stage.store.defineLayer('live', stored => ({ ...stored, attribution: 'new', ttl: 60 }))
    await page.waitForFunction(() => /** @type {any} */ (document.querySelector('[data-field="attribution"]'))
      .value === 'new')
    assert.deepEqual([await input(page, 'name').inputValue(), await input(page, 'ttl').inputValue()], ['Mine', '1m'])
    await stage.store.defineLayer('live', stored => ({ ...stored, name: 'Theirs' }))
    await page.getByText('Somebody else has changed this meanwhile to: Theirs').waitFor()
    assert.equal(await input(page, 'name').inputValue(), 'Mine')
  })

  it('keeps the changes of two users, and asks about fields that both changed', async () => {
    await stage.store.defineLayer('both', { name: 'Both', ttl: 60, description: 'old' })
    const [first, second] = [await form('both'), await form('both')]
    await fill(first, { name: 'One', ttl: '2m' })
    await fill(second, { name: 'Other', ttl: '3m', description: 'new' })
    await save(first)
    await waitUntilSaved(first)
    await save(second)
    const dialog = second.getByRole('dialog')
    const field = name => dialog.locator(`[data-field="${name}"]`)
    await dialog.getByText('Somebody else has changed this, too').waitFor()
    assert.match(await field('name').innerText(), /Title\s+Mine: Other\s+Theirs: One/)
    assert.equal(await field('description').count(), 0)
    await field('ttl').getByLabel('Theirs').check()
    await dialog.getByRole('button', { name: 'Save this' }).click()
    await waitUntilSaved(second)
    const { name, ttl, description } = await doc('both')
    assert.deepEqual({ name, ttl, description }, { name: 'Other', ttl: 120, description: 'new' })
  })

  it('keeps what is typed while a change is being saved', async () => {
    await stage.store.defineLayer('slow', { name: 'Slow', ttl: 60 })
    const page = await form('slow')
    const release = await holdWrites(page, '**/layer%3Aslow')
    await fill(page, { name: 'First', ttl: '2m' })
    await save(page)
    await page.getByText('Saving').waitFor()
    await fill(page, { name: 'Second', description: 'more' })
    release()
    await page.getByText(/^2 changes not saved: /).waitFor()
    const { name, ttl } = await doc('slow')
    assert.deepEqual({ name, ttl }, { name: 'First', ttl: 120 })
    const values = await Promise.all(['name', 'ttl', 'description'].map(field => input(page, field).inputValue()))
    assert.deepEqual(values, ['Second', '2m', 'more'])
    await save(page)
    await waitUntilSaved(page)
    const after = await doc('slow')
    assert.deepEqual([after.name, after.ttl, after.description], ['Second', 120, 'more'])
  })

  it('keeps unsaved changes while another section is shown, and asks before the page is closed', async () => {
    await stage.store.defineLayer('draft', { name: 'Draft' })
    const page = await form('draft')
    assert.equal(await asksBeforeClosing(page), false)
    await input(page, 'name').fill('Better')
    await page.locator('#sections').getByText('Work').click()
    await page.getByRole('heading', { name: 'Work' }).waitFor()
    assert.equal(await asksBeforeClosing(page), true)
    await page.locator('#sections').getByText('Layers').click()
    await page.locator('[data-layer="draft"]').getByText('unsaved changes').waitFor()
    await page.getByRole('link', { name: 'Draft' }).click()
    assert.equal(await input(page, 'name').inputValue(), 'Better')
    await save(page)
    await waitUntilSaved(page)
    assert.equal((await doc('draft')).name, 'Better')
    assert.equal(await asksBeforeClosing(page), false)
  })

  it('shows the command for a dry run of a prune with the rules of the form', async () => {
    await stage.store.defineLayer('past', { name: 'Past' })
    const page = await form('past')
    assert.equal(await page.locator('.retention .command').isVisible(), false)
    await fill(page, { 'retention.daily': '3', 'retention.within': '2d' })
    await page.locator('.retention .command')
      .getByText('tilecouch prune past --keep-daily 3 --keep-within 2d --dry-run').waitFor()
    assert.equal((await doc('past')).retention, undefined)
    await save(page)
    await waitUntilSaved(page)
    await page.locator('.retention .command')
      .getByText(stage.command('tilecouch prune past --dry-run'), { exact: true }).waitFor()
    assert.deepEqual((await doc('past')).retention, { daily: 3, within: 172800 })
  })

  it('moves layers within their group by the keyboard', async () => {
    for (const name of ['a', 'b', 'c']) {
      await stage.store.defineLayer(`row-${name}`, { name: `Row ${name}`, group: 'Rows' })
    }
    const page = await stage.enter('layers')
    await page.getByRole('button', { name: 'Change the order' }).click()
    const rows = () => page.locator('[data-layer^="row-"]')
      .evaluateAll(nodes => nodes.map(node => node.getAttribute('data-layer')))
    await page.getByRole('button', { name: 'Move Row c up' }).focus()
    for (const expectedOrder of ['row-a,row-c,row-b', 'row-c,row-a,row-b']) {
      await page.keyboard.press('Enter')
      await page.waitForFunction(text => [
        ...document.querySelectorAll('[data-layer^="row-"]')
      ].map(node => node.getAttribute('data-layer')).join() === text, expectedOrder)
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
        'Move Row c up', 'the key stays where it was')
    }
    await page.reload()
    await page.locator('[data-layer="row-c"]').waitFor()
    assert.deepEqual(await rows(), ['row-c', 'row-a', 'row-b'])
    await page.goto(stage.backend.viewer)
    const names = page.locator('.layers .title', { hasText: /^Row/ })
    await names.nth(2).waitFor()
    await page.waitForFunction(
      () => /** @type {HTMLElement | null} */ (document.querySelector('.layers .title'))?.innerText
    )
    assert.deepEqual(await names.allInnerTexts(), ['Row c', 'Row a', 'Row b'], 'the map lists them so')
  })

  it('removes an empty layer after its name was typed, and shows commands for other layers', async () => {
    await stage.store.defineLayer('empty', { name: 'Empty' })
    await stage.store.defineLayer('full', { name: 'Full' })
    await stage.store.write([{ layer: 'full', z: 0, x: 0, y: 0, time: '2024-01-01T00:00:00Z', bytes: png(1) }])
    const page = await form('full')
    await page.getByLabel('New name').fill('fuller')
    await page.getByText('tilecouch copy full fuller --move').waitFor()
    await page.getByText(stage.command('tilecouch remove full --all'), { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove the empty layer' }).click()
    await page.getByText('full is not empty').waitFor()
    await page.evaluate(() => { document.location.hash = 'layers/empty' })
    await page.getByRole('heading', { name: 'Empty' }).waitFor()
    await input(page, 'name').fill('Not saved')
    await page.getByRole('button', { name: 'Remove the empty layer' }).click()
    const dialog = page.getByRole('dialog')
    const remove = dialog.getByRole('button', { name: 'Remove the empty layer' })
    assert.equal(await remove.isDisabled(), true)
    await dialog.getByLabel('Type empty to confirm').fill('empty')
    await remove.click()
    await page.locator('[data-layer="full"]').waitFor()
    await page.locator('[data-layer="empty"]').waitFor({ state: 'detached' })
    assert.equal(await doc('empty'), undefined)
    assert.ok(await doc('full'))
    assert.equal(await asksBeforeClosing(page), false, 'nothing can be saved any more')
    assert.equal((await notes('empty')).pop().done, 'removed')
  })

  it('shows who can see a layer, and the command to close the store only to an admin', async () => {
    await stage.store.defineLayer('seen', { name: 'Seen' })
    const page = await form('seen')
    await page.getByText('Everybody can read this store').waitFor()
    await page.getByText('tilecouch access --private').waitFor()
    await page.getByText('tilecouch serve --private-layers seen --access-keys-file access-keys').waitFor()
    await becomeUser(page, { name: 'rita', role: 'tilecouch-writer' })
    await page.locator('.layer:not([aria-busy])').waitFor()
    await page.getByText('Everybody can read this store').waitFor()
    assert.equal(await page.getByText('tilecouch access --private').count(), 0)
    assert.deepEqual(await page.locator('#sections a').allInnerTexts(), ['Layers', 'Work'])
  })
})
