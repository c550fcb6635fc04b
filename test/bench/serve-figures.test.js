// The tiles and the servers of the benchmark of servers.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { AS_OF, LAYER, LENGTH, NEW, OLD, bytesOf, placesOf, shuffled,
  versions, writeMbtiles, writeTree, zipf } from '../../bench/block.js'
import { configuration } from '../../bench/programs/mapproxy.js'
import { filesConf, mainConf, proxyCacheConf, readProxyCacheConf } from '../../bench/programs/nginx.js'
import { parsePeriod } from '../../core/index.js'
import { openSource } from '../../loader/index.js'
import { useFolder } from '../support/folder.js'

describe('the tiles of the benchmark of servers', () => {
  const folder = useFolder()
  const places = placesOf(30)

  it('are all of one length, and no two alike', () => {
    const bodies = places.flatMap(({ index }) => [bytesOf(index, OLD), bytesOf(index, NEW)])
    assert.deepEqual(new Set(bodies.map(({ length }) => length)), new Set([LENGTH]))
    assert.equal(new Set(bodies.map(bytes => bytes.toString('latin1'))).size, 60)
    assert.ok(parsePeriod(AS_OF).end > OLD && parsePeriod(AS_OF).end < NEW)
  })

  it('are asked for in a random order that is the same every time', () => {
    assert.deepEqual(shuffled(places, 1), shuffled(places, 1))
    assert.notDeepEqual(shuffled(places, 1), places)
    assert.deepEqual(shuffled(places, 1).toSorted((a, b) => a.index - b.index), places)
  })

  it('are the same as files, as MBTiles and as versions', async () => {
    mkdirSync(path.join(folder.dir, 'files'))
    await writeTree(path.join(folder.dir, 'files'), places)
    writeMbtiles(path.join(folder.dir, 'tiles.mbtiles'), places)
    for (const name of [path.join('files', LAYER), 'tiles.mbtiles']) {
      const source = await openSource(path.join(folder.dir, name))
      const found = []
      for await (const { z, x, y, read } of source.tiles()) found.push({ z, x, y, bytes: Buffer.from(await read()) })
      await source.close()
      const expected = [...versions(places, NEW)].map(({ z, x, y, bytes }) => ({ z, x, y, bytes }))
      const sorted = list => list.toSorted((a, b) => a.x - b.x || a.y - b.y)
      assert.deepEqual(sorted(found), sorted(expected), name)
    }
  })

  it('are requested as often as their rank in a Zipf distribution says', () => {
    const draw = zipf(placesOf(100), 1)
    const counts = new Array(100).fill(0)
    for (let time = 0; time < 50_000; time++) counts[draw().index]++
    const first = 50_000 / Array.from({ length: 100 }, (_, rank) => 1 / (rank + 1)).reduce((sum, share) => sum + share)
    for (const rank of [1, 2, 5, 20]) {
      assert.ok(Math.abs(counts[rank - 1] / (first / rank) - 1) < 0.15, `rank ${rank}: ${counts[rank - 1]}`)
    }
    assert.ok(counts[99] > 0)
  })
})

describe('the servers of the benchmark', () => {
  it('include an nginx that writes only into its folder, and names a user only as root', () => {
    const conf = mainConf({ dir: '/tmp/x', http: filesConf('/tmp/files')(8000), workers: 2, root: false })
    assert.doesNotMatch(conf, /user root/)
    assert.match(conf, /server \{ listen 127\.0\.0\.1:8000; root \/tmp\/files; \}/)
    for (const [, file] of conf.matchAll(/(?:pid|error_log|_temp_path) (\/\S+?)[ ;]/g)) {
      assert.ok(file.startsWith('/tmp/x/'), file)
    }
    assert.match(mainConf({ dir: '/tmp/x', http: '', root: true }), /user root;/)
  })

  it('use the configuration of deploy/, only with other addresses and folders', async () => {
    const conf =
      proxyCacheConf(await readProxyCacheConf(), { gateway: 'http://127.0.0.1:7777', cache: '/tmp/cache' })(8001)
    assert.match(conf, /listen 127\.0\.0\.1:8001/)
    assert.match(conf, /127\.0\.0\.1:7777/)
    assert.doesNotMatch(conf, /\/var\//)
    assert.throws(() => proxyCacheConf('events {}', { gateway: 'http://127.0.0.1:7777', cache: '/tmp/cache' })(8001),
      /has no/)
  })

  it('include a MapProxy with the tile_id of docs/mapproxy.md', () => {
    const manual = readFileSync(new URL('../../docs/mapproxy.md', import.meta.url), 'utf8')
    const yaml = configuration({ server: 'http://127.0.0.1:5984', db: 'tiles', tree: '/tmp/files', dir: '/tmp/x' })
    const [, id] = /tile_id: (".*?")/.exec(yaml) ?? []
    assert.ok(manual.includes(`tile_id: ${id.replace(LAYER, 'land')}`), id)
  })
})
