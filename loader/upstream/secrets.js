// Keys and passwords for upstreams, by host. They come from the configuration, never from a document, and are sent only to their
// own host and port, and encrypted: by `http` only if the key of the configuration says so.
import { TilecouchError } from '../errors.js'

const HEADER = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const SHORTEST = 4 // letters of a text that is looked for in messages: less would blank out half of them

/** @typedef {Record<string, Record<string, string>>} SecretsByHost host or origin -> headers, and query parameters whose name begins with a question mark */

const NOTHING = Object.freeze({ headers: {}, query: '' })

export class Secrets {
  #origins = new Map()
  #values

  /** @param {SecretsByHost} [given] such as { "tiles.example.org": { "Authorization": "Bearer …", "?key": "…" } } */
  constructor (given = {}) {
    for (const [host, entries] of Object.entries(given)) {
      const origin = originOf(host)
      if (typeof entries !== 'object' || entries === null || !origin) throw new TilecouchError('BAD_OPTION', { option: 'upstreamHeaders', value: host })
      const headers = {}
      const query = []
      for (const [name, value] of Object.entries(entries)) {
        // the value is not repeated: it is what must not be seen
        const right = typeof value === 'string' && /^[\t -~\u0080-\u00ff]*$/.test(value) && (name.startsWith('?') ? name.length > 1 : HEADER.test(name))
        if (!right) throw new TilecouchError('BAD_OPTION', { option: `upstreamHeaders of ${host}`, value: name })
        if (name.startsWith('?')) query.push(`${encodeURIComponent(name.slice(1))}=${encodeURIComponent(value)}`)
        else headers[name.toLowerCase()] = value
      }
      this.#origins.set(origin, { headers, query: query.join('&') })
    }
    const all = Object.values(given).flatMap(Object.values)
    this.#values = [...new Set(all.flatMap(shapesOf))].filter(value => value.length >= SHORTEST).sort((a, b) => b.length - a.length)
  }

  /**
   * What a request takes along: nothing for an origin that is not named, whether it was redirected there or not.
   * @param {URL} url of the request
   * @returns {{headers: Record<string, string>, query: string}}
   */
  for ({ origin }) {
    return this.#origins.get(origin) ?? NOTHING
  }

  /** Whether there are some for this host that do not go there in the clear. @param {URL} url */
  keepsFrom ({ protocol, host, origin }) {
    return protocol === 'http:' && !this.#origins.has(origin) && this.#origins.has(`https://${host}`)
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

/**
 * Where a key of the configuration sends its secrets: `tiles.example.org`, with a port or without, is https; any origin may be written out.
 * @param {string} text
 */
export function originOf (text) {
  const whole = /^https?:\/\//i.test(text) ? text : `https://${text}`
  const [, authority] = /^\w+:\/\/([^/?#@\\]+)\/?$/.exec(whole) ?? []
  return authority && URL.canParse(whole) ? new URL(whole).origin : undefined
}
