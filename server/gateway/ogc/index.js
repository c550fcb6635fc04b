// OGC API - Tiles of the gateway, below /ogc: documents about the layers, and tiles, which the tile route answers.
//   request.js     parses an address and its datetime
//   documents.js   landing page, collections, tilesets, and tile matrix sets, which are the grids of layers
//   api.js         the definition as OpenAPI
import { TilecouchError } from '../../../loader/errors.js'
import { visibleLayers } from '../access/visitor.js'
import { sendJson } from '../../http/answers.js'
import { describeLayer, describeLayers } from '../wmts/capabilities.js'
import { api } from './api.js'
import {
  API_TYPE, collection, collections, conformance, gridsOf, landing, matrixSet, matrixSets, tileset, tilesets
} from './documents.js'
import { parsePath, resolveLayer, resolveTile, timeOf } from './request.js'

/** @type {import('../dispatch.js').Route<import('../router.js').ServiceTarget>} */
export async function ogc (ctx, { path, query, visitor }, req, res) {
  const request = parsePath(path)
  const time = timeOf(query)
  if (request.layer !== undefined) visitor?.requireAccess(res, request.layer)
  else visitor?.requireSome(res)
  if (request.operation === 'tile') {
    const tile = await resolveTile(ctx.layers, request, time)
    if (tile) return ctx.answerTile(tile, req, res)
    return void res.writeHead(204, { 'Cache-Control': ctx.policy.missing }).end()
  }
  const url = ctx.publicUrl(req)
  const document = await DOCUMENTS[request.operation]({
    layers: ctx.layers, request, time, visitor, view: viewOf(url.base, query, visitor)
  })
  const type = request.operation === 'api' ? API_TYPE : undefined
  return sendJson(req, res, document, { url, type })
}

/** Links keep the token, and the time, so that a client stays at its time. */
function viewOf (base, query, visitor) {
  const times = ['datetime', 'subset'].filter(name => query.get(name)).map(name => [name, query.get(name)])
  const token = visitor?.link ? [['token', visitor.link]] : []
  const write = pairs => pairs.length ? `?${new URLSearchParams(pairs)}` : ''
  return { base, root: `${base}ogc/`, query: write([...times, ...token]), token: write(token) }
}

/**
 * The document of each operation.
 * @type {Record<string, (context: {layers: import('../layers.js').Layers, request: import('./request.js').OgcRequest,
 *   time?: string, visitor?: import('../access/visitor.js').Visitor, view: import('./documents.js').View}) => any>}
 */
const DOCUMENTS = {
  landing: async ({ layers, view }) => landing(view, await titleOf(layers)),
  api: async ({ layers, view }) => api(view, await titleOf(layers)),
  conformance: () => conformance,
  async collections ({ layers, visitor, time, view }) {
    const entries = await describeLayers(layers, visitor)
    const hasBegun = ({ times }) => time === undefined || times.length === 0 || times[0] <= time
    return collections(entries.filter(hasBegun), view)
  },
  collection: async context => collection(await describeRequested(context), context.view),
  tilesets: async context => tilesets(await describeRequested(context), context.view),
  tileset: async context => tileset(await describeRequested(context), context.view),
  sets: async ({ layers, visitor, view }) => matrixSets(await visibleLayers(layers, visitor), view),
  async set ({ layers, visitor, request: { set: id } }) {
    const matchingGrid = gridsOf(await visibleLayers(layers, visitor)).find(grid => grid.uniqueId === id)
    if (!matchingGrid) throw new TilecouchError('NOT_FOUND', { reason: `no tile matrix set ${JSON.stringify(id)}` })
    return matrixSet(matchingGrid)
  }
}

const titleOf = async layers => (await layers.settings()).title || 'tilecouch'

const describeRequested = async ({ layers, request }) => describeLayer(layers, await resolveLayer(layers, request))
