// Layers, editions, the mark of a store, and what is not ours.
import assert from 'node:assert/strict'
import { planMerge } from '../../loader/check/merge.js'
import { load, removeEdition } from '../../loader/index.js'
import { json } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { Masters, S, T, onEachMixture, useMasters } from './masters.js'

onEachMixture('conflicts of other documents', mixture => {
  /** @type {Masters} */
  let masters
  useMasters(mixture, own => { masters = own })

  it('a merged layer has the zooms and bounds of both, and fields that only one has', async () => {
    await masters.stores[0].defineLayer('osm', { name: 'Here', minzoom: 3, maxzoom: 8, bounds: [0, 0, 10, 10] })
    await masters.stores[0].defineLayer('osm', { name: 'Here and there' })
    await masters.stores[1].defineLayer('osm',
      { name: 'There', minzoom: 1, maxzoom: 5, bounds: [5, -5, 20, 5], ttl: 60 })
    await masters.meet()
    assert.equal((await masters.settle()).merged, 2)
    for (const store of masters.stores) {
      assert.deepEqual(await store.layer('osm'),
        { layer: 'osm', name: 'Here and there', minzoom: 1, maxzoom: 8, bounds: [0, -5, 20, 10], ttl: 60 })
    }
  })

  it('a merged edition has the fields of the finished load, and the title of the other', async () => {
    await masters.stores[0].putEdition('osm', T(1), { source: 'a', started: S(1), title: 'January', tiles: 90 })
    await masters.stores[1].putEdition('osm', T(1), { source: 'b', started: S(1), finished: S(2), tiles: 50 })
    await masters.meet()
    await masters.settle()
    for (const store of masters.stores) {
      assert.deepEqual(await store.edition('osm', T(1)),
        { layer: 'osm', time: T(1), source: 'b', started: S(1), finished: S(2), tiles: 50, title: 'January' })
    }
  })

  it('conflicting styles are reduced to one revision, which is the same in both stores', async () => {
    const style = { version: 8, sources: {}, layers: [] }
    const put = (at, time, name) => masters.stores[
      at
    ].putStyle('osm', { time, style: { ...style, name }, digest: name })
    for (const at of [0, 1]) {
      await masters.load(at, T(1), 1)
      await put(at, T(1), 'same')
      await put(at, T(2), `of ${at}`)
    }
    await masters.meet()
    const { left } = await masters.settle()
    assert.equal(left, 0)
    const named =
      await Promise.all(masters.stores.map(async store => (await store.styles('osm')).map(doc => doc.style.name)))
    assert.deepEqual(named[0], named[1])
    assert.equal(named[0][0], 'same')
    const leaf =
      (rev, more) => ({ _id: `style:osm@${T(1)}`, _rev: rev, type: 'style', layer: 'osm', time: T(1), style, ...more })
    const leaves =
      [leaf('1-a', { stored: S(2) }), leaf('1-b', { stored: S(1) }), leaf('1-c', { stored: S(3), style: 5 })]
    assert.deepEqual(planMerge(leaves)?.ends.map(({ _rev }) => _rev).map(rev => rev.split('-')[0]), ['2', '2'])
    assert.equal(planMerge(leaves)?.write, undefined)
  })

  it('an edition that one store removed is removed in the other, even if it loaded it again', async () => {
    const loadIn = at => load(masters.stores[at], memorySource({ '3/1/2': 1 }), { layer: 'osm', time: T(1) })
    await loadIn(0)
    await masters.meet()
    await loadIn(1)
    await removeEdition(masters.stores[0], 'osm', T(1))
    await masters.meet()
    await masters.settle()
    for (const store of masters.stores) assert.deepEqual(await store.editions('osm'), [])
  })

  it('all stores get the identity of the oldest store', async () => {
    const marks = await Promise.all(masters.stores.map(({ couch }) => couch.get('tilecouch')))
    const [first] = marks.sort((a, b) => a.created < b.created || (a.created === b.created && a.uuid < b.uuid) ? -1 : 1)
    await masters.meet()
    await masters.settle()
    for (const store of masters.stores) assert.equal(await store.identity(), first.uuid)
  })

  it('conflicts of design documents and foreign documents are left, and foreign ones are named', async () => {
    const foreign =
      { _id: 'osm:3:1:2', type: 'tile', layer: 'osm', z: 3, x: 1, y: 2, current: true, time: T(1), gone: true }
    const own = await Masters.open(mixture, 2, ['_design/versions']) // nothing keeps others out
    await own.load(0, T(2), 2)
    await own.graft(1, [
      { _id: 'notes', _rev: '1-a', text: 'one' }, { _id: 'notes', _rev: '1-b', text: 'two' },
      { ...foreign, _rev: '1-c', x: 7 }, { ...foreign, _rev: '1-d' },
      { _id: '_design/own', _rev: '1-a', views: {} }, { _id: '_design/own', _rev: '1-b', views: {}, a: 1 }
    ])
    const written = async () => (await json(`${own.urls[1]}/_changes?style=all_docs`))
      .results.map(({ id, changes }) => `${id} ${JSON.stringify(changes)}`).sort()
    const before = await written()
    const { left, named, ended, refused } = await own.resolve(1)
    assert.deepEqual([left, ended, refused], [2, 0, 0])
    assert.deepEqual(named.map(({ id, reason }) => `${id}: ${reason}`).sort(),
      ['notes: it is no document of a tile store', 'osm:3:1:2: it is no valid tile: fields-disagree, x 7'])
    assert.deepEqual(await written(), before)
    await own.close()
  })
})

describe('merging several leaves of a document', () => {
  const orders = list => list.length < 2 ? [list]
    : list.flatMap((item, at) => orders([...list.slice(0, at), ...list.slice(at + 1)]).map(rest => [item, ...rest]))

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
