// What a time-lapse is made of, before any of it is drawn: which changes, how many frames, how long, about how large.
// Pure.

export const MAX_FRAMES = 600
export const MOST_EDGE = 8192 // pixels: beyond it browsers draw nothing
export const MOST_PIXELS = 33e6 // of an image
export const MOST_FRAME_PIXELS = 4.2e6 // of a frame of a time-lapse
export const LEAST_EDGE = 160 // pixels: less has no room for its date
const [LEAST_RATE, MOST_RATE, BITS] = [0.5e6, 12e6, 0.5] // bits a second of a video; and for each pixel of a frame
const HOLD = 2 // seconds that the last frame stays

/**
 * @typedef {object} Plan
 * @property {string[]} times that are shown, oldest first
 * @property {number} all how many there are
 * @property {{time: string, seconds: number}[]} frames
 * @property {number} seconds
 */

/**
 * The times of a time-lapse: every change, or within a range what was shown at its beginning, and every change since.
 * @param {{time: string}[]} changes oldest first @param {{from: string, to: string} | null} [range]
 */
export function timesOf (changes, range) {
  const times = changes.map(({ time }) => time)
  if (!range) return times
  const within = times.filter(time => time >= range.from && time <= range.to)
  const isBegun = times.some(time => time < range.from)
  return isBegun && within[0] !== range.from ? [range.from, ...within] : within
}

/** A frame for each change. @param {string[]} all @param {number} fps frames a second @returns {Plan} */
export function planFrames (all, fps) {
  const times = spread(all, MAX_FRAMES)
  const frames = times.map(time => ({ time, seconds: 1 / fps }))
  const last = frames.at(-1)
  if (last) last.seconds += HOLD
  return { times, all: all.length, frames, seconds: frames.reduce((sum, { seconds }) => sum + seconds, 0) }
}

/**
 * So many of a list, with its first and last, as evenly as can be.
 * @template T @param {T[]} list @param {number} most
 */
export const spread = (list, most) => list.length <= most
  ? list
  : Array.from({ length: most }, (_, at) => list[Math.round(at * (list.length - 1) / (most - 1))])

/** Bits a second of a video. @param {{width: number, height: number}} size @param {number} fps */
export const bitrateOf = ({ width, height }, fps) =>
  Math.round(Math.min(Math.max(BITS * width * height * fps, LEAST_RATE), MOST_RATE))

/**
 * About how many bytes a time-lapse takes.
 * @param {'gif' | 'mp4' | 'webm'} format @param {Plan} plan
 * @param {{width: number, height: number}} size
 * @param {{fps: number, perPixel: number, changes: {time: string, tiles: number}[], tiles: number}} known
 *   perPixel: bytes of a pixel of one frame; tiles: in the picture; changes: how many of these change when
 */
export function estimate (format, plan, size, { fps, perPixel, changes, tiles }) {
  if (format !== 'gif') return Math.round(bitrateOf(size, fps) / 8 * plan.seconds)
  const frame = perPixel * size.width * size.height
  const shares = new Map(changes.map(change => [change.time, Math.min(1, change.tiles / Math.max(1, tiles))]))
  const changed = plan.times.slice(1).reduce((sum, time) => sum + (shares.get(time) ?? 1), 0)
  return Math.round(frame * (1 + changed))
}

/**
 * A video's edges are even numbers of pixels.
 * @template {{width: number, height: number}} T @param {T} size @returns {T}
 */
export const even = size => ({ ...size, width: size.width - size.width % 2, height: size.height - size.height % 2 })
