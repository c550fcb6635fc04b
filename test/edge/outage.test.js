// An edge whose origin, or own store, is killed and comes back.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { T3, createOrigin, useEdges } from '../support/edges.js'

const SLOW = 90000 // milliseconds: servers are killed and started again

const kinds = [
  { name: 'embedded', start: startEmbeddedProcess },
  ...(findCouchDb() ? [{ name: 'CouchDB', start: startCouchDb }] : [])
]

/** Clients that request the same tiles repeatedly, one after the other. */
function poll (edge, addresses) {
  const failures = []
  let answers = 0
  let isOver = false
  const client = async () => {
    for (let turn = 0; !isOver; turn++) {
      const address = addresses[turn % addresses.length]
      const { status } = await edge.get(address).catch(error => ({ status: `${error.cause?.code ?? error.message}` }))
      answers++
      if (status !== 200) failures.push([address, status])
    }
  }
  const clients = [client(), client(), client(), client()]
  return {
    get answers () { return answers },
    async end () {
      isOver = true
      await Promise.all(clients)
      return failures
    }
  }
}

for (const { name, start } of kinds) {
  describe(`an edge of an origin that comes and goes, on ${name}`, () => {
    const folder = useFolder()
    const edges = useEdges()
    let server, from, origin
    before(async () => {
      server = await start()
      from = `${server.url}/tiles`
      origin = await createOrigin(from, { layers: ['osm'] })
    })
    after(() => server.close())

    const write = (x, seed) => origin.write([{ layer: 'osm', z: 5, x, y: 3, time: T3, bytes: png(seed) }])

    it('answers every request while the origin is killed and comes back, reports its lag, and catches up', async () => {
      const edge = await edges.start(from, { data: folder.path('edge'), memory: 0, maxLag: '2s' })
      await edge.until()
      const addresses = Array.from({ length: 16 }, (_, at) => `osm${at % 3 ? '' : '@2022'}/5/${at >> 2}/${at % 4}.png`)
      const clients = poll(edge, addresses)
      edges.with(() => clients.end())
      await server.kill()
      await edge.until('away')
      const { mirror, status } = await edge.json('health')
      // The lag counts from the last answer of the origin.
      assert.deepEqual([mirror.state, status], ['away', mirror.lag > 2 ? 'behind' : 'ok'])
      // an open answer is cut off first
      assert.ok(['UNREACHABLE', 'BAD_ANSWER'].includes(mirror.error), mirror.error)
      const behind = await until(async () => {
        const asked = Date.now()
        const answer = await edge.get('health')
        return answer.status === 503 && { asked, answered: Date.now(), ...JSON.parse(answer.body.toString()) }
      }, { what: 'an edge that is further behind than it may be' })
      assert.equal(behind.status, 'behind')
      const secondsSince = time => (time - Date.parse(behind.mirror.upToDate)) / 1000
      assert.ok(behind.mirror.lag >= 2, JSON.stringify(behind.mirror))
      assert.ok(behind.mirror.lag >= Math.floor(secondsSince(behind.asked)), JSON.stringify(behind))
      assert.ok(behind.mirror.lag <= Math.ceil(secondsSince(behind.answered)), JSON.stringify(behind))
      assert.match(await edge.metrics(), /^tilecouch_mirror_state\{state="away"\} 1$/m)
      assert.match(await edge.metrics(), /^tilecouch_mirror_lag_seconds ([2-9]|\d\d)/m)
      assert.match(await edge.metrics(), /^tilecouch_mirror_errors_total\{code="UNREACHABLE"\} [1-9]/m)
      const before = clients.answers
      await until(() => clients.answers > before + 100, { what: 'answers without the origin' })

      await server.start()
      await write(3, 91)
      await edge.until()
      await until(async () => (await edge.get('osm/5/3/3.png')).body.equals(png(91)),
        { what: 'what was written when it was back' })
      const recovered = await edge.json('health')
      assert.deepEqual([recovered.status, recovered.mirror.lag, recovered.mirror.error], ['ok', 0, undefined])
      assert.deepEqual(await clients.end(), [])
    }).timeout(SLOW)

    it('starts without its origin, with its data and their age', async () => {
      const data = folder.path('edge')
      const started = Date.now()
      const first = await edges.start(from, { data })
      await first.until()
      await first.close()
      const closed = Date.now()
      await server.kill()
      const second = await edges.start(from, { data })
      assert.equal(second.report.state, 'away')
      assert.deepEqual((await second.get('osm@2022/5/1/0.png')).body, png(10))
      assert.equal((await second.get('osm/5/9/9.png')).status, 404)
      const { status, mirror } = await second.json('health')
      assert.equal(status, 'ok')
      const upToDate = Date.parse(mirror.upToDate)
      assert.ok(upToDate >= started && upToDate <= closed, JSON.stringify({ started, upToDate, closed }))
      await server.start()
      await write(2, 92)
      await second.until()
      await until(async () => (await second.get('osm/5/2/3.png')).body.equals(png(92)),
        { what: 'what was written meanwhile' })
    }).timeout(SLOW)

    it('starts empty without its origin, and is filled later', async () => {
      await server.kill()
      const edge = await edges.start(from, { data: folder.path('edge') })
      assert.deepEqual([edge.report.state, edge.report.lag, edge.report.upToDate], ['away', null, null])
      assert.equal((await edge.get('osm/5/0/0.png')).status, 503)
      await server.start()
      await edge.until()
      await until(async () => (await edge.get('osm/5/0/0.png')).status === 200, { what: 'a tile' })
      assert.deepEqual((await edge.get('osm@2022/5/1/0.png')).body, png(10))
    }).timeout(SLOW)

    it('outlives a restart of its own store', async function () {
      const store = await start()
      edges.with(() => store.close())
      const edge = await edges.start(from, { db: `${store.url}/tiles`, memory: '10MB' })
      await edge.until()
      const clients = poll(edge, ['osm/5/0/0.png'])
      edges.with(() => clients.end())
      await until(() => clients.answers > 10, { what: 'answers from memory' })
      await store.kill()
      await until(async () => (await edge.get('health')).status === 503, { what: 'the store to be missed' })
      assert.equal((await edge.get('osm/5/0/0.png')).status, 200, 'what is in memory is served')
      await write(1, 93)
      await store.start()
      await until(async () => (await edge.get('osm/5/1/3.png').catch(() => ({ body: Buffer.of() })))
        .body.equals(png(93)), { timeout: 30000, what: 'what was written while the store was away' })
      await until(async () => (await edge.json('health')).status === 'ok', { what: 'health' })
      assert.deepEqual(await clients.end(), [])
    }).timeout(SLOW)
  })
}
