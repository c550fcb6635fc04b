// Addresses of databases.
import { TilecouchError } from '../errors.js'
import { passwordOf, secretOf } from './secrets.js'

const DATABASE = /^[a-z][a-z0-9_$()+/-]{0,235}$/

/**
 * Takes a database URL apart. What is shown (`url`) never holds a password.
 * @param {string} url
 * @param {{ambient?: boolean}} [options] ambient: a URL without a name or password is opened with those of the
 *   environment, unless false
 */
export function parseDatabaseUrl (url, { ambient = true } = {}) {
  let parsed, at, db
  try {
    parsed = new URL(url)
    at = parsed.pathname.replace(/\/+$/, '').lastIndexOf('/')
    db = decodeURIComponent(parsed.pathname.replace(/\/+$/, '').slice(at + 1))
    // a bad % in a name or password would fail later, where it is decoded
    decodeURIComponent(parsed.username + parsed.password)
  } catch {
    throw new TilecouchError('BAD_DATABASE', { value: url })
  }
  if (!/^https?:$/.test(parsed.protocol) || !DATABASE.test(db)) throw new TilecouchError('BAD_DATABASE', { value: url })
  const base = parsed.pathname.slice(0, at < 0 ? 0 : at)
  const user = parsed.username || (ambient && process.env.COUCHDB_USER)
  const password = parsed.username
    ? parsed.password || (ambient && storedPassword(parsed.username)) || ''
    : user ? encodeURIComponent(secretOf('COUCHDB_PASSWORD') ?? '') : ''
  const auth = user ? `${parsed.username || encodeURIComponent(user)}:${password}@` : ''
  return {
    db,
    url: `${parsed.protocol}//${parsed.host}${base}/${encodeURIComponent(db)}`,
    serverUrl: `${parsed.protocol}//${parsed.host}${base}`,
    authorised: `${parsed.protocol}//${auth}${parsed.host}${base}`
  }
}

const storedPassword = username => encodeURIComponent(passwordOf('COUCHDB', decodeURIComponent(username)) ?? '')
