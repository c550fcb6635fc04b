// What /db takes for reading, and how it spells it for the store.
import assert from 'node:assert/strict'
import { checkBody, isHarmlessPattern, parseDbRequest } from '../../server/gateway/db/request.js'

const read = (method, path, search = '') => parseDbRequest(method, path, search)
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
    assert.equal(read('GET', '/_changes', 'filter=app/a b&mine=1#x\r\ny').search, '?filter=app%2Fa+b&mine=1%23x%0D%0Ay')
    assert.equal(read('GET', '', '').search, '')
    assert.equal(read('GET', '/a/b', 'r=2&w=x&rev=1-a&callback=x').search, '?rev=1-a')
  })

  it('has parameters as CouchDB takes them', () => {
    const view = '/_design/versions/_view/by_tile'
    const cases = {
      '/_all_docs': [['limit=-1', 'limit=now', 'limit=', 'limit=+1', 'limit=1%20', 'limit=1;limit=5', 'li%6dit=x', 'skip=1e3', 'include_docs=1', 'include_docs=True', 'descending=', 'startkey=osm', 'keys=[', 'keys=[1]'], ['limit=0', 'include_docs=true', 'startkey=%22osm%22', 'keys=[]', 'mine=x', '_nonce=1', '']],
      '/_changes': [['timeout=x', 'feed=eventsource', 'heartbeat=x', 'style=["1-a"]', 'doc_ids=5', 'view=x', 'view=a/b/c', 'view=/'], ['style=all_docs', 'view=app/mine', 'heartbeat=true', 'heartbeat=5000', 'filter=app/mine', 'since=now', 'doc_ids=["a"]']],
      [view]: [['update=x', 'group=1', 'group_level=x', 'keys={}'], ['update=lazy', 'update=false', 'stale=ok', 'keys=[[1],null]', 'key=null']],
      [HEAD]: [['open_revs=some', 'open_revs=[1]', 'open_revs=["1-a","1-a"]', 'atts_since=x'], ['open_revs=all', 'open_revs=["1-a"]', 'rev=1-a', 'atts_since=["1-a"]']]
    }
    for (const [path, [bad, good]] of Object.entries(cases)) {
      for (const search of bad) assert.equal(refused('GET', path, search), 400, `${path}?${search}`)
      for (const search of good) assert.equal(refused('GET', path, search), 200, `${path}?${search}`)
    }
  })

  it('has no other parameters than its own: but for a filter of a design document, nothing else reaches the store', () => {
    const every = 'rev=1-a&r=9&w=9&batch=ok&new_edits=false&callback=x&partition=x&token=x&mine=x&local_seq=true&__proto__=1&$where=x'
    assert.equal(read('GET', '/_all_docs', every).search, '')
    assert.equal(read('GET', HEAD, every).search, '?rev=1-a&local_seq=true')
    assert.equal(read('GET', `${HEAD}/tile`, every).search, '?rev=1-a')
    assert.equal(read('GET', '', every).search, '')
    assert.equal(read('POST', '/_bulk_get', `${every}&revs=true`).search, '?revs=true')
    for (const path of ['/_find', '/_revs_diff']) assert.equal(read('POST', path, `${every}&limit=5&selector={}`).search, '')
    assert.equal(read('GET', '/_changes', 'mine=x&filter=_selector').search, '?filter=_selector')
    assert.equal(read('GET', '/_changes', 'mine=x&r=9&token=x&filter=app/mine').search, '?mine=x&filter=app%2Fmine')
    const queries = read('POST', '/_all_docs/queries', 'limit=5&mine=x')
    assert.deepEqual([queries.search, queries.args], ['', { limit: 5 }])
  })

  it('does not say one thing twice, of which the store might take the other', () => {
    assert.equal(refused('GET', '/_changes', 'feed=normal&feed=continuous'), 400)
    assert.equal(refused('GET', '/_changes', 'feed=normal&f%65ed=continuous'), 400)
    for (const [form, args, body] of [['_all_docs', { limit: 1 }, { limit: 5 }], ['_view', { keys: [] }, { keys: [1] }], ['_changes', { doc_ids: [] }, { doc_ids: ['a'] }]]) assert.throws(() => checkBody(form, body, args), { status: 400 }, form)
  })

  it('knows a feed that waits, and how often it may show a sign of life', () => {
    assert.deepEqual(['normal', 'longpoll', 'continuous', 'live'].map(feed => read('GET', '/_changes', `feed=${feed}`).isFeed), [false, true, true, true])
    for (const feed of ['eventsource', 'Longpoll', '', '__proto__', 'toString']) assert.equal(refused('GET', '/_changes', `feed=${feed}`), 400, feed)
    assert.match(read('GET', '/_changes', 'feed=continuous&heartbeat=1').search, /heartbeat=1000$/)
    assert.match(read('GET', '/_changes', 'feed=continuous&heartbeat=10000').search, /heartbeat=10000$/)
    assert.equal(read('GET', HEAD, 'feed=longpoll').isFeed, false, 'of changes alone')
  })

  it('knows the image of a tile, in which revision', () => {
    assert.deepEqual(read('GET', `${HEAD}/tile`).tile, { id: 'osm:10:300:412', layer: 'osm', z: 10, x: 300, y: 412 })
    assert.deepEqual(read('GET', '/osm%3A10%3A300%3A412%402024-03-01T00%3A00%3A00Z/tile', 'rev=1-a').tile,
      { id: 'osm:10:300:412@2024-03-01T00:00:00Z', layer: 'osm', z: 10, x: 300, y: 412, time: '2024-03-01T00:00:00Z', rev: '1-a' })
    for (const path of [`${HEAD}/other`, `${HEAD}/tile/x`, '/osm:0:1:0/tile', '/layer:osm/tile', HEAD]) assert.equal(read('GET', path).tile, undefined, path)
    assert.deepEqual([read('GET', `${HEAD}/tile`, 'rev=1-a').isPinned, read('GET', `${HEAD}/tile`).isPinned, read('GET', HEAD, 'rev=1-a').isPinned], [true, false, false])
  })
})

describe('the bodies of questions at /db', () => {
  const fits = (name, body) => {
    try {
      checkBody(name, body)
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
      ['_all_docs', [{}, { keys: [] }, { keys: ['a'] }, { limit: 5, include_docs: true }], [{ keys: null }, { keys: {} }, { keys: [null] }, { keys: [1] }, { limit: '5' }, { limit: [5] }, { limit: -1 }, { limit: 1e99 }, { include_docs: 'true' }, { attachments: 1 }]],
      ['_view', [{ keys: [['osm', 1], null] }], [{ keys: 'a' }]],
      ['queries of _view', [{ queries: [] }, { queries: [{ startkey: ['osm', 3, 1, 0], endkey: ['osm', 3, 1, {}] }] }], [{}, { queries: null }, { queries: [null] }, { queries: [5] }, { queries: [{ keys: 5 }] }, { queries: [{ limit: 'x' }] }, { queries: [{ attachments: 'true' }] }]],
      ['_changes', [{}, { doc_ids: ['a'] }, { selector: { _id: 'a' } }], [{ doc_ids: 5 }, { doc_ids: [{}] }, { selector: [] }, { selector: null }]],
      ['_bulk_get', [{ docs: [{ id: 'a' }, { id: 'a', rev: '1-a' }] }], [{}, { docs: {} }, { docs: [{}] }, { docs: [{ id: 1 }] }, { docs: [{ id: 'a', rev: 1 }] }, { docs: [{ id: 'a', atts_since: 5 }] }]],
      ['_revs_diff', [{}, { a: ['1-a'] }], [{ a: '1-a' }, { a: [1] }, { a: null }]],
      ['_find', [{ selector: {} }, { selector: nested(20), limit: 5, bookmark: 'x', sort: ['a'] }], [{}, { selector: {}, bookmark: 5 }, { selector: {}, limit: -1 }, { selector: { a: { $mod: [0, 1] } } }, { selector: {}, use_index: 5 }, { selector: null }, { selector: [] }, { selector: nested(50) }]]
    ]
    for (const [name, good, bad] of cases) {
      for (const body of good) assert.ok(fits(name, body), `${name} ${JSON.stringify(body)}`)
      for (const body of bad) assert.ok(!fits(name, body), `${name} ${JSON.stringify(body)}`)
    }
  })

  it('reach the store with the fields that the question has, and no others', () => {
    const all = { limit: 1, queries: [{}], doc_ids: ['a'], keys: ['a'], docs: [{ id: 'a', rev: '1-a', attachments: true, x: 1 }], selector: {}, r: 9, partition: 'x', include_docs: true, attachments: true, fields: ['a'], ['__proto__']: { limit: 5 } }
    assert.deepEqual(checkBody('_all_docs', { ...all, docs: 5, queries: 5 }), { limit: 1, keys: ['a'], include_docs: true, attachments: true })
    assert.deepEqual(checkBody('_bulk_get', all), { docs: [{ id: 'a', rev: '1-a' }] })
    assert.deepEqual(checkBody('_changes', all), { doc_ids: ['a'], selector: {}, fields: ['a'] })
    assert.deepEqual(checkBody('_find', all), { limit: 1, selector: {}, fields: ['a'] })
    assert.deepEqual(checkBody('queries of _all_docs', { ...all, queries: [{ keys: ['a'], reduce: true, queries: [] }, { limit: 3 }] }, { limit: 9, include_docs: true }), { queries: [{ limit: 9, include_docs: true, keys: ['a'] }, { limit: 3, include_docs: true }] })
  })

  it('have patterns that end on any text', () => {
    const client = ['^(osm:[0-9:]+|layer:osm)$', '^(osm:[0-9:]+(@.+)?|layer:osm)$', '^osm:1[0-4]:', 'x{2,3}']
    const endless = ['^(a+)+$', '(.*)*x', '(a|a)*b', '(.+){10}', '(?:x+)y', '.*.*.*.*.*x', '^.*.*.*.*(b|c)', `${'a?'.repeat(30)}${'a'.repeat(30)}`, '(a)\\1', 'x'.repeat(300), '(?=a)']
    assert.deepEqual(client.filter(pattern => !isHarmlessPattern(pattern)), [])
    assert.deepEqual(endless.filter(isHarmlessPattern), [])
    for (const name of ['_find', '_changes']) {
      assert.ok(fits(name, { selector: { $or: [{ _id: { $regex: client[1] } }] } }))
      assert.ok(!fits(name, { selector: { $or: [{ _id: { $regex: '(a+)+' } }] } }))
      assert.ok(!fits(name, { selector: { _id: { $regex: 5 } } }))
    }
  })
})
