// Figures need a quiet machine. These tests check the rest: a wrong answer gives no figure, and figures are judged as
// documented.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Agent } from 'undici'
import { checkAnswers, checkSample, etagsOf } from '../../bench/serve/check.js'
import { CLIENTS, runNodeClient } from '../../bench/serve/node-client.js'
import { findProgram, outputOf, startProgram } from '../../bench/programs/program.js'
import { findWrk, parseResult, runWrk, wrkVersion, writeList } from '../../bench/programs/wrk.js'
import { freePort } from '../../bench/wait.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'
import { startServer } from '../support/server.js'
import { AS_OF, LAYER, LENGTH as TILE_LENGTH, NEW, OLD, bytesOf, placesOf, shuffled,
  versions, writeMbtiles, writeTree, zipf } from '../../bench/block.js'
import { configuration } from '../../bench/programs/mapproxy.js'
import { filesConf, mainConf, proxyCacheConf, readProxyCacheConf } from '../../bench/programs/nginx.js'
import { openSource, parsePeriod } from '../../loader/index.js'

const LENGTH = 10_000
const noErrors = { connect: 0, read: 0, write: 0, timeout: 0, status: 0 }
const sample =
  { requests: 1000, bytes: 1000 * (LENGTH + 300), seconds: 1, ms: { p50: 1, p90: 2, p99: 3, max: 4 }, errors: noErrors }

/** /N answers with LENGTH bytes and an ETag, /N/wrong with 500. */
async function startBodies () {
  const requests = []
  const { url, close } = await startServer((request, response) => {
    const [, number, isWrong] = (request.url ?? '').split('/')
    const etag = `"${number}"`
    requests.push({ url: request.url, etag: request.headers['if-none-match'], port: request.socket.remotePort })
    if (isWrong) response.writeHead(500).end('broken')
    else if (request.headers['if-none-match'] === etag) response.writeHead(304, { 'x-tilecouch-cache': 'hit' }).end()
    else response.writeHead(200, { etag, 'x-tilecouch-cache': 'hit' }).end(Buffer.alloc(LENGTH, number))
  })
  return { url, seen: requests, close }
}

describe('the benchmark of servers', () => {
  const folder = useFolder()
  let server

  before(async () => { server = await startBodies() })
  beforeEach(() => { server.seen.length = 0 })
  after(() => server.close())

  describe('counts no figure when', () => {
    const expected = { connections: 32, length: LENGTH }

    it('a request failed, or answers are too short, too long, missing, or tiles, unless the end cut them off', () => {
      checkSample('x', sample, expected)
      for (const kind of Object.keys(noErrors)) {
        assert.throws(() => checkSample('x', { ...sample, errors: { ...noErrors, [kind]: 1 } }, expected),
          new RegExp(`x: of 1000 requests 1 ${kind} errors`))
      }
      assert.throws(() => checkSample('x', { ...sample, bytes: 1000 * 300 }, expected), /300 bytes an answer/)
      assert.throws(() => checkSample('x', { ...sample, bytes: 1000 * 2 * LENGTH }, expected), /20000 bytes an answer/)
      assert.throws(() => checkSample('x', { ...sample, requests: 0, bytes: 0 }, expected), /no request/)
      const unchanged = { connections: 32, length: 0 }
      checkSample('x', { ...sample, bytes: 1000 * 300 }, unchanged)
      assert.throws(() => checkSample('x', sample, unchanged), /10300 bytes an answer/)
      checkSample('x', { ...sample, bytes: sample.bytes + 32 * LENGTH }, expected)
    })

    it('a byte, a status or a header of a compared answer is wrong', async () => {
      const expectedAnswers = {
        url: server.url, requests: [{ path: '/1' }, { path: '/2' }],
        bodies: [Buffer.alloc(LENGTH, '1'), Buffer.alloc(LENGTH, '2')], status: 200
      }
      await checkAnswers('x', { ...expectedAnswers, header: ['x-tilecouch-cache', 'hit'] })
      await assert.rejects(checkAnswers('x', { ...expectedAnswers, bodies: [...expectedAnswers.bodies].reverse() }),
        /x: \/1: 10000 bytes that are not the 10000 of the source/)
      await assert.rejects(checkAnswers('x', { ...expectedAnswers, status: 304 }), /200 instead of 304/)
      await assert.rejects(checkAnswers('x', { ...expectedAnswers, requests: [{ path: '/1/wrong' }] }),
        /500 instead of 200: broken/)
      await assert.rejects(checkAnswers('x', { ...expectedAnswers, header: ['x-tilecouch-cache', 'miss'] }),
        error => error.header && /hit instead of miss/.test(error.message))
      const requests = await etagsOf(server.url, ['/1', '/2'])
      assert.deepEqual(requests, [{ path: '/1', etag: '"1"' }, { path: '/2', etag: '"2"' }])
      await checkAnswers('x', { ...expectedAnswers, requests: requests, status: 304 })
      await assert.rejects(etagsOf(server.url, ['/1/wrong']), /500/)
    })
  })

  describe('asks through wrk', () => {
    it('and parses its result', () => {
      const output = 'Running 1s test @ http://127.0.0.1/\n  1 threads\n\nRESULT {"requests":5,"bytes":10}\n'
      assert.deepEqual(parseResult(output), { requests: 5, bytes: 10 })
      assert.throws(() => parseResult('unable to connect to 127.0.0.1:1 Connection refused\n'),
        /no result:\nunable to connect/)
    })

    it('for all paths of a list in order, from the given start, over the given connections', async function () {
      const wrk = findWrk()
      if (!wrk) return skip(this, 'wrk is not installed')
      const list = folder.path('list')
      await writeList(list, [{ path: '/1' }, { path: '/2', etag: '"2"' }, { path: '/3' }])
      const run = await runWrk(wrk, { url: server.url, list, start: 1, connections: 1, seconds: 1 })
      // wrk discards its first request, which only tests the connection
      assert.deepEqual(server.seen.slice(0, 4).map(({ url, etag }) => [url, etag]),
        [['/3', undefined], ['/1', undefined], ['/2', '"2"'], ['/3', undefined]])
      assert.ok(run.requests > 10 && run.ms.p50 <= run.ms.p90 && run.ms.p90 <= run.ms.p99 && run.ms.p99 <= run.ms.max,
        JSON.stringify(run))
      checkSample('two of three', { ...run, bytes: run.bytes * 3 / 2 }, { connections: 1, length: LENGTH })
      server.seen.length = 0
      await writeList(list, [{ path: '/1' }, { path: '/1/wrong' }])
      const bad = await runWrk(wrk, { url: server.url, list, connections: 4, seconds: 1 })
      assert.equal(new Set(server.seen.map(({ port }) => port)).size, 4)
      assert.ok(Math.abs(bad.errors.status - bad.requests / 2) <= 4, JSON.stringify(bad))
      assert.match(await wrkVersion(wrk), /^\d/)
    }).timeout(10_000)
  })

  describe('has as its reference one Node client', () => {
    for (const client of Object.keys(CLIENTS)) {
      it(`that requests by ${client} over the given connections, and fails at a wrong answer`, async () => {
        const options = { url: server.url, paths: ['/1', '/2'], length: LENGTH, connections: 3, seconds: 0.1 }
        const result = await runNodeClient(client, options)
        assert.equal(result.requests, server.seen.length)
        assert.equal(result.bytes, result.requests * LENGTH)
        assert.equal(new Set(server.seen.map(({ port }) => port)).size, 3)
        await assert.rejects(runNodeClient(client, { ...options, paths: ['/1', '/1/wrong'] }), /500/)
        await assert.rejects(runNodeClient(client, { ...options, length: 9 }), /200 with 10000 bytes/)
      })
    }

    it('whose kinds of requests return the same answers', async () => {
      const dispatcher = new Agent()
      const answers = await Promise.all(Object.values(CLIENTS).map(get => get(`${server.url}/7`, dispatcher)))
      await dispatcher.close()
      for (const { status, body } of answers) assert.deepEqual([status, body.byteLength], [200, LENGTH])
    })
  })

  describe('starts programs', () => {
    it('that are named or found on the PATH, waits until they answer, reads their output, and ends them', async () => {
      assert.equal(findProgram(process.execPath, 'x'), process.execPath)
      assert.equal(findProgram(undefined, path.basename(process.execPath), { PATH: path.dirname(process.execPath) }),
        process.execPath)
      assert.equal(findProgram('/nowhere/node', 'node'), undefined)
      assert.equal(findProgram(undefined, 'no-such-program-at-all'), undefined)
      assert.equal(await outputOf(process.execPath, ['-e', 'console.log(1); console.error(2); process.exit(3)']),
        '1\n2\n')
      const port = await freePort()
      const code = 'setTimeout(() => require("node:http").createServer((_, response) => ' +
        'response.end()).listen(+process.env.PORT, "127.0.0.1"), 200)'
      const program = await startProgram('a server', process.execPath,
        ['-e', code], { ready: `http://127.0.0.1:${port}/`, env: { PORT: `${port}` } })
      assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200)
      await program.close()
      assert.throws(() => process.kill(program.pid, 0), { code: 'ESRCH' })
    })

    it('and reports why one did not start, with its output', async () => {
      const start = (code, timeout) => startProgram('a server', process.execPath,
        ['-e', code], { ready: `${server.url}/1/wrong`, timeout })
      await assert.rejects(start('console.error("no such option"); process.exit(4)', 20_000),
        /^Error: a server did not start: ended with 4[^]*no such option/)
      await assert.rejects(start('setInterval(() => {}, 1000)', 300), /it answered 500/)
      await assert.rejects(startProgram('nothing', '/nowhere/at-all', [], { ready: server.url }),
        /nothing did not start: .*ENOENT/)
    }).timeout(10_000)
  })
})

describe('the tiles of the benchmark of servers', () => {
  const folder = useFolder()
  const places = placesOf(30)

  it('are all of one length, no two alike, and asked for in a random order that is the same every time', () => {
    const bodies = places.flatMap(({ index }) => [bytesOf(index, OLD), bytesOf(index, NEW)])
    assert.deepEqual(new Set(bodies.map(({ length }) => length)), new Set([TILE_LENGTH]))
    assert.equal(new Set(bodies.map(bytes => bytes.toString('latin1'))).size, 60)
    assert.ok(parsePeriod(AS_OF).end > OLD && parsePeriod(AS_OF).end < NEW)
    assert.deepEqual(shuffled(places, 1), shuffled(places, 1))
    assert.notDeepEqual(shuffled(places, 1), places)
    assert.deepEqual(shuffled(places, 1).toSorted((a, b) => a.index - b.index), places)
  })

  it('are the same as files, as MBTiles and as versions', async () => {
    mkdirSync(folder.path('files'))
    await writeTree(folder.path('files'), places)
    writeMbtiles(folder.path('tiles.mbtiles'), places)
    for (const name of [path.join('files', LAYER), 'tiles.mbtiles']) {
      const source = await openSource(folder.path(name))
      const tiles = []
      for await (const { z, x, y, read } of source.tiles()) tiles.push({ z, x, y, bytes: Buffer.from(await read()) })
      await source.close()
      const expected = [...versions(places, NEW)].map(({ z, x, y, bytes }) => ({ z, x, y, bytes }))
      const sortTiles = list => list.toSorted((a, b) => a.x - b.x || a.y - b.y)
      assert.deepEqual(sortTiles(tiles), sortTiles(expected), name)
    }
  })

  it('are requested as often as their rank in a Zipf distribution says', () => {
    const drawPlace = zipf(placesOf(100), 1)
    const counts = new Array(100).fill(0)
    for (let time = 0; time < 50_000; time++) counts[drawPlace().index]++
    const first = 50_000 / Array.from({ length: 100 }, (_, rank) => 1 / (rank + 1)).reduce((sum, share) => sum + share)
    for (const rank of [1, 2, 5, 20]) {
      assert.ok(Math.abs(counts[rank - 1] / (first / rank) - 1) < 0.15, `rank ${rank}: ${counts[rank - 1]}`)
    }
    assert.ok(counts[99] > 0)
  })
})

describe('the servers of the benchmark', () => {
  it('include an nginx that writes only into its folder, and names a user only as root', () => {
    const conf = mainConf({ dir: '/tmp/x', http: filesConf('/tmp/files')(8000), workers: 2, root: false })
    assert.doesNotMatch(conf, /user root/)
    assert.match(conf, /server \{ listen 127\.0\.0\.1:8000; root \/tmp\/files; \}/)
    for (const [, file] of conf.matchAll(/(?:pid|error_log|_temp_path) (\/\S+?)[ ;]/g)) {
      assert.ok(file.startsWith('/tmp/x/'), file)
    }
    assert.match(mainConf({ dir: '/tmp/x', http: '', root: true }), /user root;/)
  })

  it('use the configuration of deploy/ and the tile_id of docs/mapproxy.md', async () => {
    const conf =
      proxyCacheConf(await readProxyCacheConf(), { gateway: 'http://127.0.0.1:7777', cache: '/tmp/cache' })(8001)
    assert.match(conf, /listen 127\.0\.0\.1:8001/)
    assert.match(conf, /127\.0\.0\.1:7777/)
    assert.doesNotMatch(conf, /\/var\//)
    assert.throws(() => proxyCacheConf('events {}', { gateway: 'http://127.0.0.1:7777', cache: '/tmp/cache' })(8001),
      /has no/)
    const manual = readFileSync(new URL('../../docs/mapproxy.md', import.meta.url), 'utf8')
    const yaml = configuration({ server: 'http://127.0.0.1:5984', db: 'tiles', tree: '/tmp/files', dir: '/tmp/x' })
    const [, id] = /tile_id: (".*?")/.exec(yaml) ?? []
    assert.ok(manual.includes(`tile_id: ${id.replace(LAYER, 'land')}`), id)
  })
})
