// Helpers for tests of seeding: a store and an upstream for each test, and the layer `map` that is seeded from it.
import { seed as run } from '../../loader/load/seed/index.js'
import { parseArea } from '../../core/index.js'
import { json } from './backends.js'
import { useStore } from './store.js'
import { LOOPBACK, startUpstream } from './upstream-server.js'

export const TILE = 64 // pixels: small tiles are drawn and stored faster

/** Limits with short delays, so that tests of failures are quick. */
export const QUICK = { attempts: 3, silent: 6, delay: 5, giveUpAfter: 20, failures: 50, refusals: 5, grace: 2 }

/** @param {{database: () => Promise<string>}} backend */
export function useSeeding (backend) {
  const context = Object.assign(useStore(backend), {
    upstream: undefined,

    /**
     * Defines the layer `map` with the upstream.
     * @param {Record<string, any>} [fields]
     * @param {Record<string, any>} [settings]
     */
    define: (fields, settings) => context.store.defineLayer('map', {
      tileSize: TILE, ...fields, upstream: { url: `${context.upstream.url}/xyz/{z}/{x}/{y}.png`, ...settings }
    }),

    /** @param {{bbox?: any, polygon?: any, zooms?: any} & Record<string, any>} options */
    seed: ({ bbox = '-180,-85,180,85', polygon, zooms = { min: 0, max: 3 }, only, ...options } = {}) =>
      run(context.store, 'map',
        {
          ...(only ? { only } : { area: parseArea(polygon ? { polygon } : { bbox }), zooms }),
          networks: LOOPBACK, fetching: QUICK, ...options
        }),

    /** z/x/y of the tiles the store holds. */
    async tiles () {
      const { rows } = await json(
        `${context.url}/_all_docs?startkey=${encodeURIComponent('"map:"')}&endkey=${encodeURIComponent('"map;"')}`
      )
      return rows.map(({ id }) => id).filter(id => !id.includes('@')).map(id => id.split(':').slice(1).join('/'))
    },

    /** z/x/y of the requested tiles, in the order of the requests. */
    asked: () => context.upstream.asked.map(({ z, x, y }) => `${z}/${x}/${y}`),

    forget () { context.upstream.requests.length = 0 }
  })
  beforeEach(async () => { context.upstream = await startUpstream({ tileSize: TILE }) })
  afterEach(() => context.upstream.close())
  return context
}

/** The numbers of a summary that are not zero. */
export const counts = summary => Object.fromEntries(
  ['tiles', 'fresh', 'stale', 'fetched', 'new', 'changed', 'unchanged',
    'missing', 'outside', 'failed'].filter(name => summary[name]).map(name => [name, summary[name]]))

/** Whether the counts of a summary add up to its number of tiles. */
export const addsUp = summary => summary.tiles === [
  'fresh', 'stale', 'new', 'changed', 'unchanged', 'missing', 'outside', 'failed'
].reduce((sum, name) => sum + summary[name], 0)

/** The number of tiles from zoom 0 to a zoom. */
export const pyramid = zoom => (4 ** (zoom + 1) - 1) / 3
