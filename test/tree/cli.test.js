// The command `tilecouch export LAYER FOLDER --tree`, as a user types it.
import assert from 'node:assert/strict'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { nginxConfig } from '../../loader/export/tree/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { memory, runCommand } from '../support/cli.js'
import { square } from '../support/tiles.js'
import { checkTrees, edition, isThere, tile, useTrees } from '../support/trees.js'
import { pattern } from '../support/pattern.js'

const [T1, T2] = ['2022-03-01T00:00:00Z', '2023-06-01T00:00:00Z']

onEachStore('tilecouch export --tree', backend => {
  const map = useTrees(backend, async store => {
    await edition(store, square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 4 + y }))
    await edition(store, [tile(1, 1, T2, 99)])
  })
  const { folder } = map
  const run = (...argv) => runCommand(['export', ...argv, '--db', map.url])
  const start = (...argv) => {
    const streams = { stdout: memory(), stderr: memory() }
    const ended = runCommand(['export', ...argv, '--db', map.url], { streams })
      .then(({ code }) => code)
    return { ended, get out () { return streams.stdout.text }, get err () { return streams.stderr.text } }
  }

  it('prints the written files and links, and none of them in a second run', async () => {
    const { code, out, err } = await run('osm', map.to(), '--tree')
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, pattern(
      /^osm -> \S+: 16 tiles looked at in 0:0\d\n/,
      / {2}17 files written \(6\.\d kB\), 31 hard links, 0 up to date, 0 removed\n/,
      / {2}3 trees: osm, osm@2022-03-01T00:00:00Z, osm@2023-06-01T00:00:00Z\n/,
      / {2}6 links: /
    ))
    const secondRun = await run('osm', map.to(), '--tree', '--json')
    assert.equal(secondRun.code, 0)
    const { layer, written, linked, trees, links, failures } = JSON.parse(secondRun.out)
    assert.deepEqual([layer, written, linked, trees.length, links.length, failures], ['osm', 0, 0, 3, 6, []])
    await checkTrees(map.url, map.to())
  })

  it('exports only the given area and zooms', async () => {
    assert.equal((await run('osm', map.to(), '--tree', '--bbox', '-180,80,-160,85', '--zoom', '5')).code, 0)
    const { tiles } = await checkTrees(map.url, map.to(), { selected: (z, x, y) => x < 2 && y < 4 })
    assert.equal(tiles, 16)
    assert.equal((await run('osm', map.to(), '--tree', '--zoom', '6-7')).code, 0)
    assert.ok(!isThere(path.join(map.to(), 'osm/5')))
  })

  it('writes the configuration of nginx, and overwrites an adapted one only with --force', async () => {
    const file = folder.path('tiles.conf')
    const args = ['osm', map.to(), '--tree', '--nginx', file, '--gateway', 'http://127.0.0.1:8080']
    folder.write({ theirs: 'theirs' })
    symlinkSync(folder.path('theirs'), `${file}.new`)
    assert.equal((await run(...args)).code, 0)
    assert.equal(readFileSync(file, 'utf8'), nginxConfig({ root: map.to(), gateway: 'http://127.0.0.1:8080' }))
    assert.equal(readFileSync(folder.path('theirs'), 'utf8'), 'theirs', 'no link is followed')
    assert.equal((await run(...args)).code, 0)
    writeFileSync(file, 'adapted')
    const refused = await run(...args)
    assert.deepEqual([refused.code, readFileSync(file, 'utf8')], [1, 'adapted'])
    assert.match(refused.err, /TARGET_EXISTS/)
    assert.equal((await run(...args, '--force')).code, 0)
    assert.notEqual(readFileSync(file, 'utf8'), 'adapted')
  })

  it('refuses wrong options and layers before it writes anything', async () => {
    for (const args of [
      ['osm@2022', map.to(), '--tree'], ['osm', map.to(), '--tree', '--history'],
      ['osm', map.to(), '--tree', '--format', 'mbtiles'], ['osm', map.to(), '--tree', '--gateway', 'http://a.example'],
      ['osm', map.to(), '--tree', '--nginx', folder.path('x.conf'), '--gateway', 'a.example'],
      ['osm', map.to(), '--live'], ['nothing', map.to(), '--tree'], ['osm', map.to(), '--tree', '--zoom', 'x']
    ]) {
      const { code, out, err } = await run(...args)
      assert.deepEqual([code, out], [1, ''], args.join(' '))
      assert.match(err, /^tilecouch: .* \[(BAD_OPTION|LAYER_NOT_FOUND|BAD_ZOOM)\]/, args.join(' '))
    }
    assert.ok(!isThere(map.to()))
  })

  it('prints a line for each change of state while it follows, and ends with 0', async () => {
    const following = start('osm', map.to(), '--tree', '--live')
    await until(() => following.err.includes('following'))
    await edition(map.store, [tile(2, 2, '2024-01-01T00:00:00Z', 98)])
    await until(() => following.err.includes('osm@2024-01-01T00:00:00Z is complete'))
    process.emit('SIGINT')
    assert.equal(await following.ended, 0)
    assert.match(following.err, pattern(
      /^osm -> \S+: up to date after 0:0\d, following the changes\.\n/,
      / {2}17 files written .*\n/,
      /osm@2024-01-01T00:00:00Z is complete and served from now on\n/
    ))
    assert.match(following.out, /^osm -> \S+ \(stopped\): \d+ tiles looked at/)
  })

  it('prints a JSON object per line while it follows with --json', async () => {
    const following = start('osm', map.to(), '--tree', '--live', '--json')
    await until(() => following.out.includes('"following"'))
    process.emit('SIGINT')
    assert.equal(await following.ended, 0)
    const events = following.out.trim().split('\n').map(line => JSON.parse(line))
    assert.deepEqual([events.at(-1).event, events.at(-1).trees.length, following.err], ['stopped', 3, ''])
    assert.deepEqual(events.filter(({ event }) => event === 'following').map(({ layer, written }) => [layer, written]),
      [['osm', 17]])
  })
})
