// Servers with users who have different rights.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
import { as, json, onEachStore, put, request } from './backends.js'

/**
 * Starts a server with users, or adds users to CouchDB. The embedded store of other tests has no users.
 * @param {{supports: {users: boolean}, url: () => Promise<string>, database: () => Promise<string>}} backend
 * @param {Record<string, string[]>} roles by name
 */
export async function withUsers (backend, roles) {
  const suffix = `${process.pid}_${Date.now().toString(36)}`
  const users = Object.entries(roles).map(([name, userRoles]) =>
    ({ name: `${name}_${suffix}`, roles: userRoles, type: 'user', password: `s3cret-${name}` }))
  let counter = 0
  const { close, database = backend.database } =
    await (backend.supports.users ? addUsers(backend, users) : startWithUsers(users))
  return {
    /** URL of a database that does not exist yet, with an admin's name. */
    database: async () => database.call(backend, counter++),
    /** Name and password. @param {string} name */
    credentials: name => [`${name}_${suffix}`, `s3cret-${name}`],
    /** The URL with the name and password of a user. @param {string} url @param {string} name */
    as: (url, name) => as(url, `${name}_${suffix}`, `s3cret-${name}`),
    close
  }
}

async function addUsers (backend, users) {
  const server = await backend.url()
  const urlOf = ({ name }) => `${server}/_users/org.couchdb.user:${name}`
  for (const user of users) await put(urlOf(user), user)
  const remove = async user => request(`${urlOf(user)}?rev=${(await json(urlOf(user)))._rev}`, { method: 'DELETE' })
  return { close: async () => { for (const user of users) await remove(user) } }
}

async function startWithUsers (users) {
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-users-'))
  const accounts = Object.fromEntries(users.map(({ name, password, roles }) => [name, { password, roles }]))
  const embedded = await startEmbedded({ dir, admins: { admin: 'test' }, users: accounts })
  return {
    database: number => `${as(embedded.url, 'admin', 'test')}test_users_${number}`,
    async close () {
      await embedded.close()
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

const PEOPLE = { writer: ['tilecouch-writer'], other: ['tilecouch-writer'], reader: [], boss: [] }

/**
 * A suite for each store, with an admin, two writers, a reader, and a user who may become admin of a database.
 * @param {string} title
 * @param {(start: () => Promise<{database: string, writer: string[], other: string[], reader: string[], boss: string[],
 *   close: () => Promise<void>}>) => void} body
 */
export function withPeople (title, body) {
  onEachStore(title, backend => body(async () => {
    const { database, credentials, close } = await withUsers(backend, PEOPLE)
    const people = Object.keys(PEOPLE).map(name => [name, credentials(name)])
    return { database: await database(), ...Object.fromEntries(people), close }
  }))
}
