/* global window -- of the page, in functions that run there */
// Helpers for tests of areas on devices: a store with layers, and a server in front of it that logs requests and can
// fail. Pages of the devices have an OfflineStore, and may lose the network.
import assert from 'node:assert/strict'
import { Selection } from '../../../core/mirror/index.js'
import { Store, isTileId, parseArea, parseZooms } from '../../../loader/index.js'
import { TIME_FACTOR } from '../../../bench/wait.js'
import { fieldFiles } from '../client/client-page.js'
import { install } from '../client/maps.js'
import { unexpectedOf } from '../client/pages.js'
import { publishFunctions } from '../published.js'
import { startFront } from '../client/front.js'
import { backends, json } from '../backends.js'
import { openBrowser } from '../../viewer/browser.js'
import { installField } from './in-page.js'
import { load, writeWorld } from './world.js'
import { servePages } from '../server.js'

const VIEW = { viewport: { width: 700, height: 500 } } // 3 x 2 tiles in the middle, and parts of others around them

/** Messages on the console while there is no network, which no page can prevent. */
const NO_NET = new RegExp(`net::ERR_(${[
  'INTERNET_DISCONNECTED', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'CONNECTION_CLOSED', 'EMPTY_RESPONSE',
  'INCOMPLETE_CHUNKED_ENCODING', 'CONTENT_LENGTH_MISMATCH', 'SOCKET_NOT_CONNECTED', 'NETWORK_CHANGED'
].join('|')})`)

let browser, pageServer

/**
 * A suite on every store.
 * @param {string} title
 * @param {string[]} layers of world.js
 * @param {(stage: Stage) => void} body
 * @param {{name: string, database: () => Promise<string>}[]} [stores] instead of those of all tests
 */
export function onField (title, layers, body, stores = backends) {
  for (const backend of stores) {
    describe(`${title} on ${backend.name}`, function () {
      this.timeout(90000)
      const stage = new Stage(backend)
      before(async function () {
        browser = await openBrowser(this, { webgl: false })
        pageServer = await servePages(await fieldFiles())
        await stage.build(await backend.database(), layers)
      })
      afterEach(async function () { await stage.clear(this.currentTest) })
      after(async () => {
        await stage.close()
        await browser?.close()
        await pageServer?.close()
      })
      body(stage)
    })
  }
}

export class Stage {
  #devices = []

  constructor (backend) {
    this.backend = backend
    this.isAway = false
  }

  /** @param {string} url of a new database, with the right to write @param {string[]} layers */
  async build (url, layers) {
    this.url = url
    this.store = await Store.create(url)
    await writeWorld(this.store, layers)
    await publishFunctions(this.store)
    this.front = await startFront(url, { files: fieldFiles })
  }

  /** Closes the devices of a test, and fails it if a console has messages that the test did not allow. */
  async clear (test) {
    const devices = this.#devices.filter(({ stays }) => !stays)
    this.#devices = this.#devices.filter(({ stays }) => stays)
    await Promise.all(devices.map(device => device.close()))
    for (const device of this.#devices) await device.comeBack()
    if (this.isAway) await this.restart()
    this.front.reset()
    if (test?.isPassed()) {
      assert.deepEqual([...devices, ...this.#devices].flatMap(device => device.complaints()),
        [], 'nothing on the console')
    }
  }

  async close () {
    await Promise.all(this.#devices.splice(0).map(device => device.close()))
    await this.front?.close()
  }

  async stop () {
    this.isAway = true
    await this.front.stop()
  }

  async restart () {
    if (!this.isAway) return
    await this.front.restart()
    this.isAway = false
  }

  /**
   * Creates a device: an empty one, or one with an existing context.
   * @param {DeviceOptions & {context?: import('playwright-core').BrowserContext}} [options]
   */
  async device ({ context = undefined, ...options } = {}) {
    const device = new Device(this, context ?? await browser.newContext(VIEW), options)
    this.#devices.push(device)
    return device
  }

  /** Loads editions into a layer: step -> tiles. */
  load (layer, steps) {
    return load(this.store, layer, steps)
  }

  /**
   * The tiles of the store that an area should hold: id -> [revision, digest of the image or null].
   * @param {any} spec of the area
   */
  async wanted ({ layer, bbox, polygon, zooms, history = false }) {
    const area = bbox === undefined && polygon === undefined ? undefined : parseArea({ bbox, polygon })
    const selection = new Selection(
      { layers: [layer], area, zooms: zooms === undefined ? undefined : parseZooms(zooms), current: !history }
    )
    const { rows } = await json(`${this.url}/_all_docs?include_docs=true`)
    const tiles = rows.filter(({ id }) => isTileId(id.split('@')[0]) && selection.has(id))
    return Object.fromEntries(
      tiles.map(({ id, value: { rev }, doc }) => [id, [rev, doc._attachments?.tile?.digest ?? null]])
    )
  }

  /**
   * Fails unless an area has exactly the tiles that the store has, and each can be read.
   * @param {any} page @param {any} spec of the area
   */
  async isWhole (page, spec) {
    const expected = await this.wanted(spec)
    const contents = await field(page, 'contents', spec.name)
    assert.deepEqual(Object.fromEntries(Object.entries(contents).filter(([id]) => id.startsWith(`${spec.layer}:`))),
      expected)
    assert.deepEqual(await field(page, 'unreadable', spec.name), [])
    const status = await field(page, 'status', spec.name)
    assert.deepEqual([status.state, status.versions, status.failed], ['complete', Object.keys(expected).length, 0])
    return status
  }

  /**
   * The size of all bodies from the store since the last forget(), and the number of their requests.
   * @param {(entry: import('../client/front.js').Entry) => boolean} [isCounted]
   */
  received (isCounted = () => true) {
    const entries = this.front.requests().filter(isCounted)
    return { requests: entries.length, bytes: entries.reduce((sum, { bytes }) => sum + bytes.down, 0) }
  }

  /**
   * Ids of tiles that were requested in bulk, once for each request.
   * @param {{answered?: boolean}} [options] answered: only requests that the store answered
   */
  asked ({ answered = false } = {}) {
    return this.front.requests().filter(entry => isBulk(entry) && (!answered || entry.status === 200))
      .flatMap(({ body }) => body.docs.map(({ id }) => id)).filter(id => isTileId(id.split('@')[0]))
  }
}

/**
 * @typedef {object} DeviceOptions
 * @property {'own' | 'store'} [at] origin of the page: one of its own, or the store's
 * @property {boolean} [stays] stays open over several tests
 */

/** A browser context with its own data. Its pages are tabs. */
export class Device {
  #errors = []
  #allowed = [NO_NET]

  /** @param {Stage} stage @param {import('playwright-core').BrowserContext} context @param {DeviceOptions} [options] */
  constructor (stage, context, { at: origin = 'own', stays = false } = {}) {
    this.stage = stage
    this.context = context
    this.stays = stays
    this.address = origin === 'own' ? pageServer.url : `${new URL(stage.front.url).origin}/__page/`
    this.ready = context.addInitScript(install, true).then(() => context.addInitScript(installField))
    context.on('page', page => {
      page.setDefaultTimeout(30000 * TIME_FACTOR)
      page.on('console',
        message => { if (['error', 'warning'].includes(message.type())) this.#errors.push(message.text()) })
      page.on('pageerror', error => this.#errors.push(String(error)))
    })
  }

  /** Allows errors that a test provokes. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#allowed.push(...patterns)
  }

  complaints () {
    return unexpectedOf(this.#errors.splice(0), this.#allowed)
  }

  /** Opens a tab with the store, `offline` of its window. @param {object} [options] of the OfflineStore */
  async open (options) {
    await this.ready
    const page = await this.context.newPage()
    await page.goto(this.address)
    await this.begin(page, options)
    return page
  }

  /** Opens the store in an existing page. @param {import('playwright-core').Page} page */
  begin (page, options = {}) {
    return page.evaluate(storeOptions => {
      Object.assign(window, { db: storeOptions.remote })
      return window.field.open(storeOptions)
    }, { remote: this.stage.front.url, name: 'field', ...options })
  }

  /** Registers a service worker: the page then opens without a network. @param {import('playwright-core').Page} page */
  async install (page) {
    await page.evaluate(() => navigator.serviceWorker.register('sw.js'))
    await page.waitForFunction(() => navigator.serviceWorker.controller)
  }

  /** Takes the network away, and stops the server. */
  async leave () {
    await this.context.setOffline(true)
    await this.stage.stop()
  }

  async comeBack () {
    await this.stage.restart()
    await this.context.setOffline(false)
  }

  async reload (page, options) {
    await page.reload()
    await this.begin(page, options)
  }

  close () {
    return this.context.close()
  }
}

/** Whether a request reads documents in bulk. @param {import('../client/front.js').Entry} entry */
export const isBulk = ({ path }) => path.startsWith('_bulk_get')

/** Whether a request counts as transfer of a download: the listing, documents and images. */
export const isTransfer = entry => isBulk(entry) || /queries$/.test(entry.path)

/** Calls a method, or reads a property, of `field` of a page; in-page.js describes it. */
export const field = (page, name, ...args) => page.evaluate(([method, values]) => {
  const { [method]: member } = window.field
  return typeof member === 'function' ? member(...values) : member
}, [name, args])

/** Adds an area, downloads it, and returns its status. */
export async function take (page, spec, options) {
  const area = await field(page, 'add', spec)
  assert.ok(area.id, `${spec.name} is added: ${area.message}`)
  const { result, ...error } = await field(page, 'call', spec.name, 'download', options)
  assert.ok(result, `${spec.name} is downloaded: ${error.message}`)
  return result
}
