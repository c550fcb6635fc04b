// From each kind of store to each, and what the tests of mirrors as a whole share.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Store, publish } from '../../loader/index.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { as, backends, json, request } from '../support/backends.js'
import { square } from '../support/tiles.js'

export const T1 = '2022-03-01T00:00:00Z'
export const T2 = '2023-06-01T00:00:00Z'

/** @typedef {typeof backends[number]} Backend */

/**
 * @param {string} title
 * @param {(from: Backend, to: Backend) => void} body
 */
export function onEachPair (title, body) {
  for (const from of backends) {
    for (const to of backends) describe(`${title} from ${from.name} to ${to.name}`, () => body(from, to))
  }
}

/**
 * A published store of tiles, a quarter of them with a past.
 * @param {string} url
 * @param {{side?: number}} [options] tiles
 */
export async function origin (url, { side = 6 } = {}) {
  const store = await Store.create(url, { public: false })
  await store.defineLayer('osm', { format: 'png' })
  for (const [time, seed] of [[T1, (x, y) => x * side + y], [T2, (x, y) => x < side / 2 && y < side / 2 ? 1000 + x * side + y : undefined]]) {
    await store.putEdition('osm', time, { started: time })
    await store.write(square({ layer: 'osm', time, side, seed }))
    await store.putEdition('osm', time, { finished: time })
  }
  await publish(store)
  return store
}

export const put = (url, body) => json(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

export const securityOf = url => json(`${url}/_security`)

/** Status of an answer to whoever has no name. */
export const anonymously = async url => {
  const { origin: server, pathname } = new URL(url)
  return (await fetch(`${server}${pathname}`)).status
}

export const isThere = async url => (await request(url)).status === 200

/** The ids of its design documents with their revisions. */
export async function designsOf (url) {
  const { rows } = await json(`${url}/_all_docs?startkey="_design/"&endkey="_design0"`)
  return Object.fromEntries(rows.map(({ id, value: { rev } }) => [id, rev]))
}

/** Everything that notes of mirrors hold, as text. */
export const notesOf = async url => JSON.stringify(await json(`${url}/_local_docs?include_docs=true`))

/** How many changes its indexes lack. CouchDB counts its _security as one in each of its shards. */
export async function pendingOf (url) {
  const names = Object.keys(await designsOf(url)).filter(id => id !== '_design/tiles')
  return Promise.all(names.map(async id => (await json(`${url}/${id}/_info`)).view_index.updates_pending.total))
}

/**
 * A server with users: their names are those of this run. The embedded store of other tests has none, and this one is another.
 * @param {Backend} backend
 * @param {Record<string, string[]>} roles by name
 */
export async function withUsers (backend, roles) {
  const nameOf = name => `${name}_${process.pid}`
  const made = Object.entries(roles).map(([name, own]) => ({ name: nameOf(name), roles: own, type: 'user', password: `s3cret-${name}` }))
  const { server, close } = await (backend.supports.users ? addUsers(backend, made) : startWithUsers(made))
  let counter = 0
  return {
    /** URL of a database that is not there yet, with an admin's name. */
    database: () => `${server}/users_${process.pid}_${Date.now().toString(36)}_${counter++}`,
    /** The URL as one of them. @param {string} url @param {string} name */
    as: (url, name) => as(url, nameOf(name), `s3cret-${name}`),
    close
  }
}

async function addUsers (backend, users) {
  const server = await backend.url()
  const where = ({ name }) => `${server}/_users/org.couchdb.user:${name}`
  for (const user of users) await put(where(user), user)
  const remove = async user => request(`${where(user)}?rev=${(await json(where(user)))._rev}`, { method: 'DELETE' })
  return { server, close: async () => { for (const user of users) await remove(user) } }
}

async function startWithUsers (users) {
  const dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-users-'))
  const own = Object.fromEntries(users.map(({ name, password, roles }) => [name, { password, roles }]))
  const embedded = await startEmbedded({ dir, admins: { admin: 'test' }, users: own })
  return {
    server: as(embedded.url, 'admin', 'test').replace(/\/$/, ''),
    async close () {
      await embedded.close()
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}
