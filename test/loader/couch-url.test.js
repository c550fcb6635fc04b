import assert from 'node:assert/strict'
import fc from 'fast-check'
import { winnerOf } from '../../core/couch/answers.js'
import { encodeId } from '../../core/couch/client.js'
import { parseDatabaseUrl } from '../../loader/store/secrets.js'
import { tileId, versionId } from '../../core/index.js'

describe('a database URL', () => {
  // the tests' own environment must not lend its password
  const saved = {}
  beforeEach(() => {
    for (const name of ['COUCHDB_USER', 'COUCHDB_PASSWORD']) {
      saved[name] = process.env[name]
      delete process.env[name]
    }
  })
  afterEach(() => { for (const [name, value] of Object.entries(saved)) {
    if (value === undefined) delete process.env[name]; else process.env[name] = value
  } })

  it('is split into database, server and credentials, and is shown without its password', () => {
    assert.deepEqual(parseDatabaseUrl('http://admin:secret@localhost:5984/tiles'), {
      db: 'tiles', url: 'http://localhost:5984/tiles', serverUrl: 'http://localhost:5984',
      authorised: 'http://admin:secret@localhost:5984'
    })
    assert.equal(parseDatabaseUrl('https://h/tiles/').db, 'tiles')
  })

  it('may have a path before the database, and encoded slashes in the database name', () => {
    const parsed = parseDatabaseUrl('https://h/couch/a%2Fb')
    assert.deepEqual([parsed.db, parsed.url, parsed.serverUrl], ['a/b', 'https://h/couch/a%2Fb', 'https://h/couch'])
  })

  it('gets its user and password from the environment when it has none, unless this is off', () => {
    process.env.COUCHDB_USER = 'me@home'
    process.env.COUCHDB_PASSWORD = 'p:w/d'
    assert.equal(parseDatabaseUrl('http://h/tiles').authorised, 'http://me%40home:p%3Aw%2Fd@h')
    assert.equal(parseDatabaseUrl('http://a:b@h/tiles').authorised, 'http://a:b@h')
    assert.equal(parseDatabaseUrl('http://h/tiles').url, 'http://h/tiles')
    assert.equal(parseDatabaseUrl('http://h/tiles', { ambient: false }).authorised,
      'http://h', 'unless it is somebody else\'s')
    assert.equal(parseDatabaseUrl('http://a:b@h/tiles', { ambient: false }).authorised, 'http://a:b@h')
  })

  it('is refused when it names no database, or a database that CouchDB would refuse', () => {
    for (
      const url of ['', 'tiles', 'http://h', 'http://h/', 'ftp://h/tiles',
        'file:///tiles', 'http://h/Tiles', 'http://h/1tiles', 'http://h/_users', 'http://h/a.b',
        'http://h/a b', 'http://h/%zz', 'http://u:100%@h/tiles', `http://h/${'a'.repeat(300)}`, null, undefined]
    ) {
      assert.throws(() => parseDatabaseUrl(url), { code: 'BAD_DATABASE' }, `${url}`)
    }
  })
})

describe('an id in a path', () => {
  it('encodes only characters that a path does not allow', () => {
    assert.equal(encodeId('osm:10:300:412'), 'osm:10:300:412')
    assert.equal(encodeId('osm:10:300:412@2024-03-01T00:00:00Z'), 'osm:10:300:412%402024-03-01T00:00:00Z')
    assert.equal(encodeId('_design/tiles'), '_design/tiles')
    assert.equal(encodeId('_local/a/b'), '_local/a%2Fb')
    assert.equal(encodeId('a/../b?c#d%'), 'a%2F..%2Fb%3Fc%23d%25')
  })

  it('is one path segment that decodes to the id, for any id', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), id => {
      const encoded = encodeId(id)
      if (/^_(design|local)\//.test(id)) return
      assert.ok(!/[/?#\s]/.test(encoded), encoded)
      assert.equal(decodeURIComponent(encoded), id)
    }), { numRuns: 1000 })
    assert.equal(decodeURIComponent(encodeId(versionId('osm', 1, 0, 0, '2024-03-01T00:00:00Z'))),
      `${tileId('osm', 1, 0, 0)}@2024-03-01T00:00:00Z`)
  })
})

describe('the winner among the leaves of a document', () => {
  it('is the leaf that CouchDB shows: not deleted, the longest history, then the greater revision', () => {
    const golden = [
      [[], undefined],
      [['1-a'], '1-a'],
      [['1-a', '1-b'], '1-b'],
      [['2-a', '1-b'], '2-a'],
      [['9-a', '10-a'], '10-a'],
      [['3-z!', '1-a'], '1-a'],
      [['3-z!', '4-a!'], '4-a!'],
      [['2-a', '2-b', '2-c!'], '2-b']
    ]
    const leaf = text => ({ _rev: text.replace('!', ''), ...(text.endsWith('!') && { _deleted: true }) })
    for (const [leaves, wanted] of golden) {
      for (const order of [leaves, [...leaves].reverse()]) {
        assert.deepEqual(winnerOf(order.map(leaf)), wanted && leaf(wanted), String(order))
      }
    }
    assert.equal(winnerOf(), undefined)
  })
})
