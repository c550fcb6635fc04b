/* global document, window, L, requestAnimationFrame -- of the page, in functions that run there */
// Puts a map with a layer on a page that has the address of a store as `db`, and reads what the map shows.

/**
 * Runs in the page before everything else: reads what tiles show, counts object URLs and timers, and records frames.
 * @param {boolean} [isPatient] keeps long timeouts, which are shortened otherwise
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
  const { setTimeout: startTimer, clearTimeout: stopTimer } = window
  view.setTimeout = (run, delay = 0, ...values) => {
    const id = startTimer.call(window, (...args) => {
      timers.delete(id)
      run(...args)
    }, delay > 2000 && !isPatient ? delay / 10 : delay, ...values)
    timers.add(id)
    return id
  }
  view.clearTimeout = id => {
    timers.delete(id)
    stopTimer.call(window, id)
  }

  /**
   * The content of an image at a point of a tile, as gallery.js colours it: `step`, or `step<zoom.quarter` of an
   * ancestor, or `step@x.y` of another place.
   */
  function read (image, box, z, place) {
    const [outer, inner] = [box.getBoundingClientRect(), image.getBoundingClientRect()]
    const share = (start, size, from, length) => Math.min(0.999, Math.max(0, (start + size / 4 - from) / length))
    const [fx, fy] =
      [share(outer.left, outer.width, inner.left, inner.width), share(outer.top, outer.height, inner.top, inner.height)]
    // a new image may come from the same address
    if (!colours.has(image)) image.addEventListener('load', () => { colours.set(image, {}) })
    const samples = colours.get(image) ?? {}
    colours.set(image, samples)
    const point = `${image.src} ${fx} ${fy}`
    samples[point] ??= (() => {
      context.clearRect(0, 0, 1, 1)
      context.imageSmoothingEnabled = false
      context.drawImage(image, Math.floor(fx * image.naturalWidth),
        Math.floor(fy * image.naturalHeight), 1, 1, 0, 0, 1, 1)
      const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data
      return { step: r >> 3, z: r & 7, x: g >> 3, y: b >> 3, quarter: b & 7, clear: a === 0 }
    })()
    const { step, z: imageZoom, x, y, clear, quarter } = samples[point]
    if (clear) return '-'
    if (imageZoom !== z % 8) return `${step}<${imageZoom}.${quarter}`
    return x === place.x % 32 && y === place.y % 32 ? `${step}` : `${step}@${x}.${y}`
  }

  function shows (el, z, place) {
    const images = el.tagName === 'IMG' ? [el].filter(image => image.naturalWidth) : [...el.querySelectorAll('img')]
    const failed = el.classList.contains('tilecouch-failed') ? '!' : ''
    return (images.map(image => image.complete && image.naturalWidth ? read(image, el, z, place) : '?').join('+') ||
      '-') + failed
  }

  /**
   * z/x/y -> the text of `shows`, for the tiles in the window. Copies of the world are marked with their number.
   * @param {any} [layer] @param {boolean} [everyZoom] also tiles of a zoom that is being left
   */
  function picture (layer = view.layer, everyZoom = false) {
    const texts = {}
    const frame = layer._map.getContainer().getBoundingClientRect()
    for (const { el, coords, current } of Object.values(layer._tiles)) {
      const { left, top, right, bottom } = el.getBoundingClientRect()
      if (!(current || everyZoom) || right <= frame.left + 1 || left >= frame.right - 1 ||
        bottom <= frame.top + 1 || top >= frame.bottom - 1) continue
      const z = coords.z + (layer.options.zoomOffset ?? 0)
      const across = 2 ** z
      const copy = Math.floor(coords.x / across)
      const opacity = +view.getComputedStyle(el).opacity
      const place = { x: coords.x - copy * across, y: coords.y }
      texts[`${z}/${place.x}/${place.y}${copy ? `#${copy}` : ''}`] = shows(el, z, place) + (opacity === 1 ? '' : '~')
    }
    return texts
  }

  /** The middles of the tiles in the window, by z/x/y: longitude and latitude. */
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
    /** Whether everything is loaded, and new tiles have faded in. */
    isAtRest: (layer = view.layer) => layer.isShown() && layer.changes() !== null &&
      !Object.values(picture(layer)).some(text => /[~?+]/.test(text)),
    urls: () => ({ made: urls.made, open: urls.open.size }),
    timers: () => timers.size,
    /** Records the pictures of frames until `frames()` is called. @param {any} [layer] @param {boolean} [everyZoom] */
    watch (layer = view.layer, everyZoom = false) {
      const frames = []
      let on = true
      const take = () => {
        const text = JSON.stringify(picture(layer, everyZoom))
        if (frames.at(-1) !== text) frames.push(text)
      }
      const look = () => {
        if (!on) return
        take()
        requestAnimationFrame(look)
      }
      look()
      view.frames = () => {
        take() // the last frame may not be recorded yet
        on = false
        return frames.map(text => JSON.parse(text))
      }
    },
    /** Records the events of a layer with their data, in order. */
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
 * Creates `map` and `layer` of the window. By default nothing is fetched in advance.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; and `map`: of the map, whose `crs` is the name of a grid or
 *   {code, ...options} of L.Proj.CRS, `kind: 'couch'`, `offline: true`: the OfflineStore of the window
 */
export function draw (page, layer, { map = {}, kind = 'history', ...options } = {}) {
  return page.evaluate(([name, mapOptions, { offline, ...layerOptions }, couch]) => {
    const view = window
    if (view.map instanceof L.Map) view.map.remove() // until then it is the element of that id
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

/** Waits until everything in view is drawn, and returns the picture. */
export async function waitForRest (page) {
  await page.waitForFunction(() => window.see.isAtRest())
  return page.evaluate(() => window.see.picture())
}

/** Sets the time of the layer, waits, and returns the picture. */
export async function pictureAt (page, time) {
  await page.evaluate(value => { window.layer.setTime(value) }, time)
  return waitForRest(page)
}
