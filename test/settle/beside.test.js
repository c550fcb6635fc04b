// Two programs change one tile at the same time: before one request of the first program, the second program does all
// of its work. The tests repeat this for several requests of an expiry or removal.
import assert from 'node:assert/strict'
import { HeadWriter } from '../../core/store/head-writer.js'
import { Store, check, copyLayer, expire, load, mirror, prune, removeEdition,
  removeLayer, removeTiles, resolve } from '../../loader/index.js'
import { manifestDefaults } from '../../loader/load/manifest.js'
import { settleAll, tileAccess } from '../../loader/store/settle.js'
import { Tile } from '../../loader/store/tile.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { publishedStore } from '../support/published.js'
import { dyingStore, interruptedStore, runBeside } from '../support/removals.js'
import { png, seedOf } from '../support/tiles.js'

const T = year => `200${year}-01-01T00:00:00Z`
const YEARS = [1, 2, 3, 4, 5, 6, 7, 8, 9]
const [A, B, C] = [1, 2, 3]
const X = { layer: 'osm', z: 1, x: 0, y: 0 }
const ID = 'osm:1:0:0'

const putsManifest = ({ method, path = '' }) => method === 'PUT' && path.startsWith('manifest')

onEachStore('changes by another program at the same time', backend => {
  let store, url
  beforeEach(async () => { ({ store, url } = await publishedStore(backend)) })
  afterEach(() => store.destroy())

  const edition = (year, tiles, { into = store, layer = 'osm', ...options } = {}) =>
    load(into, memorySource(tiles), { layer, time: T(year), ...options })
  const write = async (year, image, fields) => {
    const { failed } = await (await Store.open(url)).write([{ ...X, time: T(year), bytes: png(image), ...fields }])
    assert.equal(failed, 0)
  }
  const readYears = async (layer = 'osm', from = store) => (
    await Promise.all(YEARS.map(year => from.at(layer, X.z, X.x, X.y, T(year))
      .then(({ bytes }) => ' ABC'[seedOf(bytes)], () => '-')))
  ).join('')
  const assertShown = async (expected, layer = 'osm') => {
    assert.equal(await readYears(layer), expected)
    await resolve(store)
    assert.equal(await readYears(layer), expected, 'and after everything is settled')
  }

  it('a removal between two requests of a batch keeps the tile that is written after it', async () => {
    await edition(1, { '1/0/0': A, '1/0/1': A })
    const outcomes = []
    const batch = new HeadWriter(store.couch,
      { ...tileAccess(store.couch), stored: T(9), report: (tile, outcome) => outcomes.push(outcome) })
    await batch.store([new Tile({ ...X, y: 1, time: T(5), type: 'image/png', bytes: png(B) })])
    await removeTiles(await Store.open(url), 'osm', { only: [X] })
    await batch.store([new Tile({ ...X, time: T(5), type: 'image/png', bytes: png(C) })])
    assert.deepEqual(outcomes, ['advance', 'create'])
    await assertShown('----CCCCC')
  })

  it('an edition that is loaded again during its removal stays, with its document', async () => {
    for (let number = 3; ; number += 4) {
      await edition(1, { '1/0/0': A })
      await edition(5, { '1/0/0': B })
      let isStated = false
      const isDone = await runBeside(url, number, watched => removeEdition(watched, 'osm', T(5)), async () => {
        isStated = (await store.couch.request({ path: '_all_docs', qs: { startkey: 'removed:', endkey: 'removed;' } }))
          .rows.length > 0
        if (isStated) await edition(5, { '1/0/0': C })
      })
      if (isStated) {
        await assertShown('AAAACCCCC')
        assert.deepEqual((await store.editions('osm')).map(({ time }) => time), [T(1), T(5)], `request ${number}`)
      }
      await store.destroy()
      ;({ store, url } = await publishedStore(backend))
      if (!isDone) break
    }
  }).timeout(120000)

  /** Writes A, and an older B whose removal is stated but not settled. */
  const leaveRemoval = async () => {
    await write(5, A)
    const [writtenRun, removalRun] = ['20240101T000000000-aaaa', '20250101T000000000-aaaa']
    await store.write([{ ...X, time: T(3), bytes: png(B) }], { run: writtenRun })
    const removal = { type: 'removed', layer: 'osm', run: removalRun, since: T(3), until: T(3) }
    await store.couch.update(`removed:osm:${removalRun}`, () => removal)
  }

  it('settling that is stopped writes nothing more', async () => {
    await leaveRemoval()
    const stop = new AbortController()
    const access = tileAccess(store.couch, (docs, signal) => {
      stop.abort()
      return store.couch.write(docs, signal)
    })
    await assert.rejects(settleAll(store.couch, 'osm', [ID], { access, signal: stop.signal }), { code: 'ABORTED' })
    assert.ok(await store.couch.get(`${ID}@${T(3)}`))
  })

  it('a version that replaces a removed one of the past is counted', async () => {
    await leaveRemoval()
    const { backfilled, unchanged } = await store.write([{ ...X, time: T(3), bytes: png(C) }])
    assert.deepEqual({ backfilled, unchanged }, { backfilled: 1, unchanged: 0 })
    await assertShown('--CCAAAAA')
  })

  it('a load succeeds while a part of the manifest of another load is missing', async () => {
    const { part } = manifestDefaults
    const { store: into } = await interruptedStore(url, putsManifest, async () => {
      manifestDefaults.part = 1
      await edition(3, { '1/0/0': B, '2/0/0': B })
      manifestDefaults.part = part
      const qs = { startkey: 'manifest:', endkey: 'manifest;' }
      const { rows } = await store.couch.request({ path: '_all_docs', qs })
      const parts = rows.filter(({ id }) => /:\d$/.test(id))
      await store.couch.bulk(parts.map(({ id, value: { rev } }) => ({ _id: id, _rev: rev, _deleted: true })))
      assert.equal(parts.length, 2)
    })
    const { failed } = await edition(5, { '1/0/0': A }, { into, complete: true })
    assert.equal(failed, 0)
    await assertShown('--BBAAAAA')
  })

  it('a load counts a tile as failed that it cannot read again after its image was removed', async () => {
    await edition(1, { '1/0/0': A })
    const { store: into } = await interruptedStore(url, putsManifest, () => removeEdition(store, 'osm', T(1)))
    let reads = 0
    const read = async () => {
      if (reads++) throw new Error('the disk is broken')
      return png(A)
    }
    const failedIds = []
    const { tiles, created, unchanged, failed, failures, edition: { failed: failedOfEdition } } =
      await edition(5, { '1/0/0': read, '1/0/1': B }, { into, onFailure: ({ id }) => failedIds.push(id) })
    assert.deepEqual({ tiles, created, unchanged, failed, failedOfEdition },
      { tiles: 2, created: 1, unchanged: 0, failed: 1, failedOfEdition: 1 })
    assert.deepEqual([failures.map(({ id }) => id), failedIds], [[ID], [ID]])
  })

  it('a copy into a layer without tiles respects its statement that a tile is gone', async () => {
    await edition(1, { '1/0/0': A })
    await edition(5, { '1/0/0': null, '1/0/1': A }, { layer: 'two' })
    await removeTiles(store, 'two', { only: [{ z: 1, x: 0, y: 1 }] })
    await copyLayer(store, 'osm', 'two')
    await assertShown('AAAA-----', 'two')
  })

  it('a copy as of a time leaves out later confirmations of a version', async () => {
    await store.defineLayer('osm', { format: 'png' })
    await write(1, A)
    await write(5, A)
    await edition(3, { '1/0/0': B }, { layer: 'two' })
    await copyLayer(store, 'osm', 'two', { time: T(2) })
    await assertShown('AABBBBBBB', 'two')
  })

  it('a tile that is written again while it expires stays', async () => {
    for (let number = 4; ; number++) {
      await edition(1, { '1/0/1': A })
      await edition(3, { '1/0/0': B })
      await store.couch.update(ID, doc => ({ ...doc, expires: T(6) }))
      const isDone = await runBeside(url, number, watched => expire(watched, { action: 'remove' }), () => write(9, C))
      if (isDone) {
        await resolve(store)
        assert.equal((await readYears())[8], 'C', `request ${number}`)
      }
      await store.destroy()
      ;({ store, url } = await publishedStore(backend))
      if (!isDone) break
    }
  }).timeout(120000)

  it('a tile of which a killed write left a past copy expires at its own time', async () => {
    await write(1, A)
    await write(3, B, { expires: T(6) })
    const head = await store.couch.get(ID)
    const [{ doc }] = await store.couch.docs([ID], { attachments: true })
    const { _rev, _revisions, ...copy } = doc
    await store.couch.write([{ ...copy, _id: `${ID}@${T(3)}`, current: false }])
    await write(4, B)
    assert.notEqual((await store.couch.get(ID))._rev, head._rev, 'it was found unchanged')
    const { ended, refused } = await expire(store, { action: 'remove' })
    assert.deepEqual([ended, refused], [1, 0])
    await assertShown('AABBB----')
  })

  it('an expired tile with a conflict is removed at its own version, and the losing one is shown as past', async () => {
    const { store: otherStore, url: otherUrl } = await publishedStore(backend)
    await load(otherStore, memorySource({ '1/0/0': A }), { layer: 'osm', time: T(1) })
    await store.defineLayer('osm', { format: 'png' })
    await write(3, B, { expires: T(6) })
    await store.couch.update(ID, doc => ({ ...doc })) // so that it wins
    await mirror(otherUrl, url)
    assert.equal(await readYears(), '--BBBBBBB')
    const { ended, removed } = await expire(store, { action: 'remove' })
    assert.deepEqual([ended, removed], [1, 0])
    await assertShown('AABBB----')
    await otherStore.destroy()
  })

  it('a removal of other zooms that never ended is reported, and does not multiply versions', async () => {
    await store.defineLayer('osm', { format: 'png' })
    await write(1, A)
    const { store: dying } = await dyingStore(url, 1)
    await assert.rejects(removeTiles(dying, 'osm', { zooms: { min: 7, max: 7 } }), { code: 'KILLED' })
    for (const year of [2, 3, 4]) await write(year, A)
    assert.deepEqual((await store.versions('osm', X.z, X.x, X.y)).map(({ time }) => time), [T(1)])
    const codesIn = async () => Object.keys((await check(store, { layers: ['osm'], decode: false })).kinds)
    assert.ok((await codesIn()).includes('unfinished-removal'))
    await removeTiles(store, 'osm', { zooms: { min: 7, max: 7 } })
    assert.ok(!(await codesIn()).includes('unfinished-removal'))
  })

  it('a removal of single writes that never ended is found and completed by a check', async () => {
    await store.defineLayer('osm', { format: 'png' })
    for (const [year, image] of [[1, A], [3, B]]) await write(year, image)
    const { store: dying } = await dyingStore(url, 1)
    await assert.rejects(removeTiles(dying, 'osm', { since: T(3), until: T(3) }), { code: 'KILLED' })
    const { kinds, repair } = await check(store, { layers: ['osm'], decode: false, fix: true })
    assert.deepEqual([kinds['not-settled'], repair?.repaired['not-settled']], [1, 1])
    assert.equal(await readYears(), 'AAAAAAAAA')
  })

  it('a layer that is removed and loaded again arrives at a mirror that was away', async () => {
    const tiles = { '1/0/0': A, '1/0/1': B }
    const mirrorUrl = await backend.database()
    await edition(1, tiles)
    await mirror(url, mirrorUrl)
    await removeLayer(store, 'osm')
    await edition(1, tiles)
    const { refused, lacking } = await mirror(url, mirrorUrl)
    assert.deepEqual([refused, lacking], [0, 0])
  })

  it('a check repairs the layer document of a pruned mirror before it looks for images', async () => {
    const mirrorUrl = await backend.database()
    for (const [year, image] of [[1, A], [3, B], [5, C]]) await edition(year, { '1/0/0': image })
    await mirror(url, mirrorUrl)
    const mirrored = await Store.open(mirrorUrl)
    await prune(mirrored, 'osm', { policy: { last: 1 }, compact: 'never' })
    for (const name of ['x', 'y', 'z']) await store.defineLayer('osm', doc => ({ ...doc, name }))
    await mirror(url, mirrorUrl)
    const { kinds, repair } = await check(mirrored, { layers: ['osm'], decode: false, fix: true })
    assert.deepEqual([kinds.conflict, kinds['image-missing'], repair?.repaired], [1, undefined, { conflict: 1 }])
    assert.equal((await mirrored.layer('osm')).name, 'z')
  })

  it('a removal that two masters finish is one document for a check that repairs', async () => {
    const { store: otherStore, url: otherUrl } = await publishedStore(backend)
    await edition(1, { '1/0/0': A })
    const { store: dying } = await dyingStore(url, 1)
    await assert.rejects(removeEdition(dying, 'osm', T(1)), { code: 'KILLED' })
    await mirror(url, otherUrl)
    const [id] = (await store.couch.ranges([{ startkey: 'removed:', endkey: 'removed;' }])).flat().map(row => row.id)
    for (const [master, year] of [[store, 6], [otherStore, 7]]) {
      await master.couch.update(id, doc => ({ ...doc, finished: T(year) }))
    }
    await mirror(otherUrl, url)
    const found = []
    const look = fix => check(store, { layers: ['osm'], decode: false, fix, onFinding: finding => found.push(finding) })
    await look(true)
    assert.ok(found.some(({ code, where }) => code === 'conflict' && where === id))
    found.length = 0
    await look(false)
    assert.ok(!found.some(({ code }) => code === 'conflict'))
    await otherStore.destroy()
  })

  it('an image that one master prunes and another confirms is shown or named as unknown', async () => {
    const { store: otherStore, url: otherUrl } = await publishedStore(backend)
    await edition(1, { '1/0/0': A })
    await mirror(url, otherUrl)
    await edition(3, { '1/0/0': B })
    await edition(5, { '1/0/0': A }, { into: otherStore })
    await prune(store, 'osm', { policy: { last: 1 }, compact: 'never' })
    for (const [from, to] of [[url, otherUrl], [otherUrl, url]]) await mirror(from, to)
    const summaries = await Promise.all([store, otherStore].map(master => resolve(master)))
    const shownByMaster = await Promise.all([store, otherStore].map(master => readYears('osm', master)))
    for (const [index, { named }] of summaries.entries()) {
      assert.ok(shownByMaster[index].endsWith('AAAAA') || named.some(({ id, what }) => id === ID && what === 'unknown'),
        shownByMaster[index])
    }
    await otherStore.destroy()
  })

  it('a removal names a version that it leaves because the clock of its writer was ahead', async () => {
    await edition(1, { '1/0/0': A })
    await write(5, B)
    await store.couch.update(ID, doc => ({ ...doc, run: '20990101T000000000-abcd' }))
    const { versions, changed, named } = await removeEdition(store, 'osm', T(5))
    assert.deepEqual([versions, changed, named.map(({ id }) => id)], [0, 1, [ID]])
    await assertShown('AAAABBBBB')
  })

  it('a single write comes after the versions that it met, even with a slow clock', async () => {
    await edition(1, { '1/0/0': A })
    const laterRun = '20990101T000000000-abcd'
    await store.couch.update(`manifest:osm@${T(5)}:${laterRun}`, () => (
      { type: 'manifest', layer: 'osm', time: T(5), run: laterRun, complete: true, tiles: 0, root: 'x', blocks: {} }
    ))
    await write(5, B)
    await assertShown('AAAABBBBB')
  })
})
