// Converts the attribution of a layer to text and links, without other markup.
import { plainText } from '../../core/text.js'

const LINK = /^https?:\/\//

/**
 * An attribution as nodes: TileJSON allows HTML, of which links and text are kept, since nothing that a store holds
 * may become markup of the page.
 * @returns {Node[]}
 */
export function attributionNodes (html) {
  const parsed = new DOMParser().parseFromString(plainText(html), 'text/html') // runs no script, loads no image
  const nodes = []
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) nodes.push(document.createTextNode(node.data))
    else if (node.tagName === 'A' && LINK.test(node.getAttribute('href'))) {
      const { textContent } = node
      const link = { href: node.getAttribute('href'), rel: 'noopener', target: '_blank', textContent }
      nodes.push(Object.assign(document.createElement('a'), link))
    } else if (!/^(script|style)$/i.test(node.tagName ?? '')) node.childNodes.forEach(walk)
  }
  walk(parsed.body)
  return nodes
}

/** An attribution as a text of markup, which map libraries take. */
export function attributionHtml (html) {
  const span = document.createElement('span')
  span.append(...attributionNodes(html))
  return span.innerHTML
}
