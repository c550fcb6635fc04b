// Encodes vector tiles for tests by hand, so that tests do not read what the same library wrote. One tile can be
// encoded in several ways that mean the same.
import { gzipSync } from 'node:zlib'
import { PbfWriter } from 'pbf'

const TYPES = { Point: 1, LineString: 2, Polygon: 3 }
const [MOVE_TO, LINE_TO, CLOSE_PATH] = [1, 2, 7]

/**
 * @typedef {object} TestFeature
 * @property {number} [id]
 * @property {'Point' | 'LineString' | 'Polygon'} type
 * @property {[number, number][][]} lines for a point one line each; for a polygon open rings
 * @property {Record<string, string | number | boolean>} [properties]
 *
 * @typedef {{extent?: number, other?: boolean}} Encoding other: writes the same features in another way: layers,
 *   points, lines, tables and fields in another order, keys and values repeated, integers in another type
 */

/**
 * @param {Record<string, TestFeature[]>} layers
 * @param {Encoding} [encoding]
 * @returns {Uint8Array} not gzipped
 */
export function encodeTile (layers, { extent = 4096, other = false } = {}) {
  const pbf = new PbfWriter()
  const entries = Object.entries(layers)
  for (const [name, features] of other ? entries.reverse() : entries) {
    pbf.writeMessage(3, writeLayer, { name, features, extent, other })
  }
  return pbf.finish()
}

/** A gzipped vector tile, as a store keeps it. */
export const packTile = (layers, encoding) => gzipSync(encodeTile(layers, encoding), { level: encoding?.other ? 1 : 9 })

function writeLayer ({ name, features, extent, other }, pbf) {
  const tables = { keys: [], values: [] }
  const indexOf = (table, value) => {
    const index = other ? -1 : table.indexOf(value)
    return index < 0 ? table.push(value) - 1 : index
  }
  const tagged = features.map(feature => {
    const entries = Object.entries(feature.properties ?? {})
    return { ...feature, tags: (other ? entries.reverse() : entries)
      .flatMap(([key, value]) => [indexOf(tables.keys, key), indexOf(tables.values, value)]) }
  })
  const isPolygon = ({ type }) => type === 'Polygon' // the order of polygons has a meaning
  const ordered = other ? [...tagged.filter(isPolygon), ...tagged.filter(item => !isPolygon(item)).reverse()] : tagged
  const parts = [
    () => pbf.writeVarintField(15, 2),
    () => pbf.writeStringField(1, name),
    () => { for (const feature of ordered) pbf.writeMessage(2, writeFeature, { ...feature, other }) },
    () => { for (const key of tables.keys) pbf.writeStringField(3, key) },
    () => { for (const value of tables.values) pbf.writeMessage(4, writeValue, { value, other }) },
    () => { if (extent !== 4096 || other) pbf.writeVarintField(5, extent) }
  ]
  for (const part of other ? parts.reverse() : parts) part()
}

function writeFeature ({ id, type, lines, tags, other }, pbf) {
  const parts = [
    () => { if (id !== undefined) pbf.writeVarintField(1, id) },
    () => pbf.writePackedVarint(2, tags),
    () => pbf.writeVarintField(3, TYPES[type]),
    () => pbf.writePackedVarint(4, commands(type, lines, other))
  ]
  for (const part of other ? parts.reverse() : parts) part()
}

/** The commands of a geometry: one for all points of a line, or with `other`, one for each point. */
function commands (type, lines, other) {
  const out = []
  let [x, y] = [0, 0]
  const go = points => {
    for (const [px, py] of points) {
      out.push(zigzag(px - x), zigzag(py - y))
      ;[x, y] = [px, py]
    }
  }
  const command = (id, points) => {
    if (other) for (const point of points) { out.push(1 << 3 | id); go([point]) }
    else if (points.length) { out.push(points.length << 3 | id); go(points) }
  }
  if (type === 'Point') command(MOVE_TO, lines.flat())
  else {
    for (const [first, ...following] of lines) {
      command(MOVE_TO, [first])
      command(LINE_TO, following)
      if (type === 'Polygon') out.push(1 << 3 | CLOSE_PATH)
    }
  }
  return out
}

const zigzag = value => value < 0 ? -2 * value - 1 : 2 * value

function writeValue ({ value, other }, pbf) {
  if (typeof value === 'string') pbf.writeStringField(1, value)
  else if (typeof value === 'boolean') pbf.writeBooleanField(7, value)
  else if (!Number.isInteger(value)) pbf.writeDoubleField(3, value)
  else if (other) pbf.writeSVarintField(6, value)
  else pbf.writeVarintField(4, value)
}
