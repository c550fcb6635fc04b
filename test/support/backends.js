// The stores that contract tests run on: always the embedded one, and a real CouchDB if one is found. One server of
// each kind serves the whole run. Every suite has its own databases, which are removed at the end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'

let counter = 0

class Backend {
  #start
  #server
  #databases = new Set()

  constructor (name, start, supports) {
    this.name = name
    this.#start = start
    this.supports = supports
  }

  /** URL of the server, with an admin's name and password where it has one. */
  async url () {
    this.#server ??= this.#start()
    return (await this.#server).url
  }

  /** URL of a database that does not exist yet. */
  async database () {
    const name = `test_${process.pid}_${Date.now().toString(36)}_${counter++}`
    this.#databases.add(name)
    return `${await this.url()}/${name}`
  }

  async close () {
    if (!this.#server) return
    const { url, close } = await this.#server
    for (const name of this.#databases) await request(`${url}/${name}`, { method: 'DELETE' })
    await close?.()
  }
}

/** fetch with the name and password of the URL. */
export function request (url, { headers, ...options } = {}) {
  const parsed = new URL(url)
  const auth = parsed.username &&
    { authorization: `Basic ${btoa(`${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`)}` }
  parsed.username = parsed.password = ''
  return fetch(parsed, { headers: { ...auth, ...headers }, ...options })
}

export const json = async (url, options) => (await request(url, options)).json()

const send = method => (url, body) =>
  json(url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** Sends JSON, and returns the JSON of the answer. */
export const [put, post] = [send('PUT'), send('POST')]

/** The URL with another name and password, or without any. */
export function as (url, name, password) {
  const parsed = new URL(url)
  parsed.username = name ?? ''
  parsed.password = password ?? ''
  return parsed.href
}

export async function startThrowAwayEmbedded () {
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-embedded-'))
  const server = await startEmbedded({ dir, admins: 'everybody' })
  return {
    url: server.url,
    async close () {
      await server.close()
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

const embedded = new Backend('embedded', startThrowAwayEmbedded, { users: false })

/** The CouchDB of COUCHDB_URL, or one that each process of tests starts for itself, or nothing. */
export const couchDb = process.env.COUCHDB_URL
  ? new Backend('CouchDB', async () => ({ url: process.env.COUCHDB_URL.replace(/\/$/, '') }), { users: true })
  : findCouchDb() && new Backend('CouchDB', () => startCouchDb(), { users: true })

export const backends = couchDb ? [embedded, couchDb] : [embedded]

const describeFor = (title, body, timeout) => describe(title, function () {
  if (timeout) this.timeout(timeout)
  body()
})

/**
 * A suite for each store.
 * @param {string} title
 * @param {(backend: Backend) => void} body
 * @param {{timeout?: number}} [options] milliseconds, for each test and hook
 */
export function onEachStore (title, body, { timeout } = {}) {
  for (const backend of backends) describeFor(`${title} on ${backend.name}`, () => body(backend), timeout)
}

/**
 * A suite for each pair of stores.
 * @param {string} title
 * @param {(from: Backend, to: Backend) => void} body
 */
export function onEachPair (title, body) {
  for (const from of backends) for (const to of backends) {
    describe(`${title} from ${from.name} to ${to.name}`, () => body(from, to))
  }
}

export const mochaHooks = {
  async afterAll () {
    this.timeout(30000)
    for (const backend of backends) await backend.close()
  }
}
