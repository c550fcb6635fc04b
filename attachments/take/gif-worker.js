// A worker that makes a GIF: it chooses the colours of each frame and packs it.
//   receives   { pixels: ArrayBuffer, width, height, delay }   a frame, RGBA; delay in milliseconds
//              {}                                              after the last frame
//   answers    {} after a frame, { bytes } of the file, or { error, isRoom }; isRoom: not enough memory
import { GIFEncoder, applyPalette, quantize } from 'gifenc'

const COLOURS = 256
const gif = GIFEncoder()
/** @type {Uint32Array | null} pixels of the last frame */
let last = null

addEventListener('message', ({ data }) => {
  try {
    if (data.pixels) {
      add(data)
      postMessage({})
    } else {
      gif.finish()
      const bytes = gif.bytes()
      postMessage({ bytes }, { transfer: [bytes.buffer] })
    }
  } catch (error) {
    postMessage({ error: error.message, isRoom: error instanceof RangeError })
  }
})

function add ({ pixels, width, height, delay }) {
  const now = new Uint32Array(pixels)
  if (last) addChanges(now, last, { width, height, delay })
  else {
    const rgba = new Uint8Array(pixels)
    const palette = quantize(rgba, COLOURS)
    gif.writeFrame(applyPalette(rgba, palette), width, height, { palette, delay })
  }
  last = now
}

/** Pixels that stay the same are transparent: they take no bytes, and do not flicker with other colours of a frame. */
function addChanges (now, before, { width, height, delay }) {
  const places = []
  for (let place = 0; place < now.length; place++) if (now[place] !== before[place]) places.push(place)
  const changed = Uint32Array.from(places, place => now[place])
  const rgba = new Uint8Array(changed.buffer)
  const palette = places.length ? quantize(rgba, COLOURS - 1) : []
  const colours = places.length ? applyPalette(rgba, palette) : []
  const transparentIndex = palette.length
  const index = new Uint8Array(now.length).fill(transparentIndex)
  places.forEach((place, order) => { index[place] = colours[order] })
  const options = { palette: [...palette, [0, 0, 0]], delay, transparent: true, transparentIndex, dispose: 1 }
  gif.writeFrame(index, width, height, options)
}
