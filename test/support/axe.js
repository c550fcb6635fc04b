/* global window -- of the page, in functions that run there */
// What axe finds on a page: the rules of WCAG 2.2 A and AA, and its best practice.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** @param {any} page of the browser @returns {Promise<string[]>} what is in the way, in the light and in the dark */
export async function findBarriers (page) {
  await page.evaluate(await readFile(AXE, 'utf8'))
  const barriers = []
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate(
      values => /** @type {any} */ (window).axe.run({ runOnly: { type: 'tag', values } }), RULES
    )
    const parts = nodes => nodes.map(({ html }) => html.slice(0, 200)).join('\n')
    barriers.push(...violations.map(({ id, nodes }) => `${colorScheme}: ${id}: ${parts(nodes)}`))
  }
  return barriers
}
