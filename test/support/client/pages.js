// Pages for the tests of this process. Opening a page takes more time than most tests, so later tests of any suite use
// a page again: its document is ended, and the cache and the storage of its context are emptied. A page is closed if a
// test has changed more than that, or has failed.
import assert from 'node:assert/strict'
import { openPage } from '../../viewer/browser.js'

/**
 * @typedef {object} Entry
 * @property {Awaited<ReturnType<typeof openPage>>} view
 * @property {import('playwright-core').BrowserContext} context
 * @property {() => Promise<import('playwright-core').CDPSession>} openSession
 * @property {boolean} isChanged a test has changed how the page behaves in every document
 * @property {string} kind options and script: a page only replaces pages of the same kind
 * @property {import('playwright-core').Browser} browser
 */

const MAX_FREE = 6 // unused pages that are kept: each is a process of the browser

/** Unused pages, the one that was used last at the end. @type {Entry[]} */
const freePages = []

/** Methods that change a page or its context for every document. */
const CHANGES = {
  page: ['addInitScript', 'emulateMedia', 'exposeBinding', 'exposeFunction', 'on', 'once', 'route',
    'setExtraHTTPHeaders', 'setViewportSize'],
  context: ['addInitScript', 'exposeBinding', 'exposeFunction', 'grantPermissions', 'newCDPSession', 'on', 'once',
    'route', 'setExtraHTTPHeaders', 'setGeolocation', 'setOffline'],
  clock: ['fastForward', 'install', 'pauseAt', 'setFixedTime', 'setSystemTime']
}

/** Notes when a test changes a page. @param {Entry} entry */
function watchChanges (entry) {
  const { view: { page }, context } = entry
  for (const [owner, names] of /** @type {[any, string[]][]} */ (
    [[page, CHANGES.page], [context, CHANGES.context], [page.clock, CHANGES.clock]]
  )) {
    for (const name of names) {
      const method = owner[name].bind(owner)
      owner[name] = (...args) => {
        entry.isChanged = true
        return method(...args)
      }
    }
  }
}

/**
 * Ends the document of a page, and empties its context.
 * @param {Entry} entry
 * @returns {Promise<boolean>} whether that was possible
 */
async function empty ({ view: { page, errors }, context, openSession }) {
  const { origin } = new URL(page.url())
  if (origin === 'null') return false // the page was not loaded, so it has no storage to empty
  try {
    await page.goto('about:blank')
    await page.mouse.move(-10, -10) // the pointer is on no element of the next document
    await context.clearCookies()
    const session = await openSession()
    await session.send('Network.clearBrowserCache')
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await session.detach() // while a second session is open, an offline page reports that it is online
  } catch {
    return false // the page was on its way to another document
  }
  errors.length = 0
  return true
}

/** The messages that match none of the patterns. @param {string[]} messages @param {RegExp[]} allowed */
export const unexpectedOf = (messages, allowed) =>
  messages.filter(text => !allowed.some(pattern => pattern.test(text)))

/** The pages of one suite. An unexpected message on the console of one fails the test. */
export class Pages {
  /** @type {Entry[]} pages of the running test */
  #used = []
  #browser
  #alwaysAllowed
  /** @type {RegExp[]} */
  #allowed = []

  /** @param {import('playwright-core').Browser} browser @param {RegExp[]} [alwaysAllowed] messages */
  constructor (browser, alwaysAllowed = []) {
    this.#browser = browser
    this.#alwaysAllowed = alwaysAllowed
  }

  /** Allows messages that the running test provokes. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#allowed.push(...patterns)
  }

  /**
   * @param {import('playwright-core').BrowserContextOptions} [options]
   * @param {(argument: any) => void} [script] runs in each document before the scripts of the document
   * @param {any} [argument] of the script
   */
  async open (options, script, argument) {
    const kind = JSON.stringify([options, argument, String(script)])
    const index = freePages.findIndex(entry => entry.browser === this.#browser && entry.kind === kind)
    if (index >= 0) {
      this.#used.push(...freePages.splice(index, 1))
    } else {
      const view = await openPage(this.#browser, options)
      if (script) await view.page.addInitScript(script, argument)
      const context = view.page.context()
      const openSession = context.newCDPSession.bind(context, view.page)
      const entry = { view, context, openSession, isChanged: false, kind, browser: this.#browser }
      watchChanges(entry)
      this.#used.push(entry)
    }
    return (this.#used.at(-1)).view.page
  }

  /** The pages of the running test. */
  get used () {
    return this.#used.map(({ view }) => view.page)
  }

  /**
   * Ends the documents of a test, and fails it if their consoles have messages that it did not allow.
   * @param {boolean} [hasPassed] if false, its pages are not used again, and their messages do not matter
   */
  async leave (hasPassed = true) {
    const entries = this.#used.splice(0)
    const messages = entries.flatMap(({ view }) => view.errors)
    const allowed = [...this.#alwaysAllowed, ...this.#allowed.splice(0)]
    for (const entry of entries.filter(({ view }) => !view.page.isClosed())) {
      const { view, context, isChanged } = entry
      const isFit = hasPassed && !isChanged && context.pages().length === 1
      if (isFit && await empty(entry)) freePages.push(entry)
      else await view.close()
      if (freePages.length > MAX_FREE) await freePages.shift()?.view.close()
    }
    if (hasPassed) assert.deepEqual(unexpectedOf(messages, allowed), [], 'nothing on the console')
  }
}
