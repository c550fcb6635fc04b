// Runs in the page before everything else: tells what the tiles of a MapLibre map show, and watches every frame that it
// draws.
/* global window */

export function installMapLibre () {
  const view = /** @type {any} */ (window)

  /** Pixels of the canvas, as the pictures of gallery.js say it: `step`, or `step<zoom.quarter` of an ancestor. */
  function read ({ z, x, y }, left, top, canvas, pixels) {
    const ratio = canvas.width / canvas.clientWidth
    const at = value => Math.round(value * ratio)
    const offset = 4 * (at(left) + canvas.width * (canvas.height - 1 - at(top)))
    const [r, g, b, a] = pixels.subarray(offset, offset + 4)
    if (!a) return '-'
    if ((r & 7) !== z) return `${r >> 3}<${r & 7}.${b & 7}`
    return g >> 3 === x && b >> 3 === y ? `${r >> 3}` : `${r >> 3} of ${g >> 3}/${b >> 3}`
  }

  view.tileSize = 256 // pixels of the page

  /** z/x/y -> what is to be seen there, of the tiles whose first quarter is in the window. */
  function picture (map = view.map) {
    const canvas = map.getCanvas()
    const gl = canvas.getContext('webgl2')
    const pixels = new Uint8Array(4 * canvas.width * canvas.height)
    gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
    const world = 512 * 2 ** map.getZoom()
    const z = Math.max(0, Math.round(Math.log2(world / view.tileSize)))
    const side = world / 2 ** z
    const [w, h] = [canvas.clientWidth, canvas.clientHeight]
    const { lng, lat } = map.getCenter()
    const { x, y } = view.maplibregl.MercatorCoordinate.fromLngLat({ lng, lat })
    const [west, north] = [x * world - w / 2, y * world - h / 2]
    const seen = {}
    for (let column = Math.floor(west / side); column * side < west + w; column++) {
      for (let row = Math.max(0, Math.floor(north / side)); row < 2 ** z && row * side < north + h; row++) {
        const [left, top] = [(column + 1 / 4) * side - west, (row + 1 / 4) * side - north]
        if (left < 1 || left > w - 1 || top < 1 || top > h - 1) continue
        const copy = Math.floor(column / 2 ** z)
        const tile = { z, x: column - copy * 2 ** z, y: row }
        seen[`${z}/${tile.x}/${row}${copy ? `#${copy}` : ''}`] = read(tile, left, top, canvas, pixels)
      }
    }
    return seen
  }

  /** Asks for a frame, and says whether one was drawn since the last call. */
  function isDrawn () {
    const { map } = view
    if (view.drawing) return view.drawing === 'done' && !(view.drawing = undefined)
    view.drawing = 'asked'
    map.once('render', () => { view.drawing = 'done' })
    map.triggerRepaint()
    return false
  }

  view.see = {
    picture,
    /** Nothing is left to load, and what is there is drawn. */
    isAtRest: (layer = view.layer) => layer.isShown() && layer.changes() !== null &&
      view.map.loaded() && !view.map.isMoving() && isDrawn(),
    /** Remembers what every frame shows, until the function it answers is called. */
    watch (map = view.map) {
      const frames = [JSON.stringify(picture(map))]
      const look = () => {
        const text = JSON.stringify(picture(map))
        if (frames.at(-1) !== text) frames.push(text)
      }
      map.on('render', look)
      view.frames = () => {
        map.off('render', look)
        return frames.map(text => JSON.parse(text))
      }
    },
    /** Events of a layer, in order, with what is told. */
    listen (types, layer = view.layer) {
      const events = view.events = []
      layer.on(types, ({ type, time, error, changes, tile }) => events.push({
        type, ...(time !== undefined && { time }), ...(error && { code: error.code }),
        ...(changes !== undefined && { changes }),
        ...(tile && { tile: `${tile.z}/${tile.x}/${tile.y}` })
      }))
    }
  }
}
