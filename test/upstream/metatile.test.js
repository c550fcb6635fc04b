// Tests how pictures of an upstream are cut into tiles, and that secrets for an upstream go only to its host.
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { inspectTile } from '../../core/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { Secrets } from '../../loader/load/upstream/secrets.js'
import { pixelsOf, startUpstream, tilePixels } from '../support/upstream-server.js'
import { codeOf, useUpstream } from './support.js'

for (const size of [256, 512]) {
  describe(`metatiles of tiles of ${size} pixels`, () => {
    const suite = useUpstream({ tileSize: size })
    const open = (settings, layer) => suite.open({ type: 'wms', ...settings }, { tileSize: size, ...layer })

    /** Checks that every tile of the answer has exactly the pixels that the upstream draws for it. */
    async function checkPixels (answer, epoch = 0) {
      assert.equal(answer.kind, 'tiles')
      for (const { z, x, y, bytes, type } of answer.tiles) {
        assert.equal(inspectTile(bytes).type, type)
        assert.equal(Buffer.compare(await pixelsOf(bytes), tilePixels(z, x, y, { epoch, size })), 0, `${z}/${x}/${y}`)
      }
      return answer.tiles
    }

    it('are cut to the pixel: in the middle, at edges and corners of the world, ' +
      'and when the world is smaller than a metatile', async () => {
      const cases = [[4, 5, 6, 16], [4, 0, 0, 16], [4, 15, 15, 16],
        [4, 15, 3, 16], [4, 3, 15, 16], [1, 1, 0, 4], [0, 0, 0, 1], [5, 31, 0, 16]]
      for (const [z, x, y, count] of size === 256 ? cases : cases.slice(0, 2)) {
        const upstream = open()
        const tiles = await checkPixels(await upstream.fetch({ z, x, y }))
        assert.deepEqual(tiles.map(tile => ({ z: tile.z, x: tile.x, y: tile.y })), upstream.groupOf(z, x, y).tiles)
        assert.equal(tiles.length, count, `${z}/${x}/${y}`)
      }
      assert.deepEqual(suite.server.requests.map(({ kind }) => kind).filter(kind => kind !== 'wms'), [])
    })

    it('are cut to the pixel for every size of metatile and buffer, in both versions', async () => {
      for (const [metatile, buffer, version] of [
        [1, 0, '1.1.1'], [1, 1, '1.3.0'], [2, 0, '1.1.1'], [3, 17, '1.3.0'], [2, 256, '1.1.1']
      ]) {
        const tiles = await checkPixels(await open({ metatile, buffer, version }).fetch({ z: 6, x: 13, y: 22 }))
        assert.equal(tiles.length, metatile ** 2)
        const { view } = suite.server.requests.at(-1) ?? {}
        assert.equal(view?.width, metatile * size + 2 * buffer)
      }
    })
  })
}

describe('metatiles', () => {
  const suite = useUpstream()
  const open = (settings, layer, more) => suite.open({ type: 'wms', ...settings }, layer, more)

  it('request no pixels outside the world, and have no tiles outside the bounds', async () => {
    const upstream = open({ buffer: 100 }, { bounds: [-180, 60, -100, 85] })
    const answer = await upstream.fetch({ z: 3, x: 0, y: 0 })
    assert.ok(answer.kind === 'tiles')
    assert.deepEqual(answer.tiles.map(({ x, y }) => `${x}/${y}`).sort(), ['0/0', '0/1', '0/2', '1/0', '1/1', '1/2'])
    assert.deepEqual(suite.server.requests[0].view, { z: 3, px: 0, py: 0, width: 612, height: 868 })
    assert.equal((await upstream.fetch({ z: 3, x: 2, y: 0 })).kind, 'missing')
    assert.equal(suite.server.requests.length, 1)
  })

  it('come in the format of the upstream, or else of the layer', async () => {
    for (const [settings, layer, expectedType] of [
      [{}, {}, 'image/png'], [{}, { format: 'jpg' }, 'image/jpeg'],
      [{ format: 'image/webp' }, { format: 'png' }, 'image/webp'], [{ format: 'image/jpeg' }, {}, 'image/jpeg']
    ]) {
      const answer = await open({ metatile: 2, buffer: 8, ...settings }, layer).fetch({ z: 6, x: 13, y: 22 })
      assert.ok(answer.kind === 'tiles')
      assert.equal(suite.server.requests.at(-1)?.query.get('FORMAT'), expectedType)
      for (const { bytes, type } of answer.tiles) {
        assert.equal(type, expectedType)
        assert.equal(inspectTile(bytes).type, expectedType)
        const { width, height } = await sharp(bytes).metadata()
        assert.deepEqual([width, height], [256, 256])
      }
    }
  })

  it('keep palettes and transparency, pixel by pixel', async () => {
    const side = 2 * 256
    const colours = Array.from({ length: 200 },
      (_, index) => [index * 37 % 256, index * 91 % 256, index * index % 256, index % 5 ? 255 : index])
    const pixels =
      Buffer.from(Array.from({ length: side * side }, (_, i) => colours[(i * 7919 + (i >> 9) * 31) % 200]).flat())
    for (const palette of [true, false]) {
      const body = await sharp(pixels, { raw: { width: side, height: side, channels: 4 } })
        .png({ palette, dither: 0 }).toBuffer()
      const picture = await sharp(body).ensureAlpha().raw().toBuffer()
      suite.server.behave({ body })
      const answer = await open({ metatile: 2, buffer: 0 }).fetch({ z: 6, x: 12, y: 22 })
      assert.ok(answer.kind === 'tiles')
      for (const { x, y, bytes } of answer.tiles) {
        const expected = await sharp(picture, { raw: { width: side, height: side, channels: 4 } })
          .extract({ left: (x - 12) * 256, top: (y - 22) * 256, width: 256, height: 256 }).raw().toBuffer()
        assert.equal(Buffer.compare(await sharp(bytes).ensureAlpha().raw().toBuffer(), expected),
          0, `palette ${palette}, ${x}/${y}`)
        assert.equal(Boolean((await sharp(bytes).metadata()).isPalette), palette)
      }
    }
  })

  it('are cut from grey, 16-bit and interlaced pictures', async () => {
    const grey = sharp(Buffer.from(Array.from({ length: 512 * 512 }, (_, index) => index % 251)),
      { raw: { width: 512, height: 512, channels: 1 } })
    for (const body of [await grey.clone().png().toBuffer(), await grey.clone().toColourspace('b-w').png().toBuffer(),
      await grey.clone().toColourspace('rgb16').png().toBuffer(),
      await grey.clone().png({ progressive: true }).toBuffer()]) {
      suite.server.behave({ body })
      const answer = await open({ metatile: 2, buffer: 0 }).fetch({ z: 6, x: 12, y: 22 })
      assert.ok(answer.kind === 'tiles')
      const [first] = answer.tiles
      const [r, g, b] = [...(await pixelsOf(first.bytes)).subarray(300, 303)]
      assert.ok([r, g, b].every(value => value === 100), `${[r, g, b]}`)
    }
  })

  it('fail for a picture of another size, a damaged picture, and an exception, with its text', async () => {
    const small = await sharp({ create: { width: 100, height: 100, channels: 3, background: '#abcdef' } })
      .png().toBuffer()
    suite.server.behave({ body: small })
    await assert.rejects(open().fetch({ z: 4, x: 5, y: 5 }),
      { code: 'UPSTREAM_FAILED', message: /100 x 100 pixels, not 1152 x 1152/ })
    for (const truncate of [1, 1000, 3000]) {
      suite.server.behave({ truncate })
      await assert.rejects(open().fetch({ z: 4, x: 5, y: 5 }), { code: 'UPSTREAM_FAILED' })
    }
    // images with complete frames, whose data is damaged or cut off
    const noise = sharp(Buffer.from(Array.from({ length: 512 * 512 * 3 }, (_, i) => (i * 2654435761 >>> 13) & 255)),
      { raw: { width: 512, height: 512, channels: 3 } })
    const [png, jpeg] = [await noise.png().toBuffer(), await noise.jpeg().toBuffer()]
    const rotten = Buffer.from(png).fill(0x55, png.length >> 1, png.length - 40)
    const short = Buffer.concat([jpeg.subarray(0, jpeg.length >> 1), Buffer.from([0xff, 0xd9])])
    for (const [body, expectedCode] of [[png, undefined], [jpeg, undefined],
      [rotten, 'UPSTREAM_FAILED'], [short, 'UPSTREAM_FAILED']]) {
      suite.server.behave({ body })
      assert.equal(await codeOf(open({ metatile: 2, buffer: 0 }).fetch({ z: 4, x: 5, y: 5 })), expectedCode)
    }
    suite.server.behave()
    await assert.rejects(open({ url: `${suite.server.url}/wms`, params: { REQUEST_: '' }, srs: 'EPSG:900913' })
      .fetch({ z: 4, x: 5, y: 5 }), { code: 'UPSTREAM_FAILED', message: /it says Invalid: bad SRS or CRS/ })
  })

  it('with the same bytes are unchanged, also without an ETag; missing ones are remembered as a whole', async () => {
    suite.server.behave({ etag: false })
    const upstream = open({ metatile: 2 })
    const first = await upstream.fetch({ z: 6, x: 13, y: 22 })
    assert.ok(first.kind === 'tiles' && first.origin.digest && !first.origin.etag)
    const repeated = await upstream.fetch({ z: 6, x: 12, y: 23 }, { validators: first.origin })
    assert.ok(repeated.kind === 'unchanged')
    assert.deepEqual(repeated.tiles, upstream.groupOf(6, 13, 22).tiles)
    suite.server.epoch++
    assert.equal((await upstream.fetch({ z: 6, x: 12, y: 23 }, { validators: first.origin })).kind, 'tiles')
    suite.server.behave({ status: 404 })
    suite.server.requests.length = 0
    for (const x of [4, 5]) assert.equal((await upstream.fetch({ z: 4, x, y: 5 })).kind, 'missing')
    assert.equal(suite.server.requests.length, 1)
  })
})

const TILE = { z: 1, x: 0, y: 0 }

describe('a secret for an upstream', () => {
  const suite = useUpstream()
  const secrets = () => ({ [suite.server.url]: { Authorization: 'Bearer hunter2-hunter2', '?key': 'k3y/with space' } })
  const textOf = error => [error.message, error.stack, JSON.stringify(error), JSON.stringify(error.details)].join(' ')

  it('goes to its host, as headers and as parameters, and to no other host', async () => {
    await suite.open({ url: `${suite.server.url}/xyz/{z}/{x}/{y}.png?style=a` }, {}, { secrets: secrets() }).fetch(TILE)
    const [{ headers, query }] = suite.server.asked
    assert.equal(headers.authorization, 'Bearer hunter2-hunter2')
    assert.deepEqual([query.get('key'), query.get('style')], ['k3y/with space', 'a'])
    const otherSecrets = { 'other.example.org': { Authorization: 'x' }, '127.0.0.1': { Authorization: 'x' } }
    await suite.open({}, {}, { secrets: otherSecrets }).fetch(TILE)
    assert.equal(suite.server.asked[1].headers.authorization, undefined)
  })

  it('does not follow a redirect to another host, nor to another port', async () => {
    const other = await startUpstream()
    try {
      for (const target of [suite.server.url.replace('127.0.0.1', 'localhost'), other.url]) {
        suite.server.requests.length = 0
        suite.server.behave({ redirect: request => `${target}${request.url.split('?')[0]}`,
          only: request => request.headers.host === suite.server.host })
        assert.equal((await suite.open({}, {}, { secrets: secrets() }).fetch(TILE)).kind, 'tiles')
        const [first, second] = [...suite.server.asked, ...other.asked]
        assert.ok(first.headers.authorization && first.query.has('key'))
        assert.deepEqual([second.headers.authorization, second.query.has('key')], [undefined, false])
      }
    } finally {
      await other.close()
    }
  })

  it('goes over http only when its key names http, and a refusal explains this', async () => {
    suite.server.behave({ status: ({ headers }) => headers['x-key'] ? undefined : 401 })
    const open = key => suite.open({ negative: 0 }, {}, { secrets: { [key]: { 'X-Key': 'hunter2' } } })
    for (const key of [suite.server.url, `${suite.server.url}/`, suite.server.url.toUpperCase()]) {
      assert.equal((await open(key).fetch(TILE)).kind, 'tiles', key)
    }
    suite.server.requests.length = 0
    await assert.rejects(open(suite.server.host).fetch(TILE),
      { code: 'UPSTREAM_REFUSED', message: /go to https alone, unless their key is http:\/\/127\.0\.0\.1:\d+$/ })
    await assert.rejects(open('other.example.org').fetch(TILE),
      { code: 'UPSTREAM_REFUSED', message: /osm:1:0:0$/ })
    assert.ok(suite.server.asked.every(({ headers }) => headers['x-key'] === undefined))
    assert.equal(suite.server.asked.length, 2)
  })

  it('is for one origin: a host and port, over https unless the key names http', () => {
    const isSentTo = (key, ...urls) =>
      urls.map(url => 'x-key' in new Secrets({ [key]: { 'X-Key': 'hunter2' } }).for(new URL(url)).headers)
    assert.deepEqual(
      isSentTo('tiles.example.org', 'https://tiles.example.org/1', 'https://TILES.example.org:443/',
        'http://tiles.example.org/', 'https://tiles.example.org:8443/',
        'https://a.tiles.example.org/', 'https://tiles.example.org./'), [true, true, false, false, false, false]
    )
    assert.deepEqual(isSentTo('tiles.example.org:8443', 'https://tiles.example.org:8443/',
      'http://tiles.example.org:8443/', 'https://tiles.example.org/'), [true, false, false])
    assert.deepEqual(isSentTo('http://10.0.0.1:8080', 'http://10.0.0.1:8080/',
      'https://10.0.0.1:8080/', 'http://10.0.0.1/'), [true, false, false])
    assert.deepEqual(isSentTo('https://[::1]:8443', 'https://[::1]:8443/', 'http://[::1]:8443/'), [true, false])
  })

  it('is in no answer and in no error, even when the server repeats it', async () => {
    const upstream = suite.open({}, {}, { secrets: secrets() })
    const answer = await upstream.fetch(TILE)
    assert.ok(answer.kind === 'tiles' && !/hunter2|k3y/.test(JSON.stringify(answer.origin)))
    for (const behaviour of [
      { body: 'hunter2-hunter2' }, { body: `${'.'.repeat(55)}hunter2-hunter2` },
      { body: 'k3y/with space' }, { body: 'k3y%2Fwith%20space' },
      { body: '<ServiceException>no such key: Bearer hunter2-hunter2 k3y/with space</ServiceException>' },
      { body: 'x', type: 'text/hunter2-hunter2' }, { status: 401 },
      { status: 500 }, { cut: true }, { never: true }, { redirect: 'hunter2-hunter2://x' }
    ]) {
      suite.server.behave(behaviour)
      const error = await suite.open({ timeout: 0.3 }, {}, { secrets: secrets() }).fetch(TILE).catch(thrown => thrown)
      assert.match(error.code, /^UPSTREAM_/)
      assert.ok(!/hunter2|k3y/.test(textOf(error)), textOf(error))
    }
    // the server repeats the decoded password
    suite.server.behave({ body: 'no user maps with the password hunter2:x' })
    const basic = { [suite.server.url]: { Authorization: `Basic ${Buffer.from('maps:hunter2:x').toString('base64')}` } }
    await assert.rejects(suite.open({}, {}, { secrets: basic }).fetch(TILE),
      error => error.code === 'UPSTREAM_FAILED' && !/hunter2/.test(textOf(error)))
  })

  it('is refused when it is invalid, and the error does not repeat it', () => {
    for (const bad of [{ 'h/path': { A: 'hunter2' } }, { 'http://h/path': { A: 'hunter2' } },
      { 'ftp://h': { A: 'hunter2' } }, { 'me@h': { A: 'hunter2' } }, { h: { 'A B': 'hunter2' } },
      { h: { A: 'hunter2\r\nB: c' } }, { h: { A: 5 } }, { h: 'hunter2' }, { h: { '?': 'hunter2' } }]) {
      assert.throws(() => suite.open({}, {}, { secrets: bad }),
        error => error.code === 'BAD_OPTION' && !textOf(error).includes('hunter2'))
    }
  })

  it('that is wrong is not sent again for a while', async () => {
    for (const status of [401, 403]) {
      suite.server.requests.length = 0
      suite.server.behave({ status })
      const upstream = suite.open({ negative: 0.5 * TIME_FACTOR })
      for (let time = 0; time < 5; time++) {
        await assert.rejects(upstream.fetch(TILE),
          { code: 'UPSTREAM_REFUSED', message: new RegExp(`answered ${status} for osm:1:0:0`) })
      }
      assert.equal(suite.server.asked.length, 1)
      assert.equal(upstream.state().circuit, 'closed', 'it is there, and answers')
      suite.server.behave()
      await until(async () => await codeOf(upstream.fetch(TILE)) === undefined, { what: 'another try' })
    }
  })
})
