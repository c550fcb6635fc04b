/* global document, requestAnimationFrame -- of the page, in functions that run there */
// A Chromium for the tests, and pages that remember what went wrong on them.
import { chromium } from 'playwright-core'
import { TIME_FACTOR } from '../../bench/wait.js'
import { oneBrowser } from '../support/one-browser.js'
import { chromium as findChromium, skip } from '../support/tools.js'

// Each window of a Chromium loads pages of its own for the popups of its address bar, which take more time than most
// pages of the tests.
const disabledFeatures = ['StaticStorageQuota', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']

// without the first feature, pages are told of the room there is, not always of 10 GiB; the last two: WebGL without a
// graphics card
export const flags = ['--no-sandbox', '--disable-dev-shm-usage', `--disable-features=${disabledFeatures}`,
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader']

/** The executable, or the suite is skipped where there is none. In CI there has to be one. @returns {string} */
export function chromiumFor (context) {
  const executablePath = findChromium()
  if (!executablePath) {
    if (process.env.CI) throw new Error('no Chromium: install it, or name it in CHROMIUM_BIN')
    skip(context, 'no Chromium: install it, or name it in CHROMIUM_BIN')
  }
  return /** @type {string} */ (executablePath)
}

/**
 * The browser of this process for one suite, which is skipped where there is none.
 * @param {Mocha.Context} context
 * @param {{webgl?: boolean}} [options] webgl: the pages draw with WebGL. The others take a third less time where the
 *   processor puts them together without it, and WebGL would draw too few frames
 */
export async function openBrowser (context, { webgl = true } = {}) {
  const executablePath = chromiumFor(context)
  const args = webgl ? flags : [...flags, '--disable-gpu-compositing']
  // tests interrupt commands in this process; Playwright would end all of it
  const launch = () => chromium.launch({ executablePath, args, handleSIGINT: false })
  return new SuiteBrowser(await oneBrowser(webgl ? 'webgl' : 'plain', launch))
}

/** What a suite opens in the browser, and closes with itself. */
class SuiteBrowser {
  /** @type {Set<import('playwright-core').BrowserContext>} */
  #contexts = new Set()

  /** @param {import('playwright-core').Browser} browser */
  constructor (browser) {
    this.browser = browser
  }

  /** @param {import('playwright-core').BrowserContextOptions} [options] */
  async newContext (options) {
    const context = await this.browser.newContext(options)
    this.#contexts.add(context)
    context.once('close', () => this.#contexts.delete(context))
    return context
  }

  async close () {
    await Promise.all([...this.#contexts].map(context => context.close()))
  }
}

export const screens = {
  desk: { viewport: { width: 1280, height: 800 } },
  tablet: { viewport: { width: 834, height: 1112 }, hasTouch: true },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
}

/** @param {import('playwright-core').BrowserContextOptions} [options] */
export async function openPage (browser, options = screens.desk) {
  // dates are written in the reader's form: 20 Jun 2024, 14:00
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(30000 * TIME_FACTOR) // a machine that does other work as well draws slowly
  /** @type {string[]} */
  const errors = []
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) errors.push(message.text()) })
  page.on('pageerror', error => errors.push(String(error)))
  return { page, errors, close: () => context.close() }
}

/**
 * Gives a page that is open another size. Tests use it where a page is opened and brought into a state in more time.
 * @param {import('playwright-core').Page} page
 * @param {{viewport: {width: number, height: number}, hasTouch?: boolean}} screen
 */
export async function resize (page, { viewport, hasTouch = false }) {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: hasTouch })
  await session.detach()
  await page.setViewportSize(viewport)
  // the page takes notice of another size with the next frame
  await page.evaluate(() => new Promise(resolve => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(undefined)))
  }))
}

/** Waits until all that is in view is drawn, and says how many tiles there are. */
export async function drawnTiles (page) {
  await page.waitForFunction(() => {
    const timeline = document.querySelector('.tilecouch-timeline')
    const images = [...document.querySelectorAll('#map .tilecouch-tile img')]
    return timeline && !timeline.classList.contains('tilecouch-busy') &&
      images.length > 0 && images.every(image => /** @type {any} */ (image).naturalWidth > 0)
  })
  return page.locator('#map .tilecouch-tile img').count()
}

/** Waits until the clock stands at a time as the timeline writes it, and all of it is drawn. */
export async function shownAt (page, words) {
  await page.waitForFunction(text => {
    const timeline = document.querySelector('.tilecouch-timeline')
    return timeline && !timeline.classList.contains('tilecouch-busy') &&
      timeline.querySelector('[aria-label="Time"]')?.getAttribute('aria-valuetext')?.startsWith(text)
  }, words)
}
