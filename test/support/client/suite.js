/* global window -- of the page, in functions that run there */
// Helpers for tests of the client library: a store with layers, a server in front of it that can fail, and a browser.
import assert from 'node:assert/strict'
import { Store, warmIndexes } from '../../../loader/index.js'
import { backends } from '../backends.js'
import { publishFunctions } from '../published.js'
import { openBrowser } from '../../viewer/browser.js'
import { startFront } from './front.js'
import { history, stepAt, writeGallery } from './gallery.js'
import { draw, install, pictureAt, waitForRest } from './maps.js'
import { Pages } from './pages.js'

/**
 * A map library: the files of its page, the script that runs first, and a function that puts a layer on a map.
 * @typedef {{files?: () => Promise<Record<string, [string, string]>>, install: (isPatient?: boolean) => void,
 *   draw: typeof draw}} Library
 * @type {Library}
 */
const leaflet = { install, draw }

/**
 * The store of each server that the suites of this process read. Each layer is written once.
 * @type {Map<import('../backends.js').Backend, {url: string, store: Store, names: Set<string>}>}
 */
const gallery = new Map()

// 3 x 2 tiles in the middle of zoom 3, and parts of others around them
const VIEW = { viewport: { width: 700, height: 500 } }

/** `together` of layers whose tiles must never be late, even on a busy machine; the page shortens long timeouts. */
export const UNHURRIED = 100000

/** The store of a server with some layers of the gallery. @param {string[]} names */
async function storeWith (backend, names) {
  let shared = gallery.get(backend)
  if (!shared) {
    const url = await backend.database()
    shared = { url, store: await newStore(url), names: new Set() }
    gallery.set(backend, shared)
  }
  const missing = names.filter(name => !shared.names.has(name))
  for (const name of missing) shared.names.add(name)
  await writeGallery(shared.store, missing)
  await warmIndexes(shared.store)
  return shared
}

/** @param {string[]} [names] of layers of the gallery */
async function newStore (url, names = []) {
  const store = await Store.create(url)
  await writeGallery(store, names)
  await publishFunctions(store)
  return store
}

/**
 * A suite on every store (or on the embedded one alone, where the store makes no difference).
 * @param {string} title
 * @param {{layers: string[], everywhere?: boolean, library?: Library, writes?: boolean}} options writes: the suite
 *   changes layers of the gallery, so it has its own store
 * @param {(stage: Stage) => void} body
 */
export function onStage (title, { layers, everywhere = false, library = leaflet, writes = false }, body) {
  for (const backend of everywhere ? backends : backends.slice(0, 1)) {
    describe(`${title}${everywhere ? ` on ${backend.name}` : ''}`, function () {
      this.timeout(30000)
      const stage = new Stage(library)

      before(async function () {
        await stage.open(this)
        if (writes) await stage.build(await backend.database(), layers)
        else await stage.stand(await storeWith(backend, layers))
      })
      afterEach(() => stage.clear())
      after(() => stage.front?.close())
      body(stage)
    })
  }
}

export class Stage {
  #pages
  #library

  /** @param {Library} [library] */
  constructor (library = leaflet) {
    this.#library = library
  }

  /** @param {Mocha.Context} context of a suite */
  async open (context) {
    const { browser } = await openBrowser(context, { webgl: this.#library !== leaflet })
    this.#pages = new Pages(browser)
  }

  /** Creates a store with layers. @param {string} url @param {string[]} layers */
  async build (url, layers) {
    await this.stand({ url, store: await newStore(url, layers) })
  }

  /** @param {{url: string, store: Store}} where */
  async stand ({ url, store }) {
    this.store = store
    this.front = await startFront(url, { files: this.#library.files })
  }

  /** Fails the test if the console has messages that the test did not allow. */
  async clear () {
    await this.#pages.leave()
    this.front.reset()
  }

  /** Allows errors that a test provokes. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#pages.allow(...patterns)
  }

  /** Writes more versions: step -> tiles. */
  async write (layer, steps) {
    await this.store.write(await history(layer, steps))
  }

  /**
   * @param {import('playwright-core').BrowserContextOptions} [options]
   * @param {boolean} [isPatient] keeps timeouts of more than two seconds
   */
  async page (options = {}, isPatient = false) {
    const page = await this.#pages.open({ ...VIEW, ...options }, this.#library.install, isPatient)
    await page.goto(this.front.page)
    await page.evaluate(db => { Object.assign(window, { db }) }, this.front.url)
    return page
  }

  /**
   * Opens a page with a map and a layer on it, `map` and `layer` of its window. By default it waits until all is drawn,
   * and nothing is fetched in advance.
   * @param {string} layer
   * @param {Record<string, any>} [options] of the layer; and `map`: of the map, `wait: false`, `kind: 'couch'`, `page`:
   *   of the context; `isPatient`: see `page`
   */
  async show (layer, { wait = true, page: context, isPatient, ...options } = {}) {
    const page = await this.page(context, isPatient)
    await this.draw(page, layer, options)
    if (wait) await waitForRest(page)
    return page
  }

  /** Puts a map with a layer on a page. @param {Record<string, any>} [options] of the layer, and `map`, `kind` */
  draw (page, layer, { map = {}, kind = 'history', ...options } = {}) {
    return this.#library.draw(page, layer, { map, kind, ...options })
  }

  /** Waits until everything in view is drawn, and returns the picture. */
  rest (page) {
    return waitForRest(page)
  }

  /** Sets the time of the layer, waits, and returns the picture. */
  at (page, time) {
    return pictureAt(page, time)
  }
}

/** The expected picture: the rule returns the text of each tile. */
export const expected = (picture, rule) =>
  Object.fromEntries(Object.keys(picture).map(key => [key, rule(...key.split('#')[0].split('/').map(Number))]))

/** Asserts that every tile of a picture shows the right step of its layer. */
export const shows = (picture, layer, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => stepAt(layer, step, ...tile)), `${layer} at step ${step}`)

/** The present picture, complete or not. */
export const pictureOf = page => page.evaluate(() => window.see.picture())

/** The events of a layer so far, of one type or all. */
export const eventsOf = async (page, type) =>
  (await call(page, 'events.slice')).filter(event => type === undefined || event.type === type)

/** Waits until at least `count` events of a type have been fired. */
export const waitForEvent = (page, type, count = 1) => page.waitForFunction(([name, least]) =>
  window.events.filter(event => event.type === name).length >= least, [type, count])

/** Calls a method, or reads a property, of an object of the window, such as `layer.setTime`. */
export const call = (page, path, ...args) => page.evaluate(([name, values]) => {
  const names = name.split('.')
  const method = names.pop()
  const owner = names.reduce((object, key) => object[key], window)
  const result = typeof owner[method] === 'function' ? owner[method](...values) : owner[method]
  return result === owner || result?._leaflet_id ? null : result
}, [path, args])

/**
 * Runs a task, and returns the pictures of all frames meanwhile, without repeats in a row.
 * @param {import('playwright-core').Page} page @param {() => Promise<any>} task
 * @param {boolean} [everyZoom] also tiles of a zoom that is being left
 */
export async function frames (page, task, everyZoom = false) {
  await page.evaluate(value => { window.see.watch(undefined, value) }, everyZoom)
  await task()
  return call(page, 'frames')
}
