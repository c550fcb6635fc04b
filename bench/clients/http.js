// A benchmark client of a server that answers GET with a tile, over one connection: the gateway, attachments of
// CouchDB, or a folder behind nginx.
import { Agent, request } from 'undici'
import { parseTileId } from '../../core/index.js'

/** The path of a tile at the gateway. @param {string} key */
export function pathOfTile (key) {
  const { layer, z, x, y } = parseTileId(key)
  return `/${layer}/${z}/${x}/${y}.png`
}

/** */
export async function openHttp ({ url, pathOf }) {
  const dispatcher = new Agent({ connections: 1, pipelining: 1 })
  return {
    async get (key) {
      const { statusCode, body } = await request(url + pathOf(key), { dispatcher })
      const bytes = Buffer.from(await body.arrayBuffer())
      if (statusCode === 404) return null
      if (statusCode !== 200) throw new Error(`${statusCode}: ${bytes.toString().slice(0, 200)}`)
      return bytes
    },
    close: () => dispatcher.close()
  }
}
