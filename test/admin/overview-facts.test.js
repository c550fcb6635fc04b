// Tests calculations of the control room without a browser: the growth, disk and findings of the overview, and which
// layers get another `order` when a layer is moved.
import assert from 'node:assert/strict'
import { ordersAfter } from '../../attachments/admin/layers/order.js'
import { diskOf, runningOf } from '../../attachments/admin/overview/facts.js'
import { allFindings, ownFindings, remediesOf, reportOf } from '../../attachments/admin/overview/findings.js'
import { bytesADay, fullAt, monthsOf } from '../../attachments/admin/overview/growth.js'
import { texts } from '../../attachments/admin/words.js'

const DAY = 86_400_000 // milliseconds
const NOW = Date.parse('2026-03-10T12:00:00Z')
const edition =
  (finished, bytes, fields = {}) => ({ layer: 'osm', time: '1950-01-01T00:00:00Z', finished, bytes, ...fields })
const words = texts.overview.own

describe('the growth of a store', () => {
  it('counts an edition in the month of its load, and lists months without editions', () => {
    const months = monthsOf([
      edition('2026-02-28T23:59:59Z', 100, { created: 3, advanced: 2, backfilled: 1 }),
      edition('2025-12-01T00:00:00Z', 50, { created: 4 }),
      edition('2025-12-31T00:00:00Z', 5),
      edition(undefined, 7, { started: '2026-03-01T00:00:00Z' }), // still loading
      edition(undefined, 1000) // without any time
    ], NOW)
    assert.deepEqual(months, [
      { month: '2025-12', bytes: 55, versions: 4, editions: 2 },
      { month: '2026-01', bytes: 0, versions: 0, editions: 0 },
      { month: '2026-02', bytes: 100, versions: 6, editions: 1 },
      { month: '2026-03', bytes: 7, versions: 0, editions: 1 }
    ])
    assert.deepEqual(monthsOf([], NOW), [])
  })

  it('is the mean of the last half year, or of the age of a younger store', () => {
    const ago = days => new Date(NOW - days * DAY).toISOString()
    const means = [[[400, 1e9], [100, 183], [1, 183]], [[2, 60]], [[61, 122]], [], [[400, 1e9]]]
      .map(loads => bytesADay(loads.map(([days, bytes]) => edition(ago(days), bytes)), NOW))
    assert.deepEqual(means, [2, 2, 2, 0, 0])
  })

  it('predicts when the disk is full, but not without growth or beyond 30 years', () => {
    assert.equal(fullAt({ free: 100, at: NOW }, 10), NOW + 10 * DAY)
    assert.equal(fullAt({ free: 100, at: NOW }, 0), null)
    const report = { _id: 'work:2', command: 'doctor', finished: '2026-03-07T12:00:00Z', about: {
      disk: { free: 4260, size: 9000 }, findings: []
    } }
    const older = { ...report, _id: 'work:1', about: { disk: { free: 1, size: 9000 }, findings: [] } }
    const { room } = diskOf([report, older], report, 10, NOW, false)
    assert.deepEqual([room?.free, room?.seen, room?.full], [4260, '3 days ago', 'in 14 months'])
    assert.equal(diskOf([report], report, 0, NOW, false).room?.full, null)
    assert.equal(diskOf([report], report, 0.01, NOW, false).room?.full, null, 'more than 30 years')
    const unreachable = { command: 'doctor', _id: 'work:3', about: {
      findings: [{ area: 'disk', check: 'room', state: 'unknown', found: 'not known: maps is another machine' }]
    } }
    assert.deepEqual(diskOf([unreachable], unreachable, 1, NOW, false),
      { room: null, why: 'not known: maps is another machine', isEmbedded: false })
  })
})

describe('findings of the overview', () => {
  const info = { sizes: { file: 10, active: 10 } }
  const design = { _id: '_design/tiles', validate_doc_update: '(function () {})' }
  const views = {
    _id: '_design/versions',
    views: Object.fromEntries(['by_area', 'by_tile', 'by_time', 'by_zoom',
      'conflicts', 'expiring', 'rest_by_area', 'stored', 'styles'].map(name => [name, {}]))
  }
  const index = { updates_pending: { total: 0 }, updater_running: false, sizes: { file: 10, active: 10 } }
  const facts = { info, index, designs: [design, views], security: {}, user: {
    name: 'anna', isServerAdmin: true
  }, work: [], now: NOW, figures: null }
  const problems = changed => ownFindings({ ...facts, ...changed }, words, String).filter(({ state }) => state !== 'ok')

  it('are empty for a healthy store', () => { assert.deepEqual(problems({}), []) })

  it('include the problems that the page detects itself, with their remedies', () => {
    const checks = changed => problems(changed)
      .map(({ state, check, remedies }) => [
        state, check, remedies?.map(remedy => remedy.line ?? remedy.name ?? remedy.place)
      ])
    assert.deepEqual(checks({ user: { name: null, isServerAdmin: true } }), [['bad', 'admins', []]])
    assert.deepEqual(checks({ designs: [views] }), [['bad', 'validation', ['tilecouch push']]])
    assert.deepEqual(checks({ designs: [design, { _id: views._id, views: { ...views.views, stored: undefined } }] }),
      [['warning', 'deployed', ['tilecouch push']]])
    assert.deepEqual(checks({ index: { ...index, updates_pending: { total: 20_000 } } }),
      [['warning', 'up to date', ['build']]])
    assert.deepEqual(checks({ index: { ...index, updates_pending: { total: 2e6 }, updater_running: true } }),
      [['bad', 'up to date', []]])
    assert.deepEqual(checks({ info: { sizes: { file: 3e9, active: 1e9 } } }), [['warning', 'compaction', ['compact']]])
    assert.deepEqual(checks({ info: { sizes: { file: 3e9, active: 1e9 }, compact_running: true } }), [])
    assert.deepEqual(checks({ index: { ...index, sizes: { file: 3e9, active: 1e9 } } }),
      [['warning', 'compaction', ['compactIndex']]])
    assert.deepEqual(checks({ figures: { conflicts: 2 } }),
      [['warning', 'conflicts', ['tilecouch check --only conflicts --fix']]])
    const work = [{ state: 'running', seen: '2026-03-10T11:00:00Z' },
      { state: 'running', seen: '2026-03-10T11:59:59Z' }, { state: 'running', seen: '2026-01-01T00:00:00Z' }]
    assert.deepEqual(checks({ work }), [['warning', 'interrupted', ['work']]])
    assert.match(problems({ work })[0].found, /^1 command/)
  })

  it('are sorted with the worst first, and those of the page replace those of a report', () => {
    const entry = (area, check, state, more) => ({ area, check, state, found: `${check} ${state}`, ...more })
    const report = { about: { findings: [
      entry('server', 'version', 'ok'), entry('indexes', 'up to date', 'bad'), entry('clocks', 'mirrors', 'unknown'),
      entry('disk', 'room', 'bad'), entry('layers', 'expired', 'warning'), null, { area: 'x' }
    ] } }
    const pageFindings = [entry('indexes', 'up to date', 'ok'), entry('database', 'conflicts', 'warning')]
    assert.deepEqual(allFindings(pageFindings, report).map(({ found }) => found),
      ['room bad', 'conflicts warning', 'expired warning', 'mirrors unknown', 'up to date ok', 'version ok'])
    assert.deepEqual(allFindings(pageFindings).map(({ found }) => found), ['conflicts warning', 'up to date ok'])
  })

  it('of the doctor have the commands and requests of their advice as remedies', () => {
    const linesOf = (advice, more = {}) =>
      remediesOf({ area: '', check: '', found: '', state: 'warning', advice, ...more })
        .map(remedy => remedy.kind === 'action' ? `${remedy.name} ${remedy.path}` : /** @type {any} */ (remedy).line)
    assert.deepEqual(linesOf('POST http://localhost:5984/tiles/_compact; or check smoosh/db_channels and the disk.'),
      ['compact _compact'])
    assert.deepEqual(linesOf('POST http://localhost:5984/tiles/_compact/versions; or check the disk.'),
      ['compactIndex _compact/versions'])
    assert.deepEqual(linesOf('POST http://localhost:5984/tiles/_view_cleanup'), ['cleanUp _view_cleanup'])
    assert.deepEqual(linesOf('tilecouch seed --expired --all, or tilecouch prune --expired --all; regularly: ' +
      'deploy/tilecouch-seed.timer'),
      ['tilecouch seed --expired --all', 'tilecouch prune --expired --all'])
    assert.deepEqual(linesOf('tilecouch push, or tilecouch access --private to keep it closed', { fixable: true }),
      ['tilecouch push'])
    assert.deepEqual(linesOf('Set it.', { fixable: true }), ['tilecouch doctor --fix'])
    assert.deepEqual(linesOf('tilecouch doctor --fix --allow-viewer', { fixable: true }),
      ['tilecouch doctor --fix --allow-viewer'])
    assert.deepEqual(linesOf('tilecouch access --writers … --writer …'), [])
    assert.deepEqual(linesOf('tilecouch push', { state: 'ok' }), [])
  })

  it('come from the newest report of the doctor', () => {
    const doc = (_id, command = 'doctor', about = /** @type {any} */ ({ findings: [] })) => ({ _id, command, about })
    assert.equal(reportOf(
      [doc('work:1'), doc('work:3'), doc('work:2'), doc('work:4', 'load'), doc('work:5', 'doctor', {})]
    )?._id, 'work:3')
    assert.equal(reportOf([]), undefined)
  })
})

describe('the running tasks of CouchDB', () => {
  it('are summed up in one line for all shards', () => {
    const task = (type, progress) => ({ type, progress })
    assert.deepEqual(runningOf({ info: {
      compact_running: true
    }, index: null, tasks: [task('indexer', 20), task('indexer', 40), task('replication')] }), {
      hasIndex: false, pending: 0, isBuilding: true, seesTasks: true,
      tasks: [{ type: 'indexer', share: 0.3, shards: 2 }, { type: 'replication', share: null, shards: 1 },
        { type: 'database_compaction', share: null, shards: 1 }]
    })
  })
})

describe('the order of layers', () => {
  const sorted = (layers, orders) => layers.map(layer => ({ ...layer, order: orders.get(layer.layer) ?? layer.order }))
    .sort((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.layer < b.layer ? -1 : 1))
      .map(({ layer }) => layer)
  const names = ['a', 'b', 'c', 'd', 'e']

  for (const [label, orders] of Object.entries({
    'no orders': [undefined, undefined, undefined, undefined, undefined],
    'orders of some layers': [10, 20, undefined, undefined, undefined],
    'orders of all layers': [10, 20, 30, 40, 50], 'orders without room between them': [1, 2, 3, 4, 5],
    'equal orders': [7, 7, 7, 7, 7]
  })) {
    it(`moves each layer to each place (${label})`, () => {
      const layers = names.map((layer, index) => ({ layer, order: orders[index] }))
      for (let from = 0; from < names.length; from++) {
        for (let to = 0; to < names.length; to++) {
          if (from === to) continue
          const expected = [...names]
          expected.splice(to, 0, ...expected.splice(from, 1))
          assert.deepEqual(sorted(layers, ordersAfter(layers, from, to)), expected, `${from} to ${to}`)
        }
      }
    })
  }

  it('changes the order of one layer when there is room', () => {
    const layers = names.map((layer, index) => ({ layer, order: (index + 1) * 10 }))
    assert.deepEqual([...ordersAfter(layers, 2, 1)], [['b', 35]])
  })
})
