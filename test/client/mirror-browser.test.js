/* global Mirror, PouchDB -- of the page, in functions that run there */
// Tests mirrors in the PouchDB of a page: in a browser, on IndexedDB, from another origin.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { publish } from '../../loader/index.js'
import { Store } from '../../loader/store/index.js'
import { openGateway } from '../support/gateway/stand.js'
import { startLink } from '../mirror/link.js'
import { as, json, startThrowAwayEmbedded } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { openBrowser } from '../viewer/browser.js'
import { serveMirrorPage } from '../support/client/client-page.js'
import { everything } from '../support/client/pouches.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 13 // tiles; two versions of each make 338
const WHOLE = 2 * SIDE * SIDE + 2 // documents: tiles, the layer and the marker, without design documents

/** Messages on the console about requests without an answer. A page cannot prevent them. */
const UNANSWERED = new RegExp(`net::ERR_(${[
  'CONNECTION_REFUSED', 'CONNECTION_RESET', 'CONNECTION_CLOSED', 'EMPTY_RESPONSE', 'INCOMPLETE_CHUNKED_ENCODING',
  'CONTENT_LENGTH_MISMATCH', 'SOCKET_NOT_CONNECTED'
].join('|')})`)

/** Servers that a page reads from: `url` is the address for the page, and `writer` the one for writing. */
const sources = {
  async 'the embedded store' () {
    const server = await startThrowAwayEmbedded()
    return { writer: `${server.url}/tiles`, url: `${server.url}/tiles`, close: server.close }
  },
  async CouchDB (context) {
    if (!findCouchDb()) skip(context, 'no CouchDB: name its executable in COUCHDB_BIN')
    const server = await startCouchDb(undefined, { settings: '[chttpd]\nenable_cors = true\n[cors]\norigins = *' })
    return { writer: `${server.url}/tiles`, url: as(`${server.url}/tiles`), close: server.close }
  },
  async 'a gateway' () {
    const server = await startThrowAwayEmbedded()
    const writer = `${server.url}/tiles`
    await fill(writer)
    const gateway = await openGateway(writer)
    return {
      writer,
      url: `${gateway.url}/db`,
      async close () {
        await gateway.close()
        await server.close()
      }
    }
  }
}

async function fill (url) {
  const store = await Store.create(url)
  await store.defineLayer('osm', {})
  for (const year of [2023, 2024]) {
    await store.write(
      square({ layer: 'osm', time: T(year), z: 6, side: SIDE, seed: (x, y) => year * 1000 + x * SIDE + y })
    )
  }
  await publish(store)
  return store
}

for (const [name, start] of Object.entries(sources)) {
  describe(`a mirror in the PouchDB of a page, from ${name}`, function () {
    this.timeout(60000)
    let browser
    let source
    let link
    let served
    let context
    const errors = []

    before(async function () {
      source = await start(this)
      await fill(source.writer)
      browser = await openBrowser(this)
      served = await serveMirrorPage()
    })
    after(async () => {
      await browser?.close()
      await served?.close()
      await source?.close()
    })
    beforeEach(async () => {
      link = await startLink(source.url)
      context = await browser.newContext()
    })
    afterEach(async function () {
      await context?.close()
      await link?.close()
      if (this.currentTest?.isPassed()) assert.deepEqual(errors, [], 'nothing on the console')
      errors.length = 0
    })

    async function visit () {
      const page = await context.newPage()
      page.setDefaultTimeout(30000 * TIME_FACTOR)
      page.on('console',
        message => { if (['error', 'warning'].includes(message.type()) && !UNANSWERED.test(message.text())) {
          errors.push(message.text())
        } })
      page.on('pageerror', error => errors.push(String(error)))
      await page.goto(served.url)
      return page
    }

    /** Starts a mirror in the page, as its global `under`. */
    const begin = (page, url, options = {}) => page.evaluate(([address, mirrorOptions]) => {
      const db = new PouchDB('tiles', { auto_compaction: true })
      const stop = new AbortController()
      const states = []
      const mirror = new Mirror(address, db, {
        ...mirrorOptions,
        signal: stop.signal,
        onState: ({ state, error }) => states.push(error ? `${state}: ${error}` : state)
      })
      const ended = mirror.run().then(status => ({ status }), ({ code, message }) => ({ code, message }))
      Object.assign(globalThis, { under: { db, stop, states, mirror, ended } })
    }, [url, options])
    const ended = page => page.evaluate(() => globalThis.under.ended)
    const status = page => page.evaluate(() => globalThis.under.mirror.status())
    const contents = page => page.evaluate(`(${everything})(under.db)`)

    it('copies every document with its revisions, fields and image', async () => {
      const page = await visit()
      await begin(page, link.url)
      const { status: { docs, tiles, refused, absent } } = await ended(page)
      assert.deepEqual([tiles, refused, absent], [2 * SIDE * SIDE, 0, 0])
      assert.equal(docs, WHOLE)
      const copies = await contents(page)
      const { results } = await json(`${source.writer}/_changes?style=all_docs`)
      const sourceRows = results.filter(({ id }) => !id.startsWith('_design/'))
      assert.deepEqual(Object.keys(copies).sort(), sourceRows.map(({ id }) => id).sort())
      for (const { id, changes } of sourceRows) {
        assert.deepEqual(copies[id].leaves.map(({ _rev: rev }) => rev), changes.map(({ rev }) => rev).sort(), id)
      }
      const head =
        await json(`${source.writer}/osm:6:3:4?attachments=true&revs=true`, { headers: { accept: 'application/json' } })
      const { _attachments: sourceImages, ...fields } = head
      const { _attachments: copiedImages, ...copiedFields } = copies['osm:6:3:4'].leaves[0]
      assert.deepEqual(copiedFields, fields)
      assert.deepEqual([copiedImages.tile.data, copiedImages.tile.digest, copiedImages.tile.content_type],
        [sourceImages.tile.data, sourceImages.tile.digest, 'image/png'])
      const blob = await page.evaluate(async () => {
        const image = await globalThis.under.db.getAttachment('osm:6:3:4', 'tile')
        return [image.constructor.name, image.type, image.size]
      })
      assert.deepEqual(blob, ['Blob', 'image/png', Buffer.from(sourceImages.tile.data, 'base64').length])
    })

    it('continues where it stopped when the page was closed in the middle and opened again', async () => {
      const page = await visit()
      link.set({ rate: 150000 })
      await begin(page, link.url, { limits: { batchBytes: 10000, checkpoint: 1, page: 100 } })
      const first = await until(async () => {
        const progress = await status(page)
        return progress.docs > 100 && progress
      }, { timeout: 30000, what: 'some tiles' })
      await page.close()
      link.set({})
      const secondPage = await visit()
      await begin(secondPage, link.url)
      const { status: { docs, bytes } } = await ended(secondPage)
      assert.ok(docs <= WHOLE - first.docs, `${first.docs} and ${docs} of ${WHOLE}`)
      assert.ok(bytes < 1.2 * first.bytes / first.docs * (WHOLE - first.docs), 'and nothing else was read')
      assert.equal(Object.keys(await contents(secondPage)).length, WHOLE)
    })

    it('waits for a store that is away, and copies its changes when it is back', async () => {
      const page = await visit()
      const limits = { poll: 1000, firstDelay: 100, longestDelay: 500 }
      await begin(page, link.url, { live: true, limits })
      await until(async () => (await status(page)).state === 'following', { timeout: 30000 })
      await link.cut()
      await until(async () => (await status(page)).state === 'away', { timeout: 20000, what: 'the page to notice' })
      assert.equal((await status(page)).error, 'UNREACHABLE')
      const store = await Store.create(source.writer)
      await store.write([{ layer: 'osm', z: 6, x: 30, y: 30, time: T(2024), bytes: png(30) }])
      await link.restore()
      await until(async () => (await status(page)).state === 'following', { timeout: 20000 })
      await until(() => page.evaluate(() => globalThis.under.db.get('osm:6:30:30').then(() => true, () => false)),
        { timeout: 20000, what: 'the new tile' })
      await page.evaluate(() => globalThis.under.stop.abort())
      assert.equal((await ended(page)).code, 'ABORTED')
    })

    it('ends with ABORTED when its signal aborts in the middle', async () => {
      const page = await visit()
      link.set({ rate: 100000 })
      await begin(page, link.url, { limits: { batchBytes: 10000 } })
      await until(async () => (await status(page)).docs > 20, { timeout: 30000 })
      await page.evaluate(() => globalThis.under.stop.abort())
      assert.equal((await ended(page)).code, 'ABORTED')
      const { docs } = await status(page)
      assert.ok(docs >= 20 && docs < WHOLE)
    })

    it('reports an invalid address and a missing database with a code', async () => {
      const page = await visit()
      await begin(page, 'ftp://example.org/tiles')
        .then(() => assert.fail('it took that'), error => assert.match(error.message, /BAD_DATABASE|bad database/))
      await begin(page, link.url.replace(/\/\w+$/, '/nowhere'))
      const { code } = await ended(page)
      assert.match(code, /DATABASE_NOT_FOUND|COUCHDB_ERROR|UNAUTHORIZED/)
      assert.ok(errors.splice(0).every(error => /status of 40[14]/.test(error)))
    })
  })
}
