/* global L, document, window -- of the page, in functions that run there */
// Tests the coverage of tiles by a device: computed from areas and columns, and drawn over the map.
import assert from 'node:assert/strict'
import { coverageOf } from '../../client/offline/coverage.js'
import { gridOf, parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { field, onField, take } from '../support/offline/suite.js'

/** Makes an OfflineStore with these areas. `held` tells which tiles are on the device. */
function storeOf (areas, { held: isOnDevice = () => true } = {}) {
  const columnLists = /** @type {any[]} */ ([])
  const listRows = has => async (layer, { z, x, y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, row) => y0 + row)
    .filter(y => has(z, x, y))
  return {
    asked: columnLists,
    ready: Promise.resolve(),
    areas: { list: () => areas },
    device: {
      async versions (layer, columns) {
        columnLists.push(columns)
        const rowLists = await Promise.all(columns.map(column => listRows(isOnDevice)(layer, column)))
        return rowLists.map(ys => ys.map(y => ({ y, current: true, gone: false })))
      }
    }
  }
}

const area = ({ bbox, polygon, grid, zooms, isComplete = true, state = 'complete', tiles = 1, layer = 'osm' }) => ({
  layer, state, isComplete, status: () => ({ tiles }),
  selection: new Selection({ layers: [layer], area: parseArea({ bbox, polygon, grid }), zooms, current: true })
})
const column = (z, x, y0 = 0, y1 = 2 ** z - 1) => ({ z, x, y0, y1 })
const columnsOf = z => Array.from({ length: 2 ** z }, (_, x) => column(z, x))
const look =
  async (store, columns, bounds) => Object.fromEntries(await coverageOf(store, 'osm', columns, bounds && { bounds }))

describe('the coverage of a tile', () => {
  const west = [-180, -85, 0, 85]

  it('is whole where an area has all tiles below it, and part at the edge of the area', async () => {
    const store = storeOf([area({ bbox: [-180, -85.06, 45, 85.06], zooms: { min: 0, max: 6 } })],
      { held: (z, x) => x <= 2 ** z * 225 / 360 })
    assert.deepEqual(await look(store, columnsOf(1)),
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
    assert.deepEqual(await look(store, columnsOf(1)),
      { '1/0/0': 'whole', '1/0/1': 'whole', '1/1/0': 'part', '1/1/1': 'whole' })
  })

  it('is whole when an area has zooms beyond those of the grid', async () => {
    const { set } = gridOf({ grid: 'WorldCRS84Quad' })
    const doc = { grid: { ...set, id: 'Shallow', tileMatrices: set.tileMatrices.slice(0, 5) } }
    const grid = gridOf(doc)
    const { firstZoom: z, lastZoom } = grid
    const deeper = area({ bbox: [-180, -90, 0, 90], grid, zooms: { min: z, max: lastZoom + 2 } })
    const deepest = area({ bbox: [0, -90, 180, 90], grid, zooms: { min: z, max: lastZoom } })
    const coverage = await coverageOf(storeOf([deeper, deepest]), 'osm', [column(z, 0, 0, 0), column(z, 1, 0, 0)], doc)
    assert.deepEqual(Object.fromEntries(coverage), { [`${z}/0/0`]: 'whole', [`${z}/1/0`]: 'whole' })
  })

  it('is at most part when the area is incomplete or does not have the zoom of the tile', async () => {
    const zooms = { min: 2, max: 5 }
    const bbox = [-180, -86, 180, 86]
    assert.deepEqual(await look(storeOf([area({ bbox, zooms, isComplete: false })]), [column(3, 1, 1, 1)]),
      { '3/1/1': 'part' })
    const deeper = { held: z => z >= 2 }
    assert.deepEqual(await look(storeOf([area({ bbox, zooms })], deeper), [column(1, 0), column(2, 0, 0, 0)]),
      { '1/0/0': 'part', '1/0/1': 'part', '2/0/0': 'whole' })
    assert.deepEqual(await look(storeOf([area({ bbox, zooms, tiles: 0, isComplete: false })], deeper), [column(1, 0)]),
      {}, 'nothing of it is here yet')
    assert.deepEqual(await look(storeOf([area({ bbox, zooms })], { held: () => false }), [column(6, 0, 0, 3)]),
      {}, 'it is not as deep')
  })

  it('ignores areas of other layers and areas that are being removed', async () => {
    const bbox = [-180, -86, 180, 86]
    const zooms = { min: 0, max: 3 }
    const store =
      storeOf([area({ bbox, zooms, layer: 'topo' }), area({ bbox, zooms, state: 'removing' })], { held: () => false })
    assert.deepEqual(await look(store, columnsOf(2)), {})
  })

  it('respects polygons, and needs no tiles beyond the bounds of the layer', async () => {
    const polygon =
      { type: 'Polygon', coordinates: [[[-179.9, -80], [-0.1, -80], [-0.1, 80], [-179.9, 80], [-179.9, -80]]] }
    const shape = area({ polygon, zooms: { min: 0, max: 8 } })
    const shapeTiles = { held: (z, x, y) => shape.selection.touches(z, x, y) }
    assert.deepEqual(await look(storeOf([shape], shapeTiles), [column(2, 0), column(2, 1), column(2, 2)]), {
      '2/0/0': 'part', '2/0/1': 'whole', '2/0/2': 'whole', '2/0/3': 'part',
      '2/1/0': 'part', '2/1/1': 'whole', '2/1/2': 'whole', '2/1/3': 'part'
    })
    const box = area({ bbox: [-90, 0, 0, 66], zooms: { min: 0, max: 8 } })
    const boxTiles = { held: (z, x, y) => box.selection.touches(z, x, y) }
    assert.deepEqual(await look(storeOf([box], boxTiles), [column(1, 0, 0, 0)]), { '1/0/0': 'part' })
    assert.deepEqual(await look(storeOf([box], boxTiles), [column(1, 0, 0, 0)], [-90, 0, 0, 66]), { '1/0/0': 'whole' })
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
  const readMarks = page => page.evaluate(() => {
    const kinds = {}
    for (const { el, current } of Object.values(/** @type {any} */ (window).marks._tiles)) {
      if (current) kinds[el.dataset.tile] = /coverage-(whole|part)/.exec(el.className)?.[1] ?? null
    }
    return kinds
  })
  const waitForMarks = (page, lines) => page.waitForFunction(expected => {
    const tiles = /** @type {any} */ (window).marks._tiles
    const shownLines = Object.values(tiles).filter(({ current }) => current)
      .map(({ el }) => `${el.dataset.tile} ${/coverage-(whole|part)/.exec(el.className)?.[1]}`)
    return expected.every(line => shownLines.includes(line))
  }, lines)

  async function show (page, zoom = 2) {
    await page.evaluate(z => {
      const pageWindow = /** @type {any} */ (window)
      pageWindow.map = L.map('map', { center: [0, 0], zoom: z, zoomAnimation: false })
      pageWindow.looks = 0
      pageWindow.marks = L.tileLayer.couch.coverage(pageWindow.offline, { layer: 'small' })
        .on('coverage', () => { pageWindow.looks++ }).addTo(pageWindow.map)
    }, zoom)
  }

  it('is updated when an area is downloaded, added or removed', async () => {
    const page = await (await stage.device()).open()
    await show(page)
    assert.deepEqual([...new Set(Object.values(await readMarks(page)))], [null])
    await take(page, { name: 'West', layer: 'small', bbox: [-180, -85, -0.1, 85], zooms: '0-4' })
    await waitForMarks(page, ['2/1/1 whole', '2/1/2 whole', '2/2/1 undefined'])
    await take(page, { name: 'Overview', layer: 'small', bbox: [-180, -85, 180, 85], zooms: '0-2' })
    await waitForMarks(page, ['2/1/1 whole', '2/2/1 whole', '2/2/2 whole'])
    await field(page, 'call', 'West', 'remove')
    await waitForMarks(page, ['2/1/1 whole', '2/2/1 whole'])
    await page.evaluate(() => { /** @type {any} */ (window).map.setZoom(3) })
    await page.waitForFunction(() => Object.values(/** @type {any} */ (window).marks._tiles)
      .some(({ el, current }) => current && /^3/.test(el.dataset.tile)))
    await field(page, 'call', 'Overview', 'remove')
    await page.evaluate(() => { /** @type {any} */ (window).map.setZoom(2) })
    await page.waitForFunction(() => document.querySelectorAll('[class*="coverage-whole"], [class*="coverage-part"]')
      .length === 0)
  })

  it('is not drawn on a map in another system than that of the layer', async () => {
    const page = await (await stage.device()).open()
    await take(page, { name: 'World', layer: 'small', bbox: [-180, -85, 180, 85], zooms: '0-4' })
    const counts = await page.evaluate(async () => {
      const map = L.map('map', { crs: L.CRS.EPSG4326, center: [0, 0], zoom: 2 })
      const marks = L.tileLayer.couch.coverage(/** @type {any} */ (window).offline, { layer: 'small' })
      const coverageEvent = new Promise(resolve => { marks.once('coverage', event => resolve(event)) })
      marks.addTo(map)
      await coverageEvent
      return marks.counts()
    })
    assert.deepEqual(counts, { whole: 0, part: 0 })
  })

  it('is shown in another tab, also without a network', async () => {
    const device = await stage.device()
    const page = await device.open()
    const otherPage = await device.open()
    await show(otherPage)
    await take(page, { name: 'East', layer: 'small', bbox: [0.1, -85, 180, 85], zooms: '1-4' })
    await waitForMarks(otherPage, ['2/2/1 whole', '2/1/1 undefined'])
    await device.leave()
    await otherPage.evaluate(() => { /** @type {any} */ (window).map.setZoom(5) })
    await otherPage.waitForFunction(() => Object.values(/** @type {any} */ (window).marks._tiles)
      .some(({ el, current }) => current && /^4/.test(el.dataset.tile)))
    await waitForMarks(otherPage, ['4/8/7 whole'])
    await otherPage.evaluate(() => { /** @type {any} */ (window).map.setZoom(0) })
    await waitForMarks(otherPage, ['0/0/0 part'])
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
    await waitForMarks(page, ['1/0/0 whole', '1/1/1 whole'])
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
