// Tiles that two masters have loaded apart.
import assert from 'node:assert/strict'
import { png } from '../support/tiles.js'
import { Masters, S, T, onEachMixture, useMasters } from './masters.js'

onEachMixture('conflicts of tiles', mixture => {
  /** @type {Masters} */
  let masters
  useMasters(mixture, own => { masters = own })

  it('the newest head stays, and the other becomes a past version with all its fields', async () => {
    await masters.load(0, T(1), 1)
    await masters.load(1, T(3), 3, { expires: S(9), origin: { url: 'http://a' } })
    await masters.load(0, T(5), 5)
    await masters.meet()
    const summary = await masters.settle()
    // beside the tile: the marks of two stores that were made apart
    assert.deepEqual(summary,
      {
        conflicts: 2, ended: 2, past: 1, contested: 0, promoted: 0, merged: 1,
        settled: 0, unknown: 0, left: 0, refused: 0, named: []
      })
    assert.deepEqual(await masters.history(), ['01-05T00:00:00 5', '01-01T00:00:00 past 1', '01-03T00:00:00 past 3'])
    for (const store of masters.stores) {
      const past = await store.at('osm', 3, 1, 2, T(4))
      assert.deepEqual([past.expires, past.origin, past.stored], [S(9), { url: 'http://a' }, S(1)],
        'everything that was said of it')
      assert.ok(past.bytes.equals(png(3)))
    }
  })

  it('the newest head stays, even if an older head has more revisions', async () => {
    for (const day of [1, 2, 3]) await masters.load(0, T(day), day)
    await masters.load(1, T(7), 7)
    await masters.meet()
    assert.equal((await masters.stores[0].head('osm', 3, 1, 2)).time, T(3))
    await masters.settle()
    for (const store of masters.stores) assert.equal((await store.head('osm', 3, 1, 2)).time, T(7))
    assert.equal((await masters.history()).length, 4)
  })

  it('the version that was stored later stays when time and image are equal', async () => {
    await masters.load(0, T(1), 1, { stored: S(1), origin: { url: 'http://a' } })
    await masters.load(1, T(1), 1, { stored: S(2), expires: S(5) })
    await masters.meet()
    const { past, ended } = await masters.settle()
    assert.deepEqual([past, ended], [0, 2])
    assert.deepEqual(await masters.history(), ['01-01T00:00:00 1'])
    assert.equal((await masters.stores[0].head('osm', 3, 1, 2)).stored, S(2))
  })

  it('the later of two images of one time stays, and the other moves one second earlier', async () => {
    await masters.load(1, T(2), 2, { stored: S(1) })
    await masters.load(0, T(2), 1, { stored: S(2) })
    await masters.meet()
    const { contested } = await masters.settle()
    assert.equal(contested, 1)
    assert.deepEqual(await masters.history(), ['01-02T00:00:00 1', '01-01T23:59:59 past 2 of 01-02T00:00:00'])
    assert.equal((await masters.load(1, T(3), 3)).advanced, 1, 'loads go on')
    assert.equal((await masters.load(1, T(1), 4)).backfilled, 1)
  })

  /** Loads of each store, and the history that they make. */
  const cases = {
    'a version that has to move skips an earlier second that is taken': [
      [[0, '2024-01-01T23:59:59Z', 5], [1, T(2), 2, { stored: S(1) }], [0, T(2), 1, { stored: S(2) }]],
      ['01-02T00:00:00 1', '01-01T23:59:58 past 2 of 01-02T00:00:00', '01-01T23:59:59 past 5']
    ],
    'a losing gone head becomes a past version': [
      [[0, T(1), 1], [1, T(1), 1], [0, T(3), null], [1, T(4), 4]],
      ['01-04T00:00:00 4', '01-01T00:00:00 past 1', '01-03T00:00:00 past null']
    ],
    'past versions of one time are kept once if equal, and both if different': [
      [[0, 1, S(1)], [1, 2, S(2)]].flatMap(([at, image, stored]) => [
        [at, T(1), 7, { stored }], [at, T(2), image, { stored }], [at, T(5), 5, { stored: S(3) }]
      ]),
      ['01-05T00:00:00 5', '01-01T00:00:00 past 7', '01-01T23:59:59 past 1 of 01-02T00:00:00', '01-02T00:00:00 past 2']
    ]
  }
  for (const [what, [loads, history]] of Object.entries(cases)) {
    it(what, async () => {
      for (const load of loads) await masters.load(...load)
      await masters.meet()
      await masters.settle()
      assert.deepEqual(await masters.history(), history)
    })
  }

  it('a head that one store deleted and the other overwrote stays', async () => {
    await masters.load(0, T(1), 1)
    await masters.hand(0, 1)
    const { rev } = await masters.stores[0].head('osm', 3, 1, 2)
    await masters.stores[0].couch.request({ method: 'DELETE', path: 'osm:3:1:2', qs: { rev } })
    await masters.load(1, T(2), 2)
    await masters.meet()
    await masters.settle()
    assert.deepEqual(await masters.history(), ['01-02T00:00:00 2', '01-01T00:00:00 past 1'])
  })

  it('a past version that is newer than all heads becomes the head', async () => {
    for (const day of [1, 6, 7]) await masters.load(0, T(day), day)
    const { rev } = await masters.stores[0].head('osm', 3, 1, 2)
    await masters.stores[0].couch.request({ method: 'DELETE', path: 'osm:3:1:2', qs: { rev } })
    await masters.load(1, T(2), 2)
    await masters.load(1, T(3), 3)
    await masters.hand(0, 1)
    const third = await Masters.open(mixture, 1)
    await third.load(0, T(4), 4)
    const all = new Masters([...masters.stores, ...third.stores], [...masters.urls, ...third.urls])
    await all.meet()
    // a copy of the head stays in its past, as after a load that was killed: readers and loads know that
    const { promoted } = await all.settle(false)
    assert.equal(promoted, 1)
    assert.deepEqual((await masters.history())[0], '01-06T00:00:00 6')
    assert.deepEqual((await masters.stores[0].versions('osm', 3, 1, 2)).map(({ time }) => time), [1, 2, 3, 4, 6].map(T))
    assert.equal((await all.load(2, T(8), 8)).advanced, 1, 'loads go on')
    await third.close()
  })

  it('conflicts of three stores are resolved without losing a version', async () => {
    const more = await Masters.open(mixture, 3)
    for (const at of [0, 1, 2]) await more.load(at, T(at + 1), at + 1)
    for (const at of [0, 1, 2]) await more.load(at, T(5), at + 5, { stored: S(at) })
    await more.meet()
    await more.settle()
    assert.deepEqual(await more.history(), [
      '01-05T00:00:00 7', '01-01T00:00:00 past 1', '01-02T00:00:00 past 2', '01-03T00:00:00 past 3',
      '01-04T23:59:58 past 5 of 01-05T00:00:00', '01-04T23:59:59 past 6 of 01-05T00:00:00'
    ])
    await more.close()
  }).timeout(60000)
})
