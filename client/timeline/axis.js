// Draws the axis: bars, ticks, the thumb, the range, and the tip at the pointer.
import { element, icon, picture, slider, svg, write } from './dom.js'
import { indexAsOf } from './steps.js'
import { ticksOf } from './ticks.js'
import { changeText, timeText, valueText } from './words.js'

const BARS_HEIGHT = 46 // pixels: the height of the bars and the air above them
const TALLEST = 40
const TICKS_HEIGHT = 22 // pixels: ticks and labels
const HOVER_DISTANCE = 8 // pixels from the pointer to a bar that it selects

/** Makes a part of the axis, with the class prefix of the timeline. */
const part = (name, ...children) => element('div', { class: `tilecouch-timeline-${name}` }, ...children)

function handle (name, label) {
  const node = slider(`tilecouch-timeline-${name}`, label, element('i'))
  write(node, { 'data-drag': name })
  return node
}

/** @param {any} control the Timeline */
export function makeAxis (control) {
  const { _words: words } = control
  const paths = Object.fromEntries(
    ['later', 'past', 'current', 'hover', 'marks'].map(name => [name, svg('path', { class: `tilecouch-${name}` })])
  )
  const labels = svg('g', { class: 'tilecouch-labels' })
  const base = svg('line', { class: 'tilecouch-base', x1: 0, y1: BARS_HEIGHT + 0.5, y2: BARS_HEIGHT + 0.5 })
  const bars = picture(
    { class: 'tilecouch-timeline-picture', height: BARS_HEIGHT + TICKS_HEIGHT }, [base, ...Object.values(paths), labels]
  )
  const span = part('span')
  const thumb = handle('thumb', words.time)
  const from = handle('from', words.from)
  const to = handle('to', words.to)
  const tip = part('tip', element('b'), element('span'))
  write(tip, { 'aria-hidden': 'true' })
  const message = part('message')
  const strip = part('strip')
  write(strip, { 'data-drag': 'strip' })
  const root = part('axis', strip, span, bars, from, to, thumb, message, tip, part('progress'))
  const newest = element('button', {
    type: 'button', class: 'tilecouch-newest', title: words.toNewest, 'aria-label': words.newest,
    on: { click: () => control.seek(null) }
  }, icon('newest'), element('span', { text: words.newest }))

  let drawn = /** @type {any} */ ({})

  const barOf = ({ x, tiles }) => barPath(x, BARS_HEIGHT, drawn.width, barHeight(tiles, drawn.most, TALLEST))

  function drawBars ({ axis, changes, time }) {
    if (drawn.changes !== changes || drawn.axis !== axis) {
      const bins = binChanges(changes, axis)
      drawn = { changes, axis, bins, width: barWidth(bins), most: bins.reduce(
        (most, bin) => Math.max(most, bin.tiles), 1
      ), time: undefined, times: changes.map(change => change.time) }
    }
    if (drawn.time === time) return
    drawn.time = time
    const index = indexAsOf(drawn.times, time)
    const pathsByState = { past: '', current: '', later: '' }
    for (const bin of drawn.bins) {
      if (bin.x < -9 || bin.x > axis.width + 9) continue
      pathsByState[stateOf(bin, index)] += barOf(bin)
    }
    for (const [name, d] of Object.entries(pathsByState)) write(paths[name], { d })
  }

  function drawTicks ({ axis, zone }) {
    if (drawn.ticked === axis && drawn.zone === zone) return
    Object.assign(drawn, { ticked: axis, zone })
    const { ticks, context } = ticksOf(axis, zone, { words })
    const mark = tick => `M${Math.round(tick.x) + 0.5} ${BARS_HEIGHT + 1}v${tick.label ? 5 : 3}`
    write(paths.marks, { d: ticks.map(mark).join('') })
    const text = (x, label, className) => svg('text', { x, y: BARS_HEIGHT + 17, class: className, text: label })
    labels.replaceChildren(...(context ? [text(2, context, 'tilecouch-context')] : []), ...ticks
      .filter(tick => tick.label).map(({ x, label, major }) => text(round(x), label, major ? 'tilecouch-major' : '')))
  }

  /** Moves a handle. A handle outside of the part in view is at its edge, paler. */
  function position (node, axis, x) {
    const inside = Math.min(Math.max(x, 3), axis.width - 3)
    node.style.transform = `translateX(${Math.round(inside * 10) / 10}px)`
    node.classList.toggle('tilecouch-away', Math.abs(inside - x) > 1)
    return inside
  }

  function writeValue (node, { domain, zone, changes }, time) {
    write(node, {
      'aria-valuemin': Math.floor(domain.from / 1000),
      'aria-valuemax': Math.ceil(domain.to / 1000),
      'aria-valuenow': time === null ? Math.ceil(domain.to / 1000) : Math.floor(Date.parse(time) / 1000),
      'aria-valuetext': valueText(time, changes, zone, words)
    })
  }

  function drawRange (state) {
    const { axis, range } = state
    for (const node of [span, from, to]) node.hidden = !range
    if (!range) return
    const left = position(from, axis, axis.x(Date.parse(range.from)))
    const right = position(to, axis, axis.x(Date.parse(range.to)))
    Object.assign(span.style, { left: `${left}px`, width: `${Math.max(right - left, 0)}px` })
    writeValue(from, state, range.from)
    writeValue(to, state, range.to)
  }

  const changedText = ({ tiles, bytes }) => `${words.tilesChanged(tiles)}${bytes ? `, ${words.size(bytes)}` : ''}`

  function drawTip ({ axis, hover, zone, changes, complete }) {
    const bin = hover && binAt(drawn.bins, hover.x, HOVER_DISTANCE)
    const chosenBin = hover?.dragging ? null : bin
    write(paths.hover, { d: chosenBin ? barOf(chosenBin) : '' })
    tip.hidden = !hover
    if (!hover) return
    const textOf = time => timeText(time, changes, zone, words)
    if (chosenBin?.changes > 1) {
      const [first, last] = [chosenBin.index, chosenBin.index + chosenBin.changes - 1].map(index => changes[index].time)
      write(tip.firstChild, { text: words.changes(chosenBin.changes) })
      write(tip.lastChild, { text: `${textOf(first)} – ${textOf(last)} · ${changedText(bin)}` })
    } else {
      const time = chosenBin ? changes[chosenBin.index].time : hover.time
      let text = bin ? changedText(bin) : ''
      if (!bin && complete) text = changeText(time, changes, zone, words)
      write(tip.firstChild, { text: time === null ? words.newest : textOf(time) })
      write(tip.lastChild, { text })
    }
    const half = tip.offsetWidth / 2
    const x = chosenBin ? chosenBin.x : hover.x
    tip.style.transform = `translateX(${Math.round(Math.min(Math.max(x, half), axis.width - half) - half)}px)`
  }

  function render (state) {
    const { axis, time } = state
    write(message, { text: state.message })
    message.hidden = !state.message
    write(newest, { 'aria-pressed': String(time === null) })
    for (const node of [thumb, strip]) node.hidden = !axis
    if (!axis) {
      drawn = {}
      for (const node of [span, from, to, tip]) node.hidden = true
      for (const path of Object.values(paths)) write(path, { d: '' })
      return labels.replaceChildren()
    }
    write(bars, { width: axis.width })
    write(base, { x2: axis.width })
    drawBars(state)
    drawTicks(state)
    position(thumb, axis, time === null ? axis.x(state.domain.to) + axis.inset - 3 : axis.x(Date.parse(time)))
    writeValue(thumb, state, time)
    drawRange(state)
    drawTip(state)
  }

  return { root, newest, thumb, from, to, elements: [part('body', root, newest)], render }
}

const MIN_DISTANCE = 5 // pixels from bar to bar at least; changes closer than this share one
const MIN_HEIGHT = 4 // pixels: one tile must be visible next to thousands

/**
 * @typedef {{x: number, from: number, to: number, index: number, changes: number, tiles: number, bytes: number}} Bin
 * from and to: milliseconds of the first and last change; index: of the first one in the list
 */

/**
 * Joins changes that are too close to tell apart. Grouped from the first change of all, not from the first one in view,
 * so that bars do not regroup while the axis is moved.
 * @param {Array<{time: string, tiles: number, bytes: number}>} changes
 * @returns {Bin[]}
 */
export function binChanges (changes, axis) {
  /** @type {Bin[]} */
  const bins = []
  let bin
  const near = MIN_DISTANCE * axis.msPerPx
  for (const [index, { time, tiles, bytes }] of changes.entries()) {
    const ms = Date.parse(time)
    if (bin && ms - bin.from < near) {
      bin.to = ms
      bin.changes++
      bin.tiles += tiles
      bin.bytes += bytes
    } else bins.push(bin = { x: axis.x(ms), from: ms, to: ms, index, changes: 1, tiles, bytes })
  }
  return bins
}

/** The width of bars: as wide as the closest two allow, within limits. @param {Bin[]} bins */
export function barWidth (bins) {
  let distance = Infinity
  for (let index = 1; index < bins.length; index++) distance = Math.min(distance, bins[index].x - bins[index - 1].x)
  if (distance >= 14) return 8
  return distance >= 9 ? 6 : MIN_DISTANCE - 1
}

/** Whether the changes of a bin are later than the shown one, include it, or are earlier. */
function stateOf (bin, index) {
  if (bin.index > index) return 'later'
  return bin.index + bin.changes > index ? 'current' : 'past'
}

/**
 * The height of a bar: the square root of its tiles, as tiles are an area and the root is its side. One tile beside
 * 5,000 is visible, and half as many look less, which a logarithm would hide.
 * @param {number} height pixels of the highest bar
 */
export const barHeight = (tiles, most, height) => Math.max(MIN_HEIGHT, Math.sqrt(tiles / Math.max(most, 1)) * height)

/** The bar nearest to a pixel, within reach. @param {Bin[]} bins @param {number} reach pixels */
export function binAt (bins, x, reach) {
  let best = null
  for (const bin of bins) {
    if (Math.abs(bin.x - x) <= reach && (!best || Math.abs(bin.x - x) < Math.abs(best.x - x))) best = bin
  }
  return best
}

/** A bar with a round top on the base line, as a part of an SVG path. @param {number} x middle */
export function barPath (x, base, width, height) {
  const radius = Math.min(width / 2, height)
  const left = round(x - width / 2)
  return `M${left} ${base}V${round(base - height + radius)}a${radius} ${radius} 0 0 1 ${width} 0V${base}Z`
}

const round = number => Math.round(number * 10) / 10
