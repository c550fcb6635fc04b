// Does a curve bend, and where? LayerStatements of the figures, whatever they are: level, no faster than the logarithm of the tiles, or faster.
import { AT, HEAD, HISTORY, REDIRECT, SMALL } from './asks.js'

export const LEVEL = 0.15 // less change than this from the smallest to the largest size is called none

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{change: number, kind: 'level' | 'logarithm' | 'faster' | 'falling', from: number, to: number}} Shape from, to: of the steepest step */

/**
 * @param {Point[]} points in the order of x
 * @returns {Shape}
 */
export function shapeOf (points) {
  const [first, last] = [points[0], points[points.length - 1]]
  const change = last.y / first.y
  const logarithm = Math.log(last.x) / Math.log(first.x)
  const kind = Math.abs(change - 1) <= LEVEL ? 'level' : change < 1 ? 'falling' : Number(change.toFixed(2)) <= Number(logarithm.toFixed(2)) ? 'logarithm' : 'faster'
  // steep in the direction of the whole, by the factor of each doubling
  const slope = at => Math.log(points[at].y / points[at - 1].y) / Math.log(points[at].x / points[at - 1].x) * Math.sign(change - 1)
  const steepest = points.map((_, at) => at).slice(1).reduce((a, b) => slope(b) > slope(a) ? b : a, 1)
  return { change, kind, from: points[steepest - 1].x, to: points[steepest].x }
}

const pointsOf = (stages, valueOf) => stages.map(stage => ({ x: stage.tiles, y: valueOf(stage) })).filter(({ y }) => y)

/** Against the smallest store, which was asked in turns: the machine's drift is in both. At the smallest size the two are the same store, and differ by chance. */
const against = (stages, name) => pointsOf(stages, ({ results }) => results[name].ms.p50 / results[name + SMALL].ms.p50).map((point, at) => at ? point : { ...point, y: 1 })

/**
 * Everything that may bend, with its points.
 * @param {{stages: any[]}} result bench/results/growth.json
 * @returns {{name: string, points: Point[]}[]}
 */
export function curvesOf ({ stages }) {
  const asked = [HEAD, AT, REDIRECT, HISTORY]
  return [
    { name: 'loading, seconds a tile', points: pointsOf(stages, ({ first }) => 1 / first.rate) },
    { name: 'a second edition, seconds a tile', points: pointsOf(stages, ({ second }) => 1 / second.rate) },
    { name: 'building the index, seconds a version', points: pointsOf(stages, ({ index }) => 1 / index.rate) },
    ...asked.map(name => ({ name, points: against(stages, name) })),
    ...(stages[0].reads ? asked.map(name => ({ name: `${name}, bytes read`, points: pointsOf(stages, ({ reads }) => reads[name].bytes) })) : []),
    { name: 'database, bytes a version as loaded', points: pointsOf(stages, ({ database }) => database.loaded) },
    { name: 'database, bytes a version when compacted', points: pointsOf(stages, ({ database, versions }) => database.file / versions) },
    { name: 'index, bytes a version when compacted', points: pointsOf(stages, ({ index, versions }) => index.compacted / versions) },
    ...(stages[0].memory ? [{ name: 'memory of CouchDB at its most', points: pointsOf(stages, ({ memory }) => Math.max(...Object.values(memory))) }] : [])
  ]
}
