// Values of options that several commands take.
import { TilecouchError, addSeconds, now, parseArea, parseDuration, parseZooms, startOf } from '../../core/index.js'
import { readSmallFile } from '../regular-file.js'

const MOST_GEOJSON = 64e6 // bytes of a file with polygons

/**
 * A whole number from 1 on; nothing stays nothing.
 * @param {string} option as the message names it
 * @param {string | undefined} value
 * @param {number} digits it may have
 */
export function wholeNumber (option, value, digits) {
  if (value === undefined) return undefined
  if (!/^[1-9]\d*$/.test(value) || value.length > digits) throw new TilecouchError('BAD_OPTION', { option, value })
  return +value
}

/**
 * The area of --bbox and --polygon; throws BAD_AREA when there is neither.
 * @param {{bbox?: string, polygon?: string}} options polygon: a GeoJSON file
 */
export const areaOf = async ({ bbox, polygon }) =>
  parseArea({ bbox, polygon: polygon === undefined ? undefined : await readGeoJson(polygon) })

/** As areaOf, for commands that take everything where no area is named. */
export const areaIfAny = async options =>
  options.bbox === undefined && options.polygon === undefined ? undefined : areaOf(options)

/** @param {string | undefined} zoom as in --zoom */
export const zoomsOf = zoom => zoom === undefined ? undefined : parseZooms(zoom)

/** `7d` is so long ago, anything else a time, of which the start counts. @param {string} text */
export const timeOrAgo = text => /^\d+(\.\d+)?\s*[smhdwy]$/i.test(text) ? addSeconds(now(), -parseDuration(text)) : startOf(text)

async function readGeoJson (file) {
  let text
  try {
    text = String(readSmallFile(file, MOST_GEOJSON))
  } catch (error) {
    throw error.code === 'ENOENT' ? new TilecouchError('SOURCE_NOT_FOUND', { value: file }) : new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message })
  }
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) // some editors begin a file with a mark of its encoding
  } catch (error) {
    throw new TilecouchError('BAD_AREA', { why: `${file} is no JSON: ${error.message}` })
  }
}
