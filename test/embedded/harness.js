// Servers and clients for the tests of the embedded store. The contract also runs on the CouchDB of COUCHDB_URL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'

/** Starts a server in a throw-away folder. */
export async function startInTmp (options = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'emb-test-'))
  const server = await startEmbedded({ dir, admins: 'everybody', ...options })
  return {
    ...server,
    async stop () {
      await server.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

/**
 * A server for all tests of a suite, and a client of it.
 * @param {{options?: Record<string, any>, fill?: (client: ReturnType<typeof clientFor>) => Promise<any>}} [setup]
 */
export function useServer ({ options = {}, fill = async () => {} } = {}) {
  const running = {}
  before(async () => {
    running.server = await startInTmp(options)
    running.client = clientFor(running.server.url)
    await fill(running.client)
  })
  after(async () => {
    running.client.end()
    await running.server.stop()
  })
  return { server: () => running.server, client: (...args) => running.client(...args) }
}

/**
 * Makes a client that sends paths unchanged and returns bodies as bytes, text and JSON.
 * @param {string} base URL, with name and password or without
 */
export function clientFor (base) {
  const { hostname, port, username, password } = new URL(base)
  const agent = new http.Agent({ keepAlive: true })
  const authorization = username
    ? { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` } : {}
  const request = (method, path, body, headers = {}) => new Promise((resolve, reject) => {
    const isText = typeof body === 'string' || Buffer.isBuffer(body)
    const bytes = body === undefined ? undefined : isText ? body : JSON.stringify(body)
    const type = body === undefined && method !== 'POST' ? {} : { 'Content-Type': 'application/json' }
    const length = bytes === undefined ? {} : { 'Content-Length': Buffer.byteLength(bytes) }
    const req = http.request({ agent, hostname, port, method, path,
      headers: { ...authorization, Accept: 'application/json', ...type, ...length, ...headers } }, res => {
      const chunks = []
      res.on('data', chunk => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () => {
        const content = Buffer.concat(chunks)
        const text = content.toString()
        resolve({
          status: res.statusCode,
          headers: res.headers,
          bytes: content,
          text,
          get json () { return JSON.parse(text) }
        })
      })
    })
    req.on('error', reject)
    req.end(bytes)
  })
  request.end = () => agent.destroy()
  request.base = base
  return request
}

const uniqueName = () => `emb_test_${randomBytes(6).toString('hex')}`

const withUser = (url, name, password) => Object.assign(new URL(url), { username: name, password }).href

/** Starts an embedded store, with clients of its admin, of anonymous users and of a writer, and unique names. */
async function embeddedTarget () {
  const writer = uniqueName()
  const server = await startInTmp(
    { admins: { admin: 'secret' }, users: { [writer]: { password: 'w', roles: ['tilecouch-writer'] } } }
  )
  const clients = {
    admin: clientFor(withUser(server.url, 'admin', 'secret')), anonymous: clientFor(server.url),
    writer: clientFor(withUser(server.url, writer, 'w')), wrong: clientFor(withUser(server.url, 'admin', 'nope'))
  }
  return { embedded: true, unique: uniqueName, writerName: writer, ...clients, async stop () {
    for (const client of Object.values(clients)) client.end(); await server.stop()
  } }
}

async function couchTarget (url) {
  const writer = uniqueName()
  const user = `/_users/org.couchdb.user:${writer}`
  const { origin } = new URL(url)
  const clients = {
    admin: clientFor(url), anonymous: clientFor(origin), writer: clientFor(withUser(origin, writer, 'w')),
    wrong: clientFor(withUser(origin, 'admin', 'nope'))
  }
  const created =
    await clients.admin('PUT', user, { name: writer, password: 'w', roles: ['tilecouch-writer'], type: 'user' })
  return {
    embedded: false,
    unique: uniqueName,
    writerName: writer,
    ...clients,
    async stop () {
      await clients.admin('DELETE', `${user}?rev=${created.json.rev}`)
      for (const client of Object.values(clients)) client.end()
    }
  }
}

export const targets = [
  { name: 'embedded', start: embeddedTarget },
  ...(process.env.COUCHDB_URL ? [{ name: 'CouchDB', start: () => couchTarget(process.env.COUCHDB_URL) }] : [])
]

/**
 * Checks the status of an answer, and the code of its error.
 * @param {number} status @param {Promise<any>} request @param {string} [error]
 */
export async function answered (status, request, error) {
  const answer = await request
  assert.equal(answer.status, status, answer.text)
  if (error) assert.equal(answer.json.error, error)
  return answer
}

/** A database for one describe block. @param {() => any} target */
export function freshDatabase (target, { open = false } = {}) {
  const db = {
    path: '',
    /** Sends a request of an admin for a path in this database. */
    admin: (method, path, ...args) => target().admin(method, db.path + path, ...args)
  }
  before(async () => {
    db.path = `/${target().unique()}`
    await answered(201, db.admin('PUT', ''))
    if (open) await db.admin('PUT', '/_security', { members: {}, admins: {} })
  })
  after(() => db.admin('DELETE', ''))
  return db
}

export const png = (...bytes) => Buffer.from([0x89, 0x50, 0x4e, 0x47, ...bytes])
