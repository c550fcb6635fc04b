// Pointer, touch, wheel and keyboard input of the axis.
import { moveSpan, pinchSpan, roundTime, snapTime, zoomSpan } from './time-scale.js'
import { stepFrom } from './steps.js'

const SNAP = { mouse: 8, touch: 14 } // pixels: a change this near to the pointer is chosen
const PIXELS_OF_DELTA = [undefined, 24, 240] // of the modes of a wheel: pixels, lines, pages
const CLICK = 4 // pixels that a pointer may move without dragging

/**
 * @param {any} control the Timeline
 * @param {any} parts of makeAxis
 * @param {AbortSignal} signal ends all listening
 */
export function listenToPointers (control, parts, signal) {
  const { root } = parts
  /** @type {Map<number, number>} the position of each finger */
  const fingers = new Map()
  /** @type {any} the drag under way */
  let drag = null

  const xOf = event => event.clientX - root.getBoundingClientRect().left
  const on = (type, listener, options = {}) => root.addEventListener(type, listener, { ...options, signal })

  /** The time at a pixel: a change nearby, else a round time; null for the newest, right of everything. */
  function timeAt (x, event, newest = true) {
    const { axis, domain, times } = control.state
    const inside = Math.min(Math.max(x, 0), axis.width)
    if (newest && inside > axis.x(domain.to) + axis.inset / 2) return null
    const ms = Math.min(Math.max(axis.ms(inside), domain.from), domain.to)
    const reach = event.pointerType === 'touch' ? SNAP.touch : SNAP.mouse
    return snapTime(ms, times, axis.msPerPx * reach) ?? roundTime(ms, axis.msPerPx)
  }

  function begin (event) {
    const x = xOf(event)
    const { span, zoomed } = control.state
    const range = control.getRange() // the state has the range of the last frame
    const name = event.target.closest('[data-drag]')?.dataset.drag
    const base = { id: event.pointerId, x, moved: false, pointerType: event.pointerType }
    if (name === 'from' || name === 'to') {
      return { ...base, kind: 'select', fixed: Date.parse(range[name === 'from' ? 'to' : 'from']), moved: true }
    }
    if (name === 'strip' && zoomed && control.options.zoomable) return { ...base, kind: 'pan', span }
    if (event.shiftKey && control.options.selectable) return { ...base, kind: 'select', fixed: timeAt(x, event, false) }
    return { ...base, kind: 'seek' }
  }

  function move (event) {
    const x = xOf(event)
    const inside = Math.min(Math.max(x, 0), control.state.axis.width)
    if (Math.abs(x - drag.x) >= CLICK) drag.moved = true
    if (drag.kind === 'pan') control.setSpan(moveSpan(drag.span, (drag.x - x) * control.state.axis.msPerPx))
    else if (drag.kind === 'select') {
      if (!drag.moved) return
      const ends = [drag.fixed, timeAt(x, event, false)].sort((a, b) => a - b)
      control.setRange({ from: new Date(ends[0]), to: new Date(ends[1]) })
      // the handle that is dragged may have passed the other one
      const dragged = ends[0] === drag.fixed ? parts.to : parts.from
      control.render()
      dragged.focus({ preventScroll: true })
      control.hover({ x: inside, dragging: true, end: ends[0] === drag.fixed ? 'to' : 'from' })
    } else if (drag.moved || event.pointerType === 'mouse') {
      control.seek(timeAt(x, event), { soon: true })
      control.hover({ x: inside, dragging: true })
    }
  }

  function hover (event) {
    const name = event.target.closest?.('[data-drag]')?.dataset.drag
    const x = xOf(event)
    const isOnHandle = name === 'from' || name === 'to' || (name === 'strip' && control.state.zoomed)
    control.hover(isOnHandle ? null : { x, meant: () => timeAt(x, event) })
  }

  on('mousedown', event => event.preventDefault()) // pointerdown sets the focus; the map must not take it
  on('pointerdown', event => {
    if (!control.state.axis || event.button !== 0) return
    root.setPointerCapture(event.pointerId)
    fingers.set(event.pointerId, xOf(event))
    if (fingers.size === 2 && control.options.zoomable) {
      const [a, b] = [...fingers.values()]
      drag = { kind: 'pinch', times: [control.state.axis.ms(a), control.state.axis.ms(b)] }
      return control.hover(null)
    }
    if (drag) return
    drag = begin(event)
    root.classList.toggle('tilecouch-panning', drag.kind === 'pan')
    if (drag.kind === 'seek') {
      control.player.pause()
      parts.thumb.focus({ preventScroll: true })
      // a first finger may be half of a pinch: it moves the time when it moves or leaves
      if (event.pointerType === 'mouse') move(event)
    }
  })

  on('pointermove', event => {
    const { axis } = control.state
    if (!axis) return
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, xOf(event))
    if (drag?.kind === 'pinch') {
      const xs = [...fingers.values()]
      if (xs.length > 1) control.setSpan(pinchSpan(drag.times, [xs[0], xs[1]], axis.width, axis.inset))
    } else if (drag?.id === event.pointerId) move(event)
    else if (!drag && event.pointerType === 'mouse') hover(event)
  })

  const release = event => {
    fingers.delete(event.pointerId)
    if (!drag) return
    if (drag.kind === 'pinch') {
      if (!fingers.size) drag = null
      return
    }
    if (drag.id !== event.pointerId) return
    // a finger that only tapped, also on the ticks of a zoomed axis
    const isTap = event.type === 'pointerup' && !drag.moved && drag.kind !== 'select'
    if (isTap && (drag.kind === 'pan' || drag.pointerType !== 'mouse')) control.seek(timeAt(xOf(event), event))
    control.flush()
    drag = null
    root.classList.remove('tilecouch-panning')
    control.hover(null)
  }
  on('pointerup', release)
  on('pointercancel', release)
  on('pointerleave', () => { if (!drag) control.hover(null) })

  on('wheel', event => {
    const { axis, span } = control.state
    if (!axis || !control.options.zoomable) return
    event.preventDefault()
    // two fingers on a pad come as small steps with the control key
    const pixels = PIXELS_OF_DELTA[event.deltaMode] ?? (event.ctrlKey ? 6 : 1)
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY)
    control.setSpan(sideways || event.shiftKey
      ? moveSpan(span, (event.deltaX || event.deltaY) * pixels * axis.msPerPx)
      : zoomSpan(span, Math.exp(-Math.max(-240, Math.min(240, event.deltaY * pixels)) / 300), axis.ms(xOf(event))))
  }, { passive: false })
}

/** Steps of the keys; the arrows that point up and to the right go on in time, as on every slider. */
const STEPS = {
  ArrowRight: 1, ArrowUp: 1, PageUp: 10, ArrowLeft: -1, ArrowDown: -1, PageDown: -10, Home: -Infinity, End: Infinity
}

const zoomIn = control => control.zoomAxis(2)
const ZOOMS = { '+': zoomIn, '=': zoomIn, '-': control => control.zoomAxis(0.5), 0: control => control.showAll() }

export function listenToKeys (control, parts, container, signal) {
  const { player } = control

  function moveHandle (name, steps) {
    const { changes } = control.state
    const range = control.getRange() // the state is that of the last frame: keys may come faster
    const end = /** @type {string} */ (stepFrom(changes.map(change => change.time), range[name], steps))
    const other = range[name === 'from' ? 'to' : 'from']
    if (name === 'from' ? end <= other : end >= other) control.setRange({ ...range, [name]: end })
  }

  function moveThumb (steps) {
    if (steps === -Infinity) player.first()
    else if (steps === Infinity) player.last()
    else player.step(steps)
  }

  function act ({ key, target }) {
    const name = target.dataset?.drag
    const steps = STEPS[key]
    const { playable, zoomable } = control.options
    if (name && steps && control.state.axis) return name === 'thumb' ? moveThumb(steps) : moveHandle(name, steps)
    if (key === ' ' && playable && (name || target === container)) return player.toggle()
    const zoom = name && zoomable && ZOOMS[key]
    return zoom ? zoom(control) : false
  }

  container.addEventListener('keydown', event => {
    // Tab leaves the timeline, and the page may use Escape; other keys are for the timeline, not for the map
    if (event.key === 'Tab' || event.key === 'Escape') return
    event.stopPropagation()
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (act(/** @type {any} */ (event)) !== false) event.preventDefault()
  }, { signal })
  for (const type of ['keyup', 'keypress']) {
    container.addEventListener(type, event => event.stopPropagation(), { signal })
  }
}
