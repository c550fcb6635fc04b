// validate_doc_update: the documents that the design document accepts and refuses, compared with core.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RESERVED, isExactTime, isLayer, isTileId, tileId, versionId } from '../../core/index.js'
import { isValue, layerRules } from '../../core/rules.js'
import { WRITER, forbids, verdict } from './verdict.js'

const T = '2024-03-01T00:00:00Z'
const image = type => ({ tile: { content_type: type, data: '' } })

const head = {
  _id: 'osm:10:300:412', type: 'tile', layer: 'osm', z: 10, x: 300,
  y: 412, current: true, time: T, stored: T, _attachments: image('image/png')
}
const past = { ...head, _id: `osm:10:300:412@${T}`, current: false }
const gone = { ...head, _attachments: undefined, gone: true }
const layerDoc = { _id: 'layer:osm', type: 'layer', layer: 'osm' }
const RUN = '20240301T101500123-4f9k'
const edition = { _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: T }

/**
 * Whether DESIGN allows a tile, or a deleted document of any kind. Other documents lack the fields of a tile.
 */
function isGood (doc) {
  const { layer, z, x, y, time, current, gone: isGone, _attachments = {} } = doc
  const images = Object.entries(_attachments ?? {})
  if (doc._deleted) return images.length === 0
  if (images.some(([name, { content_type: type }]) => name !== 'tile' ||
    !/^(image\/(png|jpeg|webp|avif)|application\/vnd\.mapbox-vector-tile)$/.test(String(type)))) return false
  if (doc.type !== 'tile' || !isLayer(layer) || RESERVED.has(layer) ||
    !isExactTime(time) || typeof current !== 'boolean') return false
  if (![z, x, y].every(Number.isInteger) || !isTileId(tileId(layer, z, x, y))) return false
  if (['stored', 'expires'].some(field => doc[field] !== undefined && !isExactTime(doc[field]))) return false
  return doc._id === (current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time)) &&
    (isGone === true) === (images.length === 0)
}

describe('validate_doc_update', () => {
  it('accepts valid documents', () => {
    const validDocs = [
      head, past, gone, { ...gone, _id: past._id, current: false },
      { ...head, expires: T, origin: { url: 'http://h/' } }, { ...head, stored: undefined },
      // of older stores and of other programs
      { ...head, run: RUN, seen: [[T, RUN], [T, '']] }, { ...head, run: '20240301T101500', contested: T },
      ...['image/jpeg', 'image/webp', 'image/avif', 'application/vnd.mapbox-vector-tile'].map(
        type => ({ ...head, _attachments: image(type) })
      ),
      { ...head, _id: 'osm:0:0:0', z: 0, x: 0, y: 0 },
      { ...head, _id: 'osm:30:1073741823:0', z: 30, x: 2 ** 30 - 1, y: 0 },
      { ...head, _attachments: {
        tile: { content_type: 'image/png', stub: true, length: 5, digest: 'md5-x', revpos: 1 }
      } },
      layerDoc, edition, { _id: 'tilecouch', type: 'store', schema: 1 },
      { _id: 'osm:10:300:412', _deleted: true }, { _id: 'anything', _deleted: true }
    ]
    for (const doc of validDocs) assert.equal(verdict(doc), undefined, JSON.stringify(doc))
  })

  const wrong = {
    layer: [/bad layer name/, undefined, '', 'Osm', 'layer', 'edition', 'a b', 5, ['osm'], 'a'.repeat(64)],
    z: [/z must be/, undefined, -1, 31, 1.5, '10', null, NaN, Infinity, [10]],
    x: [/x and y must be/, undefined, -1, 1024, 0.5, '300', null, NaN],
    y: [/x and y must be/, undefined, -1, 1024, 0.5, '412', null, Infinity],
    time: [/time must be/, undefined, '2024', '2024-02-30T00:00:00Z',
      '2024-03-01T24:00:00Z', '2024-03-01T00:00:00.000Z', '2024-03-01T00:00:00', 0, null, `${T} `],
    stored: [/stored must be/, '2024', null, 5, ''],
    expires: [/expires must be/, '2024', null, 5, 'never', ''],
    contested: [/contested must be/, 'soon'],
    run: [/run must have/, 'zzzz', 5, null],
    seen: [/seen must have/, 'x', [[T]], [[T, 'zzzz']], [['2024', RUN]]],
    current: [/current must be/, undefined, null, 'true', 1],
    _id: [/the id must be osm:10:300:412$/, 'osm:10:300:413', 'osm:10:300:412@',
      `osm:10:300:412@${T}`, 'osm:10:0300:412', 'x'],
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
    for (const _id of ['osm:10:300:412', 'osm:10:300:412@2024-03-02T00:00:00Z', 'osm:10:300:412@2024']) {
      forbids({ ...past, _id }, /the id must be osm:10:300:412@2024-03-01T00:00:00Z/)
    }
  })

  it('refuses images of other types and attachments of other names', () => {
    for (const type of ['text/html', 'image/gif', 'image/svg+xml', 'application/octet-stream',
      '', undefined, 'toString', 'image/png; x']) forbids({ ...head, _attachments: image(type) }, /a tile is PNG/)
    forbids({ ...head, _attachments: { ...image('image/png'), evil: { content_type: 'text/html' } } },
      /the one attachment is called tile/)
    forbids({ ...gone, _attachments: { evil: { content_type: 'text/html' } } }, /the one attachment is called tile/)
    forbids({ ...gone, gone: 'yes' }, /gone: true and none/)
  })

  it('refuses to change a past version, but accepts it again after a deletion', () => {
    forbids(past, /a past version never changes/, { old: past })
    assert.equal(verdict(past, { old: { ...past, _deleted: true } }), undefined)
    assert.equal(verdict(head, { old: head }), undefined, 'a head may')
  })

  it('accepts replicated past versions, blocks and manifests that were removed and loaded again elsewhere', () => {
    const manifest = { _id: `manifest:osm@${T}:${RUN}`, type: 'manifest', layer: 'osm', time: T, run: RUN, blocks: {} }
    const block = { _id: 'block:osm:3:0:0:abcdefghijkl', type: 'block', layer: 'osm', z: 3, x: 0, y: 0,
      _attachments: { digests: { content_type: 'application/octet-stream', length: 5 } } }
    for (const doc of [past, manifest, block]) {
      const stored = { ...doc, _rev: '1-a', _revisions: { start: 1, ids: ['a'] } }
      const replicated = ids => ({ ...doc, _rev: `${ids.length}-${ids[0]}`, _revisions: { start: ids.length, ids } })
      for (const ids of [['c', 'b', 'a'], ['e', 'd', 'c', 'b', 'a']]) {
        assert.equal(verdict(replicated(ids), { old: stored }), undefined)
      }
      forbids(replicated(['b', 'a']), /never changes/, { old: stored })
      forbids({ ...stored, stored: T }, /never changes/, { old: stored })
      forbids({ ...replicated(['c', 'b', 'a']), layer: 5 }, /layer/, { old: stored })
    }
  })

  it('accepts a new expiry and origin of a head whose image is unchanged', () => {
    const stub = { tile: { content_type: 'image/png', stub: true, length: 5, digest: 'md5-x', revpos: 1 } }
    const stored = { ...head, _rev: '1-a', expires: T, _attachments: stub }
    const longer = { ...stored, expires: '2025-03-01T00:00:00Z', origin: {
      url: 'http://h/', etag: '"b"', checked: '2024-09-01T00:00:00Z'
    } }
    assert.equal(verdict(longer, { old: stored }), undefined)
    const { expires, ...withoutExpiry } = longer
    assert.equal(verdict(withoutExpiry, { old: stored }), undefined)
    forbids({ ...longer, expires: 'later' }, /expires must be/, { old: stored })
    forbids({ ...longer, _id: past._id, current: false }, /a past version never changes/, { old: past })
  })

  it('refuses new documents of layers with reserved names, but lets existing ones be changed and deleted', () => {
    for (const layer of RESERVED) {
      const docs = [
        { ...head, layer, _id: `${layer}:10:300:412` }, { _id: `layer:${layer}`, type: 'layer', layer },
        { _id: `edition:${layer}@${T}`, type: 'edition', layer, time: T }
      ]
      for (const doc of docs) {
        forbids(doc, new RegExp(`\\b${layer}\\b`))
        forbids(doc, /reserved|none of/, { old: { ...doc, _deleted: true } })
        assert.equal(verdict(doc, { old: doc }), undefined)
        assert.equal(verdict({ ...doc, _attachments: undefined, _deleted: true }, { old: doc }), undefined)
      }
    }
  })

  it('lets writers write work documents in their own name, and server admins in any name', () => {
    const work = {
      _id: 'work:20240301T101500123-4f9k', type: 'work', command: 'load',
      state: 'running', started: T, seen: T, user: 'w'
    }
    const ended =
      { ...work, state: 'done', finished: T, layer: 'osm', edition: T, done: 5, rate: 2.5, about: { bytes: 5 } }
    assert.equal(verdict(work), undefined)
    assert.equal(verdict(ended, { old: work }), undefined)
    assert.equal(verdict({ _id: work._id, _deleted: true }, { old: { ...work, user: 'other' } }),
      undefined, 'old work is removed by the next command')
    const { user: _, ...anonymous } = work
    for (const doc of [{ ...work, user: 'other' }, anonymous]) {
      forbids(doc, /the user of a work/)
      assert.equal(verdict(doc, { user: { name: 'root', roles: ['_admin'] } }), undefined)
    }
    forbids(work, /the user of a work/, { old: { ...work, user: 'other' } })
    assert.equal(verdict(work, { old: { ...work, user: 'other', _deleted: true } }), undefined)
    for (const layer of ['work', 'db']) {
      assert.equal(verdict({ ...work, layer }), undefined, 'of a layer from before its name was reserved')
    }
    for (const layer of ['layer', 'Osm', 5, null]) forbids({ ...work, layer }, /the layer of a work/)
    for (const _id of ['work:', 'work:x', 'work:osm:3:1:2', 'job:20240301T101500123-4f9k', '20240301T101500123-4f9k']) {
      forbids({ ...work, _id }, /the id must be work:RUN/)
    }
    forbids({ ...work, about: { long: 'x'.repeat(17_000) } }, /at most 16384/)
    forbids({ ...work, _attachments: image('image/png') }, /attachment/)
  })

  it('accepts an activity from its own user, no changes of it, and its removal only by admins', () => {
    const activity = {
      _id: 'activity:20240301T101500123-4f9k', type: 'activity', user: 'w',
      at: T, via: 'page', what: 'layer', done: 'changed', layer: 'osm', fields: { ttl: { before: 60, after: 120 } }
    }
    const boss = { user: { name: 'boss', roles: [] }, security: { admins: { names: ['boss'] } } }
    const root = { user: { name: 'root', roles: ['_admin'] } }
    assert.equal(verdict(activity), undefined)
    for (const writer of [boss, root]) {
      assert.equal(verdict({ ...activity, user: writer.user.name }, writer), undefined)
      forbids(activity, /the user of an activity must be the one who writes it/, writer)
    }
    forbids({ ...activity, user: 'boss' }, /the user of an activity/)
    for (const field of ['user', 'at', 'what', 'done']) {
      forbids({ ...activity, [field]: undefined }, /an activity has the fields user, at, what, done|must be/)
    }
    assert.deepEqual(Object.keys(verdict(activity, { user: { name: 'bob', roles: [] } })),
      ['forbidden'], 'who may not write')
    assert.deepEqual(Object.keys(verdict({ ...activity, user: null }, { user: { name: null, roles: ['_admin'] } })),
      ['forbidden'], 'nobody is no proof')
    forbids({ ...activity, done: 'created' }, /an activity never changes/, { old: activity })
    forbids({ ...activity, user: 'root', done: 'created' }, /an activity never changes/, { old: activity, ...root })
    assert.equal(verdict(activity, { old: { ...activity, _deleted: true } }), undefined)

    const deletion = { _id: activity._id, _deleted: true }
    for (const old of [activity, null]) forbids(deletion, /only an admin removes an activity/, { old })
    for (const admin of [boss, root]) assert.equal(verdict(deletion, { old: activity, ...admin }), undefined)
    assert.equal(verdict({ _id: 'activity:3:1:2', _deleted: true }), undefined, 'a tile of a layer that is called so')

    for (const _id of ['activity:', 'activity:x', 'activity:osm:3:1:2', 'work:20240301T101500123-4f9k']) {
      forbids({ ...activity, _id }, /the id must be activity:RUN/)
    }
    for (const layer of ['layer', 'Osm', 5, null]) forbids({ ...activity, layer }, /the layer of an activity/)
    forbids({ ...activity, fields: { long: 'x'.repeat(17_000) } }, /at most 16384/)
    forbids({ ...activity, _attachments: image('image/png') }, /attachment/)
  })

  it('refuses layers, editions and store documents under wrong ids', () => {
    forbids({ _id: 'layer:osm', type: 'layer', layer: 'osm2' }, /the id must be layer:osm2/)
    forbids({ _id: 'layer:Osm', type: 'layer', layer: 'Osm' }, /the layer of a layer must be a name/)
    forbids({ ...edition, time: '2024' }, /time of this edition must be: time/)
    forbids({ ...edition, _id: 'edition:osm@2024', time: '2024' }, /time of this edition must be: time/)
    forbids({ _id: `edition:osm@${T}`, type: 'edition', layer: 'osm' }, /time must be like/)
    forbids({ _id: `edition:osm@${T}`, type: 'edition', layer: 'relief', time: T }, /the id must be edition:relief@/)
    forbids({ _id: 'tilecouch2', type: 'store' }, /not a document of a tile store/)
    forbids({ _id: 'tilecouch' }, /not a document of a tile store/)
  })

  it('lets admins, the writer role and the admins of the database write, and nobody else', () => {
    const security = { admins: { names: ['boss'], roles: ['keepers'] }, members: { names: [], roles: [] } }
    const users = [
      [{ name: 'a', roles: ['_admin'] }, true], [{ name: null, roles: ['_admin'] }, true],
      [WRITER, true], [{ name: 'boss', roles: [] }, true], [{ name: 'k', roles: ['keepers'] }, true],
      [{ name: 'bob', roles: [] }, 'forbidden'], [{ name: 'bob', roles: ['tilecouch'] }, 'forbidden'],
      [{ name: 'tilecouch-writer', roles: [] }, 'forbidden'],
      [{ name: null, roles: [] }, 'unauthorized']
    ]
    for (const [user, expected] of users) {
      for (const doc of [head, { _id: head._id, _deleted: true }]) {
        const refusal = verdict(doc, { user, security })
        assert.deepEqual(refusal ? Object.keys(refusal)[0] : true, expected, JSON.stringify(user))
      }
    }
    for (const empty of [undefined, null, {}, { admins: {} }]) {
      assert.equal(Object.keys(verdict(head, { user: { name: null, roles: [] }, security: empty }))[0], 'unauthorized')
    }
  })

  it('lets the writers that the security object names write, instead of the writer role', () => {
    const grants = writers => ({ admins: { names: ['boss'], roles: ['_admin'] }, members: {}, tilecouch: { writers } })
    const canWrite = (user, writers) => verdict(head, { user, security: grants(writers) }) === undefined
    const [anna, ben] = [{ name: 'anna', roles: [] }, { name: 'ben', roles: ['survey'] }]
    for (const [writers, expected] of [
      [{ names: ['anna'], roles: [] }, [true, false, false]], [{ names: [], roles: ['survey'] }, [false, true, false]],
      [{ roles: ['tilecouch-writer'] }, [false, false, true]],
      [{ names: [], roles: [] }, [false, false, false]], [undefined, [false, false, true]],
      // invalid values give no rights: a text that contains a name, null, a list
      ...[{ names: 'anna', roles: 'survey' }, null, [], ['anna'], 'anna',
        5, true, { names: { anna: 1 } }].map(invalid => [invalid, [false, false, false]])
    ]) {
      assert.deepEqual([anna, ben, WRITER].map(user => canWrite(user, writers)), expected, JSON.stringify(writers))
      assert.ok(canWrite({ name: 'boss', roles: [] }, writers) && canWrite({ name: 'a', roles: ['_admin'] }, writers))
      assert.equal(Object.keys(verdict(head, { user: { name: null, roles: [] }, security: grants(writers) }))[0],
        'unauthorized')
    }
    assert.ok(!canWrite({ name: null, roles: [] }, { names: [null], roles: [null] }))
    for (const tilecouch of [null, 5, 'writers', [], {}]) {
      assert.equal(verdict(head, { security: { tilecouch: tilecouch } }), undefined, 'nothing was said')
    }
  })

  it('refuses attachments of all documents except tiles, tombstones included', () => {
    const html = { 'a.html': { content_type: 'text/html' } }
    for (const doc of [layerDoc, edition, { _id: 'tilecouch', type: 'store' }]) {
      for (const _attachments of [html, image('image/png')]) {
        forbids({ ...doc, _attachments }, /only tiles have an attachment/)
      }
      assert.equal(verdict({ ...doc, _attachments: {} }), undefined)
    }
    for (const _attachments of [html, image('text/html'), image('image/png')]) {
      forbids({ _id: head._id, _deleted: true, _attachments }, /a deleted document has no attachment/)
    }
    assert.equal(verdict({ ...gone, _deleted: true }), undefined, 'who deletes a tile may leave its fields')
    assert.equal(verdict({ ...gone, _attachments: {}, _deleted: true }), undefined)
  })

  it('limits the size of all fields, except those that CouchDB adds', () => {
    const long = 'x'.repeat(17000)
    forbids({ ...head, note: long }, /at most 16384/)
    forbids({ ...head, origin: { url: { deep: [long] } } }, /at most 16384/)
    forbids({ ...head, ...Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`field${index}`, 1])) },
      /at most 16384/)
    forbids({ ...gone, _deleted: true, note: 'x'.repeat(1000) }, /at most 1024/)
    forbids({ _id: 'x', _deleted: true, note: long.repeat(70) }, /at most 1024/)
    const texts = { description: long.repeat(5), legend: long.repeat(5), attribution: long.repeat(5) }
    forbids({ ...layerDoc, ...texts, vector_layers: [{ id: long }] }, /at most 262144/)
    assert.equal(verdict(
      { ...head, _revisions: { start: 1000, ids: Array.from({ length: 1000 }, () => 'f'.repeat(32)) } }
    ), undefined)
    assert.equal(verdict({ _id: 'layer:osm', type: 'layer', layer: 'osm', vector_layers: [{ id: long }] }), undefined)
  })

  it('accepts the same values as core in the fields of a layer', () => {
    const values = [0, 5, -1, 1.5, 'text', '', true, false, null, [], [1, 2, 3, 4], {}, { a: 1 }]
    for (const field of Object.keys(layerRules)) {
      for (const value of values) {
        const doc = { ...layerDoc, [field]: value }
        const allowed = verdict(doc) === undefined
        assert.equal(allowed, isValue(value, layerRules[field]), `${field} ${JSON.stringify(value)}`)
      }
    }
    for (const field of Object.keys(layerRules)) {
      forbids({ ...layerDoc, [field]: field === 'offline' ? 'no' : true },
        new RegExp(`^${field} of this layer must be`))
    }
    forbids({ _id: 'tilecouch', type: 'store', schema: 'x' }, /schema of this store must be/)
  })

  it('agrees with a naive validator on random documents', () => {
    const oddValues = fc.constantFrom(undefined, null, '', 'x', '__proto__', 'constructor', 'toString', 0, -0, 1, 0.5,
      -1, 2 ** 31, 1e308, true, false, T, '2024', `${T}\n`, 'osm\u0000', {}, [], ['osm'], { tile: 1 }, 'tile', 'layer')
    const types = fc.constantFrom('image/png', 'text/html', 'constructor',
      '__proto__', 'image/PNG', ' image/png', 'image/svg+xml', null)
    const attachments = fc.dictionary(fc.constantFrom('tile', 'Tile', '__proto__', 'constructor', 'a.html', ''),
      fc.record({ content_type: types }), { maxKeys: 2 })
    const change = fc.oneof(
      fc.tuple(fc.constantFrom('layer', 'z', 'x', 'y', 'time', 'stored', 'expires',
        'current', 'gone', 'type', '_id', '_deleted'), oddValues), fc.tuple(fc.constant('_attachments'), attachments)
    )
    fc.assert(fc.property(fc.constantFrom(head, past, gone), fc.array(change, { maxLength: 2 }), (base, changes) => {
      const doc = JSON.parse(JSON.stringify({ ...base, ...Object.fromEntries(changes) }))
      assert.equal(verdict(doc) === undefined, isGood(doc), JSON.stringify(doc))
    }), { numRuns: 5000 })
  })

  it('accepts the same tiles, layers and times as core', () => {
    const number = fc.oneof(fc.integer({ min: -2, max: 40 }), fc.constantFrom('1', null, 1.5, 2 ** 30))
    const name = fc.constantFrom('osm', 'layer', 'Osm', '', 'a-b_c')
    const anyTime = fc.constantFrom(T, '2024', '2024-02-30T00:00:00Z')
    fc.assert(fc.property(name, number, number, number, anyTime, fc.boolean(), (layer, z, x, y, time, current) => {
      const _id = `${layer}:${z}:${x}:${y}` + (current ? '' : `@${time}`)
      const numbers = [z, x, y].every(value => typeof value === 'number')
      const valid = isTileId(_id) && numbers && isExactTime(time) && isLayer(layer)
      assert.equal(verdict({ ...head, _id, layer, z, x, y, time, current }) === undefined, valid, _id)
    }), { numRuns: 2000 })
  })
})
