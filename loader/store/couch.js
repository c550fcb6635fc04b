// A CouchDB database in Node: the client of core/couch, which sends JSON with nano and bytes with undici. It takes
// names and passwords from the URL or the environment, and returns tiles as buffers.
import { gunzipSync } from 'node:zlib'
import { CouchClient, encodeId } from '../../core/couch/client.js'
import { clientDefaults } from '../../core/couch/requests.js'
import { parseDatabaseUrl } from './secrets.js'
import { exchange, jsonExchange } from './exchange.js'
import { sharePromise } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { imageOf } from './tile.js'
import { bufferOf, unpackDefaults } from '../formats/unpack.js'
import { fingerprint } from '../../core/fingerprint.js'
import { generation, readLeaves } from '../../core/mirror/index.js'

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

/** Unpacks no more bytes than the document states: another program may have stated too few. */
const inflate = (bytes, length) =>
  gunzipSync(bytes, { maxOutputLength: Math.max(1, Math.min(length, unpackDefaults.bytes)) })

export class Couch extends CouchClient {
  #isPlain = false // the server is known to store tiles as they are
  /** Whether the setting of the server can be read, by content type. @type {Map<string, Promise<boolean>>} */
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
    const send = request => request.isJson && !request.isFrequent ? jsonExchange(request) : exchange(request)
    super({ ...parsed, exchange: send, bulkBody, headers: () => this.access.headers, decode, inflate, options })
    this.#authorised = authorised
    if (onRetry) this.retryListeners.add(onRetry)
  }

  /**
   * Address and credentials of the database, for code that sends its own requests. They must never be shown.
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
   * Creates the database.
   * @param {{q?: number, n?: number, signal?: AbortSignal}} options q: shards; n: copies in a cluster
   * @returns {Promise<boolean>} false if another program has just created it
   */
  async createDatabase ({ q, n, signal }) {
    let isRepeated = false
    const onRetry = () => { isRepeated = true }
    this.retryListeners.add(onRetry)
    try {
      await this.request({ method: 'PUT', qs: { ...(q && { q }), ...(n && { n }) }, signal })
      return true
    } catch (error) {
      if (error.details?.status !== 412) throw error
      // the first request may have created it, although its answer was lost
      return isRepeated && await this.#isEmpty(signal)
    } finally {
      this.retryListeners.delete(onRetry)
    }
  }

  async #isEmpty (signal) {
    const { doc_count: docs, doc_del_count: deletedDocs } = await this.request({ path: '', signal })
    return docs + deletedDocs === 0
  }

  /**
   * As CouchClient, but refuses a server that compresses tiles: their digests would not be those of their bytes, and
   * could not be compared. An admin reads the setting before the first write. Other users may not read it, so the first
   * written tile is checked.
   * @param {any[]} docs @param {any} [options]
   */
  async bulk (docs, options) {
    const probe = this.#isPlain ? undefined : docs.find(doc => imageOf(doc)?.data)
    if (!probe) return super.bulk(docs, options)
    const { signal } = options ?? {}
    const { content_type: type } = imageOf(probe)
    const isReadable = await sharePromise(this.#settings, type, () => this.#readSetting(type, signal))
    const answers = await super.bulk(docs, options)
    if (!isReadable) {
      const qs = { rev: answers.find(({ id }) => id === probe._id)?.rev ?? probe._rev, att_encoding_info: true }
      const stored = qs.rev && await this.find({ path: encodeId(probe._id), qs, signal })
      if (imageOf(stored)?.encoding) throw this.#compressionError()
      if (!stored) return answers
    }
    this.#isPlain = true
    return answers
  }

  #compressionError () {
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
    if (compresses(setting, type)) throw this.#compressionError()
    return true
  }

  /**
   * Writes new revisions, in one request.
   * @param {any[]} docs attachments with bytes in `data`; documents without `_rev` are new
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

// A document that is written after its deletion begins a new history, beside the one that has ended.
//
// By itself, CouchDB continues the ended history, and dates the attachment to the first revision of it. A mirror that
// has that revision, but not the deletion, is then sent the new document without its image, and keeps the old image. So
// a second deletion without a parent is written first. CouchDB continues the longest history, which is that one.

const FEW = 10 // documents that are read without a check whether the store has deletions
const MOST = 16 // histories of a document at most: each is read with it for ever

/** @param {string[]} ids of documents that are to be written anew @param {AbortSignal} [signal] */
export async function beginAnew (couch, ids, signal) {
  // without deletions in the store, no document needs to be read first
  if (!ids.length || (ids.length > FEW && !(await couch.request({ path: '', signal })).doc_del_count)) return
  const beginnings = []
  for (const [id, leaves] of await readLeaves(couch, ids, signal)) {
    if (!leaves.length || leaves.length >= MOST || !leaves.every(({ _deleted: isDeleted }) => isDeleted)) continue
    const start = Math.max(...leaves.map(({ _rev: rev }) => generation(rev))) + 1
    // other writers compute the same revision
    const hash = fingerprint(`after ${leaves.map(({ _rev: rev }) => rev).sort().join(' ')}`)
    beginnings.push({ _id: id, _deleted: true, _rev: `${start}-${hash}`, _revisions: { start, ids: [hash] } })
  }
  // refusals are ignored: the write that follows is then refused as well
  if (beginnings.length) await couch.bulk(beginnings, { newEdits: false, signal })
}

// The body of a _bulk_docs request. Attachments are encoded as base64 right into the body: base64 needs no escaping,
// and no other copy of a tile is kept.

/**
 * @param {any[]} docs attachments with bytes in `data`, or as CouchDB takes them
 * @param {{newEdits?: boolean}} [options] newEdits: false keeps the revisions as they are, as replicators do
 * @returns {Buffer}
 */
export function bulkBody (docs, { newEdits = true } = {}) {
  /** @type {(string | Buffer)[]} */
  const parts = [newEdits ? '{"docs":[' : '{"new_edits":false,"docs":[']
  docs.forEach(({ _attachments: attachments, ...fields }, index) => {
    if (index) parts.push(',')
    const json = JSON.stringify(fields)
    if (!attachments) return parts.push(json)
    parts.push(`${json.slice(0, -1)}${json === '{}' ? '' : ','}"_attachments":{`)
    Object.entries(attachments).forEach(([name, { data, ...about }], position) => {
      const key = `${position ? ',' : ''}${JSON.stringify(name)}:`
      if (!(data instanceof Uint8Array)) return parts.push(key + JSON.stringify({ ...about, data }))
      const stub = JSON.stringify(about)
      parts.push(`${key}${stub.slice(0, -1)}${stub === '{}' ? '' : ','}"data":"`, bufferOf(data), '"}')
    })
    parts.push('}}')
  })
  parts.push(']}')
  const sizeOf = part => typeof part === 'string' ? Buffer.byteLength(part) : 4 * Math.ceil(part.length / 3)
  const body = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + sizeOf(part), 0))
  let end = 0
  for (const part of parts) {
    end += typeof part === 'string' ? body.write(part, end) : body.write(part.toString('base64'), end, 'latin1')
  }
  return body
}
