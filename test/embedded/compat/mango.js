import assert from 'node:assert/strict'
import { freshDatabase } from '../harness.js'

export const mango = target => describe('Mango', () => {
  const db = freshDatabase(target)
  const admin = (method, path, ...rest) => target().admin(method, db.path + path, ...rest)
  const find = async query => {
    const { status, text, json } = await admin('POST', '/_find', query)
    assert.equal(status, 200, text)
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
})
