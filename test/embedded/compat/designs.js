// The CouchDB contract for show and list functions of design documents.
import assert from 'node:assert/strict'
import { answered, freshDatabase } from '../harness.js'

const ddoc = {
  shows: {
    all: `(function (doc, req) {
      var headers = { "X-Own": "b", "Content-Type": "application/json" }
      return { code: 200, headers: headers, body: JSON.stringify({ doc: doc, req: req }) }
    })`,
    doc: `(function (doc) {
      return { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ doc: doc }) }
    })`,
    text: '(function () { return "hi" })',
    moved: '(function () { return { code: 302, headers: { Location: "../x" }, body: "moved" } })',
    refused: '(function () { throw ["error", "not_found", "no such tile"] })',
    custom: '(function () { throw { error: "mine", reason: "because" } })',
    boom: '(function () { throw "boom" })',
    broken: '(function (',
    number: '(function () { return 5 })'
  },
  views: { v: { map: '(function (doc) { if (doc.n) emit(doc.n, doc._id) })', reduce: '_count' } },
  lists: {
    all: `(function (head, req) {
      start({ code: 201, headers: { "X-Own": "1", "Content-Type": "application/json" } })
      send("[")
      var row, n = 0
      while (row = getRow()) send((n++ ? "," : "") + JSON.stringify(row))
      return (n ? "," : "") + JSON.stringify({ head: head, query: req.query, path: req.path }) + "]"
    })`,
    redirect: `(function (head, req) {
      var row = getRow()
      start({ code: 302, headers: { Location: "../../../" + (row ? row.id : "none") + "/tile" } })
      return "see there"
    })`,
    notFound: '(function () { start({ code: 404, headers: { "Content-Type": "application/json" } }); send("{}") })',
    boom: '(function () { throw "x" })'
  }
}

export const designs = target => describe('shows and lists', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const show = (path, ...args) => admin('GET', `/_design/d/_show/${path}`, ...args)
  const list = path => admin('GET', `/_design/d/_list/${path}`)

  before(async () => {
    assert.equal((await admin('PUT', '/_design/d', ddoc)).status, 201)
    await admin('POST', '/_bulk_docs', { docs: [{ _id: 'osm:1:0:0@x', n: 1 }, { _id: 'b', n: 2 }, { _id: 'c', n: 3 }] })
  })

  it('show a document', async () => {
    for (const id of ['osm:1:0:0@x', 'osm%3A1%3A0%3A0%40x']) assert.equal((await show(`doc/${id}`)).json.doc.n, 1)
    assert.deepEqual((await show('doc/nope')).json, { doc: null })
    assert.deepEqual((await show('doc')).json, { doc: null })
    assert.equal((await show('doc/_design/d')).json.doc._id, '_design/d')
    const { headers, json: { req } } = await show('all/b?x=1&y=a%20b')
    assert.equal(headers['x-own'], 'b')
    assert.equal(headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined, false)
    assert.deepEqual(req.query, { x: '1', y: 'a b' })
    assert.deepEqual(req.path, [db.path.slice(1), '_design', 'd', '_show', 'all', 'b'])
    assert.equal(req.method, 'GET')
  })

  it('answer with the text, code and headers of the function', async () => {
    const text = await show('text')
    assert.equal(text.text, 'hi')
    assert.equal(text.headers['content-type'], 'text/html; charset=utf-8')
    const moved = await answered(302, show('moved'))
    assert.equal(moved.headers.location, '../x')
  })

  it('report the error that a function threw', async () => {
    await answered(404, show('refused'), 'not_found')
    await answered(500, show('custom'), 'mine')
    await answered(500, show('boom'), 'render_error')
    await answered(500, show('broken'), 'compilation_error')
    await answered(500, show('number'), 'render_error')
    assert.deepEqual((await show('nope')).json, { error: 'not_found', reason: 'missing json key: nope' })
    assert.equal((await admin('GET', '/_design/nope/_show/x')).status, 404)
  })

  it('list a view', async () => {
    const { headers, json } = await answered(201, list('all/v?reduce=false&limit=2&x=1'))
    assert.equal(headers['x-own'], '1')
    assert.equal(headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined, false)
    assert.deepEqual(json.slice(0, 2).map(({ id }) => id), ['osm:1:0:0@x', 'b'])
    assert.deepEqual(json[2].query, { reduce: 'false', limit: '2', x: '1' })
    assert.deepEqual((await list('all/v')).json[0], { key: null, value: 3 })
    assert.equal((await list('all/v?reduce=false&key=2')).json[0].id, 'b')
    assert.equal((await list('all/v?reduce=false&descending=true&limit=1')).json[0].id, 'c')
  })

  it('list a view of another design document', async () => {
    await admin('PUT', '/_design/other', { views: { w: { map: '(function (doc) { emit(doc._id) })' } } })
    const { json } = await list('all/other/w?limit=1')
    assert.equal(json[0].id, 'b')
  })

  it('redirect from a list', async () => {
    const { headers, text } = await answered(302, list('redirect/v?reduce=false&limit=1'))
    assert.equal(headers.location, '../../../osm:1:0:0@x/tile')
    assert.equal(text, 'see there')
    // repeated on one connection
    for (let i = 0; i < 3; i++) {
      assert.equal((await list('redirect/v?reduce=false&key=99')).headers.location, '../../../none/tile')
    }
    assert.equal((await list('notFound/v')).status, 404)
  })

  it('report a list that throws or does not exist', async () => {
    assert.equal((await list('boom/v')).json.error, 'render_error')
    assert.deepEqual((await list('nope/v')).json, { error: 'not_found', reason: 'missing json key: nope' })
    assert.deepEqual((await list('all/nope')).json, { error: 'not_found', reason: 'missing_named_view' })
  })

  it('refuse malformed design documents', async () => {
    const put = body => admin('PUT', '/_design/bad', body)
    await answered(400, put({ views: 5 }), 'invalid_design_doc')
    await answered(400, put({ views: { x: { map: 5 } } }), 'invalid_design_doc')
    await answered(400, put({ rewrites: 5 }), 'invalid_design_doc')
    await answered(400, put({ views: { x: { map: '(function (doc) { emit(' } } }), 'compilation_error')
  })
})
