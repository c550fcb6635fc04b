/* global document -- of the page, in functions that run there */
// Tests the section Activity of the control room: who changed what, and how long activity is kept.
import assert from 'node:assert/strict'
import { STORE_ID, activityId } from '../../core/index.js'
import { screens } from '../viewer/browser.js'
import { onAdmin, runOf, timeOf } from '../support/control-room.js'
import { writeDocuments } from './steps.js'

const DAY = 86_400_000 // milliseconds

onAdmin('the section Activity', stage => {
  let number = 0
  /** Makes an activity document of a change this many days ago. */
  const activityDoc = (days, fields) => {
    const time = Date.now() - days * DAY
    return {
      _id: activityId(runOf(time, number++)), type: 'activity', user: stage.owner.name,
      at: timeOf(time), via: 'page', what: 'layer', done: 'changed', ...fields
    }
  }
  const put = docs => writeDocuments(stage, docs)
  const enter = async (place = 'activity', screen = screens.desk) => {
    const page = await stage.enter(place, stage.owner, screen)
    await page.locator('.activity-section:not([aria-busy])').waitFor()
    return page
  }
  const entries = page => page.locator('.activity li')
  const filterOf = (page, name) => page.getByRole('combobox', { name })

  before(async () => {
    await stage.store.defineLayer('osm')
    await put([
      activityDoc(2,
        {
          layer: 'osm',
          fields: { name: { before: 'Streets', after: 'Roads' }, ttl: {
            before: 3600
          }, pruned: { after: '2024-03-01T00:00:00Z' }, legend: { after: 'x'.repeat(500) } }
        }),
      activityDoc(1,
        {
          layer: 'town', what: 'edition', done: 'created', edition: '2024-03-01T00:00:00Z',
          via: 'tilecouch load', fields: { tiles: { after: 12345 } }
        }),
      activityDoc(1.0001,
        { what: 'access', fields: {
          writers: { before: { names: [], roles: [] }, after: { names: ['<b>anna</b>'], roles: ['survey'] } }
        } }),
      activityDoc(400, { layer: 'longago' })
    ])
  })

  it('shows who changed what, by day, the newest first, with values before and after, and links', async () => {
    const page = await enter()
    assert.equal(await entries(page).count(), 3)
    const text = (await entries(page).allTextContents()).join('\n')
    assert.match(text, /^created Edition town 1 Mar 2024.*tilecouch load.*12,345/)
    assert.match(text, /Title.*Streets → Roads/)
    assert.match(text, /3,600 seconds → \(none\)/)
    assert.match(text, /1 Mar 2024/)
    assert.match(text, /\(nobody\) → <b>anna<\/b>, the role survey/, 'names are text')
    assert.ok(!text.includes('x'.repeat(200)), 'long values are shortened')
    assert.equal(await page.locator('.activity h3').count(), 2)
    assert.ok(text.includes(stage.owner.name))
    assert.deepEqual(await page.locator('.activity .subject a')
      .evaluateAll(links => links.map(link => link.getAttribute('href'))),
      ['#layers/town', '#editions/town/2024-03-01T00:00:00Z', '#access', '#layers/osm'])
    await page.getByRole('link', { name: 'osm', exact: true }).click()
    await page.waitForFunction(() => document.location.hash === '#layers/osm')
  })

  for (const [locale, pattern] of /** @type {const} */ ([
    ['en-GB', /^\d\d:\d\d(:\d\d)? UTC$/], ['en-US', /^\d{1,2}:\d\d(:\d\d)?\s[AP]M UTC$/]
  ])) {
    it(`shows the time of each change in UTC and in the format of the browser (${locale})`, async () => {
      const page = await enter('activity', { ...screens.desk, locale })
      for (const text of await page.locator('.activity time').allInnerTexts()) assert.match(text, pattern)
    })
  }

  it('filters by layer, user and kind, and shows a message when nothing matches', async () => {
    const page = await enter()
    await filterOf(page, 'Layer').selectOption('osm')
    await page.getByText('1 change', { exact: true }).waitFor()
    assert.equal(await entries(page).count(), 1)
    await filterOf(page, 'What').selectOption('access')
    await page.getByText('No activity matches.').waitFor()
    assert.equal(await entries(page).count(), 0)
    await filterOf(page, 'Layer').selectOption('')
    await page.getByText('1 change', { exact: true }).waitFor()
    await filterOf(page, 'User').selectOption(stage.owner.name)
    assert.equal(await entries(page).count(), 1)
    await page.evaluate(() => { document.location.hash = 'activity/town' })
    await page.waitForFunction(
      () => [...document.querySelectorAll('.filters select')].some(list => /** @type {any} */ (list).value === 'town')
    )
    await filterOf(page, 'What').selectOption('')
    await page.locator('.activity li', { hasText: 'Edition town' }).waitFor()
    assert.equal(await entries(page).count(), 1)
  })

  it('shows a change of another user at once', async () => {
    const page = await enter()
    await page.getByText('Live', { exact: true }).waitFor()
    await put([activityDoc(0, { layer: 'fresh', what: 'layer', done: 'removed', via: 'tilecouch remove' })])
    await page.locator('.activity li', { hasText: 'fresh' }).waitFor()
    assert.match(await entries(page).first().textContent(), /^removed Layer fresh/)
  })

  it('lets an admin set how long activity is kept, records that, and removes older documents', async () => {
    const old = activityDoc(100, { layer: 'hundred' })
    await put([old])
    const page = await enter()
    await page.locator('.activity li', { hasText: 'hundred' }).waitFor()
    const days = page.locator('.keep').getByLabel('Days')
    assert.equal(await days.inputValue(), '365')
    await days.fill('20')
    await page.getByRole('button', { name: 'Save' }).click()
    assert.equal(await days.evaluate(input => input.validity.valid), false)
    await days.fill('60')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Activity is kept for 60 days now.').waitFor()
    await page.locator('.activity li', { hasText: 'hundred' }).waitFor({ state: 'detached' })
    await page.locator('.activity li', { hasText: '365 → 60' }).waitFor()
    assert.equal((await stage.store.couch.get(STORE_ID)).activityDays, 60)
    await page.waitForFunction(() => /kept for 60 days/.test(document.querySelector('.keep')?.textContent ?? ''))
    for (let tries = 0; await stage.store.couch.get(old._id); tries++) {
      assert.ok(tries < 100, 'the old document goes')
      await page.evaluate(() => new Promise(resolve => { setTimeout(resolve, 50) }))
    }
    await days.fill('365')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Activity is kept for 365 days now.').waitFor()
    assert.equal((await stage.store.couch.get(STORE_ID)).activityDays, undefined)
  })

  it('does not overwrite the days that another user has changed, but shows them', async () => {
    stage.allow(/ERR_FAILED/)
    const page = await stage.visit('activity')
    await page.route(/_changes/, route => route.abort()) // the page does not learn of changes of other users
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await page.locator('.activity-section:not([aria-busy])').waitFor()
    await stage.store.couch.update(STORE_ID, doc => ({ ...doc, activityDays: 90 }))
    const save = async () => page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.keep').getByLabel('Days').fill('120')
    await save()
    await page.getByText('Somebody else has changed this meanwhile.').waitFor()
    await page.getByText('Activity is kept for 90 days.').waitFor()
    assert.equal((await stage.store.couch.get(STORE_ID)).activityDays, 90)
    await save()
    await page.getByText('Activity is kept for 120 days now.').waitFor()
    assert.equal((await stage.store.couch.get(STORE_ID)).activityDays, 120)
  })

  it('draws 40 of many changes, and more on request', async function () {
    this.timeout(60000)
    await put(
      Array.from({ length: 1500 }, (_, index) => activityDoc(1 + index / 100,
        { layer: `sheet-${index % 200}`, fields: { name: { before: 'Sheet', after: `Sheet ${index}` } } }))
    )
    const page = await enter()
    await page.getByText(/1,50\d changes/).waitFor()
    assert.equal(await entries(page).count(), 40)
    await page.getByRole('button', { name: 'Show more' }).click()
    assert.equal(await entries(page).count(), 80)
  })
})
