// Servers in network namespaces of their own: the kernel cuts their lines, slows them and loses packets, and nobody is
// told.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { request } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { differences } from './compare.js'
import { edition, fill, follow, hasty, replication, T2, write } from '../support/bad-lines.js'

const sh =
  (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const made = /** @type {Set<Namespace>} */ (new Set())
// a test that was ended leaves none behind either
process.once('exit', () => { for (const namespace of made) namespace.close() })
process.once('SIGTERM', () => process.exit(143))

/** Why there can be none here; nothing when there can. */
function whyNot () {
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
    // of 198.18.0.0/15, which is for tests of networks, four addresses each
    const net = (process.pid * 8 + number) % 16384
    const address = last => `198.18.${net >> 6}.${(net & 63) * 4 + last}`
    this.address = address(2)
    made.add(this)
    try {
      sh('ip', 'netns', 'add', this.name)
      sh('ip', 'link', 'add', this.card, 'type', 'veth', 'peer', 'name', 'line', 'netns', this.name)
      sh('ip', 'addr', 'add', `${address(1)}/30`, 'dev', this.card)
      sh('ip', 'link', 'set', this.card, 'up')
      this.#inside('addr', 'add', `${this.address}/30`, 'dev', 'line')
      this.#inside('link', 'set', 'line', 'up')
      this.#inside('link', 'set', 'lo', 'up')
    } catch (error) {
      this.close()
      throw error
    }
  }

  #inside (...command) {
    return sh('ip', '-n', this.name, ...command)
  }

  /** A command runs in it. */
  get prefix () {
    return ['ip', 'netns', 'exec', this.name]
  }

  /** Packets are lost without a word: neither side closes anything. */
  cut () {
    this.#inside('link', 'set', 'line', 'down')
  }

  restore () {
    this.#inside('link', 'set', 'line', 'up')
  }

  /**
   * So fast at most in either direction; what does not fit into the queue is lost.
   * @param {{rate: string, queue: number}} options as tc says it; bytes
   */
  slow ({ rate, queue }) {
    const shape = ['tbf', 'rate', rate, 'burst', '5kb', 'limit', `${queue}`]
    sh('tc', 'qdisc', 'replace', 'dev', this.card, 'root', ...shape)
    sh(...this.prefix, 'tc', 'qdisc', 'replace', 'dev', 'line', 'root', ...shape)
  }

  /** Packets that were lost in the queue of the server's side. */
  lost () {
    return Number(/dropped (\d+)/.exec(sh(...this.prefix, 'tc', '-s', 'qdisc', 'show', 'dev', 'line'))?.[1])
  }

  /** As fast as it was. */
  free () {
    sh('tc', 'qdisc', 'del', 'dev', this.card, 'root')
    sh(...this.prefix, 'tc', 'qdisc', 'del', 'dev', 'line', 'root')
  }

  close () {
    if (!made.delete(this)) return
    try {
      for (const pid of sh('ip', 'netns', 'pids', this.name).split('\n').filter(Boolean)) process.kill(+pid, 'SIGKILL')
    } catch {
      // none, or just gone
    }
    for (const command of [['ip', 'link', 'del', this.card], ['ip', 'netns', 'del', this.name]]) {
      try {
        sh(...command)
      } catch {
        // it did not get that far
      }
    }
  }
}

const COUNT = 600
const HASTE = 20 // the 30 s that are waited for an answer are 1.5 s
const year = number => T2.replace('2022', `${number}`)

describe('mirrors between network namespaces', function () {
  this.timeout(120000)
  const sides =
    /** @type {Record<string, {namespace: Namespace, server: Awaited<ReturnType<typeof startCouchDb>>}>} */ ({})
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

  it('copy all documents over slow lines that lose packets', async () => {
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
