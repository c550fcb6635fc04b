// Layers whose pictures tell what they are: the colour of a tile encodes its place and its time, and the colour of a
// quarter also encodes which quarter it is.
import { chunk, storedPng } from '../../../bench/tiles.js'
import { gridOf } from '../../../core/index.js'
import { packTile } from '../vector-tile.js'

const SIZE = 8 // pixels; enlarged, the middle of a quarter is not blurred
const ROW = 1 + 3 * SIZE // bytes
const RESOLUTION = chunk('pHYs', Buffer.from([0, 0, 11, 19, 0, 0, 11, 19, 1])) // pixels per metre, as in most pictures

/** The time of step 1, 2, 3, … */
export const T = step => `2024-01-${String(step).padStart(2, '0')}T00:00:00Z`

/**
 * @param {number} step up to 31
 * @param {number} z modulo 8 in the colour
 * @param {number} x up to 255
 * @param {number} y up to 255
 */
export function picture (step, z, x, y) {
  const rows = Buffer.alloc(SIZE * ROW)
  for (let index = 0; index < SIZE * SIZE; index++) {
    const [row, column] = [Math.floor(index / SIZE), index % SIZE]
    const quarter = +(column >= SIZE / 2) + 2 * +(row >= SIZE / 2)
    rows.set([step * 8 + z % 8, x * 8, y * 8 + quarter], row * ROW + 1 + 3 * column)
  }
  // the last pixel, which no test reads, differs from that of the tile 32 further on
  if (x > 31 || y > 31) rows.set([x, y, step], rows.length - 3)
  return storedPng(rows, { width: SIZE, height: SIZE, more: [RESOLUTION] })
}

/** Bytes of each picture. They are not compressed, so all have the same size. */
export const { length: LENGTH } = picture(1, 3, 0, 0)

/** A picture as a vector tile: one square that covers the tile, with the colour as an attribute. */
const square = (step, z, x, y) => packTile({
  squares: [{
    type: 'Polygon', lines: [[[0, 0], [4096, 0], [4096, 4096], [0, 4096]]],
    properties: { colour: `rgb(${step * 8 + z}, ${x * 8}, ${y * 8})` }
  }]
})

/**
 * All versions of a layer.
 * @param {string} layer
 * @param {Record<number, number[]>} steps the tiles that each step writes, as [z, x, y]; a fourth member `true` means
 *   gone
 */
export async function history (layer, steps) {
  const versions = []
  for (const [step, tiles] of Object.entries(steps)) {
    for (const [z, x, y, gone] of /** @type {any} */ (tiles)) {
      versions.push(
        { layer, z, x, y, time: T(step), ...(gone ? { gone: true }
          : { bytes: await (layers[layer]?.draw ?? picture)(+step, z, x, y) }) }
      )
    }
  }
  return versions
}

/**
 * Tiles of a zoom: all of them, or those that are selected.
 * @param {number} z @param {(x: number, y: number) => boolean} [isSelected]
 */
export function tilesOf (z, isSelected = () => true) {
  const tiles = []
  for (let x = 0; x < 2 ** z; x++) for (let y = 0; y < 2 ** z; y++) if (isSelected(x, y)) tiles.push([z, x, y])
  return tiles
}

const ALL = tilesOf(3)

/** Tiles of a zoom of another grid: all of them, or those that are selected. */
function tilesIn (grid, z, isSelected = () => true) {
  const { columns, rows } = gridOf({ grid }).matrix(z)
  return Array.from({ length: columns * rows }, (_, index) => [z, Math.floor(index / rows), index % rows])
    .filter(([, x, y]) => isSelected(x, y))
}

/**
 * The history of a layer in another grid: step 2 changes a half of all zooms, step 3 one tile in the middle of the
 * last.
 */
const gridSteps = (grid, zooms, middle) => ({
  1: zooms.flatMap(z => tilesIn(grid, z)), 2: zooms.flatMap(z => tilesIn(grid, z, (x, y) => (x + y) % 2 === 0)),
  3: [middle]
})

/** The layers of the suites: fields of their documents, and the tiles that each step writes. */
export const layers = {
  // every step changes other tiles of the same zoom
  steps: {
    fields: { name: 'Steps', minzoom: 3, maxzoom: 3 },
    steps: { 1: ALL, 2: tilesOf(3, (x, y) => (x + y) % 2 === 0), 3: tilesOf(3, x => x < 4), 4: [[3, 3, 3]], 5: ALL }
  },
  // 3/3/3 is gone and comes back, 3/4/3 begins later, 3/3/4 never exists; no lower zooms fill the holes
  holes: {
    fields: { minzoom: 3, maxzoom: 3 },
    steps: {
      1: tilesOf(3, (x, y) => !(x === 4 && y === 3) && !(x === 3 && y === 4)),
      2: [[3, 3, 3, true]], 3: [[3, 3, 3], [3, 4, 3]]
    }
  },
  // two zooms, in which every step changes everything
  depths: { fields: { minzoom: 3, maxzoom: 4 }, steps: { 1: [...ALL, ...tilesOf(4)], 2: [...ALL, ...tilesOf(4)] } },
  // the whole world at zoom 1, a half of it at 2, one tile at 3
  deep: {
    fields: { minzoom: 1, maxzoom: 3 },
    steps: { 1: [...tilesOf(1), ...tilesOf(2, x => x < 2)], 2: [[3, 3, 3]], 3: tilesOf(1) }
  },
  // every step changes two zooms wholly
  zooms: { fields: { minzoom: 2, maxzoom: 3 }, steps: {
    1: [...tilesOf(2), ...ALL], 2: [...tilesOf(2), ...ALL], 3: [...tilesOf(2), ...ALL]
  } },
  late: { fields: { minzoom: 3, maxzoom: 3 }, steps: { 4: ALL, 5: tilesOf(3, x => x === 3) } },
  large: { fields: { minzoom: 2, maxzoom: 2, tileSize: 512 }, steps: { 1: tilesOf(2), 2: [[2, 1, 1]] } },
  // Europe or so: columns 4 and rows 2 and 3 of zoom 3
  bounded: { fields: { minzoom: 3, maxzoom: 3, bounds: [1, 1, 44, 65] }, steps: { 1: ALL } },
  // columns 7 and 0 of zoom 3
  pacific: {
    fields: { minzoom: 3, maxzoom: 3, bounds: [140, -40, -140, 40] }, steps: { 1: ALL, 2: [[3, 7, 3], [3, 0, 3]] }
  },
  squares: {
    fields: { name: 'Squares', minzoom: 3, maxzoom: 3, format: 'pbf', vector_layers: [
      { id: 'squares', fields: { colour: 'String' } }
    ] }, draw: square,
    steps: {
      1: ALL, 2: tilesOf(3, (x, y) => (x + y) % 2 === 0), 3: tilesOf(3, x => x < 4), 4: [[3, 3, 3, true]], 5: ALL
    }
  },
  // other grids; LV95 lacks 17/9/6, and its zooms do not halve
  swiss: {
    fields: { grid: 'LV95', minzoom: 16, maxzoom: 17, bounds: [5.9, 45.8, 10.5, 47.9] },
    steps: Object.fromEntries(Object.entries(gridSteps('LV95', [16, 17], [17, 10, 6]))
      .map(([step, tiles]) => [step, tiles.filter(([z, x, y]) => !(z === 17 && x === 9 && y === 6))]))
  },
  degrees: {
    fields: { grid: 'WorldCRS84Quad', minzoom: 2, maxzoom: 3 }, steps: gridSteps('WorldCRS84Quad', [2, 3], [3, 4, 1])
  },
  europe: { fields: { grid: 'EuropeanETRS89_LAEAQuad', minzoom: 2, maxzoom: 3 }, steps: gridSteps(
    'EuropeanETRS89_LAEAQuad', [2, 3], [3, 3, 4]
  ) },
  arctic: { fields: {
    grid: 'UPSArcticWGS84Quad', minzoom: 2, maxzoom: 3, bounds: [-180, 30, 180, 90]
  }, steps: gridSteps('UPSArcticWGS84Quad', [2, 3], [3, 3, 4]) },
  vector: { fields: { minzoom: 3, maxzoom: 3, format: 'pbf' }, steps: { 1: ALL, 2: [[3, 3, 3]] } }
}

/** The step that a tile of a layer shows as of a step, `-` for none. */
export const stepAt = (layer, step, z, x, y) => stepOf(layers[layer].steps, step, z, x, y)

/** The step that a tile shows, from the tiles that each step writes. @param {Record<number, any[]>} steps */
export function stepOf (steps, step, z, x, y) {
  const writes = Object.entries(steps)
    .filter(([when, tiles]) => +when <= step && tiles.some(tile => tile[0] === z && tile[1] === x && tile[2] === y))
  const last = writes.at(-1)
  return !last || last[1].some(tile => tile[0] === z && tile[1] === x && tile[2] === y && tile[3]) ? '-' : last[0]
}

/** @param {import('../../../loader/index.js').Store} store @param {string[]} names */
export async function writeGallery (store, names) {
  for (const name of names) {
    await store.defineLayer(name, layers[name].fields)
    await store.write(await history(name, layers[name].steps))
  }
}
