// Keys and passwords for upstreams, by host. They come from the configuration of whoever asks, never from a document, and
// go to their own host alone.
import { TilecouchError } from '../../core/index.js'

const HEADER = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const SHORTEST = 4 // letters of a text that is looked for in messages: less would blank out half of them

/** @typedef {Record<string, Record<string, string>>} SecretsByHost host -> headers, and query parameters whose name begins with a question mark */

export class Secrets {
  #hosts = new Map()
  #values

  /** @param {SecretsByHost} [given] such as { "tiles.example.org": { "Authorization": "Bearer …", "?key": "…" } } */
  constructor (given = {}) {
    for (const [host, entries] of Object.entries(given)) {
      if (typeof entries !== 'object' || entries === null || !isHost(host)) throw new TilecouchError('BAD_OPTION', { option: 'upstreamHeaders', value: host })
      const headers = {}
      const query = []
      for (const [name, value] of Object.entries(entries)) {
        // the value is not repeated: it is what must not be seen
        const right = typeof value === 'string' && /^[\t -~\u0080-\u00ff]*$/.test(value) && (name.startsWith('?') ? name.length > 1 : HEADER.test(name))
        if (!right) throw new TilecouchError('BAD_OPTION', { option: `upstreamHeaders of ${host}`, value: name })
        if (name.startsWith('?')) query.push(`${encodeURIComponent(name.slice(1))}=${encodeURIComponent(value)}`)
        else headers[name.toLowerCase()] = value
      }
      this.#hosts.set(host.toLowerCase(), { headers, query: query.join('&') })
    }
    const all = Object.values(given).flatMap(Object.values)
    this.#values = [...new Set(all.flatMap(shapesOf))].filter(value => value.length >= SHORTEST).sort((a, b) => b.length - a.length)
  }

  /**
   * What a request takes along: nothing for a host that is not named, nor in the clear after it began encrypted.
   * @param {URL} url of the request
   * @param {URL} first where it was redirected from, or the same
   * @returns {{headers: Record<string, string>, query: string}}
   */
  for (url, first) {
    const found = this.#hosts.get(url.host)
    return found && !(first.protocol === 'https:' && url.protocol === 'http:') ? found : { headers: {}, query: '' }
  }

  /** A text without them: servers repeat what they were sent, even in error pages. @param {string} text */
  conceal (text) {
    return this.#values.reduce((clean, value) => clean.replaceAll(value, '…'), text)
  }
}

/** A secret as a server may repeat it. */
function shapesOf (value) {
  const [, scheme, credentials] = /^(\w+) (.+)$/.exec(value) ?? []
  const decoded = /^basic$/i.test(scheme ?? '') ? Buffer.from(credentials, 'base64').toString() : ''
  return [value, encodeURIComponent(value), credentials ?? '', decoded, decoded.slice(decoded.indexOf(':') + 1)]
}

function isHost (text) {
  try {
    return new URL(`http://${text}/`).host === text.toLowerCase()
  } catch {
    return false
  }
}
