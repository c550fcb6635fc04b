// Which letters and fonts a map writes with, by its style and the texts in its vector tiles.
import assert from 'node:assert/strict'
import { LetterCounter, drawnRanges, labelsOf, rangesOf, rangesOfLabels, stacksIn } from '../../core/label-text.js'
import { encodeTile } from '../support/vector-tile.js'

const point = properties => (
  { type: /** @type {const} */ ('Point'), lines: [[/** @type {[number, number]} */ ([1, 2])]], properties }
)
const countIn = (...tiles) => {
  const counter = new LetterCounter()
  const isNew = tiles.map(layers => counter.add(encodeTile(layers)))
  return { isNew, letters: counter.toJSON() }
}
/** What the style of one layer of labels is made of. */
const labels = (...layouts) => {
  const { fonts, attributes } = labelsOf({ layers: layouts.map(layout => ({ id: 'a', type: 'symbol', layout })) })
  return [fonts && [...fonts], attributes && [...attributes].sort()]
}

describe('the letters of vector tiles', () => {
  it('are counted for each attribute in ranges of 256, without the first range', () => {
    const { isNew, letters } = countIn(
      { place: [point({ name: 'Zürich', height: 400, open: true })] },
      { place: [point({ name: 'Łódź', 'name:el': 'Αθήνα' }), point({ class: 'town' })], water: [
        point({ 'name:ru': 'Москва' })
      ] },
      { road: [point({ name: 'Ł', ref: 'A 1' })] },
      {}
    )
    assert.deepEqual(isNew, [false, true, false, false])
    assert.deepEqual(letters, { name: [1], 'name:el': [3], 'name:ru': [4] })
  })

  it('include the capitals of letters, and letters beyond 65,535', () => {
    assert.deepEqual(countIn({ a: [point({ name: 'ÿ' })] }).letters, { name: [1] }, 'Ÿ is in the next range')
    assert.deepEqual(countIn({ a: [point({ name: '𐍈' })] }).letters, { name: [0x103] })
  })

  it('of more than 500 attributes are counted together and belong to every label', () => {
    const counter = new LetterCounter({ name: [1] })
    assert.equal(counter.add(encodeTile({ a: [point({ name: 'Ł' })] })), false)
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`name${at}`, at % 2 ? 'Łódź' : 'Αθήνα']))
    assert.equal(counter.add(encodeTile({ a: [point(many)] })), true)
    const letters = counter.toJSON()
    assert.ok(Object.keys(letters).length <= 501)
    assert.deepEqual([...rangesOfLabels(letters, new Set(['name2999']))].sort(),
      [1, 3], 'those not told apart count for every label')
  })

  it('of a cut-off tile lead to an error or to few ranges', () => {
    const bytes = encodeTile({ place: [point({ name: 'Łódź' })] })
    const counter = new LetterCounter()
    for (let length = 1; length < bytes.length; length++) {
      try {
        counter.add(bytes.subarray(0, length))
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }
    assert.ok(Object.values(counter.toJSON()).every(ranges => ranges.length <= 2))
  })
})

describe('the labels of a style', () => {
  it('have the first font of each stack, and attributes by their names', () => {
    assert.deepEqual(labels({ 'text-field': '{name} ({ref})', 'text-font': ['A', 'B'] }),
      [['A'], ['name', 'ref', '{name} ({ref})']])
    assert.deepEqual(
      labels({ 'text-field': ['coalesce', ['get', 'name:en'], ['get', 'name']], 'text-font': [
        'step', ['zoom'], ['literal', ['A']], 8, ['literal', ['B', 'C']]
      ] }), [['A', 'B'], ['coalesce', 'get', 'name', 'name:en']]
    )
    assert.deepEqual(labels({ 'text-field': ['format', ['get', 'name'], { 'text-font': ['literal', ['Bold']] }] })[0],
      ['Open Sans Regular', 'Bold'])
    assert.deepEqual(labels({ 'icon-image': 'dot' }), [[], []])
    assert.deepEqual(stacksIn(undefined), [])
  })

  it('have undefined attributes or fonts when an expression computes them', () => {
    assert.deepEqual(labels({ 'text-field': ['get', ['concat', 'name:', 'de']], 'text-font': ['A'] }),
      [['A'], undefined])
    assert.deepEqual(labels({ 'text-field': 'x', 'text-font': { stops: [[0, ['A']]] } }), [undefined, ['x']])
  })

  it('need the ranges of their attributes, numbers, and the joined forms of Arabic', () => {
    assert.deepEqual([...rangesOfLabels({ name: [1], other: [3] }, new Set(['name']))], [1])
    assert.deepEqual([...rangesOfLabels({ name: [1], other: [3] })], [1, 3])
    assert.deepEqual([...drawnRanges([1])], [0, 1])
    assert.deepEqual([...drawnRanges(rangesOf('القاهرة'))], [0, 6, 0xfb, 0xfc, 0xfd, 0xfe])
  })
})
