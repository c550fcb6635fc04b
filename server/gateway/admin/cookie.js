// The session of a visitor of the control room. For CouchDB it is the cookie AuthSession; for the browser it is a
// cookie of the gateway with a name of its own, which is sent to the control room only: /db and all else never see it.

const NAME = 'control-room'

const VALUE = '[\\w%+/=:.~-]{1,1024}'
const SESSION = new RegExp(`^AuthSession="?(${VALUE})?"?(?:;|$)`)
const AGE = /;\s*max-age=(\d{1,10})\s*(?:;|$)/i

/**
 * Cookies know no ports, so the name has the one of the gateway: two gateways of a machine then have two sessions.
 * @param {string} base public URL of the gateway, which ends in a slash
 */
export function nameFor (base) {
  const { port } = new URL(base)
  return port ? `${NAME}-${port}` : NAME
}

/** The session in a request's cookies. @returns {string | undefined} as CouchDB wrote it */
export const sessionIn = ({ cookie = '' }, base) =>
  new RegExp(`(?:^|;) *${nameFor(base)}=(${VALUE})(?: *;|$)`).exec(cookie)?.[1]

/** For CouchDB. @param {string} session */
export const toCouch = session => ({ cookie: `AuthSession=${session}` })

/**
 * What CouchDB sets: a new session, or a renewed one.
 * @param {string | string[] | undefined} header Set-Cookie
 * @returns {{session: string, age?: number} | undefined} age: seconds; session: empty when it has ended
 */
export function sessionOf (header) {
  for (const line of [header ?? []].flat()) {
    const found = SESSION.exec(line)
    if (!found) continue
    const [, age] = AGE.exec(line) ?? []
    return { session: found[1] ?? '', ...(age !== undefined && { age: Number(age) }) }
  }
}

/**
 * The cookie for the browser; no page can read it, and no page of another site has it sent.
 * @param {{session: string, age?: number}} session @param {string} base
 */
export function cookieFor ({ session, age }, base) {
  const { pathname, protocol } = new URL(base)
  const ends = session === '' ? '; Max-Age=0' : age === undefined ? '' : `; Max-Age=${age}`
  return `${nameFor(base)}=${session}${ends}; Path=${pathname}admin; HttpOnly; SameSite=Strict` +
    (protocol === 'https:' ? '; Secure' : '')
}

export const endedCookie = base => cookieFor({ session: '' }, base)
