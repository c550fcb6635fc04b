// Mapbox vector tiles 2.1, decoded to the last geometry command and thrown away. Nothing is kept of them, so that
// memory does not grow with what a hostile tile claims; every length is compared with the bytes that are there.
import { isUtf8 } from 'node:buffer'

const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5] // wire types
const [MOVE_TO, LINE_TO, CLOSE_PATH] = [1, 2, 7] // geometry commands
const [POINT, LINE, POLYGON] = [1, 2, 3] // feature types
/** Field of a value -> how it is written. */
const VALUES = { 1: BYTES, 2: FIXED32, 3: FIXED64, 4: VARINT, 5: VARINT, 6: VARINT, 7: VARINT }
/** Field of a value -> its type, as the metadata of MBTiles calls it. */
const TYPES = { 1: 'String', 2: 'Number', 3: 'Number', 4: 'Number', 5: 'Number', 6: 'Number', 7: 'Boolean' }

class Damaged extends Error {}

const damaged = why => new Damaged(why)

const MOST_ODD = 10 // remarks on one tile
const MOST_TABLE = 10_000 // keys of a layer that are read for its fields, and values
const LONGEST_NAME = 200 // bytes of a source layer or field that is listed

/** What was found so far. */
class Found {
  layers = 0
  features = 0
  /** @type {Set<string>} */
  odd = new Set()

  add (why) {
    if (this.odd.size < MOST_ODD) this.odd.add(why)
  }
}

/** Protobuf in a range of bytes. */
class Reader {
  constructor (bytes, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
    this.field = 0
    this.wire = 0
  }

  /** Whether there is another field; reads its number and how it is written. */
  next () {
    if (this.at >= this.end) return false
    const key = this.varint()
    this.field = Math.floor(key / 8)
    this.wire = key % 8
    if (!this.field) throw damaged('a field without a number')
    return true
  }

  /** Whole numbers up to 2^53 exactly; greater ones are only ever skipped. */
  varint () {
    const { bytes, end } = this
    let value = 0
    let scale = 1
    for (let count = 0; count < 10; count++) {
      if (this.at >= end) throw damaged('a number is cut off')
      const byte = bytes[this.at++]
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    throw damaged('a number of more than 10 bytes')
  }

  /** What is in a field of bytes, as a reader of its own. */
  inner (what) {
    if (this.wire !== BYTES) throw damaged(`${what} is written as type ${this.wire}`)
    const length = this.varint()
    if (length > this.end - this.at) throw damaged(`${what} needs ${length} bytes, there are ${this.end - this.at}`)
    const inner = new Reader(this.bytes, this.at, this.at + length)
    this.at += length
    return inner
  }

  text (what) {
    const { at, end } = this.inner(what)
    const bytes = this.bytes.subarray(at, end)
    if (!isUtf8(bytes)) throw damaged(`${what} is no UTF-8`)
    return bytes
  }

  number (what) {
    if (this.wire !== VARINT) throw damaged(`${what} is written as type ${this.wire}`)
    return this.varint()
  }

  skip () {
    if (this.wire === VARINT) this.varint()
    else if (this.wire === BYTES) this.inner('a field')
    else if (this.wire === FIXED32 || this.wire === FIXED64) {
      this.at += this.wire === FIXED32 ? 4 : 8
      if (this.at > this.end) throw damaged('a fixed number is cut off')
    } else throw damaged(`no such type of field: ${this.wire}`)
  }
}

/**
 * @param {Uint8Array} bytes unpacked
 * @returns {{layers: number, features: number, damage?: string, odd: string[]}} damage: why it cannot be decoded; odd:
 *   rules it breaks that decoders do not mind
 */
export function checkVectorTile (bytes) {
  const faults = new Found()
  let damage
  try {
    const names = new Set()
    const tile = new Reader(bytes)
    while (tile.next()) {
      if (tile.field !== 3) tile.skip()
      else checkLayer(tile.inner('a layer'), names, faults)
    }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    damage = error.message
  }
  return { layers: faults.layers, features: faults.features, ...(damage && { damage }), odd: [...faults.odd] }
}

/**
 * The source layers of a tile, and the fields that their features have, with the type of the first value of each.
 * Names that are empty or very long are left out.
 * @param {Uint8Array} bytes unpacked
 * @returns {Map<string, Map<string, string>>} empty if it cannot be decoded
 */
export function readSourceLayers (bytes) {
  const fieldsByNumber = new Map()
  try {
    const tile = new Reader(bytes)
    while (tile.next()) {
      if (tile.field === 3) readFields(tile.inner('a layer'), fieldsByNumber)
      else tile.skip()
    }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    fieldsByNumber.clear()
  }
  return fieldsByNumber
}

function readFields (layer, found) {
  const { at, end } = layer
  const keys = []
  const types = []
  let name = ''
  while (layer.next()) {
    if (layer.field === 1) name = shortText(layer, 'the name of a layer')
    else if (layer.field === 3 && keys.length < MOST_TABLE) keys.push(shortText(layer, 'a key'))
    else if (layer.field === 4 && types.length < MOST_TABLE) types.push(typeOf(layer.inner('a value')))
    else layer.skip()
  }
  if (!name) return
  const fields = found.get(name) ?? new Map()
  found.set(name, fields)
  const untypedKeys = new Set(keys.filter(key => key && !fields.has(key)))
  const again = new Reader(layer.bytes, at, end)
  while (untypedKeys.size && again.next()) {
    if (again.field !== 2) again.skip()
    else {
      for (const [key, value] of tagsOf(again.inner('a feature'))) {
        const type = types[value]
        if (type && untypedKeys.delete(keys[key])) fields.set(keys[key], type)
      }
    }
  }
}

function shortText (reader, what) {
  const text = reader.text(what)
  return text.length > LONGEST_NAME ? '' : Buffer.from(text).toString()
}

const typeOf = value => value.next() ? TYPES[value.field] : undefined

/** @returns {Generator<[key: number, value: number]>} */
function * tagsOf (feature) {
  while (feature.next()) {
    if (feature.field !== 2) {
      feature.skip()
      continue
    }
    const tags = feature.inner('tags')
    while (tags.at < tags.end) yield [tags.varint(), tags.varint()]
  }
}

function checkLayer (layer, names, found) {
  const { at, end } = layer
  let [keys, values, version] = [0, 0, 0]
  let name
  // keys and values may follow the features that refer to them: they are counted first
  while (layer.next()) {
    if (layer.field === 1) name = layer.text('the name of a layer').toString()
    else if (layer.field === 3) keys += Number(Boolean(layer.text('a key')))
    else if (layer.field === 4) values += checkValue(layer.inner('a value'), found)
    else if (layer.field === 5) checkExtent(layer.number('the extent'))
    else if (layer.field === 15) version = layer.number('the version of a layer')
    else layer.skip()
  }
  if (name === undefined) throw damaged('a layer without a name')
  if (names.has(name)) found.add(`two layers are called ${name}`)
  if (names.size < 1000) names.add(name)
  if (version !== 1 && version !== 2) found.add(version ? `version ${version}` : 'a layer without a version')
  found.layers++
  const again = new Reader(layer.bytes, at, end)
  while (again.next()) {
    if (again.field === 2) checkFeature(again.inner('a feature'), keys, values, found)
    else again.skip()
  }
}

function checkExtent (extent) {
  if (extent === 0) throw damaged('an extent of 0')
}

/** One value, counted. */
function checkValue (value, found) {
  let count = 0
  while (value.next()) {
    const wire = VALUES[value.field]
    if (wire !== undefined && value.wire !== wire) {
      throw damaged(`field ${value.field} of a value is written as type ${value.wire}`)
    }
    if (wire !== undefined) count++
    value.skip()
  }
  if (count !== 1) found.add(`a value of ${count} kinds`)
  return 1
}

function checkFeature (feature, keys, values, found) {
  let type = 0
  let geometry
  while (feature.next()) {
    if (feature.field === 2) checkTags(feature.inner('tags'), keys, values)
    else if (feature.field === 3) type = feature.number('the type of a feature')
    else if (feature.field === 4) geometry = feature.inner('a geometry')
    else feature.skip()
  }
  if (type > POLYGON) found.add(`a feature of type ${type}`)
  if (!geometry || geometry.at === geometry.end) found.add('a feature without a geometry')
  else checkGeometry(geometry, type, found)
  found.features++
}

function checkTags (tags, keys, values) {
  while (tags.at < tags.end) {
    const key = tags.varint()
    if (tags.at >= tags.end) throw damaged('a tag without a value')
    const value = tags.varint()
    if (key >= keys || value >= values) {
      throw damaged(`a tag refers to key ${key} and value ${value}, there are ${keys} and ${values}`)
    }
  }
}

/** Which command may follow which, in each type of feature. */
const FOLLOWING = {
  [POINT]: { first: [MOVE_TO] },
  [LINE]: { first: [MOVE_TO], [MOVE_TO]: [LINE_TO], [LINE_TO]: [MOVE_TO] },
  [POLYGON]: { first: [MOVE_TO], [MOVE_TO]: [LINE_TO], [LINE_TO]: [CLOSE_PATH], [CLOSE_PATH]: [MOVE_TO] }
}

function checkGeometry (geometry, type, found) {
  const following = FOLLOWING[type]
  let last = 'first'
  while (geometry.at < geometry.end) {
    const integer = geometry.varint()
    const command = integer % 8
    const count = Math.floor(integer / 8)
    if (command !== MOVE_TO && command !== LINE_TO && command !== CLOSE_PATH) {
      throw damaged(`no such geometry command: ${command}`)
    }
    if (following && !following[last]?.includes(command)) {
      found.add('geometry commands in an order that its type does not have')
    }
    if (command === CLOSE_PATH ? count !== 1 : count === 0 || (command === MOVE_TO && count > 1 && type !== POINT)) {
      found.add(`a geometry command ${command} repeated ${count} times`)
    }
    // a parameter has a byte at least: a count that cannot be true ends here, and not after as many turns
    const parameters = command === CLOSE_PATH ? 0 : 2 * count
    if (parameters > geometry.end - geometry.at) throw damaged('a geometry is cut off')
    for (let index = 0; index < parameters; index++) geometry.varint()
    last = `${command}`
  }
  const lastOfType = { [POINT]: MOVE_TO, [LINE]: LINE_TO }[type] ?? CLOSE_PATH
  if (following && last !== `${lastOfType}`) {
    found.add('a geometry that does not end as its type does')
  }
}
