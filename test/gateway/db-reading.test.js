// What /db takes for reading, and how it spells it for the store.
import assert from 'node:assert/strict'
import { checkQuestion, isTame } from '../../server/gateway/db/question.js'
import { parseReading } from '../../server/gateway/db/reading.js'

const read = (method, path, search = '') => parseReading(method, path, search)
const refused = (method, path, search) => {
  try {
    read(method, path, search)
  } catch (error) {
    return error.status
  }
  return 200
}

const HEAD = '/osm:10:300:412'

describe('what may be asked at /db', () => {
  it('is what reads: documents, attachments, views, changes, and the questions that come as POST', () => {
    const reads = {
      GET: ['', '/', '/_all_docs', '/_changes', HEAD, `${HEAD}/tile`, '/layer%3Aosm', '/doc/folder/file.txt', '/_local/abc.d_e%3D%3D', '/_design/tiles', '/_design/tiles/index.html', '/_design/versions/_view/by_tile'],
      POST: ['/_all_docs', '/_all_docs/queries', '/_bulk_get', '/_revs_diff', '/_changes', '/_find', '/_design/versions/_view/by_tile', '/_design/versions/_view/by_tile/queries']
    }
    for (const path of reads.GET) {
      assert.equal(refused('GET', path), 200, path)
      assert.equal(refused('HEAD', path), 200, path)
    }
    for (const path of reads.POST) assert.equal(refused('POST', path), 200, path)
  })

  it('is never what writes', () => {
    for (const path of ['', '/', HEAD, `${HEAD}/tile`, '/_local/abc', '/_design/tiles', '/_all_docs', '/_changes']) {
      for (const method of ['PUT', 'DELETE', 'COPY', 'PATCH', 'MOVE', 'OPTIONS', 'TRACE', 'get', '']) assert.equal(refused(method, path), 405, `${method} ${path}`)
    }
    for (const path of ['', '/', HEAD, '/_local/abc', '/_design/tiles', '/new/tile']) assert.equal(refused('POST', path), 405, path)
    for (const path of ['/_bulk_get', '/_revs_diff', '/_find', '/_all_docs/queries']) assert.equal(refused('GET', path), 405, path)
  })

  it('is nothing of the server, of its settings, or of the rights in it', () => {
    const paths = ['/_security', '/_node/_local/_config', '/_config', '/_users', '/_session', '/_all_dbs', '/_replicate', '/_utils', '/_up', '/_bulk_docs', '/_purge', '/_compact', '/_compact/tiles', '/_view_cleanup', '/_ensure_full_commit',
      '/_revs_limit', '/_index', '/_explain', '/_shards', '/_sync_shards', '/_local_docs', '/_local', '/_local/a/b', '/_design', '/_design/tiles/_rewrite/db', '/_design/tiles/_list/at/versions/by_tile', '/_design/tiles/_show/tilejson',
      '/_design/tiles/_update/x', '/_design/tiles/_info', '/_design/versions/_view', '/_design/versions/_view/by_tile/queries/x', '/_all_docs/x', '/doc/_x', '/__proto__', '/_design/x/__proto__']
    for (const path of paths) for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) assert.equal(refused(method, path), 403, `${method} ${path}`)
  })

  it('has no way out of the database in its path', () => {
    const paths = ['/..', '/../_users', '/%2e%2e/_users', '/.%2E/_users/_all_docs', '/x/..', '/x/%2e%2e/%2e%2e/_users', '/x%2F..%2F..%2F_users', '/_design%2Ftiles', '/x%2fy', '//', '//_users', '/x//y', '/x/', '/.', '/%2e', '/x%5c..%5cy', '/x\\y', '/x%00', '/x%0d%0aHost:%20y', '/%7f', '/%c2%80']
    for (const path of paths) assert.equal(refused('GET', path), 404, path)
    for (const path of ['/%', '/%zz', '/%ff%fe', '/%c0%ae%c0%ae/_users', '/%u002e']) assert.equal(refused('GET', path), 400, path)
  })

  it('reaches the store in a spelling of the gateway', () => {
    assert.equal(read('GET', '/osm%3A10%3A300%3a412/tile').path, '/osm%3A10%3A300%3A412/tile')
    assert.equal(read('GET', HEAD).path, '/osm%3A10%3A300%3A412')
    assert.equal(read('GET', '/a+b%2Bc%252e%252e').path, '/a%2Bb%2Bc%252e%252e', 'CouchDB takes a plus for a space; what was encoded twice stays so')
    assert.equal(read('GET', '/%E2%98%83').path, '/%E2%98%83')
    assert.equal(read('GET', '/_all_docs', 'key="a b"&mine=1#x\r\ny').search, '?key=%22a+b%22&mine=1%23x%0D%0Ay')
    assert.equal(read('GET', '', '').search, '')
    assert.equal(read('GET', '/a/b', 'r=2&w=x&rev=1-a&callback=x').search, '?rev=1-a')
  })

  it('has parameters as CouchDB takes them', () => {
    const bad = ['limit=-1', 'limit=now', 'limit=', 'skip=1e3', 'style=["1-a"]', 'include_docs=1', 'descending=', 'startkey=osm', 'keys=[', 'open_revs=some', 'timeout=x', 'update=x', 'feed=eventsource', 'heartbeat=x']
    const good = ['limit=0', 'style=all_docs', 'include_docs=true', 'startkey=%22osm%22', 'keys=[]', 'open_revs=all', 'open_revs=["1-a"]', 'update=lazy', 'heartbeat=true', 'mine=x', 'filter=app/mine', '_nonce=1', '']
    for (const search of bad) assert.equal(refused('GET', '/_all_docs', search), 400, search)
    for (const search of good) assert.equal(refused('GET', '/_changes', search), 200, search)
  })

  it('does not say one thing twice, of which the store might take the other', () => {
    assert.equal(refused('GET', '/_changes', 'feed=normal&feed=continuous'), 400)
    assert.equal(refused('GET', '/_changes', 'feed=normal&f%65ed=continuous'), 400)
  })

  it('knows a feed that waits, and how often it may show a sign of life', () => {
    assert.deepEqual(['normal', 'longpoll', 'continuous', 'live'].map(feed => read('GET', '/_changes', `feed=${feed}`).waits), [false, true, true, true])
    for (const feed of ['eventsource', 'Longpoll', '', '__proto__', 'toString']) assert.equal(refused('GET', '/_changes', `feed=${feed}`), 400, feed)
    assert.match(read('GET', '/_changes', 'feed=continuous&heartbeat=1').search, /heartbeat=1000$/)
    assert.match(read('GET', '/_changes', 'feed=continuous&heartbeat=10000').search, /heartbeat=10000$/)
    assert.equal(read('GET', HEAD, 'feed=longpoll').waits, false, 'of changes alone')
  })

  it('knows the image of a tile, in which revision', () => {
    assert.deepEqual(read('GET', `${HEAD}/tile`).tile, { id: 'osm:10:300:412', layer: 'osm', z: 10, x: 300, y: 412 })
    assert.deepEqual(read('GET', '/osm%3A10%3A300%3A412%402024-03-01T00%3A00%3A00Z/tile', 'rev=1-a').tile,
      { id: 'osm:10:300:412@2024-03-01T00:00:00Z', layer: 'osm', z: 10, x: 300, y: 412, time: '2024-03-01T00:00:00Z', rev: '1-a' })
    for (const path of [`${HEAD}/other`, `${HEAD}/tile/x`, '/osm:0:1:0/tile', '/layer:osm/tile', HEAD]) assert.equal(read('GET', path).tile, undefined, path)
    assert.equal(read('GET', `${HEAD}/tile`, 'rev=1-a&x=y').tile, undefined, 'something else is asked, too')
    assert.deepEqual([read('GET', `${HEAD}/tile`, 'rev=1-a').pinned, read('GET', `${HEAD}/tile`).pinned, read('GET', HEAD, 'rev=1-a').pinned], [true, false, false])
  })
})

describe('the bodies of questions at /db', () => {
  const fits = (name, body) => {
    try {
      checkQuestion(name, body)
      return true
    } catch (error) {
      assert.equal(error.status, 400)
      return false
    }
  }

  it('are what CouchDB asks for', () => {
    const nested = depth => Array.from({ length: depth }).reduce(inner => ({ $not: inner }), { a: 1 })
    /** @type {[string, any[], any[]][]} good, bad */
    const cases = [
      ['_all_docs', [{}, { keys: [] }, { keys: ['a'] }], [{ keys: null }, { keys: {} }, { keys: [null] }, { keys: [1] }]],
      ['_view', [{ keys: [['osm', 1], null] }], [{ keys: 'a' }]],
      ['queries', [{ queries: [] }, { queries: [{ startkey: ['osm', 3, 1, 0], endkey: ['osm', 3, 1, {}] }] }], [{}, { queries: null }, { queries: [null] }, { queries: [5] }, { queries: [{ keys: 5 }] }]],
      ['_changes', [{}, { doc_ids: ['a'] }, { selector: { _id: 'a' } }], [{ doc_ids: 5 }, { doc_ids: [{}] }, { selector: [] }, { selector: null }]],
      ['_bulk_get', [{ docs: [{ id: 'a' }, { id: 'a', rev: '1-a' }] }], [{}, { docs: {} }, { docs: [{}] }, { docs: [{ id: 1 }] }, { docs: [{ id: 'a', rev: 1 }] }]],
      ['_revs_diff', [{}, { a: ['1-a'] }], [{ a: '1-a' }, { a: [1] }, { a: null }]],
      ['_find', [{ selector: {} }, { selector: nested(20), limit: 5, bookmark: 'x', sort: ['a'] }], [{}, { selector: {}, bookmark: 5 }, { selector: {}, limit: -1 }, { selector: {}, r: 1 }, { selector: null }, { selector: [] }, { selector: nested(50) }]]
    ]
    for (const [name, good, bad] of cases) {
      for (const body of good) assert.ok(fits(name, body), `${name} ${JSON.stringify(body)}`)
      for (const body of bad) assert.ok(!fits(name, body), `${name} ${JSON.stringify(body)}`)
    }
  })

  it('have patterns that end on any text', () => {
    const client = ['^(osm:[0-9:]+|layer:osm)$', '^(osm:[0-9:]+(@.+)?|layer:osm)$', '^osm:1[0-4]:', 'x{2,3}']
    const endless = ['^(a+)+$', '(.*)*x', '(a|a)*b', '(.+){10}', '(?:x+)y', '.*.*.*.*.*x', '(a)\\1', 'x'.repeat(300), '(?=a)']
    assert.deepEqual(client.filter(pattern => !isTame(pattern)), [])
    assert.deepEqual(endless.filter(isTame), [])
    for (const name of ['_find', '_changes']) {
      assert.ok(fits(name, { selector: { $or: [{ _id: { $regex: client[1] } }] } }))
      assert.ok(!fits(name, { selector: { $or: [{ _id: { $regex: '(a+)+' } }] } }))
      assert.ok(!fits(name, { selector: { _id: { $regex: 5 } } }))
    }
  })
})
