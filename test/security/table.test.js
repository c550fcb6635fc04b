// Tests every cell of the table of SECURITY.md: who may do what, over HTTP.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Store, publish, setAccess } from '../../loader/index.js'
import { as, json, request } from '../support/backends.js'
import { withPeople } from '../support/people.js'
import { square } from '../support/tiles.js'
import { actions, may, people, table } from './actions.js'

/** The content of a request: text and bytes as they are, other values as JSON. */
const contentOf = body => typeof body === 'string' || Buffer.isBuffer(body) ? body : body && JSON.stringify(body)

describe('SECURITY.md', () => {
  it('has the table of the actions that are tested here', async () => {
    const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8')
    const [, printed] = /<!-- table -->\n\n([\s\S]*?)\n\n<!-- end -->/.exec(text) ?? []
    assert.equal(printed, table(),
      'node -e "import(\'./test/security/actions.js\').then(({ table }) => console.log(table()))" prints it')
  })
})

withPeople('the table of who may do what', start => {
  for (const kind of ['open', 'closed']) {
    describe(`in ${kind === 'open' ? 'an open' : 'a closed'} store with writers of its own`, function () {
      this.timeout(60000)
      let server, store, url, root, isEmbedded
      let x = 1
      before(async () => {
        server = await start()
        url = server.database
        root = decodeURIComponent(new URL(url).username)
        isEmbedded = Boolean((await json(as(url).replace(/\/[^/]*$/, '/'))).vendor?.name?.includes('embedded'))
        store = await Store.create(url, { public: false })
        await store.defineLayer('osm')
        await store.write(square({ layer: 'osm', time: '2021-01-01T00:00:00Z', z: 10, side: 2, seed: () => 1 }))
        await publish(store)
        await setAccess(store, {
          writers: { names: [server.writer[0]] }, ...(kind === 'closed' && { readers: { names: [server.reader[0]] } })
        })
        const security = await store.security()
        await store.secure({ ...security, admins: { names: [server.boss[0]], roles: ['_admin'] } })
      })
      after(async () => {
        await store?.destroy()
        await server?.close()
      })

      const urlOf = who => {
        if (who === 'root') return url
        return who === 'nobody' ? as(url) : as(url, ...server[who])
      }
      const rootOf = address => address.replace(/\/[^/]*$/, '')
      const state = async () =>
        JSON.stringify([(await json(url)).update_seq, await store.security(), await json(`${url}/_revs_limit`)])
      const scratch = name => `${new URL(url).pathname.slice(1)}_${name}`

      /** Prepares an attempt: an admin writes the documents that it needs. */
      async function prepare ({ before, act }, who) {
        const number = x++
        const doc = before?.(number, root)
        const database = `${rootOf(url)}/${scratch(`made${number}`)}`
        if (doc === null) await json(database, { method: 'PUT' })
        const { rev } = doc
          ? await json(`${url}/${encodeURIComponent(doc._id)}`, { method: 'PUT', body: JSON.stringify(doc) }) : {}
        return { ...act(number, rev, who === 'root' ? root : server[who]?.[0], root), database }
      }

      /** Makes an attempt, and tells whether it succeeded. An answer with status 201 may still contain refusals. */
      async function attempt (who, { method, path, body, headers, server: isServer, database }) {
        const content = body === 'security' ? JSON.stringify(await store.security()) : contentOf(body)
        const target = isServer ? `${rootOf(urlOf(who))}/${path.startsWith('_') ? path : scratch(path)}`
          : `${urlOf(who)}/${path}`
        const response =
          await request(target, { method, body: content, headers: { 'content-type': 'application/json', ...headers } })
        const text = await response.text()
        const answer = /^\s*\[/.test(text) ? JSON.parse(text) : []
        if (isServer && method !== 'GET') await request(database, { method: 'DELETE' })
        return {
          who, done: response.ok && !answer.some(row => row.error), status: response.status, text: text.slice(0, 300)
        }
      }

      for (const [name, action] of Object.entries(actions)) {
        it(name, async () => {
          const mayDoIt = who => may(action.level, who, kind) && !(isEmbedded && action.couchOnly)
          const [allowed, refused] =
            [Object.keys(people).filter(mayDoIt), Object.keys(people).filter(who => !mayDoIt(who))]
          const prepared = await Promise.all(refused.map(who => prepare(action, who)))
          const stateBefore = await state()
          const attempts = await Promise.all(refused.map((who, index) => attempt(who, prepared[index])))
          for (const { who, done, status, text } of attempts) {
            assert.equal(done, false, `${people[who]}: ${status} ${text}`)
            if (action.level === 'nobody' && !(isEmbedded && action.couchOnly)) {
              assert.match(`${status} ${text}`, /^40[13] |forbidden|unauthorized/, people[who])
            }
          }
          assert.equal(await state(), stateBefore, 'who was told no changed nothing')
          for (const who of allowed) {
            const { done, status, text } = await attempt(who, await prepare(action, who))
            assert.equal(done, true, `${people[who]}: ${status} ${text}`)
          }
        })
      }
    })
  }
})
