// The frame of every chart: title, names at the left, legend and axes. Positions are computed from the number of
// letters, because text cannot be measured without a screen.
import { theme } from './theme.js'

const WIDTH = 760 // pixels: the width of a page on GitHub
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif'
const SIZE = 12 // pixels of a letter
const LINE = 15 // pixels between two lines
const ROOM = 66 // pixels at the right, for the figure behind the longest bar
const NAME = 40 // letters per line of a name

export const [ink, soft, grid] = [theme.ink[0], theme.soft[0], theme.grid[0]]

// Widths in font sizes, as in the widest of these fonts, DejaVu and Verdana.
const WIDTHS = /** @type {[RegExp, number][]} */ (
  [[/[mwMW@%…—]/, 0.98], [/[A-Z0-9]/, 0.7], [/[ijlftrI,.:;'’()/ ]/, 0.4], [/./, 0.62]]
)

const textWidth = text => Math.ceil(
  [...text].reduce((sum, letter) => sum + (WIDTHS.find(([letters]) => letters.test(letter))?.[1] ?? 1) * SIZE, 0)
)

/** Splits a text into lines of at most `letters` letters. */
export function wrap (text, letters = NAME) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const lastLine = lines[lines.length - 1]
    if (lastLine && lastLine.length + word.length >= letters) lines.push(word)
    else lines[lines.length - 1] = lastLine ? `${lastLine} ${word}` : word
  }
  return lines
}

const text = (x, y, words, style = {}) => ({
  data: { values: [{}] },
  mark: { type: 'text', align: 'left', baseline: 'middle', fontSize: SIZE, color: ink, ...style },
  encoding: { x: { value: x }, y: { value: y }, text: { value: words } }
})

/** Keeps rows in their given order: layers would otherwise be put one after the other. */
export const inOrder = names => ({ type: 'nominal', sort: names, axis: null })

/** Names at the left of rows, each with as many lines as it needs. */
export function nameColumn (names, field) {
  const lines = names.map(name => wrap(name))
  const counts = [...new Set(lines.map(({ length }) => length))]
  return {
    width: Math.max(...lines.flat().map(line => textWidth(line))) + 14,
    height: Math.max(...counts) * LINE,
    layers: counts.map(count => ({
      data: { values: names.filter((_, index) => lines[index].length === count)
        .map(name => ({ [field]: name, words: wrap(name).join('\n') })) },
      mark: {
        type: 'text', align: 'right', baseline: 'middle', lineBreak: '\n',
        lineHeight: LINE, fontSize: SIZE, color: ink, dy: -(count - 1) * LINE / 2
      },
      encoding: { x: { value: -8 }, y: { field, ...inOrder(names) }, text: { field: 'words' } }
    }))
  }
}

/** @typedef {{name: string, colour: string, shape?: string}} Entry */

/** The positions of the entries of a legend, row by row. @param {Entry[]} entries */
function legendPlaces (entries) {
  let [x, row] = [0, 0]
  const places = entries.map(entry => {
    const width = textWidth(entry.name) + 36
    if (x && x + width > WIDTH) [x, row] = [0, row + 1]
    const place = { ...entry, x, row }
    x += width
    return place
  })
  return { places, rows: entries.length ? row + 1 : 0 }
}

/**
 * @param {object} parts
 * @param {string} parts.title
 * @param {number} parts.left pixels of the column at the left
 * @param {number} parts.height pixels of the plot itself
 * @param {any[]} parts.layers
 * @param {Entry[]} [parts.legend]
 * @param {string} [parts.above] title of the y axis
 */
export function frame ({ title, left, height, layers, legend = [], above = '' }) {
  const heading = wrap(title, 88)
  const { places, rows } = legendPlaces(legend)
  const top = 8 + heading.length * 20 + rows * 20 + (above ? 20 : 4)
  const mark = ({ x, row, colour, shape = 'square' }) => ({
    data: { values: [{}] }, mark: { type: 'point', filled: true, opacity: 1, size: 80, shape, color: colour },
    encoding: { x: { value: x - left + 6 }, y: { value: 18 + heading.length * 20 + row * 20 - top } }
  })
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    usermeta: { title },
    width: WIDTH - left - ROOM,
    height,
    autosize: 'none',
    padding: { left, right: ROOM, top, bottom: 46 },
    background: null,
    config: {
      aria: false, font: FONT, view: { stroke: null },
      axis: {
        labelColor: soft, titleColor: soft, labelFontSize: SIZE, titleFontSize: SIZE,
        titleFontWeight: 'normal', domainColor: soft, tickColor: soft,
        gridColor: grid, labelLimit: 0, titleLimit: 0, labelFlush: false, labelOverlap: false
      }
    },
    layer: [
      ...layers,
      ...heading.map((line, index) => text(-left, 16 + index * 20 - top, line, { fontSize: 15, fontWeight: 'bold' })),
      ...places.flatMap(
        place => [mark(place), text(place.x - left + 16, 18 + heading.length * 20 + place.row * 20 - top, place.name)]
      ),
      ...(above ? [text(-left, -14, above, { color: soft })] : [])
    ]
  }
}

/**
 * A quantitative axis with its own domain. Logarithmic axes have labels at powers of ten, or at 1, 2 and 5 if those are
 * few.
 * @param {number[]} values
 * @param {{title?: string, log?: boolean, zero?: boolean, tight?: boolean}} how tight: the axis ends at the values;
 *   without
 *   zero it begins at the values
 */
export function scaled (values, { title, log = false, zero = true, tight = false }) {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  const axis = { title: title ?? null, format: ',~r' }
  if (!log) {
    return { type: 'quantitative', scale: {
      domain: [zero ? Math.min(0, lowest) : lowest, highest], nice: !tight, zero
    }, axis: { ...axis, tickCount: 6 } }
  }
  // no value lies on the axis itself
  const low = zero ? Math.max(...steps(lowest / 10, lowest * 0.95, [1, 2, 5])) : lowest
  const powersOfTen = steps(low, highest, [1])
  return { type: 'quantitative', scale: {
    type: 'log', domain: [low, highest === low ? low * 10 : highest], nice: false
  }, axis: { ...axis, values: powersOfTen.length > 2 ? powersOfTen : steps(low, highest, [1, 2, 5]) } }
}

function steps (low, high, digits) {
  const values = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    values.push(...digits.map(digit => Number(`${digit}e${power}`)))
  }
  return values.filter(value => value >= low && value <= high)
}
