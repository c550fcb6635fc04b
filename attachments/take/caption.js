// Writes on a picture when the map looked like this, and where it comes from: dark on a light plate, readable on every
// map, small or large.

const INK = '#17242b'
const PLATE = 'rgba(255, 255, 255, .88)'
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
const WIDEST = 0.6 // of the picture: attribution beyond it goes on in the next line

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./snapshot.js').Caption} caption
 * @param {{scale: number, written: (time: string | null) => string}} options written: a time as the page writes it
 */
export function writeCaption (context, { dates, attribution }, { scale, written }) {
  const { width, height } = context.canvas
  const large = Math.min(Math.max(Math.min(width, height) / 26, 13), 26 * scale)
  const small = Math.min(large, Math.max(10, large * 0.55))
  const margin = large * 0.5
  const widest = width - 2 * margin
  context.globalAlpha = 1
  let before = { right: -Infinity, bottom: 0 }
  for (const { left, top, time, names } of dates) {
    const title = names.filter(Boolean).join(' · ')
    const lines = [{ text: written(time), size: large, weight: 600 }, ...title ? [{ text: title, size: small }] : []]
    const { width: ownWidth } = sizeOf(context, lines, widest)
    const x = Math.min(left * width + margin, width - margin - ownWidth) // also where little of its side is seen
    const y = top * height + margin
    const isFree = x > before.right || y > before.bottom
    before = writePlate(context, lines, { x, y: isFree ? y : before.bottom + margin / 2, widest })
  }
  if (!attribution) return
  context.font = fontOf({ size: small })
  const lines = wrapped(context, attribution, WIDEST * width).map(text => ({ text, size: small }))
  const own = sizeOf(context, lines, widest)
  writePlate(context, lines, { x: width - margin - own.width, y: height - margin - own.height, widest })
}

/** @typedef {{text: string, size: number, weight?: number}} Line */

/** The size of a plate. @param {CanvasRenderingContext2D} context @param {Line[]} lines @param {number} widest */
function sizeOf (context, lines, widest) {
  const padding = lines[lines.length - 1].size * 0.5
  const widths = lines.map(line => {
    context.font = fontOf(line)
    return context.measureText(line.text).width
  })
  const inner = Math.min(Math.max(...widths), widest - 2 * padding)
  const height = lines.reduce((sum, { size }) => sum + size * 1.25, 0) + padding
  return { padding, inner, width: inner + 2 * padding, height }
}

/**
 * @param {CanvasRenderingContext2D} context @param {Line[]} lines @param {{x: number, y: number, widest: number}} place
 * @returns {{right: number, bottom: number}} where it ends
 */
function writePlate (context, lines, { x, y, widest }) {
  const { padding, inner, width, height } = sizeOf(context, lines, widest)
  context.fillStyle = PLATE
  context.beginPath()
  context.roundRect(x, y, width, height, padding)
  context.fill()
  context.fillStyle = INK
  context.textBaseline = 'middle'
  context.textAlign = 'left'
  let middle = y + padding / 2
  for (const line of lines) {
    context.font = fontOf(line)
    context.fillText(line.text, x + padding, middle + line.size * 0.625, inner) // narrower, where it does not fit
    middle += line.size * 1.25
  }
  return { right: x + width, bottom: y + height }
}

const fontOf = ({ size, weight = 400 }) => `${weight} ${Math.round(size)}px ${FONT}`

/** A text in lines of a width, as far as its words allow. */
function wrapped (context, text, widest) {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim()
    if (lines[lines.length - 1] && context.measureText(longer).width > widest) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
