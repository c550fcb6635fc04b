// validate_doc_update: the document that marks a store, with its settings and its logo.
import assert from 'node:assert/strict'
import { isSetting, settingNames, settingsOf } from '../../core/settings.js'
import { forbids, verdict } from './verdict.js'

const T = '2024-03-01T00:00:00Z'
const layerDoc = { _id: 'layer:osm', type: 'layer', layer: 'osm' }

describe('validate_doc_update of the document of a store', () => {
  it('lets a writer set schema, uuid, created and published once, and only an admin change them', () => {
    const [store, marks] =
      [more => ({ _id: 'tilecouch', type: 'store', ...more }), { schema: 1, uuid: 'u', created: T, published: T }]
    const otherMarks = { schema: 2, uuid: 'v', created: '2024-05-01T00:00:00Z', published: '2024-05-01T00:00:00Z' }
    assert.equal(verdict(store({ schema: 1, uuid: 'u', created: T })), undefined)
    assert.equal(verdict(store(marks), { old: store({ schema: 1 }) }), undefined, 'what is missing')
    assert.equal(verdict(store({ ...marks, title: 'Maps' }), { old: store(marks) }), undefined, 'a setting')
    for (const old of [null, store()]) forbids(store({ schema: 2 }), /only an admin changes schema/, { old })
    forbids({ _id: 'tilecouch', _deleted: true }, /only an admin removes/, { old: store(marks) })
    for (const [field, value] of Object.entries(otherMarks)) {
      for (const changed of [{ ...marks, [field]: value }, { ...marks, [field]: undefined }]) {
        const doc = JSON.parse(JSON.stringify(store(changed)))
        forbids(doc, /only an admin changes/, { old: store(marks) })
        assert.equal(verdict(doc, { user: { name: 'boss', roles: ['_admin'] }, old: store(marks) }),
          undefined, `an admin changes ${field}`)
      }
    }
    const oddValues =
      { schema: [0, 1001, '1', null], uuid: [{}, 5, 'x'.repeat(101)], created: ['2024', {}], published: [true, 5] }
    const cases = Object.entries(oddValues).flatMap(([field, values]) => values.map(value => [field, value]))
    for (const [field, value] of cases) forbids(store({ [field]: value }), new RegExp(`^${field} of this store must`))
  })

  it('accepts the same settings of a store as core', () => {
    const marker = { _id: 'tilecouch', type: 'store', schema: 1 }
    const values = {
      title: ['Maps', '', 'x'.repeat(200), 'x'.repeat(201), 3, null],
      description: ['A map', '', 'x'.repeat(300), 'x'.repeat(301), 3, null],
      logo: ['logo.png', '/brand/logo.png?x=1', '//evil.example/x',
        'https://evil.example/x', 'javascript:alert(1)', 'a b', '', 3],
      colours: [{}, { light: '#0f6674' }, { light: '#0f6674', dark: '#5cc3d2' },
        { light: '#5cc3d2' }, { dark: '#0f6674' }, { light: '#777777' },
        { light: 'red' }, { light: '#fff' }, { other: '#0f6674' }, { constructor: '#0f6674' }, [], 'red', null],
      opens: ['osm', 'Osm', '', 3],
      base: ['osm', 'layer', { url: '/b/{z}/{x}/{y}.png' },
        { url: 'https://b.example/{z}/{x}/{y}.png', name: 'B', attribution: 'C', maxzoom: 19 },
        { url: '/b.png' }, { name: 'B' }, { url: 'ftp://b/{z}/{x}/{y}' },
        { url: '/b/{z}/{x}/{y}.png', maxzoom: 31 }, { url: '/b/{z}/{x}/{y}.png', more: 1 }, 3],
      gazetteer: ['/search', 'https://n.example/search?key=1', 'http://n.example/',
        '//n.example', 'file:///etc', '<x>', '', 3],
      places: [[], [['Bern', 7.4, 46.9, 10]], [['Bern', 7.4, 96.9, 10]], [['Bern', 7.4, 46.9]], [
        ['Bern', '7.4', 46.9, 10]
      ], [[3, 7.4, 46.9, 10]], ['Bern'], {}, Array.from({ length: 2001 }, () => ['B', 1, 1, 1])],
      activityDays: [30, 365, 36500, 29, 0, -1, 30.5, 36501, '365', null, true, [], {}]
    }
    assert.deepEqual(Object.keys(values).sort(), [...settingNames].sort(), 'every field is tried here')
    for (const [field, fieldValues] of Object.entries(values)) {
      for (const value of fieldValues) {
        const doc = { ...marker, [field]: value }
        assert.equal(verdict(doc) === undefined, isSetting(field, value),
          `${field} ${JSON.stringify(value).slice(0, 80)}`)
        assert.deepEqual(settingsOf(doc), isSetting(field, value) ? { [field]: value } : {})
      }
    }
    assert.equal(verdict({ ...marker, created: T, published: T, demo: T, uuid: 'u', later: { x: 1 } }), undefined)
    forbids({ ...marker, later: 'x'.repeat(5000) }, /later is too long/)
    assert.deepEqual(settingsOf({ ...marker, type: 'tile', title: 'x' }), {})
  })

  it('accepts an image as the logo of a store, and no other attachment', () => {
    const marker = { _id: 'tilecouch', type: 'store' }
    const logo = (type, length) => ({ ...marker, _attachments: { logo: { content_type: type, length, stub: true } } })
    for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/avif']) {
      assert.equal(verdict(logo(type, 262144)), undefined)
    }
    for (const type of ['image/svg+xml', 'text/html', 'application/vnd.mapbox-vector-tile', undefined]) {
      forbids(logo(type, 100), /only tiles have an attachment, and the store a logo/)
    }
    forbids(logo('image/png', 262145), /at most 262144 bytes/)
    forbids({ ...marker, _attachments: { other: { content_type: 'image/png', length: 5 } } },
      /only tiles have an attachment/)
    forbids({ ...layerDoc, _attachments: { logo: { content_type: 'image/png', length: 5 } } },
      /only tiles have an attachment/)
  })
})
