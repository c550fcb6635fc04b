// Servers in network namespaces of their own: the kernel cuts their lines, slows them and loses packets, and nobody is told.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { request } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { differences } from './compare.js'
import { Namespace, whyNot } from './namespaces.js'
import { T2, edition, fill, follow, hasty, replication, write } from './stage.js'

const COUNT = 600
const HASTE = 20 // the 30 s that are waited for an answer are 1.5 s
const year = number => T2.replace('2022', `${number}`)

describe('mirrors between network namespaces', function () {
  this.timeout(120000)
  const sides = /** @type {Record<string, {namespace: Namespace, server: Awaited<ReturnType<typeof startCouchDb>>}>} */ ({})
  let from, to, store
  before(async function () {
    const why = findCouchDb() ? whyNot() : 'no CouchDB: COUCHDB_BIN names one'
    if (why) return skip(this, why)
    for (const side of ['source', 'target']) {
      const namespace = new Namespace()
      sides[side] = { namespace, server: /** @type {any} */ (undefined) }
      sides[side].server = await startCouchDb(undefined, { host: namespace.address, prefix: namespace.prefix })
    }
    from = `${sides.source.server.url}/tiles`
    to = `${sides.target.server.url}/tiles`
    store = await fill(from, { count: COUNT })
  })
  beforeEach(() => request(to, { method: 'PUT' }))
  afterEach(() => request(to, { method: 'DELETE' }))
  after(async () => {
    for (const { namespace, server } of Object.values(sides)) {
      await server?.close()
      namespace.close()
    }
  })

  const same = async () => assert.deepEqual(await differences(from, to), [])

  it('go on when either line was cut in the middle, and when nothing was going on', async () => {
    const mirror = follow(from, to, { couch: { ...hasty, haste: HASTE } })
    try {
      for (const side of ['source', 'target']) {
        const { docs } = mirror.status()
        await until(() => mirror.status().docs > docs, { timeout: 40000, every: 1, what: 'documents' })
        sides[side].namespace.cut()
        await until(() => mirror.is('away'), { timeout: 40000, what: 'it to be away' })
        assert.equal(mirror.status().error, 'UNREACHABLE')
        sides[side].namespace.restore()
      }
      await until(() => mirror.is('following'), { timeout: 40000, what: 'it to follow' })
      await same()

      sides.source.namespace.cut()
      await until(() => mirror.is('away'), { timeout: 40000, what: 'it to be away again' })
      sides.source.namespace.restore()
      await write(store, edition({ count: 50, time: year(2023), seed: 3 }))
      await until(() => mirror.is('following'), { timeout: 40000, what: 'it to follow again' })
      await until(async () => !(await differences(from, to)).length, { timeout: 20000, every: 100, what: 'the change' })
    } finally {
      await mirror.stop()
    }
  })

  it('arrive whole over slow lines that lose packets', async () => {
    try {
      for (const { namespace } of Object.values(sides)) namespace.slow({ rate: '8mbit', queue: 10000 })
      await replication(from, to, { couch: { ...hasty, retries: 10 } }).run()
      const lost = sides.source.namespace.lost()
      assert.ok(lost > 20, `${lost} packets were lost`)
    } finally {
      for (const { namespace } of Object.values(sides)) namespace.free()
    }
    await same()
  })
})
