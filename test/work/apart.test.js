// Documents about the running of a store concern its administrators. Everything else ignores them, and does not copy or
// show them.
import assert from 'node:assert/strict'
import PouchDB from 'pouchdb-node'
import { until } from '../../bench/wait.js'
import { isAdministrative, parseArea } from '../../core/index.js'
import { backup, check, mirror, restore, Store } from '../../loader/index.js'
import { changesOf } from '../../loader/maintain/repeat.js'
import { Couch } from '../../loader/store/couch.js'
import { json, onEachStore, put } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { square } from '../support/tiles.js'
import { openGateway } from '../support/gateway/stand.js'
import { publishFunctions } from '../support/published.js'

const T1 = '2021-01-01T00:00:00Z'
const RUN = '20240301T101500123-4f9k'
const WORK = { _id: `work:${RUN}`, type: 'work', command: 'load', args: [
  'load', 'private/'
], layer: 'osm', state: 'running', started: T1, seen: T1, user: 'anna' }
/** other kinds, which this validation does not know */
const OTHERS = [{ _id: `activity:${RUN}`, type: 'activity', before: 'private/' },
  { _id: 'token:abc-_1', type: 'token', hash: 'private/' }]
const IDS = [WORK, ...OTHERS].map(({ _id }) => _id)

onEachStore('documents about the running of a store', backend => {
  const folder = useFolder()
  const stage = useStore(backend, {
    once: true,
    fill: async store => {
      await store.defineLayer('osm')
      await store.write(square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 4 + y }))
      for (const doc of [WORK, ...OTHERS]) await store.couch.put(doc)
      await publishFunctions(store)
    }
  })
  const idsOf = async url => (await json(`${url}/_all_docs`)).rows.map(({ id }) => id)
  const assertFree = async url => assert.deepEqual((await idsOf(url)).filter(isAdministrative), [])

  it('are not mirrored, neither with the whole store nor with a part', async () => {
    for (
      const selection of [{}, { layers: ['osm'] }, { area: parseArea({ bbox: '-180,-85,180,85' }) }, { current: true }]
    ) {
      const target = await backend.database()
      const { lacking, tiles } = await mirror(stage.url, target, selection)
      assert.deepEqual([lacking, tiles], [0, 16])
      await assertFree(target)
    }
  }).timeout(60000)

  it('are in no backup, even when they change during it, and make no differences for a restore', async () => {
    const file = folder.path('a.tcb')
    let changes = 0
    const change = async () => { await stage.store.couch.update(WORK._id, doc => ({ ...doc, done: ++changes })) }
    const summary =
      await backup(stage.store, file, { limits: { page: 5 }, onProgress: () => { change().catch(() => {}) } })
    assert.equal(summary.moment, 'store')
    assert.equal(summary.refused, 0)
    const url = await backend.database()
    const restored = await restore([file], url,
      { rights: 'give', onProgress: ({ step }) => { if (step === 'comparing') put(`${url}/${WORK._id}`, WORK) } })
    assert.deepEqual([restored.differences, restored.refused], [0, 0])
    await json(`${url}/${WORK._id}`, { method: 'GET' })
    assert.ok(!(await idsOf(url)).some(id => isAdministrative(id) && id !== WORK._id))
  }).timeout(60000)

  it('are no faults for check, which compares indexes although they change', async () => {
    const report = await check(stage.store)
    assert.deepEqual([report.faults, report.kinds['foreign-document'], report.layers?.map(({ layer }) => layer)],
      [0, undefined, ['osm']])
    const url = await backend.database()
    const store = await Store.create(url)
    await store.defineLayer('osm')
    await store.write(square({ layer: 'osm', time: T1, side: 2, seed: (x, y) => x * 2 + y }))
    await publishFunctions(store)
    // an index with wrong sums
    await store.couch.update('_design/versions',
      design => (
        {
          ...design,
          views: { ...design.views, by_zoom: {
            ...design.views.by_zoom, map: design.views.by_zoom.map.replace('image.length', '2 * image.length')
          } }
        }
      ))
    let count = 0
    const { kinds } = await check(store, { onProgress: () => {
      put(`${url}/work:20240301T101500123-${String(count++).padStart(4, '0')}`, { ...WORK, _id: undefined })
    } })
    assert.ok(count)
    assert.equal(kinds['wrong-sums'], 1)
  })

  it('are accepted in an unmarked store, and do not wake commands that wait for changes', async () => {
    const url = await backend.database()
    const store = new Store(new Couch(url))
    await store.couch.request({ method: 'PUT' })
    await store.couch.put(WORK)
    await store.couch.put({ _id: 'layer:osm', type: 'layer', layer: 'osm' })
    await store.checkIsStore()
    const controller = new AbortController()
    let woken = 0
    const end = await changesOf(store, controller.signal)(() => woken++)
    const before = woken
    await store.couch.update(WORK._id, doc => ({ ...doc, done: 5 }))
    await store.couch.update('layer:osm', doc => ({ ...doc, name: 'x' }))
    await until(() => woken > before)
    assert.equal(woken, before + 1)
    controller.abort()
    await end()
  })

  describe('through a gateway', () => {
    let gateway, db
    before(async () => {
      gateway = await openGateway(stage.url)
      db = `${gateway.url.replace(/\/$/, '')}/db`
    })
    after(() => gateway.close())
    const key = value => encodeURIComponent(JSON.stringify(value))

    it('are hidden at every address', async () => {
      const rev = (await json(`${stage.url}/${WORK._id}`))._rev
      const texts = IDS.flatMap(id => [`/${id}`, `/${encodeURIComponent(id)}?revs=true`,
        `/${id}?rev=${rev}`, `/${id}?open_revs=all`, `/${id}?open_revs=${key([rev])}&latest=true`])
      texts.push('/_all_docs?include_docs=true', `/_all_docs?include_docs=true&startkey=${key('work:')}&` +
        `endkey=${key('work;')}`, `/_all_docs?include_docs=true&keys=${key(IDS)}`,
        `/_all_docs?include_docs=true&key=${key(WORK._id)}`,
        `/_all_docs?include_docs=true&descending=true&startkey=${key('z')}`, '/_changes?include_docs=true',
        '/_design/versions/_view/conflicts?reduce=false&include_docs=true')
      // CouchDB takes the last of two spellings, and a range before a key
      const all = '/_all_docs?include_docs=true'
      for (const kind of ['work', 'activity', 'token']) {
        const [low, high] = [key(`${kind}:`), key(`${kind};`)]
        texts.push(`${all}&startkey=${key('zzz')}&start_key=${low}`, `${all}&start_key=${low}&startkey=${key('zzz')}`,
          `${all}&endkey=${key('a')}&end_key=${high}`, `${all}&startkey=${low}&endkey=${high}&key=${key('osm:3:0:0')}`,
          `${all}&key=${key('osm:3:0:0')}&startkey=${low}`, `${all}&keys=${key(['osm:3:0:0'])}&startkey=${low}`,
          `${all}&startkey=${key('zzz')}&startkey=${low}`, `${all}&endkey=${key('a')}&endkey=${high}`)
      }
      for (const text of texts) {
        const answer = await fetch(db + text, { headers: { accept: 'application/json' } })
        assert.doesNotMatch(await answer.text(), /private\//, text)
      }
      const questions = [['/_bulk_get', { docs: IDS.map(id => ({ id })) }], ['/_bulk_get?revs=true&' +
        'latest=true', { docs: [{ id: WORK._id, rev }] }], ['/_all_docs?include_docs=true', { keys: IDS }],
        ['/_all_docs/queries', { queries: [{ include_docs: true }, { keys: IDS, include_docs: true }] }],
        ['/_changes?include_docs=true&filter=_selector', { selector: { _id: { $regex: '^(work|token)' } } }],
        ['/_changes?include_docs=true&filter=_doc_ids', { doc_ids: IDS }]]
      for (const [text, body] of questions) {
        const answer = await fetch(db + text,
          { method: 'POST', headers: {
            'content-type': 'application/json', accept: 'application/json'
          }, body: JSON.stringify(body) })
        assert.doesNotMatch(await answer.text(), /private\//, text)
      }
    })

    it('are the only documents that are hidden', async () => {
      const allDocs = await json(`${db}/_all_docs?include_docs=true`)
      assert.deepEqual(allDocs.rows.map(({ id }) => id), (await idsOf(stage.url)).filter(id => !isAdministrative(id)))
      const { results } = await json(`${db}/_changes?include_docs=true`)
      assert.equal(results.filter(({ doc }) => doc?.type === 'tile').length, 16)
      const { rows } = await json(`${db}/_all_docs?include_docs=true&startkey=${key('osm:')}&endkey=${key('osm;')}`)
      assert.equal(rows.length, 16)
    })

    it('let replications end without them', async () => {
      const target = await backend.database()
      const { tiles, lacking } = await mirror(db, target, {})
      assert.deepEqual([tiles, lacking], [16, 0])
      await assertFree(target)
      const pouch = new PouchDB(folder.path('pouch'))
      try {
        await PouchDB.replicate(db, pouch)
        const { rows } = await pouch.allDocs()
        assert.equal(rows.filter(({ id }) => /^osm:/.test(id)).length, 16)
        assert.ok(!rows.some(({ id }) => isAdministrative(id)))
      } finally {
        await pouch.close()
      }
    })
  })
})
