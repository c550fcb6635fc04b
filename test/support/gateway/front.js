// The front of a gateway before stand-ins for what lies behind: answers, limits and endings without a store.
import { createHash } from 'node:crypto'
import { TilecouchError, tileId } from '../../../core/index.js'
import { CachePolicy, TILE_TIMEOUT, tile } from '../../../server/gateway/routes/tile.js'
import { resolveOptions } from '../../../server/gateway/config.js'
import { Cors } from '../../../server/gateway/cors.js'
import { createHandler } from '../../../server/gateway/dispatch.js'
import { Listener } from '../../../server/http/listener.js'
import { createLog } from '../../../server/gateway/log.js'
import { publicUrlOf } from '../../../server/http/addresses.js'
import { health } from '../../../server/gateway/routes/monitoring.js'
import { tilejson } from '../../../server/gateway/routes/layer.js'
import { png } from '../tiles.js'

/** An entry as the tile service keeps it. @param {Record<string, any>} [fields] */
export function entryOf (
  { bytes = png(1), time = '2024-03-01T00:00:00Z', expires = null, type = 'image/png', ...fields } = {}
) {
  return {
    id: 'osm:1:0:0',
    rev: '1-a',
    time,
    stored: '2024-03-02T00:00:00Z',
    expires,
    expiresAt: expires === null ? Infinity : Date.parse(expires),
    type,
    bytes,
    etag: `"${createHash('md5').update(bytes).digest('base64')}"`,
    lastModified: new Date(time).toUTCString(),
    ...fields
  }
}

/**
 * @param {object} [setup]
 * @param {Record<string, any>} [setup.options]
 * @param {Record<string, any>} [setup.kept] entries in memory by id, `osm:1:0:0` or `osm:1:0:0@2024`
 * @param {(id: string, signal: AbortSignal) => Promise<any>} [setup.get] what memory lacks
 * @param {Record<string, any>} [setup.layers] documents by name
 * @param {Record<string, any>} [setup.routes] more of them
 * @param {Record<string, any>} [setup.limits] of the listener
 * @param {any} [setup.store]
 */
export async function openFront (
  { options = {}, kept = {}, get, layers = { osm: {} }, routes = {}, limits = {}, store = {} } = {}
) {
  const all = { ...resolveOptions(), ...options }
  const requests = []
  const lines = []
  const idOf = (layer, z, x, y, time) => tileId(layer, z, x, y) + (time === undefined ? '' : `@${time}`)
  const missing = async id => { throw new TilecouchError('TILE_NOT_FOUND', { id }) }
  const stopping = new AbortController()
  const ctx = {
    options: all,
    store,
    signal: stopping.signal,
    tileTimeout: TILE_TIMEOUT,
    tiles: {
      peek: (...asked) => kept[idOf(...asked)] &&
        { entry: kept[idOf(...asked)], outcome: kept[idOf(...asked)].outcome ?? 'hit' },
      get: async (layer, z, x, y, time, { signal }) => (
        { entry: await (get ?? missing)(idOf(layer, z, x, y, time), signal), outcome: 'miss' }
      )
    },
    layers: {
      async get (name) {
        if (!Object.hasOwn(layers, name)) throw new TilecouchError('LAYER_NOT_FOUND', { layer: name })
        return layers[name]
      }
    },
    metrics: { request: answer => requests.push(answer) },
    log: createLog({ level: 'trace', destination: { write: line => { lines.push(JSON.parse(line)) } } }),
    cors: new Cors(all.cors),
    policy: new CachePolicy(all),
    publicUrl: publicUrlOf(all)
  }
  const listener = new Listener(createHandler(ctx, { tile, tilejson, health, ...routes }), limits)
  const port = await listener.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`, port, ctx, requests, lines, stopping, close: grace => listener.close(grace)
  }
}
