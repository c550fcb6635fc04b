/* global document -- of the page, in functions that run there */
// Helpers for suites of the control room on every kind of store: a store, and pages whose unexpected console messages
// fail the test.
import { TIME_FACTOR } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { createGate } from './client/front.js'
import { Pages } from './client/pages.js'
import { openBrowser, screens } from '../viewer/browser.js'
import { kinds } from '../viewer/stores.js'

const BEFORE_SIGNING_IN = /401 \(Unauthorized\)/ // a message of every page

/** @param {number} milliseconds */
export const timeOf = milliseconds => new Date(milliseconds).toISOString().slice(0, 19) + 'Z'

/** The id of a run that began at a time. @param {number} milliseconds @param {number} number different for each run */
export const runOf = (milliseconds, number) =>
  `${new Date(milliseconds).toISOString().replace(/[-:.Z]/g, '')}-${number.toString(36).padStart(4, '0')}`

/** Waits until a section has read its data. @param {any} page @param {string} [section] a selector */
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
      this.timeout(60000 * TIME_FACTOR)
      const stage = new AdminStage(name)

      before(async function () {
        stage.pages = new Pages((await openBrowser(this, { webgl: false })).browser, [BEFORE_SIGNING_IN])
        stage.backend = await open(options)
        stage.store = await Store.open(stage.backend.database)
      })
      afterEach(function () { return stage.pages.leave(this.currentTest?.isPassed()) })
      after(() => stage.backend?.close())
      body(stage, name)
    })
  }
}

/**
 * Delays the writes of a page.
 * @param {import('playwright-core').Page} page @param {string} address a pattern
 * @returns {Promise<() => void>} lets the writes continue
 */
export async function holdWrites (page, address) {
  const released = createGate()
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

  /** @param {string} kind of its store */
  constructor (kind) {
    this.kind = kind
  }

  get address () {
    return `${this.backend.viewer}admin`
  }

  /** A command as pages show it: it names a CouchDB and the user, without the password. */
  command (text) {
    const { username, host, pathname } = new URL(this.backend.database)
    return this.kind === 'CouchDB' ? `${text} --db http://${username}@${host}${pathname}` : text
  }

  /** Name and password of the admin. */
  get owner () {
    const { username, password } = new URL(this.backend.database)
    return { name: decodeURIComponent(username), password: decodeURIComponent(password) }
  }

  /** Opens a page without signing in. @param {import('playwright-core').BrowserContextOptions} [options] */
  visit (section = '', options = screens.desk) {
    return this.open(this.address + (section && `#${section}`), options)
  }

  /** Opens another page of the store. */
  async open (address, options = screens.desk) {
    const page = await this.pages.open(options)
    await page.goto(address)
    return page
  }

  /** Opens a page and signs in, as the admin unless another name is given. */
  async enter (section = '', { name, password } = this.owner, options = screens.desk) {
    const page = await this.visit(section, options)
    await this.signIn(page, name, password)
    await page.locator('#sections a').first().waitFor()
    return page
  }

  async signIn (page, name, password) {
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** Allows errors that a test provokes. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.pages.allow(...patterns)
  }
}
