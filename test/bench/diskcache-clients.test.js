// How the benchmark of caches writes a plain document: at the revision that stands, and again where somebody else was
// quicker.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { openDocuments } from '../../bench/diskcache/clients/documents.js'

/** As CouchDB answers for documents with one attachment; `meddle` is somebody who writes between two requests. */
async function startDatabase () {
  const docs = new Map()
  const seen = []
  const own = { docs, seen, meddle: /** @type {(() => void) | undefined} */ (undefined) }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const [, , key] = pathname.split('/').map(decodeURIComponent)
    const parts = []
    for await (const part of request) parts.push(part)
    const doc = docs.get(key)
    seen.push({ method: request.method, authorization: request.headers.authorization })
    const end = (status, body, headers = {}) => { response.writeHead(status, headers).end(body) }
    if (request.method === 'GET') return doc ? end(200, doc.bytes) : end(404, '{}')
    if (request.method === 'HEAD') {
      if (doc) end(200, '', { etag: `"${doc.rev}"` })
      else end(404, '')
      own.meddle?.()
      return
    }
    if ((searchParams.get('rev') ?? undefined) !== doc?.rev) return end(409, '{"error":"conflict"}')
    if (request.method === 'DELETE') docs.delete(key)
    else docs.set(key, { rev: `${seen.length}-a`, bytes: Buffer.concat(parts) })
    end(201, '{}')
  })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return Object.assign(own,
    { db: `http://me:secret@127.0.0.1:${port}/tiles`, close: () =>
      new Promise(resolve => { server.close(resolve); server.closeAllConnections() }) })
}

describe('plain documents in the benchmark of caches', () => {
  let database, client
  const methods = () => database.seen.splice(0).map(({ method }) => method)

  beforeEach(async () => {
    database = await startDatabase()
    client = await openDocuments(database)
  })
  afterEach(async () => {
    await client.close()
    await database.close()
  })

  it('are read, overwritten and deleted', async () => {
    const [key, one, two] = ['bench:14:5000:5000', Buffer.from('one'), Buffer.from('two')]
    assert.equal(await client.get(key), null)
    assert.equal(await client.delete(key), false)
    assert.equal(await client.set(key, one), true)
    assert.equal(await client.set(key, two), true)
    assert.deepEqual(await client.get(key), two)
    assert.equal(await client.delete(key), true)
    assert.equal(await client.get(key), null)
    assert.ok(database.seen.every(({ method, authorization }) => method === 'PUT' || method === 'DELETE'
      ? authorization === `Basic ${btoa('me:secret')}` : !authorization))
    assert.deepEqual(methods(), ['GET', 'HEAD', 'HEAD', 'PUT', 'HEAD', 'PUT', 'GET', 'HEAD', 'DELETE', 'GET'])
  })

  it('are written again after conflicts, until there are too many', async () => {
    let times = 2
    database.meddle = () => {
      if (times-- > 0) database.docs.set('a', { rev: `9-${times}`, bytes: Buffer.from('theirs') })
    }
    assert.equal(await client.set('a', Buffer.from('mine')), true)
    assert.deepEqual(methods(), ['HEAD', 'PUT', 'HEAD', 'PUT', 'HEAD', 'PUT'])
    assert.equal(`${await client.get('a')}`, 'mine')
    times = Infinity
    let number = 0
    database.meddle = () => { database.docs.set('a', { rev: `9-${number++}`, bytes: Buffer.from('theirs') }) }
    await assert.rejects(client.set('a', Buffer.from('mine')), /change: 409 .*conflict/)
  })
})
