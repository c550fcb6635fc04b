/* global document, window, L, requestAnimationFrame -- of the page, in functions that run there */
// A map with a layer on it, in a page that has a store's address as `db`, and what is to be seen there.

/**
 * Runs in the page before everything else: tells what tiles show, counts object URLs and timers, and watches frame by
 * frame.
 * @param {boolean} [isPatient] sits through long waits, which are cut short otherwise
 */
export function install (isPatient = false) {
  const view = window
  const colours = new WeakMap()
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d', { willReadFrequently: true })

  const urls = { made: 0, open: new Set() }
  const { createObjectURL, revokeObjectURL } = URL
  URL.createObjectURL = blob => {
    const url = createObjectURL.call(URL, blob)
    urls.made++
    urls.open.add(url)
    return url
  }
  URL.revokeObjectURL = url => {
    urls.open.delete(url)
    revokeObjectURL.call(URL, url)
  }

  const timers = new Set()
  const { setTimeout: later, clearTimeout: never } = window
  view.setTimeout = (run, delay = 0, ...values) => {
    const id = later.call(window, (...given) => {
      timers.delete(id)
      run(...given)
    }, delay > 2000 && !isPatient ? delay / 10 : delay, ...values)
    timers.add(id)
    return id
  }
  view.clearTimeout = id => {
    timers.delete(id)
    never.call(window, id)
  }

  /**
   * What an image shows at a point of a tile, as the pictures of gallery.js say it: `step`, or `step<zoom.quarter` of
   * an ancestor, or `step@x.y` of another place.
   */
  function read (image, box, z, place) {
    const [outer, inner] = [box.getBoundingClientRect(), image.getBoundingClientRect()]
    const share = (start, size, from, length) => Math.min(0.999, Math.max(0, (start + size / 4 - from) / length))
    const [fx, fy] =
      [share(outer.left, outer.width, inner.left, inner.width), share(outer.top, outer.height, inner.top, inner.height)]
    const known = colours.get(image) ?? {}
    colours.set(image, known)
    const point = `${image.src} ${fx} ${fy}`
    known[point] ??= (() => {
      context.clearRect(0, 0, 1, 1)
      context.imageSmoothingEnabled = false
      context.drawImage(image, Math.floor(fx * image.naturalWidth),
        Math.floor(fy * image.naturalHeight), 1, 1, 0, 0, 1, 1)
      const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data
      return { step: r >> 3, z: r & 7, x: g >> 3, y: b >> 3, quarter: b & 7, clear: a === 0 }
    })()
    const { step, z: own, x, y, clear, quarter } = known[point]
    if (clear) return '-'
    if (own !== z % 8) return `${step}<${own}.${quarter}`
    return x === place.x % 32 && y === place.y % 32 ? `${step}` : `${step}@${x}.${y}`
  }

  function shows (el, z, place) {
    const images = el.tagName === 'IMG' ? (el.naturalWidth ? [el] : []) : [...el.querySelectorAll('img')]
    const failed = el.classList.contains('tilecouch-failed') ? '!' : ''
    return (images.map(image => image.complete && image.naturalWidth ? read(image, el, z, place) : '?').join('+') ||
      '-') + failed
  }

  /**
   * z/x/y -> what is to be seen there, of the tiles in the window. Copies of the world are marked with their number.
   * @param {any} [layer] @param {boolean} [all] also tiles of a zoom that is being left
   */
  function picture (layer = view.layer, all = false) {
    const seen = {}
    const frame = layer._map.getContainer().getBoundingClientRect()
    for (const { el, coords, current } of Object.values(layer._tiles)) {
      const { left, top, right, bottom } = el.getBoundingClientRect()
      if (!(current || all) || right <= frame.left + 1 || left >= frame.right - 1 ||
        bottom <= frame.top + 1 || top >= frame.bottom - 1) continue
      const z = coords.z + (layer.options.zoomOffset ?? 0)
      const across = 2 ** z
      const copy = Math.floor(coords.x / across)
      const opacity = +view.getComputedStyle(el).opacity
      const place = { x: coords.x - copy * across, y: coords.y }
      seen[`${z}/${place.x}/${place.y}${copy ? `#${copy}` : ''}`] = shows(el, z, place) + (opacity === 1 ? '' : '~')
    }
    return seen
  }

  /** Where the middles of the tiles in the window are, by z/x/y: longitude and latitude. */
  function places (layer = view.layer) {
    const { left, top } = layer._map.getContainer().getBoundingClientRect()
    return Object.fromEntries(Object.values(layer._tiles).filter(({ current }) => current).map(({ el, coords }) => {
      const box = el.getBoundingClientRect()
      const { lng, lat } =
        layer._map.containerPointToLatLng([box.left - left + box.width / 2, box.top - top + box.height / 2])
      return [`${coords.z + (layer.options.zoomOffset ?? 0)}/${coords.x}/${coords.y}`, [lng, lat]]
    }))
  }

  view.see = {
    picture,
    places,
    /** Nothing is left to load, and the fading of new tiles is over. */
    isAtRest: (layer = view.layer) => layer.isShown() && layer.changes() !== null &&
      !Object.values(picture(layer)).some(text => /[~?+]/.test(text)),
    urls: () => ({ made: urls.made, open: urls.open.size }),
    timers: () => timers.size,
    /** Remembers what every frame shows, until `frames()` is called. @param {any} [layer] @param {boolean} [all] */
    watch (layer = view.layer, all = false) {
      const frames = []
      let on = true
      const take = () => {
        const text = JSON.stringify(picture(layer, all))
        if (frames.at(-1) !== text) frames.push(text)
      }
      const look = () => {
        if (!on) return
        take()
        requestAnimationFrame(look)
      }
      look()
      view.frames = () => {
        take() // what the last frame shows may not have been looked at
        on = false
        return frames.map(text => JSON.parse(text))
      }
    },
    /** Events of a layer, in order, with what is told. */
    listen (types, layer = view.layer) {
      const events = []
      for (const type of types.split(' ')) {
        layer.on(type, ({ time, error, changes, coords, first, last }) => events.push({
          type, ...(time !== undefined && { time }), ...(error && { code: error.code }),
          ...(changes !== undefined && { changes }),
          ...(coords && { tile: `${coords.z}/${coords.x}/${coords.y}` }), ...(first && { first, last })
        }))
      }
      view.events = events
    }
  }
}

/**
 * Makes `map` and `layer` of the window. Nothing is fetched in advance, unless told otherwise.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; and `map`: of the map, whose `crs` is the name of a grid or
 *   {code, ...options} of L.Proj.CRS, `kind: 'couch'`, `offline: true`: the OfflineStore of the window
 */
export function draw (page, layer, { map = {}, kind = 'history', ...options } = {}) {
  return page.evaluate(([name, mapOptions, { offline, ...layerOptions }, couch]) => {
    const view = window
    if (view.map instanceof L.Map) view.map.remove() // by nature it is the element of that id
    const { crs } = mapOptions
    const system = typeof crs === 'string' ? L.CRS[crs] ?? L.couch.crs(crs)
      : crs && new L.Proj.CRS(crs.code, crs.definition, crs)
    view.map = L.map('map', { center: [0, 0], zoom: 3, ...mapOptions, ...(crs && { crs: system }) })
    view.layer = (couch ? L.tileLayer.couch : L.tileLayer.couch.history)(view.db,
      { layer: name, ...(!couch && { preload: 0 }), ...(offline && { offline: view.offline }), ...layerOptions })
    view.see.listen('timeload changes tileerror storeerror storeback layerload extent')
    view.layer.addTo(view.map)
  }, [layer, map, options, kind === 'couch'])
}

/** Waits until everything in view is drawn, and says what it is. */
export async function rest (page) {
  await page.waitForFunction(() => window.see.isAtRest())
  return page.evaluate(() => window.see.picture())
}

/** Moves the clock, waits, and says what is to be seen. */
export async function at (page, time) {
  await page.evaluate(value => { window.layer.setTime(value) }, time)
  return rest(page)
}
