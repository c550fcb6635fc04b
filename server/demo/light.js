// How light it is: 0 by day, NIGHT when the sun is more than 18 degrees under the horizon, steps of twilight between.
import { xToLon, yToLat } from '../../core/index.js'
import { TILE } from './basemap.js'
import { NIGHT } from './palette.js'
import { sunAt } from './sun.js'

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
  /**
   * @param {string} time
   * @param {number} z
   */
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
   * The level of a whole tile, or nothing when it holds more than one. A row of pixels has its extremes in the columns
   * nearest to and farthest from noon, so that not every pixel has to be looked at.
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
      if (levelOf(this.rise[row] + this.swing[row] * nearest) !== level || levelOf(this.rise[row] + this.swing[row] * farthest) !== level) return undefined
    }
    return level
  }

  /** Levels of a tile's pixels, row by row. */
  levels (x, y) {
    const levels = new Uint8Array(TILE * TILE)
    for (let row = 0, at = 0; row < TILE; row++) {
      const rise = this.rise[y * TILE + row]
      const swing = this.swing[y * TILE + row]
      for (let column = x * TILE; column < (x + 1) * TILE; column++) levels[at++] = levelOf(rise + swing * this.hour[column])
    }
    return levels
  }
}
