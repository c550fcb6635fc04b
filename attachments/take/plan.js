// Plans a time-lapse before it is drawn: its changes, frames, length and approximate bytes. Also makes the names of
// files.

export const MAX_FRAMES = 600
export const MAX_EDGE = 8192 // pixels: browsers draw no larger canvas
export const MAX_PIXELS = 33e6 // pixels of an image
export const MAX_FRAME_PIXELS = 4.2e6 // pixels of a frame of a time-lapse
export const MIN_EDGE = 160 // pixels: the date does not fit into less
const [MIN_RATE, MAX_RATE] = [0.5e6, 12e6] // bits a second of a video
const BITS = 0.5 // bits of a video for each pixel of a frame
const HOLD = 2 // seconds that the last frame stays

/**
 * @typedef {object} Plan
 * @property {string[]} times that are shown, oldest first
 * @property {number} all number of times, shown or not
 * @property {{time: string, seconds: number}[]} frames
 * @property {number} seconds
 */

/**
 * The times of a time-lapse: every change, or the beginning of a range and every change in it.
 * @param {{time: string}[]} changes oldest first @param {{from: string, to: string} | null} [range]
 */
export function timesOf (changes, range) {
  const times = changes.map(({ time }) => time)
  if (!range) return times
  const within = times.filter(time => time >= range.from && time <= range.to)
  const isBegun = times.some(time => time < range.from)
  return isBegun && within[0] !== range.from ? [range.from, ...within] : within
}

/** A frame for each change. @param {string[]} allTimes @param {number} fps frames a second @returns {Plan} */
export function planFrames (allTimes, fps) {
  const times = spread(allTimes, MAX_FRAMES)
  const frames = times.map(time => ({ time, seconds: 1 / fps }))
  const last = frames.at(-1)
  if (last) last.seconds += HOLD
  return { times, all: allTimes.length, frames, seconds: frames.reduce((sum, { seconds }) => sum + seconds, 0) }
}

/**
 * Evenly spread items of a list, with the first and the last one.
 * @template T @param {T[]} list @param {number} count at most
 */
export function spread (list, count) {
  if (list.length <= count) return list
  return Array.from({ length: count }, (_, index) => list[Math.round(index * (list.length - 1) / (count - 1))])
}

/** Bits a second of a video. @param {{width: number, height: number}} size @param {number} fps */
export const bitrateOf = ({ width, height }, fps) =>
  Math.round(Math.min(Math.max(BITS * width * height * fps, MIN_RATE), MAX_RATE))

/**
 * About how many bytes a time-lapse takes.
 * @param {'gif' | 'mp4' | 'webm'} format @param {Plan} plan
 * @param {{width: number, height: number}} size
 * @param {{fps: number, perPixel: number, changes: {time: string, tiles: number}[], tiles: number}} picture
 *   perPixel: bytes of a frame for each pixel; tiles: in the picture; changes: how many of them change at which time
 */
export function estimate (format, plan, size, { fps, perPixel, changes, tiles }) {
  if (format !== 'gif') return Math.round(bitrateOf(size, fps) / 8 * plan.seconds)
  const frame = perPixel * size.width * size.height
  const shares = new Map(changes.map(change => [change.time, Math.min(1, change.tiles / Math.max(1, tiles))]))
  const changed = plan.times.slice(1).reduce((sum, time) => sum + (shares.get(time) ?? 1), 0)
  return Math.round(frame * (1 + changed))
}

/**
 * Makes the edges even numbers of pixels, as a video needs.
 * @template {{width: number, height: number}} T @param {T} size @returns {T}
 */
export const even = size => ({ ...size, width: size.width - size.width % 2, height: size.height - size.height % 2 })

/** `daylight-2024-06-20T1400.png` @param {string} layer @param {(string | null)[]} times @param {string} extension */
export const fileName = (layer, times, extension) =>
  `${[layer, ...times.filter(time => time !== null).map(brief)].join('-')}.${extension}`

const brief = time => time.replace(/T00:00:00Z$/, '').replace(/(:00)?Z$/, '').replaceAll(':', '')
