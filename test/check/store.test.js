// What is wrong with a store as a whole: found, mended where there is one right answer, found clean. Looking alone
// writes nothing.
import assert from 'node:assert/strict'
import { check } from '../../loader/check/index.js'
import { rebuiltWhile } from './rebuilding.js'
import { publish } from '../../loader/couchapp/publish.js'
import { Couch } from '../../loader/store/couch.js'
import { PRIVATE_SECURITY, Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { document, tile } from '../support/sample-tiles.js'
import { plant } from './damage.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']

/** Everything that is found. */
async function look (store, options) {
  const found = []
  const report = await check(store, { decode: false, onFinding: finding => found.push(finding), ...options })
  return { report, found, said: found.map(({ code, where }) => `${code} ${where}`).sort() }
}

/** All that is in a database, local documents included, as far as one can see. */
async function stateOf (store) {
  const { update_seq: seq, doc_count: docs, doc_del_count: deleted } = await store.info()
  return { seq: parseInt(seq), docs, deleted, security: await store.security() }
}

onEachStore('a whole store', backend => {
  let store
  const fill = async own => {
    store = own
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3, bounds: [-180, -85, 180, 85], format: 'png' })
    for (const [time, seed] of /** @type {const} */ ([[T1, 1], [T2, 50]])) {
      await store.write(await Promise.all(
        Array.from({ length: 8 }, async (_, y) => ({ layer: 'osm', z: 3, x: 3, y, time, bytes: await tile(seed + y) }))
      ))
      await store.putEdition('osm', time, { started: time, finished: time })
    }
    await publish(store)
  }
  useStore(backend, { once: true, public: false, fill })
  afterEach(() => { store.couch.request = Couch.prototype.request })

  const remove =
    async id => store.couch.request({ method: 'DELETE', path: id, qs: { rev: (await store.couch.get(id))._rev } })

  it('has no findings if it is sound, and is not changed by a check', async () => {
    const before = await stateOf(store)
    const { report, said } = await look(store, { decode: true })
    assert.deepEqual(said, [])
    assert.deepEqual(report.layers,
      [{ layer: 'osm', tiles: 8, versions: 16, bytes: report.bytes, faults: 0, warnings: 0 }])
    assert.equal(report.repair, undefined)
    assert.deepEqual(await stateOf(store), before)
  })

  it('is not changed by a repair if there is nothing to repair', async () => {
    const before = await stateOf(store)
    const { report } = await look(store, { fix: true })
    assert.deepEqual(report.repair, { repaired: {}, remaining: {}, faults: 0, warnings: 0, named: [] })
    assert.deepEqual(await stateOf(store), before)
  })

  it('is checked in the given layers, or in all of them', async () => {
    await store.defineLayer('relief', {})
    assert.deepEqual((await look(store, { layers: ['relief'] })).report.layers.map(({ layer }) => layer), ['relief'])
    assert.deepEqual((await look(store)).report.layers.map(({ layer }) => layer), ['osm', 'relief'])
    await assert.rejects(look(store, { layers: ['nothing'] }), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(look(store, { layers: ['Osm'] }), { code: 'BAD_LAYER' })
    await remove('layer:relief')
  })

  it('is repaired, with many faults at once; faults with several possible fixes are left', async () => {
    await remove('_design/tiles') // or nothing of this could be written
    const [mark, layer, edition, versions] = await Promise.all(
      ['tilecouch', 'layer:osm', `edition:osm@${T1}`, '_design/versions'].map(id => store.couch.get(id))
    )
    const beside = (doc, letter, fields) => (
      { ...doc, ...fields, _rev: `1-${letter.repeat(32)}`, _revisions: { start: 1, ids: [letter.repeat(32)] } }
    )
    await plant(store, [
      beside(layer, 'a', { attribution: 'somebody' }), beside(edition, 'a', { title: 'the first' }),
      beside(mark, 'a', { created: T3 }), beside(versions, '0', { views: {} }),
      await document('relief:4:1:1', {}, tile(7)), await document('relief:5:2:3', {}, tile(8)),
      await document('osm:2:0:1', {}, tile(9)),
      await document(`osm:3:3:1@${T2}`, {}, tile(51)),
      { _id: 'notes', text: 'mine' },
      { _id: 'edition:gone@2020-01-01T00:00:00Z', type: 'edition', layer: 'gone', time: '2020-01-01T00:00:00Z' },
      { _id: '_design/mine', views: { all: { map: '(function (doc) { emit(doc._id) })' } } },
      { _id: '_design/versions-staging', language: 'javascript', views: versions.views }
    ])
    await store.couch.put(
      { ...await store.couch.get('layer:osm'), layer: 'ocean', minzoom: 5, maxzoom: 4, bounds: [-20, -10, -10, 10] }
    )
    await store.couch.put({ ...await store.couch.get('tilecouch'), schema: 'one' })
    const before = await stateOf(store)
    const expected = [
      'bad-layer layer:osm', 'bad-layer layer:osm', 'bad-mark tilecouch',
      'conflict _design/versions', `conflict edition:osm@${T1}`, 'conflict layer:osm', 'conflict tilecouch',
      'foreign-design _design/mine', 'foreign-document notes', 'left-staging _design/versions-staging',
      'no-layer layer:relief', 'no-validation _design/tiles',
      'outside-bounds osm:2:0:1',
      ...Array.from({ length: 8 }, (_, y) => `outside-bounds osm:3:3:${y}`).filter(text => !/[34]$/.test(text)),
      'outside-zooms osm:2:0:1', ...Array.from({ length: 8 }, (_, y) => `outside-zooms osm:3:3:${y}`),
      'stray-edition edition:gone@2020-01-01T00:00:00Z'
    ].sort()
    const seen = await look(store)
    assert.deepEqual(seen.said, expected)
    assert.deepEqual(await stateOf(store), before, 'looking wrote nothing')

    const { report, said } = await look(store, { fix: true })
    assert.deepEqual(said, expected)
    assert.deepEqual(report.repair?.remaining, { 'foreign-document': 1, 'stray-edition': 1, 'foreign-design': 1 })
    assert.equal(report.repair?.faults, 0)
    assert.deepEqual((await look(store)).said,
      ['foreign-design _design/mine', 'foreign-document notes', 'stray-edition edition:gone@2020-01-01T00:00:00Z'])
    const [osm, relief] = await store.layers()
    assert.deepEqual([osm.layer, osm.minzoom, osm.maxzoom, osm.attribution], ['osm', 2, 3, 'somebody'])
    assert.deepEqual([relief.layer, relief.minzoom, relief.maxzoom, relief.format], ['relief', 4, 5, 'png'])
    for (const id of ['notes', 'edition:gone@2020-01-01T00:00:00Z',
      '_design/mine', 'relief:4:1:1', 'relief:5:2:3', 'osm:2:0:1', 'layer:relief']) await remove(id)
    await store.defineLayer('osm', { minzoom: 3 })
    assert.deepEqual((await look(store)).said, [])
  })

  it('gets a missing store document again, with a publication time, and stays private', async () => {
    const security = await store.security()
    await store.secure(PRIVATE_SECURITY)
    await remove('tilecouch')
    assert.deepEqual((await look(store)).said, ['no-mark tilecouch'])
    assert.deepEqual((await look(store, { fix: true })).report.repair?.repaired, { 'no-mark': 1 })
    const { type, schema, published } = await store.couch.get('tilecouch')
    assert.deepEqual([type, schema, Boolean(published)], ['store', 1, true])
    assert.deepEqual(await store.security(), PRIVATE_SECURITY)
    await store.secure(security)
  })

  it('gets missing design documents, but keeps those of another version', async () => {
    await remove('_design/versions')
    await store.couch.put({ ...await store.couch.get('_design/tiles'), version: 'of tomorrow' })
    assert.deepEqual((await look(store)).said, ['no-design _design/versions', 'other-design _design/tiles'])
    const { report } = await look(store, { fix: true })
    assert.deepEqual([report.repair?.repaired, report.repair?.remaining, report.repair?.faults],
      [{ 'no-design': 1 }, { 'other-design': 1 }, 0])
    await publish(store)
    assert.deepEqual((await look(store)).said, [])
  })

  it('keeps staged design documents until their push is completed', async () => {
    const versions = await store.couch.get('_design/versions')
    await store.couch.put({ ...versions, version: 'of yesterday' })
    await store.couch.put({ _id: '_design/versions-staging', views: versions.views })
    const { report } = await look(store, { fix: true })
    assert.deepEqual(report.repair?.named.map(({ where, reason }) => [where, Boolean(reason)]),
      [['_design/versions', false], ['_design/versions-staging', true]])
    await publish(store)
    await look(store, { fix: true })
    assert.deepEqual((await look(store)).said, [])
  })

  it('gets a lost layer document that agrees with the tiles of all zooms', async () => {
    await store.write([{ layer: 'sea', z: 1, x: 1, y: 1, time: T1, bytes: await tile(1) },
      { layer: 'sea', z: 6, x: 2, y: 2, time: T1, bytes: await tile(2) }])
    const { report } = await look(store, { fix: true })
    assert.equal(report.repair?.repaired['no-layer'], 1)
    assert.deepEqual((await look(store)).said, [])
    await store.couch.bulk(
      await Promise.all(['sea:1:1:1', 'sea:6:2:2', 'layer:sea'].map(
        async _id => ({ _id, _rev: (await store.couch.get(_id))?._rev, _deleted: true })
      ))
    )
  })

  it('gets no design documents if it was never published', async () => {
    const filling = await Store.create(await backend.database(), { public: false })
    try {
      await filling.write([{ layer: 'osm', z: 3, x: 0, y: 0, time: T1, bytes: await tile(1) }])
      const { said, report } = await look(filling, { fix: true })
      assert.deepEqual([said.map(text => text.split(' ')[0]), report.repair?.repaired],
        [['no-layer', 'unpublished'], { 'no-layer': 1 }])
      assert.equal(await filling.couch.get('_design/versions'), undefined)
    } finally {
      await filling.destroy()
    }
  })

  it('gets a new index for a damaged one, and readers are served meanwhile', async function () {
    this.timeout(60000)
    const { during, isWhole } = rebuiltWhile(store, 'osm:3:3:2')
    assert.deepEqual((await look(store)).said, ['index-too-long ocean', 'not-in-index osm:3:3:2'])
    const { served, report } = await during(() => look(store, { fix: true }))
    assert.deepEqual([report.repair?.repaired, report.repair?.faults], [{ 'not-in-index': 1, 'index-too-long': 1 }, 0])
    assert.ok(served.length > 1 && served.every(rows => rows === 17), `${served}`)
    assert.ok(isWhole(), 'the index was built under other functions and then under its own')
    assert.deepEqual((await look(store)).said, [])
  })
})
