// The metadata table of MBTiles: what the specification wants to be there, and whether it is what it should be.
import { isUtf8 } from 'node:buffer'
import { DIFF_KEYS } from '../../sources/gone.js'
import { textOf } from '../../sources/sqlite/file.js'
import { metadataRows } from '../../sources/sqlite/mbtiles.js'
import { claimsOf } from '../metadata.js'

const MUST = ['name', 'format']
const SHOULD = ['bounds', 'center', 'minzoom', 'maxzoom']

/**
 * @param {import('../../sources/sqlite/file.js').SqliteFile} db
 * @param {import('../report.js').Report} report
 */
export async function readMetadata (db, report) {
  /** @type {Record<string, any>} */
  const values = {}
  const bad = why => report.add('bad-metadata', 'metadata', why)
  try {
    for await (const cells of metadataRows(db)) {
      if (cells.some(cell => cell && !isUtf8(cell))) bad('a text that is no UTF-8')
      const [name, value] = cells.map(textOf)
      if (Object.hasOwn(values, name)) bad(`${name} is there more than once`)
      values[name] ??= value
    }
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    bad(error.message)
    return { values, isDiff: false, claims: {} }
  }
  for (const name of MUST) if (values[name] === undefined || values[name] === '') bad(`${name} is missing`)
  const isDiff = DIFF_KEYS.some(key => Object.hasOwn(values, key))
  const missing = SHOULD.filter(name => values[name] === undefined || values[name] === '')
  // a diff says nothing of the whole
  if (missing.length && !isDiff) report.add('sparse-metadata', 'metadata', `${missing.join(', ')} missing`)
  const claims = claimsOf(values, bad)
  checkCenter(values.center, bad)
  checkJson(values, claims.format, bad)
  return { values, isDiff, claims }
}

function checkCenter (center, bad) {
  if (center === undefined || center === '') return
  const numbers = String(center).split(',').map(Number)
  const [lon, lat, zoom = 0] = numbers
  if (numbers.length < 2 || numbers.length > 3 || !numbers.every(Number.isFinite) || Math.abs(lon) > 180 || Math.abs(lat) > 90 || zoom < 0 || zoom > 30) bad(`center ${JSON.stringify(center)}`)
}

/** @param {Record<string, any>} values */
function checkJson ({ json }, format, bad) {
  if (json === undefined) {
    if (format === 'pbf') bad('json is missing: vector tiles need their vector_layers')
    return
  }
  try {
    const { vector_layers: layers } = JSON.parse(json)
    if (format === 'pbf' && !(Array.isArray(layers) && layers.every(layer => typeof layer?.id === 'string'))) bad('json has no vector_layers')
  } catch (error) {
    bad(`json: ${error.message}`)
  }
}
