// The `_replicator` document that makes CouchDB's own replicator do what `tilecouch mirror` does. The selection becomes
// a Mango selector on ids alone: a deleted document has no other fields, and a selector on fields would leave its
// deletion out. The expressions have no lookaheads: the embedded store as a source runs them in RE2.
import { MAX_ZOOM, STORE_ID, UNMIRRORED_IDS, gridOf } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { fingerprint } from '../../core/fingerprint.js'
import { Selection, isUnwritable } from '../../core/mirror/index.js'
import { Couch } from '../store/couch.js'
import { openSource } from './sides.js'

const MOST = 24000 // characters of the expression, which CouchDB parses for every change

const NAME = '[a-z0-9][a-z0-9_-]{0,62}'
const KIND = '(?:layer|edition|manifest|block|removed)'
/** Ids with the name of a kind of document instead of a layer. */
const NO_LAYER = `^(?:${KIND}:${KIND}(?:[:@]|$)|${KIND}:[0-9]+:[0-9]+:[0-9]+(?:@|$))`
const ZOOM = digitsBetween(0, MAX_ZOOM)
const RUN = '[0-9]{8}T[0-9]{9}-[0-9a-z]{4}'
const NUMBER = '(?:0|[1-9][0-9]{0,9})'
const TIME = '@[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z'

/**
 * The document, without names and passwords.
 * @param {string} from URL @param {string} to URL
 * @param {{live?: boolean} & import('../../core/mirror/selection.js').Wanted} options
 * @returns {Promise<Record<string, any>>}
 */
export async function replicatorDocument (from, to, { live = false, ...wanted }) {
  const source = openSource(from, { retries: 1 })
  const target = new Couch(to, { ambient: false })
  const selection = new Selection(wanted)
  if (selection.area) await refuseOtherGrids(source, selection.layers)
  const selector = selectorOf(selection)
  return {
    _id: `tilecouch-${fingerprint([source.url, target.url, selection.key].join(' '))}${live ? '-live' : ''}`,
    source: { url: source.url },
    target: { url: target.url },
    continuous: live,
    selector,
    ...(await isReadOnly(source) && { use_checkpoints: false })
  }
}

/** Throws REPLICATOR_CANNOT where an area is not the same tiles in all layers. */
async function refuseOtherGrids (couch, layers) {
  const rows = await couch.page({ startkey: 'layer:', endkey: 'layer;', include_docs: true })
  for (const { doc } of rows) {
    if (!doc || (layers && !layers.has(doc.layer)) || gridOf(doc).isWebMercator) continue
    const why = `${doc.layer} is in the grid ${gridOf(doc).id}, and a selector names columns and rows of Web Mercator`
    throw cannot('take an area', why)
  }
}

/**
 * Whether a source refuses the checkpoints of a replicator, as a gateway does. One that does not answer is taken for a
 * CouchDB.
 */
async function isReadOnly (source) {
  try {
    await source.request({ method: 'POST', path: '_ensure_full_commit', body: {} })
    return false
  } catch (error) {
    return isUnwritable(error) && !['UNAUTHORIZED', 'DATABASE_NOT_FOUND'].includes(error.code)
  }
}

/**
 * Throws REPLICATOR_CANNOT for what no selector can say.
 * @param {Selection} selection
 * @returns {Record<string, any>}
 */
export function selectorOf (selection) {
  if (selection.since !== undefined) {
    const why = 'only the other versions of a tile tell whether one was still visible then'
    throw cannot('leave out the past before a time', why)
  }
  if (selection.isWhole) return { $not: { _id: { $regex: UNMIRRORED_IDS } } }
  const own = { _id: { $regex: expression(selection) } }
  return selection.layers ? own : { $and: [own, { $not: { _id: { $regex: NO_LAYER } } }] }
}

function expression ({ layers, area, zooms, current }) {
  const names = layers ? `(?:${[...layers].sort().join('|')})` : NAME
  const tiles = zooms || area ? `(?:${zoomsOf(area, zooms).join('|')})` : `${ZOOM}:${NUMBER}:${NUMBER}`
  const runs = `(?:manifest:${names}${TIME}|removed:${names}):${RUN}(?::[0-9]+)?`
  const kinds = [
    STORE_ID,
    `layer:${names}`,
    `(?:edition|style):${names}${TIME}`,
    ...(current ? [] : [runs, `block:${names}:${blocksOf(area, zooms)}:[0-9A-Za-z_-]{12}`]),
    `${names}:${tiles}${current ? '' : `(?:${TIME})?`}`
  ]
  const text = `^(?:${kinds.join('|')})$`
  if (text.length <= MOST) return text
  throw cannot('select so much', `its selector would have ${text.length} characters, more than ${MOST}`)
}

/** A block covers the same as one tile six zooms above. */
const blocksOf = (area, zooms) => `(?:${zoomsOf(area, zooms, z => Math.max(0, z - 6)).join('|')})`

/**
 * Expressions for the places of each zoom.
 * @param {import('../../core/area.js').Area | undefined} area
 * @param {import('../../core/grid.js').Zooms} [zooms]
 * @param {(z: number) => number} [zoomOfPlaces] on whose columns and rows the area is laid
 */
function zoomsOf (area, { min, max } = { min: 0, max: MAX_ZOOM }, zoomOfPlaces = z => z) {
  const zooms = Array.from({ length: max - min + 1 }, (_, index) => min + index)
  if (!area) return [`(?:${zooms.join('|')}):${NUMBER}:${NUMBER}`]
  return zooms.flatMap(z => {
    const rectangles = area.rectangles(zoomOfPlaces(z))
    if (!rectangles) throw cannot('take a polygon', 'a selector names columns and rows, which make boxes')
    return rectangles.map(({ x0, x1, y0, y1 }) => `${z}:${digitsBetween(x0, x1)}:${digitsBetween(y0, y1)}`)
  })
}

const cannot = (what, why) => new TilecouchError('REPLICATOR_CANNOT', { what, why })

/**
 * A regular expression for a range of numbers without leading zeros: 7 to 123 is 7, 8, 9, two digits, 100 to 119, 120
 * to 123.
 * @param {number} low @param {number} high inclusive
 * @returns {string} to be used inside a longer expression
 */
export function digitsBetween (low, high) {
  const parts = []
  for (let from = low; from <= high;) {
    const to = Math.min(high, endOfPart(from, high))
    parts.push(partOf(`${from}`, `${to}`))
    from = to + 1
  }
  return parts.length === 1 ? parts[0] : `(?:${parts.join('|')})`
}

/** The last number of one part: digits of the first number, then one range of digits, then any digits. */
function endOfPart (from, high) {
  let best = from
  for (let scale = 1; from % scale === 0; scale *= 10) {
    const digit = Math.floor(from / scale) % 10
    if (from < scale) break // no leading zeros
    const last = from + scale * Math.min(9 - digit, Math.floor((high - from + 1) / scale) - 1) + scale - 1
    if (last >= from && last <= high) best = Math.max(best, last)
  }
  return from === 0 ? Math.min(9, high) : best
}

function partOf (from, to) {
  if (from === to) return from
  let at = 0
  while (from[at] === to[at]) at++
  const any = from.length - at - 1
  const digit = `[${from[at]}-${to[at]}]`
  return `${from.slice(0, at)}${digit}${any ? `[0-9]${any > 1 ? `{${any}}` : ''}` : ''}`
}
