// The work documents that commands write into the store.
import assert from 'node:assert/strict'
import path from 'node:path'
import { end, until } from '../../bench/wait.js'
import { faultIn, scrub, workState } from '../../core/index.js'
import { Store, doctor, publish } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { as, json, onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { startCommand } from '../support/command.js'
import { useFolder } from '../support/folder.js'
import { withPeople } from '../support/people.js'
import { useStore } from '../support/store.js'
import { png, square, tileFiles } from '../support/tiles.js'
import { startUpstream } from '../support/upstream-server.js'
import { writtenKinds } from '../support/record-kinds.js'

const T1 = '2021-01-01T00:00:00Z'

/** The work documents of a store, oldest first. */
const worksOf = async url => (await json(`${url}/_all_docs?include_docs=true&startkey="work:"&endkey="work%3B"`))
  .rows.map(({ doc }) => doc)

onEachStore('the work of commands', backend => {
  const folder = useFolder()
  const stage = useStore(backend, {
    published: true,
    fill: async store => {
      await store.defineLayer('osm')
      await store.write(square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 4 + y }))
    }
  })

  const tilesIn = name => path.join(folder.write(tileFiles(name)), name)

  /** Runs a command, and returns the only work document that it writes. */
  async function workOf (argv, code = 0) {
    const before = new Set((await worksOf(stage.url)).map(({ _id }) => _id))
    const { code: exitCode, err } = await runCommand([...argv])
    assert.equal(exitCode, code, err)
    const [doc, ...others] = (await worksOf(stage.url)).filter(({ _id }) => !before.has(_id))
    assert.equal(others.length, 0)
    if (doc) assert.equal(faultIn(doc, writtenKinds), undefined, JSON.stringify(doc))
    return doc
  }
  const db = () => ['--db', stage.url]

  it('shows for a load the tiles written and the arguments to continue', async () => {
    const files = tilesIn('tiles')
    const doc = await workOf(['load', files, '--layer', 'town', ...db()])
    assert.deepEqual([doc.command, doc.layer, doc.state, doc.unit, doc.done, doc.total, doc.failed, doc.about.created],
      ['load', 'town', 'done', 'tiles', 9, 9, 0, 9])
    assert.deepEqual(doc.args, ['load', files, '--layer', 'town', '--time', doc.edition])
    assert.equal((await stage.store.editions('town'))[0].time, doc.edition)
    const second = await workOf(['load', files, '--layer', 'town', '--time', '2020', ...db()])
    assert.deepEqual([second.edition, second.done, second.args.filter(word => word === '--time').length],
      ['2020-01-01T00:00:00Z', 9, 1])
    assert.equal(await workOf(['load', files, '--layer', 'town', '--time', '2022', '--dry-run', ...db()]), undefined)
    const loaded =
      await workOf(['load', tilesIn('set/2018'), tilesIn('set/2019'), '--layer', 'old', '--dated', ...db()])
    assert.deepEqual([loaded.done, loaded.about.sources], [18, 2])
  })

  it('shows for a failed load its error and advice', async () => {
    await stage.store.defineLayer('town', { grid: 'LV95' })
    await stage.store.write([{ layer: 'town', z: 3, x: 1, y: 1, time: T1, bytes: png(1) }])
    const files = tilesIn('tiles')
    const doc =
      await workOf(['load', files, '--layer', 'town', '--grid', 'WebMercatorQuad', '--time', '2022', ...db()], 1)
    assert.equal(doc.state, 'failed')
    assert.deepEqual(Object.keys(doc.error).sort(), ['advice', 'code', 'message'])
    assert.equal(doc.error.code, 'OTHER_GRID')
  })

  it('shows the figures of exports, checks, backups, restores, prunes and doctor', async () => {
    const exported = await workOf(['export', 'osm', folder.path('osm'), ...db()])
    assert.deepEqual([exported.command, exported.layer, exported.state, exported.done, exported.about.target],
      ['export', 'osm', 'done', 16, folder.path('osm')])
    assert.equal((await workOf(['export', 'osm', folder.path('tree'), '--tree', ...db()])).done, 16)
    const checked = await workOf(['check', ...db()])
    assert.deepEqual([checked.command, checked.done, checked.about.faults], ['check', 16, 0])
    const resolved = await workOf(['check', '--only', 'conflicts', '--fix', ...db()])
    assert.deepEqual([resolved.command, resolved.state, resolved.done, resolved.about.only],
      ['check', 'done', 0, 'conflicts'])
    assert.equal((await workOf(['check', '--only', 'upgrade', ...db()])).about.only, 'upgrade')
    const saved = await workOf(['backup', folder.path('a.tcb'), ...db()])
    assert.deepEqual([saved.command, saved.unit, saved.failed, saved.about.file],
      ['backup', 'documents', 0, folder.path('a.tcb')])
    const pruned = await workOf(['prune', 'osm', '--keep-last', '1', '--yes', ...db()])
    assert.deepEqual([pruned.command, pruned.layer, pruned.state, pruned.about.removed], ['prune', 'osm', 'done', 0])
    const expired = await workOf(['prune', 'osm', '--expired', '--yes', ...db()])
    assert.deepEqual([expired.command, expired.state, expired.done], ['expire', 'done', 0])
    const diagnosis = await workOf(['doctor', ...db()], (await doctor(stage.url)).state === 'bad' ? 1 : 0)
    assert.equal(diagnosis.about.findings[0].state, diagnosis.about.state)
    assert.ok(diagnosis.about.findings.every(({ area, check, state }) => area && check && state))
    assert.ok(JSON.stringify(diagnosis).length <= 16_384)
    for (const argv of [['prune', 'osm', '--keep-last', '1'], ['prune', 'osm', '--expired']]) {
      assert.equal(await workOf([...argv, '--dry-run', ...db()]), undefined)
    }

    const restored = await backend.database()
    const { code, err } = await runCommand(['restore', folder.path('a.tcb'), '--yes', '--db', restored])
    assert.equal(code, 0, err)
    const works = await worksOf(restored)
    assert.deepEqual(works.map(({ command, state, done }) => [command, state, done]),
      [['restore', 'done', saved.done]], 'and none of the store that was saved')
  }).timeout(60000)

  it('shows for a mirror its source, target, selection and lag, only in the target', async () => {
    await workOf(['export', 'osm', folder.path('osm'), ...db()])
    const target = await backend.database()
    const { code, err } = await runCommand(['mirror', stage.url, target])
    assert.equal(code, 0, err)
    const [doc, ...others] = await worksOf(target)
    assert.deepEqual(others, [], 'work is not mirrored')
    assert.deepEqual([doc.command, doc.state, doc.failed, doc.about.tiles, doc.about.lag < 60],
      ['mirror', 'done', 0, 16, true])
    assert.deepEqual([doc.about.source, doc.about.target], [stage.store.url, new Couch(target).url])
    assert.ok(doc.about.success >= doc.started)
    assert.equal((await worksOf(stage.url)).length, 1)
    assert.deepEqual(doc.args, ['mirror', scrub(stage.url)])
    assert.equal((await runCommand(['mirror', '--layer', 'osm', stage.url, target, '--zoom', '0-5'])).code, 0)
    const part = (await worksOf(target))[1]
    assert.deepEqual(part.about.selection, { layers: ['osm'], zooms: { min: 0, max: 5 } }, 'which part')
    assert.deepEqual(part.args, ['mirror', scrub(stage.url), '--layer', 'osm', '--zoom', '0-5'])
  }).timeout(60000)

  it('shows a live mirror as running until it is stopped', async () => {
    const target = await backend.database()
    const { child, ended } = startCommand(['mirror', stage.url, target, '--live'])
    try {
      const doc = await until(async () => (await worksOf(target).catch(() => []))[0]?.about?.state === 'following' &&
        (await worksOf(target))[0], { timeout: 30000 })
      assert.deepEqual([doc.state, doc.every, doc.done > 16], ['running', 30, true])
      const [{ seq }] = (await json(`${target}/_changes?descending=true&limit=1`)).results
      child.kill('SIGINT')
      await ended
      assert.equal((await worksOf(target))[0].state, 'stopped')
      assert.notEqual((await json(`${target}/_changes?descending=true&limit=1`)).results[0].seq, seq)
    } finally {
      await end(child, 'SIGKILL')
    }
  }).timeout(60000)

  it('is not written into a new store before its first load', async () => {
    const url = await backend.database()
    await Store.create(url, { public: false })
    await runCommand(['doctor', '--db', url])
    assert.deepEqual(await worksOf(url), [])
    await runCommand(['load', folder.path('nothing'), '--layer', 'osm', '--db', url])
    assert.deepEqual(await worksOf(url), [])
    const isNew = async () => (await doctor(url)).findings.filter(({ check }) => check === 'published')
    const before = await isNew()
    await json(`${url}/work:20240301T101500123-4f9k`, { method: 'PUT', body: JSON.stringify({ type: 'work' }) })
    assert.deepEqual(await isNew(), before)
    const files = tilesIn('tiles')
    assert.equal((await runCommand(['load', files, '--layer', 'osm', '--db', url])).code, 0)
    assert.deepEqual((await worksOf(url)).map(({ state }) => state), [undefined, 'done'])
    assert.ok((await json(`${url}/tilecouch`)).published)
  }).timeout(60000)

  it('is not written by functions of the library', async () => {
    await stage.store.list('osm')
    await doctor(stage.url)
    await publish(stage.store)
    assert.deepEqual(await worksOf(stage.url), [])
  })

  it('is left out by a load into a store whose validation refuses it', async () => {
    await stage.store.couch.update('_design/tiles', design => ({
      ...design,
      validate_doc_update: '(function (doc) { if (doc.type === \'work\') throw ({ forbidden: \'not a document of a ' +
        'tile store\' }) })'
    }))
    const files = tilesIn('tiles')
    assert.equal(await workOf(['load', files, '--layer', 'town', ...db()]), undefined)
    assert.equal((await stage.store.list('town').next()).done, false)
    assert.ok(!(await json(`${stage.url}/_all_docs`)).rows.some(({ id }) => id.startsWith('work:')))
  })

  describe('when a load is ended', () => {
    let upstream
    before(async () => { upstream = await startUpstream() })
    after(() => upstream.close())

    /** Starts a slow load in its own process, and returns it with its work document. */
    async function startLoad () {
      const source = `${upstream.url}/xyz/{z}/{x}/{y}.png`
      const load = startCommand(['load', source, '--layer', 'map', '--bbox', '-180,-85,180,85',
        '--zoom', '0-6', '--rate', '2/s', '--time', '2024', '--upstream-networks', '127.0.0.1', ...db()])
      const doc = await until(async () => (await worksOf(stage.url))[0] ??
        (load.child.exitCode !== null && assert.fail('it ended')), { timeout: 20000, what: 'its document' })
      return { ...load, doc }
    }

    it('by SIGKILL stays in state running, and counts as interrupted after 20 seconds', async () => {
      const { child, doc } = await startLoad()
      await end(child, 'SIGKILL')
      const [workDoc] = await worksOf(stage.url)
      assert.deepEqual([workDoc.state, workDoc.command, workDoc._id], ['running', 'load', doc._id])
      assert.equal(workState(workDoc, Date.parse(workDoc.seen) + 5000), 'running')
      assert.equal(workState(workDoc, Date.parse(workDoc.seen) + 21_000), 'interrupted')
    }).timeout(60000)

    it('by SIGINT is in state stopped', async () => {
      const { child, ended } = await startLoad()
      child.kill('SIGINT')
      assert.equal((await ended).code, 130)
      const [workDoc] = await worksOf(stage.url)
      assert.deepEqual([workDoc.state, workDoc.error, Boolean(workDoc.finished)], ['stopped', undefined, true])
    }).timeout(60000)
  })
})

withPeople('the work of people', start => {
  let server, store
  before(async function () {
    this.timeout(60000)
    server = await start()
    store = await Store.create(server.database, { public: false })
    await store.defineLayer('osm')
    await store.write(square({ layer: 'osm', time: T1, side: 2, seed: () => 1 }))
    await publish(store)
  })
  after(async () => {
    await store.destroy()
    await server.close()
  })
  const folder = useFolder()

  it('is written in the name of the user, and not for users who may only read', async () => {
    for (const [name, login] of [['writer', server.writer], ['reader', server.reader], ['nobody', []]]) {
      const { code, err } =
        await runCommand(['export', 'osm', folder.path(name), '--db', as(server.database, ...login)])
      assert.equal(code, 0, err)
    }
    const works = await worksOf(server.database)
    assert.deepEqual(works.map(({ user }) => user), [server.writer[0]])
    assert.doesNotMatch(JSON.stringify(works), /s3cret/)
  }).timeout(60000)
})
