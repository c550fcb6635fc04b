// Tests transfers after random changes of a store, with random downloads that may be aborted. Every complete download
// must equal a naive copy of the area.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { HttpCouch } from '../../client/mirror/http.js'
import { StoreReset, Transfer } from '../../client/offline/transfer.js'
import { estimate } from '../../client/offline/estimate.js'
import { parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { Store } from '../../loader/index.js'
import { publishFunctions } from '../support/published.js'
import { usePouches } from '../support/client/pouches.js'
import { json, onEachStore, post } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { assertDeviceHolds } from '../support/offline/naive-area.js'

const RUNS = +(process.env.TILECOUCH_AREAS ?? 12)
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const T = year => `${2020 + year}-01-01T00:00:00Z`

const AREAS = {
  whole: undefined,
  box: { bbox: [-180, -30, -60, 85] },
  antimeridian: { bbox: [150, -20, -150, 85] },
  polygon: { polygon: { type: 'Polygon', coordinates: [[[-170, 80], [-100, 60], [-20, 70], [-60, 0], [-170, 80]]] } }
}
const areaOptions = fc.record({
  area: fc.constantFrom('whole', 'box', 'antimeridian', 'polygon'),
  zooms: fc.constantFrom(undefined, { min: 2, max: 2 }, { min: 1, max: 3 }),
  history: fc.constantFrom({ current: true }, {}, { since: T(2) })
})
// few places, so that the same tile is changed several times
const tile = fc.record(
  { z: fc.constantFrom(1, 2, 2, 3), x: fc.constantFrom(0, 0, 1,
    7), y: fc.nat(2), image: fc.option(fc.nat(20), { freq: 5 }) }
)
const load = fc.record(
  { does: fc.constant('load'), year: fc.nat(5), tiles: fc.array(tile, { minLength: 1, maxLength: 12, size: 'max' }) }
)
const remove = fc.record(
  { does: fc.constantFrom('remove', 'remove', 'purge', 'revive'), which: fc.array(fc.nat(20),
    { minLength: 1, maxLength: 4 }) }
)
const conflict = fc.record(
  {
    does: fc.constant('conflict'), which: fc.nat(20), generation: fc.integer({ min: 1, max: 4 }),
    hash: fc.constantFrom('0', 'f'), image: fc.nat(20)
  }
)
const touch = fc.record({ does: fc.constantFrom('edition', 'redefine', 'foreign'), year: fc.nat(3) })
const take =
  fc.record({ does: fc.constant('take'), force: fc.boolean(), lives: fc.option(fc.nat(3)), few: fc.boolean() })
const steps = fc.array(
  fc.oneof({ arbitrary: load, weight: 5 }, { arbitrary: remove, weight: 3 }, { arbitrary: conflict, weight: 2 },
    { arbitrary: touch, weight: 1 }, { arbitrary: take, weight: 4 }), { minLength: 3, maxLength: 24, size: 'max' }
)

onEachStore('areas after random changes of a store and random downloads', backend => {
  const pouch = usePouches()
  let url
  let store
  let couch
  let layerCount = 0

  before(async function () {
    this.timeout(20000)
    url = await backend.database()
    store = await Store.create(url)
    await publishFunctions(store)
    couch = new HttpCouch(url)
  })

  const tiles = async (layer, picks, withDocs = false) => {
    const { rows } =
      await json(`${url}/_all_docs?startkey="${layer}:"&endkey="${layer}%3B"${withDocs ? '&include_docs=true' : ''}`)
    return rows.length ? [...new Set(picks.map(pick => rows[pick % rows.length]))] : []
  }
  const purgedDocs = new Map()

  const actions = {
    async load (layer, { year, tiles: loadedTiles }) {
      const distinct =
        new Map(loadedTiles.filter(({ z, x, y }) => x < 2 ** z && y < 2 ** z)
          .map(place => [`${place.z}/${place.x}/${place.y}`, place]))
      await store.write(
        [...distinct.values()].map(({ image, ...place }) => (
          { layer, ...place, time: T(year), ...(image === null ? { gone: true } : { bytes: png(image) }) }
        ))
      )
    },
    async remove (layer, { which: picks }) {
      const docs = (await tiles(layer, picks)).map(({ id, value: { rev } }) => ({ _id: id, _rev: rev, _deleted: true }))
      if (docs.length) await post(`${url}/_bulk_docs`, { docs })
    },
    // `revive` stores purged documents again under their revisions, as a second load into a new store would
    async purge (layer, { which: picks }) {
      if (backend.name === 'embedded') return
      for (const { id } of await tiles(layer, picks)) {
        const { results } = await post(`${url}/_bulk_get?revs=true&attachments=true`, { docs: [{ id }] })
        purgedDocs.set(id, results[0].docs.map(({ ok }) => ok))
        await post(`${url}/_purge`, { [id]: results[0].docs.map(({ ok }) => ok._rev) })
      }
    },
    async revive (layer) {
      const docs = [...purgedDocs].filter(([id]) => id.startsWith(`${layer}:`)).flatMap(([, leaves]) => leaves)
      purgedDocs.clear()
      if (docs.length) await post(`${url}/_bulk_docs`, { docs, new_edits: false })
    },
    async conflict (layer, { which: pick, generation, hash, image }) {
      const [row] = await tiles(layer, [pick], true)
      if (!row) return
      const { _id, _rev, _attachments, ...fields } = row.doc
      // the id of a revision is computed from its content
      const id = `${hash.repeat(30)}${String(image).padStart(2, '0')}`
      const doc = { ...fields, _id, _rev: `${generation}-${id}`, _revisions: {
        start: generation, ids: [id]
      }, _attachments: { tile: { content_type: 'image/png', data: png(image).toString('base64') } } }
      await post(`${url}/_bulk_docs`, { docs: [doc], new_edits: false })
    },
    edition: (layer, { year }) => store.couch.put(
      { _id: `edition:${layer}@${T(year)}`, type: 'edition', layer, time: T(year), title: `${Math.random()}` }
    ).catch(() => {}),
    redefine: (layer, { year }) => store.defineLayer(layer, { name: `of ${year}` }),
    foreign: (layer, { year }) => store.couch.put({ _id: `${layer}:1:0:${year}x`, type: 'note' }).catch(() => {})
  }

  it(`equal the store and their estimate (seed ${SEED})`, async function () {
    this.timeout(RUNS * 5000)
    await fc.assert(fc.asyncProperty(areaOptions, steps, async ({ area: name, zooms, history }, playedSteps) => {
      const layer = `l${layerCount++}`
      await store.defineLayer(layer, {})
      const area = { layer, selection: new Selection(
        { layers: [layer], area: AREAS[name] && parseArea(AREAS[name]), zooms, ...history }
      ) }
      let db = pouch()
      let isPurged = false
      const limits = { batch: 3, smallBytes: 1, batchMost: 3, page: 3, ranges: 4, spans: 3, columns: 2, retryDelay: 1 }
      const transfer = options => new Transfer({ couch, area, db, limits, ...options })
      const check = async (counts, database = db) => assert.deepEqual(counts,
        await assertDeviceHolds(database, url, { ...area, isNew: database !== db }))
      for (const step of [...playedSteps, { does: 'take' }]) {
        if (step.does !== 'take') {
          isPurged ||= step.does === 'purge'
          await actions[step.does](layer, step)
          continue
        }
        const stop = new AbortController()
        let callsLeft = step.lives ?? Infinity
        const run = () => transfer(
          { force: step.force, signal: stop.signal, limits: {
            ...limits, ...(step.few && { feed: 0, feedShare: 0 })
          }, onProgress: () => { if (callsLeft-- <= 0) stop.abort() } }
        ).run()
        const result = await run().catch(error => {
          if (!(error instanceof StoreReset)) throw error
          assert.ok(isPurged, 'only a store that forgot documents is read anew')
          isPurged = false
          db = pouch()
          return run()
        }).catch(error => { if (error.code !== 'ABORTED') throw error })
        if (result) await check(result.counts)
      }
      const freshDb = pouch()
      const { tiles: tileCount, versions, bytes } = await estimate(couch, area.selection, { limits })
      const { counts } = await transfer({ db: freshDb }).run()
      await check(counts, freshDb)
      assert.deepEqual({ tiles: tileCount, versions, bytes }, counts, 'as it was estimated')
    }), { numRuns: RUNS, seed: SEED })
  })
})
