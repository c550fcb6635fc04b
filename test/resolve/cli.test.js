// tilecouch check --only conflicts on the command line.
import assert from 'node:assert/strict'
import { compose } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { backends } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { S, T, useMasters } from './masters.js'

const run = (...argv) => runCommand(argv)

describe('tilecouch check --only conflicts', () => {
  /** @type {import('./masters.js').Masters} */
  let masters
  useMasters(backends.slice(0, 1), opened => { masters = opened })
  beforeEach(async () => {
    await masters.load(0, T(1), 1)
    await masters.load(0, T(3), 3, { stored: S(2) })
    await masters.load(1, T(3), 4, { stored: S(1) })
    await masters.load(1, T(4), 6, { x: 2 })
    await masters.load(0, T(5), 5, { x: 2 })
    await masters.meet()
  })

  it('prints the planned resolutions, then those made with --fix, then that none are left', async () => {
    const db = ['--db', masters.urls[0]]
    const expected = [
      '3 documents with conflicts: 3 losing revisions deleted',
      '  1 version copied to the past',
      '  1 version moved to an earlier second, since another image has the same time',
      '  1 document of layers, editions or the store merged', ''
    ].join('\n')
    assert.equal((await run('check', '--only', 'conflicts', ...db)).out,
      expected.replaceAll(/deleted|copied|moved|merged/g, 'would be $&'))
    assert.deepEqual(await run('check', '--only', 'conflicts', '--fix', ...db), { code: 0, out: expected, err: '' })
    assert.deepEqual(await run('check', '--only', 'conflicts', '--fix', ...db),
      { code: 0, out: 'No conflicts.\n', err: '' })
    const { out } = await run('check', '--only', 'conflicts', '--fix', '--json', '--db', masters.urls[1])
    const { seconds, ...summary } = JSON.parse(out)
    assert.ok(seconds >= 0)
    assert.deepEqual(summary,
      {
        conflicts: 3, ended: 3, past: 1, contested: 1, promoted: 0, merged: 1,
        settled: 0, unknown: 0, left: 0, refused: 0, named: []
      })
  })

  it('is suggested by info, which also shows the time that a moved version was loaded for', async () => {
    const db = ['--db', masters.urls[0]]
    await masters.stores[0].defineLayer('osm', {})
    await push(masters.stores[0].couch, await compose())
    assert.match((await run('info', 'osm', ...db)).out,
      /^2 documents with conflicts: `tilecouch check --fix` resolves them$/m)
    assert.equal(JSON.parse((await run('info', 'osm', '--json', ...db)).out).conflicts, 2)
    await run('check', '--only', 'conflicts', '--fix', ...db)
    assert.doesNotMatch((await run('info', 'osm', ...db)).out, /conflict/)
    const [, , contested, head] = (await run('info', 'osm', '3/1/2', ...db)).out.split('\n')
    assert.match(contested, /^2024-01-02T23:59:59Z .* loaded for 2024-01-03T00:00:00Z$/)
    assert.match(head, /^2024-01-03T00:00:00Z .* current$/)
  })

  it('names documents that it does not resolve, and exits 1', async () => {
    assert.ok((await masters.remove(0, '_design/tiles')).rev)
    await masters.graft(0, [{ _id: 'notes', _rev: '1-a' }, { _id: 'notes', _rev: '1-b', text: 'two' }])
    const { code, out } = await run('check', '--only', 'conflicts', '--fix', '--db', masters.urls[0])
    assert.equal(code, 1)
    assert.match(out, /^ {2}left as it is: notes: it is no document of a tile store$/m)
  })

  it('refuses conflicting options and invalid layer names', async () => {
    for (const [argv, code] of [[['--live', '--report', 'x'], 'BAD_OPTION'], [['a b'], 'BAD_LAYER']]) {
      const answer = await run('check', '--only', 'conflicts', '--fix', ...argv, '--db', masters.urls[0])
      assert.equal(answer.code, 1)
      assert.ok(answer.err.includes(`[${code}]`), answer.err)
    }
  })

  it('fails with INDEX_MISSING without the view of conflicts', async () => {
    await masters.remove(0, '_design/versions')
    const { code, err } = await run('check', '--only', 'conflicts', '--fix', '--db', masters.urls[0])
    assert.equal(code, 1)
    assert.match(err, /INDEX_MISSING/)
    assert.match(err, /tilecouch push/)
  })
})
