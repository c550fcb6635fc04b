// Hostile requests to the embedded server, the same ones in every run. The server answers each of them and keeps
// running, and stored documents stay intact.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { random } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { answered, useEmbedded } from './harness.js'

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'COPY', 'PATCH', 'OPTIONS']

const paths = ['', '_all_docs', '_all_docs/queries', '_bulk_docs', '_bulk_get', '_changes', '_revs_diff', '_find',
  '_index', '_explain', '_security', '_revs_limit', '_compact', '_view_cleanup', '_ensure_full_commit', '_design',
  '_design/', '_design/d', '_design/d/_view/v', '_design/d/_view/v/queries', '_design/d/_view/', '_design/d/_list/l/v',
  '_design/d/_list/l', '_design/d/_show/s', '_design/d/_show/s/doc', '_design/d/_update/u/doc', '_design/d/_update/u',
  '_design/d/_rewrite/x', '_design/d/_rewrite', '_design/d/_info', '_design/gone/_view/v', '_local/', '_local/x',
  '_local_docs', '_nope', 'doc', 'doc/tile', 'doc/../..', 'new/tile', '%zz', '%ff%fe', '%00', 'a%2Fb%2F..', '.', '..',
  'x'.repeat(4000), '__proto__', 'constructor', '__proto__/constructor', 'toString/valueOf']

const values = ['', 'x', '-1', '0', '1e999', '99999999999999999999',
  'true', 'null', '{}', '[]', '[[[[', '"', '"a"', '{"a":1}', '[1,"x",{}]', '%00', '%F0%9F%97%BA', 'now',
  'nope/nope', '_selector', '_view', 'd/f', 'd/boom', '1-abc', '2-', 'all', '["1-a"]', 'NaN', 'undefined', '__proto__']

const names = ['limit', 'skip', 'key', 'keys', 'startkey', 'endkey', 'start_key', 'startkey_docid', 'descending',
  'include_docs', 'attachments', 'conflicts', 'reduce', 'group', 'group_level', 'update', 'stale', 'since', 'filter',
  'view', 'doc_ids', 'selector', 'style', 'rev', 'revs', 'open_revs', 'latest', 'new_edits', 'batch', 'feed', 'count',
  'local_seq', 'meta', 'inclusive_end', 'sorted', '__proto__', 'constructor']

const bodies = ['', 'null', '0', '"x"', '[]', '{}', '{', '[[[[', '\u0000', '{"docs":null}', '{"docs":[null]}',
  '{"docs":[[]]}', '{"docs":[{"_id":null}]}', '{"docs":[{"_id":{}}]}', '{"docs":[{"_id":""}]}',
  '{"docs":[{"_id":"q","_rev":5}]}', '{"docs":[{"_id":"q","_rev":"0-"}]}',
  '{"docs":[{"_id":"q","_rev":"1-x"}],"new_edits":false}',
  '{"docs":[{"_id":"q","_revisions":{"start":1e9,"ids":[1]}}],"new_edits":false}',
  '{"docs":[{"_id":"q","_rev":"99999999999999-a","_revisions":{"start":3,"ids":["a","b"]}}],"new_edits":false}',
  '{"docs":[{"_id":"__proto__","__proto__":{"x":1}}]}', '{"docs":[{"_id":"q","_deleted":"yes"}]}',
  '{"docs":[{"_id":"q","_attachments":null}]}', '{"docs":[{"_id":"q","_attachments":{"a":null}}]}',
  '{"docs":[{"_id":"q","_attachments":{"a":{"data":{}}}}]}',
  '{"docs":[{"_id":"q","_attachments":{"a":{"data":"===="}}}]}',
  '{"docs":[{"_id":"q","_attachments":{"a":{"stub":true,"digest":5}}}]}',
  '{"docs":[{"_id":"q","_attachments":{"__proto__":{"data":""}}}]}',
  '{"docs":[{"_id":"q","_attachments":{"a":{"follows":true}}}]}', '{"docs":[{"_id":"\\ud800"}]}', '{"keys":null}',
  '{"keys":{}}', '{"keys":[null,{},[],5,"",true]}', '{"queries":null}', '{"queries":[null]}',
  '{"queries":[{"keys":5}]}', '{"queries":[5]}', '{"selector":null}', '{"selector":[]}', '{"selector":{"$or":5}}',
  '{"selector":{"a":{"$regex":"("}}}', '{"selector":{"$and":[{"$not":null}]}}', '{"selector":{"a":{"$elemMatch":5}}}',
  '{"selector":{"a":{"$in":5}}}', '{"selector":{"a":{"$mod":[0,0]}}}', '{"selector":{},"sort":[5]}',
  '{"selector":{},"sort":[{}]}', '{"selector":{},"sort":["a",{"b":"desc"}]}', '{"selector":{},"limit":-1}',
  '{"selector":{"_id":{"$gt":null}},"use_index":5}', '{"selector":{"_id":{"$gt":null}},"use_index":["a","b","c"]}',
  '{"index":null}', '{"index":{"fields":5}}', '{"index":{"fields":[null]}}', '{"index":{"fields":[{}]}}',
  '{"index":{"fields":[]}}', '{"index":{"fields":["a"]},"ddoc":5,"name":{}}',
  '{"index":{"fields":["a"]},"type":"text"}', '{"doc":[1]}', '{"doc":["1-a",5]}', '{"doc_ids":5}',
  '{"limit":"x","skip":-1}', '{"views":{"v":{"map":5}}}', '{"admins":5}', '{"members":{"names":[5]}}',
  `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, `{"a":"${'x'.repeat(100000)}"}`,
  '{"selector":{"a":{"$regex":"^(a+)+$"}}}', '{"selector":{"_id":{"$regex":"(?!x)"}}}',
  '{"selector":{"$and":[],"$or":[{}],"$nor":[5]}}',
  '{"selector":{"__proto__":{"$exists":true}},"fields":["__proto__","a.b"],"sort":["__proto__"]}',
  '{"selector":{"a":{"$allMatch":{"$elemMatch":5}}},"use_index":"d"}',
  `{"selector":{"$and":[${Array(9).fill(`{"$or":[${Array(9).fill('{"n":1}').join()}]}`).join()}]}}`,
  '{"index":{"fields":["__proto__"]},"ddoc":"d"}', '{"index":{"fields":["a"],"partial_filter_selector":{}}}',
  `{"selector":${'{"$not":'.repeat(5000)}{}${'}'.repeat(5000)}}`]

const types = ['application/json', 'text/plain', 'multipart/related',
  'multipart/related; boundary=x', 'multipart/form-data; boundary=', 'application/x-www-form-urlencoded', '']

const ddoc = {
  views: {
    v: { map: '(function (doc) { emit(doc._id, doc.n); emit({}.x.y) })' },
    w: {
      map: '(function (doc) { emit(undefined); emit(NaN, function () {}); emit([[[]]], { a: [1, null] }) })',
      reduce: '_count'
    }
  },
  shows: {
    s: `(function (doc, req) {
      var headers = { "Content-Length": "5", "Bad Name": "x", "X": "a\\r\\nSet-Cookie: b" }
      return { code: 200, headers: headers, body: JSON.stringify(req) }
    })`
  },
  lists: { l: '(function () { var row; while (row = getRow()) send(row.key) })' },
  updates: { u: '(function (doc, req) { return [{ _id: "made", x: req.body }, { code: 9999 }] })' },
  filters: { f: '(function (doc, req) { return doc.x.y })', boom: '(function () { throw undefined })' },
  rewrites: '(function (req) { return { path: req.query.to || "../../doc" } })'
}

describe('the embedded server under hostile requests', function () {
  this.timeout(60000)
  const rejections = []
  const recordRejection = error => rejections.push(error)
  const { client, server } = useEmbedded({
    options: { designTimeout: 500 },
    async fill (send) {
      await send('PUT', '/db')
      await answered(201, send('PUT', '/db/_design/d', ddoc))
      for (const [n, id] of ['kept', 'doc'].entries()) {
        await send('PUT', `/db/${id}`,
          { n: n + 1, _attachments: { tile: { content_type: 'image/png', data: 'YWJj' } } })
      }
    }
  })
  before(() => process.on('unhandledRejection', recordRejection))
  after(() => process.off('unhandledRejection', recordRejection))

  afterEach(async () => {
    assert.equal((await client('GET', '/db/kept/tile')).text, 'abc')
    assert.deepEqual(rejections.map(String), [])
  })

  /** Sends a request on its own connection. Returns status 0 if the connection fails. */
  async function ask (method, path, body, headers) {
    const answer = await Promise.race([
      client(method, path, body, { Connection: 'close', ...headers })
        .catch(error => ({ status: 0, text: error.message })),
      new Promise(resolve => { setTimeout(resolve, 10000, { status: 'hangs', text: '' }).unref() })
    ])
    assert.notEqual(answer.status, 'hangs', `${method} ${path} ${body}`)
    return answer
  }

  for (const seed of [20240301, 7, 99]) it(`answers each of 1200 random requests (seed ${seed})`, async () => {
    const next = random(seed)
    const pick = list => list[Math.floor(next() * list.length)]
    const statuses = {}
    for (let i = 0; i < 1200; i++) {
      const method = pick(methods)
      const path = pick(paths)
      if (path === '' && method === 'DELETE') continue // a valid request: it would delete the database
      if (path === '_security' && method === 'PUT') continue
      const query =
        Array.from({ length: Math.floor(next() * 4) }, () => `${pick(names)}=${encodeURIComponent(pick(values))}`)
      query.push('timeout=20')
      const body = ['GET', 'HEAD'].includes(method) ? undefined : pick(bodies)
      const type = pick([types[0], types[0], types[0], pick(types)])
      const headers = { ...(type && { 'Content-Type': type }),
        ...(next() < 0.2 && { Destination: pick(values) || 'x', 'If-Match': pick(values), 'If-None-Match': '*' }) }
      const { status, text } = await ask(method, `/db/${path}?${query.join('&')}`, body, headers)
      statuses[status] = (statuses[status] ?? 0) + 1
      assert.ok(status >= 200 && status < 600, `${method} ${path}?${query} ${body}: ${status} ${text}`)
      assert.notEqual(status, 507)
    }
    assert.ok(Object.keys(statuses).length > 5)
    assert.ok(!statuses[500] || statuses[500] < 200, JSON.stringify(statuses))
  })

  it('answers malformed HTTP and closes the connection', async () => {
    const request = (line, ...headers) => [`${line} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n')
    const raw = ['GET\r\n\r\n', '\0\0\0\0\r\n\r\n', request('BREW /'),
      request('GET /db/kept', 'Content-Length: x'), request('GET /db/kept', `X: ${'y'.repeat(100000)}`),
      request('POST /db/_bulk_docs', 'Content-Type: application/json', 'Transfer-Encoding: chunked') + 'zz\r\n',
      request('GET http://elsewhere/db', 'Connection: close'), request('GET //', 'Connection: close'),
      request('GET /db/kept', 'Authorization: Basic ====', 'Connection: close'), request('CONNECT x:1'),
      request('GET /', 'Connection: Upgrade', 'Upgrade: websocket')]
    for (const text of raw) {
      const socket = net.connect(server().port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(text)
      socket.on('data', () => socket.end())
      await once(socket, 'close')
    }
  })

  it('survives clients that disconnect in the middle of a request', async () => {
    const leave = async text => {
      const socket = net.connect(server().port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      await new Promise(resolve => socket.write(text, resolve))
      socket.destroy()
      await once(socket, 'close')
    }
    const head = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n'
    for (let i = 0; i < 20; i++) {
      await leave(`POST /db/_bulk_docs HTTP/1.1\r\n${head}{"docs":[`)
      await leave(`PUT /db/up/tile HTTP/1.1\r\n${head}abc`)
      await leave(`POST /db/_design/d/_rewrite/x HTTP/1.1\r\n${head}abc`)
      await leave(`POST /db/_find HTTP/1.1\r\n${head}abc`)
      await leave('GET /db/_changes?feed=continuous&heartbeat=10 HTTP/1.1\r\nHost: x\r\n\r\n')
      await leave('GET /db/_all_docs?include_docs=true&attachments=true HTTP/1.1\r\nHost: x\r\n\r\n')
    }
    await until(async () => (await client('PUT', `/db/after${Date.now()}`, {})).status === 201)
    assert.equal((await client('GET', '/db/up')).status, 404)
  })

  it('survives writes during deletion and creation of their database', async () => {
    for (let i = 0; i < 10; i++) {
      await client('PUT', '/shortlived')
      const writes = Array.from({ length: 8 }, (_, n) => ask('PUT', `/shortlived/d${n}`, '{}'))
      const reads =
        [ask('GET', '/shortlived/_changes?feed=longpoll&since=now&timeout=500'), ask('GET', '/shortlived/_all_docs')]
      const deletion = ask('DELETE', '/shortlived')
      const recreation = ask('PUT', '/shortlived')
      assert.equal((await deletion).status, 200)
      for (const { status, text } of await Promise.all([...writes, ...reads, recreation])) {
        assert.ok(status >= 200 && status < 600, `${status} ${text}`)
      }
      await ask('DELETE', '/shortlived')
    }
  })
})
