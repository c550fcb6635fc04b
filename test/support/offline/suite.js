/* global window -- of the page, in functions that run there */
// A store with layers, a server before it that counts and can be made to fail, pages with an OfflineStore, and devices
// that may lose the net: what the tests of the whole stand on.
import assert from 'node:assert/strict'
import { Selection } from '../../../core/mirror/index.js'
import { Store, isTileId, parseArea, parseZooms } from '../../../loader/index.js'
import { TIME_FACTOR } from '../../../bench/wait.js'
import { fieldFiles } from '../client/client-page.js'
import { install } from '../client/maps.js'
import { publishFunctions } from '../published.js'
import { startFront } from '../client/front.js'
import { backends, json } from '../backends.js'
import { openBrowser } from '../../viewer/browser.js'
import { installField } from './in-page.js'
import { hang, load } from './world.js'
import { servePages } from '../server.js'

const VIEW = { viewport: { width: 700, height: 500 } } // 3 x 2 tiles in the middle, and parts of others around them

/** What is said on the console when there is no net, which no page can prevent. */
const NO_NET = new RegExp(`net::ERR_(${[
  'INTERNET_DISCONNECTED', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'CONNECTION_CLOSED', 'EMPTY_RESPONSE',
  'INCOMPLETE_CHUNKED_ENCODING', 'CONTENT_LENGTH_MISMATCH', 'SOCKET_NOT_CONNECTED', 'NETWORK_CHANGED'
].join('|')})`)

let browser, own

/**
 * A suite on every store.
 * @param {string} title
 * @param {string[]} layers of world.js
 * @param {(stage: Stage) => void} body
 * @param {{name: string, database: () => Promise<string>}[]} [stores] other than those of all tests
 */
export function onField (title, layers, body, stores = backends) {
  for (const backend of stores) {
    describe(`${title} on ${backend.name}`, function () {
      this.timeout(90000)
      const stage = new Stage(backend)
      before(async function () {
        browser = await openBrowser(this, { webgl: false })
        own = await servePages(await fieldFiles())
        await stage.build(await backend.database(), layers)
      })
      afterEach(async function () { await stage.clear(this.currentTest) })
      after(async () => {
        await stage.close()
        await browser?.close()
        await own?.close()
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

  /** @param {string} url of a database that is not there yet, with the right to write @param {string[]} layers */
  async build (url, layers) {
    this.url = url
    this.store = await Store.create(url)
    await hang(this.store, layers)
    await publishFunctions(this.store)
    this.front = await startFront(url, { files: fieldFiles })
  }

  /** Ends the devices of a test, and fails it when anything was on a console but what it said would be. */
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
   * A new device, with nothing on it, or one of a context that is there.
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
   * What an area should hold of the store's tiles: id -> [revision, digest of the image or null].
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
    const wanted = await this.wanted(spec)
    const there = await field(page, 'contents', spec.name)
    assert.deepEqual(Object.fromEntries(Object.entries(there).filter(([id]) => id.startsWith(`${spec.layer}:`))),
      wanted)
    assert.deepEqual(await field(page, 'unreadable', spec.name), [])
    const status = await field(page, 'status', spec.name)
    assert.deepEqual([status.state, status.versions, status.failed], ['complete', Object.keys(wanted).length, 0])
    return status
  }

  /**
   * Bytes of bodies from the store since the last forget(), and how many requests brought them.
   * @param {(entry: import('../client/front.js').Entry) => boolean} [which]
   */
  received (which = () => true) {
    const entries = this.front.requests().filter(which)
    return { requests: entries.length, bytes: entries.reduce((sum, { bytes }) => sum + bytes.down, 0) }
  }

  /**
   * Tiles that were asked for in bulk: ids of their documents, as often as they were.
   * @param {{answered?: boolean}} [options] answered: only what the store was there for
   */
  asked ({ answered = false } = {}) {
    return this.front.requests().filter(entry => isBulk(entry) && (!answered || entry.status === 200))
      .flatMap(({ body }) => body.docs.map(({ id }) => id)).filter(id => isTileId(id.split('@')[0]))
  }
}

/**
 * @typedef {object} DeviceOptions
 * @property {'own' | 'store'} [at] origin of the page: one of its own, or the store's
 * @property {boolean} [stays] over several tests
 */

/** A browser of its own, as far as data goes: pages of it are tabs. */
export class Device {
  #errors = []
  #allowed = [NO_NET]

  /** @param {Stage} stage @param {import('playwright-core').BrowserContext} context @param {DeviceOptions} [options] */
  constructor (stage, context, { at = 'own', stays = false } = {}) {
    this.stage = stage
    this.context = context
    this.stays = stays
    this.address = at === 'own' ? own.url : `${new URL(stage.front.url).origin}/__page/`
    this.ready = context.addInitScript(install, true).then(() => context.addInitScript(installField))
    context.on('page', page => {
      page.setDefaultTimeout(30000 * TIME_FACTOR)
      page.on('console',
        message => { if (['error', 'warning'].includes(message.type())) this.#errors.push(message.text()) })
      page.on('pageerror', error => this.#errors.push(String(error)))
    })
  }

  /** A test that provokes errors says which. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#allowed.push(...patterns)
  }

  complaints () {
    return this.#errors.splice(0).filter(text => !this.#allowed.some(pattern => pattern.test(text)))
  }

  /** A tab with the store open in it: `offline` of its window. @param {object} [options] of the OfflineStore */
  async open (options) {
    await this.ready
    const page = await this.context.newPage()
    await page.goto(this.address)
    await this.begin(page, options)
    return page
  }

  /** Opens the store in a page that is there. @param {import('playwright-core').Page} page */
  begin (page, options = {}) {
    return page.evaluate(given => {
      Object.assign(window, { db: given.remote })
      return window.field.open(given)
    }, { remote: this.stage.front.url, name: 'field', ...options })
  }

  /** From now on the page opens without a net. @param {import('playwright-core').Page} page */
  async install (page) {
    await page.evaluate(() => navigator.serviceWorker.register('sw.js'))
    await page.waitForFunction(() => navigator.serviceWorker.controller)
  }

  /** Takes the net away, as a walk into the woods does: the server is gone as well. */
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

/** Whether a request is one for documents in bulk. @param {import('../client/front.js').Entry} entry */
export const isBulk = ({ path }) => path.startsWith('_bulk_get')

/** What a download is said to transfer: the listing, documents and images. */
export const isTransfer = entry => isBulk(entry) || /queries$/.test(entry.path)

/** Asks `field` of a page, which in-page.js describes. */
export const field = (page, name, ...args) => page.evaluate(([method, values]) => {
  const { [method]: member } = window.field
  return typeof member === 'function' ? member(...values) : member
}, [name, args])

/** Takes an area along, from its name to its last tile, and answers its status. */
export async function take (page, spec, options) {
  const added = await field(page, 'add', spec)
  assert.ok(added.id, `${spec.name} is added: ${added.message}`)
  const { result, ...error } = await field(page, 'call', spec.name, 'download', options)
  assert.ok(result, `${spec.name} is downloaded: ${error.message}`)
  return result
}
