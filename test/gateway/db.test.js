// Tests of the store's database at /db of the gateway: reads answer as the store itself does, all else is refused.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { as, json, onEachStore, post as postJson, request } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { PouchDB, usePouches } from '../support/client/pouches.js'
import { SECRET, secretDatabase } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask, post, speak } from '../support/gateway/wire.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T00:00:00Z']

onEachStore('the store at /db', backend => {
  let otherDatabase
  const fixture = useGateway(backend, {
    async fill (store) {
      await store.defineLayer('osm', { name: 'Test', minzoom: 3, maxzoom: 3 })
      await store.write(square({ layer: 'osm', time: T1, z: 3, side: 4, seed: (x, y) => x * 4 + y }))
      await store.write(
        square({ layer: 'osm', time: T2, z: 3, side: 4, seed: (x, y) => x < 2 ? 100 + x * 4 + y : undefined })
      )
      otherDatabase = await secretDatabase(backend)
    }
  })

  const accept = 'application/json' // without an Accept header, CouchDB sends documents and images as multipart
  const askDb =
    (text, { headers, ...options } = {}) => fixture.ask(`/db${text}`, { headers: { accept, ...headers }, ...options })
  const postToDb = (text, body) => post(fixture.gateway.url, `/db${text}`, body, { headers: { accept } })
  const getFromStore = text => json(fixture.url + text, { headers: { accept } })
  const postToStore = (text, body) => postJson(fixture.url + text, body)
  const key = value => encodeURIComponent(JSON.stringify(value))

  it('answers every read as the store does', async () => {
    const reads = ['/layer:osm', '/layer%3Aosm', '/osm:3:0:0?revs=true&attachments=true', '/_all_docs',
      `/_all_docs?include_docs=true&startkey=${key('osm:3:1')}&endkey=${key('osm:3:2')}`, '/_changes?style=all_docs',
      '/_design/versions', `/_design/versions/_view/by_tile?reduce=false&startkey=${key(['osm', 3, 1])}`,
      '/_design/versions/_view/by_zoom?group_level=3']
    for (const text of reads) {
      const { status, json: body, headers } = await askDb(text)
      assert.equal(status, 200, text)
      const expected = await getFromStore(text)
      for (const answer of [body, expected]) {
        delete answer.pending
        delete answer.last_seq
        answer.results?.forEach?.(result => { delete result.seq })
      }
      // the shards of a cluster answer in any order
      if (/_changes/.test(text)) {
        for (const { results } of [body, expected]) results.sort((a, b) => a.id < b.id ? -1 : 1)
      }
      assert.deepEqual(body, expected, text)
      assert.match(headers['content-type'], /^application\/json/)
    }
    const questions = {
      '/_all_docs': { keys: ['osm:3:0:0', 'nope'] },
      '/_all_docs/queries': { queries: [{ keys: ['osm:3:0:0'] }, { startkey: 'osm:3:1', limit: 2 }] },
      '/_bulk_get?revs=true': { docs: [{ id: 'osm:3:0:0' }, { id: 'nope' }] },
      '/_design/versions/_view/by_tile?reduce=false': { keys: [['osm', 3, 0, 0, T1]] },
      '/_design/versions/_view/by_tile/queries':
        { queries: [{ reduce: false, startkey: ['osm', 3, 1, 0], endkey: ['osm', 3, 1, 3, {}] }] }
    }
    for (const [text, body] of Object.entries(questions)) {
      const answer = await postToDb(text, body)
      assert.equal(answer.status, 200, text)
      assert.deepEqual(answer.json, await postToStore(text, body), text)
    }
  })

  it('returns the database information with and without a slash', async () => {
    for (const text of ['', '/']) {
      assert.equal((await askDb(text)).json.db_name, decodeURIComponent(new URL(fixture.url).pathname.slice(1)))
    }
    const { status, body } = await askDb('', { method: 'HEAD' })
    assert.deepEqual([status, body.length], [200, 0])
  })

  const revOf = async id => (await getFromStore(`/_all_docs?key=${key(id)}`)).rows[0].value.rev

  it('sends images as the store does: the head, a past version, or a given revision', async () => {
    const stored = await request(`${fixture.url}/osm:3:1:1/tile`)
    const image = Buffer.from(await stored.arrayBuffer())
    const rev = await revOf('osm:3:1:1')
    const PINNED = 'public, max-age=31536000, immutable'
    for (const [text, outcome, age] of [
      ['/osm:3:1:1/tile', undefined, 'must-revalidate'], [`/osm:3:1:1/tile?rev=${rev}`, 'miss', PINNED],
      [`/osm%3a3%3A1%3A1/tile?rev=${rev}`, 'hit', PINNED]
    ]) {
      const { status, headers, body } = await askDb(text)
      assert.deepEqual([status, headers['x-tilecouch-cache'], headers['cache-control'], headers['content-type']],
        [200, outcome, age, 'image/png'], text)
      assert.deepEqual([headers.etag, headers['content-length']], [stored.headers.get('etag'), `${image.length}`], text)
      assert.deepEqual(body, image)
      assert.equal((await askDb(text, { headers: { 'if-none-match': headers.etag } })).status, 304)
      const head = await askDb(text, { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers.etag, head.headers['content-length'], head.body.length],
        [200, headers.etag, headers['content-length'], 0])
    }
    for (const text of ['/osm:3:7:7/tile', '/osm:3:0:0/other', `/osm:3:0:0/tile?rev=9-${'a'.repeat(32)}`]) {
      assert.equal((await askDb(text)).status, 404, text)
    }
    await fixture.store.write([{ layer: 'osm', z: 3, x: 1, y: 1, time: T3, bytes: png(300) }])
    const oldImage = await askDb(`/osm:3:1:1/tile?rev=${rev}`)
    assert.ok(oldImage.status === 404 || oldImage.body.equals(image), 'the revision that was asked for, or none')
    assert.deepEqual((await askDb(`/osm:3:1:1/tile?rev=${await revOf('osm:3:1:1')}`)).body, png(300))
    for (const suffix of ['', `?rev=${await revOf(`osm:3:1:1@${T2}`)}`]) {
      assert.deepEqual((await askDb(`/osm:3:1:1@${T2}/tile${suffix}`)).body, png(105))
    }
  })

  it('sends the newest image right after a write when no revision is given', async () => {
    for (let step = 1; step <= 20; step++) {
      await fixture.ask('/osm/3/1/2.png') // loads the old image into memory
      const time = `2023-07-01T00:00:${String(step).padStart(2, '0')}Z`
      await fixture.store.write([{ layer: 'osm', z: 3, x: 1, y: 2, time, bytes: png(400 + step) }])
      assert.ok((await askDb('/osm:3:1:2/tile')).body.equals(png(400 + step)), `image ${step}`)
    }
  })

  it('reads images of concurrent requests in few requests to the store, and only once', async () => {
    const gateway = await fixture.another({ opsPort: 0 })
    const count = async name => +
      (new RegExp(`^${name}\\{[^}]*outcome="ok"[^}]*\\} (\\d+)`, 'm')
        .exec((await ask(gateway.opsUrl, '/metrics')).text)?.[1] ?? 0)
    const names = (await getFromStore('/_all_docs'))
      .rows.filter(({ id }) => /^osm:.*[0-2]$/.test(id) || id.endsWith(`@${T1}`))
        .map(({ id, value }) => `${encodeURIComponent(id)}/tile?rev=${value.rev}`)
    const answers = () => Promise.all(names.map(name => ask(gateway.url, `/db/${name}`)))
    const first = await answers()
    assert.ok(first.every(({ status }) => status === 200))
    assert.equal(await count('tilecouch_store_reads_total'), names.length)
    const batches = await count('tilecouch_store_batches_total')
    assert.ok(batches < names.length / 2, `${batches} requests for ${names.length} images`)
    const repeated = await answers()
    assert.ok(repeated.every(({ headers, body }, index) => headers['x-tilecouch-cache'] === 'hit' &&
      body.equals(first[index].body)))
    assert.equal(await count('tilecouch_store_batches_total'), batches)
  })

  it('refuses writes with errors in the form of CouchDB', async () => {
    const rowsBefore = await getFromStore('/_all_docs')
    const doc = JSON.stringify({ _id: 'intruder', type: 'tile' })
    const headers = { 'content-type': 'application/json' }
    for (const [method, text, status, error] of [
      ['PUT', '/intruder', 405, 'method_not_allowed'], ['DELETE', '/osm:3:0:0/tile', 405, 'method_not_allowed'],
      ['POST', '/_bulk_docs', 403, 'forbidden'], ['PUT', '/_security', 403, 'forbidden']
    ]) {
      const { json: body, ...answer } = await askDb(text, { method, body: doc, headers })
      assert.deepEqual([answer.status, Object.keys(body), body.error], [status, ['error', 'reason'], error],
        `${method} ${text}`)
    }
    assert.deepEqual(await getFromStore('/_all_docs'), rowsBefore)
  })

  it('never reaches other databases or addresses of the server', async () => {
    const name = new URL(otherDatabase).pathname.slice(1)
    const ways = [`/../${name}/secret`, `/%2e%2e/${name}/secret`,
      `/..%2f${name}/secret`, `/x/../../${name}/secret`, `/x%2F..%2F..%2F${name}%2Fsecret`,
      `/%2F${name}/secret`, `//${name}/secret`, `/_design/tiles/_rewrite/../../../${name}/secret`,
      `/..\\${name}\\secret`, '/../_users/_all_docs?include_docs=true',
      '/_node/_local/_config', '/../_all_dbs', `/%252e%252e/${name}/secret`, `/;/../${name}/secret`]
    for (const way of ways) {
      for (const target of [`/db${way}`, `/db/.${way}`, `http://127.0.0.1/db${way}`,
        `http://127.0.0.1:${new URL(fixture.url).port}/${name}/secret`]) {
        const text = await speak(fixture.gateway.url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
        assert.match(text, /^HTTP\/1\.1 4\d\d /, target)
        assert.ok(!text.includes(SECRET) && !/"admins"|"_users"/.test(text), target)
      }
    }
  })

  it('follows the store: a long poll ends with the next change, a continuous feed goes on', async () => {
    const { last_seq: since } = (await askDb('/_changes?since=now')).json
    const longPoll = askDb(`/_changes?feed=longpoll&include_docs=true&since=${encodeURIComponent(since)}&timeout=20000`)
    const controller = new AbortController()
    let received = ''
    const query = `feed=continuous&heartbeat=1000&since=${encodeURIComponent(since)}`
    const feed = fetch(`${fixture.gateway.url}/db/_changes?${query}`, { signal: controller.signal })
      .then(async response => { for await (const part of response.body) received += Buffer.from(part) }).catch(() => {})
    await fixture.store.write([{ layer: 'osm', z: 3, x: 3, y: 3, time: T3, bytes: png(301) }])
    const { results } = (await longPoll).json
    assert.match(results[0].id, /^osm:3:3:3/)
    await until(() => received.includes('"osm:3:3:3"'), { what: 'the first change' })
    await fixture.store.write([{ layer: 'osm', z: 3, x: 3, y: 2, time: T3, bytes: png(302) }])
    await until(() => received.includes('"osm:3:3:2"'), { what: 'the second change' })
    controller.abort()
    await feed
  })

  const images = 'include_docs=true&attachments=true'
  const ids = (count, make = id => id) => Array.from({ length: count }, (_, index) => make(`osm:9:0:${index}`))

  it('refuses queries that name too many documents, rows or ranges', async () => {
    for (const [path, make, limit] of [
      ['/_all_docs', count => ({ keys: ids(count) }), 10000],
      ['/_all_docs?include_docs=true', count => ({ keys: ids(count) }), 2000],
      ['/_all_docs/queries', count => (
        { queries: [{ keys: ids(count >> 1), include_docs: true }, { keys: ids(count - (count >> 1)) }] }
      ), 2000],
      ['/_bulk_get', count => ({ docs: ids(count, id => ({ id })) }), 2000],
      ['/_design/versions/_view/by_tile/queries', count => ({ queries: ids(count, () => ({ limit: 0 })) }), 1000]
    ]) {
      assert.equal((await postToDb(path, make(limit + 1))).status, 413, path)
      assert.equal((await postToDb(path, make(Math.min(limit, 500)))).status, 200, path)
    }
    assert.equal((await postToDb('/_changes?filter=_doc_ids', { doc_ids: ids(10001) })).status, 413)
  })

  it('refuses queries that ask for images without a limit, even with extra fields', async () => {
    const manyIds = ids(2001)
    const view = '/_design/versions/_view/by_tile'
    const imageFields = { include_docs: true, attachments: true }
    const table = {
      [`/_all_docs?${images}`]: [
        {}, { doc_ids: ['osm:3:0:0'] }, { docs: [], queries: [], key_: 1 }, { limit: 100000 }, { limit: '5' },
        { limit: [5] }, '{"limit":1,"limit":100000}', '{"limit":100000,"limit":-1}',
        { startkey: 'osm:', endkey: 'osm;', keys: undefined }, { keys: manyIds }
      ],
      [`/_all_docs?${images}&limit=5`]: [{ limit: 100000 }],
      '/_all_docs': [{ ...imageFields, doc_ids: ['x'] }, { ...imageFields, attachments: 'true' },
        { ...imageFields, keys: null }],
      [`/_all_docs/queries?${images}`]: [{ queries: [{}] }],
      '/_all_docs/queries': [
        { queries: [imageFields], limit: 5 },
        { queries: Array.from({ length: 3 }, () => ({ ...imageFields, limit: 1000 })) },
        { queries: [{ keys: ['a'] }, imageFields] }
      ],
      '/_all_docs/queries?limit=5': [{ queries: [{ ...imageFields, limit: 100000 }] }],
      [`${view}?reduce=false&${images}`]: [
        { key: ['osm', 3, 0, 0] }, { keys: [['osm', 3, 0, 0]] }, { doc_ids: ['a'] }
      ],
      [`${view}/queries`]: [{ queries: [{ ...imageFields, reduce: false, keys: [1] }] }],
      [`/_changes?${images}`]: [{ doc_ids: ['osm:3:0:0'] }, { limit: 5 }],
      [`/_changes?${images}&filter=_selector`]: [{ doc_ids: ['a'], selector: {} }],
      [`/_changes?${images}&filter=_design&doc_ids=["a"]`]: [{}],
      [`/_changes?${images}&feed=longpoll&filter=_selector`]: [{ selector: {}, keys: ['a'] }],
      [`/_changes?${images}&filter=_doc_ids`]: [{ doc_ids: manyIds }],
      '/_bulk_get?attachments=true': [{ docs: manyIds.map(id => ({ id })) }]
    }
    for (const [path, bodies] of Object.entries(table)) for (const body of bodies) {
      const { status } = await postToDb(path, body)
      assert.ok(status === 400 || status === 413, `${path} ${JSON.stringify(body).slice(0, 120)}: ${status}`)
    }
    const unlimited = [
      `/_all_docs?${images}`, `/_changes?${images}`, `/_all_docs?${images}&limit=2001`,
      `${view}?reduce=false&${images}&key=["osm",3,0,0]`, `/_changes?${images}&doc_ids=["osm:3:0:0"]`,
      `/_all_docs?${images}&limit=1;limit=5`, `/_all_docs?${images}&l%69mit=100000`,
      '/_all_docs?include_docs=true&attac%68ments=true'
    ]
    for (const path of unlimited) assert.equal((await askDb(path)).status, 400, path)
  })

  it('sends the images of queries with a limit or with keys, and of one document', async () => {
    for (const [path, body] of [
      [`/_all_docs?${images}`, { limit: 5 }],
      [`/_all_docs/queries?${images}`, { queries: [{ limit: 5 }, { keys: ['osm:3:0:0'] }] }],
      [`/_changes?${images}&filter=_doc_ids`, { doc_ids: ['osm:3:0:0'] }],
      ['/_bulk_get?attachments=true', { docs: [{ id: 'osm:3:0:0' }] }],
      [`/_all_docs?${images}&limit=5`], ['/osm:3:0:0?attachments=true'],
      [`/_all_docs?${images}&keys=[%22osm:3:0:0%22]`]
    ]) {
      const { status, text } = body ? await postToDb(path, body) : await askDb(path)
      assert.equal(status, 200, path)
      assert.match(text, /"data":/, path)
    }
  })

  describe('for PouchDB', () => {
    const pouch = usePouches()

    it('is replicated with every image, and continues from its checkpoint the next time', async () => {
      const local = pouch()
      const remote = new PouchDB(`${fixture.gateway.url.replace(/\/$/, '')}/db`)
      const first = await local.replicate.from(remote, { batch_size: 10 })
      assert.equal(first.ok, true)
      assert.equal((await local.info()).doc_count, (await getFromStore('')).doc_count)
      assert.deepEqual(Buffer.from(await local.getAttachment('osm:3:2:2', 'tile')), png(10))
      await fixture.store.write([{ layer: 'osm', z: 3, x: 2, y: 3, time: T2, bytes: png(303) }])
      const second = await local.replicate.from(remote)
      assert.equal(second.ok, true)
      assert.ok(second.docs_read <= 2 && second.docs_read > 0,
        `${second.docs_read} documents, head and past of one tile`)
      assert.deepEqual(Buffer.from(await local.getAttachment('osm:3:2:3', 'tile')), png(303))
      await assert.rejects(remote.put({ _id: 'intruder' }), { status: 405 })
    })
  })

  if (backend.supports.users) {
    it('is a source for the replicator of CouchDB without checkpoints', async () => {
      const server = await backend.url()
      const target = await backend.database()
      const { username, password } = new URL(target)
      const answer = await postJson(`${server}/_replicate`, {
        source: `${fixture.gateway.url.replace(/\/$/, '')}/db`,
        target: { url: as(target), headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}` } },
        create_target: true, use_checkpoints: false
      })
      assert.equal(answer.ok, true, JSON.stringify(answer))
      assert.equal((await json(target)).doc_count, (await getFromStore('')).doc_count)
    })
  }
})
