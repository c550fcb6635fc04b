import assert from 'node:assert/strict'
import { freshDatabase } from '../harness.js'

export const mango = target => describe('Mango', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const find = async query => {
    const { status, text, json } = await admin('POST', '/_find', query)
    assert.equal(status, 200, `${JSON.stringify(query)}: ${text}`)
    return json
  }

  before(() => admin('POST', '/_bulk_docs', { docs: Array.from({ length: 40 }, (_, i) => ({ _id: `d${String(i).padStart(2, '0')}`, v: i, current: i % 2 === 0 })) }))

  it('selects', async () => {
    assert.deepEqual((await find({ selector: { v: 3 }, fields: ['_id'] })).docs, [{ _id: 'd03' }])
    assert.equal((await find({ selector: { current: true } })).docs.length, 20)
    assert.equal((await find({ selector: {} })).docs.length, 25)
    assert.equal((await find({ selector: {}, limit: 100 })).docs.length, 40)
  })

  it('indexes, sorts, limits', async () => {
    const made = await admin('POST', '/_index', { index: { fields: ['v'] }, name: 'byv' })
    assert.equal(made.json.result, 'created')
    assert.ok((await admin('GET', '/_index')).json.indexes.some(({ name }) => name === 'byv'))
    const { docs } = await find({ selector: { v: { $gt: 2 } }, sort: ['v'], fields: ['_id'], limit: 2 })
    assert.deepEqual(docs, [{ _id: 'd03' }, { _id: 'd04' }])
    const { docs: down } = await find({ selector: { v: { $lt: 9 } }, sort: [{ v: 'desc' }], fields: ['v'], limit: 2, skip: 1 })
    assert.deepEqual(down, [{ v: 7 }, { v: 6 }])
  })

  it('pages by bookmark', async () => {
    const seen = []
    let bookmark
    for (;;) {
      const answer = await find({ selector: { v: { $gte: 0 } }, limit: 15, bookmark })
      if (!answer.docs.length) break
      seen.push(...answer.docs.map(({ _id }) => _id))
      bookmark = answer.bookmark
    }
    assert.equal(new Set(seen).size, 40)
    assert.equal(seen.length, 40)
  })

  it('refuses what is no selector', async () => {
    for (const query of [{}, { selector: { v: { $foo: 1 } } }, { selector: {}, limit: 'x' }]) assert.equal((await admin('POST', '/_find', query)).status, 400, JSON.stringify(query))
  })

  it('reads selectors as CouchDB does', async () => {
    const v = name => `d${String(name).padStart(2, '0')}`
    const first = (...numbers) => numbers.map(v)
    for (const [selector, wanted] of /** @type {[any, string[] | number][]} */ ([
      [{ v: {} }, 0], [{ v: { $ne: 3 } }, 39], [{ $not: { none: 1 } }, 0], [{ none: { $not: { $eq: 1 } } }, 0], [{ v: { $or: [{ $eq: 1 }, { $eq: 2 }] } }, first(1, 2)],
      [{ $or: [] }, 0], [{ $and: [] }, 0], [{ $nor: [{ v: { $gt: 1 } }] }, first(0, 1)], [{ v: { $in: [1, 'x'] } }, first(1)], [{ v: { $nin: [1] } }, 39], [{ none: { $nin: [1] } }, 0],
      [{ none: { $exists: false } }, 40], [{ $not: { none: { $exists: true } } }, 40], [{ v: { $mod: [15, 1] } }, first(1, 16, 31)], [{ v: { $type: 'string' } }, 0], [{ v: { $lt: 3, $gt: 1 } }, first(2)],
      [{ _id: { $gt: 'd37' } }, first(38, 39)], [{ _id: { $gte: 'd37', $lt: 'd38' } }, first(37)], [{ _id: 'd05' }, first(5)], [{ _id: { $regex: '^d0[12]$' } }, first(1, 2)], [{ $not: { _id: { $regex: '^d[1-9]' } } }, 10],
      [{ $and: [{ v: { $gt: 3 } }, { v: { $lte: 5 } }] }, first(4, 5)], [{ list: { $all: [1, 2] } }, 0], [{ list: { $elemMatch: { $eq: 1 } } }, 0], [{ 'a.b': 1 }, 0], [{ __proto__: null, constructor: { $exists: true } }, 0], [{ toString: { $exists: true } }, 0]
    ])) {
      const ids = (await find({ selector, limit: 100, fields: ['_id'] })).docs.map(({ _id }) => _id)
      assert.deepEqual(typeof wanted === 'number' ? ids.length : ids.sort(), wanted, JSON.stringify(selector))
    }
    assert.deepEqual((await find({ selector: JSON.parse('{"__proto__": {"$exists": true}}') })).docs, [])
    for (const selector of [{ v: { $regex: '(' } }, { v: { $exists: 'x' } }, { v: { $size: -1 } }, { v: { $not: 5 } }, { $nope: 1 }]) assert.equal((await admin('POST', '/_find', { selector })).status, 400, JSON.stringify(selector))
  })

  it('shows some fields, those inside others too', async () => {
    await admin('PUT', '/nested', { a: { b: 1, c: 2 }, list: [1], text: 'x' })
    assert.deepEqual((await find({ selector: { _id: 'nested' }, fields: ['a.b', 'text', 'none', 'a.none.x'] })).docs, [{ a: { b: 1 }, text: 'x' }])
    assert.equal((await find({ selector: { a: { b: 1 } } })).docs.length, 1)
    assert.deepEqual((await find({ selector: { 'a.b': 1, list: { $all: [1] }, text: { $regex: '^x' } }, fields: ['_id'] })).docs, [{ _id: 'nested' }])
    const { rev } = (await admin('GET', '/_all_docs?key=%22nested%22')).json.rows[0].value
    await admin('DELETE', `/nested?rev=${rev}`)
  })

  it('explains and removes indexes, and writes into no other design document', async () => {
    await admin('POST', '/_index', { index: { fields: ['current'] }, ddoc: 'ours', name: 'now' })
    const plan = (await admin('POST', '/_explain', { selector: { current: true }, limit: 3 })).json
    assert.deepEqual([plan.index.ddoc, plan.index.name, plan.limit, plan.dbname], ['_design/ours', 'now', 3, db.path.slice(1)])
    assert.equal((await find({ selector: { current: true }, use_index: 'ours', limit: 5 })).docs.length, 5)
    assert.equal((await admin('DELETE', '/_index/_design/ours/json/none')).status, 404)
    assert.deepEqual((await admin('DELETE', '/_index/_design/ours/json/now')).json, { ok: true })
    assert.equal((await admin('GET', '/_design/ours')).status, 404)
    await admin('PUT', '/_design/code', { views: { v: { map: '(function (doc) { emit(doc.v) })' } } })
    assert.ok((await admin('POST', '/_index', { index: { fields: ['v'] }, ddoc: 'code' })).status >= 400)
    assert.ok((await admin('DELETE', '/_index/_design/code/json/v')).status >= 400)
    assert.match((await admin('GET', '/_design/code')).json.views.v.map, /emit/)
    for (const body of [{}, { index: {} }, { index: { fields: [5] } }, { index: { fields: ['v'] }, type: 'nope' }]) assert.equal((await admin('POST', '/_index', body)).status, 400, JSON.stringify(body))
  })
})
