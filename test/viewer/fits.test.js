// Finds what is cut off on small pages of its own.
import assert from 'node:assert/strict'
import { openBrowser, openPage } from './browser.js'
import { checkFits } from './fits.js'

describe('the search for text that does not fit', function () {
  this.timeout(60000)
  let browser
  before(async function () { browser = await openBrowser(this) })
  after(() => browser?.close())

  /** @param {string} body @returns {Promise<string[]>} */
  async function offenders (body) {
    const { page, close } = await openPage(browser)
    try {
      await page.setContent(`<!doctype html><style>* { font: 16px sans-serif; box-sizing: border-box }</style>${body}`)
      return await checkFits(page)
    } finally {
      await close()
    }
  }

  it('finds text that a button, a badge, a select or a date cuts off', async () => {
    assert.deepEqual(await offenders(`
      <button style="width: 60px; white-space: nowrap; overflow: hidden">Download an area</button>
      <div style="width: 60px; overflow: hidden">
        <span class="badge" style="white-space: nowrap">Not complete</span>
      </div>
      <select style="width: 60px"><option>short</option><option selected>All of the past</option></select>
      <input type="date" style="width: 70px" value="2024-06-20">`), [
      'cut off: button “Download an area”',
      'cut off: input “2024-06-20”',
      'cut off: select “All of the past”',
      'cut off: span.badge “Not complete”'
    ])
  })

  it('finds text that lies outside the window, or over other text', async () => {
    assert.deepEqual(await offenders(`
      <label style="position: absolute; left: -20px; top: 0">Name</label>
      <button style="position: absolute; left: 100px; top: 100px">Pause</button>
      <div class="over"
        style="position: absolute; left: 90px; top: 90px; width: 200px; height: 60px; background: red"></div>
      <h2 style="position: absolute; left: 100px; top: 200px; margin: 0">Areas</h2>
      <label style="position: absolute; left: 110px; top: 205px">Layer</label>`), [
      'covered: button “Pause” by div.over “”',
      'covered: h2 “Areas” by label “Layer”',
      'cut off: label “Name”',
      'one over the other: h2 “Areas” and label “Layer”'
    ].sort())
  })

  it('finds nothing where text wraps, is hidden, or is scrolled to', async () => {
    assert.deepEqual(await offenders(`
      <button style="width: 110px">Download an area</button>
      <button hidden>Pause</button>
      <label style="position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)">Unseen</label>
      <select><option>short</option><option selected>All of the past</option></select>
      <div style="height: 60px; overflow-y: auto">
        <p style="height: 100px">x</p>
        <button>Below</button>
        <div style="position: sticky; bottom: 0; background: white"><button>Always seen</button></div>
      </div>`), [])
  })
})
