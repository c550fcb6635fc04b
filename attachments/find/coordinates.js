// Reads coordinates in the forms that people write, without a request, and the answer of a gazetteer:
//   47.5, 8.3    47.5 8.3    47,5; 8,3    -33.8 151.2    47.5N 8.3E    8.3E 47.5N
//   47°30'00"N 8°18'E    47 30 N 8 18 E    47d30m N, 8d18m E
//   geo:47.5,8.3?z=12    12/2147/1436 (zoom, column, row)    12/47.5/8.3    #map=12/47.5/8.3    @47.5,8.3,12z
import { MAX_ZOOM, tileBounds } from '../../core/index.js'

export const MOST = 8 // maximum results of a kind in a search

/**
 * @typedef {{lat: number, lon: number, z?: number}} Place
 */

/** Letters of the points of the compass; O is east in German, and west in French and Spanish. */
const lettersOf = language => ({ N: 'lat', S: '-lat', E: 'lon', W: '-lon', O: language === 'de' ? 'lon' : '-lon' })

const inWorld = (lat, lon) => Math.abs(lat) <= 90 && Math.abs(lon) <= 180

/** @returns {Place | null} */
const placeOf = (lat, lon, z) => inWorld(lat, lon) ? { lat, lon, ...(z >= 0 && z <= MAX_ZOOM && { z }) } : null

/**
 * @param {string} text @param {string} [language] decides what O means: east or west
 * @returns {Place | null} null: the text has none of these forms
 */
export function parsePlace (text, language = 'en') {
  const trimmed = text.trim()
  return parseAddress(trimmed) ?? parseSlashes(trimmed) ?? parsePair(trimmed, language)
}

/** A geo: URI, or the address of another map. */
function parseAddress (text) {
  const geo = /^geo:([-+\d.]+),([-+\d.]+)(?:,[-+\d.]+)?([;?].*)?$/i.exec(text)
  if (geo) {
    const [, lat, lon, extras = ''] = geo
    const zoom = /[?&]z=([\d.]+)/.exec(extras)?.[1]
    // phones write a search as geo:0,0?q=LAT,LON
    const [, ...searched] = /[?&]q=([-+\d.]+),([-+\d.]+)/.exec(extras) ?? []
    const [north, east] = Number(lat) === 0 && Number(lon) === 0 && searched.length ? searched : [lat, lon]
    return placeOf(Number(north), Number(east), zoom === undefined ? NaN : Number(zoom))
  }
  const [, lat, lon, zoom] = /@([-+]?\d+\.\d+),([-+]?\d+\.\d+),([\d.]+)z/.exec(text) ?? []
  if (lat) return placeOf(Number(lat), Number(lon), Number(zoom))
  const [, hash] = /#(?:map=)?([\d.]+\/[-+\d.]+\/[-+\d.]+)/.exec(text) ?? []
  return hash ? parseSlashes(hash, true) : null
}

/** A tile, or zoom, latitude and longitude. */
function parseSlashes (text, isPlace = false) {
  const parts = /^(\d+(?:\.\d+)?)\/([-+]?\d+(?:\.\d+)?)\/([-+]?\d+(?:\.\d+)?)$/.exec(text)
  if (!parts) return null
  const [z, a, b] = parts.slice(1).map(Number)
  const isTile = !isPlace && /^\d+\/\d+\/\d+$/.test(text) && z <= MAX_ZOOM && Math.max(a, b) < 2 ** z
  if (!isTile) return placeOf(a, b, z)
  const [west, south, east, north] = tileBounds(z, a, b)
  return { lat: (south + north) / 2, lon: (west + east) / 2, z }
}

const MARKS = { 'º': '°', '˚': '°', D: '°', '′': "'", '’': "'", M: "'", '″': '"', '”': '"' }

/** Two angles, each with a sign or a letter, or none. */
function parsePair (text, language) {
  const letters = lettersOf(language)
  const plain = text.toUpperCase().replace(/\bLAT(ITUDE)?\b|\bLON(G|GITUDE)?\b|[:=()]/g, ' ')
    .replace(/[º˚D′’M″”]/g, mark => MARKS[mark]).replace(/''/g, '"')
  const tokens = tokensOf(withPoints(plain))
  const second = tokens && beginningOfSecond(tokens)
  if (!second) return null
  const angles = [tokens.slice(0, second), tokens.slice(second)].map(part => parseAngle(part, letters))
  if (angles.some(angle => angle === null)) return null
  const [angle, otherAngle] = /** @type {{value: number, axis?: string}[]} */ (angles)
  if (angle.axis && angle.axis === otherAngle.axis) return null
  const isSwapped = angle.axis === 'lon' || otherAngle.axis === 'lat'
  return isSwapped ? placeOf(otherAngle.value, angle.value) : placeOf(angle.value, otherAngle.value)
}

/** Replaces decimal commas by points: a comma is one if a semicolon or a space divides the numbers. */
function withPoints (text) {
  const isDecimal = text.includes(';') || /^[^.]*\d,\d+[^,.]*\s[^,.]*\d,\d[^,.]*$/.test(text)
  return isDecimal ? text.replace(/(\d),(?=\d)/g, '$1.') : text
}

/** Numbers, letters, marks and dividers; null where there is anything else. @returns {string[] | null} */
function tokensOf (text) {
  const isToken = /[-+]?\d+(?:\.\d+)?|[NSEWO]|[;,]|[°'"]/g
  return text.replace(isToken, '').trim() ? null : text.match(isToken)
}

const isNumber = token => /\d/.test(token)
const isLetter = token => /[NSEWO]/.test(token)

/** The index of the second angle: behind a divider or a letter, before a second sign of degrees, or the middle. */
function beginningOfSecond (tokens) {
  const positions = test => tokens.flatMap((token, index) => test(token) ? [index] : [])
  const [divider, ...dividers] = positions(token => /[;,]/.test(token))
  if (dividers.length) return 0
  if (divider !== undefined) return divider + 1
  const [letter, next] = positions(isLetter)
  if (next !== undefined) return letter === 0 ? next : letter + 1
  const degrees = positions(token => token === '°')
  if (degrees.length === 2) return degrees[1] - 1
  const numbers = positions(isNumber)
  return numbers.length % 2 ? 0 : numbers[numbers.length / 2]
}

/** Degrees, minutes and seconds. @param {string[]} tokens @returns {{value: number, axis?: string} | null} */
function parseAngle (tokens, letters) {
  const parts = tokens.filter(isNumber)
  const [letter, ...moreLetters] = tokens.filter(isLetter)
  const [degrees, minutes = 0, seconds = 0] = parts.map(Number)
  const isAngle = parts.length > 0 && parts.length <= 3 && parts.slice(1).every(
    part => /^\d/.test(part) && Number(part) < 60
  )
  if (moreLetters.length || !isAngle) return null
  const size = Math.abs(degrees) + minutes / 60 + seconds / 3600
  const meaning = letter && letters[letter]
  const sign = (parts[0].startsWith('-') ? -1 : 1) * (meaning?.startsWith('-') ? -1 : 1)
  return { value: sign * size, ...(meaning && { axis: meaning.replace('-', '') }) }
}

/**
 * The places of an answer of Nominatim, or of a service like it. Invalid entries are left out.
 * @param {any} answer
 * @returns {{title: string, lat: number, lon: number, box?: number[]}[]} box: west, south, east, north
 */
export function placesIn (answer) {
  if (!Array.isArray(answer)) return []
  return answer.slice(0, MOST).flatMap(entry => {
    const [lat, lon] = [entry?.lat, entry?.lon].map(Number)
    const [south, north, west, east] = (Array.isArray(entry?.boundingbox) ? entry.boundingbox : []).map(Number)
    const isPlace = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && typeof entry.display_name === 'string'
    const isIn = (limit, ...degrees) => degrees.every(value => Math.abs(value) <= limit)
    const isBox = south <= north && isIn(90, south, north) && isIn(180, west, east)
    const place = { title: String(entry?.display_name).slice(0, 300), lat, lon }
    return isPlace ? [{ ...place, ...(isBox && { box: [west, south, east, north] }) }] : []
  })
}
