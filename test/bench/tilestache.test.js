// The figures of ab and their use; a failed request makes all figures invalid. Tests that need TileStache are skipped
// without it.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { LAYER, placesOf, writeTree } from '../../bench/block.js'
import { abVersion, findAb, parseAb, runAb } from '../../bench/programs/ab.js'
import { findNginx, startNginx } from '../../bench/programs/nginx.js'
import { runningPrograms } from '../../bench/programs/running.js'
import { MISSING, configuration, findTileStache, startTileStache,
  tryFilesConf } from '../../bench/programs/tilestache.js'
import { xyz } from '../../bench/serve/servers.js'
import { tileOfLength } from '../../bench/tiles.js'
import { freePort } from '../../bench/wait.js'
import { KEPT, asksForOne, checkAb, keepsConnections, sentOf } from '../../bench/tilestache/one.js'
import { prepareTile } from '../../loader/store/tile.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'
import { startServer } from '../support/server.js'

const LENGTH = 16_915
const tile = tileOfLength(7, LENGTH)

/** The output of ab, with replaced lines. */
const outputOf = (lines = {}) => Object.entries({
  'Document Path': '/bench/14/5000/5000.png', 'Document Length': `${LENGTH} bytes`,
  'Concurrency Level': '100', 'Time taken for tests': '0.667 seconds',
  'Complete requests': '1000', 'Failed requests': '0', 'Total transferred': '17056000 bytes',
  'HTML transferred': '16915000 bytes',
  'Requests per second': '1498.56 [#/sec] (mean)', ...lines
}).map(([label, value]) => `${label}:${' '.repeat(24 - label.length)}${value}\n`).join('') + `
Percentage of the requests served within a certain time (ms)
  50%     37
  66%     68
  75%     98
  80%    115
  90%    154
  95%    267
  98%    295
  99%    297
 100%    343 (longest request)
`

/**
 * A server with faults: /tile is the tile, /zipped the compressed tile, /other another tile. /failing fails at each
 * tenth request, /short is too short at each tenth. /silent keeps the connection of HTTP/1.0 without announcing it, as
 * CouchDB does.
 */
async function startFaulty () {
  let requestCount = 0
  return startServer((request, response) => {
    const isTenth = ++requestCount % 10 === 0
    if (request.url === '/silent') request.socket.end(
      `HTTP/1.0 200 OK\r\nContent-Length: ${LENGTH}\r\n\r\n${tile.toString('latin1')}`, 'latin1'
    )
    else if (request.url === '/zipped') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(tile))
    else if (request.url === '/failing' && isTenth) response.writeHead(500, { 'content-length': LENGTH }).end(tile)
    else if (request.url === '/short' && isTenth) response.writeHead(200, { 'content-length': 9 }).end('too short')
    else response.writeHead(200, { 'content-length': LENGTH })
      .end(request.url === '/other' ? tileOfLength(8, LENGTH) : tile)
  })
}

const expected = { requests: 1000, connections: 100, length: LENGTH }
const place = placesOf(1)[0]
const taskOf = (name, url, address) => ({ name, url, pathOf: () => address })

describe('the benchmark of TileStache', () => {
  const folder = useFolder()
  let server

  before(async () => { server = await startFaulty() })
  after(() => server.close())

  it('has distinct tiles of exactly the requested length, which the store accepts', async () => {
    for (const length of [400, 1000, LENGTH, 40_000]) assert.equal(tileOfLength(1, length).length, length)
    assert.equal(new Set(Array.from({ length: 50 }, (_, index) => tileOfLength(index, LENGTH).toString('latin1'))).size,
      50)
    assert.deepEqual(tileOfLength(7, LENGTH), tile)
    assert.equal((await prepareTile({ layer: LAYER, ...place, time: '2024-01-01T00:00:00Z', bytes: tile })).type,
      'image/png')
    assert.ok(gzipSync(tile).length > LENGTH, 'nobody gains by compressing it')
  })

  describe('reads what ab prints', () => {
    it('its percentiles, its rate and the connections that were kept, but not the output of an incomplete run', () => {
      const sample = parseAb(outputOf({ 'Keep-Alive requests': '990' }))
      assert.deepEqual(sample.ms,
        { p50: 37, p66: 68, p75: 98, p80: 115, p90: 154, p95: 267, p98: 295, p99: 297, max: 343 })
      assert.deepEqual([sample.requests, sample.bytes, sample.length, sample.kept], [1000, 17_056_000, LENGTH, 990])
      assert.equal(Math.round(sample.requests / sample.seconds * 100) / 100, 1498.56)
      assert.equal(parseAb(outputOf()).kept, 0)
      assert.throws(() => parseAb(
        'apr_pollset_poll: The timeout specified has expired (70007)\nTotal of 990 requests completed\n'
      ), /no result:\napr_pollset_poll/)
      assert.throws(() => parseAb(outputOf().replace(/^.* 99%.*\n/m, '')), /no result/)
    })

    it('and fails when a request failed with any kind of error', () => {
      checkAb('x', parseAb(outputOf()), expected)
      const failedLines = (kind, count = 3) => {
        const kinds = ['Connect', 'Receive', 'Length', 'Exceptions']
          .map(name => `${name}: ${name === kind ? count : 0}`)
        return { 'Failed requests': `${count}\n   (${kinds.join(', ')})` }
      }
      for (const [kind, words] of Object.entries(
        { Connect: /3 connect/, Receive: /3 receive/, Length: /3 length/, Exceptions: /3 exceptions/ }
      )) {
        assert.throws(() => checkAb('x', parseAb(outputOf(failedLines(kind))), expected), words)
      }
      assert.throws(() => checkAb('x', parseAb(outputOf({ 'Non-2xx responses': '7' })), expected), /7 status errors/)
      assert.throws(() => checkAb('x', parseAb(outputOf({ 'Write errors': '2' })), expected), /2 write errors/)
      assert.throws(() => checkAb('x', parseAb(outputOf({ 'Document Length': '16914 bytes' })), expected),
        /16914 bytes in an answer/)
      assert.throws(() => checkAb('x', parseAb(outputOf({ 'Complete requests': '999' })), expected), /999 of 1000/)
    })
  })

  describe('asks for one tile', () => {
    const run = async (address, requests = 50) => {
      const contender = await asksForOne(taskOf('x', server.url, address), { ab: findAb(), place, tile, requests })
      await contender.check()
      for (const { run: runOne } of contender.contenders) await runOne({ connections: 5, seconds: 1 })
      return contender
    }
    before(function () { if (!findAb()) skip(this, 'ab is not installed (apache2-utils)') })

    it('with a connection for each request, with connections that are kept, and compressed', async () => {
      const contender = await run('/tile')
      assert.deepEqual(contender.contenders.map(({ name }) => name), ['x', `x${KEPT}`])
      assert.deepEqual([contender.kept(), contender.length()], [1, LENGTH])
      assert.equal((await runAb(findAb(), { url: `${server.url}/tile`, requests: 20, connections: 2 })).kept, 0)
      assert.match(await abVersion(findAb()), /^\d/)
      const zipped = await run('/zipped')
      assert.equal(zipped.length(), gzipSync(tile).length)
      assert.equal((await sentOf(`${server.url}/tile`, tile)).length, LENGTH)
    })

    it('without kept connections if none are announced, and fails at another tile, error or length', async () => {
      assert.deepEqual(await Promise.all(['/tile', '/silent'].map(address => keepsConnections(server.url + address))),
        [true, false])
      const contender = await asksForOne(taskOf('x', server.url, '/silent'), { ab: '', place, tile, requests: 1 })
      assert.deepEqual([contender.contenders.map(({ name }) => name), contender.kept()], [['x'], null])
      await assert.rejects(keepsConnections(`http://127.0.0.1:${await freePort()}/tile`), /ECONNREFUSED/)
      await assert.rejects(run('/other'), /16915 bytes that are not the 16915/)
      await assert.rejects(run('/failing'), /status errors/)
      await assert.rejects(run('/short'), /length errors|bytes that are not/)
    })
  })

  it('reports missing programs, and collects running ones to close them', async () => {
    const [closing, lines] = [[], []]
    const { addRunning, optional, missing, programs } = runningPrograms({ closing, log: text => lines.push(text) })
    assert.equal(await optional('TileStache', MISSING, undefined, async () => assert.fail()), undefined)
    const close = () => {}
    assert.equal(await optional('nginx', 'why', 'found',
      async bin => addRunning('nginx', { bin, close }, { version: '1', settings: 'all of them' }).bin), 'found')
    assert.deepEqual([missing, programs, closing],
      [{ TileStache: MISSING }, { nginx: { version: '1', settings: 'all of them' } }, [close]])
    assert.deepEqual(lines, [`  TileStache: not measured, ${MISSING}`, '  nginx 1: all of them'])
    assert.equal(await findTileStache({}), undefined)
    assert.equal(await findTileStache({ TILESTACHE_PYTHON: process.execPath }), undefined)
  })

  it('serves cached tiles through TileStache, and through nginx without TileStache', async function () {
    assert.deepEqual(JSON.parse(configuration({ cache: '/c', source: 'http://s' })).cache,
      { name: 'Disk', path: '/c', dirs: 'portable' })
    const [setup, nginx] = [await findTileStache(), findNginx()]
    if (!setup || !nginx) return skip(this, 'TileStache (TILESTACHE_PYTHON) or nginx is not installed')
    const cache = folder.path('cache')
    await mkdir(cache)
    await writeTree(cache, [place], () => tile)
    const tilestache = await startTileStache(setup,
      { cache, source: server.url, dir: folder.path('stache'), probe: xyz(place) })
    try {
      assert.deepEqual(await sentOf(tilestache.url + xyz(place), tile), tile)
      const front = await startNginx(nginx,
        { dir: folder.path('nginx'), http: tryFilesConf({ cache, url: tilestache.url }), probe: xyz(place) })
      try {
        const answers = await Promise.all([xyz(place), xyz({ ...place, y: 9 })].map(uri => fetch(front.url + uri)))
        assert.deepEqual(answers.map(({ status, headers }) => [status, headers.get('x-static')]),
          [[200, 'file'], [200, 'miss']])
      } finally {
        await front.close()
      }
    } finally {
      await tilestache.close()
    }
  }).timeout(20_000)
})
