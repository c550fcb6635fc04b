// Faults of a whole store: found, repaired if there is one right fix, and then not found any more. A check alone writes
// nothing. Also stores of an earlier release.
import assert from 'node:assert/strict'
import { PRIVATE_SECURITY, RESERVED, Store, check, copyLayer, load, moveLayer, publish,
  upgrade } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { written } from '../../loader/store/revisions.js'
import { digestOf } from '../../loader/store/tile.js'
import { SCHEMA } from '../../loader/store/marker.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { BY_TILE } from '../../loader/store/reader.js'
import { onEachStore, post, request } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { document, flipped, tile } from '../support/sample-tiles.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { plant, rebuiltWhile } from './damage.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']

/** Runs a check and collects its findings. */
async function look (store, options) {
  const findings = []
  const report = await check(store, { decode: false, onFinding: finding => findings.push(finding), ...options })
  return { report, found: findings, said: findings.map(({ code, where }) => `${code} ${where}`).sort() }
}

/** The state of a database, as far as it is visible: any write changes it. */
async function stateOf (store) {
  const { update_seq: seq, doc_count: docs, doc_del_count: deleted } = await store.info()
  return { seq: parseInt(seq), docs, deleted, security: await store.security() }
}

onEachStore('a whole store', backend => {
  let store
  const fill = async opened => {
    store = opened
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3, bounds: [-180, -85, 180, 85], format: 'png' })
    for (const [time, seed] of [[T1, 1], [T2, 50]]) {
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

  it('has no findings if it is sound, and is not changed by a check or a repair', async () => {
    const before = await stateOf(store)
    const { report, said } = await look(store, { decode: true })
    assert.deepEqual(said, [])
    assert.deepEqual(report.layers,
      [{ layer: 'osm', tiles: 8, versions: 16, bytes: report.bytes, faults: 0, warnings: 0 }])
    assert.equal(report.repair, undefined)
    assert.deepEqual(await stateOf(store), before)
    assert.deepEqual((await look(store, { fix: true })).report.repair,
      { repaired: {}, remaining: {}, faults: 0, warnings: 0, named: [] })
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
    await remove('_design/tiles') // otherwise the validation refuses these documents
    const [mark, layer, edition, versions] = await Promise.all(
      ['tilecouch', 'layer:osm', `edition:osm@${T1}`, '_design/versions'].map(id => store.couch.get(id))
    )
    const conflictOf = (doc, letter, fields) =>
      ({ ...doc, ...fields, _rev: `1-${letter.repeat(32)}`, _revisions: { start: 1, ids: [letter.repeat(32)] } })
    await plant(store, [
      conflictOf(layer, 'a', { attribution: 'somebody' }), conflictOf(edition, 'a', { title: 'the first' }),
      conflictOf(mark, 'a', { created: T3 }), conflictOf(versions, '0', { views: {} }),
      await document('relief:4:1:1', {}, tile(7)), await document('relief:5:2:3', {}, tile(8)),
      await document('osm:2:0:1', {}, tile(9)),
      await document(`osm:3:3:1@${T2}`, {}, tile(51)),
      { _id: 'notes', text: 'mine' },
      { _id: 'edition:gone@2020-01-01T00:00:00Z', type: 'edition', layer: 'gone', time: '2020-01-01T00:00:00Z' },
      { _id: '_design/mine', views: { all: { map: '(function (doc) { emit(doc._id) })' } } },
      { _id: '_design/versions-staging', language: 'javascript', views: versions.views }
    ])
    const wrongLayer = { ...await store.couch.get('layer:osm'), layer: 'ocean', minzoom: 5, maxzoom: 4 }
    await store.couch.put({ ...wrongLayer, bounds: [-20, -10, -10, 10] })
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
    const first = await look(store)
    assert.deepEqual(first.said, expected)
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

  it('counts conflicts that were too many for one repair as left, and the next repair repairs them', async () => {
    const ids = [T1, T2].map(time => `edition:osm@${time}`)
    const editions = await Promise.all(ids.map(id => store.couch.get(id)))
    const rev = { _rev: `1-${'c'.repeat(32)}`, _revisions: { start: 1, ids: ['c'.repeat(32)] } }
    await plant(store, editions.map(edition => ({ ...edition, title: 'other', ...rev })))
    const repairOf = async () => (await look(store, { fix: true, limits: { gather: 1 } })).report.repair
    const { repaired, remaining, faults, named } = await repairOf()
    assert.deepEqual([repaired, remaining, faults, named.map(({ where }) => where)],
      [{ conflict: 1 }, { conflict: 1 }, 1, [ids[1]]])
    const second = await repairOf()
    assert.deepEqual([second.repaired, second.remaining, second.faults], [{ conflict: 1 }, {}, 0])
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
    await store.couch.bulk(await Promise.all(['sea:1:1:1', 'sea:6:2:2', 'layer:sea'].map(
      async _id => ({ _id, _rev: (await store.couch.get(_id))?._rev, _deleted: true })
    )))
  })

  it('gets no design documents if it was never published', async () => {
    const filling = await Store.create(await backend.database(), { public: false })
    await filling.write([{ layer: 'osm', z: 3, x: 0, y: 0, time: T1, bytes: await tile(1) }])
    const { said, report } = await look(filling, { fix: true })
    assert.deepEqual([said.map(text => text.split(' ')[0]), report.repair?.repaired],
      [['no-layer', 'unpublished'], { 'no-layer': 1 }])
    assert.equal(await filling.couch.get('_design/versions'), undefined)
    await filling.destroy()
  })

  it('gets a new index for a damaged one, and readers are served meanwhile', async () => {
    const { during, isWhole } = rebuiltWhile(store, 'osm:3:3:2')
    assert.deepEqual((await look(store)).said, ['index-too-long ocean', 'not-in-index osm:3:3:2'])
    const { served, report } = await during(() => look(store, { fix: true }))
    assert.deepEqual([report.repair?.repaired, report.repair?.faults], [{ 'not-in-index': 1, 'index-too-long': 1 }, 0])
    assert.ok(served.length > 1 && served.every(rows => rows === 17), `${served}`)
    assert.ok(isWhole(), 'the index was built under other functions and then under its own')
    assert.deepEqual((await look(store)).said, [])
  }).timeout(60000)
})

// Bytes that a disk has damaged. They are found and not repaired, and correct after a deletion and a new load.

/** A past version with the revision that every store gives it when it moves to the past. */
async function movedToPast (id, seed) {
  const bytes = await tile(seed)
  const image = { content_type: 'image/png', data: bytes.toString('base64'), digest: digestOf(bytes) }
  return written({ ...await document(id), _attachments: { tile: image } })
}

onEachStore('damaged bytes', backend => {
  let store
  const damaged = new Set()
  useStore(backend, { once: true, public: false, async fill (opened) {
    store = opened
    const docs = await Promise.all(
      [0, 1, 2, 3].flatMap(y => [document(`osm:3:1:${y}`, {}, tile(y)),
        y === 1 ? document(`osm:3:1:${y}@${T1}`, {}, tile(10 + y)) : movedToPast(`osm:3:1:${y}@${T1}`, 10 + y)])
    )
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
    await plant(store, docs)
    for (const id of ['osm:3:1:0', 'osm:3:1:3', `osm:3:1:1@${T1}`, `osm:3:1:2@${T1}`]) {
      damaged.add((await store.couch.get(id))._rev)
    }
    // Every reader gets the damaged bytes, until the documents are written again.
    store.couch.request = async options => {
      const answer = await Couch.prototype.request.call(store.couch, options)
      if (options.path === '_bulk_get' && Array.isArray(answer)) {
        for (const { doc } of answer) if (damaged.has(doc?._rev) && doc._attachments.tile.data) {
          const { tile: image } = doc._attachments
          image.data = flipped(image.data, image.data.indexOf('IDAT') + 9)
        }
      }
      return answer
    }
  } })

  const lookAtBytes = async options => {
    const findings = []
    const report = await check(store,
      { layers: ['osm'], decode: false, onFinding: ({ code, where }) => findings.push(`${code} ${where}`), ...options })
    return { found: findings.filter(text => text.startsWith('wrong-digest')).sort(), report }
  }
  const faults = ['osm:3:1:0', `osm:3:1:1@${T1}`, `osm:3:1:2@${T1}`, 'osm:3:1:3'].map(id => `wrong-digest ${id}`).sort()

  it('are found, and are not changed by a repair', async () => {
    assert.deepEqual((await lookAtBytes()).found, faults)
    const { report } = await lookAtBytes({ fix: true })
    assert.deepEqual([report.repair?.repaired, report.repair?.remaining], [{}, { 'wrong-digest': 4 }])
    assert.deepEqual((await lookAtBytes()).found, faults)
  })

  it('are correct after their documents were deleted and loaded again', async () => {
    const ids = faults.map(text => text.slice('wrong-digest '.length))
    const rows = await store.couch.docs(ids)
    await store.couch.write(rows.map(({ doc: { _id, _rev } }) => ({ _id, _rev, _deleted: true })))
    await load(store, memorySource({ '3/1/0': 1, '3/1/3': 2 }), { layer: 'osm', time: T2 })
    await load(store, memorySource({ '3/1/1': 3, '3/1/2': 4 }), { layer: 'osm', time: T1 })
    const { found: findings, report } = await lookAtBytes()
    assert.deepEqual([findings, report.faults], [[], 0])
    const seeds = { 'osm:3:1:0': 1, 'osm:3:1:3': 2, [`osm:3:1:1@${T1}`]: 3, [`osm:3:1:2@${T1}`]: 4 }
    for (const [id, seed] of Object.entries(seeds)) {
      const [{ doc }] = await store.couch.docs([id], { attachments: true })
      assert.ok(png(seed).equals(doc._attachments.tile.data), id)
    }
  })
})

// Names that new layers may not have, and a store with an older layer of such a name.

const versionOf = (layer, time, seed) => ({ layer, z: 3, x: 1, y: 2, time, bytes: png(seed) })

onEachStore('reserved names', backend => {
  let store
  useStore(backend, { fill: opened => { store = opened } })

  it('are refused for new, copied and renamed layers', async () => {
    await store.defineLayer('osm', {})
    for (const name of RESERVED) {
      await assert.rejects(store.defineLayer(name, {}), { code: 'BAD_LAYER' })
      await assert.rejects(copyLayer(store, 'osm', name), { code: 'BAD_LAYER' })
      await assert.rejects(moveLayer(store, 'osm', name), { code: 'BAD_LAYER' })
    }
    assert.deepEqual((await store.layers()).map(({ layer }) => layer), ['osm'])
  })

  for (const name of ['db', 'work']) {
    it(`of an existing layer, such as ${name}, are reported, and the layer can be read and renamed`, async () => {
      const works = ['20240301T101500123-4f9k', '10240301T101500123-4f9k', '99990301T101500123-4f9k'].map(
        run => ({ _id: `work:${run}`, type: 'work', command: 'load', state: 'done', started: T2, seen: T2 })
      )
      for (const work of works) await store.couch.put(work)
      await store.couch.put({ _id: `layer:${name}`, type: 'layer', layer: name, minzoom: 3, maxzoom: 3 })
      await store.write([versionOf(name, T2, 1), versionOf(name, T3, 2)])
      await store.putEdition(name, T2, { title: 'First' })
      await publish(store)
      const { kinds, layers } = await check(store)
      assert.deepEqual([Object.keys(kinds), kinds['reserved-name'], layers?.map(({ layer }) => layer)],
        [['reserved-name', 'unfinished-edition', 'odd-size'], 1, [name]])
      assert.deepEqual((await store.at(name, 3, 1, 2, '2022')).bytes, png(1))
      const heads = []
      for await (const { id } of store.heads(name)) heads.push(id)
      assert.deepEqual(heads, [`${name}:3:1:2`])
      assert.equal((await store.defineLayer(name, { name: 'Old' })).name, 'Old')
      assert.equal((await moveLayer(store, name, 'base')).done, true)
      assert.deepEqual((await store.versions('base', 3, 1, 2)).map(({ time }) => time), [T2, T3])
      assert.deepEqual((await store.editions('base')).map(({ title }) => title), ['First'])
      assert.equal((await check(store)).kinds['reserved-name'], undefined)
      assert.deepEqual((await store.couch.docs(works.map(({ _id }) => _id))).map(({ deleted }) => deleted),
        [false, false, false])
    }).timeout(30000)
  }
})

onEachStore('a store of an earlier release', backend => {
  let url, store

  /**
   * A store as an earlier program left it: without the store document, with old design documents, one of them missing.
   */
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    await request(url, { method: 'PUT' })
    const docs = await Promise.all(Array.from({ length: 6 }, async (_, y) => document(`osm:3:1:${y}`, {}, tile(y))))
    const designs = structuredClone(await ownDesigns())
      .map(({ _attachments, ...doc }) => ({ ...doc, version: 'of yesterday' }))
    const versions = designs.find(({ _id }) => _id === '_design/versions')
    const { by_tile: byTile, by_time: byTime, by_area: byArea, by_zoom: byZoom, conflicts, expiring } = versions.views
    versions.views = { by_tile: byTile, by_time: byTime }
    designs.push(...Object.entries({ sizes: { by_area: byArea, by_zoom: byZoom }, lifecycle: { conflicts, expiring } })
      .map(([name, views]) => ({ ...versions, _id: `_design/${name}`, views })))
    versions.views.by_tile.map = versions.views.by_tile.map.replace('gone: !image', 'gone: image ? false : true')
    const layer = { _id: 'layer:osm', type: 'layer', layer: 'osm', minzoom: 3, maxzoom: 3 }
    await post(`${url}/_bulk_docs`, { docs: [...docs, layer, ...designs] })
    store = await Store.open(url)
  })
  after(() => store.destroy())

  const state = async () => parseInt((await store.info()).update_seq)

  it('is unchanged by a dry run, which lists what to do', async () => {
    const before = await state()
    const { from, to, steps: plannedSteps, designs } = await upgrade(store, { dryRun: true })
    assert.deepEqual([from, to, plannedSteps.map(({ name, done }) => [name, done])], [0, SCHEMA, [['mark', false]]])
    assert.deepEqual(designs.map(({ id, action }) => `${id} ${action}`), ['_design/versions changed',
      '_design/tiles changed', '_design/lifecycle removed', '_design/sizes removed'])
    assert.equal(await state(), before)
  })

  it('is upgraded while it is read, keeps its security and has no faults afterwards', async () => {
    const security = await store.security()
    const served = []
    let isOver = false
    const reading = (async () => {
      while (!isOver) {
        served.push((await store.couch.view(BY_TILE, { startkey: ['osm'], endkey: ['osm', {}], reduce: false })).length)
      }
    })()
    const summary = await upgrade(store).finally(() => { isOver = true })
    await reading
    assert.deepEqual([summary.steps.map(({ done }) => done),
      summary.designs.filter(({ action }) => action === 'unchanged')], [[true], []])
    assert.ok(served.length > 1 && served.every(rows => rows === 6), `${served}`)
    const second = await upgrade(store)
    assert.deepEqual([second.from, second.steps, second.designs.every(({ action }) => action === 'unchanged')],
      [SCHEMA, [], true])
    assert.deepEqual((await check(store)).kinds, {})
    await publish(store)
    assert.deepEqual(await store.security(), security, 'a push does not open it')
  }).timeout(60000)

  it('is refused if its schema is newer, and gets no design documents if it was never published', async () => {
    await store.couch.update('tilecouch', doc => ({ ...doc, schema: SCHEMA + 1 }))
    await assert.rejects(Store.open(url), { code: 'CONFIG_INVALID' })
    await store.couch.update('tilecouch', doc => ({ ...doc, schema: SCHEMA }))
    const filling = await Store.create(await backend.database(), { public: false })
    assert.deepEqual(await upgrade(filling),
      { from: SCHEMA, to: SCHEMA, steps: [], designs: [], skipped: 'the store was never published' })
    assert.equal(await filling.couch.get('_design/tiles'), undefined)
    await filling.destroy()
  })
})
