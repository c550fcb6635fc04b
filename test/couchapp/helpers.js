// Temporary folders, and a real CouchDB where one is named.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * A folder for each test of a suite, removed after it.
 * @returns {{dir: string, write: (files: Record<string, string | Buffer>) => string}}
 */
export function useFolder () {
  const folder = {
    dir: '',
    /** Writes files, and answers the folder. */
    write (files) {
      for (const [name, content] of Object.entries(files)) {
        const file = path.join(folder.dir, name)
        mkdirSync(path.dirname(file), { recursive: true })
        writeFileSync(file, content)
      }
      return folder.dir
    }
  }
  beforeEach(() => { folder.dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-test-')) })
  afterEach(() => { rmSync(folder.dir, { recursive: true, force: true }) })
  return folder
}

/**
 * A database of its own for each test of a suite on the CouchDB of COUCHDB_URL; without one the suite is skipped, and says why.
 * @param {import('mocha').Suite} suite
 */
export function useDatabase (suite) {
  const database = { url: '' }
  if (!process.env.COUCHDB_URL) suite.title += ' (skipped: COUCHDB_URL is not set)'
  before(function () { if (!process.env.COUCHDB_URL) this.skip() })
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
    headers: { accept: 'application/json', 'content-type': 'application/json', ...(username && { authorization: `Basic ${btoa(`${username}:${password}`)}` }) },
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
