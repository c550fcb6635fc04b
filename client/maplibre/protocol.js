// Makes addresses of a store work in styles, as stored styles have them:
//   couch://osm@2024                    the TileJSON of the layer `osm` as of the end of 2024
//   couch://osm@2024/{z}/{x}/{y}.pbf    its tiles
//   couch://styles/osm@TIME/NAME        a file of a stored style
import { addProtocol } from 'maplibre-gl'
import { TilecouchError, asOf, endOf } from '../../core/index.js'

const SCHEME = 'couch'
const TILE = /^([^@/]+)(?:@([^/]*))?\/(\d+)\/(\d+)\/(\d+)\.\w+$/ // layer, time, z, x, y
const FILE = /^styles\/([^@/]+)@([^/]+)\/(.+)$/ // layer, time, name

/** @typedef {import('../offline/offline-store.js').OfflineStore} OfflineStore */

/**
 * Makes MapLibre read `couch://LAYER[@TIME]` from a store, in every style of the page. CouchDB cannot say that vector
 * tiles are compressed, so that plain addresses of them do not work there.
 * @param {string} db address of the database
 * @param {{fetchOptions?: RequestInit, offline?: OfflineStore}} [options] fetchOptions: for every request, as fetch
 *   takes them; offline: files on the device are not requested
 */
export function couchProtocol (db, { fetchOptions, offline } = {}) {
  const base = `${db.replace(/\/+$/, '')}/_design/tiles/_rewrite/`
  addProtocol(SCHEME, async ({ url, type }, { signal }) => {
    const name = url.slice(`${SCHEME}://`.length)
    const isTileJson = !name.includes('/')
    const local = offline && await onDevice(offline, decodeURI(name), signal)
    const content = local ?? await read(`${base}${name}${isTileJson ? '.json' : ''}`, { ...fetchOptions, signal })
    if (type !== 'json') return { data: await inflate(content) }
    const json = JSON.parse(await content.text())
    if (!isTileJson) return { data: json }
    const ending = /\.\w+$/.exec(json.tiles?.[0] ?? '')?.[0] ?? `.${json.format ?? 'png'}`
    return { data: { ...json, tiles: [`${url}/{z}/{x}/{y}${ending}`] } }
  })
}

/** @returns {Promise<Blob>} */
async function read (address, init) {
  const response = await fetch(address, init)
  const { ok, status, statusText: reason } = response
  // MapLibre looks at the status
  if (!ok) throw Object.assign(new TilecouchError('COUCHDB_ERROR', { url: address, status, reason }), { status })
  return response.blob()
}

/** @param {OfflineStore} offline @returns {Promise<Blob | undefined>} undefined if the device does not have it */
async function onDevice (offline, name, signal) {
  const { device } = offline
  const [, styledLayer = '', styleTime = '', file = ''] = FILE.exec(name) ?? []
  if (file) return device.styleFile(styledLayer, styleTime, file)
  const [, layer = '', time, ...place] = TILE.exec(name) ?? []
  if (!layer) {
    const doc = await device.layer(name.replace(/@.*/, '')).catch(() => undefined)
    return doc && new Blob([JSON.stringify(doc)])
  }
  const [z, x, y] = place.map(Number)
  const source = offline.source({ layer, read: 'only' })
  const [versions = []] = await source.versions(layer, [{ z, x, y0: y, y1: y }], signal).catch(() => [])
  const version = time ? asOf(versions, endOf(time)) : versions.at(-1)
  if (version?.gone) throw Object.assign(new TilecouchError('TILE_NOT_FOUND', { id: name }), { status: 404 })
  return version && source.tile(version, signal).catch(() => undefined)
}

/**
 * The uncompressed bytes of a tile, which MapLibre needs. Stored vector tiles usually are compressed.
 * @param {Blob} blob @returns {Promise<ArrayBuffer>}
 */
export async function inflate (blob) {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer())
  if (first !== 0x1f || second !== 0x8b) return blob.arrayBuffer()
  return new Response(blob.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()
}
