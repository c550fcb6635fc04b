// Helpers that build the elements of the controls, and the strip at the edge of the map that holds a timeline.
import { plainText } from '../../core/text.js'

const SVG = 'http://www.w3.org/2000/svg'

/** Paths on a grid of 24 by 24. Filled ones start with F. */
const ICONS = {
  first: 'FM6 5.5h2v13H6zM18.5 6v12L9.5 12z',
  previous: 'M14.5 6 8.5 12l6 6',
  play: 'FM8 5.2v13.6L19 12z',
  pause: 'FM7 5.5h3.6v13H7zM13.4 5.5H17v13h-3.6z',
  next: 'M9.5 6l6 6-6 6',
  last: 'FM16 5.5h2v13h-2zM5.5 6v12l9-6z',
  newest: 'M4 12h12M11 7l5 5-5 5M20 5v14',
  range: 'M8 5H4.5v14H8M16 5h3.5v14H16M12 9v6M9 12h6',
  clear: 'M8 5H4.5v14H8M16 5h3.5v14H16M9.5 9.5l5 5M14.5 9.5l-5 5',
  toRange: 'M4 5v14M20 5v14M8 12h8M10.5 9.5 8 12l2.5 2.5M13.5 9.5 16 12l-2.5 2.5',
  loop: 'M17 3.5 20 6.5l-3 3M20 6.5H8a4 4 0 0 0-4 4v1M7 20.5l-3-3 3-3M4 17.5h12a4 4 0 0 0 4-4v-1',
  more: ['FM12 4.2', 'M12 10.2', 'M12 16.2'].map(start => `${start}a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6`).join(''),
  swap: 'M9.5 6.5 4 12l5.5 5.5M14.5 6.5 20 12l-5.5 5.5'
}

/**
 * Makes an element. Texts become text nodes: no text of a store becomes markup, or is shown in another order than it
 * has.
 * @param {Record<string, any> | null} [attributes] `text` is the text, `on` an object of listeners; null and false are
 *   left out
 * @param {...any} children nodes, texts, or lists of them; null, undefined and false are left out
 * @returns {any}
 */
export function element (tag, attributes, ...children) {
  const node = document.createElement(tag)
  const { on = {}, ...otherAttributes } = attributes ?? {}
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener)
  write(node, otherAttributes)
  const visibleChildren = children.flat().filter(child => child !== null && child !== undefined && child !== false)
  node.append(...visibleChildren.map(child => typeof child === 'object' ? child : plainText(child)))
  return node
}

/** @returns {any} an SVG element */
export function svg (tag, attributes = {}, children = []) {
  const node = document.createElementNS(SVG, tag)
  write(node, attributes)
  node.append(...children)
  return node
}

/** A picture that screen readers skip. */
export const picture = (attributes, children) =>
  svg('svg', { 'aria-hidden': 'true', focusable: 'false', ...attributes }, children)

/** Sets the attributes that differ, so that nothing is repainted or read aloud again without a change. */
export function write (node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') {
      const text = plainText(value)
      if (node.textContent !== text) node.textContent = text
    } else if (value === null || value === false || value === undefined) node.removeAttribute(name)
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? '' : String(value))
  }
}

/** @param {keyof typeof ICONS} name */
export function icon (name) {
  const path = ICONS[name]
  const isFilled = path.startsWith('F')
  const shape = svg('path', { d: isFilled ? path.slice(1) : path })
  const classes = isFilled ? 'tilecouch-icon tilecouch-icon-filled' : 'tilecouch-icon'
  return picture({ viewBox: '0 0 24 24', width: 22, height: 22, class: classes }, [shape])
}

/**
 * Makes a button with an icon, and a name for screen readers and as its title.
 * @param {keyof typeof ICONS} name
 */
export function iconButton (name, label, act, className = '') {
  const classes = `tilecouch-button ${className}`.trim()
  const on = { click: act }
  return element('button', { type: 'button', class: classes, 'aria-label': label, title: label, on }, icon(name))
}

/** A handle that moves sideways; `aria-valuenow` and the like are written by its owner. */
export const slider = (className, label, ...children) => element('div', {
  class: className, role: 'slider', tabindex: 0, 'aria-label': label, 'aria-orientation': 'horizontal'
}, ...children)

/** Sets another icon and name of a button. */
export function rename (button, name, label) {
  write(button, { 'aria-label': label, title: label })
  if (button.dataset.icon === name) return
  button.dataset.icon = name
  button.replaceChildren(icon(name))
}

/** Events that drag, zoom or turn a map: they do not leave an element over the map. */
const MAP_EVENTS = ['pointerdown', 'mousedown', 'touchstart', 'dblclick', 'contextmenu', 'wheel']

/** @param {HTMLElement} content */
export function keepFromMap (content) {
  for (const type of MAP_EVENTS) content.addEventListener(type, event => event.stopPropagation(), { passive: true })
}

/**
 * Puts an element into the strip along an edge of a map. Several share one.
 * @param {HTMLElement} container of the map
 * @param {HTMLElement} corners where the map has its own controls
 * @param {HTMLElement} content
 * @param {'top' | 'bottom'} edge
 * @returns {() => void} removes it again
 */
export function dock (container, corners, content, edge) {
  let strip = /** @type {any} */ (corners.querySelector(`:scope > .tilecouch-dock-${edge}`))
  if (!strip) {
    strip = element('div', { class: `tilecouch-dock tilecouch-dock-${edge}` })
    corners.append(strip)
  }
  strip.append(content)

  const property = `--tilecouch-dock-${edge}`
  const measure = () => {
    container.style.setProperty(property, `${strip.offsetHeight}px`)
    container.classList.add(`tilecouch-docked-${edge}`)
  }
  const observer = new ResizeObserver(measure)
  observer.observe(strip)
  measure()

  return () => {
    observer.disconnect()
    content.remove()
    if (strip.childElementCount) return measure()
    strip.remove()
    container.style.removeProperty(property)
    container.classList.remove(`tilecouch-docked-${edge}`)
  }
}
