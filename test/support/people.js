// Servers with people who may do different things: an admin, two writers, a reader, and one who may become admin of a database.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
import { as, backends, json, request } from './backends.js'

/** @type {[string, string, string[]][]} name, password, roles */
const people = [['writer', 'w', ['tilecouch-writer']], ['other', 'o', ['tilecouch-writer']], ['reader', 'r', []], ['boss', 'b', []]]

const servers = {
  embedded: async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-permissions-'))
    const server = await startEmbedded({ dir, admins: { root: 'secret' }, users: Object.fromEntries(people.map(([name, password, roles]) => [name, { password, roles }])) })
    return {
      database: `${as(server.url, 'root', 'secret')}test_permissions`,
      ...Object.fromEntries(people.map(([name, password]) => [name, [name, password]])),
      close: async () => {
        await server.close()
        await rm(dir, { recursive: true, force: true })
      }
    }
  },
  CouchDB: async () => {
    const backend = backends.find(({ name }) => name === 'CouchDB')
    const url = await backend.url()
    const suffix = `${process.pid}_${Date.now()}`
    for (const [name, password, roles] of people) {
      const id = `org.couchdb.user:${name}_${suffix}`
      await json(`${url}/_users/${id}`, { method: 'PUT', body: JSON.stringify({ _id: id, name: `${name}_${suffix}`, password, roles, type: 'user' }) })
    }
    return {
      database: await backend.database(),
      ...Object.fromEntries(people.map(([name, password]) => [name, [`${name}_${suffix}`, password]])),
      close: async () => {
        for (const [name] of people) {
          const id = `org.couchdb.user:${name}_${suffix}`
          const { _rev } = await json(`${url}/_users/${id}`)
          await request(`${url}/_users/${id}?rev=${_rev}`, { method: 'DELETE' })
        }
      }
    }
  }
}

/**
 * A suite for each store that can be had.
 * @param {string} title
 * @param {(start: () => Promise<{database: string, writer: string[], other: string[], reader: string[], boss: string[], close: () => Promise<void>}>) => void} body
 */
export function withPeople (title, body) {
  for (const [name, start] of Object.entries(servers)) {
    const suite = name === 'embedded' || backends.some(backend => backend.name === name) ? describe : describe.skip
    suite(`${title} on ${name}`, () => body(start))
  }
}
