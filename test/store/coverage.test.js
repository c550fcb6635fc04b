// The coverage of editions: the tiles that one edition read, the editions that read a view of the map or a tile.
import assert from 'node:assert/strict'
import { parseArea, tileBounds } from '../../core/index.js'
import { load } from '../../loader/load/index.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { openGateway } from '../support/gateway/stand.js'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'

const [T1, T2, T3, T4, T5] = [1, 2, 3, 4, 5].map(year => `202${year}-01-01T00:00:00Z`)

onEachStore('the coverage of editions', backend => {
  let store, url
  const fill = async (...opened) => {
    [store, url] = opened
    await load(store, memorySource({ '3/1/1': 1, '3/2/5': 1, '7/63/0': 1, '7/64/0': 1 }), { layer: 'osm', time: T1 })
    await load(store, memorySource({ '3/1/1': 1, '3/2/5': 2 }), { layer: 'osm', time: T2 })
    await load(store, memorySource({ '3/1/1': 1, '3/2/5': 2 }), { layer: 'osm', time: T3 })
    await load(store, memorySource({ '3/1/1': 1 }),
      { layer: 'osm', time: T4, complete: true, zooms: { min: 3, max: 3 } })
  }
  useStore(backend, { once: true, published: true, fill })

  it('counts the tiles and blocks of one edition by zoom, and its changed tiles', async () => {
    const first = await store.coverage('osm', T1)
    assert.deepEqual(first.byZoom.map(({ z, tiles, blocks }) => [z, tiles, blocks]), [[3, 2, 1], [7, 2, 2]])
    assert.deepEqual([first.tiles, first.blocks, first.changed, first.unchanged, first.complete], [4, 3, 4, 0, false])
    const [west, , , north] = tileBounds(3, 1, 1)
    const [, south, east] = tileBounds(3, 2, 5)
    assert.deepEqual(first.byZoom[0].bounds, [west, south, east, north])
    assert.deepEqual(first.roots, [(await store.edition('osm', T1)).root])
    const third = await store.coverage('osm', '2023')
    assert.deepEqual([third.time, third.tiles, third.changed, third.unchanged], [T3, 2, 0, 2])
    const fourth = await store.coverage('osm', T4)
    assert.deepEqual([fourth.complete, fourth.zooms], [true, { min: 3, max: 3 }])
    await assert.rejects(store.coverage('osm', '2030'), { code: 'NO_EDITION' })
  })

  it('counts the manifests of a layer, and a shared block once', async () => {
    const { count, blocks, bytes } = await store.manifests('osm')
    assert.deepEqual([count, blocks], [4, 5], 'the third has the block of the second')
    assert.ok(bytes > 0 && bytes < 1000)
  })

  it('gives the last confirmation of each version, and the time since which a tile is unchanged', async () => {
    assert.deepEqual((await store.versions('osm', 3, 1, 1)).map(({ time, checked }) => [time, checked]), [[T1, T4]])
    assert.deepEqual((await store.versions('osm', 3, 2, 5)).map(({ time, checked, gone }) => [time, checked, gone]),
      [[T1, undefined, false], [T2, T3, false], [T4, undefined, true]])
    assert.deepEqual(await store.shownSince('osm', 3, 1, 1), { since: T1, checked: T4, gone: false })
    assert.deepEqual(await store.shownSince('osm', 3, 1, 1, '2023'), { since: T1, checked: T3, gone: false })
    assert.equal(await store.shownSince('osm', 3, 7, 7), undefined)
  })

  it('lists every edition that read tiles of a view, with 0 tiles if it found no change', async () => {
    const timesOf = async view => (await store.timesLooked('osm', view)).map(({ time, tiles }) => [time, tiles])
    const boxOf = (z, x, y) => { const [w, s, e, n] = tileBounds(z, x, y); return [w + 0.1, s + 0.1, e - 0.1, n - 0.1] }
    assert.deepEqual(await timesOf({ bbox: boxOf(3, 1, 1), z: 3 }), [[T1, 1], [T2, 0], [T3, 0], [T4, 0]])
    assert.deepEqual(await timesOf({ bbox: boxOf(3, 6, 6), z: 3 }), [[T4, 0]], 'a complete one has looked everywhere')
    assert.deepEqual(await timesOf({ bbox: boxOf(7, 63, 0), z: 7 }), [[T1, 1]])
    assert.deepEqual(await timesOf({ z: 7 }), [[T1, 2]])
    assert.deepEqual(await timesOf({}), [[T1, 4], [T2, 1], [T3, 0], [T4, 1]])
    assert.deepEqual((await store.times('osm')).map(({ time }) => time), [T1, T2, T4])
  })

  it('is printed by tilecouch info', async () => {
    const run = async (...argv) => {
      const { code, out, err } = await runCommand([...argv, '--db', url])
      assert.equal(code, 0, err)
      return out
    }
    const text = await run('info', `osm@${T3}`)
    for (
      const line of [/^looked at 2 tiles in 1 block of 64 x 64; not complete/m,
        /^0 tiles changed, 2 confirmed unchanged$/m, /^root [0-9a-f]{32}$/m, /^ *3 +2 +1 +-135/m]
    ) assert.match(text, line)
    assert.match(await run('info', 'osm@2024'), /complete: every other tile of the layer at zoom 3 to 3 is gone/)
    assert.match(await run('info', 'osm'), /^4 manifests in 5 blocks of digests, \d+ B$/m)
    assert.match(await run('info', 'osm', '3/1/1'), new RegExp(`current, checked ${T4}`))
  })

  it('is in the version lists and times of the gateway', async () => {
    const gateway = await openGateway(url)
    try {
      const ask = async path => (await fetch(gateway.url + path)).json()
      assert.deepEqual((await ask('/osm/3/2/5.json')).versions.map(({ time, checked }) => [time, checked]),
        [[T1, undefined], [T2, T3], [T4, undefined]])
      assert.deepEqual((await ask('/osm/times.json?z=3')).times.map(({ time, tiles }) => [time, tiles]),
        [[T1, 2], [T2, 1], [T3, 0], [T4, 1]])
    } finally {
      await gateway.close()
    }
  })

  it('includes single writes, and leaves out removed editions', async () => {
    await store.defineLayer('one')
    const tile = { layer: 'one', z: 2, x: 1, y: 1, bytes: png(1) }
    await load(store, memorySource({ '2/1/1': 1 }), { layer: 'one', time: T1 })
    await store.write([{ ...tile, time: T2 }])
    assert.deepEqual(await store.shownSince('one', 2, 1, 1), { since: T1, checked: T2, gone: false })
    await load(store, memorySource({ '2/1/1': 1, '2/2/2': 1 }),
      { layer: 'one', time: T5, complete: true, area: parseArea({ bbox: [-180, -85, 180, 85] }) })
    assert.equal((await store.shownSince('one', 2, 1, 1)).checked, T5)
    await removeEdition(store, 'one', T5)
    assert.equal((await store.shownSince('one', 2, 1, 1)).checked, T2)
    assert.deepEqual((await store.timesLooked('one')).map(({ time }) => time), [T1])
  })
})
