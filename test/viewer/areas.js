// What tests of the viewer's areas press, and where they look.

/** The card of offline maps, opened by its button. */
export async function openAreas (page) {
  const entry = page.locator('#offline')
  await entry.waitFor()
  await page.locator('#map .tilecouch-tile img').first().waitFor()
  await entry.click()
  await page.locator('.card.offline').waitFor()
}

/** The form for a new area, once it knows what the area takes. */
export async function begin (page) {
  await page.getByRole('button', { name: 'Download an area' }).click()
  await estimate(page)
}

/** What the form says that it takes. */
export async function estimate (page) {
  const words = await page.locator('.estimate:not(.waiting) strong').textContent()
  const [, tiles, size] = /^([\d,]+) tiles? · (.*)$/.exec(String(words)) ?? []
  return { tiles: Number(tiles.replace(/,/g, '')), size }
}

/** An area of the list. @param {string} name how it begins, or all of it */
export const area = (page, name) => page.locator('.area',
  { has: page.locator('.title').getByText(name, { exact: !name.startsWith('<') }) })

/** Waits until an area stands so. @param {string | RegExp} words */
export const state = (page, name, words) => area(page, name)
  .locator('.state').filter({ hasText: words }).waitFor()

/** Takes what the map shows along. @param {string} name that it will have */
export async function take (page, name) {
  if (!await page.locator('.card.offline').count()) await openAreas(page)
  await begin(page)
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await state(page, name, 'Up to date just now')
}

/** The middle of a handle on the map. @param {string} name how it begins */
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
