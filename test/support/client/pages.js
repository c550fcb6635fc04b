// Pages for the tests of this process. To open a page takes more time than most tests, so a page that a test has left
// serves the next one, of any suite: its document has ended, and the cache and the storage of its context are empty.
import { openPage } from '../../viewer/browser.js'

/**
 * @typedef {object} Entry
 * @property {Awaited<ReturnType<typeof openPage>>} view
 * @property {import('playwright-core').CDPSession} session
 * @property {string} kind only pages of the same options and script are equal
 * @property {import('playwright-core').Browser} browser
 */

/** Pages that no test uses. @type {Entry[]} */
const free = []

/** The pages of one suite. */
export class Pages {
  /** @type {Entry[]} those of the test that runs */
  #used = []
  #browser

  /** @param {import('playwright-core').Browser} browser */
  constructor (browser) {
    this.#browser = browser
  }

  /**
   * @param {import('playwright-core').BrowserContextOptions} [options]
   * @param {(argument: any) => void} [script] runs in each document before the scripts of the document
   * @param {any} [argument] of the script
   */
  async open (options, script, argument) {
    const kind = JSON.stringify([options, argument, String(script)])
    const at = free.findIndex(entry => entry.browser === this.#browser && entry.kind === kind)
    if (at >= 0) {
      this.#used.push(...free.splice(at, 1))
    } else {
      const view = await openPage(this.#browser, options)
      if (script) await view.page.addInitScript(script, argument)
      const session = await view.page.context().newCDPSession(view.page)
      this.#used.push({ view, session, kind, browser: this.#browser })
    }
    return (this.#used.at(-1)).view.page
  }

  /** Ends the documents of a test. @returns {Promise<string[]>} what was on their consoles */
  async leave () {
    const left = this.#used.splice(0)
    const errors = left.flatMap(({ view }) => view.errors)
    for (const entry of left.filter(({ view }) => !view.page.isClosed())) {
      const { view: { page, errors: ofPage }, session } = entry
      const { origin } = new URL(page.url())
      await page.goto('about:blank')
      await page.mouse.move(-10, -10) // nothing of the next document is under the pointer
      await session.send('Network.clearBrowserCache')
      // a page that could not be loaded has no origin
      if (origin !== 'null') await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
      ofPage.length = 0
      free.push(entry)
    }
    return errors
  }
}
