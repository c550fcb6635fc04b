/* global window -- of the page, in functions that run there */
// Tests areas of every shape and tiles of every kind, also when the store changes or the clock of a device is wrong.
import assert from 'node:assert/strict'
import { json, post } from '../support/backends.js'
import { draw } from '../support/client/maps.js'
import { field, isTransfer, onField, take } from '../support/offline/suite.js'
import { tour } from '../support/offline/tour.js'
import { T, tilesOf } from '../support/offline/world.js'
import { WORLD_BOX, assertEstimated, completed, resultOf } from './areas.js'

const SLACK = 2000 // bytes of two documents, which are nearly all of an area of few and small images
const ring = (west, south, east, north) => [[west, south], [east, south], [east, north], [west, north], [west, south]]

/** Title -> how much of the past an area holds. */
const pasts = { 'without their past': false, 'with all of their past': true, 'since a time': { since: T(2) } }

const areas = {
  'a box over the antimeridian': { bbox: [170, -40, -170, 40] },
  'a polygon with a hole': {
    polygon: { type: 'Polygon', coordinates: [ring(-80, -60, 80, 60), ring(-60, -40, 60, 40)] }
  },
  'polygons on both sides of the antimeridian': {
    polygon: { type: 'MultiPolygon', coordinates: [[ring(160, 10, 180, 40)], [ring(-180, 10, -150, 40)]] }
  },
  'a box of a single point': { bbox: [10, 10, 10.001, 10.001] },
  'one zoom': { bbox: [-20, -20, 20, 20], zooms: 4 },
  'the north of the world': { bbox: [-180, 60, 180, 85] }
}

onField('an area', ['plain', 'small', 'photos', 'roads', 'large', 'gone'], stage => {
  for (const [title, shape] of Object.entries(areas)) {
    it(`may be ${title}, and its estimate equals its download`, async () => {
      const page = await (await stage.device()).open()
      const spec = { name: 'Part', layer: 'small', zooms: '0-4', history: true, ...shape }
      const added = await field(page, 'add', spec)
      assert.ok(added.id, added.message)
      const estimate = await resultOf(field(page, 'call', 'Part', 'estimate'))
      stage.front.forget()
      await completed(field(page, 'call', 'Part', 'download'))
      const status = await stage.isWhole(page, spec)
      assert.deepEqual([estimate.tiles, estimate.versions, estimate.bytes],
        [status.tiles, status.versions, status.bytes])
      assertEstimated(stage.received(isTransfer), estimate, SLACK)
    })
  }

  for (const layer of ['photos', 'roads', 'large', 'gone']) {
    for (const [title, history] of Object.entries(pasts)) {
      it(`holds ${layer} ${title}, byte for byte, as estimated`, async () => {
        const page = await (await stage.device()).open()
        const spec = { name: 'All', layer, bbox: WORLD_BOX, zooms: 3, history }
        await field(page, 'add', spec)
        const estimate = await resultOf(field(page, 'call', 'All', 'estimate'))
        stage.front.forget()
        const status = await resultOf(field(page, 'call', 'All', 'download'))
        assert.deepEqual([status.tiles, status.versions, status.bytes],
          [estimate.tiles, estimate.versions, estimate.bytes])
        assertEstimated(stage.received(isTransfer), estimate, SLACK)
        if (typeof history === 'boolean') await stage.isWhole(page, spec)
        // CouchDB ends a parameter at a bare semicolon
        const range = { startkey: `"${layer}:"`, endkey: `"${layer};"` }
        const query = new URLSearchParams({ include_docs: 'true', attachments: 'true', ...range })
        const { rows } = await json(`${stage.url}/_all_docs?${query}`)
        const images = Object.fromEntries(rows.map(({ id, doc }) => [id, doc._attachments?.tile]))
        const deviceImages = await page.evaluate(async () => {
          const answer = await /** @type {any} */ (window).offline.areas.get('All')
            .db.allDocs({ include_docs: true, attachments: true })
          return answer.rows.filter(({ doc }) => doc.type === 'tile').map(({ id, doc }) => [id, doc._attachments?.tile])
        })
        for (const [id, image] of deviceImages) {
          assert.deepEqual([image?.content_type, image?.data], [images[id]?.content_type, images[id]?.data], id)
        }
      })
    }
  }

  it('shows photos, large tiles and tiles that are gone as the store does', async () => {
    const page = await (await stage.device()).open()
    for (const layer of ['large', 'gone']) {
      await take(page, { name: layer, layer, bbox: WORLD_BOX, zooms: 3, history: true })
      const route =
        { places: /** @type {any} */ ([[0, 0, 3], [60, -120, 3], [-70, 170, 3]]), times: [T(1), T(2), T(3)] }
      const reference = await tour(page, layer, route)
      assert.deepEqual(await tour(page, layer, route, { offline: true, read: 'only' }), reference)
    }
    await take(page, { name: 'photos', layer: 'photos', bbox: WORLD_BOX, zooms: 3 })
    await draw(page, 'photos', { kind: 'couch', offline: true, read: 'only', map: { fadeAnimation: false } })
    await page.waitForFunction(() => {
      const images = [...window.document.querySelectorAll('#map .leaflet-tile img')]
      return images.length > 0 && images.every(image => /** @type {any} */ (image).naturalWidth === 16)
    })
  })

  it('has the winner of a conflict, the loser when the winner is deleted, and then a new head', async () => {
    const spec = { name: 'Small', layer: 'small', bbox: WORLD_BOX, zooms: '0-4' }
    const page = await (await stage.device()).open()
    const id = 'small:4:5:5'
    const { _attachments: attachments, ...doc } =
      await json(`${stage.url}/${id}?attachments=true`, { headers: { accept: 'application/json' } })
    const rival = `${doc._rev.split('-')[0]}-ffffffffffffffffffffffffffffffff`
    const image = { ...attachments.tile, stub: undefined, digest: undefined, revpos: undefined }
    const docs = [{ ...doc, _rev: rival, time: T(7), _attachments: { tile: image } }]
    await post(`${stage.url}/_bulk_docs`, { docs, new_edits: false })
    await take(page, spec)
    await stage.isWhole(page, spec)
    assert.equal((await field(page, 'contents', 'Small'))[id][0], rival)
    await json(`${stage.url}/${id}?rev=${rival}`, { method: 'DELETE' })
    await completed(field(page, 'call', 'Small', 'refresh'))
    const { [id]: [rev, digest] } = await field(page, 'contents', 'Small')
    assert.deepEqual([rev, digest], [doc._rev, attachments.tile.digest])
    await stage.load('small', { 8: [[4, 5, 5]] })
    await field(page, 'call', 'Small', 'refresh')
    const { [id]: [, expectedDigest] } = await stage.wanted(spec)
    assert.equal((await field(page, 'contents', 'Small'))[id][1], expectedDigest)
  })

  it('adopts the new name of its layer, and stays complete when the layer is deleted', async () => {
    const device = await stage.device()
    const page = await device.open()
    const spec = { name: 'Roads', layer: 'roads', bbox: WORLD_BOX, zooms: 3 }
    await take(page, spec)
    await stage.store.defineLayer('roads', { name: 'Roads and paths', minzoom: 3, maxzoom: 3, format: 'pbf' })
    await completed(field(page, 'call', 'Roads', 'refresh'))
    const name = () => page.evaluate(async () => (await /** @type {any} */ (window).offline.device.layer('roads')).name)
    assert.equal(await name(), 'Roads and paths')
    const { _rev: rev } = await json(`${stage.url}/layer:roads`)
    await json(`${stage.url}/layer:roads?rev=${rev}`, { method: 'DELETE' })
    device.allow(/status of 404/)
    assert.equal((await field(page, 'call', 'Roads', 'refresh')).code, 'LAYER_NOT_FOUND')
    assert.equal(await name(), 'Roads and paths')
    assert.equal((await field(page, 'list'))[0].isComplete, true)
    await stage.store.defineLayer('roads', { minzoom: 3, maxzoom: 3, format: 'pbf' })
    await completed(field(page, 'call', 'Roads', 'refresh'))
    await stage.isWhole(page, spec)
  })

  for (const days of [4000, -4000]) {
    it(`is refreshed on a device whose clock was ${Math.abs(days)} days ${days > 0 ? 'ahead' : 'behind'}`, async () => {
      const device = await stage.device()
      const page = await device.open()
      await field(page, 'shift', days)
      const spec = { name: 'Large', layer: 'large', bbox: WORLD_BOX, zooms: 3, history: true }
      await take(page, spec)
      await device.reload(page) // the clock is right after the reload
      for (const [step, verb] of /** @type {[number, string][]} */ ([[10, 'refresh'], [11, 'download']])) {
        await stage.load('large', { [step + (days > 0 ? 0 : 10)]: tilesOf(3, (x, y) => x === y) })
        await completed(field(page, 'call', 'Large', verb))
        await stage.isWhole(page, spec)
      }
    })
  }
})
