// The request as CouchDB shows it to design functions.
import { decode } from '../exchange.js'
import { describe } from '../routes/database.js'
import { parseJson } from '../json.js'
import { newId } from '../routes/server.js'

const titled = name => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())

const withoutSecrets = headers => Object.fromEntries(Object.entries(headers)
  .filter(([name, value]) => value !== undefined && name !== 'authorization' && name !== 'cookie')
  .map(([name, value]) => [titled(name), String(value)]))

function cookies (header = '') {
  const pairs = header.split(';').map(pair => pair.trim()).filter(pair => pair.includes('='))
  return Object.fromEntries(pairs.map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

/** CouchDB decodes these parameters as JSON before a design function sees them. */
const jsonKeys = new Set(['startkey', 'endkey', 'start_key', 'end_key', 'key', 'descending'])

function queryOf (query) {
  return Object.fromEntries(Object.entries(query).map(([name, text]) => [name, jsonKeys.has(name) ? parseJson(text) : text]))
}

const parts = path => path.split('/').filter(part => part !== '').map(part => decode(part))

/** What a rewrite function sees. @param {import('../exchange.js').Exchange} ex */
export async function rewriteRequest (ex) {
  const body = (await ex.bytes()).toString('utf8')
  return {
    method: ex.method,
    requested_path: parts(ex.target),
    path: ex.segments,
    raw_path: ex.target,
    query: queryOf(ex.query),
    headers: withoutSecrets(ex.headers),
    body: body === '' ? 'undefined' : body,
    peer: ex.req.socket.remoteAddress ?? '',
    cookie: cookies(ex.headers.cookie),
    userCtx: { db: ex.db.name, name: ex.userCtx.name, roles: ex.userCtx.roles },
    secObj: ex.db.security
  }
}

/** What shows, lists, updates and filters see. @param {import('../exchange.js').Exchange} ex @param {string | null} id */
export async function requestObject (ex, id) {
  const request = await rewriteRequest(ex)
  const form = /^application\/x-www-form-urlencoded/i.test(ex.headers['content-type'] ?? '') ? Object.fromEntries(new URLSearchParams(request.body)) : {}
  return { info: await describe(ex.db), uuid: newId(), id, ...request, form }
}
