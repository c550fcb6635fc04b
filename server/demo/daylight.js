// Computes the light on the day of the demo: day, twilight or night.
import { xToLon, yToLat } from '../../core/index.js'
import { TILE } from './basemap.js'

// the northern summer solstice of 2024: no night in the north, only night in the south
export const DAY = '2024-06-20T00:00:00Z'

/** Levels of light go from 0 by day to NIGHT: so many that the edges between them are hardly visible. */
export const NIGHT = 30

const RAD = Math.PI / 180
const DECLINATION = 23.44 * RAD // of the sun at the solstice
const SUNSET = Math.sin(-0.833 * RAD) // the upper edge of the sun touches the horizon, refraction included
const DUSK = Math.sin(-12 * RAD) // nautical twilight ends
const STEPS = (NIGHT - 1) / (SUNSET - DUSK)

/** The light of one zoom at one time. */
export class Light {
  /** @param {string} time of the DAY @param {number} z */
  constructor (time, z) {
    const noon = 180 - 15 * (Date.parse(time) - Date.parse(DAY)) / 3600000 // longitude
    const size = TILE * 2 ** z
    // the sine of the sun's height at a pixel is rise[row] + swing[row] * hour[column]
    this.rise = new Float64Array(size)
    this.swing = new Float64Array(size)
    this.hour = new Float64Array(size)
    for (let pixel = 0; pixel < size; pixel++) {
      const position = (pixel + 0.5) / TILE
      this.rise[pixel] = Math.sin(yToLat(position, z) * RAD) * Math.sin(DECLINATION)
      this.swing[pixel] = Math.cos(yToLat(position, z) * RAD) * Math.cos(DECLINATION)
      this.hour[pixel] = Math.cos((xToLon(position, z) - noon) * RAD)
    }
  }

  levelAt (column, row) {
    const sine = this.rise[row] + this.swing[row] * this.hour[column]
    if (sine >= SUNSET) return 0
    return sine <= DUSK ? NIGHT : 1 + Math.floor((SUNSET - sine) * STEPS)
  }

  /**
   * The level of a tile, or undefined if it has several. Its edge is enough: no area of one level is so small that
   * it fits into a tile.
   * @returns {number | undefined}
   */
  uniform (x, y) {
    const [left, top] = [x * TILE, y * TILE]
    const [right, bottom] = [left + TILE - 1, top + TILE - 1]
    const level = this.levelAt(left, top)
    for (let offset = 0; offset < TILE; offset++) {
      if (this.levelAt(left + offset, top) !== level || this.levelAt(left + offset, bottom) !== level) return undefined
      if (this.levelAt(left, top + offset) !== level || this.levelAt(right, top + offset) !== level) return undefined
    }
    return level
  }

  /** The levels of a tile's pixels, row by row. */
  levels (x, y) {
    const levels = new Uint8Array(TILE * TILE)
    let index = 0
    for (let row = y * TILE; row < (y + 1) * TILE; row++) {
      for (let column = x * TILE; column < (x + 1) * TILE; column++) levels[index++] = this.levelAt(column, row)
    }
    return levels
  }
}
