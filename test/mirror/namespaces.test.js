// Servers in separate network namespaces. The kernel cuts or slows their lines and drops packets, without closing any
// connection.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { request } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { differences } from './compare.js'
import { T2, createLargeOrigin, edition, follow, hasty, replication, write } from '../support/bad-lines.js'

const sh =
  (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const namespaces = /** @type {Set<Namespace>} */ (new Set())
// an interrupted test removes its namespaces too
process.once('exit', () => { for (const namespace of namespaces) namespace.close() })
process.once('SIGTERM', () => process.exit(143))

/** The reason why this machine cannot create network namespaces, or undefined if it can. */
function reasonToSkip () {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'network namespaces need root on Linux'
  try {
    new Namespace().close()
    return undefined
  } catch (error) {
    return `there are no network namespaces here: ${error.stderr?.trim() || error.message}`
  }
}

class Namespace {
  static #count = 0

  constructor () {
    const number = Namespace.#count++
    this.name = `tilecouch-${process.pid}-${number}`
    this.card = `tc${process.pid}-${number}`
    // four addresses each of 198.18.0.0/15, which is reserved for network tests
    const net = (process.pid * 8 + number) % 16384
    const address = host => `198.18.${net >> 6}.${(net & 63) * 4 + host}`
    this.address = address(2)
    namespaces.add(this)
    try {
      sh('ip', 'netns', 'add', this.name)
      sh('ip', 'link', 'add', this.card, 'type', 'veth', 'peer', 'name', 'line', 'netns', this.name)
      sh('ip', 'addr', 'add', `${address(1)}/30`, 'dev', this.card)
      sh('ip', 'link', 'set', this.card, 'up')
      this.#runIp('addr', 'add', `${this.address}/30`, 'dev', 'line')
      this.#runIp('link', 'set', 'line', 'up')
      this.#runIp('link', 'set', 'lo', 'up')
    } catch (error) {
      this.close()
      throw error
    }
  }

  #runIp (...command) {
    return sh('ip', '-n', this.name, ...command)
  }

  /** The start of a command line that runs in the namespace. */
  get prefix () {
    return ['ip', 'netns', 'exec', this.name]
  }

  /** Drops all packets. Neither side closes its connections. */
  cut () {
    this.#runIp('link', 'set', 'line', 'down')
  }

  restore () {
    this.#runIp('link', 'set', 'line', 'up')
  }

  /**
   * Limits the rate in both directions. Packets that do not fit into the queue are dropped.
   * @param {{rate: string, queue: number}} options rate as `tc` takes it, queue in bytes
   */
  slow ({ rate, queue }) {
    const shape = ['tbf', 'rate', rate, 'burst', '5kb', 'limit', `${queue}`]
    sh('tc', 'qdisc', 'replace', 'dev', this.card, 'root', ...shape)
    sh(...this.prefix, 'tc', 'qdisc', 'replace', 'dev', 'line', 'root', ...shape)
  }

  /** Counts the packets that the queue on the server's side dropped. */
  lost () {
    return Number(/dropped (\d+)/.exec(sh(...this.prefix, 'tc', '-s', 'qdisc', 'show', 'dev', 'line'))?.[1])
  }

  /** Removes the limit of the rate. */
  free () {
    sh('tc', 'qdisc', 'del', 'dev', this.card, 'root')
    sh(...this.prefix, 'tc', 'qdisc', 'del', 'dev', 'line', 'root')
  }

  close () {
    if (!namespaces.delete(this)) return
    try {
      for (const pid of sh('ip', 'netns', 'pids', this.name).split('\n').filter(Boolean)) process.kill(+pid, 'SIGKILL')
    } catch {
      // the namespace has no processes, or they have just ended
    }
    for (const command of [['ip', 'link', 'del', this.card], ['ip', 'netns', 'del', this.name]]) {
      try {
        sh(...command)
      } catch {
        // the constructor failed before it created this one
      }
    }
  }
}

const COUNT = 600
const HASTE = 20 // divides the timeouts: 30 s for an answer become 1.5 s
const year = number => T2.replace('2022', `${number}`)

describe('mirrors between network namespaces', function () {
  this.timeout(120000)
  const sides =
    /** @type {Record<string, {namespace: Namespace, server: Awaited<ReturnType<typeof startCouchDb>>}>} */ ({})
  let from, to, store
  before(async function () {
    const skipReason = findCouchDb() ? reasonToSkip() : 'no CouchDB: COUCHDB_BIN names one'
    if (skipReason) return skip(this, skipReason)
    for (const side of ['source', 'target']) {
      const namespace = new Namespace()
      sides[side] = { namespace, server: /** @type {any} */ (undefined) }
      sides[side].server = await startCouchDb(undefined, { host: namespace.address, prefix: namespace.prefix })
    }
    from = `${sides.source.server.url}/tiles`
    to = `${sides.target.server.url}/tiles`
    store = await createLargeOrigin(from, { count: COUNT })
  })
  beforeEach(() => request(to, { method: 'PUT' }))
  afterEach(() => request(to, { method: 'DELETE' }))
  after(async () => {
    for (const { namespace, server } of Object.values(sides)) {
      await server?.close()
      namespace.close()
    }
  })

  const assertSame = async () => assert.deepEqual(await differences(from, to), [])

  it('continue after a cut line, both while they copy and while they are idle', async () => {
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
      await assertSame()

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

  it('copy all documents over slow lines that lose packets', async () => {
    try {
      for (const { namespace } of Object.values(sides)) namespace.slow({ rate: '8mbit', queue: 10000 })
      await replication(from, to, { couch: { ...hasty, retries: 10 } }).run()
      const lost = sides.source.namespace.lost()
      assert.ok(lost > 20, `${lost} packets were lost`)
    } finally {
      for (const { namespace } of Object.values(sides)) namespace.free()
    }
    await assertSame()
  })
})
