// A selection as CouchDB's replicator understands it: a Mango selector. It asks for ids alone, as our own mirrors do: of a
// document that was deleted nothing but its id is left, and a selector for fields would leave the deletion out. The expressions
// have no lookaheads: the embedded store as a source runs them in RE2.
import { MAX_ZOOM, STORE_ID, TilecouchError } from '../../core/index.js'
import { digitsBetween } from './digits.js'

const MOST = 24000 // characters of the expression, which CouchDB reads anew for every change

const NAME = '[a-z0-9][a-z0-9_-]{0,62}'
const KIND = '(?:layer|edition|manifest|block|removed)'
/** Ids with the name of a kind where a layer should stand. */
const NO_LAYER = `^(?:${KIND}:${KIND}(?:[:@]|$)|${KIND}:[0-9]+:[0-9]+:[0-9]+(?:@|$))`
const ZOOM = digitsBetween(0, MAX_ZOOM)
const RUN = '[0-9]{8}T[0-9]{9}-[0-9a-z]{4}'
const NUMBER = '(?:0|[1-9][0-9]{0,9})'
const TIME = '@[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z'

/**
 * Throws REPLICATOR_CANNOT for what no selector can tell.
 * @param {import('../../core/mirror/index.js').Selection} selection
 * @returns {Record<string, any>}
 */
export function mangoOf (selection) {
  if (selection.since !== undefined) throw cannot('leave out the past before a time', 'whether a version was still to be seen then is told by the others of its tile, not by its own document')
  // code is never taken from elsewhere
  if (selection.isWhole) return { $not: { _id: { $regex: '^_design/' } } }
  const own = { _id: { $regex: expression(selection) } }
  return selection.layers ? own : { $and: [own, { $not: { _id: { $regex: NO_LAYER } } }] }
}

function expression ({ layers, area, zooms, current }) {
  const names = layers ? `(?:${[...layers].sort().join('|')})` : NAME
  const tiles = zooms || area ? `(?:${zoomsOf(area, zooms).join('|')})` : `${ZOOM}:${NUMBER}:${NUMBER}`
  const text = `^(?:${STORE_ID}|layer:${names}|edition:${names}${TIME}|${current ? '' : `(?:manifest:${names}${TIME}|removed:${names}):${RUN}(?::[0-9]+)?|block:${names}:${blocksOf(area, zooms)}:[0-9A-Za-z_-]{12}|`}${names}:${tiles}${current ? '' : `(?:${TIME})?`})$`
  if (text.length > MOST) throw cannot('select so much', `its selector would have ${text.length} characters, more than ${MOST}`)
  return text
}

/** Blocks of a zoom are what the tiles six zooms above cover. */
function blocksOf (area, zooms = { min: 0, max: MAX_ZOOM }) {
  if (!area) return `(?:${Array.from({ length: zooms.max - zooms.min + 1 }, (_, index) => zooms.min + index).join('|')}):${NUMBER}:${NUMBER}`
  const places = Array.from({ length: zooms.max - zooms.min + 1 }, (_, index) => zooms.min + index).flatMap(z => {
    const rectangles = area.rectangles(Math.max(0, z - 6))
    if (!rectangles) throw cannot('take a polygon', 'a selector tells columns and rows, which are those of boxes')
    return rectangles.map(({ x0, x1, y0, y1 }) => `${z}:${digitsBetween(x0, x1)}:${digitsBetween(y0, y1)}`)
  })
  return `(?:${places.join('|')})`
}

/** Each zoom with the tiles in it. */
function zoomsOf (area, { min, max } = { min: 0, max: MAX_ZOOM }) {
  const zooms = Array.from({ length: max - min + 1 }, (_, index) => min + index)
  if (!area) return [`(?:${zooms.join('|')}):${NUMBER}:${NUMBER}`]
  return zooms.flatMap(z => {
    const rectangles = area.rectangles(z)
    if (!rectangles) throw cannot('take a polygon', 'a selector tells columns and rows, which are those of boxes')
    return rectangles.map(({ x0, x1, y0, y1 }) => `${z}:${digitsBetween(x0, x1)}:${digitsBetween(y0, y1)}`)
  })
}

const cannot = (what, why) => new TilecouchError('REPLICATOR_CANNOT', { what, why })
