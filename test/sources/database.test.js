// Databases that tiles are loaded from may be anybody's.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { openSource } from '../../loader/sources/index.js'

describe('a database as a source', () => {
  const saved = { user: process.env.COUCHDB_USER, password: process.env.COUCHDB_PASSWORD }
  let server, asked
  beforeEach(async () => {
    asked = []
    server = createServer(({ headers }, response) => {
      asked.push(headers.authorization)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"db_name":"tiles","doc_count":0,"rows":[]}')
    })
    await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
    process.env.COUCHDB_USER = 'me'
    process.env.COUCHDB_PASSWORD = 'secret'
  })
  afterEach(async () => {
    for (const [name, value] of [['COUCHDB_USER', saved.user], ['COUCHDB_PASSWORD', saved.password]]) if (value === undefined) delete process.env[name]; else process.env[name] = value
    server.closeAllConnections()
    await new Promise(resolve => { server.close(resolve) })
  })

  /** What its requests were opened with. */
  const opened = async (options, credentials = '') => {
    const { port } = server.address()
    await openSource(`http://${credentials}127.0.0.1:${port}/tiles`, { from: { layer: 'osm' }, ...options }).catch(() => {}) // there is nothing in it
    assert.ok(asked.length)
    return [...new Set(asked.splice(0).map(header => header && Buffer.from(header.slice(6), 'base64').toString()))]
  }

  for (const [kind, options] of [['of tilecouch', {}], ['of MapProxy', { idTemplate: '{z}/{x}/{y}' }]]) {
    it(`${kind} is not told the name and password of the server that is loaded into`, async () => {
      const { port } = server.address()
      assert.deepEqual(await opened({ ...options, home: 'https://couch.example.org/tiles' }), [undefined])
      assert.deepEqual(await opened({ ...options, home: '' }), [undefined], 'the embedded store')
      assert.deepEqual(await opened({ ...options, home: `http://127.0.0.1:${port}/other` }), ['me:secret'], 'which is the same server')
      assert.deepEqual(await opened(options), ['me:secret'], 'the store itself')
      assert.deepEqual(await opened({ ...options, home: 'https://couch.example.org/tiles' }, 'you:yours@'), ['you:yours'])
    })
  }

  it('that does not answer is told soon', async () => {
    const { port } = server.address()
    server.closeAllConnections()
    await new Promise(resolve => { server.close(resolve) })
    const started = performance.now()
    await assert.rejects(openSource(`http://127.0.0.1:${port}/tiles`, { from: { layer: 'osm' } }), { code: 'UNREACHABLE' })
    assert.ok(performance.now() - started < 5000)
  })
})
