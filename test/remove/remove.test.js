// What a removal deletes and keeps, on a small layer with every kind of past, and its effect on readers. During loads
// and other removals, no other version is lost, and every invariant holds.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import PouchDB from 'pouchdb-node'
import { OfflineStore } from '../../client/offline/index.js'
import { Remover, parseArea, removeEdition, removeLayer, removeTiles, tileBounds } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { written } from '../../loader/store/revisions.js'
import { until } from '../../bench/wait.js'
import { replication } from '../support/bad-lines.js'
import { startFront } from '../support/client/front.js'
import { useFolder } from '../support/folder.js'
import { as, json, onEachStore, request } from '../support/backends.js'
import { png, yearStart } from '../support/tiles.js'
import { HISTORY, STEP, Z, docsOf, historyOf, interruptedStore, useStage, without } from '../support/removals.js'

const remaining = without(without(HISTORY, (tile, year) => year === '2022'), tile => tile === '1/1')
const noCounts = { changed: 0, refused: 0, named: [], purged: 0, unpurged: 0 }
const LATER = '2021-06-01T00:00:00Z'
const STYLE = { version: 8, sources: {}, layers: [] }
const ID = `osm:${Z}:1:4`
const newest = { layer: 'osm', z: Z, x: 1, y: 4, time: yearStart(2023), bytes: png(40) }

const isWrite = ({ path }) => path === '_bulk_docs'
/** Whether a request is the second step of a load. */
const overwritesHead = options => docsOf(options).some(({ _id, _rev, _deleted }) => _id === ID && _rev && !_deleted)
/** A predicate for the n-th request that writes documents. */
const nth = number => options => isWrite(options) && number-- === 0

onEachStore('removing', backend => {
  const folder = useFolder()
  let store, url, reset
  useStage(backend, stage => ({ store, url, reset } = stage))

  const sizeOf = (...seeds) => seeds.reduce((sum, seed) => sum + (seed === null ? 0 : png(seed).length), 0)
  const editions = async () => (await store.editions('osm')).map(({ title }) => title)
  const write = async doc => { for (const { error } of await store.couch.bulk([doc])) assert.equal(error, undefined) }
  const deleteDoc = async id => write({ _id: id, _rev: (await store.couch.get(id))._rev, _deleted: true })

  it('whole tiles are removed, with their past', async () => {
    const only = [{ z: Z, x: 1, y: 1 }, { z: Z, x: 1, y: 4 }, { z: Z, x: 9, y: 9 }]
    assert.deepEqual(await removeTiles(store, 'osm', { only }),
      { ...noCounts, tiles: 2, versions: 4, bytes: sizeOf(1, 4, 14, 24), heads: 2, fallen: 0, editions: 0 })
    assert.deepEqual(await historyOf(url), without(HISTORY, tile => ['1/1', '1/4'].includes(tile)))
    assert.deepEqual(await editions(), ['2020', '2021', '2022'], 'editions are of the whole layer')
  })

  it('only tiles of the area and the zooms are removed', async () => {
    const [west, south, east, north] = tileBounds(Z, 1, 2)
    const area = parseArea({ bbox: [west + 1, south + 0.1, east - 1, north - 0.1] })
    await removeTiles(store, 'osm', { area, zooms: { min: 0, max: Z - 1 } })
    assert.deepEqual(await historyOf(url), HISTORY)
    const { tiles } = await removeTiles(store, 'osm', { area })
    assert.equal(tiles, 1)
    assert.deepEqual(await historyOf(url), without(HISTORY, tile => tile === '1/2'))
  })

  it('a dry run returns the same as the removal, and changes nothing', async () => {
    for (const remove of [options => removeEdition(store, 'osm', yearStart(2022), options),
      options => removeTiles(store, 'osm', { since: '2021', ...options }),
      options => removeLayer(store, 'osm', options)]) {
      const { update_seq: seq } = await store.info()
      const planned = await remove({ dryRun: true })
      assert.equal((await store.info()).update_seq, seq)
      assert.deepEqual(await remove({}), planned)
    }
  })

  it('heads fall back when the newest edition is removed, also to a gone version', async () => {
    assert.deepEqual(await removeEdition(store, 'osm', yearStart(2022)),
      { ...noCounts, tiles: 5, versions: 5, bytes: sizeOf(23, 24, 26, 27), heads: 1, fallen: 4, editions: 1 })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
    assert.deepEqual(await editions(), ['2020', '2021'])
    assert.equal((await store.couch.get(`osm:${Z}:2:1`)).gone, true)
  })

  it('an edition of the past is removed, and heads keep their stored time and fields', async () => {
    const head = await store.couch.get(`osm:${Z}:1:4`)
    await removeEdition(store, 'osm', yearStart(2021))
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2021'))
    assert.deepEqual(await store.couch.get(`osm:${Z}:1:4`), head)
  })

  it('a head that falls back is the earlier version, with all of its fields', async () => {
    const past = await store.couch.get(`osm:${Z}:1:2@${yearStart(2020)}`)
    await removeTiles(store, 'osm', { since: '2021' })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year !== '2020'))
    const { _id, _rev, _attachments, ...head } = await store.couch.get(`osm:${Z}:1:2`)
    const { _id: id, _rev: rev, _attachments: image, ...expected } = past
    assert.deepEqual(head, { ...expected, current: true }, 'every field')
    assert.equal(_attachments.tile.digest, image.tile.digest)
    assert.deepEqual(await editions(), ['2020'], 'the editions of the time went, too')
  })

  it('a period is removed, its ends included, and so is everything up to a time', async () => {
    await removeTiles(store, 'osm', { since: '2021', until: '2021' })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2021'))
    await removeTiles(store, 'osm', { until: '2020-01-01' })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year !== '2022'))
  })

  it('a tile with a copy of its head in the past falls back below both', async () => {
    const head = await store.couch.get(`osm:${Z}:1:2`)
    await store.write([{ layer: 'osm', z: Z, x: 1, y: 2, time: yearStart(2023), bytes: png(50) }])
    const [copy] = await store.couch.docs([`osm:${Z}:1:2@${yearStart(2021)}`], { attachments: true })
    assert.equal(copy.doc.time, head.time)
    await removeEdition(store, 'osm', yearStart(2023))
    const { time } = await store.couch.get(`osm:${Z}:1:2@${yearStart(2021)}`)
    assert.equal(time, head.time, 'the copy stays where it is')
    await removeEdition(store, 'osm', yearStart(2021))
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2021'))
  })

  it('a tile whose head was deleted gets the newest version as its head, or is removed', async () => {
    for (const tile of ['1:4', '2:1']) await deleteDoc(`osm:${Z}:${tile}`)
    await removeEdition(store, 'osm', yearStart(2021))
    const left = without(HISTORY, (tile, year) => year === '2021' || (['1/4', '2/1'].includes(tile) && year === '2022'))
    assert.deepEqual(await historyOf(url), left)
    await deleteDoc(`osm:${Z}:1:3`)
    await removeTiles(store, 'osm', { only: [{ z: Z, x: 1, y: 3 }] })
    assert.deepEqual(await historyOf(url), without(left, tile => tile === '1/3'))
  })

  it('a head of a removed edition that another program writes again is not kept by the next write', async () => {
    const [{ doc: removedHead }] = await store.couch.docs([ID], { attachments: true })
    await removeEdition(store, 'osm', yearStart(2022))
    await write({ ...removedHead, _rev: (await store.couch.get(ID))._rev })
    assert.equal((await store.write([newest])).failed, 0)
    const remainingHistory = without(HISTORY, (tile, year) => year === '2022')
    assert.deepEqual(await historyOf(url), { ...remainingHistory, '1/4': { ...remainingHistory['1/4'], 2023: 40 } })
  })

  it('a whole layer is removed, its document last', async () => {
    await deleteDoc(`osm:${Z}:1:4`)
    await store.write([{ layer: 'osmosis', z: Z, x: 1, y: 1, time: yearStart(2020), bytes: png(1) }])
    const tally = await removeLayer(store, 'osm')
    assert.deepEqual([tally.tiles, tally.heads, tally.versions, tally.editions, tally.left], [6, 6, 13, 3, 0])
    const { rows } = await json(`${url}/_all_docs`)
    assert.deepEqual(rows.map(({ id }) => id).filter(id => /osm/.test(id)), [`osmosis:${Z}:1:1`])
    await assert.rejects(removeLayer(store, 'osm'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(removeTiles(store, 'osm', {}), { code: 'LAYER_NOT_FOUND' })
    await removeLayer(store, 'osmosis')
  })

  it('a whole layer is removed with all leaves of its styles', async () => {
    const styleOf = name => (
      { _id: `style:osm@${LATER}`, type: 'style', layer: 'osm', time: LATER, style: { ...STYLE, name } })
    const docs = ['a', 'b'].map(name => written(styleOf(name)))
    assert.deepEqual(await peerOf(store.couch).write(docs), [])
    await removeLayer(store, 'osm')
    const { rows } = await json(`${url}/_all_docs`)
    assert.deepEqual(rows.map(({ id }) => id).filter(id => /osm/.test(id)), [])
  })

  it('in batches of two tiles removes the same', async () => {
    const progress = []
    await removeEdition(store, 'osm', yearStart(2022),
      { limits: { batch: 2 }, onProgress: ({ tiles }) => progress.push(tiles) })
    assert.deepEqual([progress.length > 2, progress.at(-1)], [true, 5])
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
  })

  it('stops between two batches on a signal, and is finished by the next run', async () => {
    const controller = new AbortController()
    const options = { limits: { batch: 2 } }
    await assert.rejects(removeEdition(store, 'osm', yearStart(2022),
      { ...options, signal: controller.signal, onProgress: () => controller.abort() }), { code: 'ABORTED' })
    const remainingHistory = await historyOf(url)
    assert.notDeepEqual(remainingHistory, HISTORY)
    assert.deepEqual(await editions(), ['2020', '2021', '2022'], 'the edition is not gone before its last version is')
    await removeEdition(store, 'osm', yearStart(2022), options)
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
  })

  it('named versions of several tiles and times are removed', async () => {
    const remover = new Remover(store)
    for await (const tile of store.listTiles('osm')) {
      await remover.take(tile, tile.versions.filter(({ y, time }) => (y + Number(time.slice(0, 4))) % 2))
    }
    await remover.finish()
    assert.deepEqual(await historyOf(url),
      without(HISTORY, (tile, year) => (Number(tile.split('/')[1]) + Number(year)) % 2 === 1))
  })

  const removeBoth = async () => {
    await removeEdition(store, 'osm', yearStart(2022))
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 1 }] })
  }

  it('is removed from an offline area when the area is refreshed', async () => {
    const front = await startFront(url, { files: async () => ({}) })
    const { username, password } = new URL(url)
    const offline =
      new OfflineStore({ remote: as(front.url, username, password), name: join(folder.dir, 'device'), PouchDB })
    try {
      await offline.ready
      const area =
        await offline.areas.add({ name: 'all', layer: 'osm', bbox: [-180, -85, 180, 85], zooms: '4', history: true })
      await area.download()
      const [{ db }] = offline.databases('osm')
      const timeOnDevice = async y => (await db.get(`osm:4:1:${y}`).catch(() => undefined))?.time
      assert.deepEqual([await timeOnDevice(1), await timeOnDevice(4)], [yearStart(2020), yearStart(2022)])
      await removeBoth()
      await area.refresh()
      assert.deepEqual([await timeOnDevice(1), await timeOnDevice(4)], [undefined, yearStart(2021)])
    } finally {
      await offline.close()
      await front.close()
    }
  }).timeout(60000)

  it('leaves the memory of a gateway within a second, where the version before is shown', async () => {
    const gateway = await startGateway({ db: url, port: 0, logLevel: 'silent' })
    try {
      const get = async tile => (await fetch(`${gateway.url}/osm/4/${tile}.png`))
      const [, etagBefore] = [await get('1/1'), await get('1/4')].map(answer => answer.headers.get('etag'))
      assert.equal((await get('1/1')).status, 200)
      await removeBoth()
      await until(async () => (await get('1/1')).status === 404, { timeout: 1000 })
      const { headers } = await get('1/4')
      assert.notEqual(headers.get('etag'), etagBefore)
      assert.equal(headers.get('etag'), `"${(await store.couch.get('osm:4:1:4'))._attachments.tile.digest.slice(4)}"`)
      assert.equal((await get('1/11')).status, 404)
    } finally {
      await gateway.close()
    }
  }).timeout(30000)

  it('reaches a mirror in its next run, and heads fall back there too', async () => {
    const mirrorUrl = await backend.database()
    await request(mirrorUrl, { method: 'PUT' })
    const mirror = () => replication(url, mirrorUrl).run()
    await mirror()
    assert.deepEqual(await historyOf(mirrorUrl), HISTORY)
    await removeBoth()
    await mirror()
    assert.deepEqual(await historyOf(mirrorUrl), remaining)
    if (backend.name === 'embedded') return
    // a version that was purged before the mirror read its deletion stays in the mirror
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 2 }], purge: true, limits: { heard: 0 } })
    await mirror()
    assert.deepEqual(await historyOf(mirrorUrl), remaining)
    assert.equal((await request(`${url}/osm:4:1:2`)).status, 404)
  }).timeout(60000)

  if (backend.name === 'embedded') {
    it('with purge, is refused if the store cannot purge', async () => {
      for (const remove of [() => removeEdition(store, 'osm', yearStart(2022), { purge: true }),
        () => removeLayer(store, 'osm', { purge: true }), () => removeTiles(store, 'osm', { purge: true })]) {
        await assert.rejects(remove(), { code: 'PURGE_UNSUPPORTED' })
      }
      assert.deepEqual(await historyOf(url), HISTORY)
    })
  }

  describe('while a load is between its two steps', () => {
    const loadAround = async (duringLoad, done = 'advanced') => {
      const { store: loading, moment } = await interruptedStore(url, overwritesHead, duringLoad)
      const summary = await loading.write([newest])
      assert.deepEqual([moment.come, summary[done], summary.failed], [true, 1, 0])
    }

    it('and the head falls back: the removed version does not return, and the load stays', async () => {
      await loadAround(() => removeEdition(store, 'osm', yearStart(2022)))
      const remainingHistory = without(HISTORY, (tile, year) => year === '2022')
      assert.deepEqual(await historyOf(url), { ...remainingHistory, '1/4': { ...remainingHistory['1/4'], 2023: 40 } })
    })

    it('and the tile is removed: only the load stays', async () => {
      await loadAround(() => removeTiles(store, 'osm', { only: [newest] }), 'created')
      assert.deepEqual(await historyOf(url), { ...HISTORY, '1/4': { 2023: 40 } })
    })
  })

  const columns = Object.keys(HISTORY).map(tile => tile.split('/').map(Number))
  const loadsOf = (time, seed) => columns.map(([x, y]) => ({ layer: 'osm', z: Z, x, y, time, bytes: png(seed) }))
  const otherWork = {
    'a load of a newer time': { run: () => store.write(loadsOf(yearStart(2023), 41)), adds: { 2023: 41 } },
    'a load of an older time': { run: () => store.write(loadsOf(LATER, 42)), adds: { '2021-06': 42 } },
    'another removal': { run: () => removeEdition(store, 'osm', yearStart(2021)), removes: '2021' }
  }
  const removals = {
    'the newest edition': [own => removeEdition(own, 'osm', yearStart(2022)), (tile, year) => year === '2022'],
    'whole tiles': [own => removeTiles(own, 'osm', { only: columns.map(([x, y]) => ({ z: Z, x, y })) }), () => true]
  }
  for (const [removal, [remove, isRemoved]] of Object.entries(removals)) {
    for (const [other, { run, adds = {}, removes }] of Object.entries(otherWork)) {
      it(`${other} before any write of removing ${removal} loses no other version`, async () => {
        for (let number = 0, hasCome = true; hasCome; number += STEP) {
          const { store: removing, moment } = await interruptedStore(url, nth(number), run)
          await remove(removing)
          hasCome = moment.come
          const between = await historyOf(url)
          const stays = without(HISTORY, (tile, year) => isRemoved(tile, year) || year === removes)
          for (const [tile, years] of Object.entries(stays)) {
            for (const [year, seed] of Object.entries(years)) if (!(year in adds)) {
              assert.equal(between[tile]?.[year], seed, `${tile} of ${year}, before write ${number}`)
            }
          }
          if (hasCome && removal === 'the newest edition') for (const tile of Object.keys(HISTORY)) {
            for (const year of Object.keys(adds)) {
              assert.equal(between[tile]?.[year], adds[year], `${tile} of ${year}, before write ${number}`)
            }
          }
          await remove(store)
          if (removes) await run()
          const history = await historyOf(url)
          for (const tile of Object.keys(history)) {
            for (const year of Object.keys(history[tile])) {
              assert.ok(!isRemoved(tile, year) && (year in (stays[tile] ?? {}) || year in adds),
                `${tile} of ${year} is gone, before write ${number}`)
            }
          }
          await reset()
        }
      }).timeout(60000)
    }
  }
})
