// How resolving runs: page by page, twice at once, killed, live, and without the right to write.
import assert from 'node:assert/strict'
import { Store, load, removeEdition } from '../../loader/index.js'
import { resolve } from '../../loader/check/conflicts.js'
import { as, backends, json } from '../support/backends.js'
import { checkLoaded } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { square } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { end, until } from '../../bench/wait.js'
import { differences } from '../mirror/compare.js'
import { Masters, S, T, onEachMixture, useMasters } from './masters.js'
import { startCommand } from '../support/command.js'

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 2)

/** The same square on two masters: at different times, and with different images at one time. */
const loads = side => [0, 1].flatMap(at => [
  { at, versions: square({ layer: 'osm', time: T(1 + at), side, seed: (x, y) => 100 * at + x + y }) },
  { at, versions: square({ layer: 'osm', time: T(5), side, seed: (x, y) => x % 2 ? x + y : 500 + 100 * at + y }) }
])

async function fill (masters, side) {
  for (const { at, versions } of loads(side)) await masters.stores[at].write(versions, { stored: S(at) })
  await masters.meet()
}

onEachMixture('resolving', mixture => {
  /** @type {Masters} */
  let masters
  useMasters(mixture, opened => { masters = opened })

  it('does what its dry run counted, also in small pages and batches', async () => {
    await fill(masters, 4)
    const { named, ...planned } = await masters.resolve(0, { dryRun: true })
    const { named: noNames, ...done } = await masters.resolve(0, { limits: { page: 3, tiles: 2, batch: 1, bytes: 1 } })
    assert.deepEqual(done, planned)
    assert.deepEqual([done.contested, done.past], [8, 8])
    await masters.settle()
  }).timeout(60000)

  it('leaves no conflicts when several runs work at the same time', async () => {
    await fill(masters, 4)
    await Promise.all([masters.resolve(0, { limits: { tiles: 3 } }), masters.resolve(0), masters.resolve(1)])
    await masters.settle()
  }).timeout(60000)

  it('resolves only the given layers', async () => {
    await fill(masters, 2)
    assert.equal((await masters.resolve(0, { layers: ['other'] })).conflicts, 0)
    assert.equal((await masters.resolve(0, { layers: ['other', 'osm'] })).contested, 2)
  })

  it('loses nothing when it is killed, and another run finishes', async () => {
    await fill(masters, 10)
    for (let round = 0; round < ROUNDS; round++) {
      const { child } =
        startCommand(['check', '--only', 'conflicts', '--fix', '--db', masters.urls[0], '--json'])
      const before = (await json(`${masters.urls[0]}`)).doc_count
      // the first copies were written, or the run has ended
      await until(async () => child.exitCode !== null || (await json(masters.urls[0])).doc_count > before,
        { timeout: 30000, every: 2, what: 'the first copies' })
      await end(child, 'SIGKILL')
    }
    await masters.meet()
    await masters.settle()
    const contested = ({ x, time }) => time === T(5) && x % 2 === 0
    for (const url of masters.urls) {
      await checkLoaded(url, loads(10).filter(({ at }) => at === 1)
        .flatMap(({ versions }) => versions).concat(loads(10)[0].versions).filter(version => !contested(version)))
    }
  }).timeout(120000)

  it('reads only the changes since a run that left nothing to do', async () => {
    await fill(masters, 3)
    const [store] = masters.stores
    const { pages } = store.couch
    const resolveOnce = async options => {
      let isWhole = false
      store.couch.pages = (...parameters) => { isWhole = true; return pages.apply(store.couch, parameters) }
      const { past, settled } = await resolve(store, options)
      return { isWhole, past, settled }
    }
    assert.equal((await resolveOnce({ dryRun: true })).isWhole, true)
    assert.equal((await resolveOnce({ layers: ['osm'] })).isWhole, true)
    assert.equal((await resolveOnce()).isWhole, true, 'the run before looked at one layer')
    assert.deepEqual(await resolveOnce(), { isWhole: false, past: 0, settled: 0 })
    // single writes of another time, on separate masters
    await masters.load(0, T(6), 6)
    await masters.load(1, T(7), 7)
    await masters.meet()
    const { isWhole, past } = await resolveOnce()
    assert.deepEqual([isWhole, past > 0], [false, true])
    await masters.settle()
    // a removal may affect any tile
    await removeEdition(store, 'osm', T(6))
    assert.equal((await resolveOnce()).isWhole, true)
    assert.equal((await resolveOnce()).isWhole, false)
  }).timeout(60000)

  it('settles a tile when the block of an earlier manifest arrives', async () => {
    await masters.load(0, T(1), 1)
    await masters.load(0, T(4), 4)
    await masters.load(1, T(1), 1)
    await load(masters.stores[1], memorySource({ '3/1/2': 1 }, { diff: true }), { layer: 'osm', time: T(6) })
    const { rows } = await json(`${masters.urls[1]}/_all_docs?include_docs=true&attachments=true`)
    const docsWith = prefix => rows.map(({ doc }) => doc).filter(({ _id }) => _id.startsWith(prefix))
    const expected = ['01-04T00:00:00 past 4', '01-01T00:00:00 past 1'].sort()
    for (const [prefix, versions] of /** @type {[string, string[]][]} */ ([
      ['manifest:', [...expected.slice(0, 1), '01-04T00:00:00 4']], ['block:', [...expected, '01-06T00:00:00 1']]
    ])) {
      assert.equal(docsWith(prefix).length, 1)
      await masters.graft(0, docsWith(prefix))
      await masters.resolve(0)
      assert.deepEqual((await masters.history()).sort(), versions.sort(), prefix)
    }
  })

  it('resolves new conflicts in a live run', async () => {
    const controller = new AbortController()
    const states = []
    let counts
    const running = masters.resolve(0, {
      live: true,
      signal: controller.signal,
      limits: { gather: 20 },
      onState: ({ state }) => states.push(state),
      onProgress: tally => { counts = tally }
    })
    await until(() => states.length, { what: 'the first look' })
    for (const day of [1, 2]) {
      await masters.load(0, T(day * 2), day)
      await masters.load(1, T(day * 2 + 1), day + 4)
      await masters.meet()
      await until(async () => !(await json(`${masters.urls[0]}/osm:3:1:2?conflicts=true`))._conflicts,
        { timeout: 30000, what: 'the conflict to go' })
    }
    await until(() => counts.past >= 2, { what: 'both tiles to be counted' })
    controller.abort()
    await running
    await masters.meet()
    await masters.settle()
    assert.equal((await masters.history()).length, 4)
    assert.deepEqual(states, ['following'])
  }).timeout(60000)
})

describe('resolving without the right to write', () => {
  const backend = backends.find(({ supports }) => supports.users)

  it('names the refusal of the documents, and changes nothing', async function () {
    if (!backend) return skip(this, 'no CouchDB: the embedded store knows no users')
    const masters = await Masters.open([backend])
    await masters.load(0, T(1), 1)
    await masters.load(1, T(2), 2)
    await masters.meet()
    await masters.stores[0].secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: [] } })
    const summary = await resolve(await Store.open(as(masters.urls[0]), { ambient: false }))
    assert.deepEqual([summary.refused, summary.past, summary.ended, summary.merged], [2, 0, 0, 0])
    assert.match(summary.named[0].reason, /writing needs an admin/)
    assert.deepEqual(await differences(masters.urls[0], masters.urls[1]), [])
    await masters.close()
  })
})
