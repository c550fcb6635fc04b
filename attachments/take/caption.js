// Writes the date and the sources on a picture: dark text on a light plate, which can be read on every map.

const INK = '#17242b'
const PLATE = 'rgba(255, 255, 255, .88)'
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
const WIDEST = 0.6 // share of the picture: a longer attribution continues in the next line

/** @typedef {{text: string, size: number, weight?: number}} Line */

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
  const plateOf = lines => measure(context, lines, width - 2 * margin)
  context.globalAlpha = 1
  let previous = { right: -Infinity, bottom: 0 }
  for (const { left, top, time, names } of dates) {
    const title = { text: names.filter(Boolean).join(' · '), size: small }
    const plate = plateOf([{ text: written(time), size: large, weight: 600 }, ...title.text ? [title] : []])
    const x = Math.min(left * width + margin, width - margin - plate.width) // even if its side is narrow
    const y = top * height + margin
    const isFree = x > previous.right || y > previous.bottom
    previous = paintPlate(context, plate, x, isFree ? y : previous.bottom + margin / 2)
  }
  if (!attribution) return
  context.font = fontOf({ size: small })
  const plate = plateOf(wrap(context, attribution, WIDEST * width).map(text => ({ text, size: small })))
  paintPlate(context, plate, width - margin - plate.width, height - margin - plate.height)
}

/** The size of a plate. @param {CanvasRenderingContext2D} context @param {Line[]} lines @param {number} maxWidth */
function measure (context, lines, maxWidth) {
  const padding = lines[lines.length - 1].size * 0.5
  const widths = lines.map(line => {
    context.font = fontOf(line)
    return context.measureText(line.text).width
  })
  const width = Math.min(Math.max(...widths) + 2 * padding, maxWidth)
  return { lines, padding, width, height: lines.reduce((sum, { size }) => sum + size * 1.25, 0) + padding }
}

/** @returns {{right: number, bottom: number}} edges of the plate */
function paintPlate (context, { lines, padding, width, height }, x, y) {
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
    context.fillText(line.text, x + padding, middle + line.size * 0.625, width - 2 * padding) // narrower if too long
    middle += line.size * 1.25
  }
  return { right: x + width, bottom: y + height }
}

const fontOf = ({ size, weight = 400 }) => `${weight} ${Math.round(size)}px ${FONT}`

/** Lines of at most a width, broken between words. */
function wrap (context, text, maxWidth) {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim()
    if (lines[lines.length - 1] && context.measureText(longer).width > maxWidth) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
