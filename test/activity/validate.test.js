import assert from 'node:assert/strict'
import { loadDesign } from '../support/design-functions.js'

const validate = loadDesign('_design/tiles/validate_doc_update.js')
const T = '2024-03-01T00:00:00Z'

/** `undefined` when it is allowed, else `{ forbidden }` or `{ unauthorized }`. */
function verdict (doc, { old = null, user = { name: 'w', roles: ['tilecouch-writer'] }, security = {} } = {}) {
  try {
    validate(doc, old, user, security)
    return undefined
  } catch (thrown) {
    return { ...thrown }
  }
}

const forbids =
  (doc, reason, options) => assert.match(verdict(doc, options)?.forbidden ?? 'allowed', reason, JSON.stringify(doc))

describe('validate_doc_update of activity', () => {
  it('accepts an activity from its own user, no changes of it, and its removal only by admins', () => {
    const activity = {
      _id: 'activity:20240301T101500123-4f9k', type: 'activity', user: 'w',
      at: T, via: 'page', what: 'layer', done: 'changed', layer: 'osm', fields: { ttl: { before: 60, after: 120 } }
    }
    const boss = { user: { name: 'boss', roles: [] }, security: { admins: { names: ['boss'] } } }
    const root = { user: { name: 'root', roles: ['_admin'] } }
    assert.equal(verdict(activity), undefined)
    for (const one of [boss, root]) {
      assert.equal(verdict({ ...activity, user: one.user.name }, one), undefined)
      forbids(activity, /the user of an activity must be the one who writes it/, one)
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

    const end = { _id: activity._id, _deleted: true }
    for (const old of [activity, null]) forbids(end, /only an admin removes an activity/, { old })
    for (const one of [boss, root]) assert.equal(verdict(end, { old: activity, ...one }), undefined)
    assert.equal(verdict({ _id: 'activity:3:1:2', _deleted: true }), undefined, 'a tile of a layer that is called so')

    for (const _id of ['activity:', 'activity:x', 'activity:osm:3:1:2', 'work:20240301T101500123-4f9k']) {
      forbids({ ...activity, _id }, /the id must be activity:RUN/)
    }
    for (const layer of ['layer', 'Osm', 5, null]) forbids({ ...activity, layer }, /the layer of an activity/)
    forbids({ ...activity, fields: { long: 'x'.repeat(17_000) } }, /at most 16384/)
    forbids({ ...activity, _attachments: { tile: { content_type: 'image/png', data: '' } } }, /attachment/)
  })
})
