// The time axis: converts times to pixels, and computes the span in view. Pure functions. Times are milliseconds here.
import { lowerBound } from '../../core/lists.js'

const MIN_SPAN = 30e3 // milliseconds: a shorter span shows nothing, as times are whole seconds

/** @typedef {{from: number, to: number}} Span */

/**
 * A linear axis over a span; the inset at both ends keeps the first and the last bar whole.
 * @param {Span} span @param {number} width pixels @param {number} [inset] pixels
 */
export function axisOf ({ from, to }, width, inset = 0) {
  const msPerPx = (to - from) / Math.max(width - 2 * inset, 1)
  return {
    from,
    to,
    width,
    inset,
    msPerPx,
    x: ms => inset + (ms - from) / msPerPx,
    ms: x => from + (x - inset) * msPerPx
  }
}

/** @typedef {ReturnType<typeof axisOf>} Axis */

/**
 * The span to show: from the first to the last time of the layers, and a day if that is a single moment.
 * @param {{first: string, last: string} | null} extent @param {Array<{time: string}>} [changes]
 * @returns {Span | null} null while nothing is known
 */
export function domainOf (extent, changes = []) {
  const times = [extent?.first, extent?.last, changes[0]?.time, changes.at(-1)?.time].filter(time => time !== undefined)
    .map(time => Date.parse(time))
  if (!times.length) return null
  const from = Math.min(...times)
  const to = Math.max(...times)
  const short = MIN_SPAN - (to - from)
  const margin = from === to ? 432e5 : Math.max(short / 2, 0)
  return { from: from - margin, to: to + margin }
}

/**
 * Keeps a span inside the domain, moved rather than shortened. Null if it is the whole domain: the span then grows with
 * it.
 * @param {Span} span @param {Span} domain @returns {Span | null}
 */
export function clampSpan ({ from, to }, domain) {
  const domainLength = domain.to - domain.from
  const length = Math.max(to - from, Math.min(MIN_SPAN, domainLength))
  if (!(length < domainLength * 0.999)) return null
  const start = Math.min(Math.max((from + to - length) / 2, domain.from), domain.to - length)
  return { from: start, to: start + length }
}

/**
 * Zooms around a time, which stays where it is.
 * @param {Span} span @param {number} factor above 1 goes closer @param {number} around
 */
export const zoomSpan =
  ({ from, to }, factor, around) => ({ from: around - (around - from) / factor, to: around + (to - around) / factor })

/** @param {Span} span @param {number} ms */
export const moveSpan = ({ from, to }, ms) => ({ from: from + ms, to: to + ms })

/**
 * The span that puts two times under two fingers.
 * @param {[number, number]} times
 * @param {[number, number]} xs pixels
 */
export function pinchSpan (times, xs, width, inset) {
  const distance = Math.abs(xs[1] - xs[0]) < 8 ? 8 * Math.sign(xs[1] - xs[0] || 1) : xs[1] - xs[0]
  const msPerPx = Math.abs((times[1] - times[0]) / distance)
  const from = (times[0] + times[1]) / 2 - ((xs[0] + xs[1]) / 2 - inset) * msPerPx
  return { from, to: from + (width - 2 * inset) * msPerPx }
}

/** Adds a margin on both sides of a span. @param {Span} span */
export function airy ({ from, to }) {
  const margin = Math.max((to - from) * 0.08, (MIN_SPAN - (to - from)) / 2)
  return { from: from - margin, to: to + margin }
}

/** Moves the span on like a page when a time has left it, so that the times ahead are in view. */
export function followSpan (span, ms) {
  const length = span.to - span.from
  if (ms >= span.from && ms <= span.to) return span
  return moveSpan(span, ms - span.from - length * (ms > span.to ? 0.1 : 0.9))
}

/** Rounds a dragged time to the width of a pixel: 13:07:42 is too exact on an axis of years. */
export function roundTime (ms, msPerPx) {
  const unit = [3600e3, 60e3].find(candidate => candidate <= msPerPx) ?? 1e3
  return Math.round(ms / unit) * unit
}

/**
 * The time of the nearest change within reach, or null.
 * @param {number[]} times ascending
 * @param {number} reach milliseconds
 */
export function snapTime (ms, times, reach) {
  const nextIndex = lowerBound(times, ms)
  const neighbours = [times[nextIndex - 1], times[nextIndex]]
  const near = neighbours.filter(time => time !== undefined && Math.abs(time - ms) <= reach)
  return near.length ? near.reduce((a, b) => Math.abs(b - ms) < Math.abs(a - ms) ? b : a) : null
}
