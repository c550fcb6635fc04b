// tilecouch prune --expired and seed --expired, as they are typed.
import assert from 'node:assert/strict'
import { backends } from '../support/backends.js'
import { runAtTerminal, runCommand } from '../support/cli.js'
import { at, useExpiry } from '../support/expiry.js'
import { pattern } from '../support/pattern.js'

describe('expired tiles on the command line', () => {
  const map = useExpiry(backends[0])
  const run = (...argv) => runCommand([...argv, '--db', map.url])

  before(async () => {
    await map.store.defineLayer('osm', {})
    await map.write([0, 1, 2].map(x => map.tile(x, { expires: at(x) })))
  })

  it('are listed by a dry run up to --limit, and removed after a confirmation', async () => {
    const listed = await run('prune', 'osm', '--expired', '--dry-run', '--limit', '2')
    assert.equal(listed.code, 0)
    assert.match(listed.out, /^expired .*\n.* osm:6:0:0\n.* osm:6:1:0\n\n3 tiles have expired/)
    assert.match(listed.out, /2 of them are listed; --limit lists more\n {2}3 tiles would be removed/)
    assert.deepEqual(await map.history(0), ['0 tile head 0'])
    const unasked = await run('prune', 'osm', '--expired')
    assert.deepEqual([unasked.code, /NOT_CONFIRMED/.test(unasked.err)], [1, true])
    const asked = await runAtTerminal(['prune', 'osm', '--expired', '--db', map.url], 'no')
    assert.match(asked.err,
      pattern(
        /^3 tiles have expired \(.*\) and would be removed\.\n/,
        /This cannot be undone\. To go on, type osm: .*NOT_CONFIRMED/
      ))
    const limited = await runAtTerminal(['prune', 'osm', '--expired', '--limit', '2', '--db', map.url], 'no')
    assert.match(limited.err, /^3 tiles have expired \(.*\); 2 of them would be removed\.\n/)
    assert.deepEqual(await map.history(0), ['0 tile head 0'])
    const { removed, listed: none } = JSON.parse((await run('prune', '--all', '--expired', '--yes', '--json')).out)
    assert.deepEqual([removed, none, await map.history(0)], [3, [], []])
  })

  it('are fetched only when the layer has an upstream', async () => {
    const { code, err } = await run('seed', 'osm', '--expired')
    assert.equal(code, 1)
    assert.match(err, /NO_UPSTREAM/)
    const all = JSON.parse((await run('seed', '--all', '--expired', '--dry-run', '--json')).out)
    assert.deepEqual(all.skipped.map(({ layer }) => layer), ['osm'])
  })

  it('fail with BAD_OPTION for conflicting options', async () => {
    for (const argv of [
      ['prune', '--expired'], ['prune', 'osm', '--all', '--expired'],
      ['prune', 'osm', '--with-past'], ['prune', 'osm', '--limit', '3'],
      ['prune', 'osm', '--expired', '--keep-last', '3'], ['prune', 'osm', '--expired', '--live', '--dry-run'],
      ['prune', 'osm', 'relief'],
      ['seed', '--expired'], ['seed', 'osm', '--live'], ['seed', '--all'], ['seed', 'osm', '--expired', '--zoom', '3'],
      ['seed', 'osm', '--expired', '--failed', 'x'], ['copy', 'osm', 'b', '--move', '--zoom', '3'],
      ['copy', 'osm', '--move'], ['copy', 'osm', 'b', '--purge']
    ]) {
      const { code, err } = await run(...argv)
      assert.match(err, /\[BAD_OPTION\]/, argv.join(' '))
      assert.equal(code, 1)
    }
  })
})
