import assert from 'node:assert/strict'
import { askAll, askEach, bulkGetRows } from '../../core/couch/answers.js'
import { CouchClient } from '../../core/couch/client.js'
import { askQueries } from '../../core/couch/queries.js'

const limits = { firstDelay: 1, longestDelay: 2 }
const TROUBLE = { error: 'internal_server_error', reason: 'a shard is away' }

/** Answers one after the other, and notes what was asked for. */
function answering (...answers) {
  const asked = []
  return {
    asked,
    ask: async ids => {
      asked.push(ids)
      return answers.length > 1 ? answers.shift() : answers[0]
    }
  }
}

describe('a bulk answer', () => {
  it('is requested again only for ids with an error or without a row', async () => {
    const { asked, ask } = answering([{ id: 'a', doc: 1 }, { id: 'b', ...TROUBLE }, { id: 'd', error: 'not_found' },
      { id: 'x', doc: 9 }], [{ id: 'c', doc: 3 }, { id: 'b', ...TROUBLE }], [{ id: 'b', doc: 2 }])
    const rows = await askAll('here', ['a', 'b', 'c', 'd'], ask, { limits })
    assert.deepEqual(Object.fromEntries(rows), {
      a: [{ id: 'a', doc: 1 }], b: [{ id: 'b', doc: 2 }], c: [{ id: 'c', doc: 3 }], d: [{ id: 'd', error: 'not_found' }]
    })
    assert.deepEqual(asked, [['a', 'b', 'c', 'd'], ['b', 'c'], ['b']])
  })

  it('leads to NO_ANSWER with the ids that lack a row, when their errors last', async () => {
    const { asked, ask } = answering([{ id: 'a', doc: 1 }, { id: 'b', ...TROUBLE }])
    await assert.rejects(askAll('here', ['a', 'b', 'c'], ask, { limits: { ...limits, tries: 3 } }), error => {
      assert.deepEqual([error.code, error.details.ids, error.details.reason], ['NO_ANSWER', ['b', 'c'], TROUBLE.reason])
      assert.match(error.message, /^here gave no answer for b, c: a shard is away$/)
      return true
    })
    assert.equal(asked.length, 3)
  })

  it('gives askEach the good rows beside the errors of the other ids', async () => {
    const { rows, failed } = await askEach(['a', 'b'], async () => [{ id: 'a', doc: 1 }, { id: 'b', ...TROUBLE }],
      { limits: { ...limits, tries: 2 } })
    assert.deepEqual([[...rows.keys()], Object.fromEntries(failed)], [['a'], { b: TROUBLE }])
  })

  it('is requested again for an id when one of the rows of its leaves has an error', async () => {
    const { ask } =
      answering([{ id: 'a', doc: 1 }, { id: 'a', ...TROUBLE }], [{ id: 'a', doc: 1 }, { id: 'a', doc: 2 }])
    assert.deepEqual([...(await askAll('here', ['a'], ask, { limits })).values()].flat().map(({ doc }) => doc), [1, 2])
  })

  it('is not requested again after the signal was aborted', async () => {
    const stop = new AbortController()
    const asking = askAll('here', ['a'], async () => { stop.abort(); return [] },
      { signal: stop.signal, limits: { firstDelay: 60000, longestDelay: 60000 } })
    await assert.rejects(asking, { code: 'ABORTED' })
  })

  it('of _bulk_get becomes a row for each leaf and each error, as JSON or as multipart', async () => {
    const answer = {
      results: [{ id: 'a', docs: [{ ok: { _id: 'a', _rev: '1-x' } }, { ok: { _id: 'a', _rev: '1-y' } }] }, {
        id: 'b', docs: [{ error: { id: 'b', rev: 'undefined', error: 'not_found', reason: 'missing' } }]
      }, { id: 'c', docs: [] }]
    }
    for (const form of [answer, Buffer.from(JSON.stringify(answer))]) {
      assert.deepEqual(bulkGetRows(form).map(({ id, doc, error }) => [id, doc?._rev ?? error]),
        [['a', '1-x'], ['a', '1-y'], ['b', 'not_found']])
    }
    const multipart = ['--x', 'content-type: application/json', '',
      '{"_id":"a","_rev":"1-x"}', '--x', 'content-type: application/json; error="true"',
      '', '{"id":"b","rev":"undefined","error":"timeout","reason":"r"}', '--x--'].join('\r\n')
    assert.deepEqual(bulkGetRows(Buffer.from(multipart)),
      [{ id: 'a', doc: { _id: 'a', _rev: '1-x' } }, { id: 'b', rev: 'undefined', error: 'timeout', reason: 'r' }])
    assert.throws(() => bulkGetRows(Buffer.from('{"results":[')), { code: 'BAD_ANSWER' })
    assert.throws(() => bulkGetRows({ error: 'x' }), { code: 'BAD_ANSWER' })
    const last = { results: [{ id: 'c', docs: [{ ok: { _id: 'c', _rev: '1-z' } }] }] }
    const exchange = async ({ body }) =>
      ({ status: 200, bytes: Buffer.from(JSON.stringify(JSON.parse(body).docs.length > 1 ? answer : last)) })
    const leaves = await new CouchClient({ url: 'http://here/db', exchange }).leaves(['a', 'b', 'c'], { limits })
    assert.deepEqual([...leaves].map(([id, own]) => [id, own.length]), [['a', 2], ['b', 0], ['c', 1]])
  })
})

describe('an answer to many queries', () => {
  const run = async (queries, ...answers) => {
    const { asked, ask } = answering(...answers.map(results => ({ results })))
    const rows = await askQueries({ url: 'here', request: ({ body }) => ask(body.queries) },
      '_all_docs', queries, { limits: { ...limits, tries: 3 } })
    return { rows, asked }
  }
  const range = { startkey: 'a', endkey: 'b' }
  const keys = { keys: ['k', 'l'] }
  const row = key => ({ id: key, key, value: { rev: '1-a' } })

  it('is requested again for queries with an error, without rows, or without one of several keys', async () => {
    const { rows, asked } = await run([range, keys, { keys: ['one'] }, range],
      [TROUBLE, { rows: [row('k')] }, { rows: [] }],
      [{ rows: [row('a')] }, { rows: [row('k'), { key: 'l', ...TROUBLE }] }, {}],
      [{ rows: [row('k'), { key: 'l', error: 'not_found' }] }, { rows: [] }])
    assert.deepEqual(rows.map(own => own.map(({ key, error }) => error ?? key)), [['a'], ['k', 'not_found'], [], []])
    assert.deepEqual(asked, [[range, keys, { keys: ['one'] }, range], [range, keys, range], [keys, range]])
  })

  it('leads to NO_ANSWER with the name of the query, when its error lasts', async () => {
    await assert.rejects(run([range, keys], [{ rows: [] }, { rows: [row('l')] }]),
      { code: 'NO_ANSWER', message: /query 1 \(\["k","l"\]\): k: no row/ })
    await assert.rejects(run([range], []), { code: 'NO_ANSWER' })
    await assert.rejects(askQueries({ request: async () => ({ error: 'x' }) }, '_all_docs', [range]),
      { code: 'BAD_ANSWER' })
  })

  it('of a view may lack keys for which the view emitted nothing', async () => {
    const rows = await askQueries({ request: async () => ({ results: [{ rows: [] }] }) },
      '_design/versions/_view/by_tile', [keys], { limits })
    assert.deepEqual(rows, [[]])
  })

  it('is requested once more when the index was just deleted, and fails when it is missing', async () => {
    const client = (...answers) => new CouchClient({
      url: 'http://here/db', retries: 0,
      exchange: async () => (
        { status: 200, headers: {}, bytes: Buffer.from('{"results":[{"rows":[]}]}'), ...answers.shift() }
      )
    })
    const missing = reason => ({ status: 404, bytes: Buffer.from(JSON.stringify({ error: 'not_found', reason })) })
    assert.deepEqual(await client(missing('deleted')).view('_design/a/_view/b', {}), [])
    assert.deepEqual(await client(missing('Design document was updated or deleted.')).view('_design/a/_view/b', {}), [])
    await assert.rejects(client(missing('deleted'), missing('deleted')).view('_design/a/_view/b', {}),
      { code: 'INDEX_MISSING' })
    await assert.rejects(client(missing('missing')).view('_design/a/_view/b', {}), { code: 'INDEX_MISSING' })
  })
})
