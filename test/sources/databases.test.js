// Foreign databases as sources: they get no password of another server, and their answers are bounded. Reading them
// can be aborted, and their redirects are not followed.
import assert from 'node:assert/strict'
import { TIME_FACTOR } from '../../bench/wait.js'
import { sourceLimits } from '../../loader/formats/reading.js'
import { Store, load, openSource } from '../../loader/index.js'
import { onEachStore, request } from '../support/backends.js'
import { useEnvironment } from '../support/cli.js'
import { useDefaults } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { startServer } from '../support/server.js'

const kinds = { 'of tilecouch': { from: { layer: 'osm' } }, 'of MapProxy': { idTemplate: '{z}/{x}/{y}' } }

describe('a database of others as a source', () => {
  useDefaults(sourceLimits, { answer: 1e6 })
  useEnvironment()
  let server, otherServer, url, respond, authorizations
  beforeEach(async () => {
    authorizations = []
    server = await startServer((question, response) => respond(question, response))
    otherServer = await startServer(({ headers }, response) => {
      authorizations.push(headers.authorization)
      response.end('{}')
    })
    url = `http://anna:secret@127.0.0.1:${server.port}/tiles`
  })
  afterEach(async () => {
    await server.close()
    await otherServer.close()
  })

  const endless = response => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"rows": [')
    const writeMore = () => {
      while (!response.destroyed && response.write('{"id": "0/0/0", "key": "0/0/0", "value": {}},\n'.repeat(1000)));
      if (!response.destroyed) response.once('drain', writeMore)
    }
    writeMore()
  }

  /** Returns the names and passwords of the requests that opening the source sends. */
  const credentials = async (options, userInfo = '') => {
    const headers = new Set()
    respond = ({ headers: { authorization } }, response) => {
      headers.add(authorization && Buffer.from(authorization.slice(6), 'base64').toString())
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"db_name":"tiles","doc_count":0,"rows":[]}')
    }
    await openSource(url.replace('anna:secret@', userInfo), options).catch(() => {}) // the database is empty
    return [...headers]
  }

  for (const [kind, options] of Object.entries(kinds)) {
    it(`${kind} does not get the name and password of the server that is loaded into`, async () => {
      Object.assign(process.env, { COUCHDB_USER: 'me', COUCHDB_PASSWORD: 'secret' })
      const otherHome = { ...options, home: 'https://couch.example.org/tiles' }
      assert.deepEqual(await credentials(otherHome), [undefined])
      assert.deepEqual(await credentials({ ...options, home: '' }), [undefined], 'the embedded store')
      assert.deepEqual(await credentials({ ...options, home: url.replace('anna:secret@', '') }),
        ['me:secret'], 'which is the same server')
      assert.deepEqual(await credentials(options), ['me:secret'], 'the store itself')
      assert.deepEqual(await credentials(otherHome, 'you:yours@'), ['you:yours'])
    })

    it(`${kind} fails when its answers have no end`, async () => {
      for (const isFirst of [true, false]) {
        respond = ({ url: path }, response) => !isFirst && /^\/tiles\/?$/.test(path)
          ? response.end('{"db_name": "tiles"}') : endless(response)
        await assert.rejects(openSource(url, options), { code: 'ANSWER_TOO_LARGE' })
      }
    })

    it(`${kind} that never answers can be aborted`, async () => {
      for (const isFirst of [true, false]) {
        respond = ({ url: path }, response) => {
          if (!isFirst && /^\/tiles\/?$/.test(path)) response.end('{"db_name": "tiles"}')
        }
        const stop = new AbortController()
        setTimeout(() => stop.abort(), 300)
        await assert.rejects(openSource(url, { ...options, signal: stop.signal }), { code: 'ABORTED' })
      }
    })

    it(`${kind} fails when it redirects, and no request follows the redirect`, async () => {
      respond = (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${otherServer.port}/tiles` })
        .end()
      await assert.rejects(openSource(url, options))
      assert.deepEqual(authorizations, [])
    })
  }

  it('fails within seconds when its server cannot be reached', async () => {
    await server.close()
    const started = performance.now()
    await assert.rejects(openSource(url, kinds['of tilecouch']), { code: 'UNREACHABLE' })
    assert.ok(performance.now() - started < 5000 * TIME_FACTOR)
  })
})

onEachStore('a database with tiles that are too large, as a source', backend => {
  useDefaults(sourceLimits, { answer: 2e6, tile: 4e5 })

  it('gives the tiles that are not too large', async () => {
    const [from, into] = [await backend.database(), await backend.database()]
    await request(from, { method: 'PUT' })
    const large = Buffer.concat([png(7), Buffer.alloc(3e6)])
    for (
      const [index, bytes] of [png(0), png(1), large, Buffer.concat([png(3), Buffer.alloc(5e5)]), png(4)].entries()
    ) {
      const doc = { _attachments: { tile: { content_type: 'image/png', data: bytes.toString('base64') } } }
      const { status } = await request(`${from}/${encodeURIComponent(`3/0/${index}`)}`,
        { method: 'PUT', body: JSON.stringify(doc), headers: { 'content-type': 'application/json' } })
      assert.equal(status, 201)
    }
    const source = await openSource(from, { idTemplate: '{z}/{x}/{y}' })
    const { created, failures } =
      await load(await Store.create(into), source, { layer: 'osm', time: '2024-01-01T00:00:00Z' })
    await source.close()
    assert.equal(created, 3)
    assert.deepEqual(failures.map(({ id, code }) => [id, code]),
      [['osm:3:0:2', 'ANSWER_TOO_LARGE'], ['osm:3:0:3', 'ARCHIVE_INVALID']])
  })
})
