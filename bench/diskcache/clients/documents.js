// Plain CouchDB: a document a tile with its attachment, by HTTP. A write needs the
// current revision, so a set is two requests, and after a conflict it is tried again.
import { Pool } from 'undici'
import { TILE_ATTACHMENT } from '../../../core/index.js'
import { Couch } from '../../../loader/store/couch.js'
import { openHttp } from '../../clients/http.js'

const ATTEMPTS = 20 // at most, when others write the same document
const TYPE = 'image/png'

/** @param {{db: string}} where URL of the database, with what it takes to write; everybody may read it */
export async function openDocuments ({ db }) {
  const { origin, path: database, headers: authorization } = new Couch(db).access
  const http = await openHttp({ url: origin + database, pathOf: key => `/${key}/${TILE_ATTACHMENT}` })
  const pool = new Pool(origin, { connections: 1, pipelining: 1 })
  /**
   * @param {'HEAD' | 'PUT' | 'DELETE'} method
   * @param {string} path
   * @param {{headers?: {authorization?: string, 'content-type'?: string}, body?: Buffer}} [content]
   */
  const ask = async (method, path, { headers, body } = {}) => {
    const answer = await pool.request({ method, path: `${database}/${path}`, headers, body })
    return { status: answer.statusCode, etag: answer.headers.etag, body: Buffer.from(await answer.body.arrayBuffer()) }
  }
  const refused = (what, { status, body }) => new Error(`${what}: ${status} ${body.toString().slice(0, 200).trim()}`)

  /** Writes at the current revision; `make`: also when there is none. */
  async function change (key, write, make) {
    for (let attempt = 0; ; attempt++) {
      const head = await ask('HEAD', key)
      if (head.status === 404 && !make) return false
      if (head.status !== 200 && head.status !== 404) throw refused('HEAD', head)
      const answer = await write(head.status === 200 ? `?rev=${String(head.etag).replaceAll('"', '')}` : '')
      if (answer.status < 300) return true
      if (answer.status !== 409 || attempt === ATTEMPTS) throw refused('change', answer)
    }
  }

  return {
    set: (key, bytes) => change(key, at => ask('PUT', `${key}/${TILE_ATTACHMENT}${at}`,
      { headers: { ...authorization, 'content-type': TYPE }, body: bytes }), true),
    get: http.get,
    delete: key => change(key, at => ask('DELETE', key + at, { headers: authorization }), false),
    close: async () => { await Promise.all([http.close(), pool.close()]) }
  }
}
