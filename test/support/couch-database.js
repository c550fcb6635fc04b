// A real CouchDB where one is named, and temporary folders.
import { skip } from './tools.js'

export { useFolder } from './folder.js'

/** A database of its own for each test of a suite on the CouchDB of COUCHDB_URL; without one the suite is skipped. */
export function useDatabase () {
  const database = { url: '' }
  before(function () { if (!process.env.COUCHDB_URL) skip(this, 'no real CouchDB: COUCHDB_URL is not set') })
  beforeEach(async () => {
    const server = new URL(process.env.COUCHDB_URL)
    server.pathname = `/unit_${Math.random().toString(36).slice(2)}`
    database.url = server.href
    await request(database.url, { method: 'PUT' })
  })
  afterEach(async () => { if (database.url) await request(database.url, { method: 'DELETE' }) })
  return database
}

/** JSON over fetch, which takes no password in a URL. */
export async function request (url, { body, ...options } = {}) {
  const { username, password, ...parts } = { ...splitAuth(url) }
  const answer = await fetch(parts.href, {
    ...options,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...(
      username && { authorization: `Basic ${btoa(`${username}:${password}`)}` }
    ) },
    body: body && JSON.stringify(body)
  })
  return answer.json()
}

function splitAuth (url) {
  const parsed = new URL(url)
  const { username, password } = parsed
  parsed.username = parsed.password = ''
  return { href: parsed.href, username: decodeURIComponent(username), password: decodeURIComponent(password) }
}
