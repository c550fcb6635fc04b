/* global document -- of the page, in functions that run there */
// Tests the editions of a layer in the control room: their counts, comparisons, fields and removal.
import assert from 'node:assert/strict'
import { editionId } from '../../core/index.js'
import { load } from '../../loader/index.js'
import { memorySource } from '../support/memory-source.js'
import { holdWrites, onAdmin } from '../support/control-room.js'

const [T1, T2, T3] = ['2023-01-01T00:00:00Z', '2024-03-01T00:00:00Z', '2024-06-01T00:00:00Z']

/** Tiles of a zoom: columns and rows from 0 on. */
function tiles (z, side, seed) {
  const entries = []
  for (let x = 0; x < side; x++) for (let y = 0; y < side; y++) entries.push([`${z}/${x}/${y}`, seed(x, y)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const base = { '0/0/0': 1, ...tiles(2, 4, () => 1) }

onAdmin('editions', stage => {
  const fill = (layer, time, data, options = {}) => load(stage.store, memorySource(data), { layer, time, ...options })

  before(async () => {
    await fill('osm', T1, { ...base, ...tiles(8, 80, () => 1) }, { title: 'First survey' })
    // a partial edition: all other tiles stay
    await fill('osm', T2, { ...tiles(8, 10, x => x < 3 ? 2 : 1), '8/100/100': 5, '8/101/100': 5 },
      { title: '<b>Bold</b> <img src=x onerror=alert(1)>' })
    const seedOfWhole = (x, y) => x < 3 && y < 10 ? 2 : 1
    await fill('osm', T3, { ...base, ...tiles(8, 80, (x, y) => y > 70 ? undefined : seedOfWhole(x, y)) },
      { title: 'Whole', complete: true })
  })

  it('are listed by layer, the newest first, with their counts, and reported when they do not exist', async () => {
    const page = await stage.enter('editions')
    const row = page.locator('tbody tr', { hasText: 'osm' })
    await row.waitFor()
    assert.match(await row.innerText(), /osm\s+3\s+1 Jun 2024\s+Whole/)
    await row.getByRole('link', { name: 'osm', exact: true }).click()
    await page.getByRole('heading', { name: 'Editions of osm' }).waitFor()
    const rows = page.locator('tbody tr')
    assert.deepEqual(await rows.locator('th').allInnerTexts(), ['1 Jun 2024', '1 Mar 2024', '1 Jan 2023'])
    assert.match(await rows.nth(0).innerText(), /Complete/)
    assert.match(await rows.nth(1).innerText(), /Loaded\s+102\s+2\s+30\s+0/)
    await rows.nth(2).getByRole('link').click()
    await page.getByRole('heading', { name: 'First survey' }).waitFor()
    await page.getByText('This is the first edition of the layer.').waitFor()
    await page.evaluate(hash => { document.location.hash = hash }, 'editions/osm/1999-01-01T00:00:00Z')
    await page.getByText('There is no edition osm@1999-01-01T00:00:00Z.').waitFor()
  })

  it('link to a comparison with the edition before, on the map and as a command', async () => {
    const page = await stage.enter(`editions/osm/${T2}`)
    await page.getByText(`tilecouch diff osm@${T1} osm@${T2}`).waitFor()
    await page.getByRole('link', { name: 'Compare on the map' }).click()
    await page.waitForURL(url => url.hash.startsWith(`#osm@${T1}..${T2}`))
    await page.getByRole('slider').first().waitFor()
  })

  it('show HTML in a title as text, and how their removal would change the map', async () => {
    const page = await stage.enter(`editions/osm/${T2}`)
    await page.getByRole('heading', { name: '<b>Bold</b> <img src=x onerror=alert(1)>' }).waitFor()
    assert.equal(await page.locator('#content b, #content img').count(), 0)
    const card = page.locator('.card.remove')
    await card.getByText(
      'Without this edition, from 1 Mar 2024 until Whole (1 Jun 2024), the map would show what it shows at First ' +
        'survey (1 Jan 2023).'
    ).waitFor()
    await card.getByText('32 versions go.').waitFor()
    await card.getByText('30 tiles fall back to their version before.').waitFor()
    await card.getByText('2 tiles had no version before.').waitFor()
    await card.getByText(`tilecouch remove osm --edition ${T2} --dry-run`).waitFor()
    await page.evaluate(hash => { document.location.hash = hash }, `editions/osm/${T1}`)
    await card.getByText('the map would show nothing: there is no edition before.').waitFor()
  })

  it('can get a new title, which is recorded as activity and shown on other pages', async () => {
    await fill('town', T1, base, { title: 'Old' })
    const page = await stage.enter(`editions/town/${T1}`)
    const otherPage = await stage.enter('editions/town')
    await otherPage.getByRole('cell', { name: 'Old' }).waitFor()
    await page.getByLabel('Title').fill('New')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await otherPage.getByRole('cell', { name: 'New' }).waitFor()
    assert.equal((await stage.store.couch.get(editionId('town', T1))).title, 'New')
    const [rows] = await stage.store.couch.ranges([{ startkey: 'activity:', endkey: 'activity;', include_docs: true }])
    const [note] = rows.map(({ doc }) => doc).filter(({ layer, via }) => layer === 'town' && via === 'page')
    const { user, what, done, edition, fields } = note
    assert.deepEqual({ user, what, done, edition, fields }, {
      user: stage.owner.name, what: 'edition', done: 'changed', edition: T1,
      fields: { title: { before: 'Old', after: 'New' } }
    })
  })

  it('keep what is typed while a change is being saved', async () => {
    await fill('slow', T1, base, { title: 'Old' })
    const page = await stage.enter(`editions/slow/${T1}`)
    const release = await holdWrites(page, '**/edition%3Aslow*')
    await page.getByLabel('Title').fill('First')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('Title').fill('Second')
    await page.getByLabel('Source').fill('more')
    release()
    await page.getByText('Saved.').waitFor()
    assert.equal((await stage.store.couch.get(editionId('slow', T1))).title, 'First')
    assert.deepEqual([await page.getByLabel('Title').inputValue(), await page.getByLabel('Source').inputValue()],
      ['Second', 'more'])
  })

  it('keep the changes of two users, and ask about a field that both changed', async () => {
    await fill('both', T1, base, { title: 'Old' })
    const [one, two] = [await stage.enter(`editions/both/${T1}`), await stage.enter(`editions/both/${T1}`)]
    const write = async (page, field, text) => {
      await page.getByLabel(field).fill(text)
      await page.getByRole('button', { name: 'Save' }).click()
    }
    const stored = () => stage.store.couch.get(editionId('both', T1))
    await two.getByLabel('Source').fill('of two')
    await write(one, 'Title', 'of one')
    await one.getByText('Saved.').waitFor()
    await two.getByRole('button', { name: 'Save' }).click()
    await two.getByText('Saved.').waitFor()
    assert.equal((await stored()).title, 'of one')
    assert.equal((await stored()).source, 'of two')

    await two.getByRole('heading', { name: 'of one' }).waitFor()
    await two.getByLabel('Title').fill('two wants')
    await write(one, 'Title', 'one wants')
    await two.getByRole('heading', { name: 'one wants' }).waitFor()
    await two.getByRole('button', { name: 'Save' }).click()
    const dialog = two.getByRole('dialog')
    const field = dialog.locator('[data-field="title"]')
    await field.waitFor()
    assert.match(await field.innerText(), /Title\s+Mine: two wants\s+Theirs: one wants/)
    assert.equal((await stored()).title, 'one wants', 'nothing is overwritten unasked')
    await dialog.getByRole('button', { name: 'Save this' }).click()
    await two.getByRole('heading', { name: 'two wants' }).waitFor()
    assert.equal((await stored()).title, 'two wants')

    await one.getByRole('heading', { name: 'two wants' }).waitFor()
    await two.getByLabel('Title').fill('lost')
    await write(one, 'Title', 'kept')
    await two.getByRole('heading', { name: 'kept' }).waitFor()
    await two.getByRole('button', { name: 'Save' }).click()
    await field.getByLabel('Theirs').check()
    await dialog.getByRole('button', { name: 'Save this' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await two.getByLabel('Title').inputValue(), 'kept')
    assert.equal((await stored()).title, 'kept')
  })
})
