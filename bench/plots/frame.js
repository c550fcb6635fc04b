// What every chart has around it: title, names at the left, legend, axes. Places are worked out here from the number of
// letters, since nothing can measure text where there is no screen.
import { theme } from './theme.js'

const WIDTH = 760 // pixels: what a page of GitHub gives
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif'
const SIZE = 12 // pixels of a letter
const LINE = 15 // pixels from line to line
const ROOM = 66 // pixels at the right, for the figure at the end of the longest bar
const NAME = 40 // letters in a line of a name

export const [ink, soft, grid] = [theme.ink[0], theme.soft[0], theme.grid[0]]

// of the size of the font: as wide as letters are in the widest of those fonts, DejaVu and Verdana
const WIDTHS = /** @type {[RegExp, number][]} */ (
  [[/[mwMW@%…—]/, 0.98], [/[A-Z0-9]/, 0.7], [/[ijlftrI,.:;'’()/ ]/, 0.4], [/./, 0.62]]
)

const textWidth = text => Math.ceil(
  [...text].reduce((sum, letter) => sum + (WIDTHS.find(([letters]) => letters.test(letter))?.[1] ?? 1) * SIZE, 0)
)

/** Lines of at most so many letters. */
export function wrap (text, letters = NAME) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last && last.length + word.length >= letters) lines.push(word)
    else lines[lines.length - 1] = last ? `${last} ${word}` : word
  }
  return lines
}

const text = (x, y, words, style = {}) => ({
  data: { values: [{}] },
  mark: { type: 'text', align: 'left', baseline: 'middle', fontSize: SIZE, color: ink, ...style },
  encoding: { x: { value: x }, y: { value: y }, text: { value: words } }
})

/** Rows in the order in which they were given: layers would else be put one after the other. */
export const inOrder = names => ({ type: 'nominal', sort: names, axis: null })

/** Names at the left of rows, each as many lines as it needs. */
export function nameColumn (names, field) {
  const lines = names.map(name => wrap(name))
  const counts = [...new Set(lines.map(({ length }) => length))]
  return {
    width: Math.max(...lines.flat().map(line => textWidth(line))) + 14,
    height: Math.max(...counts) * LINE,
    layers: counts.map(count => ({
      data: { values: names.filter((_, at) => lines[at].length === count)
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

/** Places for the entries of a legend, row by row. @param {Entry[]} entries */
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
 * @param {number} parts.left pixels for what stands at the left
 * @param {number} parts.height pixels of the plot itself
 * @param {any[]} parts.layers
 * @param {Entry[]} [parts.legend]
 * @param {string} [parts.above] what the y axis counts
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
      ...heading.map((line, at) => text(-left, 16 + at * 20 - top, line, { fontSize: 15, fontWeight: 'bold' })),
      ...places.flatMap(
        place => [mark(place), text(place.x - left + 16, 18 + heading.length * 20 + place.row * 20 - top, place.name)]
      ),
      ...(above ? [text(-left, -14, above, { color: soft })] : [])
    ]
  }
}

/**
 * A quantitative axis with its own domain. Logarithmic ones have labels at powers of ten, or at 1, 2 and 5 where those
 * are few.
 * @param {number[]} values
 * @param {{title?: string, log?: boolean, zero?: boolean, tight?: boolean}} how tight: the axis ends with the values;
 *   without
 *   zero it begins with them
 */
export function scaled (values, { title, log = false, zero = true, tight = false }) {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const axis = { title: title ?? null, format: ',~r' }
  if (!log) {
    return { type: 'quantitative', scale: {
      domain: [zero ? Math.min(0, least) : least, most], nice: !tight, zero
    }, axis: { ...axis, tickCount: 6 } }
  }
  // nothing stands on the axis itself
  const low = zero ? Math.max(...steps(least / 10, least * 0.95, [1, 2, 5])) : least
  const tens = steps(low, most, [1])
  return { type: 'quantitative', scale: {
    type: 'log', domain: [low, most === low ? low * 10 : most], nice: false
  }, axis: { ...axis, values: tens.length > 2 ? tens : steps(low, most, [1, 2, 5]) } }
}

function steps (low, high, digits) {
  const values = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    values.push(...digits.map(digit => Number(`${digit}e${power}`)))
  }
  return values.filter(value => value >= low && value <= high)
}
