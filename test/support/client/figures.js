/* global window -- of the page, in functions that run there */
// What steps of the clock cost a map, whichever library draws it and however: requests, and frames between two times.
import { T, stepAt } from './gallery.js'
import { call } from './suite.js'

/**
 * @param {import('./suite.js').Stage} stage
 * @param {import('playwright-core').Page} page with `see` of an in-page script
 * @param {{layer: string, from: number, steps: number[], go: (time: string) => Promise<unknown>}} walk go: resolves
 *   when
 *   all is drawn
 * @returns {Promise<{requests: number, mixed: number, holes: number}>} of all steps: frames that show two times, and
 *   frames without an image somewhere
 */
export async function figuresOf (stage, page, { layer, from, steps, go }) {
  const sum = { requests: 0, mixed: 0, holes: 0 }
  let before = from
  for (const step of steps) {
    stage.front.forget()
    await page.evaluate(() => { /** @type {any} */ (window).see.watch() })
    await go(T(step))
    const isOf = (picture, when) => Object.entries(picture)
      .every(([key, text]) => text === stepAt(layer, when,
        .../** @type {[number, number, number]} */ (key.split('/').map(Number))))
    for (const picture of await call(page, 'frames')) {
      if (Object.values(picture).includes('-')) sum.holes++
      else if (!isOf(picture, before) && !isOf(picture, step)) sum.mixed++
    }
    sum.requests += stage.front.requests().length
    before = step
  }
  return sum
}
