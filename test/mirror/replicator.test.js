// The documents for CouchDB's own replicator in docs/mirrors.md: their selectors are compared with the selections of
// `tilecouch mirror`, id by id, and CouchDB runs them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { until } from '../../bench/wait.js'
import { isAdministrative } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { Store, mirror } from '../../loader/index.js'
import { compileSelector } from '../../server/embedded/selector.js'
import { json, onEachStore, put, request } from '../support/backends.js'
import { origin } from './pairs.js'

const page = readFileSync(new URL('../../docs/mirrors.md', import.meta.url), 'utf8')
const [replicationDocument, layerSelector] =
  [...page.matchAll(/```json\n(\{ "_id"[^]*?)```/g)].map(([, text]) => JSON.parse(text))

const IDS = [
  'tilecouch', 'tilecouch2', 'layer:osm', 'layer:osm2', 'layer:sat', 'edition:osm@2023-06-01T00:00:00Z',
  'edition:osm2@2023-06-01T00:00:00Z', 'style:osm@2023-06-01T00:00:00Z', 'style:sat@2023-06-01T00:00:00Z',
  'manifest:osm@2023-06-01T00:00:00Z:20240301T000000000-abcd',
  'manifest:osm@2023-06-01T00:00:00Z:20240301T000000000-abcd:1',
  'removed:osm:20240301T000000000-abcd', 'block:osm:0:0:0:abcdefghijkl',
  'block:osm2:0:0:0:abcdefghijkl', 'limits:osm', 'limits:sat',
  'work:20240301T000000000-abcd', 'activity:20240301T000000000-abcd',
  'token:abcdefghijkl', '_design/tiles', '_design/osm:1:0:0',
  'osm:0:0:0', 'osm:14:9000:123', 'osm:1:0:0@2023-06-01T00:00:00Z', 'osm2:1:0:0', 'sat:1:0:0', 'xosm:1:0:0'
]

describe('the selectors for the replicator of CouchDB', () => {
  for (const [name, selector, options] of [
    ['of everything', replicationDocument.selector, {}], ['of some layers', layerSelector, { layers: ['osm', 'sat'] }]
  ]) {
    it(`${name} select the same documents as a mirror`, () => {
      const selection = new Selection(options)
      const matches = compileSelector(selector)
      for (const id of IDS) assert.equal(matches({ _id: id }), selection.has(id), id)
    })
  }
})

onEachStore('the replicator of CouchDB', backend => {
  if (!backend.supports.users) return

  it('copies with the documents of docs/mirrors.md, and leaves nothing to copy for tilecouch', async () => {
    const [from, to] = [await backend.database(), await backend.database()]
    const server = await backend.url()
    await origin(from)
    await put(`${from}/_design/foreign`, { language: 'javascript', views: {} })
    await Store.create(to, { public: false })
    await put(`${server}/_node/_local/_config/replicator/startup_jitter`, '1')
    const withAuth = url => {
      const { origin: host, pathname, username, password } = new URL(url)
      return { url: `${host}${pathname}`, auth: {
        basic: { username: decodeURIComponent(username), password: decodeURIComponent(password) }
      } }
    }
    const replicate = async (id, selector) => {
      const { _id, ...doc } = replicationDocument
      await put(`${server}/_replicator/${id}`,
        { ...doc, selector, continuous: false, source: withAuth(from), target: withAuth(to) })
      const state = async () => (await json(`${server}/_scheduler/docs/_replicator/${id}`).catch(() => ({}))).state
      await until(async () => await state() === 'completed', { timeout: 40000, what: 'the replication' })
      await request(`${server}/_replicator/${id}?rev=${(await json(`${server}/_replicator/${id}`))._rev}`,
        { method: 'DELETE' })
      await until(async () => !await state(), { timeout: 20000, what: 'the server to let go of it' })
    }
    try {
      const name = `tilecouch-${to.split('_').at(-1)}`
      await replicate(`${name}-osm`, layerSelector)
      assert.equal((await mirror(from, to, { layers: ['osm'] })).missing, 0)
      const deletedId = 'osm:5:1:1'
      await request(`${from}/${deletedId}?rev=${(await json(`${from}/${deletedId}`))._rev}`, { method: 'DELETE' })
      await replicate(name, replicationDocument.selector)
      assert.equal((await mirror(from, to)).missing, 0)
      assert.equal((await request(`${to}/${deletedId}`)).status, 404)
      assert.equal((await request(`${to}/_design/foreign`)).status, 404)
      assert.ok(!(await json(`${to}/_all_docs`)).rows.some(({ id }) => isAdministrative(id)))
    } finally {
      await request(`${server}/_node/_local/_config/replicator/startup_jitter`, { method: 'DELETE' })
    }
  })
})
