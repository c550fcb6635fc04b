// Elements without a framework. Text goes in as text: nothing that a store holds becomes markup.

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes] `on` is an object of listeners; null and false leave an attribute out
 * @param {...(Node | string | null | undefined | false)} children
 */
export function element (tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener)
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value)
  }
  node.append(...children.filter(child => child !== null && child !== undefined && child !== false))
  return node
}

const LINK = /^https?:\/\//

/**
 * The attribution of a layer: TileJSON allows HTML, of which links and text are kept.
 * @param {string} html
 * @returns {Node[]}
 */
export function attributionNodes (html) {
  const parsed = new DOMParser().parseFromString(html, 'text/html') // runs no script, loads no image
  const nodes = []
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) nodes.push(document.createTextNode(node.data))
    else if (node.tagName === 'A' && LINK.test(node.getAttribute('href'))) {
      nodes.push(element('a', { href: node.getAttribute('href'), rel: 'noopener', target: '_blank' }, node.textContent))
    } else if (!['SCRIPT', 'STYLE'].includes(node.tagName)) node.childNodes.forEach(walk)
  }
  walk(parsed.body)
  return nodes
}

/** The same as a text of markup, which is what Leaflet takes. */
export const attributionHtml = html => element('span', null, ...attributionNodes(html)).innerHTML
