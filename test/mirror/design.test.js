// Design documents at a mirror: its own, or the very same of its source, and never anybody else's code.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { compose, push } from '../../loader/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { backends, json, onEachPair, onEachStore, put, request } from '../support/backends.js'
import { theirs } from './compare.js'
import { designsOf, origin } from './pairs.js'

const SPITE = "(function () { throw ({ forbidden: 'mine' }) })"

onEachPair('design documents', (from, to) => {
  let url, target
  beforeEach(async () => {
    url = await from.database()
    target = await to.database()
    await origin(url, { side: 2 })
  })

  /** What `tilecouch push` would still do at the target. */
  const behind = async () => (await push(new Couch(target), await compose(), { dryRun: true }))
    .filter(({ action }) => action !== 'unchanged')

  it('are copied with their revisions if they are equal to those of this release', async () => {
    const { ready } = await mirror(url, target)
    assert.ok(ready.designs.every(({ action }) => action === 'copied'))
    assert.deepEqual(await designsOf(target), await designsOf(url))
    if (!to.supports.users) return
    const { missing_found: missing, missing_checked: checked } =
      await theirs(await to.url(), url, target, { selector: undefined })
    assert.ok(checked > 8)
    assert.equal(missing, 0)
  })

  it('of a hostile source are not copied', async () => {
    await put(`${url}/_design/evil`, {
      language: 'javascript', validate_doc_update: SPITE, views: { a: { map: '(function (doc) { emit(doc._id) })' } }
    })
    const tiles = await json(`${url}/_design/tiles`)
    await put(`${url}/_design/tiles`, { ...tiles, validate_doc_update: '(function () {})' })
    const versions = await json(`${url}/_design/versions`)
    await put(`${url}/_design/versions`, { ...versions, evil: true })
    for (const wanted of [{}, { layers: ['osm'], current: true }]) {
      const { ready } = await mirror(url, target, wanted)
      assert.deepEqual(Object.keys(await designsOf(target)).sort(), ['_design/tiles', '_design/versions'])
      assert.deepEqual(await behind(), [])
      if (ready.created) {
        assert.deepEqual(ready.designs.filter(({ action }) => action !== 'copied').map(({ id }) => id).sort(),
          ['_design/tiles', '_design/versions'])
      }
      assert.notEqual((await json(`${target}/_design/tiles`)).validate_doc_update, '(function () {})')
    }
  })

  it('with the same signatures but other content are not copied', async () => {
    const { _attachments: files, couchapp, ...design } = await json(`${url}/_design/tiles`)
    const name = Object.keys(files).find(file => file.endsWith('.js'))
    files[name] = { content_type: files[name].content_type, data: Buffer.from('alert(1)').toString('base64') }
    await put(`${url}/_design/tiles`, { ...design, couchapp, _attachments: files })
    assert.deepEqual((await json(`${url}/_design/tiles`)).couchapp, couchapp, 'its signatures are those of ours')
    const { ready } = await mirror(url, target)
    assert.equal(ready.designs.find(({ id }) => id === '_design/tiles').action, 'new')
    assert.doesNotMatch(await (await request(`${target}/_design/tiles/${name}`)).text(), /^alert/)
  })
})

onEachStore('a source that sends documents that were not requested', backend => {
  let url, store, target, server, proxy
  beforeEach(async () => {
    url = await backends[0].database() // it answers in JSON, which is easily tampered with
    target = await backend.database()
    store = await origin(url, { side: 2 })
    server = createServer(tamper)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    proxy = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}${new URL(url).pathname}`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  async function tamper (req, res) {
    let body = ''
    for await (const chunk of req) body += chunk
    const answer = await fetch(`${new URL(url).origin}${req.url}`,
      { method: req.method, headers: {
        'content-type': 'application/json', accept: 'application/json'
      }, ...(body && { body }) })
    let text = await answer.text()
    if (req.url.includes('/_bulk_get')) {
      const { results } = JSON.parse(text)
      const evil = ['_design/evil', '_design/tiles', 'tilecouch-evil'].map(
        id => (
          { ok: {
            _id: id, _rev: '9-aa', _revisions: { start: 9, ids: ['aa'] }, type: 'layer', validate_doc_update: SPITE
          } }
        )
      )
      results[0].docs.push(...evil)
      text = JSON.stringify({ results })
    }
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  }

  const evil = async () => {
    const { rows } = await json(`${target}/_all_docs`)
    return rows.map(({ id }) => id).filter(id => /evil/.test(id))
  }

  it('adds nothing to a new mirror', async () => {
    const { docs, refused, ready } = await mirror(proxy, target)
    assert.deepEqual([docs, refused, ready.created], [4 + 1 + 1 + 2 + 1, 0, true])
    assert.deepEqual(await evil(), [])
    const { validate_doc_update: validation, _conflicts: conflicts } =
      await json(`${target}/_design/tiles?conflicts=true`)
    assert.deepEqual([validation !== SPITE, conflicts], [true, undefined])
  })

  it('adds nothing to a mirror with a validation function, which design documents bypass', async () => {
    await mirror(url, target)
    await store.defineLayer('relief')
    const { docs, refused } = await mirror(proxy, target, { layers: ['relief', 'osm'] })
    assert.deepEqual([docs, refused], [1, 0])
    assert.deepEqual(await evil(), [])
    assert.notEqual((await json(`${target}/_design/tiles`)).validate_doc_update, SPITE)
  })
})
