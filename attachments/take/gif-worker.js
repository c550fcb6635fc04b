// The worker that makes a GIF: chooses the colours of each frame and packs it. Runs beside the page.
//   in   { pixels: ArrayBuffer, width, height, delay }   a frame, RGBA; delay in milliseconds
//        {}                                              that was all
//   out  { }   the frame is in   { bytes }   the file   { error }   neither
import { GIFEncoder, applyPalette, quantize } from 'gifenc'

const COLOURS = 256
const gif = GIFEncoder()
/** @type {Uint32Array | null} pixels of the frame before */
let before = null

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
  if (before) addChanges(now, before, { width, height, delay })
  else {
    const rgba = new Uint8Array(pixels)
    const palette = quantize(rgba, COLOURS)
    gif.writeFrame(applyPalette(rgba, palette), width, height, { palette, delay })
  }
  before = now
}

/** What stays is see-through: it takes no room, and does not flicker where the colours are chosen anew. */
function addChanges (now, last, { width, height, delay }) {
  const places = []
  for (let at = 0; at < now.length; at++) if (now[at] !== last[at]) places.push(at)
  const changed = Uint32Array.from(places, at => now[at])
  const rgba = new Uint8Array(changed.buffer)
  const palette = places.length ? quantize(rgba, COLOURS - 1) : []
  const colours = places.length ? applyPalette(rgba, palette) : []
  const transparentIndex = palette.length
  const index = new Uint8Array(now.length).fill(transparentIndex)
  for (let at = 0; at < places.length; at++) index[places[at]] = colours[at]
  const options = { palette: [...palette, [0, 0, 0]], delay, transparent: true, transparentIndex, dispose: 1 }
  gif.writeFrame(index, width, height, options)
}
