// A plot with bars over time, as an image for those who see it: a section that shows one puts a table with its numbers
// beside it. It is drawn as wide as its place, so that its texts stay readable.
import { element, svg, write } from '../../client/timeline/dom.js'

const HEIGHT = 150 // pixels
const [TOP, BOTTOM] = [10, 22] // pixels above and below the bars
const LETTER = 6.6 // pixels that a letter of the scale takes
const LEAST = 15 // pixels from one bar to the next
const LABEL = 66 // pixels from one label to the next

/**
 * @typedef {{label: string, value: number, text: string}} Bar label: below it; text: its value in words
 * @param {string} kind class of the plot, which colours its bars
 * @param {(value: number) => string} format of the scale
 */
export function plot (kind, format) {
  const picture = svg('svg', { role: 'img', height: HEIGHT })
  const node = element('div', { class: `plot ${kind}` }, picture)
  /** @type {Bar[]} */
  let bars = []
  new ResizeObserver(draw).observe(node)

  function draw () {
    const width = Math.floor(node.clientWidth)
    if (!width || !bars.length) return
    const top = scaleOf(Math.max(...bars.map(({ value }) => value)))
    const marks = [top / 2, top].map(value => ({ value, text: format(value) }))
    const left = Math.ceil(Math.max(...marks.map(({ text }) => text.length)) * LETTER) + 10
    const shown = bars.slice(-Math.max(1, Math.floor((width - left) / LEAST)))
    const step = (width - left) / Math.max(shown.length, 6)
    const yOf = value => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)
    const thick = Math.min(36, step * 0.7)
    const every = Math.ceil(LABEL / step)
    write(picture, { width, viewBox: `0 0 ${width} ${HEIGHT}` })
    picture.replaceChildren(
      ...marks.flatMap(({ value, text }) => [
        svg('line', { class: 'mark', x1: left, x2: width, y1: yOf(value), y2: yOf(value) }),
        svg('text', { x: left - 8, y: yOf(value) + 4, 'text-anchor': 'end' }, [text])
      ]),
      ...shown.flatMap(({ label, value, text }, at) => {
        const x = left + step * at + (step - thick) / 2
        const bar = svg('rect', { class: 'bar', x, y: yOf(value), width: thick, height: Math.max(value > 0 ? 1 : 0, yOf(0) - yOf(value)), rx: 2 },
          [svg('title', {}, [`${label}: ${text}`])])
        const isNamed = (shown.length - 1 - at) % every === 0 && x + thick / 2 > left + 24
        const middle = Math.min(x + thick / 2, width - LABEL / 2 + 4)
        return isNamed ? [bar, svg('text', { x: middle, y: HEIGHT - 6, 'text-anchor': 'middle' }, [label])] : [bar]
      }),
      svg('line', { class: 'ground', x1: left, x2: width, y1: yOf(0), y2: yOf(0) })
    )
  }

  return {
    element: node,
    /** @param {Bar[]} next oldest first; the oldest are left out where they do not fit @param {string} summary */
    set (next, summary) {
      bars = next
      write(picture, { 'aria-label': summary })
      draw()
    }
  }
}

/** A round number that is not less: 1, 2 or 5 with zeros. @param {number} most */
function scaleOf (most) {
  if (!(most > 0)) return 2
  const power = 10 ** Math.floor(Math.log10(most))
  return Math.max(2, [1, 2, 5, 10].map(each => each * power).find(each => each >= most) ?? most)
}
