// Converts outlines from degrees to the coordinates of a system and back. A straight line in one may be a curve in the
// other, so points are added to a line until it is near enough to the curve. Grid uses it.
import { extent } from '../geojson.js'

/** @typedef {import('../grid.js').Bbox} Bbox */
/** @typedef {import('./projections.js').Position} Position */

const NEAR = 1e-8 // of the width of a grid: largest distance of a line from the curve, 1 cm for Switzerland
const DEEPEST = 12 // times that a line is halved at most
const SIDE = 64 // points per side of a box of the system
const STEP = 10 // degrees between points of a box at most: a longer line may be near only in its middle

const isFinite = ([x, y]) => Number.isFinite(x) && Number.isFinite(y)

/**
 * The degrees that a box of a system spans. East is greater than 180 if the box crosses the antimeridian.
 * @param {import('./grid.js').Grid} grid @param {Bbox} box left, bottom, right, top
 * @returns {Bbox}
 */
export function reachOf (grid, [left, bottom, right, top]) {
  const along = (from, to) => Array.from({ length: SIDE }, (_, index) => from + (to - from) * index / SIDE)
  const ring = /** @type {Position[]} */ ([
    ...along(left, right).map(x => [x, bottom]), ...along(bottom, top).map(y => [right, y]),
    ...along(right, left).map(x => [x, top]), ...along(top, bottom).map(y => [left, y])
  ]).map(position => grid.toLonLat(position)).filter(isFinite)
  let [west, east, south, north] = [Infinity, -Infinity, 90, -90]
  let turn = 0
  for (const [index, [lon, lat]] of ring.entries()) {
    const step = index ? lon - ring[index - 1][0] : 0
    if (Math.abs(step) > 180) turn -= Math.sign(step) * 360
    west = Math.min(west, lon + turn)
    east = Math.max(east, lon + turn)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  for (const pole of [-90, 90]) {
    const [x, y] = grid.toCrs([0, pole])
    // a box around a pole has all longitudes, and the pole
    if (!(x >= left && x <= right && y >= bottom && y <= top) || !isPole(grid, [x, y], pole)) continue
    [west, east] = [-180, 180]
    if (pole < 0) south = pole
    else north = pole
  }
  const back = 360 * Math.floor((west + 180) / 360)
  return east - west >= 360 ? [-180, south, 180, north] : [west - back, south, east - back, north]
}

/** Whether a place of a system is a pole. A projection may return any place for a pole that it cannot show. */
const isPole = (grid, position, pole) => Math.abs(grid.toLonLat(position)[1] - pole) < 1e-6

/**
 * Converts a box of degrees to rings in the system.
 * @param {import('./grid.js').Grid} grid @param {Bbox} bbox @param {number} [near] units of the system
 */
export function outlineOf (grid, [west, south, east, north], near) {
  const ring = (from, to) => {
    const steps = Math.max(1, Math.ceil((to - from) / STEP))
    const along = Array.from({ length: steps + 1 }, (_, index) => from + (to - from) * index / steps)
    const rise = Math.max(1, Math.ceil((north - south) / STEP))
    const up = Array.from({ length: rise + 1 }, (_, index) => south + (north - south) * index / rise)
    return /** @type {Position[]} */ ([
      ...along.map(lon => [lon, south]), ...up.slice(1).map(lat => [to, lat]),
      ...along.slice(0, -1).reverse().map(lon => [lon, north]), ...up.slice(0, -1).reverse().map(lat => [from, lat])
    ])
  }
  return project(grid, [[ring(west, west > east ? east + 360 : east)]], near).flat()
}

/**
 * Converts polygons of degrees to the system, clipped to the reach of the grid.
 * @param {import('./grid.js').Grid} grid @param {Position[][][]} polygons
 * @param {number} [near] units of the system: largest distance of a line from the curve
 * @returns {Position[][][]}
 */
export function project (grid, polygons, near = grid.width * NEAR) {
  const { reach } = grid
  const parts = []
  for (const rings of polygons) {
    const [west, east] = extent(rings[0])
    for (let turn = -2; turn <= 2; turn++) {
      if (west + turn * 360 >= reach[2] || east + turn * 360 <= reach[0]) continue
      const inside = rings.map(ring => clipRing(ring.map(([lon, lat]) => [lon + turn * 360, lat]), reach))
        .filter(ring => ring.length > 3)
      if (inside.length) parts.push(inside.map(ring => bendRing(grid, ring, near)))
    }
  }
  return parts
}

/** Clips a ring to a box, one side after the other. The result is closed. @returns {Position[]} */
function clipRing (ring, [west, south, east, north]) {
  const sides = [
    { axis: 0, at: west, sign: 1 }, { axis: 0, at: east, sign: -1 },
    { axis: 1, at: south, sign: 1 }, { axis: 1, at: north, sign: -1 }
  ]
  let points = ring.slice(0, -1)
  for (const { axis, at: sidePosition, sign } of sides) {
    const depth = point => (point[axis] - sidePosition) * sign
    points = points.flatMap((point, index) => {
      const before = points[(index || points.length) - 1]
      const [from, to] = [depth(before), depth(point)]
      const crossing = () => {
        const fraction = from / (from - to)
        const cut = [0, 1].map(other => before[other] + (point[other] - before[other]) * fraction)
        cut[axis] = sidePosition
        return cut
      }
      if (to >= 0) return from < 0 && to > 0 ? [crossing(), point] : [point]
      return from > 0 ? [crossing()] : []
    })
  }
  return points.length ? [...points, points[0]] : []
}

/** Converts a ring to the system, and adds points to its lines. @param {Position[]} ring @returns {Position[]} */
function bendRing (grid, ring, near) {
  const projected = ring.map(position => grid.toCrs(position))
  const points = [projected[0]]
  for (let index = 1; index < ring.length; index++) {
    halve(grid, ring[index - 1], ring[index], projected[index - 1], projected[index], near, DEEPEST, points)
    points.push(projected[index])
  }
  return points.filter(isFinite)
}

function halve (grid, a, b, from, to, near, depth, points) {
  if (!depth) return
  const half = /** @type {Position} */ ([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2])
  const middle = grid.toCrs(half)
  const distance = Math.hypot(middle[0] - (from[0] + to[0]) / 2, middle[1] - (from[1] + to[1]) / 2)
  if (!(distance > near)) return
  halve(grid, a, half, from, middle, near, depth - 1, points)
  points.push(middle)
  halve(grid, half, b, middle, to, near, depth - 1, points)
}
