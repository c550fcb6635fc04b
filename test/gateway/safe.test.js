// Tests that documents of a store cannot act as pages of the gateway. Tiles are sent only as images, and browsers
// render no answer as a page.
import assert from 'node:assert/strict'
import { VIEWER_CSP } from '../../loader/couchapp/policy.js'
import { onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask, post, speak } from '../support/gateway/wire.js'

const PAGE = '<script>document.title = "here I am"</script>'
const TYPES = ['text/html', 'image/svg+xml', 'application/xhtml+xml',
  'text/xml', 'application/javascript', 'image/png; x="', 'TEXT/HTML']

onEachStore('a store without a validation function', backend => {
  const fixture = useGateway(backend, { options: { opsPort: 0 } })
  const get = fixture.ask

  before(async () => {
    const { store, url } = fixture
    const put = (path, value, method = 'PUT') => request(`${url}/${path}`,
      { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) })
    const { validate_doc_update: validation, ...design } = await (await request(`${url}/_design/tiles`)).json()
    assert.equal((await put('_design/tiles', design)).status, 201)
    await store.defineLayer('osm', { name: 'OSM', format: 'png', minzoom: 4, maxzoom: 4 })
    await store.write([{ layer: 'osm', z: 4, x: 15, y: 0, time: '2023-01-01T00:00:00Z', bytes: png(1) }])
    const tile = (id, type, data) => ({
      _id: id, type: 'tile', layer: 'osm', z: 4, x: +id.split(':')[2], y: 0,
      time: id.split('@')[1] ?? '2024-01-01T00:00:00Z', current: !id.includes('@'),
      _attachments: { tile: { content_type: type, data: Buffer.from(data).toString('base64') } }
    })
    const docs = [
      ...TYPES.flatMap((type, x) => ['', '@2023-01-01T00:00:00Z'].map(time => tile(`osm:4:${x}:0${time}`, type, PAGE))),
      tile('osm:4:10:0', 'image/png', PAGE),
      tile('osm:4:11:0', 'text/html', png(7))
    ]
    assert.equal((await put('_bulk_docs', { docs }, 'POST')).status, 201)
  })

  it('makes the gateway answer with images alone, whatever type a document names', async () => {
    for (const [x, type] of TYPES.entries()) {
      for (const path of [`/osm/4/${x}/0.png`, `/osm/4/${x}/0.html`, `/osm@2023/4/${x}/0.png`,
        `/osm@2024-06/4/${x}/0.png`, `/tms/1.0.0/osm/4/${x}/15.png`,
        `/wmts/osm/default/GoogleMapsCompatible/4/0/${x}.png`]) {
        for (let turn = 0; turn < 2; turn++) { // first from the store, then from memory
          const { status, headers, json } = await get(path)
          assert.deepEqual([status, json.error, headers['content-type']],
            [422, 'UNKNOWN_IMAGE', 'application/json'], `${path} ${type}`)
        }
      }
      assert.equal((await get(`/osm/4/${x}/0.png`, { method: 'HEAD' })).status, 422)
      assert.equal((await get(`/osm/4/${x}/0.png`, { headers: { 'if-none-match': '*' } })).status, 422)
    }
    const mislabelled = await get('/osm/4/10/0.png')
    const { 'content-type': type, 'x-content-type-options': sniff, 'content-security-policy': policy } =
      mislabelled.headers
    assert.deepEqual([mislabelled.status, type, sniff, policy], [200, 'image/png', 'nosniff', 'sandbox'],
      'browsers take it for a broken image')
    const image = await get('/osm/4/11/0.png')
    assert.deepEqual([image.status, image.headers['content-type'], image.body],
      [200, 'image/png', png(7)], 'the bytes say what it is')
  })

  it('gets answers that no browser takes for a page', async () => {
    const { rev } = (await get('/osm/4/15/0.json')).json.versions?.[0] ?? {}
    const { _rev } = (await get('/db/osm:4:0:0')).json
    const paths = [
      '/osm/4/15/0.png', '/osm/4/14/0.png', '/osm/4/0/0.png', '/osm@2023/4/15/0.png', '/osm.json', '/osm/4/15/0.json',
      '/osm/times.json', '/no/4/0/0.png', '/Osm/1/0/0.png', '/%ff', '/no-such-file.js', '/metrics', '/health',
      '/wmts/1.0.0/WMTSCapabilities.xml', '/wmts?SERVICE=x', '/wmts/osm/default/GoogleMapsCompatible/4/0/15.png',
      '/db', '/db/osm:4:15:0', '/db/osm:4:0:0/tile', `/db/osm:4:0:0/tile?rev=${_rev}`,
      '/db/nothing', '/db/_all_docs?limit=1', '/db/_find',
      ...(rev ? [`/db/osm:4:15:0/tile?rev=${rev}`] : [])
    ]
    const check = (answer, name, policy = 'sandbox') => assert.deepEqual([
      answer.headers['x-content-type-options'], answer.headers['content-security-policy']
    ], ['nosniff', policy], `${name}: ${answer.status}`)
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'POST']) {
        check(await get(path, { method }), `${method} ${path}`)
      }
      const { headers, status } = await get(path)
      if (status === 200 && headers.etag) {
        check(await get(path, { headers: { 'if-none-match': headers.etag } }), `304 ${path}`)
      }
    }
    check(await post(fixture.gateway.url, '/db/_all_docs', { keys: ['osm:4:0:0'] }), 'POST')
    for (const path of ['/', '/layers', '/tilecouch.js', '/leaflet.css']) check(await get(path), path, VIEWER_CSP)
    for (const path of ['/metrics', '/health', '/osm.json']) {
      check(await ask(fixture.gateway.opsUrl, path), `ops ${path}`)
    }
    assert.match(await speak(fixture.gateway.url, 'no HTTP\r\n\r\n'), /X-Content-Type-Options: nosniff/)
  })
})
