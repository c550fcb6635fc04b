// Reads an archive on a web server by range requests. If the file is replaced while it is read, that is an error, and
// never a mixture of two files. Requests continue after a lost connection.
import pMap from 'p-map'
import { Agent } from 'undici'
import { pause } from '../../../core/promises.js'
import { decodedText } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { userAgentOf } from '../../store/package.js'

export const remoteDefaults = {
  ahead: 1e6, // bytes read when directories are read one after the other
  concurrency: 4, // requests in flight
  attempts: 5, // failures one after the other without a byte between them
  backoff: 500, // milliseconds before the second attempt; then twice as long each time
  timeout: 30e3, // milliseconds without bytes from the server
  redirects: 3 // followed one after the other
}

export class RemoteFile {
  #url
  #agent = new Agent({
    connect: { timeout: 10e3 }, headersTimeout: remoteDefaults.timeout, bodyTimeout: remoteDefaults.timeout
  })
  #signal
  #block = { offset: 0, bytes: Buffer.alloc(0) }
  /** @type {{etag?: string, modified?: string} | undefined} */
  #state
  size = Infinity // until the first bytes are read

  /** @param {string} address @param {AbortSignal} [signal] */
  constructor (address, signal) {
    const url = this.#url = new URL(address)
    this.#signal = signal
    /** The address without its secrets: a name and password, and the query, which may be a signature. */
    this.shown = `${url.origin}${url.pathname}`
  }

  /**
   * @param {number} length fewer come where the file ends
   * @param {number} [until] end of the bytes that are likely to be read next
   */
  async read (offset, length, until = offset + length) {
    const { offset: begin, bytes } = this.#block
    if (offset >= begin && offset + length <= begin + bytes.length) {
      return bytes.subarray(offset - begin, offset - begin + length)
    }
    const end = Math.min(this.size, Math.max(offset + length, Math.min(until, offset + remoteDefaults.ahead)))
    const chunks = []
    await this.#range(offset, end, chunk => chunks.push(chunk))
    this.#block = { offset, bytes: Buffer.concat(chunks) }
    return this.#block.bytes.subarray(0, length)
  }

  /**
   * Fetches ranges, several at once.
   * @param {Iterable<{from: number, to: number}>} ranges counted from `base`
   * @param {(offset: number, bytes: Uint8Array) => void} place
   */
  async fetch (ranges, base, place) {
    await pMap(ranges, async ({ from, to }) => {
      let offset = base + from
      await this.#range(offset, base + to, chunk => {
        place(offset, chunk)
        offset += chunk.length
      })
    }, { concurrency: remoteDefaults.concurrency })
  }

  async #range (from, to, take) {
    let failures = 0
    for (let offset = from; offset < Math.min(to, this.size);) {
      const start = offset
      try {
        for await (const chunk of this.#request(offset, to)) {
          take(chunk)
          offset += chunk.length
        }
        if (offset === start) throw new Lost('it sent nothing')
        failures = 0
      } catch (error) {
        if (this.#signal?.aborted) throw new TilecouchError('ABORTED')
        if (error instanceof TilecouchError) throw error
        failures = offset > start ? 1 : failures + 1
        if (failures >= remoteDefaults.attempts) throw this.#failed(whyOf(error), error)
        await pause(remoteDefaults.backoff * 2 ** (failures - 1), this.#signal)
      }
    }
  }

  /** The bytes of one request, no more than requested. */
  async * #request (from, to) {
    const answer = await this.#follow({
      range: `bytes=${from}-${to - 1}`,
      'accept-encoding': 'identity',
      'user-agent': userAgentOf(),
      // If-Match takes only strong tags
      ...(this.#state?.etag?.startsWith('"') && { 'if-match': this.#state.etag })
    })
    try {
      const last = this.#check(answer, from)
      let remaining = Math.min(to, last + 1) - from
      for await (const chunk of answer.body) {
        yield chunk.length > remaining ? chunk.subarray(0, remaining) : chunk
        if ((remaining -= chunk.length) <= 0) return
      }
      if (remaining > 0) throw new Lost('it closed the connection')
    } finally {
      answer.body.on('error', () => {}).destroy()
    }
  }

  async #follow (headers) {
    let url = this.#url
    for (let hop = 0; ; hop++) {
      const sentHeaders = url.origin === this.#url.origin ? { ...headers, ...authorization(this.#url) } : headers
      const answer = await this.#agent.request({
        origin: url.origin, path: url.pathname + url.search, method: 'GET', headers: sentHeaders, signal: this.#signal
      })
      const location = answer.headers.location
      if (![301, 302, 303, 307, 308].includes(answer.statusCode) || typeof location !== 'string') return answer
      await answer.body.dump()
      if (hop === remoteDefaults.redirects) throw this.#failed('it redirects again and again')
      if (!URL.canParse(location, url.href) || !/^https?:$/.test(new URL(location, url.href).protocol)) {
        throw this.#failed('it redirects to what is no web address')
      }
      url = new URL(location, url.href)
    }
  }

  /** Checks that an answer is a part of the same file as the first answer. Returns the last byte of that part. */
  #check ({ statusCode: status, headers }, from) {
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(String(headers['content-range']))
    if (status !== 206 || headers['content-encoding'] || !range) throw this.#errorOf(status, headers)
    const [, first, last, total] = range
    const size = total === '*' ? this.size : +total
    if (+first !== from || +last < from || (Number.isFinite(size) && +last >= size)) {
      throw this.#failed('the server sent another part than it was asked for')
    }
    const state = { etag: headers.etag, modified: headers['last-modified'] }
    this.#state ??= state
    if (this.size === Infinity) this.size = size
    if (state.etag !== this.#state.etag || state.modified !== this.#state.modified || size !== this.size) {
      throw this.#replaced()
    }
    return +last
  }

  /** The error of an answer that is no part of a file. */
  #errorOf (status, headers) {
    if (status === 404 || status === 410) return new TilecouchError('SOURCE_NOT_FOUND', { value: this.shown })
    if (status === 401 || status === 403) {
      return this.#failed(`the server wants another name, password or signature (${status})`)
    }
    if (status === 412) return this.#replaced()
    if (status === 429 || status >= 500) return new Lost(`the server answered ${status}`)
    if (status === 200 || (status === 206 && headers['content-encoding'])) {
      return this.#failed('its server does not send parts of files (range requests): fetch it first, and load the file')
    }
    return this.#failed(`the server answered ${status}${status === 206 ? ' without a range' : ''}`)
  }

  #failed (why, cause) {
    return new TilecouchError('SOURCE_UNREADABLE', { value: this.shown, why }, { cause })
  }

  #replaced () {
    return this.#failed('another file was put in its place while it was read: run it again')
  }

  async close () {
    await this.#agent.destroy()
  }
}

/** A failure after which the request is repeated. */
class Lost extends Error {}

function authorization ({ username, password }) {
  if (!username && !password) return {}
  const credentials = Buffer.from(`${decodedText(username)}:${decodedText(password)}`)
  return { authorization: `Basic ${credentials.toString('base64')}` }
}

const FAILURES = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'no answer in time'
}

// messages of errors may quote the request; their codes do not
function whyOf (error) {
  if (error instanceof Lost) return error.message
  return FAILURES[error.code] ?? `the connection failed${error.code ? ` (${error.code})` : ''}`
}

export const blockDefaults = {
  size: 65536, // bytes of a part; it is fetched completely or not at all
  most: 2 ** 23, // parts at most; those of longer files are larger
  gap: 4, // unneeded parts that are fetched to save a request
  run: 8e6 // bytes asked for at once
}

/** Marks the parts of a long file that are needed. Its memory does not grow with their number. */
export class Blocks {
  #bits
  #length

  /** @param {number} length of the file, in bytes */
  constructor (length) {
    this.#length = length
    this.size = Math.max(blockDefaults.size, Math.ceil(length / blockDefaults.most))
    this.#bits = new Uint8Array(Math.ceil(length / this.size / 8))
  }

  add (offset, length) {
    for (let block = Math.floor(offset / this.size); block * this.size < offset + length; block++) {
      this.#bits[block >> 3] |= 1 << (block & 7)
    }
  }

  /** The sum of the bytes of `ranges`. */
  get bytes () {
    let bytes = 0
    for (const { from, to } of this.ranges()) bytes += to - from
    return bytes
  }

  /** The ranges to fetch, ascending. @returns {Generator<{from: number, to: number}>} */
  * ranges () {
    const most = Math.max(1, Math.floor(blockDefaults.run / this.size))
    let [first, last] = [-1, -1]
    const range = () => ({ from: first * this.size, to: Math.min((last + 1) * this.size, this.#length) })
    for (const block of this.#blocks()) {
      if (first >= 0 && (block - last > blockDefaults.gap + 1 || block - first >= most)) {
        yield range()
        first = block
      } else if (first < 0) first = block
      last = block
    }
    if (first >= 0) yield range()
  }

  * #blocks () {
    for (let byte = 0; byte < this.#bits.length; byte++) {
      for (let bit = 0; this.#bits[byte] >> bit; bit++) if (this.#bits[byte] >> bit & 1) yield byte * 8 + bit
    }
  }
}
