// Where the sun stands: the low-precision formulae of the Astronomical Almanac, good to 0.01 degrees from 1950 to 2050.

const RAD = Math.PI / 180
const J2000 = Date.UTC(2000, 0, 1, 12)

/**
 * @param {string | number | Date} time
 * @returns {{declination: number, equationOfTime: number, longitude: number}} degrees, but the equation of time (apparent
 *   minus mean) in minutes; over `declination` and `longitude` the sun is in the zenith
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
