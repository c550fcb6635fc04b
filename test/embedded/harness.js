// Servers and clients for the tests of the embedded store. The contract also runs on a CouchDB if there is one.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
import { couchDb } from '../support/backends.js'

const MODULE = new URL('../../server/embedded/index.js', import.meta.url).href

/** Starts a server on a folder, with a client of it. */
export async function startIn (dir, options = {}) {
  const server = await startEmbedded({ dir, admins: 'everybody', ...options })
  const client = clientFor(server.url)
  return {
    ...server,
    client,
    async close () {
      client.end()
      await server.close()
    }
  }
}

/** Starts a server in a throw-away folder, with a client of it. */
export async function startInTmp (options = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'emb-test-'))
  const server = await startIn(dir, options)
  return {
    ...server,
    async stop () {
      await server.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

/**
 * Starts a server in another process.
 * @param {Record<string, any>} options of startEmbedded
 * @param {{cwd?: string, flags?: string[]}} [setup] flags: of Node
 * @returns what the process wrote to stderr, and promises of its admin URL and of its end
 */
export function startInProcess (options, { cwd = tmpdir(), flags = [] } = {}) {
  const script = `import { startEmbedded } from ${JSON.stringify(MODULE)}
    const server = await startEmbedded(${JSON.stringify(options)})
    console.log(server.adminUrl)
    process.on('SIGTERM', () => server.close())`
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', script],
    { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', text => { errors += text })
  const exited = once(child, 'exit')
  const failed = exited.then(() => { throw new Error(errors) })
  const listening = Promise.race([once(child.stdout, 'data'), failed]).then(([url]) => String(url).trim())
  return { child, errors: () => errors, listening, exited }
}

/**
 * A server for all tests of a suite, and a client of it.
 * @param {{options?: Record<string, any>, fill?: (client: ReturnType<typeof clientFor>) => Promise<any>}} [setup]
 */
export function useEmbedded ({ options = {}, fill = async () => {} } = {}) {
  /** @type {Awaited<ReturnType<typeof startInTmp>>} */
  let server
  before(async () => {
    server = await startInTmp(options)
    await fill(server.client)
  })
  after(() => server.stop())
  return { server: () => server, client: (...args) => server.client(...args) }
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
    const bytes = body === undefined || isText ? body : JSON.stringify(body)
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

/** Clients of an admin, of anonymous users, of a writer and of one with a wrong password, and unique names. */
function targetFor (adminUrl, writerName) {
  const { origin } = new URL(adminUrl)
  const clients = {
    admin: clientFor(adminUrl),
    anonymous: clientFor(origin),
    writer: clientFor(withUser(origin, writerName, 'w')),
    wrong: clientFor(withUser(origin, 'admin', 'nope'))
  }
  const end = () => { for (const client of Object.values(clients)) client.end() }
  return { unique: uniqueName, writerName, ...clients, end }
}

async function embeddedTarget () {
  const writer = uniqueName()
  const server = await startInTmp(
    { admins: { admin: 'secret' }, users: { [writer]: { password: 'w', roles: ['tilecouch-writer'] } } }
  )
  const target = targetFor(withUser(server.url, 'admin', 'secret'), writer)
  return {
    ...target,
    embedded: true,
    async stop () {
      target.end()
      await server.stop()
    }
  }
}

const LOCKOUT = '/_node/_local/_config/chttpd_auth_lockout/mode'

async function couchTarget (url) {
  const writer = uniqueName()
  const target = targetFor(url, writer)
  const user = `/_users/org.couchdb.user:${writer}`
  const fields = { name: writer, password: 'w', roles: ['tilecouch-writer'], type: 'user' }
  const created = await target.admin('PUT', user, fields)
  // names are locked by default, but not on the servers that tests start
  const { json: modeBefore } = await target.admin('PUT', LOCKOUT, '"enforce"')
  return {
    ...target,
    embedded: false,
    async stop () {
      await (modeBefore ? target.admin('PUT', LOCKOUT, JSON.stringify(modeBefore)) : target.admin('DELETE', LOCKOUT))
      await target.admin('DELETE', `${user}?rev=${created.json.rev}`)
      target.end()
    }
  }
}

export const targets = [
  { name: 'embedded', start: embeddedTarget },
  ...(couchDb ? [{ name: 'CouchDB', start: async () => couchTarget(await couchDb.url()) }] : [])
]

/**
 * Checks the status of an answer, and its error. With a reason, the answer has no other field. Errors of status 500
 * may have one: a reference to CouchDB's log.
 * @param {number} status @param {Promise<any>} request @param {string} [error] @param {string} [reason]
 */
export async function answered (status, request, error, reason) {
  const answer = await request
  assert.equal(answer.status, status, answer.text)
  if (error) assert.equal(answer.json.error, error)
  if (reason) assert.deepEqual(answer.json, { error, reason })
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
