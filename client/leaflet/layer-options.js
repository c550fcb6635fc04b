// Converts a layer's document to options of Leaflet.

/** @param {number} overzoom zooms beyond the last one in which tiles are enlarged @returns {Record<string, any>} */
export function leafletOptions (doc, overzoom) {
  const { minzoom = 0, maxzoom = 18, bounds, tileSize = 256, attribution } = doc
  const shift = Math.log2(tileSize / 256) // a tile of 512 pixels covers four of Leaflet's next zoom
  return {
    minZoom: Math.max(0, minzoom + shift),
    maxNativeZoom: maxzoom + shift,
    maxZoom: maxzoom + shift + overzoom,
    zoomOffset: -shift,
    tileSize,
    // also when undefined: an earlier document may have had bounds
    bounds: bounds && corners(bounds),
    attribution: attribution && attributionHtml(attribution)
  }
}

/** South-west and north-east; a box over the antimeridian continues beyond 180 degrees. */
export const corners = ([west, south, east, north]) => [[south, west], [north, east < west ? east + 360 : east]]

const LINK = /^https?:\/\//

/**
 * An attribution as nodes: TileJSON allows HTML, of which links and text are kept, since nothing that a store holds
 * may become markup of the page.
 * @returns {Node[]}
 */
export function attributionNodes (html) {
  const parsed = new DOMParser().parseFromString(html, 'text/html') // runs no script, loads no image
  const nodes = []
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) nodes.push(document.createTextNode(node.data))
    else if (node.tagName === 'A' && LINK.test(node.getAttribute('href'))) {
      const link = document.createElement('a')
      Object.assign(link, { href: node.getAttribute('href'), rel: 'noopener', target: '_blank', textContent: node.textContent })
      nodes.push(link)
    } else if (!/^(script|style)$/i.test(node.tagName ?? '')) node.childNodes.forEach(walk)
  }
  walk(parsed.body)
  return nodes
}

/** The same as a text of markup, which is what Leaflet takes. */
export function attributionHtml (html) {
  const span = document.createElement('span')
  span.append(...attributionNodes(html))
  return span.innerHTML
}
