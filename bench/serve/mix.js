// Random requests as the world sends them, and what it should not send: tiles some of which are wanted more than others, clients that
// know a tile already, every time there is, tiles and layers that are not there. Each kind is one that could make memory grow.
import { random } from '../tiles.js'
import { addSeconds } from '../../core/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { LAYER, NEW, OLD, bytesOf, zipf } from '../block.js'

const WEEKS = 60 // after the older edition, that times are drawn from

/** Kind -> share of the requests, whether it is an error, and the request. */
export const KINDS = {
  'newest tile': { share: 0.79, path: ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.png` },
  'newest tile, known': { share: 0.08, path: ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.png`, etag: true },
  'as of any second': { share: 0.06, path: ({ z, x, y }, next) => `/${LAYER}@${addSeconds(OLD, Math.floor(next() * WEEKS * 7 * 86400))}/${z}/${x}/${y}.png` },
  'versions of a tile': { share: 0.01, path: ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.json` },
  'tile that is not there': { share: 0.04, error: true, path: ({ z, y }, next) => `/${LAYER}/${z}/${Math.floor(next() * 4000)}/${y}.png` },
  'layer that is not there': { share: 0.01, error: true, path: ({ z, x, y }, next) => `/l${Math.floor(next() * 1e9)}/${z}/${x}/${y}.png` },
  'no address at all': { share: 0.01, error: true, path: (_, next) => `/${Math.floor(next() * 1e9).toString(36)}/a/b/c?d=${next()}` }
}

export const ERRORS = Object.values(KINDS).reduce((sum, { share, error }) => sum + (error ? share : 0), 0)

/**
 * @param {import('../block.js').Place[]} places the most wanted first
 * @param {number} count @param {number} seed
 * @returns {Generator<{path: string, etag?: string}>}
 */
export function * mixOf (places, count, seed) {
  const next = random(seed)
  const draw = zipf(places, seed + 1)
  for (let at = 0; at < count; at++) {
    const place = draw()
    const { path, etag } = kindOf(next())
    yield { path: path(place, next), ...(etag && { etag: `"${digestOf(bytesOf(place.index, NEW)).slice(4)}"` }) }
  }
}

function kindOf (number) {
  for (const kind of Object.values(KINDS)) if ((number -= kind.share) < 0) return /** @type {any} */ (kind)
  return KINDS['newest tile']
}
