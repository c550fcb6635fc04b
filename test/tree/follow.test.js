// Trees that follow a store with `export --tree --live`.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { mock } from 'node:test'
import { TilecouchError } from '../../core/index.js'
import { Store } from '../../loader/index.js'
import { Changes } from '../../loader/export/tree/changes.js'
import { exportTree } from '../../loader/export/tree/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { startFront } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { checkTidy, checkTrees, edition, isThere, linkOf, tile, treeOf, treesIn, useTrees } from '../support/trees.js'
import { Watcher } from './watcher.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2, T3, T4] =
  ['2022-03-01T00:00:00Z', '2023-06-01T00:00:00Z', '2023-09-01T00:00:00Z', '2024-01-01T00:00:00Z']

onEachStore('trees that follow a store', backend => {
  const map =
    useTrees(backend, store => edition(store, square({ layer: 'osm', time: T1, side: 6, seed: (x, y) => x * 6 + y })))
  const untilShown = (name, seed, time) => until(() => {
    const file = map.file(name, time)
    return isThere(file) && readFileSync(file).equals(png(seed))
  }, { what: `${name} of ${time ?? 'now'} to be ${seed}`, every: 5 })

  it('show a change within two seconds, and remove gone tiles', async () => {
    await map.follow()
    const started = performance.now()
    await map.store.write([tile(1, 1, T2, 300), tile(2, 2, T2, null)])
    await untilShown('5/1/1.png', 300)
    assert.ok(performance.now() - started < 2000 * TIME_FACTOR, `${performance.now() - started} ms`)
    await until(() => !isThere(map.file('5/2/2.png')))
    assert.ok(isThere(map.file('5/2/2.png', T1)))
    await edition(map.store, [tile(9, 9, T2, 301)])
    await until(() => treesIn(map.to()).trees.includes(T2))
    await map.settles()
    await map.store.write([tile(9, 9, T3, null)])
    await until(() => !isThere(map.file('5/9')), { what: 'the empty folder to go' })
    await map.end()
    checkTidy(map.to())
  })

  it('have the tree of a new edition once it is finished, with all of its files', async () => {
    await map.follow()
    await edition(map.store, square({ layer: 'osm', time: T2, side: 6, seed: (x, y) => y ? x * 6 + y : 100 + x }),
      { finished: false })
    await untilShown('5/5/0.png', 105)
    assert.deepEqual(treesIn(map.to()).trees, ['', T1])
    await map.store.putEdition('osm', T2, { finished: T2 })
    await until(() => isThere(treeOf(map.to(), T2)), { every: 1 })
    assert.ok(square({ layer: 'osm', time: T2, side: 6, seed: () => 1 })
      .every(({ x, y }) => isThere(map.file(`5/${x}/${y}.png`, T2))), 'it appeared whole')
    await map.settles()
    assert.equal(statSync(map.file('5/1/1.png', T2)).ino, statSync(map.file('5/1/1.png', T1)).ino)
  })

  it('show editions that are loaded for times between the others', async () => {
    await edition(map.store, [tile(1, 1, T4, 400)])
    await map.follow()
    await edition(map.store, [tile(1, 1, T2, 200), tile(3, 3, T2, null)])
    await until(() => treesIn(map.to()).trees.includes(T2))
    await map.settles()
    await edition(map.store, [tile(1, 1, T3, 201), tile(3, 3, T3, 202)])
    await until(() => treesIn(map.to()).trees.includes(T3))
    await map.settles()
    assert.deepEqual([linkOf(map.to(), '2022'), linkOf(map.to(), '2023'), linkOf(map.to(), '2024')],
      [`osm@${T1}`, `osm@${T3}`, `osm@${T4}`])
    await untilShown('5/1/1.png', 201, T3)
    await untilShown('5/1/1.png', 400)
    const tree = statSync(map.file('5/2/2.png', T3)).ino
    assert.equal(tree, statSync(map.file('5/2/2.png')).ino)
  })

  it('lose the link of a period after a single write in it, until the next edition', async () => {
    await edition(map.store, [tile(1, 1, T2, 200)])
    await map.follow()
    assert.deepEqual(treesIn(map.to()).links, ['2022', '2022-03', '2022-03-01', '2023', '2023-06', '2023-06-01'])
    await map.store.write([tile(1, 2, '2023-06-15T00:00:00Z', 300)])
    await untilShown('5/1/2.png', 300)
    assert.deepEqual(treesIn(map.to()).links, ['2022', '2022-03', '2022-03-01', '2023-06-01'])
    await edition(map.store, [tile(1, 1, T3, 201)])
    await until(() => treesIn(map.to()).links.includes('2023'))
    assert.equal(linkOf(map.to(), '2023'), `osm@${T3}`)
    await map.settles()
  })

  it('remove a deleted head, past version or edition', async () => {
    await edition(map.store, [tile(1, 1, T2, 200), tile(2, 2, T2, 201)])
    await map.follow()
    const remove = async id => {
      const { _rev: rev } = await map.store.couch.get(id)
      await map.store.couch.request({ method: 'DELETE', path: encodeURIComponent(id), qs: { rev } })
    }
    await remove('osm:5:1:1')
    await until(() => !isThere(map.file('5/1/1.png')))
    await remove(`osm:5:2:2@${T1}`)
    await until(() => !isThere(map.file('5/2/2.png', T1)))
    await remove(`edition:osm@${T2}`)
    await until(() => !isThere(treeOf(map.to(), T2)) && !treesIn(map.to()).links.includes('2023'))
    await map.settles()
  })

  it('resume with the changes that were made while they were stopped', async () => {
    await map.follow()
    await map.end()
    await edition(map.store, [tile(1, 1, T2, 200)])
    await map.store.write([tile(2, 2, T2, 201)])
    await map.follow()
    await untilShown('5/2/2.png', 201)
    await until(() => treesIn(map.to()).trees.includes(T2))
    const { tiles } = await map.end()
    assert.ok(tiles <= 2 + 36, `${tiles}: changed, and once for the new tree`)
    await checkTrees(map.url, map.to())
  })

  it('wait for a store that is away, and say so once', async () => {
    const front = await startFront(map.url)
    try {
      const remoteStore = await Store.open(front.accountUrl, { retries: 0 })
      await map.follow({}, remoteStore)
      await front.stop()
      await until(() => map.states.at(-1).state === 'away')
      await edition(map.store, [tile(1, 1, T2, 200)])
      await front.restart()
      await untilShown('5/1/1.png', 200)
      await until(() => map.states.at(-1).state === 'following')
      await map.settles()
      assert.deepEqual(map.states.map(({ state, error }) => error ?? state).filter(state => state !== 'comparing'),
        ['following', 'UNREACHABLE', 'following'])
      await map.end()
    } finally {
      await front.close().catch(() => {})
    }
  })

  it('repeat a comparison during which the store was unreachable', async () => {
    await exportTree(map.store, 'osm', map.to())
    await edition(map.store, [tile(1, 1, T2, 200)])
    let failuresLeft = 2
    const failingStore = Object.assign(Object.create(map.store), {
      async * listTiles (...args) {
        let left = failuresLeft-- > 0 ? 10 : Infinity
        for await (const entry of map.store.listTiles(...args)) {
          if (left-- === 0) throw new TilecouchError('UNREACHABLE', { url: 'x', why: 'it was killed' })
          yield entry
        }
      }
    })
    await map.follow({ zooms: { min: 0, max: 9 } }, failingStore) // another selection: everything is compared
    await until(() => treesIn(map.to()).trees.includes(T2))
    await map.settles()
    assert.ok(failuresLeft < 0)
  })

  it('keep their files when the database is deleted, until a new database has the layer', async () => {
    await map.follow()
    const { created } = await map.store.couch.get('tilecouch')
    await map.store.destroy()
    await until(() => map.states.at(-1).state === 'away')
    assert.ok(isThere(map.file('5/1/1.png')))
    await until(() => new Date().toISOString().slice(0, 19) + 'Z' > created, { what: 'another second' })
    map.store = await Store.create(map.url)
    await publishFunctions(map.store)
    await until(() => map.states.at(-1).error === 'LAYER_NOT_FOUND', { what: 'the layer to be missed' })
    assert.ok(isThere(map.file('5/1/1.png')))
    await map.store.defineLayer('osm', { format: 'png' })
    await edition(map.store,
      square({ layer: 'osm', time: T1, side: 6, seed: (x, y) => x === y ? undefined : 500 + x * 6 + y }))
    await untilShown('5/1/2.png', 508)
    await map.settles({ moved: true })
    assert.ok(!isThere(map.file('5/1/1.png')))
  })

  it('compare all files when more tiles changed than they may remember', async () => {
    await map.follow({ limits: { mostChanges: 5, gather: 300 } })
    await map.store.write(square({ layer: 'osm', time: T2, side: 6, seed: (x, y) => y ? 600 + x * 6 + y : null }))
    await untilShown('5/5/5.png', 635)
    await map.settles()
    assert.ok(map.states.some(({ state }) => state === 'comparing'))
  })

  it('compare all files again when too many tiles changed during the end of a comparison', async () => {
    const heard = mock.method(Changes.prototype, 'add')
    let isFirst = true
    const busyStore = Object.assign(Object.create(map.store), {
      async * listTiles (...args) {
        yield * map.store.listTiles(...args)
        if (!isFirst) return
        isFirst = false
        await map.store.write(square({ layer: 'osm', z: 6, time: T1, side: 3, seed: (x, y) => 700 + x * 3 + y }))
        await until(() => heard.mock.calls.at(-1)?.this.overflow, { what: 'more changes than it remembers' })
      }
    })
    try {
      await map.follow({ limits: { mostChanges: 5 } }, busyStore)
      await map.settles()
    } finally {
      heard.mock.restore()
    }
    assert.equal(isFirst, false)
  })

  it('show what was written while the store answered that it has no such database', async () => {
    const front = await startFront(map.url)
    try {
      await map.follow({}, await Store.open(front.accountUrl, { retries: 0 }))
      await map.store.write([tile(1, 1, T2, 300)])
      await untilShown('5/1/1.png', 300)
      const restore = front.rule(() =>
        ({ status: 404, body: '{"error":"not_found","reason":"Database does not exist."}' }))
      await front.stop()
      await front.restart()
      await until(() => map.states.at(-1).error === 'DATABASE_NOT_FOUND')
      await map.store.write([tile(2, 2, T2, 301)])
      restore()
      await untilShown('5/2/2.png', 301)
      await map.settles()
      await map.end()
    } finally {
      await front.close().catch(() => {})
    }
  })

  it('never show incomplete or older files while editions are loaded', async () => {
    const editions = [T2, T3, T4].map((time, index) => square(
      { layer: 'osm', time, side: 6, seed: (x, y) => (x * y + index) % 3 ? 1000 * (index + 1) + x * 6 + y : undefined }
    ))
    const watcher = new Watcher(map.to())
    watcher.expect(square({ layer: 'osm', time: T1, side: 6, seed: (x, y) => x * 6 + y }))
    for (const tiles of editions) watcher.expect(tiles)
    watcher.start()
    await map.follow({ limits: { gather: 10 } })
    for (const tiles of editions) {
      for (let start = 0; start < tiles.length; start += 5) await map.store.write(tiles.slice(start, start + 5))
      await edition(map.store, tiles)
    }
    await map.settles()
    await watcher.stop()
    assert.ok(watcher.reads > 100, `${watcher.reads}`)
    assert.ok(watcher.changed.size > 0)
  })
})
