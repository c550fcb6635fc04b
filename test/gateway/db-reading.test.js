// Tests of the parser of /db requests: which reads it allows, and how it encodes them for the store.
import assert from 'node:assert/strict'
import { fieldsOfBody, isHarmlessPattern } from '../../server/gateway/db/fields.js'
import { checkLimits, parseDbRequest } from '../../server/gateway/db/request.js'

function read (method, path, search = '') {
  const request = parseDbRequest(method, path, search)
  if (method === 'GET') checkLimits(request)
  return request
}
const statusOf = (method, path, search) => {
  try {
    read(method, path, search)
  } catch (error) {
    return error.status
  }
  return 200
}

const HEAD = '/osm:10:300:412'

describe('parseDbRequest', () => {
  it('allows documents, attachments, views, changes, and queries by POST', () => {
    const reads = {
      GET: ['', '/', '/_all_docs', '/_changes', HEAD, `${HEAD}/tile`, '/layer%3Aosm', '/doc/folder/file.txt',
        '/_local/abc.d_e%3D%3D', '/_design/tiles', '/_design/tiles/index.html', '/_design/versions/_view/by_tile'],
      POST: ['/_all_docs', '/_all_docs/queries', '/_bulk_get', '/_changes',
        '/_design/versions/_view/by_tile', '/_design/versions/_view/by_tile/queries']
    }
    for (const path of reads.GET) {
      assert.equal(statusOf('GET', path), 200, path)
      assert.equal(statusOf('HEAD', path), 200, path)
    }
    for (const path of reads.POST) assert.equal(statusOf('POST', path), 200, path)
  })

  it('refuses every method and address that writes', () => {
    for (const path of ['', '/', HEAD, `${HEAD}/tile`, '/_local/abc', '/_design/tiles', '/_all_docs', '/_changes']) {
      for (const method of ['PUT', 'DELETE', 'COPY', 'PATCH', 'MOVE', 'OPTIONS', 'TRACE', 'get', '']) {
        assert.equal(statusOf(method, path), 405, `${method} ${path}`)
      }
    }
    for (const path of ['', '/', HEAD, '/_local/abc', '/_design/tiles', '/new/tile']) {
      assert.equal(statusOf('POST', path), 405, path)
    }
    for (const path of ['/_bulk_get', '/_all_docs/queries']) assert.equal(statusOf('GET', path), 405, path)
  })

  it('refuses addresses of the server, its settings and its rights', () => {
    const paths = ['/_security', '/_node/_local/_config', '/_config', '/_users', '/_session', '/_all_dbs',
      '/_replicate', '/_utils', '/_up', '/_bulk_docs', '/_purge', '/_compact', '/_compact/tiles', '/_view_cleanup',
      '/_ensure_full_commit', '/_revs_limit', '/_index', '/_find', '/_revs_diff', '/_explain',
      '/_shards', '/_sync_shards', '/_local_docs', '/_local', '/_local/a/b', '/_design',
      '/_design/tiles/_rewrite/db', '/_design/tiles/_list/at/versions/by_tile', '/_design/tiles/_show/tilejson',
      '/_design/tiles/_update/x', '/_design/tiles/_info', '/_design/versions/_view',
      '/_design/versions/_view/by_tile/queries/x', '/_all_docs/x', '/doc/_x', '/__proto__', '/_design/x/__proto__']
    for (const path of paths) for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
      assert.equal(statusOf(method, path), 403, `${method} ${path}`)
    }
  })

  it('refuses paths that lead out of the database', () => {
    const paths = ['/..', '/../_users', '/%2e%2e/_users', '/.%2E/_users/_all_docs',
      '/x/..', '/x/%2e%2e/%2e%2e/_users', '/x%2F..%2F..%2F_users', '/_design%2Ftiles', '/x%2fy', '//',
      '//_users', '/x//y', '/x/', '/.', '/%2e', '/x%5c..%5cy', '/x\\y', '/x%00', '/x%0d%0aHost:%20y', '/%7f', '/%c2%80']
    for (const path of paths) assert.equal(statusOf('GET', path), 404, path)
    for (const path of ['/%', '/%zz', '/%ff%fe', '/%c0%ae%c0%ae/_users', '/%u002e']) {
      assert.equal(statusOf('GET', path), 400, path)
    }
  })

  it('encodes paths and parameters again for the store', () => {
    assert.equal(read('GET', '/osm%3A10%3A300%3a412/tile').path, '/osm%3A10%3A300%3A412/tile')
    assert.equal(read('GET', HEAD).path, '/osm%3A10%3A300%3A412')
    assert.equal(read('GET', '/a+b%2Bc%252e%252e').path, '/a%2Bb%2Bc%252e%252e',
      'CouchDB takes a plus for a space; what was encoded twice stays so')
    assert.equal(read('GET', '/%E2%98%83').path, '/%E2%98%83')
    assert.equal(read('GET', '/_changes', 'since=1-a b#x\r\ny').search, '?since=1-a+b%23x%0D%0Ay')
    assert.equal(read('GET', '', '').search, '')
    assert.equal(read('GET', '/a/b', 'token=x&rev=1-a&_nonce=5').search, '?rev=1-a')
  })

  it('accepts valid values of parameters, and refuses others', () => {
    const view = '/_design/versions/_view/by_tile'
    const cases = {
      '/_all_docs': [
        ['limit=-1', 'limit=now', 'limit=', 'limit=+1', 'limit=1%20', 'limit=1;limit=5', 'li%6dit=x', 'skip=1e3',
          'include_docs=1', 'include_docs=True', 'descending=', 'startkey=osm', 'keys=[', 'keys=[1]'],
        ['limit=0', 'include_docs=true', 'startkey=%22osm%22', 'keys=[]', '_nonce=1', '']
      ],
      '/_changes': [
        ['timeout=x', 'feed=eventsource', 'heartbeat=x', 'style=["1-a"]', 'doc_ids=["a"]', 'view=app/mine',
          'filter=app/mine', 'filter=_view', 'filter=_design', 'filter=_selector', 'filter=_doc_ids', 'feed=live'],
        ['style=all_docs', 'heartbeat=true', 'heartbeat=5000', 'since=now']
      ],
      [view]: [['update=x', 'update=lazy', 'group=1', 'group_level=x', 'keys={}'],
        ['update=false', 'stale=ok', 'startkey=[1]&startkey_docid=a', 'keys=[[1],null]', 'key=null']],
      [HEAD]: [['open_revs=some', 'open_revs=[1]', 'open_revs=["1-a","1-a"]', 'atts_since=x'],
        ['open_revs=all', 'open_revs=["1-a"]', 'rev=1-a', 'atts_since=["1-a"]']]
    }
    for (const [path, [bad, good]] of Object.entries(cases)) {
      for (const search of bad) assert.equal(statusOf('GET', path, search), 400, `${path}?${search}`)
      for (const search of good) assert.equal(statusOf('GET', path, search), 200, `${path}?${search}`)
    }
  })

  it('refuses parameters that no client of a store needs', () => {
    const unknownParameters = [
      'r=9', 'w=9', 'batch=ok', 'new_edits=false', 'callback=x', 'partition=x', 'mine=x', '__proto__=1', '$where=x',
      'start_key=1', 'end_key=1', 'start_key_doc_id=a', 'endkey_docid=a', 'local_seq=true', 'meta=true', 'sorted=false',
      'att_encoding_info=true', 'deleted_conflicts=true', 'stable=true', 'constructor=1'
    ]
    const paths = ['', '/_all_docs', '/_changes', HEAD, `${HEAD}/tile`, '/_design/versions/_view/by_tile']
    for (const path of paths) {
      for (const search of unknownParameters) assert.equal(statusOf('GET', path, search), 400, `${path}?${search}`)
    }
    const queries = read('POST', '/_all_docs/queries', 'limit=5')
    assert.deepEqual([queries.search, queries.args], ['', { limit: 5 }])
  })

  it('refuses fields that exclude each other, in the address and in the body', () => {
    const fields = { key: '"a"', keys: '["a"]', startkey: '"a"', endkey: '"a"' }
    const pairs = [['key', 'keys'], ['key', 'startkey'], ['key', 'endkey'], ['keys', 'startkey'], ['keys', 'endkey']]
    for (const [nameA, nameB] of pairs.flatMap(pair => [pair, [...pair].reverse()])) {
      const [first, second] = [nameA, nameB].map(name => ({ [name]: JSON.parse(fields[name]) }))
      for (const path of ['/_all_docs', '/_design/versions/_view/by_tile']) {
        assert.equal(statusOf('GET', path, `${nameA}=${fields[nameA]}&${nameB}=${fields[nameB]}`),
          400, `${path} ${nameA} ${nameB}`)
        const request = read('POST', path, `${nameA}=${fields[nameA]}`)
        assert.throws(() => checkLimits(request, fieldsOfBody(request.form, second, request.args)), { status: 400 })
        const query = read('POST', `${path}/queries`, `${nameA}=${fields[nameA]}`)
        const body = fieldsOfBody(query.form, { queries: [second] }, query.args)
        assert.throws(() => checkLimits(query, body), { status: 400 })
        const bothFields = fieldsOfBody(query.form, { queries: [{}, { ...first, ...second }] })
        assert.throws(() => checkLimits(query, bothFields), { status: 400 })
      }
    }
    assert.equal(statusOf('GET', HEAD, 'rev=1-a&open_revs=all'), 400)
    const bodies = [
      ['', { doc_ids: ['a'] }], ['', { selector: { _id: { $regex: '^a' } } }], ['filter=_selector', { doc_ids: ['a'] }],
      ['filter=_doc_ids', { selector: { _id: { $regex: '^a' } } }],
      ['filter=_doc_ids', { doc_ids: ['a'], selector: { _id: { $regex: '^a' } } }]
    ]
    for (const [search, body] of bodies) {
      const request = read('POST', '/_changes', search)
      assert.throws(() => checkLimits(request, fieldsOfBody('_changes', body)),
        { status: 400 }, `${search} ${Object.keys(body)}`)
    }
  })

  it('refuses a parameter that is given twice', () => {
    assert.equal(statusOf('GET', '/_changes', 'feed=normal&feed=continuous'), 400)
    assert.equal(statusOf('GET', '/_changes', 'feed=normal&f%65ed=continuous'), 400)
    assert.throws(() => fieldsOfBody('_all_docs', { limit: 5 }, { limit: 1 }), { status: 400 })
    assert.throws(() => fieldsOfBody('_view', { keys: [1] }, { keys: [] }), { status: 400 })
  })

  it('recognises feeds that wait, and raises a heartbeat below a second', () => {
    assert.deepEqual(['normal', 'longpoll', 'continuous'].map(feed => read('GET', '/_changes', `feed=${feed}`).isFeed),
      [false, true, true])
    for (const feed of ['live', 'eventsource', 'Longpoll', '', '__proto__', 'toString']) {
      assert.equal(statusOf('GET', '/_changes', `feed=${feed}`), 400, feed)
    }
    assert.match(read('GET', '/_changes', 'feed=continuous&heartbeat=1').search, /heartbeat=1000$/)
    assert.match(read('GET', '/_changes', 'feed=continuous&heartbeat=10000').search, /heartbeat=10000$/)
  })

  it('recognises the image of a tile, and whether its revision is pinned', () => {
    assert.equal(read('GET', `${HEAD}/tile`).imageOf, 'osm:10:300:412')
    const past = read('GET', '/osm%3A10%3A300%3A412%402024-03-01T00%3A00%3A00Z/tile', 'rev=1-a')
    assert.deepEqual([past.imageOf, past.query.get('rev')], ['osm:10:300:412@2024-03-01T00:00:00Z', '1-a'])
    for (const path of [`${HEAD}/other`, `${HEAD}/tile/x`, '/osm:0:1:0/tile', '/layer:osm/tile', HEAD]) {
      assert.equal(read('GET', path).imageOf, undefined, path)
    }
    assert.deepEqual([read('GET', `${HEAD}/tile`, 'rev=1-a').isPinned,
      read('GET', `${HEAD}/tile`).isPinned, read('GET', HEAD, 'rev=1-a').isPinned], [true, false, false])
  })
})

describe('fieldsOfBody', () => {
  const isAccepted = (name, body) => {
    try {
      fieldsOfBody(name, body)
      return true
    } catch (error) {
      assert.equal(error.status, 400)
      return false
    }
  }

  it('accepts valid values of fields, and refuses others', () => {
    /** @type {[string, any[], any[]][]} good, bad */
    const cases = [
      ['_all_docs', [{}, { keys: [] }, { keys: ['a'] }, { limit: 5, include_docs: true }],
        [{ keys: null }, { keys: {} }, { keys: [null] }, { keys: [1] }, { limit: '5' },
          { limit: [5] }, { limit: -1 }, { limit: 1e99 }, { include_docs: 'true' }, { attachments: 1 }]],
      ['_view', [{ keys: [['osm', 1], null] }], [{ keys: 'a' }]],
      ['queries of _view', [{ queries: [] }, { queries: [{ startkey: ['osm', 3, 1, 0], endkey: ['osm', 3, 1, {}] }] }],
        [{}, { queries: null }, { queries: [null] }, { queries: [5] },
          { queries: [{ keys: 5 }] }, { queries: [{ limit: 'x' }] }, { queries: [{ attachments: 'true' }] }]],
      ['_changes', [{}, { doc_ids: ['a'] }, { selector: { _id: { $regex: '^a' } } },
        { selector: { layer: 'osm', current: true, _id: 'a' } }],
      [{ doc_ids: 5 }, { doc_ids: [{}] }, { selector: [] }, { selector: null }, { selector: { $and: 5 } },
        { selector: { $and: [] } }, { selector: { type: ['tile'] } }, { selector: { type: { $regex: 'a' } } },
        { selector: Object.fromEntries('abcdefghi'.split('').map(name => [name, 1])) },
        { selector: { _id: { $regex: 'a', $gt: 'b' } } }, { selector: { $or: [{ _id: { $regex: 'a' } }] } }]],
      ['_bulk_get', [{ docs: [{ id: 'a' }, { id: 'a', rev: '1-a' }] }], [{}, { docs: {} },
        { docs: [{}] }, { docs: [{ id: 1 }] }, { docs: [{ id: 'a', rev: 1 }] }, { docs: [{ id: 'a', atts_since: 5 }] }]]
    ]
    for (const [name, good, bad] of cases) {
      for (const body of good) assert.ok(isAccepted(name, body), `${name} ${JSON.stringify(body)}`)
      for (const body of bad) assert.ok(!isAccepted(name, body), `${name} ${JSON.stringify(body)}`)
    }
  })

  it('accepts the fields of each query, and no others', () => {
    const allFields =
      { limit: 1, queries: [{}], doc_ids: ['a'], docs: [{ id: 'a' }], selector: {}, r: 9, fields: ['a'] }
    for (const [form, allowedNames] of
      [['_all_docs', ['limit']], ['_bulk_get', ['docs']], ['queries of _all_docs', ['queries']]]) {
      for (const name of Object.keys(allFields)) {
        assert.equal(isAccepted(form, { docs: [], queries: [], [name]: allFields[name] }), false, `${form} ${name}`)
      }
      assert.ok(isAccepted(form, Object.fromEntries(allowedNames.map(name => [name, allFields[name]]))), form)
    }
    assert.ok(!isAccepted('_all_docs', JSON.parse('{"__proto__": {"limit": 5}}')))
    assert.ok(!isAccepted('_bulk_get', { docs: [{ id: 'a', attachments: true }] }))
    assert.ok(!isAccepted('queries of _all_docs', { queries: [{ reduce: true }] }))
    assert.deepEqual(fieldsOfBody(
      'queries of _all_docs', { queries: [{ keys: ['a'] }, { limit: 3 }] }, { limit: 9, include_docs: true }
    ), { queries: [{ limit: 9, include_docs: true, keys: ['a'] }, { limit: 3, include_docs: true }] })
  })

  it('refuses regular expressions that may run for ever', () => {
    const client = ['^(osm:[0-9:]+|layer:osm)$', '^(osm:[0-9:]+(@.+)?|layer:osm)$', '^osm:1[0-4]:', 'x{2,3}']
    const slowPatterns = ['^(a+)+$', '(.*)*x', '(a|a)*b', '(.+){10}', '(?:x+)y',
      '.*.*.*.*.*x', '^.*.*.*.*(b|c)', `${'a?'.repeat(30)}${'a'.repeat(30)}`, '(a)\\1', 'x'.repeat(3000), '(?=a)']
    assert.deepEqual(client.filter(pattern => !isHarmlessPattern(pattern)), [])
    assert.deepEqual(slowPatterns.filter(isHarmlessPattern), [])
    assert.ok(isAccepted('_changes', { selector: { _id: { $regex: client[1] } } }))
    assert.ok(!isAccepted('_changes', { selector: { _id: { $regex: '(a+)+' } } }))
    assert.ok(!isAccepted('_changes', { selector: { _id: { $regex: 5 } } }))
  })
})
