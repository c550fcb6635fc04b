// From degrees to the coordinates of a system and back, as outlines: what is straight on one side bends on the other,
// so lines get points between until they lie near enough.

/** @typedef {import('../grid.js').Bbox} Bbox */
/** @typedef {import('./projections.js').Position} Position */

const NEAR = 1e-8 // of the width of a grid, by which a line may miss what it stands for: a centimetre for Switzerland
const DEEPEST = 12 // times that a line is halved at most
const SIDE = 64 // points on a side of a box of the system
const STEP = 10 // degrees between points of a box at least: longer lines may miss in the middle only

const isFinite = ([x, y]) => Number.isFinite(x) && Number.isFinite(y)

/**
 * The degrees that a box of a system spans; east is beyond 180 where it crosses the antimeridian.
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
    // what goes round a pole has all longitudes, and the pole
    if (!(x >= left && x <= right && y >= bottom && y <= top) || !isAt(grid, [x, y], pole)) continue
    [west, east] = [-180, 180]
    if (pole < 0) south = pole
    else north = pole
  }
  const back = 360 * Math.floor((west + 180) / 360)
  return east - west >= 360 ? [-180, south, 180, north] : [west - back, south, east - back, north]
}

/** Whether a place of a system is a pole: projections may put one anywhere that they cannot show. */
const isAt = (grid, position, pole) => Math.abs(grid.toLonLat(position)[1] - pole) < 1e-6

/**
 * A box of degrees as rings in the system.
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
 * Polygons of degrees in the system: what of them is within the reach of the grid.
 * @param {import('./grid.js').Grid} grid @param {Position[][][]} polygons
 * @param {number} [near] units of the system, by which a line may miss
 * @returns {Position[][][]}
 */
export function project (grid, polygons, near = grid.width * NEAR) {
  const { reach } = grid
  const parts = []
  for (const rings of polygons) {
    const [west, east] = spanOf(rings[0])
    for (let turn = -2; turn <= 2; turn++) {
      if (west + turn * 360 >= reach[2] || east + turn * 360 <= reach[0]) continue
      const inside = rings.map(ring => clipped(ring.map(([lon, lat]) => [lon + turn * 360, lat]), reach))
        .filter(ring => ring.length > 3)
      if (inside.length) parts.push(inside.map(ring => bent(grid, ring, near)))
    }
  }
  return parts
}

function spanOf (ring) {
  let [west, east] = [Infinity, -Infinity]
  for (const [lon] of ring) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
  }
  return [west, east]
}

/** A ring within a box, closed: cut at one side after the other. @returns {Position[]} */
function clipped (ring, [west, south, east, north]) {
  const sides = [
    { axis: 0, at: west, sign: 1 }, { axis: 0, at: east, sign: -1 },
    { axis: 1, at: south, sign: 1 }, { axis: 1, at: north, sign: -1 }
  ]
  let points = ring.slice(0, -1)
  for (const { axis, at, sign } of sides) {
    const depth = point => (point[axis] - at) * sign
    points = points.flatMap((point, index) => {
      const before = points[(index || points.length) - 1]
      const [from, to] = [depth(before), depth(point)]
      const crossing = () => {
        const part = from / (from - to)
        const cut = [0, 1].map(other => before[other] + (point[other] - before[other]) * part)
        cut[axis] = at
        return cut
      }
      if (to >= 0) return from < 0 && to > 0 ? [crossing(), point] : [point]
      return from > 0 ? [crossing()] : []
    })
  }
  return points.length ? [...points, points[0]] : []
}

/** A ring in the system, with points between. @param {Position[]} ring @returns {Position[]} */
function bent (grid, ring, near) {
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
  const off = Math.hypot(middle[0] - (from[0] + to[0]) / 2, middle[1] - (from[1] + to[1]) / 2)
  if (!(off > near)) return
  halve(grid, a, half, from, middle, near, depth - 1, points)
  points.push(middle)
  halve(grid, half, b, middle, to, near, depth - 1, points)
}
