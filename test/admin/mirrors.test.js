/* global document -- of the page, in functions that run there */
// Mirrors in the control room, under Work: those that wrote into this store, and those that other machines keep of it.
import assert from 'node:assert/strict'
import { end, until } from '../../bench/wait.js'
import { workId } from '../../core/index.js'
import { Store } from '../../loader/index.js'
import { finishCommand, startCommand } from '../support/command.js'
import { square } from '../support/tiles.js'
import { onAdmin } from '../support/control-room.js'

const timeOf = ms => new Date(ms).toISOString().slice(0, 19) + 'Z'
const runOf =
  (ms, number) => `${new Date(ms).toISOString().replace(/[-:.Z]/g, '')}-${number.toString(36).padStart(4, '0')}`

const part = (page, head) => page.locator('.work .card').filter({ has: page.getByRole('heading', { name: head }) })
const isRead =
  page => page.waitForFunction(() => document.querySelector('.work') && !document.querySelector('.work[aria-busy]'))

onAdmin('mirrors', (stage, kind) => {
  /** @type {Store} */
  let other
  before(async () => {
    const url = new URL(stage.backend.database)
    url.pathname = `/mirror_${process.pid}_${Date.now().toString(36)}`
    other = await Store.create(url.href, { public: true })
    await other.defineLayer('osm')
    await other.write(square({ layer: 'osm', time: '2021-01-01T00:00:00Z', side: 2, seed: (x, y) => x * 2 + y }))
    await stage.store.defineLayer('land')
  })
  // an embedded store has gone with its folder
  after(() => kind === 'CouchDB' && other?.destroy())

  const urlOf = store => {
    const url = new URL(stage.backend.database)
    url.pathname = `/${store.couch.db}`
    return url.href
  }
  const works = async () => (await stage.store.couch.page({ startkey: 'work:', endkey: 'work;', include_docs: true }))
    .map(({ doc }) => doc)

  it('are shown with their source and target, and as interrupted after a long silence', async function () {
    this.timeout(90000)
    const page = await stage.enter('work')
    await isRead(page)
    const { child } = startCommand(['mirror', urlOf(other), stage.backend.database, '--live', '--layer', 'osm'])
    const running = part(page, 'Running now').locator('.run').filter({ hasText: other.couch.db })
    try {
      await running.getByText(/^up to date · .* documents/).waitFor()
      await running.getByText(`/${other.couch.db} → `).waitFor()
    } finally {
      await end(child, 'SIGKILL')
    }
    const doc = await until(async () => (await works()).find(({ command }) => command === 'mirror'), { timeout: 10000 })
    await stage.store.couch.update(doc._id, before => ({ ...before, seen: timeOf(Date.now() - 600_000) }))
    const interrupted = part(page, 'Interrupted').locator('.run').filter({ hasText: other.couch.db })
    await interrupted.getByText('To go on:').waitFor()
    assert.doesNotMatch(await interrupted.innerText(), /:\/\/[^/]*@/)
  })

  it('show their lag, their refused documents, and that they wait for a store', async () => {
    const now = Date.now()
    const write = (number, about) => ({
      _id: workId(runOf(now, number)), type: 'work', command: 'edge',
      args: ['edge', 'x'], state: 'running', user: stage.owner.name,
      started: timeOf(now), seen: timeOf(now), every: 30, unit: 'documents', done: 100,
      about: {
        source: `https://anna:secret@main-${number}.example.org/tiles`,
        target: 'embedded', state: 'following', lag: 1, refused: 0, ...about
      }
    })
    const docs = [write(1, { lag: 900 }), write(2, { refused: 3 }), write(3, { state: 'away' })]
    assert.deepEqual((await stage.store.couch.bulk(docs)).filter(({ error }) => error), [])
    const page = await stage.enter('work')
    await isRead(page)
    const run = number => part(page, 'Running now').locator('.run')
      .filter({ hasText: `https://main-${number}.example.org/tiles → embedded` })
    await run(1).getByText(/^up to date · 15 mins? behind · 100 documents$/).waitFor()
    await run(2).getByText(/^up to date · 100 documents · 3 refused$/).waitFor()
    await run(3).getByText(/^waits for a store · 100 documents$/).waitFor()
  })

  it('on other machines are shown by their checkpoints, with their layers and lag', async function () {
    this.timeout(60000)
    const mirror = ['mirror', stage.backend.database, urlOf(other), '--layer', 'land']
    const page = await stage.enter('work')
    await isRead(page)
    const copies = part(page, 'Mirrors on other machines')
    assert.equal(await copies.isVisible(), false, 'a mirror into this store is none of it')
    await finishCommand(mirror)
    const row = copies.locator('tbody tr').filter({ hasText: other.couch.db })
    await row.getByText(/^\d+ changes? behind$|^up to date$/).waitFor()
    assert.match(await row.innerText(), /\bland\b/)
    assert.match(await row.locator('td').last().innerText(), /^\d{1,2} \w+ 20\d\d/)
    await stage.store.write(square({ layer: 'land', time: '2021-01-01T00:00:00Z', side: 3, seed: () => 1 }))
    await row.getByText(/^\d+ changes behind$/).waitFor()
    assert.equal(await row.count(), 1)
  })

  it('can be started by a command that the page fills in without the password', async () => {
    const page = await stage.enter('work')
    const start = part(page, 'Start something')
    await start.getByLabel('Command').selectOption('mirror')
    await start.getByLabel('Folder, file or address').fill('https://anna:secret@maps.example.org/tiles')
    await start.locator('code').filter({ hasText: /^tilecouch mirror \S+ https:\/\/maps\.example\.org\/tiles --live$/ })
      .waitFor()
  })
})
