// tilecouch resolve, as it is typed.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { createProgram } from '../../loader/cli/program.js'
import { backends } from '../support/backends.js'
import { Masters, S, T } from './masters.js'

async function run (...argv) {
  const text = { stdout: '', stderr: '' }
  const streams = Object.fromEntries(Object.keys(text).map(name => [name, new PassThrough().on('data', chunk => { text[name] += chunk })]))
  const { run: start } = createProgram({ openEmbedded: async () => { throw new Error('not asked for') }, streams })
  return { code: await start(argv), ...text }
}

describe('tilecouch resolve', () => {
  /** @type {Masters} */
  let masters
  beforeEach(async () => {
    masters = await Masters.open(backends.slice(0, 1))
    await masters.load(0, T(1), 1)
    await masters.load(0, T(3), 3, { stored: S(2) })
    await masters.load(1, T(3), 4, { stored: S(1) })
    await masters.load(1, T(4), 6, { x: 2 })
    await masters.load(0, T(5), 5, { x: 2 })
    await masters.meet()
  })
  afterEach(() => masters.close())

  it('says what there is, what it will do, what it did, and that there is nothing more', async () => {
    const db = ['--db', masters.urls[0]]
    const told = [
      '3 documents with conflicts: 3 losing revisions ended',
      '  1 version copied to the past',
      '  1 version moved to an earlier second, since another image has the same time',
      '  1 document of layers, editions or the store put together', ''
    ].join('\n')
    assert.equal((await run('resolve', '--dry-run', ...db)).stdout, told.replaceAll(/ended|copied|moved|put together/g, 'would be $&'))
    assert.deepEqual(await run('resolve', ...db), { code: 0, stdout: told, stderr: '' })
    assert.deepEqual(await run('resolve', ...db), { code: 0, stdout: 'No conflicts.\n', stderr: '' })
    const { stdout } = await run('resolve', '--json', '--db', masters.urls[1])
    const { seconds, ...summary } = JSON.parse(stdout)
    assert.ok(seconds >= 0)
    assert.deepEqual(summary, { conflicts: 3, ended: 3, past: 1, contested: 1, promoted: 0, merged: 1, settled: 0, unknown: 0, left: 0, refused: 0, named: [] })
  })

  it('is announced by info, and history tells which time a version was loaded for', async () => {
    const db = ['--db', masters.urls[0]]
    await masters.stores[0].defineLayer('osm', {})
    const { compose } = await import('../../loader/couchapp/compose.js')
    const { push } = await import('../../loader/couchapp/push.js')
    await push(masters.stores[0].couch, await compose())
    assert.match((await run('info', 'osm', ...db)).stdout, /^2 documents with conflicts: `tilecouch resolve` puts them right$/m)
    assert.equal(JSON.parse((await run('info', 'osm', '--json', ...db)).stdout).conflicts, 2)
    await run('resolve', ...db)
    assert.doesNotMatch((await run('info', 'osm', ...db)).stdout, /conflict/)
    const [, , contested, head] = (await run('history', 'osm', '3/1/2', ...db)).stdout.split('\n')
    assert.match(contested, /^2024-01-02T23:59:59Z .* loaded for 2024-01-03T00:00:00Z$/)
    assert.match(head, /^2024-01-03T00:00:00Z .* current$/)
  })

  it('names what it leaves alone, and says by its exit that something is left', async () => {
    const { rev } = await masters.stores[0].couch.request({ method: 'DELETE', path: '_design/tiles', qs: { rev: (await masters.stores[0].couch.get('_design/tiles'))._rev } })
    assert.ok(rev)
    await masters.graft(0, [{ _id: 'notes', _rev: '1-a' }, { _id: 'notes', _rev: '1-b', text: 'two' }])
    const { code, stdout } = await run('resolve', '--db', masters.urls[0])
    assert.equal(code, 1)
    assert.match(stdout, /^ {2}left as it is: notes: it is no document of a tile store$/m)
  })

  it('refuses what does not go together', async () => {
    for (const [argv, code] of [[['--live', '--dry-run'], 'BAD_OPTION'], [['--layer', 'a b'], 'BAD_LAYER']]) {
      const answer = await run('resolve', ...argv, '--db', masters.urls[0])
      assert.equal(answer.code, 1)
      assert.ok(answer.stderr.includes(`[${code}]`), answer.stderr)
    }
  })

  it('needs the view of conflicts', async () => {
    await masters.stores[0].couch.request({ method: 'DELETE', path: '_design/lifecycle', qs: { rev: (await masters.stores[0].couch.get('_design/lifecycle'))._rev } })
    const { code, stderr } = await run('resolve', '--db', masters.urls[0])
    assert.equal(code, 1)
    assert.match(stderr, /INDEX_MISSING/)
    assert.match(stderr, /tilecouch push/)
  })
})
