// Helpers for tests of offline areas in the viewer: they press its controls and read its texts.

/** Opens the card of offline maps with its button. */
export async function openAreas (page) {
  const button = page.locator('#offline')
  await button.waitFor()
  await page.locator('#map .tilecouch-tile img').first().waitFor()
  await button.click()
  await page.locator('.card.offline').waitFor()
}

/** Opens the form for a new area, and waits for its estimate. */
export async function begin (page) {
  await page.getByRole('button', { name: 'Download an area' }).click()
  await estimate(page)
}

/** Reads the estimate of the form: the number of tiles and the size. */
export async function estimate (page) {
  const words = await page.locator('.estimate:not(.waiting) strong').textContent()
  const [, tiles, size] = /^([\d,]+) tiles? · (.*)$/.exec(String(words)) ?? []
  return { tiles: Number(tiles.replace(/,/g, '')), size }
}

/** Finds an area of the list. @param {string} name its whole name, or its beginning if that is a "<" */
export const area = (page, name) => page.locator('.area',
  { has: page.locator('.title').getByText(name, { exact: !name.startsWith('<') }) })

/** Waits until the state of an area contains these words. @param {string | RegExp} words */
export const state = (page, name, words) => area(page, name)
  .locator('.state').filter({ hasText: words }).waitFor()

/** Downloads the part of the map in view. @param {string} name of the new area */
export async function take (page, name) {
  if (!await page.locator('.card.offline').count()) await openAreas(page)
  await begin(page)
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await state(page, name, 'Up to date just now')
}

/** The middle of a handle on the map. @param {string} name how its label begins */
export async function corner (page, name) {
  const { x, y, width, height } =
    /** @type {any} */ (await page.locator(`.sketch-handle[aria-label^="${name}"]`).boundingBox())
  return { x: x + width / 2, y: y + height / 2 }
}

/** Taps the map. @param {number[][]} places pixels */
export async function draw (page, places) {
  for (const [index, [x, y]] of places.entries()) {
    await page.touchscreen.tap(x, y)
    await page.locator('.sketch-handle').nth(index).waitFor()
  }
}

/** Drags with a finger. @param {{x: number, y: number}} from @param {number[]} by pixels */
export async function dragTouch (page, { x, y }, [dx, dy]) {
  const session = await page.context().newCDPSession(page)
  const touch = (type, share) => session.send('Input.dispatchTouchEvent',
    { type, touchPoints: share === undefined ? [] : [{ x: x + share * dx, y: y + share * dy }] })
  await touch('touchStart', 0)
  for (const share of [0.2, 0.4, 0.6, 0.8, 1]) await touch('touchMove', share)
  await touch('touchEnd', undefined)
}
