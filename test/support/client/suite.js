/* global window -- of the page, in functions that run there */
// A store with layers, a server before it that can be made to fail, and a browser: what the tests of the client library
// stand on.
import assert from 'node:assert/strict'
import { Store, warmIndexes } from '../../../loader/index.js'
import { backends } from '../backends.js'
import { publishFunctions } from '../published.js'
import { openBrowser } from '../../viewer/browser.js'
import { startFront } from './front.js'
import { hang, history, stepAt } from './gallery.js'
import { at, draw, install, rest } from './maps.js'
import { Pages } from './pages.js'

/**
 * A map library: what its page consists of, what runs in it first, and what puts a layer on a map of it.
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

/** `together` of layers whose steps are never too late, however busy the machine; the page cuts long waits short. */
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
  await hang(shared.store, missing)
  await warmIndexes(shared.store)
  return shared
}

/** @param {string[]} [names] of layers of the gallery */
async function newStore (url, names = []) {
  const store = await Store.create(url)
  await hang(store, names)
  await publishFunctions(store)
  return store
}

/**
 * A suite on every store (or on the embedded one alone, where the store makes no difference).
 * @param {string} title
 * @param {{layers: string[], everywhere?: boolean, library?: Library, writes?: boolean}} options writes: it changes
 *   layers of the gallery, so it has a store of its own
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
  #allowed = []
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

  /** Makes a store with layers. @param {string} url @param {string[]} layers */
  async build (url, layers) {
    await this.stand({ url, store: await newStore(url, layers) })
  }

  /** @param {{url: string, store: Store}} where */
  async stand ({ url, store }) {
    this.store = store
    this.front = await startFront(url, { files: this.#library.files })
  }

  /** Fails the test when anything was on the console but what it said would be. */
  async clear () {
    const errors = (await this.#pages.leave()).filter(text => !this.#allowed.some(pattern => pattern.test(text)))
    this.#allowed = []
    this.front.reset()
    assert.deepEqual(errors, [], 'nothing on the console')
  }

  /** A test that provokes errors says which. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#allowed.push(...patterns)
  }

  /** Writes more versions: step -> tiles. */
  async write (layer, steps) {
    await this.store.write(await history(layer, steps))
  }

  /**
   * @param {import('playwright-core').BrowserContextOptions} [options]
   * @param {boolean} [isPatient] waits longer than two seconds are not cut short
   */
  async page (options = {}, isPatient = false) {
    const page = await this.#pages.open({ ...VIEW, ...options }, this.#library.install, isPatient)
    await page.goto(this.front.page)
    await page.evaluate(db => { Object.assign(window, { db }) }, this.front.url)
    return page
  }

  /**
   * A page with a map and a layer on it, `map` and `layer` of its window. Resolves when all is drawn, unless told
   * otherwise. Nothing is fetched in advance, likewise.
   * @param {string} layer
   * @param {Record<string, any>} [options] of the layer; and `map`: of the map, `wait: false`, `kind: 'couch'`, `page`:
   *   of the context; `isPatient`: see `page`
   */
  async show (layer, { wait = true, page: context, isPatient, ...options } = {}) {
    const page = await this.page(context, isPatient)
    await this.draw(page, layer, options)
    if (wait) await rest(page)
    return page
  }

  /** Puts a map with a layer on a page. @param {Record<string, any>} [options] of the layer, and `map`, `kind` */
  draw (page, layer, { map = {}, kind = 'history', ...options } = {}) {
    return this.#library.draw(page, layer, { map, kind, ...options })
  }

  /** Waits until everything in view is drawn, and says what it is. */
  rest (page) {
    return rest(page)
  }

  /** Moves the clock, waits, and says what is to be seen. */
  at (page, time) {
    return at(page, time)
  }
}

/** What is to be seen of a tile, by a rule: the picture as it should be. */
export const expected = (picture, rule) =>
  Object.fromEntries(Object.keys(picture).map(key => [key, rule(...key.split('#')[0].split('/').map(Number))]))

/** Checks that every tile of a picture is as it should be at a step of its layer. */
export const shows = (picture, layer, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => stepAt(layer, step, ...tile)), `${layer} at step ${step}`)

/** What is to be seen now, finished or not. */
export const pictureOf = page => page.evaluate(() => window.see.picture())

/** The events of a layer so far, of one type or all. */
export const eventsOf = async (page, type) =>
  (await call(page, 'events.slice')).filter(event => type === undefined || event.type === type)

/** Waits until so many events of a type have been fired. */
export const waitForEvent = (page, type, count = 1) => page.waitForFunction(([name, least]) =>
  window.events.filter(event => event.type === name).length >= least, [type, count])

/** Calls a method of the layer (or of something else that hangs on the window). */
export const call = (page, path, ...args) => page.evaluate(([name, values]) => {
  const names = name.split('.')
  const method = names.pop()
  const owner = names.reduce((object, key) => object[key], window)
  const result = typeof owner[method] === 'function' ? owner[method](...values) : owner[method]
  return result === owner || result?._leaflet_id ? null : result
}, [path, args])

/**
 * Does something while every frame is watched; the pictures that were seen, each once in a row.
 * @param {import('playwright-core').Page} page @param {() => Promise<any>} task
 * @param {boolean} [all] also tiles of a zoom that is being left
 */
export async function frames (page, task, all = false) {
  await page.evaluate(whole => { window.see.watch(undefined, whole) }, all)
  await task()
  return call(page, 'frames')
}
