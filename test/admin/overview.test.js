/* global document -- of the page, in functions that run there */
// The overview of the control room: figures, growth, findings, tiles that expire, disk and layers.
import assert from 'node:assert/strict'
import { editionId, workId } from '../../core/index.js'
import { load } from '../../loader/load/index.js'
import { Store } from '../../loader/index.js'
import { memorySource } from '../support/memory-source.js'
import { png, square } from '../support/tiles.js'
import { size } from '../../attachments/format.js'
import { isRead, onAdmin, runOf, timeOf } from '../support/control-room.js'

const DAY = 86_400_000 // milliseconds
const MANY = 200 // layers

const monthName = ms => new Date(ms).toLocaleString('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** The middle of the month this many months ago. */
function monthsAgo (number) {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - number, 15)
}

const times = ['1950-01-01T00:00:00Z', '2019-06-01T00:00:00Z', '2024-03-01T00:00:00Z'] // of the tiles
const loaded = [4, 2, 2].map(monthsAgo) // when the tiles were loaded

/** Waits until a figure shows this text. */
const waitForFigure = (page, name, text) => page.locator(`[data-figure="${name}"] .value`)
  .filter({ hasText: new RegExp(`^${RegExp.escape?.(text) ?? text.replace(/[.+]/g, '\\$&')}$`) }).waitFor()

const part = (page, head) => page.locator('.card')
  .filter({ has: page.getByRole('heading', { name: head, exact: true }) })

onAdmin('the overview', (stage, kind) => {
  /** @type {any[]} */
  let editions = []

  before(async () => {
    const sources =
      [{ '3/1/1': 1, '4/2/2': 2, '4/2/3': 3 }, { '4/2/2': 4, '4/2/3': 3 }, { '3/1/1': 5, '4/2/2': 6, '4/3/3': 7 }]
    for (const [index, time] of times.entries()) {
      await load(stage.store, memorySource(sources[index]), { layer: 'osm', time, title: `Survey ${index}` })
    }
    for (const [index, time] of times.entries()) {
      await stage.store.couch.update(editionId('osm', time),
        doc => ({ ...doc, started: timeOf(loaded[index]), finished: timeOf(loaded[index]) }))
    }
    await stage.store.defineLayer('osm', { name: 'OpenStreetMap' })
    editions = await stage.store.editions('osm')
    // two tiles have expired, one expires within a day and one within a week; the four of radar expire by their ttl
    const expiring = [-2 * DAY, -DAY, DAY / 2, 3 * DAY].map((offset, i) =>
      ({ layer: 'weather', z: 5, x: i, y: 0, time: times[2], bytes: png(i), expires: timeOf(Date.now() + offset) }))
    await stage.store.write(expiring)
    await stage.store.defineLayer('weather', { ttl: 7200 })
    await stage.store.write(square({ layer: 'radar', time: times[2], side: 2, seed: (x, y) => 10 * x + y }))
    await stage.store.defineLayer('radar', { ttl: 7200 })
  })

  it('shows the figures of the commands, growth by month, tiles that expire, and the doctor command', async () => {
    const page = await stage.enter()
    const stats = await Promise.all(['osm', 'weather', 'radar'].map(layer => stage.store.stats(layer)))
    const sum = field => stats.reduce((total, layer) => total + layer[field], 0)
    assert.ok(sum('versions') > sum('tiles') && sum('bytes') > sum('currentBytes'))
    const figures = {
      layers: '3', tiles: String(sum('tiles')), versions: String(sum('versions')), images: size(sum('bytes')),
      editions: '3', failed: '0', expired: '2'
    }
    for (const [name, text] of Object.entries(figures)) await waitForFigure(page, name, text)
    const row = part(page, 'Layers').getByRole('row').filter({ hasText: 'OpenStreetMap' })
    const cells = await row.locator('td').allInnerTexts()
    assert.deepEqual(cells.slice(1),
      [String(stats[0].tiles), String(stats[0].versions), size(stats[0].bytes), '1 Mar 2024'])
    assert.equal(await row.getByRole('link', { name: 'OpenStreetMap' }).getAttribute('href'), '#layers/osm')
    assert.equal(await row.getByRole('link', { name: '1 Mar 2024' }).getAttribute('href'), '#editions/osm')
    await row.scrollIntoViewIfNeeded()
    await page.waitForFunction(
      () => /** @type {any} */ (document.querySelector('.overview .picture img'))?.naturalWidth > 0
    )

    const card = part(page, 'Growth')
    const plots = card.getByRole('img')
    await plots.first().waitFor()
    assert.equal(await plots.count(), 2)
    const label = await plots.first().getAttribute('aria-label')
    assert.ok(label?.includes(`${monthName(loaded[0])} to ${monthName(Date.now())}`), label ?? '')
    await card.getByText('Growth as a table').click()
    const rows = await card.locator('tbody tr')
      .evaluateAll(lines => lines.map(line => [...line.children].map(cell => cell.textContent)))
    const bytes = time => editions.find(edition => edition.time === time).bytes
    const versions = time => { const { created = 0, advanced = 0, backfilled = 0 } =
      editions.find(edition => edition.time === time); return created + advanced + backfilled }
    assert.ok(bytes(times[0]) > 0)
    const emptyRow = months => [monthName(monthsAgo(months)), size(0), '0', '0']
    assert.deepEqual(rows, [
      emptyRow(0), emptyRow(1),
      [monthName(loaded[1]), size(bytes(times[1]) + bytes(times[2])),
        String(versions(times[1]) + versions(times[2])), '2'],
      emptyRow(3), [monthName(loaded[0]), size(bytes(times[0])), String(versions(times[0])), '1']
    ], 'each load in its month')

    const lines = part(page, 'Expiring and failed tiles').locator('dl > div')
    await lines.first().waitFor()
    assert.deepEqual((await lines.allInnerTexts()).map(text => text.replace(/\s*\n\s*/g, ': ')),
      ['Expired: 2', 'Expire within a day: 5', 'Expire within 7 days: 6'])
    await part(page, 'Expiring and failed tiles').getByText('tilecouch prune --expired --all').waitFor()

    // there is no report of the doctor
    await part(page, 'Disk').getByText('How much room is left is not known').waitFor()
    await part(page, 'What needs attention').getByText('This page sees only a part').waitFor()
    assert.equal(await part(page, 'Disk').locator('code').innerText(),
      kind === 'CouchDB' ? stage.command('tilecouch doctor') : 'tilecouch doctor --data FOLDER')
    await part(page, 'What needs attention').getByText('checks are fine').click()
    await page.getByText('Access: validation – the store checks what is written').waitFor()
  })

  it('shows a new report of the doctor, the worst first, each finding with its remedy, and failed tiles', async () => {
    const page = await stage.enter()
    await isRead(page, '.overview')
    const time = Date.now() - 3 * DAY
    const findings = [
      { area: 'server', check: 'version', state: 'ok', found: '3.5.0' },
      {
        area: 'layers', check: 'expired', state: 'warning', found: 'many tiles',
        advice: 'tilecouch seed --expired --all, or tilecouch prune --expired --all'
      },
      {
        area: 'disk', check: 'left over', state: 'warning', found: '<b>2 files</b>',
        why: 'Nobody reads them.', advice: 'POST http://localhost/tiles/_view_cleanup'
      },
      { area: 'disk', check: 'room', state: 'bad', found: '10 GB of 100 GB free in /data', advice: 'Free some space.' },
      { area: 'clocks', check: 'mirrors', state: 'unknown', found: 'not asked' }
    ]
    const doc = {
      _id: workId(runOf(time, 0)), type: 'work', command: 'doctor', state: 'done', args: ['doctor'],
      user: stage.owner.name, started: timeOf(time), seen: timeOf(time), finished: timeOf(time),
      about: { state: 'bad', counts: {}, disk: { free: 10e9, size: 100e9 }, findings }
    }
    const [{ error, reason }] = await stage.store.couch.bulk([doc])
    assert.equal(error, undefined, reason)
    const card = part(page, 'What needs attention')
    await card.getByText('10 GB of 100 GB free').waitFor()
    assert.deepEqual((await card.locator('.finding').allInnerTexts()).map(text => text.split('\n')[0]),
      ['Bad', 'Warning', 'Warning'])
    const texts = await card.locator('.finding .found')
      .evaluateAll(nodes => nodes.map(node => node.lastChild?.textContent))
    assert.deepEqual(texts, ['10 GB of 100 GB free in /data', 'many tiles', '<b>2 files</b>'])
    assert.deepEqual(await card.locator('.finding code').allInnerTexts(),
      ['tilecouch seed --expired --all', 'tilecouch prune --expired --all'].map(text => stage.command(text)))
    await card.getByText('last looked 3 days ago').waitFor()
    await card.getByText('1 check could not be made').waitFor()
    const disk = part(page, 'Disk')
    await disk.getByText('10.0 GB of 100 GB free').waitFor()
    await disk.getByText('It does not fill within 30 years').waitFor()
    // the remedy asks for confirmation, and sends one request
    const button = card.getByRole('button', { name: 'Remove old index files' })
    const requests = []
    page.on('request',
      request => { if (request.method() === 'POST' && request.url().endsWith('_view_cleanup')) requests.push(request) })
    await button.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(requests.length, 0)
    await button.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove old index files' }).click()
    await page.locator('#messages').getByText('CouchDB has begun').waitFor()
    assert.equal(requests.length, 1)

    // failed tiles of an edition and of commands
    const now = Date.now()
    await stage.store.couch.update(editionId('osm', times[1]), edition => ({ ...edition, failed: 3 }))
    const run = {
      type: 'work', state: 'done', started: timeOf(now), seen: timeOf(now),
      finished: timeOf(now), user: stage.owner.name
    }
    const answers = await stage.store.couch.bulk([
      { ...run, _id: workId(runOf(now, 1)), command: 'load', layer: 'osm', edition: times[1], failed: 3 },
      { ...run, _id: workId(runOf(now, 2)), command: 'seed', layer: 'radar', failed: 12 }
    ])
    assert.deepEqual(answers.filter(answer => answer.error), [])
    await waitForFigure(page, 'failed', '15')
    const rows = part(page, 'Expiring and failed tiles').locator('tbody tr')
    assert.deepEqual((await rows.allInnerTexts())
      .map(text => text.split('\t').filter((_, column) => column !== 2).map(cell => cell.trim())),
      [['seed', 'radar', '12'], ['load', 'osm', '3']])
  })

  it('never waits for an index that is far behind, and builds it on request', async () => {
    const page = await stage.visit()
    const updates = []
    page.on('request', request => {
      if (request.url().includes('_view/by_time')) updates.push(new URL(request.url()).searchParams.get('update'))
    })
    await page.route('**/_design/versions/_info', async route => {
      const answer = await route.fetch()
      const info = await answer.json()
      Object.assign(info.view_index, { updates_pending: { total: 20_000 }, updater_running: false })
      await route.fulfill({ response: answer, json: info })
    })
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await page.getByText('The index is behind: 20,000 changes are not counted yet.').waitFor()
    await page.locator('.finding').getByText('the index lacks 20,000 changes').waitFor()
    assert.ok(updates.length > 0)
    assert.deepEqual(updates.filter(update => update !== 'false'), [])
    await part(page, 'Indexes and compaction').getByRole('button', { name: 'Build it' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Build the index' }).click()
    await page.locator('#messages').getByText('CouchDB has begun').waitFor()
    assert.deepEqual(updates.filter(update => update !== 'false'), ['lazy'])
    await page.unrouteAll({ behavior: 'wait' }) // the page looks at the index once more
  })

  it('shows a new layer and its tiles without a reload', async () => {
    const page = await stage.enter()
    await waitForFigure(page, 'layers', '3')
    const tiles = Number(await page.locator('[data-figure="tiles"] .value').innerText())
    await stage.store.defineLayer('fresh', { name: 'Fresh' })
    await stage.store.write(square({ layer: 'fresh', time: times[2], side: 2, seed: x => x }))
    await waitForFigure(page, 'layers', '4')
    await waitForFigure(page, 'tiles', String(tiles + 4))
  })

  if (kind === 'CouchDB') {
    it('works for an admin of the database who is not an admin of the server', async () => {
      const server = new URL(stage.backend.database)
      const { origin, username, password } = server
      const name = `boss_${process.pid}_${Date.now().toString(36)}`
      const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}`, 'Content-Type': 'application/json' }
      const user = `${origin}/_users/org.couchdb.user:${name}`
      const created = await (await fetch(user,
        { method: 'PUT', headers, body: JSON.stringify({ name, password: 's3cret', roles: [], type: 'user' }) })).json()
      const url = `${origin}${server.pathname}/_security`
      const before = await (await fetch(url, { headers })).json()
      try {
        await fetch(url,
          { method: 'PUT', headers, body: JSON.stringify({ ...before, admins: { ...before.admins, names: [name] } }) })
        const page = await stage.enter('', { name, password: 's3cret' })
        await page.getByText('Only an admin of the server sees how far it is.').waitFor()
        await isRead(page, '.overview')
        await waitForFigure(page, 'layers', '4')
        assert.equal(await page.locator('.overview .problem').innerText(), '')
        await page.locator('#messages').waitFor({ state: 'attached' })
        assert.equal(await page.locator('#messages').innerText(), '')
      } finally {
        await fetch(url, { method: 'PUT', headers, body: JSON.stringify(before) })
        await fetch(`${user}?rev=${created.rev}`, { method: 'DELETE', headers })
      }
    })
  }
})

onAdmin('the overview of many layers', stage => {
  before(async function () {
    this.timeout(120000)
    for (let number = 0; number < MANY; number++) {
      await stage.store.defineLayer(`sheet-${number}`, { name: `Sheet ${number}`, ...(number % 2 && { ttl: 3600 }) })
    }
    await stage.store.write(square({ layer: 'sheet-7', time: times[0], side: 3, seed: (x, y) => 10 * x + y }))
    assert.ok(await Store.open(stage.backend.database))
  })

  it('opens with few requests, and shows 24 layers at first and all on request', async () => {
    const page = await stage.visit()
    let requests = 0
    page.on('request', request => { if (request.url().includes('_design/versions/')) requests++ })
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await waitForFigure(page, 'layers', String(MANY))
    await isRead(page, '.overview')
    assert.ok(requests > 0 && requests <= 15, `${requests} requests`)
    const rows = part(page, 'Layers').locator('tbody tr')
    assert.equal(await rows.count(), 24)
    await page.getByRole('button', { name: `Show all ${MANY} layers` }).click()
    assert.equal(await rows.count(), MANY)
    assert.equal(await page.getByRole('button', { name: /^Show all/ }).count(), 0)
  })
})
