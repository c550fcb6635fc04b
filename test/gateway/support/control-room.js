// A store with people of every kind, a gateway before it that serves the control room, and visitors of it.
import { publish } from '../../../loader/publish.js'
import { Store } from '../../../loader/store/index.js'
import { backends } from '../../support/backends.js'
import { withUsers } from '../../support/people.js'
import { png } from '../../support/tiles.js'
import { openGateway } from './stand.js'
import { ask, closeConnections } from './wire.js'

/** boss: becomes admin of the store. */
const PEOPLE = { boss: [], writer: ['tilecouch-writer'], reader: [] }

/** Signs in as the page does. @param {string} url of the gateway */
export const signInAt = (url, [name, password], headers = {}) => ask(url, '/admin/couch/_session', {
  method: 'POST',
  agent: false, // any worker
  headers: { origin: new URL(url).origin, 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ name, password })
})

export const cookieIn = ({ headers: { 'set-cookie': [line] = [''] } }) => line.split(';')[0]

/**
 * @param {string} title
 * @param {(own: ReturnType<typeof use>, backend: {name: string}) => void} body
 */
export function onControlRoom (title, body) {
  for (const backend of backends) {
    describe(`${title} on ${backend.name}`, function () {
      this.timeout(60000)
      body(use(backend), backend)
    })
  }
}

function use (backend) {
  const more = []
  const own = {
    db: '',
    store: /** @type {Store} */ (/** @type {unknown} */ (undefined)),
    gateway: /** @type {import('../../../server/gateway/index.js').Gateway} */ (/** @type {unknown} */ (undefined)),
    /** Name and password of somebody. @param {keyof PEOPLE} who @returns {[string, string]} */
    person: who => /** @type {[string, string]} */ (users.credentials(who)),
    /** @param {string} file @param {Parameters<typeof ask>[2]} [asked] */
    ask: (file, asked) => ask(own.gateway.url, file, asked),
    /** As the page asks: below /admin/couch. @param {string} file @param {{method?: string, body?: any, cookie?: string, headers?: Record<string, string>}} [asked] */
    couch: (file, { method = 'GET', body, cookie, headers } = {}) => ask(own.gateway.url, `/admin/couch${file}`, {
      method,
      headers: { origin: own.gateway.url, ...(cookie && { cookie }), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    }),
    signIn: (name, password) => signInAt(own.gateway.url, [name, password]),
    /** The cookie of somebody who has signed in. @param {keyof PEOPLE} who */
    cookieOf: async who => cookieIn(await signInAt(own.gateway.url, own.person(who))),
    layer: () => own.store.couch.request({ path: 'layer:osm' }),
    async another (others) {
      more.push(await openGateway(own.db, { controlRoom: true, ...others }))
      return more.at(-1)
    }
  }
  let users
  before(async () => {
    users = await withUsers(backend, PEOPLE)
    own.db = await users.database()
    own.store = await Store.create(own.db)
    await own.store.defineLayer('osm', { name: 'OSM' })
    await own.store.defineLayer('admin', { name: 'Districts' })
    await own.store.write([{ layer: 'admin', z: 3, x: 1, y: 0, time: '2024-01-01T00:00:00Z', bytes: png(7) }])
    await publish(own.store)
    await own.store.secure({ ...await own.store.security(), admins: { names: [own.person('boss')[0]], roles: ['_admin'] } })
    own.gateway = await openGateway(own.db, { controlRoom: true })
  })
  afterEach(() => Promise.all(more.splice(0).map(gateway => gateway.close())))
  after(async () => {
    closeConnections()
    await own.gateway?.close()
    await own.store?.destroy()
    await users?.close()
  })
  return own
}
