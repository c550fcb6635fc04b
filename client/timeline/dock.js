// A strip along an edge of the map, as wide as the map. Leaflet's corners are as wide as what they hold, so the strip is
// beside them, and the corners of that edge move inwards by its height: the attribution, a scale, whatever is or will be
// there stays in sight.

/**
 * Puts an element into the dock of a map. Several share one.
 * @param {import('leaflet').Map} map @param {HTMLElement} content @param {'top' | 'bottom'} edge
 * @returns {() => void} takes it out again
 */
export function dock (map, content, edge) {
  const container = map.getContainer()
  const corners = /** @type {any} */ (map)._controlContainer // where Leaflet's own controls are
  let strip = corners.querySelector(`:scope > .tilecouch-dock-${edge}`)
  if (!strip) {
    strip = document.createElement('div')
    strip.className = `tilecouch-dock tilecouch-dock-${edge}`
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
