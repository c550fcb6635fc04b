// Conflicts of documents that masters wrote separately, and how they are resolved: tiles, layers, editions, styles, the
// store document, and foreign documents.
import assert from 'node:assert/strict'
import { planMerge } from '../../loader/check/merge.js'
import { load, removeEdition } from '../../loader/index.js'
import { json } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { Masters, S, T, onEachMixture } from './masters.js'

/**
 * The loads of a tile by three masters (number of the master, time, image, and other fields), and the resulting
 * history.
 * @type {Record<string, [any[][], string[]]>}
 */
const cases = {
  'the newest head stays, and the other becomes a past version': [
    [[0, T(1), 1], [1, T(3), 3, { expires: S(9), origin: { url: 'http://a' } }], [0, T(5), 5]],
    ['01-05T00:00:00 5', '01-01T00:00:00 past 1', '01-03T00:00:00 past 3']
  ],
  'the newest head stays, even if an older head has more revisions': [
    [[0, T(1), 1], [0, T(2), 2], [0, T(3), 3], [1, T(7), 7]],
    ['01-07T00:00:00 7', '01-01T00:00:00 past 1', '01-02T00:00:00 past 2', '01-03T00:00:00 past 3']
  ],
  'one version stays when time and image are equal': [
    [[0, T(1), 1, { stored: S(1), origin: { url: 'http://a' } }], [1, T(1), 1, { stored: S(2), expires: S(5) }]],
    ['01-01T00:00:00 1']
  ],
  'the later of two images of one time stays, and the other moves one second earlier': [
    [[1, T(2), 2, { stored: S(1) }], [0, T(2), 1, { stored: S(2) }]],
    ['01-02T00:00:00 1', '01-01T23:59:59 past 2 of 01-02T00:00:00']
  ],
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
  ],
  'versions of three masters are all kept': [
    [0, 1, 2].flatMap(at => [[at, T(at + 1), at + 1], [at, T(5), at + 5, { stored: S(at) }]]),
    [
      '01-05T00:00:00 7', '01-01T00:00:00 past 1', '01-02T00:00:00 past 2', '01-03T00:00:00 past 3',
      '01-04T23:59:58 past 5 of 01-05T00:00:00', '01-04T23:59:59 past 6 of 01-05T00:00:00'
    ]
  ]
}
const placeOf = title => ({ z: 4, x: Object.keys(cases).indexOf(title), y: 2 })
const historyOf = (masters, { z, x, y }) => masters.history(`${z}:${x}:${y}`)

const STYLE = { version: 8, sources: {}, layers: [] }

onEachMixture('conflicts', mixture => {
  /** @type {Masters} */
  let masters
  let marks, summary
  let styleConflicts // stores of two kinds, or in two seconds, make different revisions of the style that both receive
  before(async function () {
    this.timeout(60000)
    masters = await Masters.open(mixture, 3)
    const { stores } = masters
    marks = await Promise.all(stores.map(({ couch }) => couch.get('tilecouch')))
    const loadAgain = at => load(stores[at], memorySource({ '3/1/2': 1 }), { layer: 'again', time: T(1) })
    await masters.load(0, T(1), 1)
    await loadAgain(0)
    await masters.meet()
    await loadAgain(1)
    await removeEdition(stores[0], 'again', T(1))
    await masters.remove(0, 'osm:3:1:2')
    await masters.load(1, T(2), 2)
    for (const [title, [loads]] of Object.entries(cases)) {
      for (const [at, time, image, fields] of loads) {
        await masters.load(at, time, image, { ...fields, ...placeOf(title) })
      }
    }
    await stores[0].defineLayer('osm', { name: 'Here', minzoom: 3, maxzoom: 8, bounds: [0, 0, 10, 10] })
    await stores[0].defineLayer('osm', { name: 'Here and there' })
    await stores[1].defineLayer('osm', { name: 'There', minzoom: 1, maxzoom: 5, bounds: [5, -5, 20, 5], ttl: 60 })
    await stores[0].putEdition('osm', T(1), { source: 'a', started: S(1), title: 'January', tiles: 90 })
    await stores[1].putEdition('osm', T(1), { source: 'b', started: S(1), finished: S(2), tiles: 50 })
    for (const at of [0, 1]) {
      for (const [time, name] of [[T(1), 'same'], [T(2), `of ${at}`]]) {
        await stores[at].putStyle('osm', { time, style: { ...STYLE, name }, digest: name })
      }
    }
    const [{ _rev: rev }, { _rev: otherRev }] =
      await Promise.all([0, 1].map(at => stores[at].couch.get(`style:osm@${T(1)}`)))
    styleConflicts = rev === otherRev ? 0 : 1
    await masters.meet()
    summary = await masters.settle()
  })
  after(() => masters.close())

  for (const [title, [, history]] of Object.entries(cases)) {
    it(title, async () => { assert.deepEqual(await historyOf(masters, placeOf(title)), history) })
  }

  it('are counted', () => {
    assert.deepEqual(summary, {
      conflicts: 15 + styleConflicts,
      ended: 17 + styleConflicts,
      past: 3,
      contested: 5,
      promoted: 0,
      merged: 4 + styleConflicts,
      settled: 0, unknown: 0, left: 0, refused: 0, named: []
    })
  })

  it('leave all fields to a version that becomes a past one, and those of the later of two equal ones', async () => {
    const [{ x }, { x: equalX }] = ['the newest head stays, and the other becomes a past version',
      'one version stays when time and image are equal'].map(placeOf)
    for (const store of masters.stores) {
      const past = await store.at('osm', 4, x, 2, T(4))
      assert.deepEqual([past.expires, past.origin, past.stored], [S(9), { url: 'http://a' }, S(1)])
      assert.ok(past.bytes.equals(png(3)))
      assert.equal((await store.head('osm', 4, equalX, 2)).stored, S(2))
    }
  })

  it('leave a head that one store deleted and another overwrote', async () => {
    assert.deepEqual(await masters.history(), ['01-02T00:00:00 2', '01-01T00:00:00 past 1'])
  })

  it('leave a merged layer with the zooms and bounds of both, and fields that only one has', async () => {
    for (const store of masters.stores) {
      assert.deepEqual(await store.layer('osm'),
        { layer: 'osm', name: 'Here and there', minzoom: 1, maxzoom: 8, bounds: [0, -5, 20, 10], ttl: 60 })
    }
  })

  it('leave a merged edition with the fields of the finished load, and the title of the other', async () => {
    for (const store of masters.stores) {
      assert.deepEqual(await store.edition('osm', T(1)),
        { layer: 'osm', time: T(1), source: 'b', started: S(1), finished: S(2), tiles: 50, title: 'January' })
    }
  })

  it('leave one revision of a style, which is the same in all stores', async () => {
    const names =
      await Promise.all(masters.stores.map(async store => (await store.styles('osm')).map(doc => doc.style.name)))
    assert.equal(names[0][0], 'same')
    for (const other of names.slice(1)) assert.deepEqual(other, names[0])
  })

  it('remove an edition that one store removed and another loaded again', async () => {
    for (const store of masters.stores) assert.deepEqual(await store.editions('again'), [])
  })

  it('leave all stores with the identity of the oldest store', async () => {
    const [first] = marks.sort((a, b) => a.created < b.created || (a.created === b.created && a.uuid < b.uuid) ? -1 : 1)
    for (const store of masters.stores) assert.equal(await store.identity(), first.uuid)
  })

  it('do not hinder later loads', async () => {
    const place = placeOf('the later of two images of one time stays, and the other moves one second earlier')
    assert.equal((await masters.load(1, T(3), 3, place)).advanced, 1)
    assert.equal((await masters.load(1, T(1), 4, place)).backfilled, 1)
  })

  it('of a past version that is newer than all heads make it the head', async () => {
    const trio = await Masters.open(mixture, 3)
    for (const day of [1, 6, 7]) await trio.load(0, T(day), day)
    await trio.remove(0, 'osm:3:1:2')
    for (const day of [2, 3]) await trio.load(1, T(day), day)
    await trio.hand(0, 1)
    await trio.load(2, T(4), 4)
    await trio.meet()
    // A copy of the head stays in the past, as after a killed load. Readers and loads ignore it.
    const { promoted } = await trio.settle(false)
    assert.equal(promoted, 1)
    assert.deepEqual((await trio.history())[0], '01-06T00:00:00 6')
    assert.deepEqual((await trio.stores[0].versions('osm', 3, 1, 2)).map(({ time }) => time), [1, 2, 3, 4, 6].map(T))
    assert.equal((await trio.load(2, T(8), 8)).advanced, 1, 'loads go on')
    await trio.close()
  }).timeout(60000)

  it('of design documents and foreign documents are left, and foreign ones are named', async () => {
    const foreign =
      { _id: 'osm:3:1:2', type: 'tile', layer: 'osm', z: 3, x: 1, y: 2, current: true, time: T(1), gone: true }
    const stores = await Masters.open(mixture, 2, ['_design/versions']) // without validation function
    await stores.load(0, T(2), 2)
    await stores.graft(1, [
      { _id: 'notes', _rev: '1-a', text: 'one' }, { _id: 'notes', _rev: '1-b', text: 'two' },
      { ...foreign, _rev: '1-c', x: 7 }, { ...foreign, _rev: '1-d' },
      { _id: '_design/own', _rev: '1-a', views: {} }, { _id: '_design/own', _rev: '1-b', views: {}, a: 1 }
    ])
    const changesOf = async () => (await json(`${stores.urls[1]}/_changes?style=all_docs`))
      .results.map(({ id, changes }) => `${id} ${JSON.stringify(changes)}`).sort()
    const before = await changesOf()
    const { left, named, ended, refused } = await stores.resolve(1)
    assert.deepEqual([left, ended, refused], [2, 0, 0])
    assert.deepEqual(named.map(({ id, reason }) => `${id}: ${reason}`).sort(),
      ['notes: it is no document of a tile store', 'osm:3:1:2: it is no valid tile: fields-disagree, x 7'])
    assert.deepEqual(await changesOf(), before)
    await stores.close()
  })
})

describe('merging several leaves of a document', () => {
  const orders = list => list.length < 2 ? [list]
    : list.flatMap((item, at) => orders([...list.slice(0, at), ...list.slice(at + 1)]).map(tail => [item, ...tail]))

  it('gives the same result in any order of the leaves', () => {
    const layer = { _id: 'layer:osm', type: 'layer', layer: 'osm' }
    const edition =
      { _id: 'edition:osm@2024-01-01T00:00:00Z', type: 'edition', layer: 'osm', time: '2024-01-01T00:00:00Z' }
    const mark = { _id: 'tilecouch', type: 'store', schema: 1 }
    for (const leaves of [
      [{ ...layer, _rev: '1-a', minzoom: 2, ttl: 5 }, { ...layer, _rev: '2-b', maxzoom: 7 },
        { ...layer, _rev: '2-c', minzoom: 4, bounds: [0, 0, 1, 1] }],
      [{ ...edition, _rev: '1-a', title: 'x' }, { ...edition, _rev: '1-b', finished: S(1) },
        { ...edition, _rev: '1-c', finished: S(1), complete: true }],
      [{ ...mark, _rev: '1-a', created: S(1), uuid: 'b' }, {
        ...mark, _rev: '1-b', created: S(1), uuid: 'a', published: S(5)
      }, { ...mark, _rev: '1-c', created: S(2), uuid: '0', published: S(4) }]
    ]) {
      const ends = plan => plan.ends.map(({ _rev }) => _rev).sort()
      const plans = orders(leaves).map(order => planMerge(order))
      for (const plan of plans) assert.deepEqual([plan?.write, ends(plan)], [plans[0]?.write, ends(plans[0])])
    }
  })

  it('gives a layer whose leaves have no zooms none, and a mark without a schema none', () => {
    const layer = { _id: 'layer:osm', type: 'layer', layer: 'osm', upstream: { url: 'http://a/{z}/{x}/{y}' } }
    const mark = { _id: 'tilecouch', type: 'store' }
    for (const [leaves, fields] of [
      [[{ ...layer, _rev: '2-a', ttl: 5 }, { ...layer, _rev: '2-b', name: 'B' }], { ...layer, ttl: 5, name: 'B' }],
      [[{ ...mark, _rev: '1-a', uuid: 'a', published: S(2) }, { ...mark, _rev: '1-b', created: S(1) }],
        { ...mark, created: S(1), published: S(2) }]
    ]) {
      for (const order of orders(leaves)) {
        const { _rev, _revisions, ...written } = JSON.parse(JSON.stringify(planMerge(order)?.write))
        assert.deepEqual(written, fields)
      }
    }
  })

  it('gives a layer no limits and no retention that one of its leaves has lost', () => {
    const layer = { _id: 'layer:osm', type: 'layer', layer: 'osm' }
    const [winner, other] = [{ ...layer, _rev: '3-b', name: 'B' },
      { ...layer, _rev: '3-a', minzoom: 5, maxzoom: 9, bounds: [5, 45, 10, 47], retention: { last: 1 } }]
    assert.equal(planMerge([winner, other])?.write, undefined, 'the winner stays as it is')
    const { write } = planMerge([{ ...winner, retention: { last: 2 } }, { ...other, ttl: 5 }]) ?? {}
    const { _rev, _revisions, ...written } = JSON.parse(JSON.stringify(write))
    assert.deepEqual(written, { ...layer, name: 'B', retention: { last: 2 }, ttl: 5 })
  })

  it('ends all leaves of a style but one, without a new revision', () => {
    const style = { _id: `style:osm@${T(1)}`, type: 'style', layer: 'osm', time: T(1), style: STYLE }
    const leaves = [{ ...style, _rev: '1-a', stored: S(2) }, { ...style, _rev: '1-b', stored: S(1) },
      { ...style, _rev: '1-c', stored: S(3), style: 5 }]
    assert.deepEqual(planMerge(leaves)?.ends.map(({ _rev }) => _rev).map(rev => rev.split('-')[0]), ['2', '2'])
    assert.equal(planMerge(leaves)?.write, undefined)
  })

  it('keeps each viewer setting of the oldest leaf that has a valid one', () => {
    const mark = { _id: 'tilecouch', type: 'store', schema: 1 }
    const leaves = [
      { ...mark, _rev: '1-a', created: S(1), title: 'First', opens: 'osm' },
      { ...mark, _rev: '1-b', created: S(2), title: 'Second', base: 'land' },
      { ...mark, _rev: '1-c', created: S(3), base: 'sea', gazetteer: 5 }
    ]
    for (const order of orders(leaves)) {
      const { title, opens, base, gazetteer, created } = planMerge(order)?.write ?? {}
      assert.deepEqual([title, opens, base, gazetteer, created], ['First', 'osm', 'land', undefined, S(1)])
    }
  })
})
