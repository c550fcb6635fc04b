// Requests to CouchDB and their repetition, database URLs, encoded ids, winning revisions, and ranges of views.
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { Couch } from '../../loader/store/couch.js'
import { useEnvironment } from '../support/cli.js'
import { useServer } from '../support/server.js'
import { winnerOf } from '../../core/couch/answers.js'
import { encodeId } from '../../core/couch/client.js'
import { parseDatabaseUrl } from '../../loader/store/secrets.js'
import { tileId, versionId } from '../../core/index.js'
import { RangeReader } from '../../loader/store/ranges.js'

const fast = { firstDelay: 1, longestDelay: 4, retries: 4 }
const OK = [200, { ok: true }]

/** Temporary faults: a busy server, and connections that end before or during the answer. */
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

  for (const [trouble, [answer, code]] of Object.entries(troubles)) {
    it(`are repeated after ${trouble}, and succeed`, async () => {
      server.answers = [answer, answer, OK]
      const codes = []
      assert.deepEqual(await couch({ onRetry: error => codes.push(error.code) }).request({ path: 'x' }), { ok: true })
      assert.deepEqual(codes, [code, code])
      assert.equal(server.requests.length, 3)
    })

    it(`fail when every repetition ends in ${trouble}`, async () => {
      server.answers = [answer]
      await assert.rejects(couch({ retries: 2 }).request({ path: 'x' }), { code })
      assert.equal(server.requests.length, 3, 'once, and two repetitions')
    })
  }

  it('that create a database report it as new, also if the answer to the first request is lost', async () => {
    const lost = request => request.socket.destroy()
    const exists = [412, { error: 'file_exists', reason: 'The file already exists.' }]
    const counts = (docs, deleted) => [200, { doc_count: docs, doc_del_count: deleted }]
    const cases = [[[OK], true], [[exists], false], [[lost, exists, counts(0, 0)], true],
      [[lost, exists, counts(1, 0)], false], [[lost, exists, counts(0, 1)], false]]
    for (const [answers, isNew] of cases) {
      server.answers = answers
      assert.equal(await couch().createDatabase({}), isNew)
    }
  })

  it('that can be divided are repeated after a refusal, but not after an incomplete answer', async () => {
    const retries = []
    const ask = () => couch({ onRetry: ({ details }) => retries.push([details.status, details.isBroken]) })
      .request({ path: 'x', isDivisible: true })
    for (const status of [429, 503]) {
      server.answers = [[status, { error: 'busy', reason: 'slow down' }], OK]
      assert.deepEqual(await ask(), { ok: true })
    }
    assert.deepEqual(retries, [[429, undefined], [503, undefined]])
    server.answers = [[503, { error: 'busy', reason: 'slow down' }]]
    await assert.rejects(ask(), ({ code, details }) => code === 'COUCHDB_ERROR' && !details.isBroken)
    server.answers = [[200, '{"ok": tr']]
    await assert.rejects(ask(), ({ code, details }) => code === 'BAD_ANSWER' && details.isBroken === true)
    assert.equal(retries.length, 2 + fast.retries)
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
    const slowCouch =
      couch({ firstDelay: 60_000, longestDelay: 60_000, onRetry: () => setImmediate(() => later.abort()) })
    await assert.rejects(slowCouch.request({ signal: later.signal }), { code: 'ABORTED' })
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
        for (const text of [error.message, error.stack, JSON.stringify(error),
          JSON.stringify(error.details), inspect(error, { depth: 9 })]) {
          assert.ok(!text.includes('s3cret') && !text.includes(btoa('admin:s3cret')), text)
        }
      }
    }
  })

  it('name the address of a server that cannot be reached', async () => {
    const unreachable = new Couch('http://admin:s3cret@127.0.0.1:1/tiles', { ...fast, retries: 0 })
    await assert.rejects(unreachable.request({}), error => {
      assert.equal(error.code, 'UNREACHABLE')
      assert.match(error.message, /127\.0\.0\.1:1/)
      assert.ok(!inspect(error, { depth: 9 }).includes('s3cret'))
      return true
    })
  })
})

describe('a database URL', () => {
  useEnvironment('COUCHDB_USER', 'COUCHDB_PASSWORD') // the environment of the tests must not add its password

  it('is split into database, server and credentials, and is shown without its password', () => {
    assert.deepEqual(parseDatabaseUrl('http://admin:secret@localhost:5984/tiles'), {
      db: 'tiles', url: 'http://localhost:5984/tiles', serverUrl: 'http://localhost:5984',
      authorised: 'http://admin:secret@localhost:5984'
    })
    assert.equal(parseDatabaseUrl('https://h/tiles/').db, 'tiles')
  })

  it('may have a path before the database, and encoded slashes in the database name', () => {
    const parsed = parseDatabaseUrl('https://h/couch/a%2Fb')
    assert.deepEqual([parsed.db, parsed.url, parsed.serverUrl], ['a/b', 'https://h/couch/a%2Fb', 'https://h/couch'])
  })

  it('gets its user and password from the environment when it has none, unless this is off', () => {
    process.env.COUCHDB_USER = 'me@home'
    process.env.COUCHDB_PASSWORD = 'p:w/d'
    assert.equal(parseDatabaseUrl('http://h/tiles').authorised, 'http://me%40home:p%3Aw%2Fd@h')
    assert.equal(parseDatabaseUrl('http://a:b@h/tiles').authorised, 'http://a:b@h')
    assert.equal(parseDatabaseUrl('http://h/tiles').url, 'http://h/tiles')
    assert.equal(parseDatabaseUrl('http://h/tiles', { ambient: false }).authorised,
      'http://h', 'unless it is somebody else\'s')
    assert.equal(parseDatabaseUrl('http://a:b@h/tiles', { ambient: false }).authorised, 'http://a:b@h')
  })

  it('is refused when it names no database, or a database that CouchDB would refuse', () => {
    for (
      const url of ['', 'tiles', 'http://h', 'http://h/', 'ftp://h/tiles',
        'file:///tiles', 'http://h/Tiles', 'http://h/1tiles', 'http://h/_users', 'http://h/a.b',
        'http://h/a b', 'http://h/%zz', 'http://u:100%@h/tiles', `http://h/${'a'.repeat(300)}`, null, undefined]
    ) {
      assert.throws(() => parseDatabaseUrl(url), { code: 'BAD_DATABASE' }, `${url}`)
    }
  })
})

describe('an id in a path', () => {
  it('encodes only characters that a path does not allow', () => {
    assert.equal(encodeId('osm:10:300:412'), 'osm:10:300:412')
    assert.equal(encodeId('osm:10:300:412@2024-03-01T00:00:00Z'), 'osm:10:300:412%402024-03-01T00:00:00Z')
    assert.equal(encodeId('_design/tiles'), '_design/tiles')
    assert.equal(encodeId('_local/a/b'), '_local/a%2Fb')
    assert.equal(encodeId('a/../b?c#d%'), 'a%2F..%2Fb%3Fc%23d%25')
  })

  it('is one path segment that decodes to the id, for any id', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), id => {
      const encoded = encodeId(id)
      if (/^_(design|local)\//.test(id)) return
      assert.ok(!/[/?#\s]/.test(encoded), encoded)
      assert.equal(decodeURIComponent(encoded), id)
    }), { numRuns: 1000 })
    assert.equal(decodeURIComponent(encodeId(versionId('osm', 1, 0, 0, '2024-03-01T00:00:00Z'))),
      `${tileId('osm', 1, 0, 0)}@2024-03-01T00:00:00Z`)
  })
})

describe('the winner among the leaves of a document', () => {
  it('is the leaf that CouchDB shows: not deleted, the longest history, then the greater revision', () => {
    const golden = [
      [[], undefined],
      [['1-a'], '1-a'],
      [['1-a', '1-b'], '1-b'],
      [['2-a', '1-b'], '2-a'],
      [['9-a', '10-a'], '10-a'],
      [['3-z!', '1-a'], '1-a'],
      [['3-z!', '4-a!'], '4-a!'],
      [['2-a', '2-b', '2-c!'], '2-b']
    ]
    const leaf = text => ({ _rev: text.replace('!', ''), ...(text.endsWith('!') && { _deleted: true }) })
    for (const [leaves, expected] of golden) {
      for (const order of [leaves, [...leaves].reverse()]) {
        assert.deepEqual(winnerOf(order.map(leaf)), expected && leaf(expected), String(order))
      }
    }
    assert.equal(winnerOf(), undefined)
  })
})

// Listings of a store whose shards are read one after the other, as in a cluster.

const [T0, T1, T2] = ['2000-01-01T00:00:00Z', '2001-01-01T00:00:00Z', '2002-01-01T00:00:00Z']
const row = (y, time, past) => ({ id: `osm:5:1:${y}${past ? `@${time}` : ''}`, key: ['osm', 5, 1, y, time], value: {} })
const range = { startkey: ['osm', 5, 1, 0], endkey: ['osm', 5, 1, 31, {}], limit: 100 }

/** Gives one answer after the other, and the sequence of the database before each query and after the last. */
const store = (answers, sequences) => ({
  request: async () => ({ update_seq: sequences.length > 1 ? sequences.shift() : sequences[0] }),
  queries: async () => [answers.shift() ?? assert.fail('asked too often')]
})
const read = async (answers, sequences, limit = 100) => {
  const reader = await new RangeReader(store(answers, sequences), 'view', { settled: true }).open()
  const [rows] = await reader.read([{ ...range, limit }])
  return rows.map(({ id, key }) => `${id} ${key[4].slice(0, 4)}`)
}

describe('reading ranges of a view', () => {
  it('reads a range once when nothing is written meanwhile', async () => {
    assert.deepEqual(await read([[row(1, T0)]], ['7-x', '7-y']), ['osm:5:1:1 2000'])
  })

  it('finds a version that moved from a head to the past between two reads of shards', async () => {
    const skewed = [row(1, T1)]
    const settled = [row(1, T0, true), row(1, T1)]
    assert.deepEqual(await read([skewed, settled], ['7-x', '9-x']),
      ['osm:5:1:1@2000-01-01T00:00:00Z 2000', 'osm:5:1:1 2001'])
  })

  it('keeps rows that only the first answer has, and takes the other rows from the second answer', async () => {
    const first = [row(1, T0), row(2, T0)]
    const second = [row(1, T0, true), row(1, T2), row(3, T2)]
    assert.deepEqual(await read([first, second], ['7', '8']),
      ['osm:5:1:1@2000-01-01T00:00:00Z 2000', 'osm:5:1:1 2002', 'osm:5:1:2 2000', 'osm:5:1:3 2002'])
  })

  it('continues where the shorter of two full answers ends', async () => {
    const first = [row(1, T0), row(2, T0), row(3, T0)]
    const second = [row(1, T0, true), row(1, T1), row(2, T0)]
    const third = [row(3, T0), row(4, T0)]
    assert.deepEqual(await read([first, second, third], ['7', '8', '8'], 3),
      ['osm:5:1:1@2000-01-01T00:00:00Z 2000', 'osm:5:1:1 2001', 'osm:5:1:2 2000', 'osm:5:1:3 2000', 'osm:5:1:4 2000'])
  })
})
