// Pages of other origins, as browsers ask for them: a preflight before everything that is not plain.
import assert from 'node:assert/strict'
import { useServer } from './harness.js'

describe('the embedded server and pages of other origins', () => {
  const Origin = 'https://maps.example.org'
  const { client } = useServer({
    async fill (ask) {
      await ask('PUT', '/tiles')
      await ask('PUT', '/tiles/doc', { a: 1 })
      await ask('PUT', '/tiles/_design/tiles', { rewrites: [{ from: 'db/*', to: '../../*' }], views: { v: { map: '(function (doc) { emit(doc.a) })' } } })
    }
  })

  const preflight = (method, path) => client('OPTIONS', path, undefined, { Origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'content-type' })

  it('lets them read', async () => {
    for (const path of ['/tiles/doc', '/tiles/_all_docs', '/tiles/_design/tiles/_view/v', '/tiles/_design/tiles/_rewrite/db/doc']) {
      const { status, headers } = await client('GET', path, undefined, { Origin })
      assert.deepEqual([status, headers['access-control-allow-origin']], [200, '*'], path)
    }
  })

  it('lets them see what is wrong', async () => {
    const { status, headers } = await client('GET', '/tiles/none', undefined, { Origin })
    assert.deepEqual([status, headers['access-control-allow-origin']], [404, '*'])
  })

  it('lets them ask by POST, after a preflight', async () => {
    for (const path of ['_all_docs', '_find', '_bulk_get', '_changes?filter=_selector', '_design/tiles/_view/v/queries', '_design/tiles/_rewrite/db/_all_docs']) {
      const { status, headers } = await preflight('POST', `/tiles/${path}`)
      assert.equal(status, 204, path)
      assert.match(String(headers['access-control-allow-methods']), /POST/)
      assert.match(String(headers['access-control-allow-headers']), /Content-Type/)
    }
    assert.equal((await client('POST', '/tiles/_design/tiles/_view/v/queries', { queries: [{}] }, { Origin })).headers['access-control-allow-origin'], '*')
  })

  it('does not let them write', async () => {
    for (const [method, path] of [['PUT', '/tiles/doc'], ['DELETE', '/tiles'], ['PUT', '/other'], ['POST', '/tiles'], ['POST', '/tiles/_bulk_docs'], ['POST', '/tiles/_design/tiles/_rewrite/db/_bulk_docs'], ['COPY', '/tiles/doc']]) {
      const { status, headers } = await preflight(method, path)
      assert.deepEqual([status, headers['access-control-allow-methods'], headers['access-control-allow-headers']], [405, undefined, undefined], `${method} ${path}`)
    }
  })

  it('takes no writing that browsers send unasked', async () => {
    const plain = { Origin, 'Content-Type': 'text/plain' }
    for (const path of ['/tiles', '/tiles/_bulk_docs', '/tiles/_index', '/tiles/_compact', '/tiles/_design/tiles/_rewrite/db/_bulk_docs']) {
      const { status } = await client('POST', path, { _id: 'hurt', docs: [{ _id: 'hurt' }], index: { fields: ['a'] } }, plain)
      assert.ok(status >= 400, `${path}: ${status}`)
    }
    assert.equal((await client('GET', '/tiles/hurt')).status, 404)
  })

  it('says nothing of it to those who do not ask', async () => {
    const { headers } = await client('GET', '/tiles/doc')
    assert.equal(headers['access-control-allow-origin'], undefined)
  })
})
