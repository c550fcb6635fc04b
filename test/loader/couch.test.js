import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { Couch } from '../../loader/store/couch.js'
import { useServer } from '../support/answering-server.js'

const fast = { firstDelay: 1, longestDelay: 4, retries: 4 }
const OK = [200, { ok: true }]

/** Answers that pass: a busy server, one that dies, one that dies while it speaks. */
const troubles = {
  'too many requests': [[429, { error: 'too_many_requests', reason: 'slow down' }], 'COUCHDB_ERROR'],
  'an internal error': [[500, { error: 'internal_server_error', reason: 'badmatch' }], 'COUCHDB_ERROR'],
  'an HTML page of a proxy': [(request, response) => response.writeHead(503, { 'content-type': 'text/html' })
    .end('<h1>Service Unavailable</h1>'), 'COUCHDB_ERROR'],
  'a connection that is reset': [request => request.socket.resetAndDestroy(), 'UNREACHABLE'],
  'a connection that is closed without an answer': [request => request.socket.destroy(), 'UNREACHABLE'],
  'JSON that is cut off': [[200, '{"ok": tr'], 'BAD_ANSWER'],
  'an answer that ends before its length': [(request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
    response.write('{"ok": true', () => response.destroy())
  }, 'UNREACHABLE'],
  'an answer that is not JSON': [
    (request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Log in</p>'), 'BAD_ANSWER'
  ]
}

describe('requests to CouchDB', () => {
  const server = useServer()
  const couch = options => new Couch(server.url, { ...fast, ...options })

  for (const [what, [answer, code]] of Object.entries(troubles)) {
    it(`are repeated after ${what}, and succeed`, async () => {
      server.answers = [answer, answer, OK]
      const seen = []
      assert.deepEqual(await couch({ onRetry: error => seen.push(error.code) }).request({ path: 'x' }), { ok: true })
      assert.deepEqual(seen, [code, code])
      assert.equal(server.requests.length, 3)
    })

    it(`fail when every repetition ends in ${what}`, async () => {
      server.answers = [answer]
      await assert.rejects(couch({ retries: 2 }).request({ path: 'x' }), { code })
      assert.equal(server.requests.length, 3, 'once, and two repetitions')
    })
  }

  it('that can be divided are repeated after a refusal, but not after an incomplete answer', async () => {
    const seen = []
    const ask = () => couch({ onRetry: ({ details }) => seen.push([details.status, details.isBroken]) })
      .request({ path: 'x', isDivisible: true })
    for (const status of [429, 503]) {
      server.answers = [[status, { error: 'busy', reason: 'slow down' }], OK]
      assert.deepEqual(await ask(), { ok: true })
    }
    assert.deepEqual(seen, [[429, undefined], [503, undefined]])
    server.answers = [[503, { error: 'busy', reason: 'slow down' }]]
    await assert.rejects(ask(), ({ code, details }) => code === 'COUCHDB_ERROR' && !details.isBroken)
    server.answers = [[200, '{"ok": tr']]
    await assert.rejects(ask(), ({ code, details }) => code === 'BAD_ANSWER' && details.isBroken === true)
    assert.equal(seen.length, 2 + fast.retries)
  })

  it('for attachments are repeated when the answer is cut off', async () => {
    server.answers = [(request, response) => {
      response.writeHead(200, { 'content-type': 'multipart/mixed; boundary=x', 'content-length': 1000 })
      response.write('--x\r\n', () => response.destroy())
    },
    [
      200,
      {
        results: [
          { id: 'osm:0:0:0', docs: [
            { error: { id: 'osm:0:0:0', rev: 'undefined', error: 'not_found', reason: 'missing' } }
          ] }
        ]
      }
    ]]
    assert.deepEqual(await couch().docs(['osm:0:0:0'], { attachments: true }), [{ id: 'osm:0:0:0', deleted: false }])
    assert.equal(server.requests.length, 2)
  })

  it('wait longer before each repetition', async () => {
    server.answers = [[503, {}]]
    const times = []
    await assert.rejects(
      couch({ firstDelay: 16, longestDelay: 64, retries: 4, onRetry: () => times.push(performance.now()) }).request({})
    )
    const waits = times.slice(1).map((time, index) => time - times[index])
    // a wait is 50 to 100 % of 16, 32, 64 and 64 ms; only the lower bounds are certain on a busy machine
    assert.ok(waits[0] >= 7 && waits[1] >= 15 && waits[2] >= 31, String(waits))
  })

  it('are not repeated after errors that a repetition cannot fix', async () => {
    const final = [
      [401, { error: 'unauthorized', reason: 'Name or password is incorrect.' }, 'UNAUTHORIZED'],
      [401, { error: 'unauthorized', reason: 'You are not authorized to access this db.' }, 'FORBIDDEN'],
      [403, { error: 'forbidden', reason: 'no' }, 'FORBIDDEN'],
      [404, { error: 'not_found', reason: 'Database does not exist.' }, 'DATABASE_NOT_FOUND'],
      [404, { error: 'not_found', reason: 'missing' }, 'COUCHDB_ERROR'],
      [409, { error: 'conflict', reason: 'Document update conflict.' }, 'COUCHDB_ERROR'],
      [400, { error: 'bad_request', reason: 'x' }, 'COUCHDB_ERROR'],
      [507, { error: 'insufficient_storage', reason: 'x' }, 'DISK_FULL'],
      [500, { error: 'error', reason: 'enospc' }, 'DISK_FULL']
    ]
    for (const [status, body, code] of final) {
      server.requests.length = 0
      server.answers = [[status, body]]
      await assert.rejects(couch().request({ path: 'x' }), { code }, `${status} ${body.reason}`)
      assert.equal(server.requests.length, 1, code)
    }
  })

  it('distinguish a missing document or index from a missing database', async () => {
    server.answers = [[404, { error: 'not_found', reason: 'deleted' }]]
    assert.equal(await couch().get('x'), undefined)
    server.answers = [[404, { error: 'not_found', reason: 'no_db_file' }]]
    await assert.rejects(couch().get('x'), { code: 'DATABASE_NOT_FOUND' })
    server.answers = [[404, { error: 'not_found', reason: 'missing' }]]
    await assert.rejects(couch().view('_design/versions/_view/by_tile', {}), { code: 'INDEX_MISSING' })
    server.answers = [[404, { error: 'not_found', reason: 'Database does not exist.' }]]
    await assert.rejects(couch().view('_design/versions/_view/by_tile', {}), { code: 'DATABASE_NOT_FOUND' })
  })

  it('fail when a 404 answer does not come from CouchDB', async () => {
    for (const [type, page] of [['text/html', '<h1>404 Not Found</h1>'],
      ['text/plain', 'default backend - 404'], ['application/json', '[]'], ['text/plain', '']]) {
      server.answers = [(request, response) => response.writeHead(404, { 'content-type': type }).end(page)]
      await assert.rejects(couch().get('x'), { code: 'BAD_ANSWER' }, page)
      await assert.rejects(couch().view('_design/versions/_view/by_tile', {}), { code: 'BAD_ANSWER' }, page)
      await assert.rejects(couch().docs(['x']), { code: 'BAD_ANSWER' }, page)
    }
  })

  it('can be stopped before they are sent, while they run, and between two tries', async () => {
    const stopped = AbortSignal.abort()
    await assert.rejects(couch().request({ signal: stopped }), { code: 'ABORTED' })
    assert.equal(server.requests.length, 0)

    const stop = new AbortController()
    server.answers = [() => stop.abort()]
    await assert.rejects(couch().request({ signal: stop.signal }), { code: 'ABORTED' })

    const later = new AbortController()
    server.answers = [[503, {}]]
    const waiting =
      couch({ firstDelay: 60_000, longestDelay: 60_000, onRetry: () => setImmediate(() => later.abort()) })
    await assert.rejects(waiting.request({ signal: later.signal }), { code: 'ABORTED' })
  })

  it('repeat an update after a conflict, and give up when the conflicts do not end', async () => {
    const conflict = [409, { error: 'conflict', reason: 'Document update conflict.' }]
    server.answers = [[200, { _id: 'x', _rev: '1-a', n: 1 }], conflict,
      [200, { _id: 'x', _rev: '2-b', n: 5 }], [201, { ok: true, id: 'x', rev: '3-c' }]]
    assert.deepEqual(await couch().update('x', doc => ({ n: doc.n + 1 })), { _id: 'x', _rev: '3-c', n: 6 })
    assert.deepEqual(JSON.parse(server.requests.at(-1).body), { _id: 'x', _rev: '2-b', n: 6 })
    server.answers = [(request, response) => {
      const get = request.method === 'GET'
      response.writeHead(get ? 200 : 409, { 'content-type': 'application/json' })
        .end(get ? '{"_id":"x","_rev":"1-a"}' : '{"error":"conflict","reason":"x"}')
    }]
    await assert.rejects(couch().update('x', doc => ({ ...doc })), { code: 'CONTENDED' })
  })

  it('send the password to the server, and show it in no error', async () => {
    server.answers = [OK]
    await couch().request({ path: 'x' })
    assert.equal(server.requests[0].authorization, `Basic ${btoa('admin:s3cret')}`)

    const echo = `you asked ${server.url}`
    const answers = [...Object.values(troubles).map(([answer]) => answer),
      ...[400, 401, 403, 404, 409, 412, 500, 507].map(status => [status, { error: 'x', reason: echo }])]
    for (const answer of answers) {
      server.answers = [answer]
      for (const request of [{ path: 'x' }, { path: 'x', server: true },
        { path: 'x', raw: true, parse: () => { throw new Error(echo) } }]) {
        const error = await couch({ retries: 1 }).request(request).catch(caught => caught)
        assert.equal(error.name, 'TilecouchError', inspect(error))
        for (const shown of [error.message, error.stack, JSON.stringify(error),
          JSON.stringify(error.details), inspect(error, { depth: 9 })]) {
          assert.ok(!shown.includes('s3cret') && !shown.includes(btoa('admin:s3cret')), shown)
        }
      }
    }
  })

  it('name the address of a server that cannot be reached', async () => {
    const nobody = new Couch('http://admin:s3cret@127.0.0.1:1/tiles', { ...fast, retries: 0 })
    await assert.rejects(nobody.request({}), error => {
      assert.equal(error.code, 'UNREACHABLE')
      assert.match(error.message, /127\.0\.0\.1:1/)
      assert.ok(!inspect(error, { depth: 9 }).includes('s3cret'))
      return true
    })
  })
})
