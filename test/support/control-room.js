/* global document -- of the page, in functions that run there */
// What a suite of the control room stands on, on every kind of store: an empty store, and pages on which nothing may go
// wrong that was not expected.
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { gate } from './client/front.js'
import { Pages } from './client/pages.js'
import { openBrowser, screens } from '../viewer/browser.js'
import { kinds } from '../viewer/stores.js'

/** @param {number} milliseconds */
export const timeOf = milliseconds => new Date(milliseconds).toISOString().slice(0, 19) + 'Z'

/** The id of a run that began then. @param {number} milliseconds @param {number} number of several runs */
export const runOf = (milliseconds, number) =>
  `${new Date(milliseconds).toISOString().replace(/[-:.Z]/g, '')}-${number.toString(36).padStart(4, '0')}`

/** Waits until nothing of a section is still being read. @param {any} page @param {string} [section] a selector */
export const isRead = (page, section = '#content h2') => page.waitForFunction(
  selector => document.querySelector(selector) && !document.querySelector('#content [aria-busy="true"]'), section
)

/**
 * @param {string} title
 * @param {(stage: AdminStage, kind: string) => void} body
 * @param {Record<string, any>} [options] of the store
 */
export function onAdmin (title, body, options = { demo: false }) {
  for (const { name, open } of kinds) {
    describe(`the control room on ${name}: ${title}`, function () {
      this.timeout(60000)
      const stage = new AdminStage()

      before(async function () {
        stage.pages = new Pages((await openBrowser(this, { webgl: false })).browser)
        stage.backend = await open(options)
        stage.store = await Store.open(stage.backend.database)
      })
      afterEach(function () { return stage.clear(this.currentTest?.isPassed()) })
      after(() => stage.backend?.close())
      body(stage, name)
    })
  }
}

/**
 * Holds back what a page writes.
 * @param {import('playwright-core').Page} page @param {string} address a pattern
 * @returns {Promise<() => void>} lets it go on
 */
export async function holdWrites (page, address) {
  const released = gate()
  await page.route(address, async route => {
    if (route.request().method() === 'PUT') await released.opened
    await route.continue()
  })
  return released.open
}

export class AdminStage {
  pages = /** @type {Pages} */ (/** @type {unknown} */ (undefined))
  /** @type {any} */
  backend
  /** @type {import('../../loader/index.js').Store} */
  store = /** @type {any} */ (null)
  /** @type {RegExp[]} */
  #allowed = []

  get address () {
    return `${this.backend.viewer}admin`
  }

  /** Name and password of the admin. */
  get owner () {
    const { username, password } = new URL(this.backend.database)
    return { name: decodeURIComponent(username), password: decodeURIComponent(password) }
  }

  /** A page on which nobody has signed in. @param {import('playwright-core').BrowserContextOptions} [options] */
  visit (place = '', options = screens.desk) {
    return this.open(this.address + (place && `#${place}`), options)
  }

  /** Another page of the store. */
  async open (address, options = screens.desk) {
    const page = await this.pages.open(options)
    await page.goto(address)
    return page
  }

  /** A page on which the admin, or somebody else, has signed in. */
  async enter (place = '', { name, password } = this.owner, options = screens.desk) {
    const page = await this.visit(place, options)
    await this.signIn(page, name, password)
    await page.locator('#sections a').first().waitFor()
    return page
  }

  async signIn (page, name, password) {
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** A test that provokes errors says which. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#allowed.push(...patterns)
  }

  async clear (passed) {
    const allowed = [/401 \(Unauthorized\)/, ...this.#allowed] // before somebody has signed in
    const errors = (await this.pages.leave(passed)).filter(text => !allowed.some(pattern => pattern.test(text)))
    this.#allowed = []
    if (passed) assert.deepEqual(errors, [], 'nothing on the console')
  }
}
