// The map does not depend on the order in which editions are loaded, on every store.
import assert from 'node:assert/strict'
import { newRun } from '../../core/runs.js'
import { copyLayer } from '../../loader/maintain/copy/index.js'
import { load } from '../../loader/load/index.js'
import { prune } from '../../loader/maintain/prune/index.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { resolve } from '../../loader/check/conflicts.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { publishedStore } from '../support/published.js'
import { png, seedOf, yearStart } from '../support/tiles.js'

const [D, E] = [1, 2]
const SIDE = 10

/** A source of a square of tiles, all alike. @param {number | ((x: number, y: number) => number | undefined)} image */
function sourceOf (image) {
  const places = Array.from({ length: SIDE ** 2 }, (_, index) => [Math.floor(index / SIDE), index % SIDE])
  const tiles = places.map(([x, y]) => [`5/${x}/${y}`, typeof image === 'number' ? image : image(x, y)])
  return memorySource(Object.fromEntries(tiles.filter(([, seed]) => seed !== undefined)))
}

/** A promise that is resolved from outside. */
function gate () {
  let open = () => {}
  const promise = new Promise(done => { open = () => done(undefined) })
  return { promise, open }
}

/** A function whose promise resolves after two calls. */
function meeting () {
  const bothCalled = gate()
  let callers = 0
  return () => {
    if (++callers === 2) bothCalled.open()
    return bothCalled.promise
  }
}

onEachStore('editions in any order', backend => {
  let store, url
  beforeEach(async () => { ({ store, url } = await publishedStore(backend)) })
  afterEach(() => store.destroy())

  const edition = (year, image, options) =>
    load(store, sourceOf(image), { layer: 'osm', time: yearStart(year), ...options })
  const assertShown = async (expected, [x, y] = [3, 4]) => {
    const actual = {}
    for (const moment of Object.keys(expected)) {
      const reading = moment === 'now' ? store.head('osm', 5, x, y) : store.at('osm', 5, x, y, moment)
      const bytes =
        await reading.then(version => version.bytes, error => { assert.equal(error.code, 'TILE_NOT_FOUND') })
      actual[moment] = bytes ? seedOf(bytes) : null
    }
    assert.deepEqual(actual, expected)
    await checkInvariants(url)
  }

  it('show an older edition that is loaded after a later one without changes', async () => {
    await edition(2022, D)
    assert.equal((await edition(2024, D)).unchanged, SIDE ** 2)
    assert.equal((await edition(2023, E)).failed, 0)
    await assertShown({ 2021: null, 2022: D, 2023: E, 2024: D, now: D })
  })

  it('leave a tile gone at the time of a later complete edition that lacks it', async () => {
    await edition(2022, (x, y) => x === 3 && y === 4 ? undefined : D)
    await edition(2024, (x, y) => x === 3 && y === 4 ? undefined : D, { complete: true })
    await edition(2023, E)
    await assertShown({ 2022: null, 2023: E, 2024: null, now: null })
    await assertShown({ 2022: D, 2023: E, 2024: D, now: D }, [1, 1])
  })

  it('show both times when two loads run at once', async () => {
    await edition(2022, D)
    const summaries = await Promise.all([2023, 2024].map(
      async (year, index) => load(await Store.open(url), sourceOf(index ? D : E),
        { layer: 'osm', time: yearStart(year), batch: 7 })
    ))
    assert.deepEqual(summaries.map(({ failed }) => failed), [0, 0])
    await assertShown({ 2022: D, 2023: E, 2024: D, now: D })
  })

  /** A source that ends after a promise has resolved. */
  const slowSource = (image, beforeEnd) => ({
    ...sourceOf(image),
    async * tiles () {
      yield * sourceOf(image).tiles()
      await beforeEnd
    }
  })

  for (const isFirst of [true, false]) {
    it(`give VERSION_TAKEN to the slower of two loads for one time (began ${isFirst ? 'first' : 'last'})`, async () => {
      const addressOf = index => ({ z: 5, x: index % SIDE, y: Math.floor(index / SIDE) })
      const version = { layer: 'osm', time: yearStart(2022), bytes: png(D) }
      await store.write(Array.from({ length: SIDE ** 2 }, (_, index) => ({ ...version, ...addressOf(index) })))
      const [begun, allRead, otherEnded] = [gate(), gate(), gate()]
      const options = { layer: 'osm', time: yearStart(2024), batch: 10, concurrency: 1 }
      const onProgress = ({ unchanged }) => { if (unchanged === SIDE ** 2) allRead.open() }
      // the late load finds every tile unchanged before the early load has written a tile
      const source = slowSource(D, otherEnded.promise)
      const startLate = async () => load(await Store.open(url), source, { ...options, onProgress })
      const changed = { ...sourceOf((x, y) => x === 3 && y === 4 ? E : D), total: SIDE ** 2 }
      const early = { ...changed, async * tiles () { begun.open(); await allRead.promise; yield * changed.tiles() } }
      const startEarly = () => load(store, early, options)
      const [lateLoad, earlyLoad] = isFirst
        ? [startLate(), allRead.promise.then(startEarly)]
        : [begun.promise.then(startLate), startEarly()]
      const { failed } = await earlyLoad
      otherEnded.open()
      const lateSummary = await lateLoad
      assert.deepEqual([failed, lateSummary.failed], [0, 1])
      assert.deepEqual(lateSummary.failures.map(({ id, code }) => [id, code]), [['osm:5:3:4', 'VERSION_TAKEN']])
      assert.equal(lateSummary.unchanged, SIDE ** 2 - 1)
      await assertShown({ 2023: D, 2024: E, now: E })
    })
  }

  it('count a taken tile for the later run only, if two loads read each other’s manifest', async () => {
    await edition(2022, D)
    const isPlace = (x, y, place) => x === place && y === place
    await edition(2025, (x, y) => isPlace(x, y, 4) ? E : undefined)
    const [firstBegan, laterBegan, firstRead, firstLooked, withdrawn] = Array.from({ length: 5 }, gate)
    const [haveRead, havePublished] = [meeting(), meeting()]
    /** Calls a method of the connection of a store, with steps before and after it. */
    const wrap = (owner, method, around) => {
      const call = owner.couch[method].bind(owner.couch)
      owner.couch[method] = (...args) => around(() => call(...args), args[0])
    }
    let isPublished = false
    const publish = async (call, id) => {
      if (!id.startsWith('manifest:')) return call()
      await haveRead()
      const doc = await call()
      await havePublished()
      isPublished = true
      return doc
    }
    const [firstStore, laterStore] = await Promise.all([Store.open(url), Store.open(url)])
    for (const openStore of [firstStore, laterStore]) wrap(openStore, 'update', publish)
    // the first load reads the statements, then the later load withdraws its tile, then the first load settles
    let looks = 0
    wrap(firstStore, 'ranges', async call => {
      if (isPublished && looks++) await withdrawn.promise
      const answer = await call()
      if (looks) firstLooked.open()
      return answer
    })
    wrap(laterStore, 'update', async (call, id) => {
      if (!id.startsWith('removed:')) return call()
      await firstLooked.promise
      const doc = await call()
      withdrawn.open()
      return doc
    })
    const sourceAfter = (image, began, ready) => ({
      ...sourceOf(image),
      total: SIDE ** 2,
      async * tiles () {
        began.open()
        await ready.promise
        yield * sourceOf(image).tiles()
      }
    })
    const options = { layer: 'osm', time: yearStart(2024), batch: 10, concurrency: 1 }
    const onProgress = ({ unchanged }) => { if (unchanged >= 90) firstRead.open() }
    const firstSource = sourceAfter((x, y) => isPlace(x, y, 0) ? undefined : D, firstBegan, laterBegan)
    const laterImage = (x, y) => isPlace(x, y, 0) ? E : D
    const laterSource = sourceAfter((x, y) => isPlace(x, y, 4) ? E + 1 : laterImage(x, y), laterBegan, firstRead)
    const loads = await Promise.all([
      load(firstStore, firstSource, { ...options, onProgress }),
      firstBegan.promise.then(() => load(laterStore, laterSource, options))
    ])
    const figures =
      loads.map(({ advanced, backfilled, unchanged, failed }) => ({ advanced, backfilled, unchanged, failed }))
    assert.deepEqual(figures, [
      { advanced: 0, backfilled: 0, unchanged: SIDE ** 2 - 1, failed: 0 },
      { advanced: 1, backfilled: 0, unchanged: SIDE ** 2 - 2, failed: 1 }
    ])
    assert.deepEqual(loads[1].failures.map(({ id }) => id), ['osm:5:4:4'])
    await assertShown({ 2022: D, 2023: D, 2024: D, 2025: E, now: E }, [4, 4])
    await assertShown({ 2022: D, 2023: D, 2024: E, now: E }, [0, 0])
  })

  it('show the remaining editions after removals and a repeated load', async () => {
    await edition(2022, D)
    await edition(2023, E)
    await edition(2024, D)
    await removeEdition(store, 'osm', yearStart(2023))
    await assertShown({ 2022: D, 2023: D, 2024: D, now: D })
    await removeEdition(store, 'osm', yearStart(2022))
    await assertShown({ 2022: null, 2023: null, 2024: D, now: D })
    await edition(2023, E)
    await assertShown({ 2022: null, 2023: E, 2024: D, now: D })
  })

  it('apply a removal that arrives before the document of its layer', async () => {
    const [z, x, y] = [5, 3, 4]
    await store.write([
      { layer: 'osm', z, x, y, time: yearStart(2022), bytes: png(D) },
      { layer: 'osm', z, x, y, time: yearStart(2023), bytes: png(E) }
    ])
    const run = newRun()
    await store.couch.update(`removed:osm:${run}`,
      () => ({ type: 'removed', layer: 'osm', run, since: yearStart(2022), until: yearStart(2022) }))
    await resolve(store)
    await assertShown({ 2022: null, 2023: E, now: E })
  })

  it('need no image that was pruned, nor does a copy of the layer', async () => {
    for (const [year, image] of [[2022, D], [2023, E], [2024, D]]) await edition(year, image)
    assert.equal((await prune(store, 'osm', { policy: { last: 1 }, compact: 'never' })).versions > 0, true)
    const { unknown, named } = await resolve(store)
    assert.deepEqual([unknown, named], [0, []])
    await assertShown({ 2024: D, now: D })
    await store.defineLayer('two', { format: 'png' })
    await copyLayer(store, 'osm', 'two')
    assert.deepEqual((await resolve(store)).named, [], 'nor in a copy')
  })

  it('name a lost image as unknown, even after another edition was removed', async () => {
    await edition(2022, D)
    await edition(2023, E)
    await removeEdition(store, 'osm', yearStart(2022))
    const id = 'osm:5:3:4'
    const rows = await store.couch.docs([id, `${id}@${yearStart(2023)}`])
    for (const { _id, _rev } of rows.flatMap(({ doc }) => doc ?? [])) {
      await store.couch.bulk([{ _id, _rev, _deleted: true }])
    }
    const { named } = await resolve(store)
    assert.deepEqual(named.map(finding => [finding.id, finding.what]), [[id, 'unknown']])
  })

  it('add two documents when nothing changed, and the next edition reads few tiles', async () => {
    await edition(2022, D)
    const countBefore = (await store.info()).doc_count
    await edition(2023, D)
    assert.equal((await store.info()).doc_count, countBefore + 2, 'its edition and its manifest')
    const requests = []
    const { couch } = store
    const request = couch.request.bind(couch)
    couch.request = options => {
      requests.push(options)
      return request(options)
    }
    assert.equal((await edition(2024, D)).unchanged, SIDE ** 2)
    const tiles = requests.filter(({ path }) => path === '_bulk_get')
      .flatMap(({ body }) => body.docs).filter(({ id }) => id.startsWith('osm:'))
    assert.ok(tiles.length < 20,
      `${tiles.length} tiles were asked for: a few tell how large they are, none is compared`)
  })
})
