/* global L, document, window -- of the page, in functions that run there */
// Which tiles are on the device: told by areas and columns, and painted over the map.
import assert from 'node:assert/strict'
import { coverageOf } from '../../client/offline/coverage.js'
import { parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { field, onField, take } from '../support/offline/suite.js'

/** An OfflineStore of which everything is known: areas, and rows that are there. */
function storeOf (areas, { held = () => true } = {}) {
  const asked = /** @type {any[]} */ ([])
  const rows = has => async (layer, { z, x, y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, at) => y0 + at)
    .filter(y => has(z, x, y))
  return {
    asked,
    ready: Promise.resolve(),
    areas: { list: () => areas },
    device: {
      async versions (layer, columns) {
        asked.push(columns)
        const found = await Promise.all(columns.map(column => rows(held)(layer, column)))
        return found.map(ys => ys.map(y => ({ y, current: true, gone: false })))
      }
    }
  }
}

const area = ({ bbox, polygon, zooms, isComplete = true, state = 'complete', tiles = 1, layer = 'osm' }) => ({
  layer, state, isComplete, status: () => ({ tiles }),
  selection: new Selection({ layers: [layer], area: parseArea({ bbox, polygon }), zooms, current: true })
})
const column = (z, x, y0 = 0, y1 = 2 ** z - 1) => ({ z, x, y0, y1 })
const every = z => Array.from({ length: 2 ** z }, (_, x) => column(z, x))
const look =
  async (store, columns, bounds) => Object.fromEntries(await coverageOf(store, 'osm', columns, bounds && { bounds }))

describe('the coverage of a tile', () => {
  const west = [-180, -85, 0, 85]

  it('is whole where an area has all tiles below it, and part at the edge of the area', async () => {
    const store = storeOf([area({ bbox: [-180, -85.06, 45, 85.06], zooms: { min: 0, max: 6 } })],
      { held: (z, x) => x <= 2 ** z * 225 / 360 })
    assert.deepEqual(await look(store, every(1)),
      { '1/0/0': 'whole', '1/0/1': 'whole', '1/1/0': 'part', '1/1/1': 'part' })
    const deep = await look(store, [column(6, 39, 10, 10), column(6, 40, 10, 10), column(6, 41, 10, 10)])
    assert.deepEqual(deep, { '6/39/10': 'whole', '6/40/10': 'part' },
      'what another area would have to hold is only in part')
    assert.equal(store.asked.length, 2, 'one question for all columns')
  })

  it('is measured by the deepest area that touches the tile', async () => {
    const overview = area({ bbox: [-180, -86, 180, 86], zooms: { min: 0, max: 2 } })
    const town = area({ bbox: [10, 10, 11, 11], zooms: { min: 0, max: 9 } })
    const store = storeOf([overview, town])
    assert.deepEqual(await look(store, every(1)),
      { '1/0/0': 'whole', '1/0/1': 'whole', '1/1/0': 'part', '1/1/1': 'whole' })
  })

  it('is at most part when the area is incomplete or does not have the zoom of the tile', async () => {
    const zooms = { min: 2, max: 5 }
    const bbox = [-180, -86, 180, 86]
    assert.deepEqual(await look(storeOf([area({ bbox, zooms, isComplete: false })]), [column(3, 1, 1, 1)]),
      { '3/1/1': 'part' })
    const beneath = { held: z => z >= 2 }
    assert.deepEqual(await look(storeOf([area({ bbox, zooms })], beneath), [column(1, 0), column(2, 0, 0, 0)]),
      { '1/0/0': 'part', '1/0/1': 'part', '2/0/0': 'whole' })
    assert.deepEqual(await look(storeOf([area({ bbox, zooms, tiles: 0, isComplete: false })], beneath), [column(1, 0)]),
      {}, 'nothing of it is here yet')
    assert.deepEqual(await look(storeOf([area({ bbox, zooms })], { held: () => false }), [column(6, 0, 0, 3)]),
      {}, 'it is not as deep')
  })

  it('ignores areas of other layers and areas that are being removed', async () => {
    const bbox = [-180, -86, 180, 86]
    const zooms = { min: 0, max: 3 }
    const store =
      storeOf([area({ bbox, zooms, layer: 'topo' }), area({ bbox, zooms, state: 'removing' })], { held: () => false })
    assert.deepEqual(await look(store, every(2)), {})
  })

  it('respects polygons, and needs no tiles beyond the bounds of the layer', async () => {
    const polygon =
      { type: 'Polygon', coordinates: [[[-179.9, -80], [-0.1, -80], [-0.1, 80], [-179.9, 80], [-179.9, -80]]] }
    const shape = area({ polygon, zooms: { min: 0, max: 8 } })
    const there = { held: (z, x, y) => shape.selection.touches(z, x, y) }
    assert.deepEqual(await look(storeOf([shape], there), [column(2, 0), column(2, 1), column(2, 2)]), {
      '2/0/0': 'part', '2/0/1': 'whole', '2/0/2': 'whole', '2/0/3': 'part',
      '2/1/0': 'part', '2/1/1': 'whole', '2/1/2': 'whole', '2/1/3': 'part'
    })
    const box = area({ bbox: [-90, 0, 0, 66], zooms: { min: 0, max: 8 } })
    const held = { held: (z, x, y) => box.selection.touches(z, x, y) }
    assert.deepEqual(await look(storeOf([box], held), [column(1, 0, 0, 0)]), { '1/0/0': 'part' })
    assert.deepEqual(await look(storeOf([box], held), [column(1, 0, 0, 0)], [-90, 0, 0, 66]), { '1/0/0': 'whole' })
  })

  it('works across the antimeridian', async () => {
    const store = storeOf([area({ bbox: [135, 0, -135, 66], zooms: { min: 3, max: 5 } })],
      { held: (z, x, y) => z === 3 && (x === 0 || x === 7) && y === 3 })
    assert.deepEqual(await look(store, [column(3, 0, 3, 3), column(3, 7, 3, 3), column(3, 1, 3, 3)]),
      { '3/0/3': 'whole', '3/7/3': 'whole' })
    assert.deepEqual(await look(storeOf([area({ bbox: west, zooms: { min: 9, max: 9 } })], { held: () => false }),
      [column(0, 0)]), { '0/0/0': 'part' })
  })
})

onField('the coverage on a map', ['small'], stage => {
  const marks = page => page.evaluate(() => {
    const kinds = {}
    for (const { el, current } of Object.values(/** @type {any} */ (window).marks._tiles)) {
      if (current) kinds[el.dataset.tile] = /coverage-(whole|part)/.exec(el.className)?.[1] ?? null
    }
    return kinds
  })
  const eventually = (page, wanted) => page.waitForFunction(expected => {
    const all = /** @type {any} */ (window).marks._tiles
    const seen = Object.values(all).filter(({ current }) => current)
      .map(({ el }) => `${el.dataset.tile} ${/coverage-(whole|part)/.exec(el.className)?.[1]}`)
    return expected.every(line => seen.includes(line))
  }, wanted)

  async function show (page, zoom = 2) {
    await page.evaluate(z => {
      const view = /** @type {any} */ (window)
      view.map = L.map('map', { center: [0, 0], zoom: z, zoomAnimation: false })
      view.looks = 0
      view.marks = L.tileLayer.couch.coverage(view.offline, { layer: 'small' })
        .on('coverage', () => { view.looks++ }).addTo(view.map)
    }, zoom)
  }

  it('is updated when an area is downloaded, added or removed', async () => {
    const page = await (await stage.device()).open()
    await show(page)
    assert.deepEqual([...new Set(Object.values(await marks(page)))], [null])
    await take(page, { name: 'West', layer: 'small', bbox: [-180, -85, -0.1, 85], zooms: '0-4' })
    await eventually(page, ['2/1/1 whole', '2/1/2 whole', '2/2/1 undefined'])
    await take(page, { name: 'Overview', layer: 'small', bbox: [-180, -85, 180, 85], zooms: '0-2' })
    await eventually(page, ['2/1/1 whole', '2/2/1 whole', '2/2/2 whole'])
    await field(page, 'call', 'West', 'remove')
    await eventually(page, ['2/1/1 whole', '2/2/1 whole'])
    await page.evaluate(() => { /** @type {any} */ (window).map.setZoom(3) })
    await page.waitForFunction(() => Object.values(/** @type {any} */ (window).marks._tiles)
      .some(({ el, current }) => current && /^3/.test(el.dataset.tile)))
    await field(page, 'call', 'Overview', 'remove')
    await page.evaluate(() => { /** @type {any} */ (window).map.setZoom(2) })
    await page.waitForFunction(() => document.querySelectorAll('[class*="coverage-whole"], [class*="coverage-part"]')
      .length === 0)
  })

  it('is shown in another tab, also without a network', async () => {
    const device = await stage.device()
    const page = await device.open()
    const other = await device.open()
    await show(other)
    await take(page, { name: 'East', layer: 'small', bbox: [0.1, -85, 180, 85], zooms: '1-4' })
    await eventually(other, ['2/2/1 whole', '2/1/1 undefined'])
    await device.leave()
    await other.evaluate(() => { /** @type {any} */ (window).map.setZoom(5) })
    await other.waitForFunction(() => Object.values(/** @type {any} */ (window).marks._tiles)
      .some(({ el, current }) => current && /^4/.test(el.dataset.tile)))
    await eventually(other, ['4/8/7 whole'])
    await other.evaluate(() => { /** @type {any} */ (window).map.setZoom(0) })
    await eventually(other, ['0/0/0 part'])
    await device.comeBack()
  })

  it('can be removed and added again during an update, and ends with the store', async () => {
    const page = await (await stage.device()).open()
    await take(page, { name: 'All', layer: 'small', bbox: [-180, -85, 180, 85], zooms: '0-2' })
    await show(page)
    await page.evaluate(() => {
      const { map, marks: layer, offline } = /** @type {any} */ (window)
      for (let turn = 0; turn < 20; turn++) {
        layer.remove()
        layer.addTo(map)
        map.setView([turn, turn * 5], 1 + turn % 3, { animate: false })
        offline.fire('tiles', { layer: 'small' })
      }
      map.setView([0, 0], 1, { animate: false })
    })
    await eventually(page, ['1/0/0 whole', '1/1/1 whole'])
    assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).marks.counts()), { whole: 4, part: 0 })
    await page.evaluate(async () => {
      const { map, marks: layer, offline } = /** @type {any} */ (window)
      await offline.close()
      map.setView([10, 10], 2, { animate: false })
      layer.refresh()
      layer.remove()
      map.remove()
    })
    assert.ok(await page.evaluate(() => /** @type {any} */ (window).looks) < 30, 'not a look for each event')
  })
})
