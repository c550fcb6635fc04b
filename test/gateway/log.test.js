// Tests of the log of the gateway: its lines, the secrets that it hides, and messages that it does not repeat.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { TilecouchError } from '../../core/index.js'
import { ThrottledLog, createLog, logAccess, secretsOf, sentenceOf } from '../../server/gateway/log.js'
import { memory } from '../support/cli.js'

describe('the log of the gateway', () => {
  const open = options => {
    const out = memory()
    return { log: createLog({ destination: out, ...options }), lines: () => out.text.trim()
      .split('\n').filter(Boolean).map(line => JSON.parse(line)), out }
  }

  it('is one JSON object a line, with a time, a level, fields and a message', () => {
    const { log, lines } = open({ base: { worker: 2 } })
    log.info({ port: 8080 }, 'up')
    log.debug('not shown')
    const [{ time, pid, ...line }, ...otherLines] = lines()
    assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/)
    assert.equal(pid, process.pid)
    assert.deepEqual(line, { level: 'info', worker: 2, port: 8080, msg: 'up' })
    assert.deepEqual(otherLines, [])
  })

  it('is a sentence at a terminal, without control characters', () => {
    const { log, out } = open()
    log.warn({ url: 'http://a/\u202eb', tries: 2 }, 'the store is away\u001b[31m')
    log.info('up')
    assert.doesNotMatch(out.text, /\u202e/, 'its JSON may be shown there as well')
    const [awayLine, upLine] = out.text.trim().split('\n').map(sentenceOf)
    assert.match(awayLine,
      /^\d\d:\d\d:\d\d warn: the store is away\ufffd\[31m \(url: http:\/\/a\/\ufffdb, tries: 2\)\n$/)
    assert.match(upLine, /^\d\d:\d\d:\d\d up\n$/)
  })

  it('writes fields and messages unchanged when they hold no secret', () => {
    const { log, lines } = open()
    const fields = {
      url: '/osm@2024-03-01T00:00:00Z/1/2/3.png', from: '127.0.0.1',
      why: 'ends in "x"\n', bytes: 7, list: [1, null, { a: false }]
    }
    log.warn(fields, 'osm@2024 is asked at http://localhost:5984/tiles')
    const [{ level, time, pid, msg, ...line }] = lines()
    assert.deepEqual(line, fields)
    assert.equal(msg, 'osm@2024 is asked at http://localhost:5984/tiles')
  })

  for (const [source, write] of Object.entries({
    'a message': log => log.info('at http://me:hunter2@localhost:5984/tiles'),
    'a message with placeholders': log => log.info('at %s', 'http://me:hunter2@localhost:5984/tiles'),
    'a field': log => log.info({ db: 'http://me:hunter2@localhost:5984/tiles' }),
    'a list in a field': log => log.info({ urls: [{ deep: 'https://me:hunter2@x/' }] }),
    'an error': log => log.error(new Error('fetch of http://me:hunter2@x/ failed')),
    'the cause of an error': log =>
      log.error({ err: new Error('failed', { cause: new Error('http://me:hunter2@x/') }) }, 'trouble'),
    'properties of an error': log => {
      const request = { headers: { authorization: 'Basic hunter2' } }
      log.error({ err: Object.assign(new Error('failed'), { request }) })
    },
    'an error of the catalogue': log => log.error(
      { err: new TilecouchError('UNREACHABLE', { url: 'http://me:hunter2@x/', why: 'http://me:hunter2@x/' }) }
    ),
    'a child': log => log.child({ store: 'http://me:hunter2@x/' }).info('x'),
    headers: log => log.info({ headers: {
      Authorization: 'Bearer hunter2', cookie: 'AuthSession=hunter2', 'X-Api-Key': 'hunter2', 'x-auth-token': 'hunter2'
    } }),
    'text with an authorization': log => log.info('sent "authorization: Bearer hunter2" in vain'),
    'a secret option': log => log.info({ url: 'https://tiles.example.org/1/2/3.png?key=hunter2-from-options' },
      'or hunter2-from-options')
  })) {
    it(`holds no password from ${source}`, () => {
      const { log, lines, out } = open({ secrets: ['hunter2-from-options'] })
      write(log)
      assert.equal(lines().length, 1)
      assert.doesNotMatch(out.text, /hunter2/)
    })
  }

  it('knows the secrets of the options: headers, their words, and the password of the store, also encoded', () => {
    const secrets = secretsOf({
      db: 'http://me:p%40ssword@localhost/tiles',
      upstreamHeaders: { 'a.example': { Authorization: 'Bearer abcdefgh', 'X-Key': '12345678' } }
    })
    for (const text of ['p%40ssword', 'p@ssword', 'abcdefgh', '12345678', 'Bearer abcdefgh']) {
      assert.ok(secrets.includes(text), text)
    }
    assert.ok(!secrets.includes('Bearer'))
    assert.doesNotThrow(() => secretsOf({ db: 'tiles' }))
    assert.doesNotThrow(() => secretsOf({ db: null }))
  })

  it('has a line for a request', () => {
    const { log, lines } = open()
    logAccess(log, { method: 'GET', url: '/osm/1/0/1.png', socket: { remoteAddress: '10.0.0.1' } },
      { status: 200, seconds: 0.0012345, bytes: 300, kind: 'tile', layer: 'osm', outcome: 'hit' })
    const [{ level, time, pid, ...line }] = lines()
    assert.deepEqual(line,
      {
        method: 'GET', url: '/osm/1/0/1.png', status: 200, bytes: 300,
        kind: 'tile', layer: 'osm', outcome: 'hit', ms: 1.23, from: '10.0.0.1', msg: 'request'
      })
  })
})

describe('a log that does not repeat itself', () => {
  it('repeats a message after a pause, with the number of omitted ones', () => {
    const lines = []
    let time = 0
    const clock = mock.method(performance, 'now', () => time)
    const log = new ThrottledLog({ warn: (details, text) => lines.push([details, text]) }, 100)
    for (let x = 0; x < 5; x++) log.write('warn', 'osm down', { x }, 'down')
    log.write('warn', 'sea down', { x: 0 }, 'down')
    time = 100
    log.write('warn', 'osm down', { x: 9 }, 'down')
    clock.mock.restore()
    assert.deepEqual(lines, [[{ x: 0 }, 'down'], [{ x: 0 }, 'down'], [{ x: 9, more: 4 }, 'down']])
  })

  it('accepts a missing log', () => {
    new ThrottledLog(undefined).write('error', 'x', {}, 'y')
  })
})
