// A CouchDB database as Node asks it: the client of core/couch, which sends JSON with nano and bytes with undici, takes
// names and passwords from the URL or the environment, and has tiles as buffers.
import { gunzipSync } from 'node:zlib'
import { CouchClient, encodeId } from '../../core/couch/client.js'
import { clientDefaults } from '../../core/couch/requests.js'
import { parseDatabaseUrl } from './secrets.js'
import { exchange, jsonExchange } from './exchange.js'
import { TILE_ATTACHMENT } from '../../core/index.js'
import { sharePromise } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { unpackDefaults } from '../formats/unpack.js'
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
    const send = request => request.isJson && !request.isFrequent ? jsonExchange(request) : exchange(request)
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

// A document that is written after its deletion begins a new history, beside the one that has ended.
//
// CouchDB by itself goes on with the history that ended, and still takes the attachment for one of its first revision.
// A mirror that knows that revision, and did not hear of the deletion, is then sent the new document without its image,
// and keeps the old one. So a second deletion is written first, which follows nothing: CouchDB continues the longest
// history, which is that one.

const FEW = 10 // documents that are looked at without asking first whether anything was ever deleted
const MOST = 16 // histories that one document is given: each is read with it for ever

/** @param {string[]} ids of documents that are to be written anew @param {AbortSignal} [signal] */
export async function beginAnew (couch, ids, signal) {
  // a store in which nothing was ever deleted is filled without another look at each document
  if (!ids.length || (ids.length > FEW && !(await couch.request({ path: '', signal })).doc_del_count)) return
  const beginnings = []
  for (const [id, leaves] of await readLeaves(couch, ids, signal)) {
    if (!leaves.length || leaves.length >= MOST || !leaves.every(({ _deleted: isDeleted }) => isDeleted)) continue
    const start = Math.max(...leaves.map(({ _rev: rev }) => generation(rev))) + 1
    // other writers write the same
    const hash = fingerprint(`after ${leaves.map(({ _rev: rev }) => rev).sort().join(' ')}`)
    beginnings.push({ _id: id, _deleted: true, _rev: `${start}-${hash}`, _revisions: { start, ids: [hash] } })
  }
  // one that is refused is no loss: so is what comes next
  if (beginnings.length) await couch.bulk(beginnings, { newEdits: false, signal })
}

// The body of a _bulk_docs request. Bytes of attachments are turned into base64 right where they are sent from: nothing
// is searched for quotes, which base64 has none of, and no other copy of a tile outlives a moment.

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
    Object.entries(attachments).forEach(([name, { data, ...about }], at) => {
      const head = `${at ? ',' : ''}${JSON.stringify(name)}:`
      if (!(data instanceof Uint8Array)) return parts.push(head + JSON.stringify({ ...about, data }))
      const open = JSON.stringify(about)
      parts.push(`${head}${open.slice(0, -1)}${open === '{}' ? '' : ','}"data":"`, toBuffer(data), '"}')
    })
    parts.push('}}')
  })
  parts.push(']}')
  const sizeOf = part => typeof part === 'string' ? Buffer.byteLength(part) : 4 * Math.ceil(part.length / 3)
  const body = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + sizeOf(part), 0))
  let at = 0
  for (const part of parts) {
    at += typeof part === 'string' ? body.write(part, at) : body.write(part.toString('base64'), at, 'latin1')
  }
  return body
}

const toBuffer = bytes => Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
