// Tiles with twice the pixels: @2x.
import assert from 'node:assert/strict'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { OPTIONS, token } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const SEEDS = { plain: 1, twin: 2, large: 3, lost: 4, small: 5, paired: 6 }
const image = (layer, time) => png(10 * SEEDS[layer] + (time === T1 ? 1 : 2))

onEachStore('a tile with twice the pixels', backend => {
  const own = useGateway(backend, {
    async fill (store) {
      await store.defineLayer('plain', { maxzoom: 1 })
      await store.defineLayer('paired', { maxzoom: 1, retina: 'twin' })
      await store.defineLayer('twin', { tileSize: 512, maxzoom: 1 })
      await store.defineLayer('large', { tileSize: 512, maxzoom: 1 })
      await store.defineLayer('lost', { retina: 'nowhere' })
      await store.defineLayer('small', { retina: 'plain' })
      for (const layer of Object.keys(SEEDS)) for (const time of [T1, T2]) {
        await store.write([{ layer, z: 1, x: 1, y: 0, time, bytes: image(layer, time) }])
      }
    }
  })
  const get = (path, options) => own.ask(path, options)

  it('comes from the retina layer of its layer, now and as of a time, in XYZ and TMS', async () => {
    for (const [path, time] of [['/paired/1/1/0@2x.png', T2], ['/paired@2023/1/1/0@2x.png', T1],
      ['/tms/1.0.0/paired/1/1/1@2x.png', T2], ['/%70aired/1/1/0%402x.png', T2]]) {
      const { status, headers, body } = await get(path)
      assert.deepEqual([status, headers['content-type'], headers['x-tilecouch-time'], body.equals(image('twin', time))],
        [200, 'image/png', time, true], path)
      assert.match(headers['cache-control'], /^public, max-age=300/)
    }
    assert.ok((await get('/paired/1/1/0.png')).body.equals(image('paired', T2)),
      'without @2x it is the tile of the layer')
  })

  it('is the tile itself when the layer has tiles of 512 pixels', async () => {
    const [plain, large] = await Promise.all(['', '@2x'].map(suffix => get(`/large/1/1/0${suffix}.png`)))
    assert.deepEqual([large.status, large.headers.etag, large.body.equals(plain.body)], [200, plain.headers.etag, true])
    assert.equal((await get('/large/1/1/0@2x.png', { headers: { 'if-none-match': plain.headers.etag } })).status, 304)
    assert.deepEqual([(await get('/large/1/1/0@2x.png', { method: 'HEAD' })).body.length,
      (await get('/large/1/1/0@2x.png', { headers: { range: 'bytes=0-9' } })).status], [0, 206])
  })

  it('is refused with a reason when no layer has large tiles for it', async () => {
    for (const layer of ['plain', 'lost', 'small']) {
      const { status, json } = await get(`/${layer}/1/1/0@2x.png`)
      assert.deepEqual([status, json.error], [404, 'NO_RETINA'], layer)
      assert.ok(json.reason.includes(`"${layer}"`) && json.advice.includes('--retina'), json.reason)
    }
    const table = [['/nope/1/1/0@2x.png', 404, 'LAYER_NOT_FOUND'], ['/large/1/0/0@2x.png', 404, 'TILE_NOT_FOUND'], [
      '/paired/1/1/0@2x.json', 400, 'BAD_TILE'
    ], ['/paired/1/1/0@3x.png', 400, 'BAD_TILE'], ['/paired/1/2/0@2x.png', 400, 'BAD_TILE']]
    for (const [path, status, code] of table) {
      assert.deepEqual([(await get(path)).status, (await get(path)).json.error], [status, code], path)
    }
  })

  it('has its address in TileJSON', async () => {
    const { url } = own.gateway
    assert.deepEqual((await get('/paired@2023.json')).json.retina, [`${url}/paired@2023/{z}/{x}/{y}@2x.png`])
    assert.deepEqual((await get('/large.json')).json.retina, [`${url}/large/{z}/{x}/{y}@2x.png`])
    assert.equal((await get('/plain.json')).json.retina, undefined)
  })

  it('needs a token for each of its two layers that is private', async () => {
    for (const [hidden, tokens] of [[['twin'], ['twin']], [['paired'], ['paired']],
      [['paired', 'twin'], ['paired', 'twin']]]) {
      const gateway = await own.another({ ...OPTIONS, privateLayers: hidden })
      assert.equal((await ask(gateway.url, '/paired/1/1/0@2x.png')).status, 401, `${hidden}`)
      const { status, headers } = await ask(gateway.url, `/paired/1/1/0@2x.png?token=${token(tokens)}`)
      assert.deepEqual([status, /^private/.test(headers['cache-control'])], [200, true], `${hidden}`)
    }
    const gateway = await own.another({ ...OPTIONS, privateLayers: ['paired', 'twin'] })
    assert.equal((await ask(gateway.url, `/paired/1/1/0@2x.png?token=${token(['paired'])}`)).status, 403)
  })
})
