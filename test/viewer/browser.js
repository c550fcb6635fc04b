/* global document, requestAnimationFrame -- of the page, in functions that run there */
// Opens Chromium for the tests, and pages that collect their errors and warnings.
import { chromium } from 'playwright-core'
import { TIME_FACTOR } from '../../bench/wait.js'
import { oneBrowser } from '../support/one-browser.js'
import { chromium as findChromium, skip } from '../support/tools.js'

// Chromium loads pages of its own in each window, for the popups of its address bar. They take more time than most
// pages of the tests.
const disabledFeatures = ['StaticStorageQuota', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']

// Without StaticStorageQuota, pages learn the free space of the device instead of 10 GiB. The last two flags give WebGL
// without a graphics card.
export const flags = ['--no-sandbox', '--disable-dev-shm-usage', `--disable-features=${disabledFeatures}`,
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader']

/** Returns the executable. Without one, the suite is skipped; in CI it fails. @returns {string} */
export function chromiumFor (context) {
  const executablePath = findChromium()
  if (!executablePath) {
    if (process.env.CI) throw new Error('no Chromium: install it, or name it in CHROMIUM_BIN')
    skip(context, 'no Chromium: install it, or name it in CHROMIUM_BIN')
  }
  return /** @type {string} */ (executablePath)
}

/**
 * Returns the browser of this process for one suite. Without a Chromium, the suite is skipped.
 * @param {Mocha.Context} context
 * @param {{webgl?: boolean}} [options] webgl: pages can draw with WebGL. Without it, GPU compositing is off: this
 *   saves a third of the time, but WebGL would draw too few frames
 */
export async function openBrowser (context, { webgl = true } = {}) {
  const executablePath = chromiumFor(context)
  const args = webgl ? flags : [...flags, '--disable-gpu-compositing']
  // tests interrupt commands in this process; Playwright would end the whole process
  const launch = () => chromium.launch({ executablePath, args, handleSIGINT: false })
  return new SuiteBrowser(await oneBrowser(webgl ? 'webgl' : 'plain', launch))
}

/** The browser contexts of one suite. `close` closes all of them. */
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
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  small: { viewport: { width: 800, height: 600 } } // for WebGL, which is slow without a graphics card
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
 * Resizes an open page. This takes less time than opening it again and repeating the steps to its state.
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

/** Selects the timeline when its layers have drawn everything. */
export const IDLE = '.tilecouch-timeline:not(.tilecouch-busy)'

/** Waits until all tiles in view are drawn, and returns their number. */
export async function drawnTiles (page) {
  await page.waitForFunction(idle => {
    const images = [...document.querySelectorAll('#map .tilecouch-tile img')]
    return document.querySelector(idle) && images.length > 0 &&
      images.every(image => /** @type {any} */ (image).naturalWidth > 0)
  }, IDLE)
  return page.locator('#map .tilecouch-tile img').count()
}

/** Waits until the time on the timeline begins with these words, and the tiles of that time are drawn. */
export async function shownAt (page, words) {
  await page.locator(`${IDLE} [aria-label="Time"][aria-valuetext^="${words}"]`).waitFor({ state: 'attached' })
}
