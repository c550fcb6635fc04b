// The times at which anything changed, with tiles and bytes: of a layer or of a view of the map, in the words of
// _design/tiles/lists/times.js; and, with 0 tiles, those of editions that looked and found nothing new. What many ask at the same moment is asked of the store once.
import { TilecouchError, tileRanges } from '../../../core/index.js'
import { sendJson } from '../json.js'

// A view is what a screen shows. The whole of a zoom is asked for without a box, which costs next to nothing.
const MOST_COLUMNS = 512 // each is a range the store reads
const MOST_TILES = 65536

/** @type {WeakMap<object, Map<string, Promise<any>>>} */
const flights = new WeakMap()

/**
 * @param {any} ctx @param {import('../router.js').AskedTimes} asked
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 */
export async function times (ctx, { layer, bbox, z }, req, res) {
  if (bbox) checkSize(bbox, /** @type {number} */ (z))
  const found = await share(ctx.store, JSON.stringify([layer, z, bbox]), () => ctx.store.timesLooked(layer, { bbox, z }))
  if (found.length === 0) await ctx.layers.get(layer) // or there is no such layer
  sendJson(req, res, { layer, z, times: found })
}

function checkSize (bbox, z) {
  const ranges = tileRanges(bbox, z)
  const columns = ranges.reduce((sum, { x0, x1 }) => sum + x1 - x0 + 1, 0)
  const tiles = ranges.reduce((sum, { x0, x1, y0, y1 }) => sum + (x1 - x0 + 1) * (y1 - y0 + 1), 0)
  if (columns <= MOST_COLUMNS && tiles <= MOST_TILES) return
  throw new TilecouchError('BAD_BBOX', { value: bbox.join(), why: `${columns} columns and ${tiles} tiles at zoom ${z}, and a view has ${MOST_COLUMNS} and ${MOST_TILES} at most; leave the box out for the whole zoom` })
}

/** One flight for all who ask the same while it lasts. A flight that failed is nobody's answer to a later question. */
function share (store, key, ask) {
  const under = flights.get(store) ?? new Map()
  flights.set(store, under)
  let flight = under.get(key)
  if (!flight) {
    flight = ask().finally(() => under.delete(key))
    under.set(key, flight)
  }
  return flight
}
