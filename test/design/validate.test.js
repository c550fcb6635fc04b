import assert from 'node:assert/strict'
import fc from 'fast-check'
import { isExactTime, isLayer, isTileId } from '../../core/index.js'
import { loadDesign } from './helpers.js'

const validate = loadDesign('_design/tiles/validate_doc_update.js')
const WRITER = { name: 'w', roles: ['tilecouch-writer'] }
const T = '2024-03-01T00:00:00Z'
const image = type => ({ tile: { content_type: type, data: '' } })

/** `undefined` when it is allowed, else `{ forbidden }` or `{ unauthorized }`. */
function verdict (doc, { old = null, user = WRITER, security = {} } = {}) {
  try {
    validate(doc, old, user, security)
    return undefined
  } catch (thrown) {
    return { ...thrown }
  }
}

const head = { _id: 'osm:10:300:412', type: 'tile', layer: 'osm', z: 10, x: 300, y: 412, current: true, time: T, stored: T, _attachments: image('image/png') }
const past = { ...head, _id: `osm:10:300:412@${T}`, current: false }
const gone = { ...head, _attachments: undefined, gone: true }

const forbids = (doc, reason, options) => {
  const { forbidden } = verdict(doc, options) ?? {}
  assert.match(forbidden ?? 'allowed', reason, JSON.stringify(doc))
}

describe('validate_doc_update', () => {
  it('lets valid documents in', () => {
    const allowed = [
      head, past, gone, { ...gone, _id: past._id, current: false }, { ...head, expires: T, origin: { url: 'http://h/' } }, { ...head, stored: undefined },
      ...['image/jpeg', 'image/webp', 'image/avif', 'application/vnd.mapbox-vector-tile'].map(type => ({ ...head, _attachments: image(type) })),
      { ...head, _id: 'osm:0:0:0', z: 0, x: 0, y: 0 }, { ...head, _id: 'osm:30:1073741823:0', z: 30, x: 2 ** 30 - 1, y: 0 },
      { ...head, _attachments: { tile: { content_type: 'image/png', stub: true, length: 5, digest: 'md5-x', revpos: 1 } } },
      { _id: 'layer:osm', type: 'layer', layer: 'osm' }, { _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: T }, { _id: 'tilecouch', type: 'store', schema: 1 },
      { _id: 'osm:10:300:412', _deleted: true }, { _id: 'anything', _deleted: true }
    ]
    for (const doc of allowed) assert.equal(verdict(doc), undefined, JSON.stringify(doc))
  })

  const wrong = {
    layer: [/bad layer name/, undefined, '', 'Osm', 'layer', 'edition', 'a b', 5, ['osm'], 'a'.repeat(64)],
    z: [/z must be/, undefined, -1, 31, 1.5, '10', null, NaN, Infinity, [10]],
    x: [/x and y must be/, undefined, -1, 1024, 0.5, '300', null, NaN],
    y: [/x and y must be/, undefined, -1, 1024, 0.5, '412', null, Infinity],
    time: [/time must be/, undefined, '2024', '2024-02-30T00:00:00Z', '2024-03-01T24:00:00Z', '2024-03-01T00:00:00.000Z', '2024-03-01T00:00:00', 0, null, `${T} `],
    stored: [/stored must be/, '2024', null, 5, ''],
    expires: [/expires must be/, '2024', null, 5, 'never', ''],
    current: [/current must be/, undefined, null, 'true', 1],
    _id: [/the id must be osm:10:300:412$/, 'osm:10:300:413', 'osm:10:300:412@', `osm:10:300:412@${T}`, 'osm:10:0300:412', 'x'],
    type: [/not a document of a tile store/, undefined, 'Tile', 'user', null],
    gone: [/gone: true and none/, true],
    _attachments: [/gone: true and none/, undefined, {}, null]
  }
  for (const [field, [reason, ...values]] of Object.entries(wrong)) {
    it(`refuses a tile with a bad ${field}, and says so`, () => {
      for (const value of values) forbids({ ...head, [field]: value }, reason)
    })
  }

  it('refuses a past version under a wrong id', () => {
    for (const _id of ['osm:10:300:412', 'osm:10:300:412@2024-03-02T00:00:00Z', 'osm:10:300:412@2024']) forbids({ ...past, _id }, /the id must be osm:10:300:412@2024-03-01T00:00:00Z/)
  })

  it('refuses images of other types and attachments of other names', () => {
    for (const type of ['text/html', 'image/gif', 'image/svg+xml', 'application/octet-stream', '', undefined, 'toString', 'image/png; x']) forbids({ ...head, _attachments: image(type) }, /a tile is PNG/)
    forbids({ ...head, _attachments: { ...image('image/png'), evil: { content_type: 'text/html' } } }, /the one attachment is called tile/)
    forbids({ ...gone, _attachments: { evil: { content_type: 'text/html' } } }, /the one attachment is called tile/)
    forbids({ ...gone, gone: 'yes' }, /gone: true and none/)
  })

  it('never lets a past version change, but lets one that was deleted come back', () => {
    forbids(past, /a past version never changes/, { old: past })
    assert.equal(verdict(past, { old: { ...past, _deleted: true } }), undefined)
    assert.equal(verdict(head, { old: head }), undefined, 'a head may')
  })

  it('lets a head hold longer: another expiry and origin, the same bytes as a stub', () => {
    const stub = { tile: { content_type: 'image/png', stub: true, length: 5, digest: 'md5-x', revpos: 1 } }
    const stored = { ...head, _rev: '1-a', expires: T, _attachments: stub }
    const longer = { ...stored, expires: '2025-03-01T00:00:00Z', origin: { url: 'http://h/', etag: '"b"', checked: '2024-09-01T00:00:00Z' } }
    assert.equal(verdict(longer, { old: stored }), undefined)
    const { expires, ...never } = longer
    assert.equal(verdict(never, { old: stored }), undefined)
    forbids({ ...longer, expires: 'later' }, /expires must be/, { old: stored })
    forbids({ ...longer, _id: past._id, current: false }, /a past version never changes/, { old: past })
  })

  it('refuses layers, editions and markers under wrong ids', () => {
    forbids({ _id: 'layer:osm', type: 'layer', layer: 'osm2' }, /layer:NAME/)
    forbids({ _id: 'layer:Osm', type: 'layer', layer: 'Osm' }, /layer:NAME/)
    forbids({ _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: '2024' }, /edition:LAYER@TIME/)
    forbids({ _id: 'edition:osm@2024', type: 'edition', layer: 'osm', time: '2024' }, /edition:LAYER@TIME/)
    forbids({ _id: `edition:osm@${T}`, type: 'edition', layer: 'relief', time: T }, /edition:LAYER@TIME/)
    forbids({ _id: 'tilecouch2', type: 'store' }, /not a document of a tile store/)
    forbids({ _id: 'tilecouch' }, /not a document of a tile store/)
  })

  it('lets admins, the writer role and the admins of the database write, and nobody else', () => {
    const security = { admins: { names: ['boss'], roles: ['keepers'] }, members: { names: [], roles: [] } }
    const users = [
      [{ name: 'a', roles: ['_admin'] }, true], [{ name: null, roles: ['_admin'] }, true], [WRITER, true], [{ name: 'boss', roles: [] }, true], [{ name: 'k', roles: ['keepers'] }, true],
      [{ name: 'bob', roles: [] }, 'forbidden'], [{ name: 'bob', roles: ['tilecouch'] }, 'forbidden'], [{ name: 'tilecouch-writer', roles: [] }, 'forbidden'],
      [{ name: null, roles: [] }, 'unauthorized']
    ]
    for (const [user, wanted] of users) {
      for (const doc of [head, { _id: head._id, _deleted: true }]) {
        const found = verdict(doc, { user, security })
        assert.deepEqual(found ? Object.keys(found)[0] : true, wanted, JSON.stringify(user))
      }
    }
    for (const none of [undefined, null, {}, { admins: {} }]) assert.equal(Object.keys(verdict(head, { user: { name: null, roles: [] }, security: none }))[0], 'unauthorized')
  })

  it('agrees with core on what a tile, a layer and a time are', () => {
    const odd = fc.oneof(fc.integer({ min: -2, max: 40 }), fc.constantFrom('1', null, 1.5, 2 ** 30))
    const name = fc.constantFrom('osm', 'layer', 'Osm', '', 'a-b_c')
    fc.assert(fc.property(name, odd, odd, odd, fc.constantFrom(T, '2024', '2024-02-30T00:00:00Z'), fc.boolean(), (layer, z, x, y, time, current) => {
      const _id = `${layer}:${z}:${x}:${y}` + (current ? '' : `@${time}`)
      const numbers = [z, x, y].every(value => typeof value === 'number')
      const valid = isTileId(_id) && numbers && isExactTime(time) && isLayer(layer)
      assert.equal(verdict({ ...head, _id, layer, z, x, y, time, current }) === undefined, valid, _id)
    }), { numRuns: 2000 })
  })
})
