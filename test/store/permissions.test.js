// The rights of visitors, readers, writers and admins over HTTP: the security object and validate_doc_update together.
import assert from 'node:assert/strict'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { publish } from '../../loader/couchapp/publish.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store, PRIVATE_SECURITY } from '../../loader/store/index.js'
import { as, json, onEachStore, post, request } from '../support/backends.js'
import { withPeople } from '../support/people.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'

const T1 = '2021-01-01T00:00:00Z'
const T2 = '2022-01-01T00:00:00Z'

withPeople('permissions', start => {
  let server, url, store
  before(async function () {
    this.timeout(60000)
    server = await start()
    url = server.database
    store = await Store.create(url, { public: false })
    await store.write(square({ layer: 'osm', time: T1, side: 2, seed: (x, y) => x * 2 + y }))
  })
  after(async () => {
    await store.destroy()
    await server.close()
  })

  const status = async (target, options) => {
    const response = await request(target, options)
    await response.arrayBuffer()
    return response.status
  }
  const put = doc => ({ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(doc) })
  const layerDoc = { _id: 'layer:x', type: 'layer', layer: 'x' }

  it('only admins read a store until it is published', async () => {
    assert.deepEqual((await store.security()).members, PRIVATE_SECURITY.members)
    assert.ok([401, 403].includes(await status(`${as(url)}/osm:5:0:0`)))
    assert.equal(await status(`${as(url, ...server.reader)}/osm:5:0:0`), 403)
    const { opened } = await publish(store)
    assert.equal(opened, true)
    assert.equal(await status(`${as(url)}/osm:5:0:0`), 200)
    assert.equal((await publish(store)).opened, false, 'once')
  })

  it('everybody reads a published store', async () => {
    for (const who of [[], server.reader, server.writer]) {
      const target = as(url, ...who)
      assert.equal(await status(`${target}/osm:5:0:0/tile`), 200)
      assert.equal(await status(`${target}/_design/tiles/_rewrite/osm/5/0/0.png`), 200)
      assert.equal(await status(`${target}/_design/versions/_view/by_zoom`), 200)
    }
  })

  it('only writers write documents, and only admins write design documents and security', async () => {
    assert.equal(await status(`${as(url)}/layer:x`, put(layerDoc)), 401)
    assert.equal(await status(`${as(url, ...server.reader)}/layer:x`, put(layerDoc)), 403)
    const security = await store.security()
    for (const who of [[], server.reader, server.writer]) {
      assert.ok([401, 403].includes(await status(`${as(url, ...who)}/_design/evil`, put({ views: {} }))),
        'design documents are the admins’')
      assert.ok(await status(`${as(url, ...who)}/_security`, put({})) >= 400) // CouchDB says 500 no_majority
    }
    assert.deepEqual(await store.security(), security)
  })

  it('a user with the role tilecouch-writer loads tiles', async () => {
    const writerStore = await Store.create(as(url, ...server.writer))
    const summary = await writerStore.write(square({ layer: 'osm', time: T2, side: 2, seed: (x, y) => 10 + x * 2 + y }))
    assert.deepEqual([summary.advanced, summary.failed], [4, 0])
  })

  it('a write by a reader fails with REFUSED and the reason of the store', async () => {
    const readerStore = await Store.open(as(url, ...server.reader), { retries: 0 })
    const attempt = readerStore.write([{ layer: 'osm', z: 5, x: 9, y: 9, time: T2, bytes: png(1) }])
    const { failed, failures } = await attempt
    assert.deepEqual([failed, failures[0].code], [1, 'REFUSED'])
    assert.match(failures[0].reason, /tilecouch-writer/)
  })

  it('a wrong password fails with UNAUTHORIZED and is not part of the error', async () => {
    const wrongUrl = as(url, server.writer[0], 'hunter2')
    await assert.rejects(Store.open(wrongUrl, { retries: 0 }), error => {
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.doesNotMatch(`${error.stack}${JSON.stringify(error)}${JSON.stringify(error.details)}`, /hunter2/)
      return true
    })
  })

  it('documents that are not valid are refused with a reason', async () => {
    const tile = { type: 'tile', layer: 'osm', z: 5, x: 1, y: 1, time: T1, current: true, _attachments: {
      tile: { content_type: 'image/png', data: png(1).toString('base64') }
    } }
    const forbidden = {
      'osm:5:20:99': { ...tile, x: 20, y: 99 },
      'osm:5:1:2': tile,
      'osm:5:3:3': { ...tile, x: 3, y: 3, time: '2021' },
      'osm:5:4:4': { ...tile, x: 4, y: 4, _attachments: undefined },
      'osm:5:5:5': { ...tile, x: 5, y: 5, _attachments: { tile: { content_type: 'text/html', data: 'PGI+' } } },
      'osm:5:6:6': { ...tile, x: 6, y: 6, current: false },
      [`osm:5:0:0@${T1}`]: { ...tile, x: 0, y: 0, current: false, note: 'rewritten history' },
      'layer:Bad': { type: 'layer', layer: 'Bad' },
      'edition:osm@2021': { type: 'edition', layer: 'osm', time: '2021' },
      stray: { hello: 'world' }
    }
    for (const [id, doc] of Object.entries(forbidden)) {
      const { _rev } = await json(`${url}/${encodeURIComponent(id)}`)
      const answer = await json(`${url}/${encodeURIComponent(id)}`, put({ ...doc, ...(_rev && { _rev }) }))
      assert.equal(answer.error, 'forbidden', `${id}: ${JSON.stringify(answer)}`)
      assert.ok(answer.reason.length > 10, 'with a reason')
    }
  })

  /** Writes a document as a replicator does: validate_doc_update does not see the replaced revision. */
  const replicate = (person, doc) =>
    post(`${as(url, ...server[person])}/_bulk_docs`, { docs: [doc], new_edits: false })
  const read = id => json(`${url}/${encodeURIComponent(id)}`)

  it('a replicated document never replaces that of the store by one of another store, nor an activity', async () => {
    const { _rev, ...marker } = await read('tilecouch')
    const otherMarker = { ...marker, uuid: 'other', _rev: `100-${'f'.repeat(32)}` }
    assert.match(JSON.stringify(await replicate('writer', otherMarker)), /only an admin replicates/)
    assert.equal((await read('tilecouch'))._rev, _rev)
    const [user] = server.writer
    const activity = {
      _id: 'activity:20240301T000000000-abcd', type: 'activity', user,
      at: '2024-03-01T00:00:00Z', what: 'layer', done: 'removed'
    }
    await json(`${as(url, ...server.writer)}/${encodeURIComponent(activity._id)}`, put(activity))
    const [otherUser] = server.other
    const forged = { ...activity, user: otherUser, _rev: `2-${'f'.repeat(32)}` }
    assert.match(JSON.stringify(await replicate('other', forged)), /an activity never changes/)
    assert.equal((await read(activity._id)).user, user)
  })

  it('a replicated document of the same store replaces it when it keeps its uuid, created and published', async () => {
    const { _rev, ...marker } = await read('tilecouch')
    const [number, digest] = _rev.split('-')
    const generation = Number(number) + 2
    const laterDoc = fill => {
      const ids = [fill.repeat(32), 'a'.repeat(32), digest]
      return { ...marker, title: 'Later', _rev: `${generation}-${ids[0]}`, _revisions: { start: generation, ids } }
    }
    for (const change of [{ uuid: 'other' }, { published: T1 }, { created: undefined }]) {
      assert.match(JSON.stringify(await replicate('writer', { ...laterDoc('f'), ...change })), /only an admin changes/)
    }
    assert.equal((await read('tilecouch'))._rev, _rev)
    assert.deepEqual(await replicate('writer', laterDoc('e')), [])
    assert.equal((await read('tilecouch')).title, 'Later')
  })

  it('a writer’s mirror copies all documents, but the target keeps its own store document', async () => {
    const source = await Store.create(`${url}_from`)
    await source.defineLayer('osm')
    for (const title of ['One', 'Two', 'Three']) await source.couch.update('tilecouch', doc => ({ ...doc, title }))
    const markerBefore = await read('tilecouch')
    const { lacking, refusals } = await mirror(`${url}_from`, as(url, ...server.writer))
    assert.deepEqual([lacking, refusals], [0, []])
    assert.ok(await read('layer:osm'))
    assert.deepEqual(await read('tilecouch'), markerBefore)
    await source.destroy()
  }).timeout(60000)
})

onEachStore('a store whose publication was stopped', backend => {
  const INDEX = '_design/versions'
  const tiles = square({ layer: 'osm', time: T1, side: 2, seed: (x, y) => x * 2 + y })
  const stopped = useStore(backend, { public: false, fill: store => store.write(tiles) })

  /** Records the method and path of each request. */
  class Remembering extends Couch {
    asked = /** @type {string[]} */ ([])

    async request (options) {
      this.asked.push(`${options.method ?? 'GET'} ${options.path ?? ''}`)
      return super.request(options)
    }
  }

  it('is opened after its index is built, which is not deployed again', async () => {
    await stopped.store.couch.put((await ownDesigns()).find(({ _id }) => _id === INDEX))
    const couch = new Remembering(stopped.url)
    assert.equal((await publish(new Store(couch))).opened, true)
    const [view, opening] = [`GET ${INDEX}/_view/`, 'PUT _security'].map(part =>
      couch.asked.findIndex(line => line.startsWith(part)))
    assert.ok(view >= 0 && view < opening, couch.asked.join('\n'))
    assert.ok(!couch.asked.includes(`PUT ${INDEX}`))
  }).timeout(60000)
})
