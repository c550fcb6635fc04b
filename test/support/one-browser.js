// The browsers of this process, one of each kind: every test file that needs one uses it, with contexts of its own.
// They are started by ../viewer/browser.js: where Playwright has been loaded, Node's async hooks are on, and most tests
// do without them.

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
