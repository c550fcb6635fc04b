// The CouchDB contract for rewrite functions of design documents.
import assert from 'node:assert/strict'
import { answered, freshDatabase } from '../harness.js'

const router = `(function (req) {
  var last = req.path[req.path.length - 1]
  if (last === "none") return
  if (last === "boom") throw "x"
  if (last === "tea") return { code: 418, headers: { "X-Own": "1" }, body: "tea" }
  if (last === "number") return 5
  if (req.query.to) return { path: req.query.to, query: req.query.q ? JSON.parse(req.query.q) : undefined }
  return { code: 200, headers: { "Content-Type": "application/json" }, body: JSON.stringify(req) }
})`

const shows = {
  query: `(function (doc, req) {
    return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(req.query) }
  })`
}

export const rewrites = target => describe('rewrites', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const get = path => admin('GET', `/_design/d/_rewrite${path}`)
  const route = (path, extraQuery = '') => get(`/x?to=${encodeURIComponent(path)}${extraQuery}`)

  before(async () => {
    const views = { v: { map: '(function (doc) { if (doc.n) emit(doc.n) })' } }
    await answered(201, admin('PUT', '/_design/d', { rewrites: router, shows, views }))
    await admin('PUT', '/osm:1:0:0@x', { n: 1, _attachments: { tile: { content_type: 'image/png', data: 'YWJj' } } })
    await admin('PUT', '/a%20b', { n: 2 })
  })

  it('pass the decoded request to the function', async () => {
    const { json } = await get('/e%3A1%40x/a%2Fb/a%20b/%E2%82%AC?q=%25&z=1%202')
    assert.equal(json.method, 'GET')
    assert.deepEqual(json.path, [db.path.slice(1), '_design', 'd', '_rewrite', 'e:1@x', 'a/b', 'a b', '€'])
    assert.deepEqual(json.query, { q: '%', z: '1 2' })
    assert.equal(json.raw_path, `${db.path}/_design/d/_rewrite/e%3A1%40x/a%2Fb/a%20b/%E2%82%AC?q=%25&z=1%202`)
    assert.equal(typeof json.headers.Host, 'string')
    assert.deepEqual((await get('')).json.path, [db.path.slice(1), '_design', 'd', '_rewrite'])
    assert.deepEqual((await get('/a//b')).json.path.slice(4), ['a', 'b'])
  })

  it('reach documents and attachments, decoded once', async () => {
    assert.equal((await route('../../osm:1:0:0@x')).json.n, 1)
    assert.equal((await route('../../osm%3A1:0:0%40x')).json.n, 1)
    assert.equal((await route('../../a%20b')).json.n, 2)
    assert.equal((await route('../../osm:1:0:0@x/tile')).text, 'abc')
    if (target().embedded) { // CouchDB sends the body along, which breaks the connection
      const { headers } = await admin('HEAD', '/_design/d/_rewrite/x?to=../../osm:1:0:0@x/tile')
      assert.equal(headers['content-length'], '3')
    }
    assert.equal((await route('../../nope')).status, 404)
    assert.equal((await route('../..')).json.db_name, db.path.slice(1))
  })

  it('pass on the query of the function, or else that of the client', async () => {
    assert.deepEqual((await route('_show/query', `&q=${encodeURIComponent('{"a":"1 2&3"}')}`)).json, { a: '1 2&3' })
    assert.equal((await route('_show/query', '&own=1')).json.own, '1')
    assert.equal((await route('_view/v', `&q=${encodeURIComponent('{"key":"1"}')}`)).json.rows[0].id, 'osm:1:0:0@x')
    assert.equal((await route('_show/query', `&q=${encodeURIComponent('{"a":1}')}`)).json.error, 'rewrite_error')
  })

  it('pass on bodies and methods', async () => {
    const answer = await admin('POST', '/_design/d/_rewrite/x?to=../../_all_docs', { keys: ['a b'] })
    assert.equal(answer.json.rows[0].id, 'a b')
    assert.equal((await admin('PUT', '/_design/d/_rewrite/x?to=../../put', { n: 3 })).status, 201)
    assert.equal((await admin('GET', '/put')).json.n, 3)
  })

  it('answer with the response of the function, or with its error', async () => {
    const tea = await answered(418, get('/tea'))
    assert.equal(tea.text, 'tea')
    assert.equal(tea.headers['x-own'], '1')
    await answered(404, get('/none'), 'rewrite_error', 'Invalid path.')
    assert.equal((await get('/boom')).json.error, 'rewrite_error')
    assert.equal((await get('/number')).status, 500)
    await answered(400, route('_rewrite/x'), 'bad_request', 'Exceeded rewrite recursion limit')
    await admin('PUT', '/_design/without', {})
    assert.equal((await admin('GET', '/_design/without/_rewrite/x')).json.error, 'rewrite_error')
    assert.equal((await admin('GET', '/_design/nope/_rewrite/x')).status, 404)
  })
})
