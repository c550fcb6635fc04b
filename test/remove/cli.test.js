// tilecouch remove on the command line.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { backends } from '../support/backends.js'
import { runAtTerminal, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { HISTORY, historyOf, useStage, without } from '../support/removals.js'
import { pattern } from '../support/pattern.js'

describe('tilecouch remove', () => {
  const folder = useFolder()
  let url
  useStage(backends[0], stage => ({ url } = stage))

  const removeUnconfirmed = (...argv) => runCommand(['remove', 'osm', ...argv, '--db', url])
  const remove = (...argv) => removeUnconfirmed(...argv, '--yes')

  it('refuses conflicting and invalid options', async () => {
    const badOptions = [[], ['--all', '--zoom', '1'], ['--edition', '2021', '--since', '2020'],
      ['--tiles', 'x', '--bbox', '0,0,1,1'], ['--since', '2022', '--until', '2021'],
      ['--edition', 'soon'], ['--all', '--compact', 'perhaps'], ['--tiles', '/nowhere'], ['--since', '2022', '--purge']]
    for (const argv of badOptions) {
      const { code, err } = await remove(...argv)
      assert.equal(code, 1, argv.join(' '))
      assert.match(err, /\[(BAD_OPTION|BAD_TIME|SOURCE_NOT_FOUND|PURGE_UNSUPPORTED)\]/)
    }
    assert.deepEqual(await historyOf(url), HISTORY)
  })

  it('reports what it will remove, and what it removed', async () => {
    const dryRun = await remove('--edition', '2022', '--dry-run')
    assert.match(dryRun.err,
      /^Would remove from osm: 5 versions of 5 tiles, 1.\d kB; 4 tiles fall back to the version before$/m)
    assert.deepEqual(await historyOf(url), HISTORY)
    const done = await remove('--edition', '2022-01-01', '--json')
    const { tiles, versions, fallen, heads, editions, compaction } = JSON.parse(done.out)
    assert.deepEqual([done.code, tiles, versions, fallen, heads, editions, compaction.done], [0, 5, 5, 4, 1, 1, false])
    folder.write({ 'wrong.txt': '# seen on Monday\n4/1/2\n\n4/1/3 # blurred\n' })
    assert.match((await remove('--tiles', `${folder.dir}/wrong.txt`)).out, /^Removed 3 versions of 2 tiles/)
    assert.deepEqual(await historyOf(url),
      without(HISTORY, (tile, year) => year === '2022' || ['1/2', '1/3'].includes(tile)))
    // 6 versions, and the 3 past documents that heads fell back to when 2022 was removed
    assert.match((await remove('--all')).out, /^Removed 9 versions of 4 tiles.*\n {2}with 2 edition documents\n/)
    assert.match((await remove('--all')).err, /LAYER_NOT_FOUND/)
  }).timeout(20000)

  const KINDS = [['--all'], ['--edition', '2022'], ['--until', '2020'], ['--zoom', '4'], ['--bbox', '-180,-85,180,85']]

  it('asks for the name of the layer at a terminal, and does nothing unless it is typed', async () => {
    for (const kind of KINDS) {
      for (const answer of ['', 'y', 'yes', 'Osm', 'osm2']) {
        const { code, out, err } = await runAtTerminal(['remove', 'osm', ...kind, '--db', url], answer)
        assert.deepEqual([code, out], [1, ''], `${kind} ${answer}`)
        assert.match(err, pattern(
          /^Removing from osm: \d+ versions? of \d+ tiles?.*\n/,
          /This cannot be undone\. To go on, type osm: tilecouch: nothing was removed: the answer was not osm /,
          /\[NOT_CONFIRMED\]\n/,
          / {2}Look first with --dry-run\./
        ))
      }
    }
    assert.deepEqual(await historyOf(url), HISTORY)
    const confirmed = await runAtTerminal(['remove', 'osm', '--edition', '2022', '--db', url], 'osm')
    assert.equal(confirmed.code, 0, confirmed.err)
    assert.match(confirmed.out, /^Removed 5 versions of 5 tiles/)
  })

  it('asks before it removes a layer that has settings but no tiles, but not if there is nothing at all', async () => {
    const store = await Store.open(url)
    await store.defineLayer('plan', { ttl: 5 })
    assert.equal((await runAtTerminal(['remove', 'plan', '--all', '--db', url], 'no')).code, 1)
    assert.equal((await store.layer('plan')).ttl, 5)
    assert.equal((await runAtTerminal(['remove', 'plan', '--all', '--db', url], 'plan')).code, 0)
    await assert.rejects(store.layer('plan'), { code: 'LAYER_NOT_FOUND' })
    const { code, err } = await runAtTerminal(['remove', 'osm', '--until', '1990', '--db', url], 'no')
    assert.deepEqual([code, /type osm/.test(err)], [0, false], err)
  })

  it('requires --yes without a terminal', async () => {
    for (const kind of [...KINDS, ['--all', '--purge'], ['--all', '--json']]) {
      const { code, out, err } = await removeUnconfirmed(...kind)
      assert.deepEqual([code, out], [1, ''], kind.join(' '))
      assert.match(err, /NOT_CONFIRMED/)
      assert.match(err, /--dry-run.*--yes|add --yes/)
    }
    const piped = await runAtTerminal(['remove', 'osm', '--tiles', '-', '--db', url], '4/1/2')
    assert.match(piped.err, /NOT_CONFIRMED/, 'standard input is for the list')
    const dry = await removeUnconfirmed('--all', '--dry-run')
    assert.deepEqual([dry.code, /^Would remove from osm: 14 versions of 7 tiles/.test(dry.err)], [0, true], dry.err)
    assert.deepEqual(await historyOf(url), HISTORY)
  })
})
