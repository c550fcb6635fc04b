// A store with people of every kind, a gateway before it that serves the control room, and visitors of it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { publish } from '../../../loader/publish.js'
import { Store } from '../../../loader/store/index.js'
import { startEmbedded } from '../../../server/embedded/index.js'
import { backends } from '../../support/backends.js'
import { addUser, removeUser } from './private.js'
import { openGateway } from './stand.js'
import { ask, closeConnections } from './wire.js'

export const PASSWORD = 'pass-of-a-reader' // of everybody but the gateway
const suffix = process.pid

/** Names by what they may. */
export const people = { boss: `boss_${suffix}`, writer: `writer_${suffix}`, reader: `reader_${suffix}` }

async function onEmbedded () {
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-control-'))
  const { boss, writer, reader } = people
  const users = { [boss]: { password: PASSWORD }, [writer]: { password: PASSWORD, roles: ['tilecouch-writer'] }, [reader]: { password: PASSWORD } }
  const server = await startEmbedded({ dir, admins: { gateway: 'of the gateway' }, users })
  return {
    url: `${server.url.replace('//', '//gateway:of%20the%20gateway@')}/tiles`,
    close: async () => {
      await server.close()
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

async function onCouch (backend) {
  const server = await backend.url()
  const { boss, writer, reader } = people
  for (const [name, roles] of /** @type {[string, string[]][]} */ ([[boss, []], [writer, ['tilecouch-writer']], [reader, []]])) await addUser(server, name, roles)
  return {
    url: await backend.database(),
    close: async () => { for (const name of Object.values(people)) await removeUser(server, name) }
  }
}

/**
 * @param {string} title
 * @param {(own: ReturnType<typeof use>, backend: {name: string}) => void} body
 * @param {Record<string, any>} [options] of the gateway
 */
export function onControlRoom (title, body, options = {}) {
  for (const backend of backends) {
    describe(`${title} on ${backend.name}`, function () {
      this.timeout(60000)
      body(use(backend, options), backend)
    })
  }
}

function use (backend, options) {
  const more = []
  const own = {
    db: '',
    store: /** @type {Store} */ (/** @type {unknown} */ (undefined)),
    gateway: /** @type {import('../../../server/gateway/index.js').Gateway} */ (/** @type {unknown} */ (undefined)),
    /** @param {string} file @param {Parameters<typeof ask>[2]} [asked] */
    ask: (file, asked) => ask(own.gateway.url, file, asked),
    /** As the page asks: below /admin/couch. @param {string} file @param {{method?: string, body?: any, cookie?: string, headers?: Record<string, string>}} [asked] */
    couch: (file, { method = 'GET', body, cookie, headers } = {}) => ask(own.gateway.url, `/admin/couch${file}`, {
      method,
      headers: { origin: own.gateway.url, ...(cookie && { cookie }), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    }),
    signIn: (name, password = PASSWORD) => own.couch('/_session', { method: 'POST', body: { name, password } }),
    /** The cookie of somebody who has signed in. */
    async cookieOf (name) {
      const { headers: { 'set-cookie': [line] = [''] } } = await own.signIn(name)
      return line.split(';')[0]
    },
    async another (others) {
      more.push(await openGateway(own.db, { controlRoom: true, ...others }))
      return more.at(-1)
    }
  }
  let opened
  before(async () => {
    opened = await (backend.supports.users ? onCouch(backend) : onEmbedded())
    own.db = opened.url
    own.store = await Store.create(own.db)
    await own.store.defineLayer('osm', { name: 'OSM' })
    await publish(own.store)
    const security = await own.store.security()
    await own.store.secure({ ...security, admins: { names: [people.boss], roles: ['_admin'] } })
    own.gateway = await openGateway(own.db, { controlRoom: true, ...options })
  })
  afterEach(() => Promise.all(more.splice(0).map(gateway => gateway.close())))
  after(async () => {
    closeConnections()
    await own.gateway?.close()
    await own.store?.destroy()
    await opened?.close()
  })
  return own
}
