// Every design function by itself, and the rows that the views emit.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { Linter } from 'eslint'
import { root, source, emitted } from '../support/design-functions.js'

const files = ['_design', 'views']
  .flatMap(folder => readdirSync(path.join(root, folder), { recursive: true })
    .map(name => path.join(folder, String(name))))
  .filter(file => file.endsWith('.js'))
  .sort()

describe('design functions', () => {
  it('are found in _design and views', () => { assert.ok(files.length >= 12) })

  for (const file of files.filter(name => !name.endsWith('reduce.js'))) {
    it(`${file} is one anonymous function in ES5`, () => {
      const text = source(file)
      const designFunction = vm.runInNewContext(text)
      assert.equal(typeof designFunction, 'function')
      assert.equal(designFunction.name, '')
      assert.ok(text.trimEnd().endsWith(`(${designFunction})`), 'nothing but comments stands around it')
      const problems = new Linter().verify(text, { languageOptions: { ecmaVersion: 5, sourceType: 'script' } })
      assert.deepEqual(problems.map(({ message }) => message), [])
    })
  }

  for (const file of files.filter(name => name.endsWith('reduce.js'))) {
    it(`${file} is a reducer that CouchDB has built in`, () => {
      assert.match(source(file).trim(), /^_(count|sum|stats|approx_count_distinct)$/)
    })
  }

  it('are refused by the linter when their syntax is newer than ES5', () => {
    const problems = new Linter()
      .verify('(function (a) { return a?.b })', { languageOptions: { ecmaVersion: 5, sourceType: 'script' } })
    assert.equal(problems.length, 1)
  })
})

const T = '2024-03-01T00:00:00Z'
const head = {
  _id: 'osm:10:300:412', _rev: '3-a', type: 'tile', layer: 'osm',
  z: 10, x: 300, y: 412, current: true, time: T, stored: T,
  _attachments: {
    tile: { content_type: 'image/png', digest: 'md5-1B2M2Y8AsgTpgAmY7PhCfg==', length: 1234, stub: true }
  }
}
const past = { ...head, _id: `${head._id}@${T}`, current: false }
const gone = { ...head, _attachments: undefined, gone: true }
const otherDocs = [{ _id: 'layer:osm', type: 'layer', layer: 'osm' }, {
  _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: T
}, { _id: 'tilecouch', type: 'store' }, { _id: 'x' }]

const key = ['osm', 10, 300, 412, T]
const value = { rev: '3-a', bytes: 1234, expires: null, gone: false, digest: '1B2M2Y8AsgTpgAmY7PhCfg==' }
const golden = {
  'versions/by_tile': [
    [head, { key, value }],
    [{ ...past, expires: T }, { key, value: { ...value, expires: T } }],
    [gone, { key, value: { ...value, bytes: 0, gone: true, digest: null } }]
  ],
  'versions/by_time': [
    [head, { key: ['osm', T, 10], value: 1234 }],
    [past, { key: ['osm', T, 10], value: 1234 }],
    [gone, { key: ['osm', T, 10], value: 0 }]
  ],
  'versions/by_area': [
    [head, { key: ['osm', 10, 300, 412], value: 1234 }],
    [past],
    [gone]
  ],
  'versions/rest_by_area': [
    [head],
    [past, { key: ['osm', 10, 'past', 300, 412], value: 1234 }],
    [gone, { key: ['osm', 10, 'gone', 300, 412], value: 0 }],
    [{ ...gone, current: false }, { key: ['osm', 10, 'past gone', 300, 412], value: 0 }]
  ],
  'versions/by_zoom': [
    [head, { key: ['osm', 10, 'current'], value: [1234, Date.parse(T) / 1000, 300, 412] }],
    [past, { key: ['osm', 10, 'past'], value: [1234, Date.parse(T) / 1000, 300, 412] }],
    [gone, { key: ['osm', 10, 'gone'], value: [0, Date.parse(T) / 1000, 300, 412] }],
    [{ ...head, time: 'yesterday' }], [{ ...head, time: undefined }], [{ ...head, x: '300' }]
  ],
  'versions/expiring': [
    [{ ...head, expires: T }, { key: [T, 'osm'], value: null }],
    [{ ...past, expires: T }],
    [head]
  ],
  'versions/stored': [
    [head, { key: ['osm', T], value: null }],
    [gone, { key: ['osm', T], value: null }],
    [{ ...head, expires: T }], [past], [{ ...head, stored: 'yesterday' }], [{ ...head, stored: undefined }],
    [{ ...head, expires: 'soon' }, { key: ['osm', T], value: null }],
    [{ ...head, expires: '2024-02-30T00:00:00Z' }, { key: ['osm', T], value: null }]
  ],
  'versions/conflicts': [
    [{ ...head, _conflicts: ['2-b'] }, { key: ['osm', 'tile'], value: ['2-b'] }],
    [{ _id: 'x', _conflicts: ['2-b'] }, { key: [null, null], value: ['2-b'] }],
    [head]
  ]
}

describe('views', () => {
  for (const [view, pairs] of Object.entries(golden)) {
    it(`${view} emits the expected rows for tiles, and nothing for other documents`, () => {
      for (const [doc, ...rows] of pairs) assert.deepEqual(emitted(view, doc), rows)
      for (const doc of otherDocs) assert.deepEqual(emitted(view, doc), [], doc._id)
    })
  }
})
