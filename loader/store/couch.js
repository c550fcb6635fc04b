// A CouchDB database as Node asks it: the client of core/couch, which sends JSON with nano and bytes with undici, takes
// names and passwords from the URL or the environment, and has tiles as buffers.
import { gunzipSync } from 'node:zlib'
import { CouchClient, encodeId } from '../../core/couch/client.js'
import { clientDefaults } from '../../core/couch/requests.js'
import { parseDatabaseUrl } from './address.js'
import { bulkBody } from './bulk-body.js'
import { beginAnew } from './deletions.js'
import { exchange } from './exchange.js'
import { jsonExchange } from './json-exchange.js'
import { TILE_ATTACHMENT } from '../../core/index.js'
import { sharePromise } from '../../core/shared-promise.js'
import { TilecouchError } from '../errors.js'
import { unpackDefaults } from '../formats/unpack.js'

export const retryDefaults = clientDefaults

/** @typedef {import('../../core/couch/client.js').CouchRequest} CouchRequest */
/** @typedef {{config: {url: string, db: string}}} NanoDatabase `nano(URL).use(NAME)` */
/**
 * @typedef {{origin: string, base: string, path: string, user: string, headers: {authorization?: string}}} Access base,
 *   path: of the server and of the database; user: empty without a name
 */

/** @param {string | NanoDatabase} database @returns {string} */
function urlOf (database) {
  if (typeof database === 'string') return database
  const { url, db } = database.config
  return `${url.replace(/\/$/, '')}/${encodeURIComponent(db)}`
}

/** No longer than it is said to be: whoever wrote it may have said less. */
const inflate = (bytes, length) =>
  gunzipSync(bytes, { maxOutputLength: Math.max(1, Math.min(length, unpackDefaults.bytes)) })

export class Couch extends CouchClient {
  #isPlain = false // the server is known to store tiles as they are
  /** Whether the setting of the server says so, by content type. @type {Map<string, Promise<boolean>>} */
  #settings = new Map()
  #authorised
  /** @type {Access | undefined} */
  #access

  /**
   * @param {string | NanoDatabase} database its URL, which may hold a name and password; or what nano uses
   * @param {Partial<typeof clientDefaults> & {onRetry?: (error: Error) => void, ambient?: boolean}} [options] ambient:
   *   see parseDatabaseUrl
   */
  constructor (database, { onRetry, ambient, ...options } = {}) {
    const { authorised, ...parsed } = parseDatabaseUrl(urlOf(database), { ambient })
    const decode = text => Buffer.from(text, 'base64')
    const send = request => request.isJson ? jsonExchange(request) : exchange(request)
    super({ ...parsed, exchange: send, bulkBody, headers: () => this.access.headers, decode, inflate, options })
    this.#authorised = authorised
    if (onRetry) this.retryListeners.add(onRetry)
  }

  /**
   * Where the database is and what opens it, for those that speak HTTP with it themselves. Never to be shown.
   * @returns {Access}
   */
  get access () {
    return (this.#access ??= this.#parseAccess())
  }

  #parseAccess () {
    const { origin, pathname, username, password } = new URL(this.#authorised)
    const base = pathname.replace(/\/$/, '')
    const auth = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
    const headers = username ? { authorization: `Basic ${auth}` } : {}
    const path = `${base}/${encodeURIComponent(this.db)}`
    return { origin, base, path, user: decodeURIComponent(username), headers }
  }

  /**
   * As CouchClient, and refuses a server that compresses tiles: their digests are then not those of their bytes, and
   * nothing could be compared. An admin reads the setting before the first tile is written. Nobody else may read it, so
   * the first tile that was written is looked at.
   * @param {any[]} docs @param {any} [options]
   */
  async bulk (docs, options) {
    const probe = this.#isPlain ? undefined : docs.find(doc => doc._attachments?.[TILE_ATTACHMENT]?.data)
    if (!probe) return super.bulk(docs, options)
    const { signal } = options ?? {}
    const { content_type: type } = probe._attachments[TILE_ATTACHMENT]
    const isReadable = await sharePromise(this.#settings, type, () => this.#readSetting(type, signal))
    const answers = await super.bulk(docs, options)
    if (!isReadable) {
      const qs = { rev: answers.find(({ id }) => id === probe._id)?.rev ?? probe._rev, att_encoding_info: true }
      const stored = qs.rev && await this.find({ path: encodeId(probe._id), qs, signal })
      if (stored?._attachments?.[TILE_ATTACHMENT]?.encoding) throw this.#compressing()
      if (!stored) return answers
    }
    this.#isPlain = true
    return answers
  }

  #compressing () {
    return new TilecouchError('TILES_COMPRESSED', { url: this.serverUrl })
  }

  /** @param {string} type @param {AbortSignal} [signal] @returns {Promise<boolean>} false: it may not be read */
  async #readSetting (type, signal) {
    const path = '_node/_local/_config/attachments/compressible_types'
    const parse = bytes => JSON.parse(String(bytes))
    const request = { path, server: true, raw: true, parse, retries: 0, signal }
    const setting = await this.request(request).catch(error => {
      // the default, which has no images
      return error.details?.reason === 'unknown_config_value' ? '' : undefined
    })
    if (typeof setting !== 'string') return false
    if (compresses(setting, type)) throw this.#compressing()
    return true
  }

  /**
   * Writes new revisions, in one request.
   * @param {any[]} docs attachments with bytes in `data`; those without `_rev` are new
   * @param {AbortSignal} [signal]
   */
  async write (docs, signal) {
    await beginAnew(this, docs.filter(({ _rev: rev }) => !rev).map(({ _id: id }) => id), signal)
    return this.bulk(docs, { signal })
  }
}

/** Whether CouchDB compresses attachments of a type. @param {string} setting attachments/compressible_types */
export const compresses = (setting, type) => setting.split(',').map(entry => entry.trim()).some(entry =>
  entry === type || (entry.endsWith('/*') && type.startsWith(entry.slice(0, -1))))
