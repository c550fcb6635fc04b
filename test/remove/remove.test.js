// What goes and what stays, on a small layer with a past of every kind.
import assert from 'node:assert/strict'
import { parseArea, tileBounds } from '../../core/index.js'
import { removeEdition, removeLayer, removeTiles } from '../../loader/maintain/remove/index.js'
import { Remover } from '../../loader/maintain/remove/remover.js'
import { json, onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { HISTORY, T, Z, historyOf, useStage, without } from '../support/removals.js'

const limits = {}
const nothing = { changed: 0, refused: 0, named: [], purged: 0, unpurged: 0 }

onEachStore('removing', backend => {
  let store, url
  useStage(backend, stage => ({ store, url } = stage))

  const sizeOf = (...seeds) => seeds.reduce((sum, seed) => sum + (seed === null ? 0 : png(seed).length), 0)
  const editions = async () => (await store.editions('osm')).map(({ title }) => title)
  const put = async doc => { for (const { error } of await store.couch.bulk([doc])) assert.equal(error, undefined) }
  const drop = async id => put({ _id: id, _rev: (await store.couch.get(id))._rev, _deleted: true })

  it('whole tiles are removed, with their past', async () => {
    const only = [{ z: Z, x: 1, y: 1 }, { z: Z, x: 1, y: 4 }, { z: Z, x: 9, y: 9 }]
    const tally = await removeTiles(store, 'osm', { only, limits })
    assert.deepEqual(tally,
      { ...nothing, tiles: 2, versions: 4, bytes: sizeOf(1, 4, 14, 24), heads: 2, fallen: 0, editions: 0 })
    assert.deepEqual(await historyOf(url), without(HISTORY, tile => ['1/1', '1/4'].includes(tile)))
    assert.deepEqual(await editions(), ['2020', '2021', '2022'], 'editions are of the whole layer')
  })

  it('only tiles of the area and the zooms are removed', async () => {
    const [west, south, east, north] = tileBounds(Z, 1, 2)
    const area = parseArea({ bbox: [west + 1, south + 0.1, east - 1, north - 0.1] })
    await removeTiles(store, 'osm', { area, zooms: { min: 0, max: Z - 1 }, limits })
    assert.deepEqual(await historyOf(url), HISTORY)
    const { tiles } = await removeTiles(store, 'osm', { area, limits })
    assert.equal(tiles, 1)
    assert.deepEqual(await historyOf(url), without(HISTORY, tile => tile === '1/2'))
  })

  it('a dry run returns the same as the removal, and changes nothing', async () => {
    for (
      const remove of [options => removeEdition(store, 'osm', T(2022), options), options =>
        removeTiles(store, 'osm', { since: '2021', ...options }), options => removeLayer(store, 'osm', options)]
    ) {
      const { update_seq: seq } = await store.info()
      const would = await remove({ dryRun: true, limits })
      assert.equal((await store.info()).update_seq, seq)
      assert.deepEqual(await remove({ limits }), would)
    }
  })

  it('heads fall back when the newest edition is removed, also to a gone version', async () => {
    const tally = await removeEdition(store, 'osm', T(2022), { limits })
    assert.deepEqual(tally,
      { ...nothing, tiles: 5, versions: 5, bytes: sizeOf(23, 24, 26, 27), heads: 1, fallen: 4, editions: 1 })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
    assert.deepEqual(await editions(), ['2020', '2021'])
    assert.equal((await store.couch.get(`osm:${Z}:2:1`)).gone, true)
  })

  it('an edition of the past is removed, and heads keep their stored time and fields', async () => {
    const head = await store.couch.get(`osm:${Z}:1:4`)
    await removeEdition(store, 'osm', T(2021), { limits })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2021'))
    assert.deepEqual(await store.couch.get(`osm:${Z}:1:4`), head)
  })

  it('a head that falls back is the earlier version, with all of its fields', async () => {
    const past = await store.couch.get(`osm:${Z}:1:2@${T(2020)}`)
    await removeTiles(store, 'osm', { since: '2021', limits })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year !== '2020'))
    const { _id, _rev, _attachments, ...head } = await store.couch.get(`osm:${Z}:1:2`)
    const { _id: id, _rev: rev, _attachments: image, ...was } = past
    assert.deepEqual(head, { ...was, current: true }, 'every field')
    assert.equal(_attachments.tile.digest, image.tile.digest)
    assert.deepEqual(await editions(), ['2020'], 'the editions of the time went, too')
  })

  it('a period is removed, its ends included, and so is everything up to a time', async () => {
    await removeTiles(store, 'osm', { since: '2021', until: '2021', limits })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2021'))
    await removeTiles(store, 'osm', { until: '2020-01-01', limits })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year !== '2022'))
  })

  it('a tile with a copy of its head in the past falls back below both', async () => {
    const head = await store.couch.get(`osm:${Z}:1:2`)
    await store.write([{ layer: 'osm', z: Z, x: 1, y: 2, time: T(2023), bytes: png(50) }])
    const [copy] = await store.couch.docs([`osm:${Z}:1:2@${T(2021)}`], { attachments: true })
    assert.equal(copy.doc.time, head.time)
    await removeEdition(store, 'osm', T(2023), { limits })
    assert.equal((await store.couch.get(`osm:${Z}:1:2@${T(2021)}`)).time, head.time, 'the copy stays where it is')
    await removeEdition(store, 'osm', T(2021), { limits })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2021'))
  })

  it('a tile whose head was deleted gets the newest version as its head, or is removed', async () => {
    for (const tile of ['1:4', '2:1']) await drop(`osm:${Z}:${tile}`)
    await removeEdition(store, 'osm', T(2021), { limits })
    const left = without(HISTORY, (tile, year) => year === '2021' || (['1/4', '2/1'].includes(tile) && year === '2022'))
    assert.deepEqual(await historyOf(url), left)
    await drop(`osm:${Z}:1:3`)
    await removeTiles(store, 'osm', { only: [{ z: Z, x: 1, y: 3 }], limits })
    assert.deepEqual(await historyOf(url), without(left, tile => tile === '1/3'))
  })

  it('a whole layer is removed, its document last', async () => {
    await drop(`osm:${Z}:1:4`)
    await store.write([{ layer: 'osmosis', z: Z, x: 1, y: 1, time: T(2020), bytes: png(1) }])
    const tally = await removeLayer(store, 'osm', { limits })
    assert.deepEqual([tally.tiles, tally.heads, tally.versions, tally.editions, tally.left], [6, 6, 13, 3, 0])
    const { rows } = await json(`${url}/_all_docs`)
    assert.deepEqual(rows.map(({ id }) => id).filter(id => /osm/.test(id)), [`osmosis:${Z}:1:1`])
    await assert.rejects(removeLayer(store, 'osm', { limits }), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(removeTiles(store, 'osm', { limits }), { code: 'LAYER_NOT_FOUND' })
    await removeLayer(store, 'osmosis', { limits })
  })

  it('in batches of two tiles removes the same', async () => {
    const seen = []
    await removeEdition(store, 'osm', T(2022),
      { limits: { ...limits, batch: 2 }, onProgress: ({ tiles }) => seen.push(tiles) })
    assert.deepEqual([seen.length > 2, seen.at(-1)], [true, 5])
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
  })

  it('stops between two batches on a signal, and is finished by the next run', async () => {
    const stop = new AbortController()
    const options = { limits: { ...limits, batch: 2 } }
    await assert.rejects(removeEdition(store, 'osm', T(2022),
      { ...options, signal: stop.signal, onProgress: () => stop.abort() }), { code: 'ABORTED' })
    const left = await historyOf(url)
    assert.notDeepEqual(left, HISTORY)
    assert.deepEqual(await editions(), ['2020', '2021', '2022'], 'the edition is not gone before its last version is')
    await removeEdition(store, 'osm', T(2022), options)
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
  })

  it('named versions of several tiles and times are removed', async () => {
    const remover = new Remover(store, { limits })
    for await (const tile of store.listTiles('osm')) {
      await remover.take(tile, tile.versions.filter(({ y, time }) => (y + Number(time.slice(0, 4))) % 2))
    }
    await remover.finish()
    assert.deepEqual(await historyOf(url),
      without(HISTORY, (tile, year) => (Number(tile.split('/')[1]) + Number(year)) % 2 === 1))
  })

  if (backend.name === 'embedded') {
    it('with purge, is refused if the store cannot purge', async () => {
      for (const remove of [() => removeEdition(store, 'osm', T(2022), { purge: true }),
        () => removeLayer(store, 'osm', { purge: true }), () => removeTiles(store, 'osm', { purge: true })]) {
        await assert.rejects(remove(), { code: 'PURGE_UNSUPPORTED' })
      }
      assert.deepEqual(await historyOf(url), HISTORY)
    })
  }
})
