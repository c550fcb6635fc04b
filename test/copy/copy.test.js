// A copy equals its layer, whatever it contains and whatever runs meanwhile. A renamed layer loses nothing during loads
// and kills.
import assert from 'node:assert/strict'
import { Store, copyLayer, load, moveLayer, parseArea, removeLayer } from '../../loader/index.js'
import { layerOf } from '../../loader/maintain/copy/documents.js'
import { digestOf } from '../../loader/store/tile.js'
import { end, until } from '../../bench/wait.js'
import { json, onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { useStore } from '../support/store.js'
import { png, seedOf, square, yearStart } from '../support/tiles.js'
import { S, T, pastOfNowhere, tilesOf, writeVariedLayer } from '../support/copies.js'
import { publishFunctions } from '../support/published.js'
import { openService } from '../support/gateway/stand.js'
import { startCommand } from '../support/command.js'

onEachStore('copying a layer', backend => {
  let store, url
  useStore(backend,
    {
      once: true,
      published: 'functions',
      fill (...opened) {
        [store, url] = opened
        return writeVariedLayer(store, 'osm')
      }
    })

  it('copies every field of tiles, editions and the layer document', async () => {
    const planned = await copyLayer(store, 'osm', 'two', { dryRun: true })
    await assert.rejects(store.layer('two'), { code: 'LAYER_NOT_FOUND' })
    const summary = await copyLayer(store, 'osm', 'two', { limits: { tiles: 5, batch: 3 } })
    const tiles = await tilesOf(store, 'osm')
    assert.deepEqual(await tilesOf(store, 'two'), tiles)
    assert.deepEqual([summary.versions, summary.failed, planned.versions, planned.bytes],
      [tiles.length, 0, tiles.length, summary.bytes])
    assert.ok(tiles.some(({ contested, note, gone }) => contested && note && !gone) && tiles.some(({ gone }) => gone),
      'there is something to lose')
    const { layer, ...fields } = await store.layer('osm')
    assert.deepEqual(await store.layer('two'), { layer: 'two', ...fields })
    assert.deepEqual((await store.editions('two')).map(({ layer: name, ...edition }) => edition),
      (await store.editions('osm')).map(({ layer: name, ...edition }) => edition))
    await checkInvariants(url)
  }).timeout(20000)

  it('changes nothing when run again, and copies later additions', async () => {
    const { doc_count: before, update_seq: seq } = await store.info()
    const repeated = await copyLayer(store, 'osm', 'two')
    assert.deepEqual([repeated.versions, repeated.extended, repeated.editions], [0, 0, 0])
    assert.deepEqual([(await store.info()).doc_count, parseInt((await store.info()).update_seq)],
      [before, parseInt(seq)])
    await store.write([...square({ layer: 'osm', time: T(8), side: 2, seed: (x, y) => 800 + x + y }),
      { layer: 'osm', z: 5, x: 9, y: 9, time: T(8), bytes: png(1) }], { stored: S(8) })
    await store.write([{ layer: 'osm', z: 5, x: 3, y: 3, time: T(2), bytes: png(2) }], { stored: S(8) })
    await store.extend([{ id: 'osm:5:3:0', expires: T(30), origin: { url: 'http://there/', checked: S(8) } }])
    const laterCopy = await copyLayer(store, 'osm', 'two')
    assert.deepEqual([laterCopy.versions, laterCopy.extended], [6, 1])
    assert.deepEqual(await tilesOf(store, 'two'), await tilesOf(store, 'osm'))
    await checkInvariants(url)
  }).timeout(20000)

  it('as of a time copies no later versions, no expiry and no upstream', async () => {
    await copyLayer(store, 'osm', 'then', { time: '2024-01-03' })
    const expectedTiles = (await tilesOf(store, 'osm')).filter(({ time }) => time <= '2024-01-03T23:59:59Z')
    const moments = tiles => tiles.map(({ place, time }) => `${place}@${time}`).sort()
    assert.deepEqual(moments(await tilesOf(store, 'then')), moments(expectedTiles))
    assert.ok((await tilesOf(store, 'then')).every(({ current, expires }) => !current || expires === undefined))
    const { ttl, upstream } = await store.layer('then')
    assert.deepEqual([ttl, upstream], [undefined, undefined])
    await copyLayer(store, 'osm', 'bare', { time: '2024-01-03', history: false })
    assert.ok((await tilesOf(store, 'bare')).every(({ current, gone }) => current && !gone))
    assert.deepEqual((await store.at('bare', 5, 2, 2, '2025')).bytes,
      (await store.at('osm', 5, 2, 2, '2024-01-03')).bytes)
    await checkInvariants(url)
  }).timeout(20000)

  it('of a part copies only that part, and sets its zooms and bounds', async () => {
    const area = parseArea({ bbox: [-180, 66, -150, 85] })
    await copyLayer(store, 'osm', 'part', { area, zooms: { min: 5, max: 5 } })
    const part = await tilesOf(store, 'part')
    assert.deepEqual(part, (await tilesOf(store, 'osm')).filter(({ z, x, y }) => area.has(z, x, y)))
    assert.ok(part.length && part.length < (await tilesOf(store, 'osm')).length)
    const { minzoom, maxzoom, bounds } = await store.layer('part')
    assert.deepEqual([minzoom, maxzoom, bounds.length], [5, 5, 4])
    assert.deepEqual(await store.editions('part'), [])
  })

  it('into an existing layer merges versions, keeps its fields, and extends its bounds to contain both', async () => {
    await store.defineLayer('other', { ttl: 5, attribution: 'mine' })
    await store.write([[0, 99, 5], [1, 1, 6], [2, 3, 7]].map(([position, day, seed]) => (
      { layer: 'other', z: 5, x: position, y: position, time: T(day), bytes: png(seed) })))
    assert.equal((await copyLayer(store, 'osm', 'other')).failed, 0)
    // Of two images of one time the later run counts. The other one moves one second earlier.
    for (const [position, seed] of [[1, 6], [2, 7]]) {
      assert.ok((await tilesOf(store, 'other'))
        .some(tile => tile.x === position && tile.y === position && tile.digest === digestOf(png(seed))), `${position}`)
    }
    assert.deepEqual((await store.head('other', 5, 0, 0)).bytes, png(5), 'what is newer stays the newest')
    assert.ok((await store.versions('other', 5, 0, 0)).length > 2)
    const { ttl, attribution } = await store.layer('other')
    assert.deepEqual([ttl, attribution], [5, 'mine'])
    await checkInvariants(url)
    const box = [0, 0, 10, 10]
    const boundsOf = (...bounds) => layerOf({ layer: 'a', ...(bounds[0] && { bounds: bounds[0] }) },
      { layer: 'b', ...(bounds[1] && { bounds: bounds[1] }) }, { to: 'b' }).bounds
    assert.deepEqual([boundsOf(box, [5, 5, 20, 20]), boundsOf(box, undefined), boundsOf(undefined, box)],
      [[0, 0, 20, 20], undefined, undefined])
    const zoomsOf = (fields, targetFields, more) => {
      const target = { layer: 'b', ...targetFields }
      const { minzoom, maxzoom } = layerOf({ layer: 'a', ...fields }, target, { to: 'b', ...more })
      return [minzoom, maxzoom]
    }
    const zooms = { minzoom: 10, maxzoom: 14 }
    assert.deepEqual([zoomsOf({}, zooms), zoomsOf(zooms, {}), zoomsOf(zooms, {}, { isNew: true }), zoomsOf({}, {}),
      zoomsOf(zooms, { minzoom: 12, maxzoom: 16 })], [[0, 30], [0, 30], [10, 14], [undefined, undefined], [10, 16]])
  }).timeout(20000)

  it('keeps the terms of use of the upstream and offline: false', async () => {
    const upstream = { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png' }
    await store.defineLayer('shy', { upstream })
    await store.defineLayer('home', { offline: false })
    for (const layer of ['shy', 'home']) await store.write([{ layer, z: 0, x: 0, y: 0, time: T(1), bytes: png(1) }])
    await copyLayer(store, 'shy', 'shy2', { time: '2025' })
    assert.deepEqual((await store.layer('shy2')).upstream, upstream)
    await store.defineLayer('free', {})
    await assert.rejects(copyLayer(store, 'shy', 'free'), { code: 'EXPORT_FORBIDDEN' })
    await copyLayer(store, 'home', 'free')
    assert.equal((await store.layer('free')).offline, false)
    await copyLayer(store, 'shy', 'shy2')
  })

  it('from another store copies its whole past, even under the name of a removed layer', async () => {
    const otherStore = await Store.create(await backend.database())
    await publishFunctions(otherStore)
    await copyLayer(otherStore, 'osm', 'osm', { source: store })
    assert.deepEqual(await tilesOf(otherStore, 'osm'), await tilesOf(store, 'osm'))
    await removeLayer(otherStore, 'osm')
    assert.deepEqual(await tilesOf(otherStore, 'osm'), [])
    await copyLayer(otherStore, 'osm', 'osm', { source: store })
    assert.deepEqual(await tilesOf(otherStore, 'osm'), await tilesOf(store, 'osm'))
    await otherStore.destroy()
  }).timeout(30000)

  it('that reads changed tiles again counts only the tiles that are refused at last', async () => {
    const source = await Store.open(url)
    const refuse = async (...ids) => store.couch.update('_design/refusal', () => ({
      validate_doc_update: `(function (doc) { if (${JSON.stringify(ids)}.indexOf(doc._id) >= 0) ` +
        'throw { forbidden: "not here" } })'
    }))
    await store.defineLayer('moving')
    await store.write(square({ layer: 'moving', z: 3, time: T(1), side: 2, seed: (x, y) => 1 + x + y }))
    await refuse('moved:3:0:1', 'moved:3:1:1')
    const [docs, listTiles] = [source.couch.docs.bind(source.couch), source.listTiles.bind(source)]
    source.couch.docs = async (ids, options) => {
      // a tile changes after it was listed, which takes a second pass
      if (options?.attachments) await store.write([{ layer: 'moving', z: 3, x: 0, y: 0, time: T(2), bytes: png(9) }])
      return docs(ids, options)
    }
    let passes = 0
    source.listTiles = async function * (...selection) {
      if (++passes === 2) await refuse('moved:3:1:1')
      yield * listTiles(...selection)
    }
    const { failed, failures, versions } = await copyLayer(store, 'moving', 'moved', { source })
    assert.deepEqual([passes, failed, failures.map(({ id }) => id), versions], [2, 1, ['moved:3:1:1'], 4])
    const { _rev: rev } = await store.couch.get('_design/refusal')
    await store.couch.request({ method: 'DELETE', path: '_design/refusal', qs: { rev } })
  })

  it('refuses bad options', async () => {
    await assert.rejects(copyLayer(store, 'osm', 'osm'), { code: 'BAD_OPTION' })
    await assert.rejects(copyLayer(store, 'nowhere', 'x'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(copyLayer(store, 'osm', 'layer'), { code: 'BAD_LAYER' })
    await assert.rejects(copyLayer(store, 'osm', 'x', { time: 'then' }), { code: 'BAD_TIME' })
    await assert.rejects(copyLayer(store, 'osm', 'stopped', { signal: AbortSignal.abort() }), { code: 'ABORTED' })
    assert.deepEqual(pastOfNowhere(await tilesOf(store, 'stopped')), [])
    await assert.rejects(store.layer('stopped'), { code: 'LAYER_NOT_FOUND' }, 'no empty layer is left')
    await store.defineLayer('before', { name: 'Before' })
    await assert.rejects(copyLayer(store, 'osm', 'before', { signal: AbortSignal.abort() }), { code: 'ABORTED' })
    assert.equal((await store.layer('before')).name, 'Before')
  })
})

// A copy that is made again after edits and reverts, or into a store that already has the same version.

const [A, B, C] = [1, 2, 3]

onEachStore('a copy of a tile that was edited and reverted', backend => {
  let source, target, url
  const define = store => store.defineLayer('osm', { format: 'png' })
  useStore(backend, { published: 'functions', fill: store => { source = store; return define(store) } })
  useStore(backend, { published: 'functions', fill: (...opened) => { [target, url] = opened; return define(target) } })

  /** Writes one tile with an image per year. */
  const write = async (store, history, layer = 'osm') => {
    for (const [year, seed] of Object.entries(history)) {
      await store.putEdition(layer, yearStart(year), { title: year })
      const { failed } = await store.write(
        [{ layer, z: 4, x: 1, y: 1, time: yearStart(year), ...(seed === null ? { gone: true } : { bytes: png(seed) }) }]
      )
      assert.equal(failed, 0)
    }
  }
  /** The images that the map shows at the end of each year, or null for none. */
  const shownImages = async (store, layer = 'osm') => {
    const years = [2019, 2020, 2021, 2022, 2023, 2024, 2025]
    const seedAt = async year => {
      try {
        const { bytes } = await store.at(layer, 4, 1, 1, `${year}`)
        return seedOf(bytes)
      } catch (error) {
        if (error.code === 'TILE_NOT_FOUND') return null
        throw error
      }
    }
    const seeds = await Promise.all(years.map(seedAt))
    return Object.fromEntries(years.map((year, index) => [year, seeds[index]]))
  }
  const assertSame = async (layer = 'osm') => {
    assert.deepEqual(await shownImages(target, layer), await shownImages(source))
    assert.deepEqual((await target.head(layer, 4, 1, 1)).digest, (await source.head('osm', 4, 1, 1)).digest)
    await checkInvariants(url)
  }

  for (const [title, histories] of Object.entries({
    'after an edit and its revert: A, B, A': [{ 2020: A }, { 2021: B, 2022: A }],
    'after a tile was gone and came back: A, gone, A': [{ 2020: A }, { 2021: null, 2022: A }],
    'after edits between two copied times: A, (B, A), C': [{ 2020: A, 2023: C }, { 2021: B, 2022: A }]
  })) {
    it(`run again ${title}, shows the same as its source`, async () => {
      for (const history of histories) {
        await write(source, history)
        await copyLayer(target, 'osm', 'osm', { source })
        await assertSame()
      }
    })
  }

  it('under another name, or into a store that already has A of the same time, shows the same', async () => {
    await write(source, { 2020: A })
    await copyLayer(source, 'osm', 'two')
    await write(source, { 2021: B, 2022: A })
    await copyLayer(source, 'osm', 'two')
    assert.deepEqual(await shownImages(source, 'two'), await shownImages(source))
    await write(target, { 2020: A })
    await write(source, { 2020: A, 2021: B, 2022: A })
    await copyLayer(target, 'osm', 'osm', { source })
    await assertSame()
  })

  it('copies statements of editions about tiles of the target: gone and unchanged ones', async () => {
    const edition = (store, year, tiles, complete) => load(store, {
      name: 'memory', fields: { format: 'png' }, counts: undefined, total: undefined,
      async * tiles () { for (const [y, image] of Object.entries(tiles)) {
        yield { z: 4, x: 1, y: +y, read: async () => png(image) }
      } },
      async close () {}
    }, { layer: 'osm', time: yearStart(year), complete })
    await edition(target, 2020, { 1: A, 2: A })
    await edition(target, 2022, { 1: B, 2: B })
    await edition(source, 2020, { 1: A })
    await edition(source, 2021, { 1: A }, true)
    await edition(source, 2023, { 1: A }, true)
    await copyLayer(target, 'osm', 'osm', { source })
    assert.deepEqual(await shownImages(target), { 2019: null, 2020: A, 2021: A, 2022: B, 2023: A, 2024: A, 2025: A })
    const secondTile = years => Promise.all(years.map(
      year => target.at('osm', 4, 1, 2, `${year}`).then(({ bytes }) => bytes.equals(png(A)) ? A : B, () => null)
    ))
    assert.deepEqual(await secondTile([2020, 2021, 2022, 2023]), [A, null, B, null])
  })

  // The load of 2022 confirmed A. The source has no version for it any more, but must keep its statement.
  it('makes two stores show the same in both directions', async () => {
    await write(source, { 2020: A, 2022: A })
    await write(source, { 2021: B })
    await write(target, { 2020: A, 2021: B, 2022: A })
    await copyLayer(target, 'osm', 'osm', { source })
    await assertSame()
    await copyLayer(source, 'osm', 'osm', { source: target })
    await assertSame()
  })

  it('that was stopped at any write is completed by the next run', async () => {
    await write(source, { 2020: A })
    await copyLayer(target, 'osm', 'osm', { source })
    await write(source, { 2021: B, 2022: A, 2023: C, 2024: A })
    for (let writes = 1; writes < 6; writes++) {
      const { couch } = await Store.open(url)
      const bulk = couch.bulk.bind(couch)
      let writesLeft = writes
      couch.bulk = (...parameters) => writesLeft-- > 0 ? bulk(...parameters)
        : Promise.reject(Object.assign(new Error('killed'), { code: 'KILLED' }))
      await copyLayer(new Store(couch), 'osm', 'osm', { source, limits: { batch: 1 } })
        .catch(error => assert.match(`${error.code} ${error.message}`, /KILLED|killed/))
    }
    await copyLayer(target, 'osm', 'osm', { source })
    await assertSame()
  })
})

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 1)

onEachStore('renaming a layer', backend => {
  let store, url, service
  useStore(backend, { once: true, published: 'functions', fill: (...opened) => { [store, url] = opened } })
  after(() => service?.close())

  const documentsOf = async layer => [...await tilesOf(store, layer), ...await store.editions(layer)]

  it('moves tiles, editions and fields to the new name, and a gateway shows them', async () => {
    await writeVariedLayer(store, 'osm')
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

  it('back and forth gives the same layer, and a second run reports that it is done', async () => {
    const before = await tilesOf(store, 'new')
    await moveLayer(store, 'new', 'osm')
    assert.deepEqual(await tilesOf(store, 'osm'), before)
    assert.deepEqual(await documentsOf('new'), [])
    await writeVariedLayer(store, 'early')
    await moveLayer(store, 'early', 'late')
    const { done, versions } = await moveLayer(store, 'early', 'late')
    assert.deepEqual([done, versions], [true, 0])
    await assert.rejects(moveLayer(store, 'never', 'late'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(moveLayer(store, 'early', 'other'), { code: 'LAYER_NOT_FOUND' })
  }).timeout(20000)

  it('refuses a new name that a layer or stray tiles already have', async () => {
    await store.defineLayer('taken')
    await store.write([{ layer: 'stray', z: 0, x: 0, y: 0, time: T(1), bytes: png(1) }])
    for (const to of ['taken', 'stray']) await assert.rejects(moveLayer(store, 'osm', to), { code: 'LAYER_EXISTS' })
    await assert.rejects(moveLayer(store, 'nowhere', 'x'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(moveLayer(store, 'osm', 'osm'), { code: 'BAD_OPTION' })
    await assert.rejects(moveLayer(store, 'nowhere', 'taken'), { code: 'LAYER_NOT_FOUND' })
  })

  it('that was killed just before its end is ended by the next run, but not by a dry run', async () => {
    await store.defineLayer('ended')
    await store.couch.update('layer:ended', stored => ({ ...stored, renaming: 'began' }))
    const renaming = async () => (await store.couch.get('layer:ended')).renaming
    assert.equal((await moveLayer(store, 'began', 'ended', { dryRun: true })).done, true)
    assert.equal(await renaming(), 'began')
    assert.equal((await moveLayer(store, 'began', 'ended')).done, true)
    assert.equal(await renaming(), undefined)
  })

  it('loses no tile of a load at the same time', async () => {
    await writeVariedLayer(store, 'busy')
    const newerTiles = square({ layer: 'busy', time: T(20), side: 4, seed: (x, y) => 400 + x + y })
    let loaded
    const { done } = await moveLayer(store, 'busy', 'calm',
      { limits: { tiles: 4 }, onProgress: ({ step }) => {
        if (step === 'copy') loaded ??= store.write(newerTiles, { stored: S(20) })
      } })
    await loaded
    const second = done && !(await tilesOf(store, 'busy')).length ? { done } : await moveLayer(store, 'busy', 'calm')
      .catch(async error => {
        // the move was done, and later writes made a new layer
        assert.equal(error.code, 'LAYER_NOT_FOUND')
        return { done: true }
      })
    assert.equal(second.done, true)
    const tiles = [...await tilesOf(store, 'calm'), ...await tilesOf(store, 'busy')]
    for (const { x, y } of newerTiles) {
      assert.ok(tiles.some(tile => tile.x === x && tile.y === y && tile.time === T(20)), `${x} ${y}`)
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
      const writes = 20 + round * before.length
      await until(async () => child.exitCode !== null || parseInt((await json(url)).update_seq) > seq + writes,
        { timeout: 30000, every: 2, what: 'a part of it' })
      await end(child, 'SIGKILL')
      const tiles = [...await tilesOf(store, 'killed'), ...await tilesOf(store, layer)]
      for (const { place, time, digest } of before) {
        assert.ok(tiles.some(tile => tile.place === place && tile.time === time && tile.digest === digest),
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
