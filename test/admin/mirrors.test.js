/* global document -- of the page, in functions that run there */
// Who follows whom, in the control room: mirrors and edges of tilecouch, replications of CouchDB.
import assert from 'node:assert/strict'
import { end, until } from '../../bench/wait.js'
import { workId } from '../../core/index.js'
import { Store } from '../../loader/index.js'
import { startCommand } from '../support/command.js'
import { square } from '../support/tiles.js'
import { onAdmin } from './stage.js'

const MIRRORS = 50
const timeOf = ms => new Date(ms).toISOString().slice(0, 19) + 'Z'
const runOf = (ms, number) => `${new Date(ms).toISOString().replace(/[-:.Z]/g, '')}-${number.toString(36).padStart(4, '0')}`

const isRead = page => page.waitForFunction(() => document.querySelector('.mirrors') && !document.querySelector('.mirrors[aria-busy]'))
const rowOf = (page, text) => page.locator('.mirrors tbody tr').filter({ hasText: text })
const arrowOf = (page, state) => page.locator(`.mirrors .arrow.${state}`)

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
  const works = async () => (await stage.store.couch.page({ startkey: 'work:', endkey: 'work;', include_docs: true })).map(({ doc }) => doc)

  it('says when there are none, and fills in a command that makes one', async () => {
    const page = await stage.enter('mirrors')
    await isRead(page)
    await page.getByText('This store copies no other one').first().waitFor()
    await page.getByLabel('Address of the other store').fill('https://anna:secret@maps.example.org/tiles')
    await page.getByLabel('Direction').selectOption('from')
    await page.locator('.make code').filter({ hasText: /^tilecouch mirror https:\/\/maps\.example\.org\/tiles .* --live$/ }).waitFor()
  })

  it('shows a mirror that follows, with its lag and last success, and as interrupted when it is silent', async function () {
    this.timeout(90000)
    const page = await stage.enter('mirrors')
    await isRead(page)
    const { child } = startCommand(['mirror', urlOf(other), stage.backend.database, '--live', '--layer', 'osm'])
    const row = rowOf(page, other.couch.db)
    try {
      await row.getByText('live', { exact: true }).waitFor({ timeout: 30000 })
      const cells = await row.locator('td').allInnerTexts()
      assert.match(cells[1], /^\d+ secs?$/, 'its lag')
      assert.ok(Number(cells[3]) > 4, 'what it copied')
      assert.match(cells[6], /^\d{1,2} \w+ 20\d\d/, 'when it last had everything')
      assert.match(cells[7], /osm/, 'which part')
      await arrowOf(page, 'live').getByText('live').waitFor()
    } finally {
      await end(child, 'SIGKILL')
    }
    const doc = await until(async () => (await works()).find(({ command }) => command === 'mirror'), { timeout: 10000 })
    await stage.store.couch.update(doc._id, before => ({ ...before, seen: timeOf(Date.now() - 600_000) }))
    await row.getByText('interrupted', { exact: true }).waitFor({ timeout: 4000 })
    await arrowOf(page, 'interrupted').getByText('interrupted').waitFor()
    await row.getByText('To go on:').click()
    assert.doesNotMatch(await row.locator('code').innerText(), /:\/\/[^/]*@/)
  })

  it('shows a mirror that another machine makes of this store, by its checkpoint', async function () {
    this.timeout(60000)
    assert.equal(await startCommand(['mirror', stage.backend.database, urlOf(other), '--layer', 'land']).ended, 0)
    const page = await stage.enter('mirrors')
    await isRead(page)
    const row = rowOf(page, 'copied to').filter({ hasText: other.couch.db })
    await row.getByText('complete', { exact: true }).waitFor()
    assert.equal(await row.count(), 1)
  })

  if (kind === 'CouchDB') {
    it('shows a replication of CouchDB, without its password', async function () {
      this.timeout(60000)
      const server = new URL('/', stage.backend.database)
      const { username, password } = server
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
      const address = `${server.origin}/_replicator/tilecouch_test_${process.pid}`
      const ask = (method, query = '', body = undefined) => fetch(address + query, { method, headers: { authorization, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) })
      const source = urlOf(stage.store)
      const target = `${urlOf(other)}_copy`
      assert.equal((await ask('PUT', '', { source, target, create_target: true, continuous: true })).status, 201)
      try {
        const page = await stage.enter('mirrors')
        const row = rowOf(page, `${other.couch.db}_copy`)
        await row.getByText('live', { exact: true }).waitFor({ timeout: 30000 })
        await row.getByText('CouchDB', { exact: true }).waitFor()
        assert.ok(!(await page.locator('.mirrors').innerHTML()).includes(`:${password}@`))
      } finally {
        await ask('DELETE', `?rev=${(await (await ask('GET')).json())._rev}`)
        await fetch(`${server.origin}${new URL(target).pathname}`, { method: 'DELETE', headers: { authorization } })
      }
    })
  }

  it('shows 50 mirrors at once, each with its arrow', async function () {
    const now = Date.now()
    const docs = Array.from({ length: MIRRORS }, (_, number) => ({
      _id: workId(runOf(now - number * 1000, number)), type: 'work', command: number % 2 ? 'mirror' : 'edge',
      args: ['mirror', `http://origin${number}/tiles`], state: number === 7 ? 'failed' : 'running', user: stage.owner.name, started: timeOf(now - 9e6),
      seen: timeOf(now), every: 30, unit: 'documents', done: 100 * number, host: `edge-${number}`,
      ...(number === 7 && { error: { code: 'UNREACHABLE', message: 'nobody answers' } }),
      about: { source: `https://main-${number}.example.org/tiles`, target: 'embedded', state: number === 8 ? 'away' : 'following', lag: number === 9 ? 900 : 1, refused: number === 10 ? 3 : 0, success: timeOf(now) }
    }))
    assert.deepEqual((await stage.store.couch.bulk(docs)).filter(({ error }) => error), [])
    const page = await stage.enter('mirrors')
    await isRead(page)
    for (const [number, state] of /** @type {[number, string][]} */ ([[7, 'failed'], [8, 'waiting'], [9, 'behind'], [11, 'live']])) {
      await rowOf(page, `//main-${number}.example.org`).getByText(state, { exact: true }).waitFor()
    }
    assert.match((await rowOf(page, '//main-9.example.org').locator('td').allInnerTexts())[1], /^15 mins?$/)
    assert.equal((await rowOf(page, '//main-10.example.org').locator('td').allInnerTexts())[4], '3')
    await page.getByText('nobody answers').waitFor()
    const rows = await page.locator('.mirrors tbody tr').count()
    assert.ok(rows >= MIRRORS)
    assert.equal(await page.locator('.mirrors .arrow').count(), rows)
  })
})
