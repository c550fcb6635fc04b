// Where clients reach the gateway: the base of the links in its answers. Clients write the Host header, so it may be made up.
// A link from it is for the client that asked: no cache that serves others may keep it.

export const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/**
 * @typedef {{base: string, isShared: boolean}} PublicUrl base: ends in a slash; isShared: the same for every client
 *
 * @param {{publicUrl?: string | null, publicHosts?: string[] | null, trustProxy?: boolean}} options
 * @returns {(req: import('node:http').IncomingMessage) => PublicUrl}
 */
export function publicUrlOf ({ publicUrl, publicHosts, trustProxy }) {
  if (publicUrl) return () => ({ base: publicUrl, isShared: true })
  const known = publicHosts?.length ? publicHosts : undefined
  return ({ headers, socket }) => {
    const given = headers.host?.toLowerCase()
    const host = known ? known.find(name => name === given) ?? known[0] : given !== undefined && HOST.test(given) ? given : here(socket)
    const protocol = trustProxy && /^https$/i.test(last(headers['x-forwarded-proto'])) ? 'https' : 'http'
    return { base: `${protocol}://${host}/`, isShared: false }
  }
}

/** `Cache-Control` of an answer with such links. @param {PublicUrl} url @param {string} cacheControl */
export const keptWith = ({ isShared }, cacheControl) => isShared ? cacheControl : cacheControl.replace(/\bpublic\b/, 'private')

/** What the proxy nearest to us wrote: all others may be made up. @param {string | string[] | undefined} header */
export const last = header => String(header ?? '').split(',').at(-1)?.trim() ?? ''

/** HTTP/1.0 needs no Host. */
function here ({ localAddress = '127.0.0.1', localPort = 80 }) {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}
