// A benchmark client of plain CouchDB: one document with an attachment per tile, over HTTP. A write needs the current
// revision, so a set takes two requests. It is repeated after a conflict.
import { Pool } from 'undici'
import { TILE_ATTACHMENT } from '../../../core/index.js'
import { Couch } from '../../../loader/store/couch.js'
import { openHttp } from '../../clients/http.js'

const ATTEMPTS = 20 // at most, if other processes write the same document
const TYPE = 'image/png'

/** @param {{db: string}} where URL of the database with a name and password; anonymous users may read it */
export async function openDocuments ({ db }) {
  const { origin, path: database, headers: authorization } = new Couch(db).access
  const http = await openHttp({ url: origin + database, pathOf: key => `/${key}/${TILE_ATTACHMENT}` })
  const pool = new Pool(origin, { connections: 1, pipelining: 1 })
  /**
   * @param {'HEAD' | 'PUT' | 'DELETE'} method
   * @param {string} path
   * @param {{headers?: {authorization?: string, 'content-type'?: string}, body?: Buffer}} [content]
   */
  const request = async (method, path, { headers, body } = {}) => {
    const answer = await pool.request({ method, path: `${database}/${path}`, headers, body })
    return { status: answer.statusCode, etag: answer.headers.etag, body: Buffer.from(await answer.body.arrayBuffer()) }
  }
  const refusal = (what, { status, body }) => new Error(`${what}: ${status} ${body.toString().slice(0, 200).trim()}`)

  /** Writes at the current revision. `make`: write also if the document does not exist. */
  async function change (key, write, make) {
    for (let attempt = 0; ; attempt++) {
      const head = await request('HEAD', key)
      if (head.status === 404 && !make) return false
      if (head.status !== 200 && head.status !== 404) throw refusal('HEAD', head)
      const answer = await write(head.status === 200 ? `?rev=${String(head.etag).replaceAll('"', '')}` : '')
      if (answer.status < 300) return true
      if (answer.status !== 409 || attempt === ATTEMPTS) throw refusal('change', answer)
    }
  }

  return {
    set: (key, bytes) => change(key, query => request('PUT', `${key}/${TILE_ATTACHMENT}${query}`,
      { headers: { ...authorization, 'content-type': TYPE }, body: bytes }), true),
    get: http.get,
    delete: key => change(key, query => request('DELETE', key + query, { headers: authorization }), false),
    close: async () => { await Promise.all([http.close(), pool.close()]) }
  }
}
