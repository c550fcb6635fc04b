// The OpenAPI 3.0 document of the API: all addresses with their answers, for programs that generate clients.
import { formats } from '../../../core/images.js'
import { JSON_TYPE } from './documents.js'

const text = (name, description, more = {}) =>
  ({ name, in: 'path', required: true, description, schema: { type: 'string' }, ...more })
const index = (name, description) => text(name, description, { schema: { type: 'integer', minimum: 0 } })

const LAYER = text('collectionId', 'name of a layer')
const SET = text('tileMatrixSetId', 'id of the tile matrix set of the layer')
const TILE = [
  text('tileMatrix', 'id of a tile matrix: the zoom'),
  index('tileRow', 'row, counted from the north'),
  index('tileCol', 'column, counted from the west')
]
const DATETIME = {
  name: 'datetime',
  in: 'query',
  required: false,
  description: 'the map as of an instant, the end of a period (2023), ' +
    'or the end of an interval (2022-01-01/2023-12-31)',
  schema: { type: 'string' },
  style: 'form',
  explode: false
}
const SUBSET = { ...DATETIME, name: 'subset', description: 'the same as an axis: datetime("2023-12-31")' }

const document = { 200: { description: 'the document', content: { [JSON_TYPE]: { schema: { type: 'object' } } } } }
const failure = {
  description: 'an error', content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/error' } } }
}
const image = { schema: { type: 'string', format: 'binary' } }

/** @param {Record<string, any>[]} [parameters] @param {Record<number, any>} [responses] */
const get = (operationId, summary, parameters = [], responses = document) =>
  ({ get: { operationId, summary, parameters, responses: { ...responses, 400: failure, 404: failure } } })

/** The three addresses of tiles of a kind. */
function tilePaths (path, kind, types) {
  const operationOf = name => `collection.${kind}.${name}`
  const tile = {
    200: { description: 'the tile', content: Object.fromEntries(types.map(type => [type, image])) },
    204: { description: 'there is no tile here' }
  }
  const time = [DATETIME, SUBSET]
  return {
    [path]: get(operationOf('getTileSetsList'), 'The tilesets of a layer', [LAYER, ...time]),
    [`${path}/{tileMatrixSetId}`]: get(operationOf('getTileSet'), 'A tileset of a layer', [LAYER, SET, ...time]),
    [`${path}/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}`]:
      get(operationOf('getTile'), 'A tile', [LAYER, SET, ...TILE, ...time], tile)
  }
}

const { mvt, ...images } = formats

export const api = ({ root }, title) => ({
  openapi: '3.0.3',
  info: { title, version: '1.0.0' },
  servers: [{ url: root.slice(0, -1) }],
  paths: {
    '/': get('getLandingPage', 'Links to all the rest'),
    '/conformance': get('getConformance', 'The standards that it conforms to'),
    '/api': get('getApi', 'This document'),
    '/collections': get('getCollections', 'The layers', [DATETIME]),
    '/collections/{collectionId}': get('getCollection', 'A layer', [LAYER, DATETIME]),
    ...tilePaths('/collections/{collectionId}/map/tiles', 'map', Object.values(images).map(({ type }) => type)),
    ...tilePaths('/collections/{collectionId}/tiles', 'vector', [mvt.type]),
    '/tileMatrixSets': get('getTileMatrixSetsList', 'The tile matrix sets'),
    '/tileMatrixSets/{tileMatrixSetId}': get('getTileMatrixSet', 'A tile matrix set', [SET])
  },
  components: {
    schemas: {
      error: {
        type: 'object',
        required: ['error', 'reason'],
        properties: {
          error: { type: 'string', description: 'a stable code' },
          reason: { type: 'string', description: 'what was wrong, with its value' },
          advice: { type: 'string', description: 'what to do next' }
        }
      }
    }
  }
})
