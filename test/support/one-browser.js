// The browser of this process: every test file that needs one uses it, with contexts of its own. It is started by
// ../viewer/browser.js: where Playwright has been loaded, Node's async hooks are on, and most tests do without them.

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser

/** @param {() => Promise<import('playwright-core').Browser>} launch */
export async function oneBrowser (launch) {
  if (!browser || !(await browser).isConnected()) browser = launch()
  return browser
}

export async function closeBrowser () {
  await (await browser)?.close()
}

export const mochaHooks = {
  async afterAll () {
    await closeBrowser()
  }
}
