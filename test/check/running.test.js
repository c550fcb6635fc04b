// A repair while loads write to the very tiles that it repairs, on every store: nothing of either is lost. And one that
// is killed again and again, over everything that can be damaged (TILECOUCH_LONG).
import assert from 'node:assert/strict'
import { check } from '../../loader/check/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { TilecouchError } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { tile } from '../support/sample-tiles.js'
import { damage, imagesOf, plant } from './damage.js'

onEachStore('a repair', backend => {
  /** @type {Store} */
  let store
  let url
  let planted

  beforeEach(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await Store.create(url, { public: false })
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
    const cases = Object.values(damage)
    planted = (await Promise.all(cases.map(async ({ docs }, at) => docs(`osm:3:${at >> 3}:${at % 8}`))))
      .map(docs => Promise.all(docs))
    planted = (await Promise.all(planted)).flat()
    await plant(store, planted)
    await publish(store)
  })
  afterEach(() => store.destroy())

  const found = async () => (await check(store, { decode: false })).kinds
  const expectWhole = async images => {
    const tiles = await checkInvariants(url)
    const there = new Set([...tiles.values()].flat().flatMap(({ bytes }) => bytes ? [bytes.toString('base64')] : []))
    for (const image of images) assert.ok(there.has(image))
  }

  it('loses no image while loads write to the same tiles', async function () {
    this.timeout(60000)
    const stored = []
    const load = async (time, seed) => {
      const versions = await Promise.all(Object.keys(damage)
        .map(async (_, at) => ({ layer: 'osm', z: 3, x: at >> 3, y: at % 8, time, bytes: await tile(seed + at) })))
      const { failures } = await store.write(versions, { batch: 5, concurrency: 2 })
      const failed = new Set(failures.map(({ id }) => id))
      for (const { x, y, bytes } of versions) if (!failed.has(`osm:3:${x}:${y}`)) stored.push(bytes.toString('base64'))
    }
    const loads = (async () => {
      for (const [time, seed] of /** @type {const} */ (
        [['2024-01-01T00:00:00Z', 100], ['2020-06-01T00:00:00Z', 200], ['2024-06-01T00:00:00Z', 300]]
      )) await load(time, seed)
    })()
    const repaired = check(store, { decode: false, fix: true })
    await Promise.all([loads, repaired])
    await check(store, { decode: false, fix: true }) // what loads had refused of damaged tiles is not repaired by them
    assert.deepEqual(await found(), {})
    await expectWhole([...stored, ...imagesOf(planted)])
  })

  const long = process.env.TILECOUCH_LONG ? it : it.skip
  long('loses no image when it is killed after any number of writes and run again', async function () {
    this.timeout(600000)
    let runs = 0
    for (let isDone = false; !isDone; runs++) {
      let lives = runs
      store.couch.request = async request => {
        const writes = /_bulk_docs$/.test(request.path) || ['PUT', 'DELETE'].includes(request.method)
        if (writes && lives-- <= 0) throw new TilecouchError('ABORTED')
        return Couch.prototype.request.call(store.couch, request)
      }
      await check(store, { decode: false, fix: true })
        .then(() => { isDone = true }, error => assert.equal(error.code, 'ABORTED'))
      store.couch.request = Couch.prototype.request
    }
    assert.ok(runs > 2, `${runs} runs`)
    assert.deepEqual(await found(), {})
    await expectWhole(imagesOf(planted))
  })
})
