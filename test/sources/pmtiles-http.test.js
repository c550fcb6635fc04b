// PMTiles on a web server: the requests for parts of the file, and errors of the server.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { gzipSync } from 'node:zlib'
import { Blocks, blockDefaults, remoteDefaults } from '../../loader/formats/pmtiles/remote.js'
import { tilesOf, useDefaults } from '../support/memory-source.js'
import { inOrder, openAs, refuses, tilesByName, useRangeServer, withArchive } from '../support/archives.js'
import { directory, writeArchive } from './archive-writers.js'

const SIDE = 32 // tiles across

describe('PMTiles on a web server', () => {
  const server = useRangeServer()
  useDefaults(remoteDefaults, { backoff: 1 })

  // 1024 tiles of 10 kB, in leaves
  const tiles = Object.fromEntries(
    Array.from({ length: SIDE ** 2 }, (_, index) => [`5/${index >> 5}/${index & 31}`, `${index} `.padEnd(10000, '.')])
  )
  const archive = writeArchive({ tiles, leaf: 100, metadata: { name: 'City' } })
  beforeEach(() => { server.file = archive })

  const assertRefused = (words, code = 'SOURCE_UNREADABLE') => refuses('pmtiles', server.url, code, words)
  const sumFetchedBytes = () => server.requests.reduce((sum, { from, to }) => sum + to - from, 0)

  /** Begins a correct answer to a range request. */
  const begin = (response, from, to) => response.writeHead(206,
    { etag: '"1"', 'content-range': `bytes ${from}-${to - 1}/${archive.length}`, 'content-length': to - from })

  /** Answers every request. @param {Record<string, string>} [headers] */
  function answerWith (status, headers, body) {
    server.answer = (_, response) => {
      response.writeHead(status, headers).end(body)
      return true
    }
  }

  it('are read in few requests, each byte about once', () => withArchive('pmtiles', server.url, {}, async source => {
    assert.deepEqual(await tilesByName(source), tiles)
    assert.deepEqual(await tilesOf(source), inOrder(Object.keys(tiles)))
    assert.equal(source.name, 'city.pmtiles')
    assert.equal(source.fields.name, 'City')
    assert.ok(server.requests.length < 8, `${server.requests.length} requests`)
    assert.ok(sumFetchedBytes() < 1.1 * archive.length, `${sumFetchedBytes()} bytes of ${archive.length}`)
  }))

  it('are fetched only for the requested area', () => withArchive('pmtiles', server.url, {
    bbox: [1, -10, 20, -1]
  }, async source => {
    const contentByTile = await tilesByName(source)
    assert.ok(Object.keys(contentByTile).length > 1)
    for (const [name, bytes] of Object.entries(contentByTile)) assert.equal(bytes, tiles[name])
    assert.ok(sumFetchedBytes() < archive.length / 8, `${sumFetchedBytes()} bytes of ${archive.length}`)
  }))

  it('are read when the file is smaller than the first request', async () => {
    server.file = writeArchive({ tiles: { '0/0/0': 'a', '1/0/1': 'b' } })
    await withArchive('pmtiles', server.url, {},
      async source => assert.deepEqual(await tilesByName(source), { '0/0/0': 'a', '1/0/1': 'b' }))
  })

  it('fail when the file is replaced during the load', async () => {
    for (const etag of ['"1"', 'W/"1"', undefined]) {
      server.etag = etag
      let count = 0
      server.answer = () => {
        if (++count === 3) {
          server.file = writeArchive({ tiles: { ...tiles, '5/0/0': 'other'.repeat(2000), '6/0/0': 'more' }, leaf: 100 })
          if (etag) server.etag = etag.replace('1', '2')
        }
      }
      await assertRefused(/another file was put in its place/)
      server.file = archive
    }
  })

  it('are requested with the ETag of the first answer', () => withArchive('pmtiles', server.url, {}, async () => {
    const [first, ...laterRequests] = server.requests
    assert.equal(first.headers['if-match'], undefined)
    assert.ok(laterRequests.length)
    for (const { headers } of laterRequests) assert.equal(headers['if-match'], '"1"')
    for (const { headers } of server.requests) assert.match(headers['user-agent'], /^tilecouch\//)
  }))

  it('are refused when the server does not send parts of files', async () => {
    answerWith(200, { 'content-length': `${archive.length}` }, archive)
    await assertRefused(/does not send parts of files \(range requests\): fetch it first/)
    server.answer = (request, response, range) => {
      server.send(response, range, { 'content-encoding': 'gzip' }); return true
    }
    await assertRefused(/does not send parts/)
  })

  it('are refused when the server sends another part, or does not name the part', async () => {
    for (const part of ['bytes 1-16384/20000', `bytes 0-16383/100`,
      'bytes 0-99999999999999999999/*', 'bytes */20000', 'lines 1-2', '']) {
      answerWith(206, { 'content-range': part }, archive.subarray(0, 16384))
      await assertRefused(/another part|without a range/)
    }
  })

  it('are resumed after a lost connection, a short answer, or a busy server', async () => {
    const attemptsByOffset = {}
    server.answer = (request, response, { from, to }) => {
      const attempt = attemptsByOffset[from] = (attemptsByOffset[from] ?? 0) + 1
      if (attempt === 1) response.writeHead(503).end('busy')
      else if (attempt === 2) request.socket.destroy()
      else if (attempt === 3) {
        const end = Math.min(to, archive.length)
        const half = archive.subarray(from, from + Math.ceil((end - from) / 2))
        begin(response, from, end).write(half, () => request.socket.destroy())
      } else server.send(response, { from, to: Math.min(to, from + 200000) })
      return true
    }
    await withArchive('pmtiles', server.url, {}, async source => assert.deepEqual(await tilesByName(source), tiles))
    assert.ok(server.requests.length > 20)
  })

  it('are resumed after the server sent nothing for too long', async () => {
    remoteDefaults.timeout = 200
    let silent = 0
    server.answer = (request, response, { from, to }) => {
      if (from === 0 || silent++) return false
      begin(response, from, Math.min(to, archive.length)).write(archive.subarray(from, from + 100)) // then nothing
      return true
    }
    await withArchive('pmtiles', server.url, {}, async source => assert.deepEqual(await tilesByName(source), tiles))
    assert.ok(silent > 1)
  })

  it('fail when every repetition fails', async () => {
    answerWith(500)
    await assertRefused(/the server answered 500/)
    assert.equal(server.requests.length, remoteDefaults.attempts)
    server.answer = request => { request.socket.destroy(); return true }
    await assertRefused(/the connection failed/)
    await refuses('pmtiles', 'http://127.0.0.1:1/a.pmtiles', 'SOURCE_UNREADABLE', /connection was refused/)
  })

  it('fail without a repetition when they are missing or forbidden', async () => {
    for (const [status, code, words] of [[404, 'SOURCE_NOT_FOUND', /no such source/],
      [410, 'SOURCE_NOT_FOUND', /no such source/],
      [403, 'SOURCE_UNREADABLE', /another name, password or signature \(403\)/],
      [418, 'SOURCE_UNREADABLE', /answered 418/]]) {
      server.requests.length = 0
      answerWith(status)
      await assertRefused(words, code)
      assert.equal(server.requests.length, 1)
    }
  })

  it('are requested with user and password, and show neither these nor a signature', async () => {
    const secretUrl = server.url.replace('http://', 'http://ada:s3cr%2Ft@') + '?signature=c0ffee'
    await withArchive('pmtiles', secretUrl, {}, source => assert.equal(source.name, 'city.pmtiles'))
    assert.equal(server.requests[0].headers.authorization, `Basic ${Buffer.from('ada:s3cr/t').toString('base64')}`)
    assert.equal(server.requests[0].url, '/maps/city.pmtiles?signature=c0ffee')
    answerWith(404)
    await assert.rejects(openAs('pmtiles', secretUrl), error => {
      assert.doesNotMatch(JSON.stringify([error, error.message, error.details, error.stack]), /s3cr|ada|c0ffee/)
      return true
    })
    server.file = Buffer.from('<html>')
    server.answer = undefined
    await assert.rejects(openAs('pmtiles', secretUrl),
      error => error.code === 'ARCHIVE_INVALID' && !/s3cr|c0ffee/.test(JSON.stringify([error.message, error.details])))
  })

  it('are read through redirects without the password, and fail when redirects do not end', async () => {
    server.answer = (request, response) => {
      if (request.url.startsWith('/maps/')) {
        response.writeHead(302, { location: '/new/city.pmtiles' }).end(); return true
      }
    }
    await withArchive('pmtiles', server.url, {},
      async source => assert.equal((await tilesOf(source)).length, SIDE ** 2))
    const otherUrl = server.url.replace('127.0.0.1', 'localhost').replace('/maps/', '/new/')
    server.answer = (request, response) => {
      if (request.url.startsWith('/maps/')) { response.writeHead(307, { location: otherUrl }).end(); return true }
      assert.equal(request.headers.authorization, undefined)
    }
    await withArchive('pmtiles', server.url.replace('http://', 'http://a:b@'), {}, () => {})
    answerWith(301, { location: '/maps/city.pmtiles' })
    await assertRefused(/redirects again and again/)
    answerWith(301, { location: 'file:///etc/passwd' })
    await assertRefused(/no web address/)
  })

  it('are refused when they are cut off or empty', async () => {
    server.file = archive.subarray(0, 50000)
    await assertRefused(/cut off/, 'ARCHIVE_INVALID')
    server.file = Buffer.alloc(0)
    await assertRefused(/answered 416/)
  })

  /** Answers as if the file had more bytes at its end, all of them zero. */
  const answerAsLonger = (file, extraBytes) => (request, response, { from, to }) => {
    const part = Buffer.alloc(to - from)
    file.subarray(from, to).copy(part)
    response.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${file.length + extraBytes}` }).end(part)
    return true
  }

  it('are not fetched when the disk has no room for them', async () => {
    const count = 100000
    const length = 60e6
    const header = { dataLength: count * length, entries: 0, addressed: 0, packing: 2 }
    const leaves = gzipSync(directory(
      Array.from({ length: count }, (_, index) => ({ id: 1e6 + index, run: 1, offset: index * length, length }))
    ))
    const file =
      writeArchive({ root: gzipSync(directory([{ id: 0, run: 0, offset: 0, length: leaves.length }])), leaves, header })
    server.answer = answerAsLonger(file, count * length)
    await assertRefused(/no space left/, 'DISK_FULL')
    assert.ok(server.requests.length < 5)
  })

  it('are not fetched when a tile is too long', async () => {
    const file = writeArchive({ root: gzipSync(directory([{ id: 5, run: 1, offset: 0, length: 2 ** 45 }])), header: {
      dataLength: 2 ** 45, entries: 0, addressed: 0
    } })
    server.answer = answerAsLonger(file, 2 ** 45)
    await assertRefused(/2\/0\/0 has 35184372088832 bytes/, 'ARCHIVE_INVALID')
    assert.ok(server.requests.length < 3)
  })

  it('stop at once on abort, and leave no temporary file', async () => {
    const stop = new AbortController()
    server.answer = () => { if (server.requests.length === 3) stop.abort(); return server.requests.length >= 3 }
    await refuses('pmtiles', server.url, 'ABORTED', /stopped/, { signal: stop.signal })
    assert.deepEqual(readdirSync(tmpdir()).filter(name => name.startsWith(`tilecouch-spool-${process.pid}-`)), [])
  })
})

const { size, gap, run } = blockDefaults

describe('parts of a long file', () => {
  const rangesOf = (length, parts) => {
    const blocks = new Blocks(length)
    for (const [offset, bytes] of parts) blocks.add(offset, bytes)
    const ranges = [...blocks.ranges()]
    assert.equal(blocks.bytes, ranges.reduce((sum, { from, to }) => sum + to - from, 0))
    return ranges.map(({ from, to }) => [from, to])
  }

  it('are fetched in blocks, in order, each block once', () => {
    assert.deepEqual(rangesOf(100 * size, [[50 * size, 1], [0, 1], [size - 1, 1], [50 * size + 7, 100]]),
      [[0, size], [50 * size, 51 * size]])
    assert.deepEqual(rangesOf(100 * size, []), [])
    assert.deepEqual(rangesOf(0, []), [])
  })

  it('that are near one another are fetched in one request', () => {
    assert.deepEqual(rangesOf(100 * size, [[0, 1], [(gap + 1) * size, 1]]), [[0, (gap + 2) * size]])
    assert.deepEqual(rangesOf(100 * size, [[0, 1], [(gap + 2) * size, 1]]),
      [[0, size], [(gap + 2) * size, (gap + 3) * size]])
  })

  it('may span two blocks, and end with the file', () => {
    assert.deepEqual(rangesOf(2 * size + 5, [[size - 1, 2]]), [[0, 2 * size]])
    assert.deepEqual(rangesOf(2 * size + 5, [[2 * size, 5]]), [[2 * size, 2 * size + 5]])
  })

  it('are requested in pieces of limited length', () => {
    const length = 3 * run + 5
    const ranges = rangesOf(length, [[0, length]])
    assert.equal(ranges[0][0], 0)
    assert.equal(ranges.at(-1)?.[1], length)
    for (const [index, [from, to]] of ranges.entries()) {
      assert.ok(to - from <= run)
      if (index) assert.equal(from, ranges[index - 1][1])
    }
  })

  it('of a file of any length need little memory', () => {
    const length = 2 ** 50
    const [[from, to]] = rangesOf(length, [[2 ** 49, 1000]])
    assert.ok(from <= 2 ** 49 && to >= 2 ** 49 + 1000 && to - from < 1e9)
  })
})
