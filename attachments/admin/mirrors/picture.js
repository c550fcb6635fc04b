// The picture of who follows whom: this store in the middle, its sources at the left, its targets at the right. The
// table below it says the same.
import { element, svg, write } from '../../../client/timeline/dom.js'
import { texts } from '../../words/admin/index.js'

const words = texts.mirrors
const [WIDTH, ROW, BOX, GAP] = [900, 46, 250, 8] // pixels
const LETTERS = 31 // of an address in a box
export const CLASSES = {
  live: 'good', complete: 'good', copying: 'good', behind: 'late', waiting: 'late', interrupted: 'bad', failed: 'bad', stopped: '', unknown: ''
}

/** An address without its scheme, its beginning left out where it is long. */
export function shortly (address) {
  const text = address.replace(/^https?:\/\//, '')
  return text.length > LETTERS ? `…${text.slice(1 - LETTERS)}` : text
}

/** @returns {{element: HTMLElement, set: (mirrors: import('./sources.js').Mirror[], name: string) => void}} */
export function picture () {
  const image = svg('svg', { role: 'img' })
  let known = ''
  const box = element('div', { class: 'picture', tabindex: '0', role: 'region', 'aria-label': words.picture }, image)
  return {
    element: box,
    set (mirrors, name) {
      const wanted = JSON.stringify([name, mirrors.map(({ role, other, state }) => [role, other, state])])
      if (wanted === known) return
      const isFirst = !known
      known = wanted
      draw(image, mirrors, name)
      // on a narrow screen this store is in the middle, and both sides are scrolled to
      if (isFirst) requestAnimationFrame(() => { box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2 })
    }
  }
}

function draw (image, mirrors, name) {
  const sides = { target: mirrors.filter(({ role }) => role === 'target'), source: mirrors.filter(({ role }) => role === 'source') }
  const rows = Math.max(1, sides.target.length, sides.source.length)
  const height = rows * ROW + GAP
  const middle = height / 2
  const [left, right] = [(WIDTH - 160) / 2, (WIDTH + 160) / 2]
  // a side that is empty takes no room
  const [from, to] = [sides.target.length ? 0 : left - GAP, sides.source.length ? WIDTH : right + GAP]
  write(image, { width: to - from, height, viewBox: `${from} 0 ${to - from} ${height}`, 'aria-label': words.summary(sides.target.length, sides.source.length) })
  const yOf = (at, count) => middle + (at - (count - 1) / 2) * ROW
  const arrows = Object.entries(sides).flatMap(([role, all]) =>
    all.map((mirror, at) => arrow(mirror, yOf(at, all.length), role === 'target' ? [BOX, left] : [right, WIDTH - BOX], middle, all.length)))
  const boxes = Object.entries(sides).flatMap(([role, all]) =>
    all.map(({ other }, at) => place(role === 'target' ? 0 : WIDTH - BOX, yOf(at, all.length), BOX, shortly(other), other)))
  image.replaceChildren(...arrows, ...boxes, place(left, middle, 160, shortly(name).slice(-20), name, 'own'))
}

function place (x, y, width, text, whole, kind = '') {
  return svg('g', { class: `box ${kind}` }, [
    svg('title', {}, [whole]),
    svg('rect', { x: x + 1, y: y - 17, width: width - 2, height: 34, rx: 9 }),
    svg('text', { x: x + width / 2, y: y + 4, 'text-anchor': 'middle' }, [text])
  ])
}

/** An arrow from the source to the target. Near the other side it is level, and says its state. */
function arrow ({ state, role }, y, [from, to], middle, count) {
  const [start, end] = role === 'target' ? [y, middle] : [middle, y]
  const spread = Math.min(26, 3 * count)
  const at = role === 'target' ? middle + (y - middle) / Math.max(1, count * ROW / 2) * spread / 2 : end
  const last = role === 'target' ? at : end
  const level = 105 // pixels that are level
  const path = role === 'target'
    ? `M${from} ${start}H${from + level}L${to - 7} ${last}`
    : `M${from} ${start}L${to - level} ${end}H${to - 7}`
  const label = svg('text', { x: role === 'target' ? from + level / 2 : to - 7 - level / 2, y: y - 5, 'text-anchor': 'middle' }, [words.states[state]])
  return svg('g', { class: `arrow ${CLASSES[state]} ${state}` }, [
    svg('path', { class: 'line', d: path }),
    svg('path', { class: 'tip', d: `M${to - 8} ${last - 5}L${to} ${last}L${to - 8} ${last + 5}z` }),
    label
  ])
}
