// The limits of requests to the embedded store: depth and size of JSON, size of unpacked bodies, and selectors. No
// request blocks the only thread of the server for long.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { TIME_FACTOR } from '../../bench/wait.js'
import { compileSelector, pickFitting } from '../../server/embedded/selector.js'
import { startInProcess, useEmbedded } from './harness.js'

const nested = (levels, open = '[', close = ']', core = '') => open.repeat(levels) + core + close.repeat(levels)

describe('the embedded store with oversized requests', function () {
  this.timeout(30000)
  const uncaught = []
  const recordError = error => uncaught.push(error)
  before(() => process.on('uncaughtException', recordError))
  after(() => process.off('uncaughtException', recordError))
  const { client, server } = useEmbedded({ fill: async ask => {
    await ask('PUT', '/db')
    await ask('PUT', '/db/_design/d', {
      views: { v: { map: '(function (doc) { emit(doc.a) })' } },
      lists: { l: '(function () { send("x") })' },
      updates: { u: '(function (doc, req) { return [null, "x"] })' },
      rewrites: '(function () { return { path: "../../_all_docs" } })'
    })
  } })

  it('accepts JSON of 200 levels, and refuses deeper JSON in every request', async () => {
    for (const deep of [nested(5000), nested(5000, '{"a":', '}', '1'), nested(100000)]) {
      const doc = `{"a":${deep}}`
      const requests = [
        ['PUT', '/db/_local/z', doc], ['PUT', '/db/x', doc], ['POST', '/db', doc],
        ['POST', '/db/_bulk_docs', `{"docs":[${doc}]}`], ['PUT', '/db/_security', doc],
        ['POST', '/db/_changes?filter=_selector', `{"selector":${doc}}`],
        ['POST', '/db/_changes?filter=_doc_ids', `{"doc_ids":${deep}}`],
        ['POST', '/db/_all_docs', `{"startkey":${deep}}`],
        ['POST', '/db/_all_docs/queries', `{"queries":[{"key":${deep}}]}`],
        ['POST', '/db/_design/d/_view/v', `{"startkey":${deep}}`],
        ['POST', '/db/_design/d/_view/v/queries', `{"queries":${deep}}`],
        ['POST', '/db/_bulk_get', `{"docs":${deep}}`], ['POST', '/db/_revs_diff', doc],
        ['POST', '/db/_design/d/_list/l/v', `{"keys":${deep}}`],
        ['POST', '/db/_design/d/_rewrite/docs', `{"keys":${deep}}`],
        ['PUT', '/db/m', `--x\r\nContent-Type: application/json\r\n\r\n${doc}\r\n--x--`,
          { 'Content-Type': 'multipart/related; boundary=x' }]
      ]
      for (const [method, path, body, headers] of requests) {
        const { status, text } = await client(method, path, body, headers)
        assert.equal(status, 400, `${method} ${path}: ${text}`)
      }
    }
    const key = nested(5000)
    for (const path of [`_all_docs?key=${key}`, `_all_docs?keys=${key}`, `_design/d/_view/v?startkey=${key}`,
      `_changes?filter=_doc_ids&doc_ids=${key}`, `_design/d?open_revs=${key}`, `_design/d/_list/l/v?key=${key}`]) {
      const { status, text } =
        await client('GET', `/db/${encodeURI(path).replaceAll('%5B', '[').replaceAll('%5D', ']')}`)
      assert.equal(status, 400, `${path.slice(0, 40)}: ${text}`)
    }
    const words = nested(5000).replaceAll('[', '[\\\\\\"')
    const answer = await client('PUT', '/db/fine', `{"a":${nested(199)},"text":"${words}"}`)
    assert.equal(answer.status, 201, 'what is in texts does not count')
    assert.equal((await client('GET', '/db/fine')).json.text.length, 20000)
    assert.equal((await client('GET', '/db/_all_docs?include_docs=true')).status, 200)
    assert.deepEqual(uncaught, [])
  })

  it('accepts queries up to 16 MB, writes up to 256 MB, 20,000 documents and 1,000,000 values', async () => {
    const large = JSON.stringify({ keys: Array.from({ length: 170 }, () => 'x'.repeat(100000)) })
    for (const path of ['_all_docs', '_revs_diff', '_bulk_get', '_changes',
      '_all_docs/queries', '_design/d/_view/v', '_design/d/_rewrite/docs']) {
      const { status } = await client('POST', `/db/${path}`, large)
      assert.equal(status, 413, path)
    }
    assert.equal((await client('PUT', '/db/large', { text: 'x'.repeat(17e6) })).status, 201)
    assert.equal((await client('PUT', '/db/none', 'x', { 'Content-Length': '300000000' }).catch(error => error)).status,
      413)
    const bulk = count => client('POST', '/db/_bulk_docs', `{"docs":[${Array(count).fill('{"_id":"_bad"}')}]}`)
    assert.deepEqual([(await bulk(20001)).status, (await bulk(100)).status], [413, 400])
    const { status, json } =
      await client('POST', '/db/_changes?filter=_selector', `{"selector":{"$and":[${Array(1000002).fill(1)}]}}`)
    assert.deepEqual([status, json], [413, { error: 'too_large', reason: 'JSON may have 1000000 values' }])
  })

  it('serves others while a replicator compares 20,000 documents', async () => {
    const revisionsById = Object.fromEntries(Array.from({ length: 20000 },
      (_, index) => [`layer:10:${index}:412@2024-03-01T00:00:00Z`, ['1-0123456789abcdef0123456789abcdef']]))
    let isOver = false
    let served = 0
    const comparison = client('POST', '/db/_revs_diff', revisionsById).finally(() => { isOver = true })
    while (!isOver) {
      await client('GET', '/')
      served++
    }
    assert.equal(Object.keys((await comparison).json).length, 20000)
    assert.ok(served >= 10, `${served} requests were served meanwhile`)
  })

  it('returns a revision once when open_revs names it repeatedly', async () => {
    const { _rev: rev } = (await client('GET', '/db/_design/d')).json
    const readRevs = revs => client('GET', `/db/_design/d?open_revs=${JSON.stringify(revs).replaceAll('"', '%22')}`)
    assert.equal((await readRevs(Array(100).fill(rev))).json.length, 1)
    assert.equal((await readRevs([rev, '9-none', '9-none'])).json.length, 2)
  })

  it('answers 60 pipelined requests of a connection, and closes it at 1000', async () => {
    const { hostname, port } = new URL(server().url)
    const ask = count => new Promise(resolve => {
      let text = ''
      const socket =
        connect(+port, hostname, () => socket.write('GET /db HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count)))
      socket.on('error', () => {}).on('close', () => resolve(undefined)).on('data', data => {
        text += data
        if (text.match(/doc_count/g)?.length === count) resolve(socket.destroy() && count)
      })
    })
    assert.equal(await ask(60), 60)
    assert.equal(await ask(1000), undefined)
  })

  it('unpacks gzip attachments of a replicator up to the limit of a body, and no gzip bodies', async () => {
    const put = (id, ...files) => {
      const attachments = Object.fromEntries(
        files.map(([name]) => [name, { follows: true, content_type: 'text/plain', encoding: 'gzip' }])
      )
      const parts = [
        Buffer.from(`--x\r\nContent-Type: application/json\r\n\r\n${JSON.stringify({ _attachments: attachments })}`),
        ...files.map(([name, bytes]) =>
          Buffer.concat([Buffer.from(`\r\n--x\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\n`), bytes]))
      ]
      return client('PUT', `/db/${id}`, Buffer.concat([...parts, Buffer.from('\r\n--x--')]),
        { 'Content-Type': 'multipart/related; boundary=x' })
    }
    assert.equal((await put('packed', ['one', gzipSync('hello')], ['two', gzipSync('world')])).status, 201)
    assert.deepEqual([(await client('GET', '/db/packed/one')).text, (await client('GET', '/db/packed/two')).text],
      ['hello', 'world'])
    const bomb = gzipSync(Buffer.alloc(260 * 1024 * 1024))
    assert.equal((await put('bomb', ['one', bomb])).status, 400)
    const headers = { 'Content-Encoding': 'gzip' }
    const query = await client('POST', '/db/_changes?filter=_selector', gzipSync('{"selector":{}}'), headers)
    assert.deepEqual([query.status, (await client('PUT', '/db/gz', gzipSync('{}'), headers)).status], [415, 415])
  })
})

const LONG = 'a'.repeat(500)

/** Selectors that take seconds to years without protection. */
const SLOW = [
  { text: { $regex: '^(a+)+$' } }, { text: { $regex: '^(a+)+(b|c)' } },
  { text: { $regex: '^(a|aa)+(b|c)' } }, { text: { $regex: '^.*.*.*.*.*(b|c)' } }, { text: { $regex: '(.*)*x' } },
  { $or: [{ _id: 'no' }, { $not: { text: { $not: { $regex: '^(a+)+(b|c)' } } } }] },
  // 20 to the power of 12 combinations when expanded
  { $and: Array.from({ length: 12 }, () => ({ $or: Array.from({ length: 20 }, (_, index) => ({ n: index + 100 })) })) },
  Object.fromEntries(Array.from({ length: 20000 }, (_, index) => [`f${index}`, index]))
]

describe('a selector', () => {
  it('matches a hostile document quickly, or fails with 400', async () => {
    const doc = { _id: 'd', text: LONG, n: 1, list: [LONG, LONG], numbers: Array.from({ length: 1000 }, (_, n) => n) }
    for (const selector of SLOW) {
      const began = performance.now()
      compileSelector(selector)(doc)
      assert.ok(performance.now() - began < 1000 * TIME_FACTOR, JSON.stringify(selector).slice(0, 100))
    }
    const costly = compileSelector({ text: { $regex: '(a|b)*a(a|b){900}$' } })
    assert.throws(() => costly({ text: 'ab'.repeat(50000) }), { status: 400 })
  })

  it('is refused with 400, quickly when it is too large, malformed or has an unsupported operator or pattern', () => {
    const long = Array(500000).fill('a').join('.')
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`x${n}`, 1]))
    for (const selector of [{ [long]: many }, { $and: Array(900000).fill({}) },
      { $or: Array(2000).fill({ [long.slice(0, 1999)]: 1 }) }]) {
      const began = performance.now()
      assert.throws(() => compileSelector(selector), { status: 400 })
      assert.ok(performance.now() - began < 1000 * TIME_FACTOR)
    }
    for (const selector of [null, [], 5, { a: { $regex: '(' } }, { a: { $regex: '(?!x)' } },
      { a: { $regex: '(a)\\1' } }, { a: { $regex: 5 } }, { a: { $regex: '((a{100}){100}){100}' } },
      { a: { $regex: 'x'.repeat(100001) } }, { a: { $mod: [2, 1] } }, { a: { $in: [5] } }, { a: { $exists: true } },
      { a: { $constructor: 1 } }, { $or: [5] }, { $or: {} }, { $not: [] }]) {
      assert.throws(() => compileSelector(selector), { status: 400 }, JSON.stringify(selector)?.slice(0, 100))
    }
  })

  it('reads only own fields of a document, never inherited ones', () => {
    const matches = (text, doc) => compileSelector(JSON.parse(text))(doc)
    for (const name of ['__proto__', 'constructor', 'toString', 'constructor.name', 'list.length', 'text.length']) {
      assert.equal(matches(`{"${name}": {"$gte": null}}`, { list: [1], text: 'x' }), false, name)
    }
    assert.equal(matches('{"__proto__": 1}', JSON.parse('{"__proto__": 1}')), true)
    assert.equal(matches('{"a\\\\.b": 1}', { 'a.b': 1 }), true)
  })

  it('lets other tasks run while it filters many documents', async () => {
    let turns = 0
    const timer = setInterval(() => { turns++ }, 1)
    const slow = () => { for (const until = performance.now() + 15; performance.now() < until;); return true }
    assert.equal((await pickFitting(Array.from({ length: 10 }, (_, index) => index), slow)).length, 10)
    clearInterval(timer)
    assert.ok(turns >= 3, `${turns}`)
  })
})

describe('the embedded store, asked with hostile selectors', function () {
  this.timeout(20000)
  const docs = Array.from({ length: 20 },
    (_, index) => ({ _id: `d${index}`, text: LONG, n: index, list: [LONG], numbers: [1, 2] }))
  const { client } = useEmbedded({
    async fill (ask) {
      await ask('PUT', '/db')
      await ask('POST', '/db/_bulk_docs', { docs })
    }
  })

  it('answers each hostile selector quickly in the change feed', async () => {
    for (const selector of SLOW) {
      const began = performance.now()
      const { status, text } = await client('POST', '/db/_changes?filter=_selector', { selector })
      const excerpt = JSON.stringify(selector).slice(0, 100)
      assert.equal(status, 200, `${excerpt}: ${text}`)
      assert.ok(performance.now() - began < 3000 * TIME_FACTOR, excerpt)
    }
  })
})

// Answers that are larger than the memory of the process.
const DOCS = 120
const SIZE = 150000 // bytes of an image
const HEAP = 90 // MB
const AT_ONCE = 4

describe('the embedded store with little memory', function () {
  this.timeout(60000)
  let dir, child, errors, url

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'emb-memory-'))
    const started = startInProcess({ dir, admins: 'everybody' }, { flags: [`--max-old-space-size=${HEAP}`] })
    ;({ child, errors } = started)
    url = `${await started.listening}/db`
    await ask('PUT', '')
    for (let start = 0; start < DOCS; start += 20) {
      const image = seed => ({ content_type: 'image/png', data: Buffer.alloc(SIZE, seed).toString('base64') })
      const docs = Array.from({ length: 20 },
        (_, index) => ({ _id: `d${start + index}`, _attachments: { tile: image(start + index) } }))
      assert.equal((await ask('POST', '/_bulk_docs', { docs })).status, 201)
    }
  })
  after(() => {
    child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })

  /** Counts the bytes of the answer. @returns {Promise<{status: number | undefined, bytes: number}>} */
  function ask (method, path, body) {
    return new Promise((resolve, reject) => {
      const fail = error => reject(new Error(`${path}: ${error.message} ${errors().slice(0, 300)}`))
      const request = http.request(url + path, {
        method, agent: false, headers: { accept: 'application/json', 'content-type': 'application/json' }
      }, response => {
        let bytes = 0
        response.on('data', part => { bytes += part.length }).on('error', fail)
          .on('end', () => resolve({ status: response.statusCode, bytes }))
      })
      request.on('error', fail)
      request.end(body && JSON.stringify(body))
    })
  }

  it('answers several requests for all images at once', async () => {
    const ids = Array.from({ length: DOCS }, (_, index) => `d${index}`)
    const images = 'include_docs=true&attachments=true'
    for (const [method, path, body] of [
      ['GET', `/_all_docs?${images}`, undefined], ['POST', `/_all_docs?${images}`, { keys: ids }],
      ['POST', `/_all_docs/queries?${images}`, { queries: [{ limit: DOCS }] }],
      ['POST', '/_bulk_get?attachments=true', { docs: ids.map(id => ({ id })) }],
      ['GET', `/_changes?${images}`, undefined], ['GET', `/_changes?${images}&descending=true`, undefined],
      ['POST', `/_changes?${images}&filter=_selector`, { selector: { _id: { $gt: null } } }]
    ]) {
      const answers = Array.from({ length: AT_ONCE }, () => ask(method, path, body))
      for (const { status, bytes } of await Promise.all(answers)) {
        assert.equal(status, 200, path)
        assert.ok(bytes > DOCS * SIZE * 4 / 3, `${path}: ${bytes} bytes`)
      }
    }
    assert.equal(child.exitCode, null, errors())
  })
})
