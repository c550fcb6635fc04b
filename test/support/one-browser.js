// The browsers of this process, one of each kind. Every test file that needs one opens its own contexts in it.
// ../viewer/browser.js starts them. Playwright is not loaded here, since it turns on Node's async hooks and most tests
// need no browser.

const browsers = new Map()

/** @param {string} kind @param {() => Promise<import('playwright-core').Browser>} launch */
export async function oneBrowser (kind, launch) {
  const browser = browsers.get(kind)
  if (browser && (await browser).isConnected()) return browser
  const launched = launch()
  browsers.set(kind, launched)
  return launched
}

export async function closeBrowsers () {
  for (const browser of browsers.values()) await (await browser).close()
}

export const mochaHooks = {
  async afterAll () {
    await closeBrowsers()
  }
}
