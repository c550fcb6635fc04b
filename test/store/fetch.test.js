// Fetching the versions of a list, also while another program writes.
import assert from 'node:assert/strict'
import { Couch } from '../../loader/store/couch.js'
import { fetchDefaults } from '../../loader/store/fetch.js'
import { Store } from '../../loader/store/index.js'
import { noiseTile } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { collect } from '../support/collect.js'
import { onEachStore, request } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { png, square, yearStart } from '../support/tiles.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']

onEachStore('fetching versions from a list', backend => {
  const SIDE = 16
  /** @type {Store} */
  let store
  let url
  const fill = async (...opened) => {
    [store, url] = opened
    await store.defineLayer('osm')
    await store.write(square({ layer: 'osm', time: T1, z: 6, side: SIDE, seed: (x, y) => x * SIDE + y }))
    await store.write(
      [{ layer: 'osm', z: 6, x: 1, y: 1, time: T2, gone: true },
        { layer: 'osm', z: 6, x: 1, y: 2, time: T2, bytes: png(999), expires: '2030-01-01T00:00:00Z', origin: {
          url: 'http://x/1'
        } }]
    )
    await store.write(
      Array.from({ length: 6 }, (_, y) => ({ layer: 'large', z: 4, x: 1, y, time: T1, bytes: noiseTile(y, 400e3) }))
    )
  }
  useStore(backend, { once: true, published: true, fill })

  /** Counts the bulk reads. `gate` is awaited before each of them. */
  function watch (gate = async () => {}) {
    const { couch } = store
    const seen = { requests: /** @type {number[]} */ ([]), now: 0, most: 0 }
    couch.docs = async (ids, options) => {
      seen.requests.push(ids.length)
      seen.most = Math.max(seen.most, ++seen.now)
      try {
        await gate()
        return await Couch.prototype.docs.call(couch, ids, options)
      } finally {
        seen.now--
      }
    }
    return { seen, end () { delete /** @type {any} */ (couch).docs } }
  }

  it('gives the listed versions with bytes and fields, in the order of the list', async () => {
    const listed = (await collect(store.list('osm'))).reverse()
    const fetched = await collect(store.fetch(listed.map((version, index) => ({ ...version, index }))))
    assert.deepEqual(fetched.map(({ id, index }) => [id, index]),
      listed.map(({ id }, index) => [id, index]), 'what the caller put beside comes along')
    for (const { z, x, y, bytes, digest, time, rev, size, type, stored } of fetched) {
      const head = await store.head('osm', z, x, y)
      assert.ok(bytes.equals(head.bytes))
      assert.deepEqual({ digest, time, rev, size, type, stored },
        { digest: head.digest, time: head.time, rev: head.rev, size: head.size, type: head.type, stored: head.stored })
    }
    const changed = fetched.find(({ x, y }) => x === 1 && y === 2)
    assert.deepEqual([changed.expires, changed.origin], ['2030-01-01T00:00:00Z', { url: 'http://x/1' }])
  })

  it('takes an array of past and current versions, or an empty array', async () => {
    const [{ versions }] = (await collect(store.listTiles('osm'))).filter(({ id }) => id === 'osm:6:1:2')
    const fetched = await collect(store.fetch(versions))
    assert.deepEqual(fetched.map(
      ({ time, current, bytes }) => [time, current, bytes.equals(png(time === T1 ? SIDE + 2 : 999))]
    ), [[T1, false, true], [T2, true, true]])
    assert.deepEqual(await collect(store.fetch([])), [])
  })

  it('skips gone and missing versions, and passes them to onMissing', async () => {
    const fields = { layer: 'osm', z: 6, current: true, gone: false, size: 100 }
    const listed = [
      { ...fields, id: 'osm:6:0:0', x: 0, y: 0 },
      { ...fields, id: 'osm:6:1:1', x: 1, y: 1 }, // gone
      { ...fields, id: 'osm:6:60:60', x: 60, y: 60 }, // does not exist
      { ...fields, id: 'osm:6:0:1', x: 0, y: 1, time: '2020-01-01T00:00:00Z' }, // has no version of this time
      { ...fields, id: 'osm:6:0:2', x: 0, y: 2, time: T1 }
    ]
    const missing = []
    const fetched = await collect(store.fetch(listed, { onMissing: version => missing.push(version) }))
    assert.deepEqual(fetched.map(({ id }) => id), ['osm:6:0:0', 'osm:6:0:2'])
    assert.deepEqual(missing, listed.slice(1, 4), 'just as they were listed')
    assert.equal((await collect(store.fetch(listed))).length, 2, 'nobody needs to be told')
  })

  it('requests many small or few large tiles at once, within the limit of concurrency', async () => {
    const small = await collect(store.list('osm'))
    const watched = watch()
    await collect(store.fetch(small))
    assert.deepEqual(watched.seen.requests,
      [fetchDefaults.batch, fetchDefaults.batch, small.length - 2 * fetchDefaults.batch])
    assert.ok(watched.seen.most <= fetchDefaults.concurrency)
    watched.end()
    const large = watch()
    const fetched = await collect(store.fetch(store.list('large'), { concurrency: 2 }))
    assert.deepEqual([fetched.length, large.seen.requests, large.seen.most], [6, [2, 2, 2], 2])
    large.end()
  })

  it('does not read far ahead of its consumer', async () => {
    let pulled = 0
    async function * endless () {
      const versions = await collect(store.list('osm'))
      for (;;) for (const version of versions) { pulled++; yield version }
    }
    const watched = watch()
    const fetched = store.fetch(endless(), { concurrency: 2 })
    for (let count = 0; count < 10; count++) await fetched.next()
    await until(async () => watched.seen.now === 0, { what: 'nothing on its way' })
    watched.end()
    assert.ok(pulled < 6 * fetchDefaults.batch, `${pulled} listed for 10 taken`)
    await fetched.return(undefined)
  })

  it('ends with ABORTED after at most one batch when its signal aborts', async () => {
    const stop = new AbortController()
    const watched = watch(async () => { if (watched.seen.requests.length > 1) stop.abort() })
    const taken = []
    await assert.rejects(async () => {
      for await (const tile of store.fetch(store.list('osm'), { signal: stop.signal, concurrency: 1 })) taken.push(tile)
    }, { code: 'ABORTED' })
    watched.end()
    assert.ok(taken.length <= fetchDefaults.batch, `${taken.length} taken`)
    await assert.rejects(collect(store.fetch(store.list('osm'), { signal: AbortSignal.abort() })), { code: 'ABORTED' })
  })

  it('fails with the error of the list or of the store', async () => {
    async function * broken () {
      yield * (await collect(store.list('osm'))).slice(0, 3)
      throw new Error('the list broke')
    }
    await assert.rejects(collect(store.fetch(broken())), /the list broke/)
    const [version] = await collect(store.list('osm'))
    const nowhere = new Store(new Couch(url.replace(/\/[^/]*$/, '/nowhere_at_all'), { retries: 0 }))
    await assert.rejects(collect(nowhere.fetch([version, version])), { code: 'DATABASE_NOT_FOUND' })
  })

  it('reads versions by id without their bytes', async () => {
    const versions = await store.versionsById(['osm:6:1:2', `osm:6:1:2@${T1}`, 'osm:6:1:1', 'osm:6:63:63', 'layer:osm'])
    assert.deepEqual([...versions.keys()], ['osm:6:1:2', `osm:6:1:2@${T1}`, 'osm:6:1:1'])
    assert.deepEqual([...versions.values()].map(({ time, current, gone, bytes }) => [time, current, gone, bytes]),
      [[T2, true, false, undefined], [T1, false, false, undefined], [T2, true, true, undefined]])
    assert.deepEqual(versions.get('osm:6:1:2').digest, (await store.head('osm', 6, 1, 2)).digest)
    const ids = Array.from({ length: 1200 }, (_, index) => `osm:6:${index >> 6}:${index & 63}`)
    assert.equal((await store.versionsById(ids)).size, SIDE * SIDE)
    assert.equal((await store.versionsById([])).size, 0)
  })

  it('leaves out a tile that was deleted after it was listed', async () => {
    const listed = (await collect(store.list('osm'))).slice(0, 3)
    const { id } = listed[1]
    const { _rev } = await (await request(`${url}/${id}`)).json()
    assert.equal((await request(`${url}/${id}?rev=${_rev}`, { method: 'DELETE' })).status, 200)
    const missing = []
    const fetched = await collect(store.fetch(listed, { onMissing: version => missing.push(version.id) }))
    assert.deepEqual([fetched.map(version => version.id), missing], [[listed[0].id, listed[2].id], [id]])
  })
})

// every tile is listed once, and the fetched versions are the listed ones
onEachStore('listing while a load runs', backend => {
  const SIDE = 18
  const edition = (year, seed = (x, y) => year * 1000 + x * SIDE + y) =>
    square({ layer: 'osm', time: yearStart(year), z: 7, side: SIDE, seed })
  /** @type {Store} */
  let store
  const fill = async openedStore => {
    store = openedStore
    await store.defineLayer('osm')
    await store.write(edition(2000))
  }
  useStore(backend, { published: 'functions', q: 4, fill })

  it('gives every tile once as of an earlier time, with the bytes of that time', async () => {
    let writing = true
    const load = (async () => {
      for (let year = 2001; year <= 2004; year++) await store.write(edition(year), { batch: 40, concurrency: 3 })
      writing = false
    })()
    const expected = edition(2000).map(({ z, x, y }) => `${z}/${x}/${y}`).sort()
    let rounds = 0
    try {
      while (writing || rounds === 0) {
        const missing = []
        const names = []
        for await (
          const tile of store.fetch(store.list('osm', { time: '2000' }), { onMissing: lost => missing.push(lost.id) })
        ) {
          assert.equal(tile.time, yearStart(2000))
          assert.ok(tile.bytes.equals(png(2000 * 1000 + tile.x * SIDE + tile.y)), `${tile.id} shows what it showed`)
          names.push(`${tile.z}/${tile.x}/${tile.y}`)
        }
        assert.deepEqual([names.sort(), missing], [expected, []], `round ${rounds}`)

        const firstTimes = new Map()
        for await (const { id, versions } of store.listTiles('osm')) {
          assert.ok(!firstTimes.has(id), `${id} comes once`)
          assert.deepEqual(versions.map(version => version.time),
            [...new Set(versions.map(version => version.time))].sort(), 'each time once, oldest first')
          assert.ok(versions.slice(0, -1).every(({ current, id: document }) => !current && document.includes('@')) &&
            versions.at(-1).current, JSON.stringify(versions))
          firstTimes.set(id, versions[0].time)
        }
        assert.deepEqual([firstTimes.size, new Set(firstTimes.values())], [SIDE * SIDE, new Set([yearStart(2000)])])
        const heads = await collect(store.list('osm'))
        assert.deepEqual([heads.length, new Set(heads.map(({ id }) => id)).size], [SIDE * SIDE, SIDE * SIDE])
        rounds++
      }
    } finally {
      await load
    }
    assert.ok(rounds > 0)
  }).timeout(120000)

  it('fetches the past copy of a head that was overwritten after it was listed', async () => {
    const listed = await collect(store.list('osm', { time: '2000' }))
    assert.ok(listed.every(({ id }) => !id.includes('@')))
    await store.write(edition(2001))
    for await (const tile of store.fetch(listed)) {
      assert.deepEqual([tile.id, tile.time, tile.current],
        [`osm:7:${tile.x}:${tile.y}@${yearStart(2000)}`, yearStart(2000), false])
      assert.ok(tile.bytes.equals(png(2000 * 1000 + tile.x * SIDE + tile.y)))
    }
  })

  it('fetches the newest versions for a list without a time, and reports tiles gone meanwhile', async () => {
    const listed = await collect(store.list('osm'))
    await store.write(edition(2001, x => ({ 0: null, 1: 7 })[x]))
    const missing = []
    const years = {}
    for await (const version of store.fetch(listed, { onMissing: lost => missing.push(lost) })) {
      years[version.time] = (years[version.time] ?? 0) + 1
    }
    assert.deepEqual(years, { [yearStart(2000)]: SIDE * (SIDE - 2), [yearStart(2001)]: SIDE })
    assert.deepEqual(missing.map(({ x }) => x), Array(SIDE).fill(0))
  })
})
