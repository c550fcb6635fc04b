// How light it is: 0 by day, NIGHT when the sun is more than 18 degrees under the horizon, steps of twilight between.
import { xToLon, yToLat } from '../../core/index.js'
import { TILE } from './basemap.js'
import { NIGHT } from './palette.js'

const RAD = Math.PI / 180

export const SUNSET = -0.833 // degrees: the upper edge of the sun touches the horizon, refraction included
export const DUSK = -18 // degrees: astronomical twilight ends

// Levels by the sine of the sun's height, which is what a pixel costs one multiplication and one addition
const SINE_SUNSET = Math.sin(SUNSET * RAD)
const SINE_DUSK = Math.sin(DUSK * RAD)
const STEPS = 4096
const SCALE = STEPS / (SINE_SUNSET - SINE_DUSK)
const TWILIGHT = Uint8Array.from({ length: STEPS + 1 }, (_, step) => {
  const altitude = Math.asin(SINE_DUSK + step / SCALE) / RAD
  const depth = (SUNSET - altitude) / (SUNSET - DUSK)
  return Math.min(NIGHT - 1, 1 + Math.floor(depth * (NIGHT - 1)))
})

const levelOf = sine => sine >= SINE_SUNSET ? 0 : sine <= SINE_DUSK ? NIGHT : TWILIGHT[(sine - SINE_DUSK) * SCALE | 0]

/** The light of one zoom at one time. */
export class Light {
  constructor (time, z) {
    const sun = sunAt(time)
    const size = TILE * 2 ** z
    const sine = Math.sin(sun.declination * RAD)
    const cosine = Math.cos(sun.declination * RAD)
    // the sun's height at a pixel is rise[y] + swing[y] * hour[x]
    this.rise = new Float64Array(size)
    this.swing = new Float64Array(size)
    this.hour = new Float64Array(size)
    for (let pixel = 0; pixel < size; pixel++) {
      const lat = yToLat((pixel + 0.5) / TILE, z) * RAD
      this.rise[pixel] = Math.sin(lat) * sine
      this.swing[pixel] = Math.cos(lat) * cosine
      this.hour[pixel] = Math.cos((xToLon((pixel + 0.5) / TILE, z) - sun.longitude) * RAD)
    }
  }

  /**
   * The level of a tile, or undefined if it has more than one. A row of pixels has its extremes in the columns
   * nearest to and farthest from noon, so not every pixel is needed.
   * @returns {number | undefined}
   */
  uniform (x, y) {
    let nearest = -1
    let farthest = 1
    for (let column = x * TILE; column < (x + 1) * TILE; column++) {
      if (this.hour[column] > nearest) nearest = this.hour[column]
      if (this.hour[column] < farthest) farthest = this.hour[column]
    }
    const level = levelOf(this.rise[y * TILE] + this.swing[y * TILE] * nearest)
    for (let row = y * TILE; row < (y + 1) * TILE; row++) {
      const [near, far] = [nearest, farthest].map(hour => levelOf(this.rise[row] + this.swing[row] * hour))
      if (near !== level || far !== level) return undefined
    }
    return level
  }

  /** Levels of a tile's pixels, row by row. */
  levels (x, y) {
    const levels = new Uint8Array(TILE * TILE)
    for (let row = 0, at = 0; row < TILE; row++) {
      const rise = this.rise[y * TILE + row]
      const swing = this.swing[y * TILE + row]
      for (let column = x * TILE; column < (x + 1) * TILE; column++) {
        levels[at++] = levelOf(rise + swing * this.hour[column])
      }
    }
    return levels
  }
}

// The position of the sun: the low-precision formulae of the Astronomical Almanac, good to 0.01 degrees from 1950 to
// 2050.

const J2000 = Date.UTC(2000, 0, 1, 12)

/**
 * @param {string | number | Date} time
 * @returns {{declination: number, equationOfTime: number, longitude: number}} degrees, but the equation of time
 *   (apparent minus mean) in minutes; over `declination` and `longitude` the sun is in the zenith
 */
export function sunAt (time) {
  const date = new Date(time)
  const days = (date.getTime() - J2000) / 86400000
  const anomaly = (357.528 + 0.9856003 * days) * RAD
  const mean = 280.460 + 0.9856474 * days
  const ecliptic = (mean + 1.915 * Math.sin(anomaly) + 0.020 * Math.sin(2 * anomaly)) * RAD
  const obliquity = (23.439 - 0.0000004 * days) * RAD
  const declination = Math.asin(Math.sin(obliquity) * Math.sin(ecliptic)) / RAD
  const ascension = Math.atan2(Math.cos(obliquity) * Math.sin(ecliptic), Math.cos(ecliptic)) / RAD
  const equation = wrap(mean - ascension)
  const hours = (date.getTime() % 86400000 + 86400000) % 86400000 / 3600000
  return { declination, equationOfTime: equation * 4, longitude: wrap(180 - 15 * hours - equation) }
}

/**
 * Height of the sun over the horizon of a place, in degrees, without refraction.
 * @param {ReturnType<typeof sunAt>} sun
 */
export function sunAltitude (sun, lon, lat) {
  const sine = Math.sin(lat * RAD) * Math.sin(sun.declination * RAD) +
    Math.cos(lat * RAD) * Math.cos(sun.declination * RAD) * Math.cos((lon - sun.longitude) * RAD)
  return Math.asin(Math.max(-1, Math.min(1, sine))) / RAD
}

/** An angle as -180 to 180 degrees. */
const wrap = degrees => ((degrees + 180) % 360 + 360) % 360 - 180
