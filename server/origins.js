// Which page sends a request: one of this server, or one of another origin, of which a browser may send cookies along.

/**
 * Whether a request comes from a page of this server, from the user himself or from a program. Pages on other ports of
 * the same host are other origins, although they share its cookies.
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @param {string} [host] of this server, as browsers see it
 */
export function isOwnPage ({ origin, host: asked, 'sec-fetch-site': site }, host = asked) {
  // no page can write this header
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || isOrigin(origin, host)
}

/** Whether an Origin header names this host. @param {string} origin @param {string | undefined} host with its port */
export const isOrigin = (origin, host) => URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
