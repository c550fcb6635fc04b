/* global window -- of the page, in functions that run there */
// Runs axe on a page: the rules of WCAG 2.2 A and AA, and its best practice. The dark scheme changes only colours, so
// only the rules about colours run there again.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** @param {any} page of the browser @returns {Promise<string[]>} violations in the light and in the dark scheme */
export async function findBarriers (page) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(await readFile(AXE, 'utf8'))
  const barriers = []
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate(runAxe, { tags: RULES, isDark: colorScheme === 'dark' })
    const parts = nodes => nodes.map(({ html }) => html.slice(0, 200)).join('\n')
    barriers.push(...violations.map(({ id, nodes }) => `${colorScheme}: ${id}: ${parts(nodes)}`))
  }
  return barriers
}

/** Runs in the page. @param {{tags: string[], isDark: boolean}} options tags: of the rules */
function runAxe ({ tags, isDark }) {
  const { axe } = /** @type {any} */ (window)
  const colourRules = axe.getRules(['cat.color']).filter(rule => rule.tags.some(tag => tags.includes(tag)))
    .map(({ ruleId }) => ruleId)
  const runOnly = isDark ? { type: 'rule', values: colourRules } : { type: 'tag', values: tags }
  return axe.run({ runOnly, resultTypes: ['violations'] })
}
