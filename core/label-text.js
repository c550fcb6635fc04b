// Finds the letters that a map draws: the text that a style takes from features, its fonts, and the ranges of letters
// in vector tiles. Glyphs are served in ranges of 256 letters, numbered from 0: range 0 has the letters 0 to 255. Not
// in core/index.js: a map without vector tiles does not need the decoder.
import { PbfReader } from 'pbf'
import { cached } from './cache.js'

const [FEATURE, KEY, VALUE] = [2, 3, 4].map(field => field << 3 | 2) // fields of a layer of a tile, of bytes
const LAYER = 3 << 3 | 2
const TAGS = 2 << 3 | 2 // of a feature
const TEXT = 1 << 3 | 2 // of a value
const RANGE = 8 // bits of a letter's number within a range
const DEFAULT_FONT = 'Open Sans Regular' // of labels without text-font, by the style specification
const MOST_ATTRIBUTES = 500 // counted by name
const OTHERS = '' // all further attributes together

/** Arabic letters are drawn with their joined forms, which are in other ranges. */
const ARABIC = new Set([0x06, 0x07, 0x08])
const JOINED_FORMS = [0xfb, 0xfc, 0xfd, 0xfe]

/**
 * The stacks of fonts in the value of `text-font`: a list, or an expression with lists in it.
 * @returns {string[][]}
 */
export function stacksIn (value) {
  if (!Array.isArray(value)) return []
  return value[0] !== 'literal' && value.every(font => typeof font === 'string') ? [value] : literalsIn(value)
}

/** @returns {string[][]} */
function literalsIn (value) {
  if (!Array.isArray(value)) return []
  if (value[0] === 'literal') return Array.isArray(value[1]) ? [value[1]] : []
  return value.flatMap(literalsIn)
}

/**
 * The fonts and attributes that the labels of a style use.
 * @param {{layers: any[]}} style
 * @returns {{fonts?: Set<string>, attributes?: Set<string>}} fonts: the first one of each stack; attributes: of
 *   features that are drawn. Undefined where an expression computes them
 */
export function labelsOf ({ layers }) {
  const [fonts, attributes] = [new Set(), new Set()]
  let [knowsFonts, knowsAttributes] = [true, true]
  for (const { type, layout } of layers) {
    const text = type === 'symbol' ? layout?.['text-field'] : undefined
    if (text === undefined) continue
    const { 'text-font': font = [DEFAULT_FONT] } = layout
    const stacks = [...stacksIn(font), ...fontsWithin(text)]
    for (const [first] of stacks) fonts.add(first)
    knowsFonts &&= stacks.length > 0
    for (const word of wordsIn(text)) attributes.add(word)
    knowsAttributes &&= !looksUp(text)
  }
  return { fonts: knowsFonts ? fonts : undefined, attributes: knowsAttributes ? attributes : undefined }
}

/** Parts of a label may have fonts of their own: `["format", text, {"text-font": …}]`. */
function fontsWithin (value) {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => name === 'text-font' ? stacksIn(part) : fontsWithin(part))
}

/** Every text in an expression, and the names in `{name}`: attributes are among them. @returns {string[]} */
function wordsIn (value) {
  if (typeof value === 'string') return [value, ...[...value.matchAll(/{([^{}]+)}/g)].map(([, name]) => name)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsIn) : []
}

/** Whether the name of an attribute is the result of an expression. */
function looksUp (value) {
  if (!Array.isArray(value)) return false
  const [operator, name] = value
  return operator === 'properties' || (operator === 'get' && typeof name !== 'string') || value.some(looksUp)
}

/** The ranges of a text, also in upper and lower case: a style may transform it. @param {string} text */
export const rangesOf = text =>
  new Set([...`${text}${text.toUpperCase()}${text.toLowerCase()}`].map(letter => codeOf(letter) >> RANGE))

const codeOf = letter => /** @type {number} */ (letter.codePointAt(0))

/** The ranges that a map needs to draw letters of these ranges. @param {Iterable<number>} ranges */
export function drawnRanges (ranges) {
  const neededRanges = new Set([0, ...ranges]) // range 0: digits and the like
  if ([...neededRanges].some(range => ARABIC.has(range))) for (const range of JOINED_FORMS) neededRanges.add(range)
  return neededRanges
}

/** @typedef {Record<string, number[]>} Letters attribute -> ranges of its texts, without the first range */

/** Collects the letters of many tiles. */
export class LetterCounter {
  /** @type {Map<string, Set<number>>} */
  #ranges

  /** @param {Letters} [letters] counted before */
  constructor (letters = {}) {
    this.#ranges = new Map(Object.entries(letters).map(([name, ranges]) => [name, new Set(ranges)]))
  }

  /**
   * @param {Uint8Array} bytes of a vector tile, unpacked
   * @returns {boolean} whether the tile has a new range of letters
   */
  add (bytes) {
    let isNew = false
    for (const [name, ranges] of lettersIn(bytes)) {
      const isKnown = this.#ranges.has(name) || this.#ranges.size < MOST_ATTRIBUTES
      const attribute = isKnown ? name : OTHERS
      const attributeRanges = cached(this.#ranges, attribute, () => new Set())
      for (const range of ranges) {
        isNew ||= !attributeRanges.has(range)
        attributeRanges.add(range)
      }
    }
    return isNew
  }

  /** @returns {Letters} */
  toJSON () {
    return Object.fromEntries([...this.#ranges].map(([name, ranges]) => [name, [...ranges].sort((a, b) => a - b)]))
  }
}

/** The ranges that labels need. @param {Letters} letters @param {Set<string>} [attributes] default: all */
export function rangesOfLabels (letters, attributes) {
  const names = Object.keys(letters).filter(name => !attributes || name === OTHERS || attributes.has(name))
  return new Set(names.flatMap(name => letters[name]))
}

/**
 * The ranges of letters after the first 256, by attribute. It does not read geometry, nor the features of layers that
 * have only the first 256.
 * @param {Uint8Array} bytes @returns {Map<string, Set<number>>} throws if the tile is damaged
 */
function lettersIn (bytes) {
  const rangesByAttribute = new Map()
  const pbf = new PbfReader(bytes)
  while (pbf.pos < pbf.length) {
    const tag = pbf.readVarint()
    if (tag === LAYER) readLayer(pbf, pbf.readVarint() + pbf.pos, rangesByAttribute)
    else pbf.skip(tag)
  }
  return rangesByAttribute
}

/** @param {PbfReader} pbf @param {number} end @param {Map<string, Set<number>>} rangesByAttribute */
function readLayer (pbf, end, rangesByAttribute) {
  const keys = /** @type {string[]} */ ([])
  const values = /** @type {(Set<number> | undefined)[]} */ ([])
  const features = /** @type {number[]} */ ([]) // their offsets
  while (pbf.pos < end) {
    const tag = pbf.readVarint()
    if (tag === FEATURE) features.push(pbf.pos)
    if (tag === KEY) keys.push(pbf.readString())
    else if (tag === VALUE) values.push(readValue(pbf, pbf.readVarint() + pbf.pos))
    else pbf.skip(tag)
  }
  if (values.some(value => value)) {
    for (const offset of features) {
      pbf.pos = offset
      readTags(pbf, pbf.readVarint() + pbf.pos, (key, value) => {
        const ranges = values[value]
        if (!ranges) return
        const attributeRanges = cached(rangesByAttribute, keys[key], () => new Set())
        for (const range of ranges) if (range) attributeRanges.add(range)
      })
    }
  }
  pbf.pos = end
}

/** @param {PbfReader} pbf @param {number} end */
function readValue (pbf, end) {
  let ranges
  while (pbf.pos < end) {
    const tag = pbf.readVarint()
    if (tag !== TEXT) {
      pbf.skip(tag)
      continue
    }
    const bytes = pbf.readBytes()
    if (bytes.some(byte => byte > 0x7f)) ranges = rangesOf(decoder.decode(bytes))
  }
  pbf.pos = end
  return ranges
}

const decoder = new TextDecoder()

/** @param {PbfReader} pbf @param {number} end @param {(key: number, value: number) => void} onPair */
function readTags (pbf, end, onPair) {
  while (pbf.pos < end) {
    const tag = pbf.readVarint()
    if (tag !== TAGS) {
      pbf.skip(tag)
      continue
    }
    const last = pbf.readVarint() + pbf.pos
    while (pbf.pos < last) onPair(pbf.readVarint(), pbf.readVarint())
  }
}
