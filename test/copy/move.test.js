// Another name for a layer: nothing is lost on the way, whoever loads meanwhile and whenever it is killed.
import assert from 'node:assert/strict'
import { moveLayer } from '../../loader/maintain/copy/move.js'
import { openService } from '../support/gateway/stand.js'
import { end, until } from '../../bench/wait.js'
import { json, onEachStore } from '../support/backends.js'
import { startCommand } from '../support/command.js'
import { checkInvariants } from '../support/invariants.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'
import { S, T, fill, tilesOf } from '../support/copies.js'

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 1)

onEachStore('renaming a layer', backend => {
  let store, url, service
  useStore(backend, { once: true, published: 'functions', fill: (...own) => { [store, url] = own } })
  after(() => service?.close())

  const documentsOf = async layer => [...await tilesOf(store, layer), ...await store.editions(layer)]

  it('moves tiles, editions and fields to the new name, and a gateway shows them', async () => {
    await fill(store, 'osm')
    await store.defineLayer('osm', { upstream: null })
    const [before, fields, editions] =
      [await tilesOf(store, 'osm'), await store.layer('osm'), await store.editions('osm')]
    service = await openService(url)
    await service.tiles.get('osm', 5, 0, 0)
    const planned = await moveLayer(store, 'osm', 'new', { dryRun: true })
    assert.deepEqual([planned.done, planned.versions], [false, before.length])
    assert.deepEqual(await documentsOf('new'), [])
    const { done, left, versions } = await moveLayer(store, 'osm', 'new')
    assert.deepEqual([done, left, versions], [true, 0, before.length])
    assert.deepEqual(await tilesOf(store, 'new'), before)
    assert.deepEqual(await store.layer('new'), { ...fields, layer: 'new' })
    assert.deepEqual(await store.editions('new'), editions.map(edition => ({ ...edition, layer: 'new' })))
    assert.deepEqual(await documentsOf('osm'), [])
    await assert.rejects(store.layer('osm'), { code: 'LAYER_NOT_FOUND' })
    const { bytes } = (await service.tiles.get('new', 5, 0, 0)).entry
    assert.deepEqual(bytes, png(50))
    await until(async () => await service.tiles.get('osm', 5, 0, 0).then(() => false,
      ({ code }) => ['TILE_NOT_FOUND', 'LAYER_NOT_FOUND'].includes(code)), { what: 'the old name to be forgotten' })
    await checkInvariants(url)
  }).timeout(30000)

  it('reports that it is done when it is run again', async () => {
    await fill(store, 'early')
    await moveLayer(store, 'early', 'late')
    const { done, versions } = await moveLayer(store, 'early', 'late')
    assert.deepEqual([done, versions], [true, 0])
    await assert.rejects(moveLayer(store, 'never', 'late'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(moveLayer(store, 'early', 'other'), { code: 'LAYER_NOT_FOUND' })
  })

  it('back and forth gives the same layer', async () => {
    const before = await tilesOf(store, 'new')
    await moveLayer(store, 'new', 'osm')
    assert.deepEqual(await tilesOf(store, 'osm'), before)
    assert.deepEqual(await documentsOf('new'), [])
  }).timeout(20000)

  it('refuses a new name that a layer or stray tiles already have', async () => {
    await store.defineLayer('taken')
    await store.write([{ layer: 'stray', z: 0, x: 0, y: 0, time: T(1), bytes: png(1) }])
    for (const to of ['taken', 'stray']) await assert.rejects(moveLayer(store, 'osm', to), { code: 'LAYER_EXISTS' })
    await assert.rejects(moveLayer(store, 'nowhere', 'x'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(moveLayer(store, 'osm', 'osm'), { code: 'BAD_OPTION' })
    await assert.rejects(moveLayer(store, 'nowhere', 'taken'), { code: 'LAYER_NOT_FOUND' })
  })

  it('loses no tile of a load at the same time', async () => {
    await fill(store, 'busy')
    const later = square({ layer: 'busy', time: T(20), side: 4, seed: (x, y) => 400 + x + y })
    let loaded
    const { done } = await moveLayer(store, 'busy', 'calm',
      { limits: { tiles: 4 }, onProgress: ({ step }) => {
        if (step === 'copy') loaded ??= store.write(later, { stored: S(20) })
      } })
    await loaded
    const again = done && !(await tilesOf(store, 'busy')).length ? { done } : await moveLayer(store, 'busy', 'calm')
      .catch(async error => {
        // it was done, and what came after is a layer of its own
        assert.equal(error.code, 'LAYER_NOT_FOUND')
        return { done: true }
      })
    assert.equal(again.done, true)
    const all = [...await tilesOf(store, 'calm'), ...await tilesOf(store, 'busy')]
    for (const { x, y } of later) {
      assert.ok(all.some(tile => tile.x === x && tile.y === y && tile.time === T(20)), `${x} ${y}`)
    }
    for (const day of [1, 3]) {
      assert.equal((await tilesOf(store, 'calm')).filter(({ time }) => time === T(day)).length, 16)
    }
    await checkInvariants(url)
  }).timeout(30000)

  it('loses no tile when it is killed, and is completed by another run', async () => {
    const layer = 'osm'
    await store.write(square({ layer, z: 7, time: T(1), side: 8, seed: (x, y) => x + y }))
    await store.write(square({ layer, z: 7, time: T(2), side: 8, seed: (x, y) => 30 + x + y }))
    const before = await tilesOf(store, layer)
    for (let round = 0; round < ROUNDS; round++) {
      const { child } = startCommand(['copy', 'osm', 'killed', '--move', '--db', url])
      const seq = parseInt((await json(url)).update_seq)
      const many = 20 + round * before.length
      await until(async () => child.exitCode !== null || parseInt((await json(url)).update_seq) > seq + many,
        { timeout: 30000, every: 2, what: 'a part of it' })
      await end(child, 'SIGKILL')
      const stands = [...await tilesOf(store, 'killed'), ...await tilesOf(store, layer)]
      for (const { place, time, digest } of before) {
        assert.ok(stands.some(tile => tile.place === place && tile.time === time && tile.digest === digest),
          `${place} ${time}`)
      }
    }
    const { done } = await moveLayer(store, layer, 'killed').catch(() => ({ done: true }))
    assert.equal(done, true)
    assert.deepEqual(await tilesOf(store, 'killed'), before)
    assert.equal((await store.layer('killed')).renaming, undefined)
    assert.deepEqual(await documentsOf(layer), [])
    await checkInvariants(url)
  }).timeout(60000)
})
