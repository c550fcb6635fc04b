// The CouchDB contract for the change feed.
import assert from 'node:assert/strict'
import http from 'node:http'
import { until } from '../../../bench/wait.js'
import { answered, freshDatabase } from '../harness.js'

export const changes = target => describe('changes', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const feed = async (query = '', body) => {
    return (await answered(200, admin(body ? 'POST' : 'GET', `/_changes${encodeURI(query)}`, body))).json
  }
  const ids = async (query, body) => (await feed(query, body)).results.map(({ id }) => id).sort()

  before(async () => {
    await admin('PUT', '/_design/f', {
      filters: { k: '(function (doc, req) { return doc.k === req.query.k })', bad: '(function () { throw "x" })' },
      views: { v: { map: '(function (doc) { if (doc.k) emit(doc.k) })' } }
    })
    await admin('POST', '/_bulk_docs', { docs: [{ _id: 'a', k: 'x' }, { _id: 'b', k: 'y' }, { _id: 'c' }] })
    await admin('POST', '/_bulk_docs',
      { new_edits: false, docs: [{ _id: 'r', _rev: '2-b' }, { _id: 'r', _rev: '2-c' }] })
  })

  it('list every document once', async () => {
    assert.deepEqual(await ids(), ['_design/f', 'a', 'b', 'c', 'r'])
    const { results: [first], last_seq: last, pending } = await feed('?limit=1')
    assert.equal(typeof first.seq, 'string')
    assert.equal(first.seq, last)
    assert.ok(pending > 0)
    assert.equal(first.changes.length, 1)
  })

  it('continue from a sequence', async () => {
    const { last_seq: last } = await feed()
    assert.deepEqual(await ids(`?since=${last}`), [])
    assert.deepEqual(await ids('?since=now'), [])
    const created = (await admin('PUT', '/d', {})).json
    const { results } = await feed(`?since=${last}`)
    assert.deepEqual(results.map(({ id, changes: [{ rev }] }) => [id, rev]), [['d', created.rev]])
    await admin('DELETE', `/d?rev=${created.rev}`)
    assert.equal((await feed(`?since=${last}`)).results[0].deleted, true)
    assert.equal((await admin('GET', '/_changes?since=abc')).status, 400)
  })

  it('list every document when read in pages', async () => {
    const seenIds = new Set()
    let since = '0'
    for (;;) {
      const { results, last_seq: last } = await feed(`?limit=2&since=${since}`)
      if (!results.length) break
      for (const { id } of results) seenIds.add(id)
      since = last
    }
    assert.deepEqual([...seenIds].sort(), ['_design/f', 'a', 'b', 'c', 'd', 'r'])
  })

  it('include documents, leaves and conflicts on request', async () => {
    const { results: [row] } =
      await feed('?filter=_doc_ids&doc_ids=["r"]&include_docs=true&conflicts=true&style=all_docs')
    assert.deepEqual(row.changes, [{ rev: '2-c' }, { rev: '2-b' }])
    assert.deepEqual(row.doc, { _id: 'r', _rev: '2-c', _conflicts: ['2-b'] })
    await admin('PUT', '/t', { _attachments: { tile: { content_type: 'image/png', data: 'YWJj' } } })
    const { results: [tile] } = await feed('?filter=_doc_ids&doc_ids=["t"]&include_docs=true&attachments=true')
    assert.equal(tile.doc._attachments.tile.data, 'YWJj')
  })

  it('are filtered by document ids and selectors', async () => {
    assert.deepEqual(await ids('?filter=_doc_ids', { doc_ids: ['a', 'zz'] }), ['a'])
    assert.deepEqual(await ids('?filter=_selector', { selector: { k: 'y' } }), ['b'])
    assert.deepEqual(await ids('?filter=_selector', { selector: { $or: [{ k: 'x' }, { k: { $gte: 'y' } }] } }),
      ['a', 'b'])
  })

  it('refuse unknown filters and feeds', async () => {
    for (const query of ['filter=nope', 'filter=_nope', 'filter=_selector', 'feed=nope']) {
      await answered(400, admin('GET', `/_changes?${query}`))
    }
    assert.equal((await admin('GET', '/a')).status, 200)
  })

  it('list all documents with descending=true', async () => {
    const { results } = await feed('?descending=true')
    assert.equal(results.length, 7)
  })

  /** Writes again and again until a long poll ends. Returns its first row. */
  async function firstRow (longPoll, write) {
    let isOver = false
    const writes = async () => { for (let i = 0; i < 50 && !isOver; i++) await write(i) }
    const [{ results }] = await Promise.all([longPoll.finally(() => { isOver = true }), writes()])
    return results[0]
  }

  it('end a long poll when a document is written', async () => {
    const longPoll = feed('?feed=longpoll&since=now&timeout=10000')
    const { id } = await firstRow(longPoll, i => admin('PUT', `/poll${i}`, {}))
    assert.match(id, /^poll/)
  })

  it('end a long poll with the first document that matches the selector', async () => {
    const longPoll =
      feed('?feed=longpoll&since=now&filter=_selector&include_docs=true&timeout=10000', { selector: { type: 'work' } })
    const { id, doc } = await firstRow(longPoll, i => admin('POST', '/_bulk_docs',
      { docs: [{ _id: `other${i}` }, { _id: `work:${i}`, type: 'work', done: i }] }))
    assert.match(id, /^work:/)
    assert.equal(doc.type, 'work')
  })

  it('end a long poll at its timeout', async () => {
    const { results } = await feed('?feed=longpoll&since=now&timeout=50')
    assert.deepEqual(results, [])
  })

  const openFeed = query => {
    const { hostname, port, username, password } = new URL(target().admin.base)
    const req = http.get({ hostname, port, path: `${db.path}/_changes?${query}`, auth: `${username}:${password}` })
    const received = { text: '', req, ended: false }
    req.on('response', res => {
      res.on('data', chunk => { received.text += chunk })
      res.on('end', () => { received.ended = true })
    })
    req.on('error', () => {})
    return received
  }

  it('come in a continuous feed with a heartbeat', async () => {
    const received = openFeed('feed=continuous&since=now&heartbeat=50')
    await until(() => received.text.includes('\n'))
    await admin('PUT', '/live1', {})
    await admin('PUT', '/live2', {})
    await until(() => received.text.includes('live2'))
    const lines = received.text.split('\n').filter(Boolean).map(line => JSON.parse(line).id)
    assert.deepEqual(lines, ['live1', 'live2'])
    received.req.destroy()
    assert.equal((await admin('GET', '/a')).status, 200)
  })

  it('include every document that is written while a continuous feed is read', async () => {
    const received = openFeed('feed=continuous&since=now&heartbeat=20')
    await until(() => received.text.includes('\n'))
    const writtenIds = Array.from({ length: 60 }, (_, i) => `quick${i}`)
    await Promise.all(
      [0, 1, 2].map(async n => { for (let i = n; i < 60; i += 3) await admin('PUT', `/${writtenIds[i]}`, {}) })
    )
    await until(() => writtenIds.every(id => received.text.includes(`"id":"${id}"`)))
    received.req.destroy()
  })

  it('end a continuous feed at its limit or timeout', async () => {
    const { text } = await admin('GET', '/_changes?feed=continuous&limit=2&timeout=50')
    const lines = text.split('\n').filter(Boolean).map(line => JSON.parse(line))
    assert.equal(lines.length, 3)
    assert.equal(lines[2].last_seq, lines[1].seq)
    const answer = await admin('GET', '/_changes?feed=continuous&timeout=50&since=now')
    assert.equal(answer.text.split('\n').filter(Boolean).length, 1)
  })

  it('include documents and attachments in descending order too', async () => {
    await admin('PUT', '/image', { _attachments: { t: { content_type: 'text/plain', data: 'aGVsbG8=' } } })
    const { results } =
      await feed('?include_docs=true&attachments=true&filter=_doc_ids&doc_ids=["image"]&descending=true')
    assert.deepEqual(results.map(({ id, doc }) => [id, doc._id, doc._attachments.t.data]),
      [['image', 'image', 'aGVsbG8=']])
    assert.equal((await feed('?descending=true&limit=2&include_docs=true'))
      .results.filter(({ id, doc }) => doc._id === id).length, 2)
    const { rev } = (await admin('GET', '/_all_docs?key=%22image%22')).json.rows[0].value
    await admin('DELETE', `/image?rev=${rev}`)
    const [deletedRow] = (await feed('?include_docs=true&attachments=true&filter=_doc_ids&doc_ids=["image"]')).results
    assert.deepEqual([deletedRow.deleted, deletedRow.doc._deleted], [true, true])
  })
})
