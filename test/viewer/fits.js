/* global document, innerWidth, getComputedStyle, NodeFilter -- of the page, in functions that run there */
// Finds text of controls that is cut off, or that covers other text.
//
//   assert.deepEqual(await checkFits(page, '.card.offline'), []) // at the width of the page
//   await assertFits(page, '.card.offline', 'the form') // at the widths of a phone, a tablet and a desk
import assert from 'node:assert/strict'
import { resize } from './browser.js'

export const languages = ['en', 'de', 'fr', 'es']

// the desk comes last: a test continues at that size
const SIZES = [
  { viewport: { width: 390, height: 844 }, hasTouch: true },
  { viewport: { width: 820, height: 1112 }, hasTouch: true },
  { viewport: { width: 1280, height: 800 } }
]

/**
 * Fails when text of a part of a page cannot be read at one of several sizes.
 * @param {import('playwright-core').Page} page
 * @param {string} within selector of the part
 * @param {string} state of the page
 * @param {object} [options]
 * @param {() => unknown} [options.prepare] after the page was resized
 * @param {{viewport: {width: number, height: number}, hasTouch?: boolean}[]} [options.sizes]
 */
export async function assertFits (page, within, state, { prepare = () => {}, sizes = SIZES } = {}) {
  for (const size of sizes) {
    await resize(page, size)
    await prepare()
    const name = `${state}, ${size.viewport.width} pixels wide`
    assert.ok(await page.locator(within).first().isVisible(), `${name}: nothing to read`)
    assert.deepEqual(await checkFits(page, within), [], name)
  }
}

/**
 * Lists text of buttons, selects, labels, headings, links and badges in a part of a page that cannot be read. Text that
 * is hidden, or that can be scrolled into view, is not listed.
 * @param {import('playwright-core').Page} page
 * @param {string} [within] selector of the part
 * @returns {Promise<string[]>} such as `cut off: button.primary “Download”`
 */
export const checkFits = (page, within = 'body') => page.evaluate(findOffenders, within)

/** Runs in the page. @param {string} within @returns {string[]} */
function findOffenders (within) {
  const CONTROLS = 'button, select, label, summary, legend, a, h2, h3, th, dt, strong, em, ' +
    'input[type="number"], input[type="date"], [class*="badge"], [class*="state"], .title'
  const SLACK = 1.5 // pixels: boxes have fractions of pixels
  const OVERLAP = 3 // pixels: a smaller overlap in either direction is not reported, because lines have gaps

  const name = node => {
    const classes = [...node.classList].map(className => `.${className}`).join('')
    const text = (node.getAttribute('aria-label') || node.value || node.textContent).trim().replace(/\s+/g, ' ')
    return `${node.localName}${classes} “${text.slice(0, 60)}”`
  }

  const ancestors = node => {
    const list = []
    for (let each = node.parentElement; each && each !== document.body; each = each.parentElement) list.push(each)
    return list
  }

  // texts for screen readers are clipped on purpose
  const isShown = node => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    [node, ...ancestors(node)].every(element => getComputedStyle(element).clipPath === 'none')

  // text of a list that scrolls may lie, out of sight, over text below the list
  const scrollerOf = node => ancestors(node).find(ancestor => getComputedStyle(ancestor).overflowY !== 'visible')

  const stickyPart = node => [node, ...ancestors(node)].find(element => getComputedStyle(element).position === 'sticky')

  /** Boxes of the lines of text in a control. */
  const linesOf = control => {
    const walker = document.createTreeWalker(control, NodeFilter.SHOW_TEXT)
    const lines = []
    while (walker.nextNode()) {
      const text = walker.currentNode
      if (!text.textContent?.trim() || !text.parentElement || !isShown(text.parentElement)) continue
      if (text.parentElement.closest('option')) continue
      const range = document.createRange()
      range.selectNodeContents(text)
      lines.push(...[...range.getClientRects()].filter(({ width }) => width > 0))
    }
    return lines
  }

  /** Whether the value of a field is wider than the field, which a browser cuts off. */
  const isTooNarrow = field => {
    const copy = /** @type {HTMLElement} */ (field.cloneNode(true))
    if (field.localName === 'select') {
      const option = field.selectedOptions[0]?.cloneNode(true)
      copy.replaceChildren(...option ? [option] : [])
    }
    copy.style.cssText += '; position: absolute; width: max-content; min-width: 0; max-width: none; visibility: hidden'
    field.parentElement.append(copy)
    const width = copy.getBoundingClientRect().width
    copy.remove()
    return width > field.getBoundingClientRect().width + SLACK
  }

  const isCut = control => {
    if (control.matches('select, input[type="date"]')) return isTooNarrow(control)
    const isInline = getComputedStyle(control).display === 'inline'
    if (!isInline && control.scrollWidth > control.clientWidth + SLACK) return true
    const boxes = ancestors(control).filter(ancestor => getComputedStyle(ancestor).overflowX !== 'visible')
      .map(ancestor => ancestor.getBoundingClientRect())
    return linesOf(control).some(line => {
      const isOutside = box => line.left < box.left - SLACK || line.right > box.right + SLACK
      return isOutside({ left: 0, right: innerWidth }) || boxes.some(isOutside)
    })
  }

  /** Whether a place is in sight, and not scrolled away. */
  const isInSight = (control, { x, y }) => x > 0 && x < innerWidth &&
    y > 0 && y < document.documentElement.clientHeight &&
    ancestors(control).every(ancestor => {
      if (getComputedStyle(ancestor).overflowY === 'visible') return true
      const box = ancestor.getBoundingClientRect()
      return y > box.top && y < box.bottom && x > box.left && x < box.right
    })

  /** The element that covers text of a control, unless the control can be scrolled out from under it. */
  const coverOf = control => {
    if (getComputedStyle(control).pointerEvents === 'none') return undefined
    for (const line of linesOf(control)) {
      const middle = { x: line.left + line.width / 2, y: line.top + line.height / 2 }
      const top = isInSight(control, middle) ? document.elementFromPoint(middle.x, middle.y) : null
      if (!top || top.contains(control) || control.contains(top) || top.closest('label')?.contains(control)) continue
      if (stickyPart(top) === stickyPart(control)) return top
    }
  }

  const isOver = (first, second) =>
    Math.min(first.right, second.right) - Math.max(first.left, second.left) > OVERLAP &&
    Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top) > OVERLAP

  const controls = [...document.querySelectorAll(within)]
    .flatMap(part => [...part.querySelectorAll(CONTROLS)]).filter(isShown)
  const offenders = new Set(controls.filter(isCut).map(control => `cut off: ${name(control)}`))
  for (const control of controls) {
    const cover = coverOf(control)
    if (cover) offenders.add(`covered: ${name(control)} by ${name(cover)}`)
  }
  const texts = controls.map(control => ({
    control, lines: linesOf(control), sticky: stickyPart(control), scroller: scrollerOf(control)
  }))
  for (const [index, first] of texts.entries()) {
    for (const second of texts.slice(index + 1)) {
      const isNested = first.control.contains(second.control) || second.control.contains(first.control)
      if (isNested || first.sticky !== second.sticky || first.scroller !== second.scroller) continue
      if (first.lines.some(line => second.lines.some(otherLine => isOver(line, otherLine)))) {
        offenders.add(`one over the other: ${name(first.control)} and ${name(second.control)}`)
      }
    }
  }
  return [...offenders].sort()
}
