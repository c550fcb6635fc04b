// Checks Mapbox vector tiles 2.1: decodes them to the last geometry command, and keeps nothing of them. A hostile tile
// cannot make memory grow, since every length is compared with the remaining bytes.
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
const MOST_TABLE = 10_000 // keys, and values, that are read for the fields of a layer
const LONGEST_NAME = 200 // bytes of a source layer or field that is listed

/** The counts of one tile, and remarks about it. */
class Findings {
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
  constructor (bytes, pos = 0, end = bytes.length) {
    this.bytes = bytes
    this.pos = pos
    this.end = end
    this.field = 0
    this.wire = 0
  }

  /** Reads the number and the wire type of the next field. Returns false at the end. */
  next () {
    if (this.pos >= this.end) return false
    const key = this.varint()
    this.field = Math.floor(key / 8)
    this.wire = key % 8
    if (!this.field) throw damaged('a field without a number')
    return true
  }

  /** Reads a whole number, exactly up to 2^53. Greater ones are only skipped. */
  varint () {
    const { bytes, end } = this
    let value = 0
    let scale = 1
    for (let count = 0; count < 10; count++) {
      if (this.pos >= end) throw damaged('a number is cut off')
      const byte = bytes[this.pos++]
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    throw damaged('a number of more than 10 bytes')
  }

  /** Returns a reader for the content of a field of bytes. */
  inner (label) {
    if (this.wire !== BYTES) throw damaged(`${label} is written as type ${this.wire}`)
    const length = this.varint()
    if (length > this.end - this.pos) throw damaged(`${label} needs ${length} bytes, there are ${this.end - this.pos}`)
    const inner = new Reader(this.bytes, this.pos, this.pos + length)
    this.pos += length
    return inner
  }

  text (label) {
    const { pos, end } = this.inner(label)
    const bytes = this.bytes.subarray(pos, end)
    if (!isUtf8(bytes)) throw damaged(`${label} is no UTF-8`)
    return bytes
  }

  number (label) {
    if (this.wire !== VARINT) throw damaged(`${label} is written as type ${this.wire}`)
    return this.varint()
  }

  skip () {
    if (this.wire === VARINT) this.varint()
    else if (this.wire === BYTES) this.inner('a field')
    else if (this.wire === FIXED32 || this.wire === FIXED64) {
      this.pos += this.wire === FIXED32 ? 4 : 8
      if (this.pos > this.end) throw damaged('a fixed number is cut off')
    } else throw damaged(`no such type of field: ${this.wire}`)
  }
}

/**
 * @param {Uint8Array} bytes unpacked
 * @returns {{layers: number, features: number, damage?: string, odd: string[]}} damage: why it cannot be decoded; odd:
 *   rules it breaks that decoders do not mind
 */
export function checkVectorTile (bytes) {
  const findings = new Findings()
  let damage
  try {
    const names = new Set()
    const tile = new Reader(bytes)
    while (tile.next()) {
      if (tile.field !== 3) tile.skip()
      else checkLayer(tile.inner('a layer'), names, findings)
    }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    damage = error.message
  }
  return { layers: findings.layers, features: findings.features, ...(damage && { damage }), odd: [...findings.odd] }
}

/**
 * Reads the source layers of a tile, and the fields of their features with the type of the first value of each.
 * Names that are empty or very long are left out.
 * @param {Uint8Array} bytes unpacked
 * @returns {Map<string, Map<string, string>>} empty if it cannot be decoded
 */
export function readSourceLayers (bytes) {
  const fieldsByLayer = new Map()
  try {
    const tile = new Reader(bytes)
    while (tile.next()) {
      if (tile.field === 3) readFields(tile.inner('a layer'), fieldsByLayer)
      else tile.skip()
    }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    fieldsByLayer.clear()
  }
  return fieldsByLayer
}

function readFields (layer, fieldsByLayer) {
  const { pos, end } = layer
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
  const fields = fieldsByLayer.get(name) ?? new Map()
  fieldsByLayer.set(name, fields)
  const untypedKeys = new Set(keys.filter(key => key && !fields.has(key)))
  const secondPass = new Reader(layer.bytes, pos, end)
  while (untypedKeys.size && secondPass.next()) {
    if (secondPass.field !== 2) secondPass.skip()
    else {
      for (const [key, value] of tagsOf(secondPass.inner('a feature'))) {
        const type = types[value]
        if (type && untypedKeys.delete(keys[key])) fields.set(keys[key], type)
      }
    }
  }
}

function shortText (reader, label) {
  const text = reader.text(label)
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
    while (tags.pos < tags.end) yield [tags.varint(), tags.varint()]
  }
}

function checkLayer (layer, names, findings) {
  const { pos, end } = layer
  let [keys, values, version] = [0, 0, 0]
  let name
  // keys and values may follow the features that refer to them: they are counted first
  while (layer.next()) {
    if (layer.field === 1) name = layer.text('the name of a layer').toString()
    else if (layer.field === 3) {
      layer.text('a key')
      keys++
    } else if (layer.field === 4) {
      checkValue(layer.inner('a value'), findings)
      values++
    } else if (layer.field === 5) checkExtent(layer.number('the extent'))
    else if (layer.field === 15) version = layer.number('the version of a layer')
    else layer.skip()
  }
  if (name === undefined) throw damaged('a layer without a name')
  if (names.has(name)) findings.add(`two layers are called ${name}`)
  if (names.size < 1000) names.add(name)
  if (version !== 1 && version !== 2) findings.add(version ? `version ${version}` : 'a layer without a version')
  findings.layers++
  const secondPass = new Reader(layer.bytes, pos, end)
  while (secondPass.next()) {
    if (secondPass.field === 2) checkFeature(secondPass.inner('a feature'), keys, values, findings)
    else secondPass.skip()
  }
}

function checkExtent (extent) {
  if (extent === 0) throw damaged('an extent of 0')
}

function checkValue (value, findings) {
  let count = 0
  while (value.next()) {
    const wire = VALUES[value.field]
    if (wire !== undefined && value.wire !== wire) {
      throw damaged(`field ${value.field} of a value is written as type ${value.wire}`)
    }
    if (wire !== undefined) count++
    value.skip()
  }
  if (count !== 1) findings.add(`a value of ${count} kinds`)
}

function checkFeature (feature, keys, values, findings) {
  let type = 0
  let geometry
  while (feature.next()) {
    if (feature.field === 2) checkTags(feature.inner('tags'), keys, values)
    else if (feature.field === 3) type = feature.number('the type of a feature')
    else if (feature.field === 4) geometry = feature.inner('a geometry')
    else feature.skip()
  }
  if (type > POLYGON) findings.add(`a feature of type ${type}`)
  if (!geometry || geometry.pos === geometry.end) findings.add('a feature without a geometry')
  else checkGeometry(geometry, type, findings)
  findings.features++
}

function checkTags (tags, keys, values) {
  while (tags.pos < tags.end) {
    const key = tags.varint()
    if (tags.pos >= tags.end) throw damaged('a tag without a value')
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

function checkGeometry (geometry, type, findings) {
  const following = FOLLOWING[type]
  let lastCommand = 'first'
  while (geometry.pos < geometry.end) {
    const integer = geometry.varint()
    const command = integer % 8
    const count = Math.floor(integer / 8)
    if (command !== MOVE_TO && command !== LINE_TO && command !== CLOSE_PATH) {
      throw damaged(`no such geometry command: ${command}`)
    }
    if (following && !following[lastCommand]?.includes(command)) {
      findings.add('geometry commands in an order that its type does not have')
    }
    if (command === CLOSE_PATH ? count !== 1 : count === 0 || (command === MOVE_TO && count > 1 && type !== POINT)) {
      findings.add(`a geometry command ${command} repeated ${count} times`)
    }
    // a parameter has at least one byte: an impossible count ends here, and not after as many turns
    const parameters = command === CLOSE_PATH ? 0 : 2 * count
    if (parameters > geometry.end - geometry.pos) throw damaged('a geometry is cut off')
    for (let index = 0; index < parameters; index++) geometry.varint()
    lastCommand = `${command}`
  }
  const lastOfType = { [POINT]: MOVE_TO, [LINE]: LINE_TO }[type] ?? CLOSE_PATH
  if (following && lastCommand !== `${lastOfType}`) {
    findings.add('a geometry that does not end as its type does')
  }
}
