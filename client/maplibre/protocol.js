// Addresses of a store in styles, as stored styles have them: `couch://osm@2024` is the TileJSON of the layer `osm` as of
// the end of 2024, `couch://osm@2024/{z}/{x}/{y}.pbf` are its tiles.
import { addProtocol } from 'maplibre-gl'
import { TilecouchError } from '../../core/errors.js'
import { inflate } from './inflate.js'

const SCHEME = 'couch'

/**
 * Makes MapLibre read `couch://LAYER[@TIME]` from a store, in every style of the page. CouchDB cannot say that vector
 * tiles are compressed, so that plain addresses of them do not work there.
 * @param {string} db address of the database
 * @param {{fetchOptions?: RequestInit}} [options] for every request, as fetch takes them
 */
export function couchProtocol (db, { fetchOptions } = {}) {
  const served = `${db.replace(/\/+$/, '')}/_design/tiles/_rewrite/`
  addProtocol(SCHEME, async ({ url, type }, { signal }) => {
    const name = url.slice(`${SCHEME}://`.length)
    const isTile = name.includes('/')
    const address = `${served}${name}${isTile ? '' : '.json'}`
    const response = await fetch(address, { ...fetchOptions, signal })
    const { ok, status, statusText: reason } = response
    // MapLibre looks at the status
    if (!ok) throw Object.assign(new TilecouchError('COUCHDB_ERROR', { url: address, status, reason }), { status })
    if (isTile || type !== 'json') return { data: await inflate(await response.blob()) }
    const doc = await response.json()
    return { data: { ...doc, tiles: [`${url}/{z}/{x}/{y}${/\.\w+$/.exec(doc.tiles[0])?.[0] ?? ''}`] } }
  })
}
