// The axis as it is drawn: bars, ticks, the thumb, the range and what is said where the pointer is.
import { barHeight, barPath, barWidth, binAt, binChanges } from './bins.js'
import { element, icon, svg, write } from './dom.js'
import { indexAsOf } from './steps.js'
import { ticksOf } from './ticks.js'
import { plural, size, timeWords, valueWords } from './words.js'

const PLOT = 46 // pixels: the height of the bars and the air above them
const TALLEST = 40
const STRIP = 22 // pixels: ticks and labels
const REACH = 8 // pixels from the pointer to the bar it means

const slider = (name, label, children) => element('div', { class: `tilecouch-timeline-${name}`, role: 'slider', tabindex: 0, 'aria-label': label, 'aria-orientation': 'horizontal', 'data-drag': name }, children)

/** @param {any} control the TimelineControl */
export function makeAxis (control) {
  const paths = Object.fromEntries(['later', 'past', 'current', 'hover', 'marks'].map(name => [name, svg('path', { class: `tilecouch-${name}` })]))
  const labels = svg('g', { class: 'tilecouch-labels' })
  const base = svg('line', { class: 'tilecouch-base', x1: 0, y1: PLOT + 0.5, y2: PLOT + 0.5 })
  const picture = svg('svg', { class: 'tilecouch-timeline-picture', height: PLOT + STRIP, 'aria-hidden': 'true', focusable: 'false' }, [base, ...Object.values(paths), labels])
  const span = element('div', { class: 'tilecouch-timeline-span' })
  const thumb = slider('thumb', 'Time', [element('i')])
  const from = slider('from', 'Start of the range', [element('i')])
  const to = slider('to', 'End of the range', [element('i')])
  const tip = element('div', { class: 'tilecouch-timeline-tip', 'aria-hidden': 'true' }, [element('b'), element('span')])
  const message = element('div', { class: 'tilecouch-timeline-message' })
  const strip = element('div', { class: 'tilecouch-timeline-strip', 'data-drag': 'strip' })
  const root = element('div', { class: 'tilecouch-timeline-axis' }, [strip, span, picture, from, to, thumb, message, tip, element('div', { class: 'tilecouch-timeline-progress' })])
  const newest = element('button', { type: 'button', class: 'tilecouch-newest', title: 'Show the newest tiles, as they come', 'aria-label': 'Newest' }, [icon('newest'), element('span', { text: 'Newest' })])
  newest.addEventListener('click', () => control.seek(null))

  let drawn = /** @type {any} */ ({})

  function drawBars ({ axis, changes, time }) {
    if (drawn.changes !== changes || drawn.axis !== axis) {
      const bins = binChanges(changes, axis)
      drawn = { changes, axis, bins, width: barWidth(bins), most: bins.reduce((most, bin) => Math.max(most, bin.tiles), 1), time: undefined, times: changes.map(change => change.time) }
    }
    if (drawn.time === time) return
    drawn.time = time
    const index = indexAsOf(drawn.times, time)
    const at = { past: '', current: '', later: '' }
    for (const bin of drawn.bins) {
      if (bin.x < -9 || bin.x > axis.width + 9) continue
      const is = bin.index > index ? 'later' : bin.index + bin.changes > index ? 'current' : 'past'
      at[is] += barPath(bin.x, PLOT, drawn.width, barHeight(bin.tiles, drawn.most, TALLEST))
    }
    for (const [name, d] of Object.entries(at)) write(paths[name], { d })
  }

  function drawTicks ({ axis, zone }) {
    if (drawn.ticked === axis && drawn.zone === zone) return
    Object.assign(drawn, { ticked: axis, zone })
    const { ticks, context } = ticksOf(axis, zone)
    write(paths.marks, { d: ticks.map(tick => `M${Math.round(tick.x) + 0.5} ${PLOT + 1}v${tick.label ? 5 : 3}`).join('') })
    const text = (x, label, className) => svg('text', { x, y: PLOT + 17, class: className, text: label })
    labels.replaceChildren(...(context ? [text(2, context, 'tilecouch-context')] : []),
      ...ticks.filter(tick => tick.label).map(tick => text(Math.round(tick.x * 10) / 10, tick.label, tick.major ? 'tilecouch-major' : '')))
  }

  /** Where something stands; what lies outside of the part in view waits, paler, at its edge. */
  function stand (node, axis, x) {
    const inside = Math.min(Math.max(x, 3), axis.width - 3)
    node.style.transform = `translateX(${Math.round(inside * 10) / 10}px)`
    node.classList.toggle('tilecouch-away', Math.abs(inside - x) > 1)
    return inside
  }

  function value (node, { domain, zone, changes }, time) {
    write(node, {
      'aria-valuemin': Math.floor(domain.from / 1000),
      'aria-valuemax': Math.ceil(domain.to / 1000),
      'aria-valuenow': time === null ? Math.ceil(domain.to / 1000) : Math.floor(Date.parse(time) / 1000),
      'aria-valuetext': valueWords(time, changes, zone)
    })
  }

  function drawRange (state) {
    const { axis, range } = state
    for (const node of [span, from, to]) node.hidden = !range
    if (!range) return
    const left = stand(from, axis, axis.x(Date.parse(range.from)))
    const right = stand(to, axis, axis.x(Date.parse(range.to)))
    Object.assign(span.style, { left: `${left}px`, width: `${Math.max(right - left, 0)}px` })
    value(from, state, range.from)
    value(to, state, range.to)
  }

  function drawTip ({ axis, hover, zone, changes, complete }) {
    const bin = hover && binAt(drawn.bins, hover.x, REACH)
    write(paths.hover, { d: bin && !hover.dragging ? barPath(bin.x, PLOT, drawn.width, barHeight(bin.tiles, drawn.most, TALLEST)) : '' })
    tip.hidden = !hover
    if (!hover) return
    const several = bin && bin.changes > 1 && !hover.dragging
    const time = several || !bin || hover.dragging ? hover.time : changes[bin.index].time
    write(tip.firstChild, { text: several ? plural(bin.changes, 'change') : time === null ? 'Newest' : timeWords(time, zone) })
    write(tip.lastChild, {
      text: bin
        ? `${several ? `${timeWords(changes[bin.index].time, zone)} – ${timeWords(changes[bin.index + bin.changes - 1].time, zone)} · ` : ''}${plural(bin.tiles, 'tile')} changed here${bin.bytes ? `, ${size(bin.bytes)}` : ''}`
        : complete ? valueWords(time, changes, zone).replace(/^.*?(?=before|unchanged|nothing|last|\d+ tiles? changed)/, '') : ''
    })
    const half = tip.offsetWidth / 2
    const at = bin && !hover.dragging ? bin.x : hover.x
    tip.style.transform = `translateX(${Math.round(Math.min(Math.max(at, half), axis.width - half) - half)}px)`
  }

  function render (state) {
    const { axis, time, message: said } = state
    write(message, { text: said })
    message.hidden = !said
    write(newest, { 'aria-pressed': String(time === null) })
    for (const node of [thumb, strip]) node.hidden = !axis
    if (!axis) {
      drawn = {}
      for (const node of [span, from, to, tip]) node.hidden = true
      for (const path of Object.values(paths)) write(path, { d: '' })
      return labels.replaceChildren()
    }
    write(picture, { width: axis.width })
    write(base, { x2: axis.width })
    drawBars(state)
    drawTicks(state)
    stand(thumb, axis, time === null ? axis.x(state.domain.to) + axis.inset - 3 : axis.x(Date.parse(time)))
    value(thumb, state, time)
    drawRange(state)
    drawTip(state)
  }

  return { root, newest, thumb, from, to, elements: [element('div', { class: 'tilecouch-timeline-body' }, [root, newest])], render }
}
