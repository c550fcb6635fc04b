// Keys and passwords for upstreams, by host. They come from the configuration, never from a document. They are sent
// only to their own host and port, and by `http` only if the key of the configuration says so.
import { TilecouchError } from '../../errors.js'

const HEADER = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const SHORTEST = 4 // characters: shorter secrets are not hidden in messages

/**
 * @typedef {Record<string, Record<string, string>>} SecretsByHost host or origin -> headers, and query parameters whose
 * names begin with a question mark
 */

const NOTHING = Object.freeze({ headers: {}, query: '' })

export class Secrets {
  #origins = new Map()
  #values

  /** @param {SecretsByHost} [byHost] such as { "tiles.example.org": { "Authorization": "Bearer x", "?key": "x" } } */
  constructor (byHost = {}) {
    for (const [host, entries] of Object.entries(byHost)) {
      const origin = originOfKey(host)
      if (typeof entries !== 'object' || entries === null || !origin) {
        throw new TilecouchError('BAD_OPTION', { option: 'upstreamHeaders', value: host })
      }
      const headers = {}
      const query = []
      for (const [name, value] of Object.entries(entries)) {
        const isName = name.startsWith('?') ? name.length > 1 : HEADER.test(name)
        // the error names the header, and not its secret value
        if (!isName || typeof value !== 'string' || !/^[\t -~\u0080-\u00ff]*$/.test(value)) {
          throw new TilecouchError('BAD_OPTION', { option: `upstreamHeaders of ${host}`, value: name })
        }
        if (name.startsWith('?')) query.push(`${encodeURIComponent(name.slice(1))}=${encodeURIComponent(value)}`)
        else headers[name.toLowerCase()] = value
      }
      this.#origins.set(origin, { headers, query: query.join('&') })
    }
    const secrets = Object.values(byHost).flatMap(Object.values)
    const values = [...new Set(secrets.flatMap(formsOf))].filter(value => value.length >= SHORTEST)
    this.#values = values.sort((a, b) => b.length - a.length)
  }

  /**
   * The secrets to send with a request. An origin that is not in the configuration gets none, even after a redirect.
   * @param {URL} url of the request
   * @returns {{headers: Record<string, string>, query: string}}
   */
  for ({ origin }) {
    return this.#origins.get(origin) ?? NOTHING
  }

  /** Whether secrets of this host are withheld, because they are only sent by https. @param {URL} url */
  keepsFrom ({ protocol, host, origin }) {
    return protocol === 'http:' && !this.#origins.has(origin) && this.#origins.has(`https://${host}`)
  }

  /** A text without secrets: servers repeat what they were sent, even in error pages. @param {string} text */
  conceal (text) {
    return this.#values.reduce((clean, value) => clean.replaceAll(value, '…'), text)
  }
}

/** The forms in which a server may repeat a secret. */
function formsOf (value) {
  const [, scheme, credentials] = /^(\w+) (.+)$/.exec(value) ?? []
  const decoded = /^basic$/i.test(scheme ?? '') ? Buffer.from(credentials, 'base64').toString() : ''
  return [value, encodeURIComponent(value), credentials ?? '', decoded, decoded.slice(decoded.indexOf(':') + 1)]
}

/**
 * Where a key of the configuration sends its secrets: `tiles.example.org`, with a port or without, means https; other
 * origins are written out.
 * @param {string} text
 */
export function originOfKey (text) {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`
  const [, authority] = /^\w+:\/\/([^/?#@\\]+)\/?$/.exec(address) ?? []
  return authority && URL.canParse(address) ? new URL(address).origin : undefined
}
