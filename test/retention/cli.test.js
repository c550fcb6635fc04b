// tilecouch prune, the policy of tilecouch layer, and seed --expired on the command line.
import assert from 'node:assert/strict'
import { backends } from '../support/backends.js'
import { runAtTerminal, runCommand } from '../support/cli.js'
import { later, useExpiry } from '../support/expiry.js'
import { openStore, writeHistory } from '../support/prunes.js'
import { pattern } from '../support/pattern.js'

describe('tilecouch prune', () => {
  /** @type {import('../../loader/store/index.js').Store} */
  let store
  let url
  before(async () => {
    url = await backends[0].database()
    store = await openStore(url)
    const days =
      [1, 2, 3, 4, 5].map(day => ({ time: `2024-03-0${day}T00:00:00Z`, images: [day, day % 2, 7], edition: day > 2 }))
    await writeHistory(store, 'osm', days)
    await writeHistory(store, 'plain', days.slice(0, 1))
  })

  const run = (...argv) => runCommand([...argv, '--db', url])
  const json = async (...argv) => JSON.parse((await run(...argv, '--json')).out)

  it('needs rules or the policy of the layer, and reports when both are missing', async () => {
    const { code, err } = await run('prune', 'osm')
    assert.deepEqual([code, /none is given, and the layer osm has none \[BAD_RETENTION\]\n.*--keep-daily 30/.test(err)],
      [1, true])
    for (const badArguments of [
      ['prune'], ['prune', 'osm', '--all'], ['prune', '--all', '--keep-last', '3'],
      ['prune', 'osm', '--live'], ['prune', '--all', '--live', '-n'],
      ['prune', 'osm', '--keep-daily', '0'], ['prune', 'osm', '--keep-within', 'soon'],
      ['prune', 'osm', '--keep-edition', 'old'], ['prune', 'osm', '--compact', 'no'], ['prune', 'Osm']
    ]) {
      assert.match((await run(...badArguments)).err, /\[BAD_(OPTION|DURATION|TIME|LAYER)\]/, badArguments.join(' '))
    }
    assert.match((await run('prune', 'osm', '--keep-last', '1', '--keep-edition', '2042', '--yes')).err,
      /osm has no edition 2042/)
    assert.equal((await run('prune', '--all')).out,
      'No layer has a policy. Give one: tilecouch layer NAME --keep-daily 30\n')
  })

  it('uses a policy that tilecouch layer sets, replaces, prints and removes', async () => {
    const { out } = await run('layer', 'plain', '--keep-last', '3', '--keep-daily', '30', '--keep-monthly',
      '12', '--keep-yearly', '1', '--keep-within', '90d', '--keep-edition', '2023', '--keep-edition', '2024-03-01')
    assert.match(out,
      pattern(
        /of its past, `tilecouch prune` keeps\n/,
        / {2}the newest 3 moments\n/,
        / {2}the newest moment of each of the last 30 days, 12 months and 1 year that have any\n/,
        / {2}everything since 90 days before the newest moment\n/,
        / {2}the editions 2023 and 2024-03-01\n$/
      ))
    assert.deepEqual((await store.layer('plain')).retention,
      { last: 3, daily: 30, monthly: 12, yearly: 1, within: 7776000, editions: ['2023', '2024-03-01'] })
    assert.match((await run('layer', 'plain', '--keep-edition', 'all')).out, /keeps\n {2}every edition\n$/)
    assert.deepEqual((await store.layer('plain')).retention, { editions: true })
    assert.match((await run('layer', 'plain', '--title', 'Plain')).out, /every edition/)
    assert.doesNotMatch((await run('layer', 'plain', '--no-retention')).out, /past/)
    assert.equal((await store.layer('plain')).retention, undefined)
  })

  it('prints each moment, the rule that keeps it and its doomed versions, then prunes them', async () => {
    const { out } = await run('prune', 'osm', '--keep-daily', '2', '--keep-yearly', '2', '--dry-run')
    assert.deepEqual(out.split('\n').slice(0, 6)
      .map(line => line.replace(/ {2,}/g, '|').replace(/[\d.]+ k?B/, 'B').trim()), [
      'moment|edition|kept by|versions|going|bytes',
      '2024-03-05T00:00:00Z|of 2024-03-05|daily, yearly|2|0',
      '2024-03-04T00:00:00Z|of 2024-03-04|daily|2|0',
      '2024-03-03T00:00:00Z|of 2024-03-03|-|2|2|B',
      '2024-03-02T00:00:00Z|-|2|2|B',
      '2024-03-01T00:00:00Z|oldest yearly|3|0'
    ])
    assert.match(out, /^osm: 4 versions of 2 tiles \(.*\) and 1 edition would be removed; 3 moments of 5 would stay$/m)
    const { moments, versions } = await json('prune', 'osm', '--keep-daily', '2', '--keep-yearly', '2', '-n')
    assert.deepEqual([versions, moments.listed.length, moments.listed[3]], [4, 5,
      { time: '2024-03-02T00:00:00Z', edition: false, by: [], versions: 2, going: 2, bytes: moments.listed[3].bytes }])
    await run('layer', 'osm', '--keep-daily', '2', '--keep-yearly', '2')
    const pruneRun = await run('prune', '--all', '--compact', 'never')
    assert.deepEqual([pruneRun.code, pruneRun.out],
      [0, out.split('\n').at(-2)?.replaceAll('would be removed', 'removed').replaceAll('would stay', 'stayed') + '\n'])
    assert.match(pruneRun.err,
      /^osm keeps the newest moment of each of the last 2 days and 2 years that have any\.\nOf 5 moments 3 stay\./)
    assert.match((await run('prune', 'osm')).out, /^osm: nothing to remove; its 3 kept moments need every version$/m)
    assert.match((await run('layer', 'osm')).out, /last pruned on 20/)
  })

  it('asks before it applies typed rules, but not before it applies the policy of a layer', async () => {
    const argv = ['prune', 'osm', '--keep-last', '1', '--compact', 'never', '--db', url]
    const { code, err } = await runCommand(argv)
    assert.deepEqual([code, /NOT_CONFIRMED/.test(err)], [1, true])
    const refused = await runAtTerminal(argv, 'no')
    assert.match(refused.err,
      pattern(
        /^osm keeps the newest moment\.\n/,
        /Of 3 moments 1 stay\. .*\n/,
        /2 moments cannot be shown any more: 2024-03-04T00:00:00Z, 2024-03-01T00:00:00Z\.\n/,
        /This cannot be undone\. To go on, type osm: .*NOT_CONFIRMED/
      ))
    assert.equal((await store.stats('osm')).last, '2024-03-05T00:00:00Z')
    assert.equal((await store.editions('osm')).length, 2, 'nothing went')
    assert.equal((await runAtTerminal(['prune', 'osm', '--compact', 'never', '--db', url], 'no')).code, 0)
    assert.equal((await runAtTerminal(argv, 'osm')).code, 0)
    assert.equal((await store.editions('osm')).length, 1)
  })

  it('names layers with a bad policy, prunes the others, and exits with 1', async () => {
    await store.couch.update('layer:plain', doc => ({ ...doc, retention: { daily: 'many' } }))
    const { code, out } = await run('prune', '--all')
    assert.equal(code, 1)
    assert.match(out,
      /^osm: nothing to remove; .*\nplain was not pruned: bad retention policy: daily "many" must be a whole number/)
    assert.match((await run('layer', 'plain')).out, /unknown: bad retention policy/)
  })
})

describe('expired tiles on the command line', () => {
  const map = useExpiry(backends[0])
  const run = (...argv) => runCommand([...argv, '--db', map.url])

  before(async () => {
    await map.store.defineLayer('osm', {})
    await map.write([0, 1, 2].map(x => map.tile(x, { expires: later(x) })))
  })

  it('are listed by a dry run up to --limit, and removed after a confirmation', async () => {
    const listed = await run('prune', 'osm', '--expired', '--dry-run', '--limit', '2')
    assert.equal(listed.code, 0)
    assert.match(listed.out, /^expired .*\n.* osm:6:0:0\n.* osm:6:1:0\n\n3 tiles have expired/)
    assert.match(listed.out, /2 of them are listed; --limit lists more\n {2}3 tiles would be removed/)
    assert.deepEqual(await map.history(0), ['0 tile head 0'])
    const unconfirmed = await run('prune', 'osm', '--expired')
    assert.deepEqual([unconfirmed.code, /NOT_CONFIRMED/.test(unconfirmed.err)], [1, true])
    const refused = await runAtTerminal(['prune', 'osm', '--expired', '--db', map.url], 'no')
    assert.match(refused.err,
      pattern(
        /^3 tiles have expired \(.*\) and would be removed\.\n/,
        /This cannot be undone\. To go on, type osm: .*NOT_CONFIRMED/
      ))
    const limited = await runAtTerminal(['prune', 'osm', '--expired', '--limit', '2', '--db', map.url], 'no')
    assert.match(limited.err, /^3 tiles have expired \(.*\); 2 of them would be removed\.\n/)
    assert.deepEqual(await map.history(0), ['0 tile head 0'])
    const removal = await run('prune', '--all', '--expired', '--yes', '--compact', 'always', '--json')
    const { removed, listed: tiles, compaction } = JSON.parse(removal.out)
    assert.deepEqual([removed, tiles, await map.history(0), compaction.done], [3, [], [], true])
    assert.match((await run('prune', '--all', '--expired', '--yes', '--compact', 'always')).out, /^Disk: /m)
    assert.doesNotMatch((await run('prune', '--all', '--expired', '--yes')).out, /^Disk: /m)
  })

  it('are fetched only when the layer has an upstream', async () => {
    const { code, err } = await run('seed', 'osm', '--expired')
    assert.equal(code, 1)
    assert.match(err, /NO_UPSTREAM/)
    const summary = JSON.parse((await run('seed', '--all', '--expired', '--dry-run', '--json')).out)
    assert.deepEqual(summary.skipped.map(({ layer }) => layer), ['osm'])
  })

  it('fail with BAD_OPTION for conflicting options', async () => {
    for (const argv of [
      ['prune', '--expired'], ['prune', 'osm', '--all', '--expired'],
      ['prune', 'osm', '--with-past'], ['prune', 'osm', '--limit', '3'],
      ['prune', 'osm', '--expired', '--keep-last', '3'], ['prune', 'osm', '--expired', '--live', '--dry-run'],
      ['prune', 'osm', 'relief'], ['prune', 'osm', '--keep-last', '3', '--every', '6h'],
      ['prune', '--all', '--expired', '--live', '--every', '6h', '--yes'],
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
