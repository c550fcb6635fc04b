/* global window, L -- of the page, in functions that run there */
// A map with a layer on it, in a page that has install() of in-page.js and a store's address as `db`.

/**
 * Makes `map` and `layer` of the window. Nothing is fetched in advance, unless told otherwise.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; and `map`: of the map, whose `crs` is the name of a grid or
 *   {code, ...options} of L.Proj.CRS, `kind: 'couch'`, `offline: true`: the OfflineStore of the window
 */
export function draw (page, layer, { map = {}, kind = 'history', ...options } = {}) {
  return page.evaluate(([name, mapOptions, { offline, ...layerOptions }, couch]) => {
    const view = /** @type {any} */ (window)
    if (view.map instanceof L.Map) view.map.remove() // by nature it is the element of that id
    const { crs } = mapOptions
    const system = typeof crs === 'string' ? L.CRS[crs] ?? L.couch.crs(crs)
      : crs && new L.Proj.CRS(crs.code, crs.definition, crs)
    view.map = L.map('map', { center: [0, 0], zoom: 3, ...mapOptions, ...(crs && { crs: system }) })
    view.layer = (couch ? L.tileLayer.couch : L.tileLayer.couch.history)(view.db,
      { layer: name, ...(!couch && { preload: 0 }), ...(offline && { offline: view.offline }), ...layerOptions })
    view.see.listen('timeload changes tileerror storeerror storeback layerload extent')
    view.layer.addTo(view.map)
  }, /** @type {any} */ ([layer, map, options, kind === 'couch']))
}

/** Waits until everything in view is drawn, and says what it is. */
export async function rest (page) {
  await page.waitForFunction(() => /** @type {any} */ (window).see.isAtRest())
  return page.evaluate(() => /** @type {any} */ (window).see.picture())
}

/** Moves the clock, waits, and says what is to be seen. */
export async function at (page, time) {
  await page.evaluate(value => { /** @type {any} */ (window).layer.setTime(value) }, time)
  return rest(page)
}
