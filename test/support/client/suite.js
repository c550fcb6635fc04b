/* global window -- of the page, in functions that run there */
// A store with layers, a server before it that can be made to fail, and a browser: what the tests of the client library
// stand on.
import assert from 'node:assert/strict'
import { Store } from '../../../loader/index.js'
import { backends } from '../backends.js'
import { openBrowser, openPage } from '../../viewer/browser.js'
import { furnish } from './designs.js'
import { startFront } from './front.js'
import { hang, history } from './gallery.js'
import { install } from './in-page.js'
import { at, draw, rest } from './maps.js'

/**
 * A map library: what its page consists of, what runs in it first, and what puts a layer on a map of it.
 * @typedef {{files?: () => Promise<Record<string, [string, string]>>, install: (isPatient?: boolean) => void,
 *   draw: typeof draw}} Library
 * @type {Library}
 */
const leaflet = { install, draw }

let browser

// 3 x 2 tiles in the middle of zoom 3, and parts of others around them
const VIEW = { viewport: { width: 700, height: 500 } }

/** `together` of layers whose steps are never too late, however busy the machine; the page cuts long waits short. */
export const UNHURRIED = 100000

/**
 * A suite on every store (or on the embedded one alone, where the store makes no difference).
 * @param {string} title
 * @param {{layers: string[], everywhere?: boolean, library?: Library}} options
 * @param {(stage: Stage) => void} body
 */
export function onStage (title, { layers, everywhere = false, library = leaflet }, body) {
  for (const backend of everywhere ? backends : backends.slice(0, 1)) {
    describe(`${title}${everywhere ? ` on ${backend.name}` : ''}`, function () {
      this.timeout(30000)
      const stage = new Stage(library)

      before(async function () {
        browser = await openBrowser(this, { webgl: library !== leaflet })
        await stage.build(await backend.database(), layers)
      })
      afterEach(() => stage.clear())
      after(async () => {
        await stage.front?.close()
        await browser?.close()
      })
      body(stage)
    })
  }
}

export class Stage {
  /** @type {Awaited<ReturnType<typeof openPage>>[]} */
  #views = []
  #allowed = []
  #library

  /** @param {Library} [library] */
  constructor (library = leaflet) {
    this.#library = library
  }

  async build (url, layers) {
    this.store = await Store.create(url)
    await hang(this.store, layers)
    await furnish(this.store)
    this.front = await startFront(url, { files: this.#library.files })
  }

  /** Fails the test when anything was on the console but what it said would be. */
  async clear () {
    const errors = this.#views.flatMap(view => view.errors)
      .filter(text => !this.#allowed.some(pattern => pattern.test(text)))
    await Promise.all(this.#views.splice(0).map(view => view.close()))
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
    const view = await openPage(browser, { ...VIEW, ...options })
    this.#views.push(view)
    await view.page.addInitScript(this.#library.install, isPatient)
    await view.page.goto(this.front.page)
    await view.page.evaluate(db => { Object.assign(window, { db }) }, this.front.url)
    return view.page
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

/** Calls a method of the layer (or of something else that hangs on the window). */
export const call = (page, path, ...args) => page.evaluate(([name, values]) => {
  const names = name.split('.')
  const method = names.pop()
  const owner = names.reduce((object, key) => object[key], /** @type {any} */ (window))
  const result = typeof owner[method] === 'function' ? owner[method](...values) : owner[method]
  return result === owner || result?._leaflet_id ? null : result
}, /** @type {any} */ ([path, args]))

/**
 * Does something while every frame is watched; the pictures that were seen, each once in a row.
 * @param {import('playwright-core').Page} page @param {() => Promise<any>} task
 * @param {boolean} [all] also tiles of a zoom that is being left
 */
export async function frames (page, task, all = false) {
  await page.evaluate(whole => { /** @type {any} */ (window).see.watch(undefined, whole) }, all)
  await task()
  return call(page, 'frames')
}
