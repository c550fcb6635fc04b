// That a backup is one moment of a store that is written to, whenever its feed is read: on a model of shards and of
// those who write.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { backupDefaults } from '../../loader/backup/index.js'
import { SnapshotReader } from '../../loader/backup/snapshot.js'

/**
 * @typedef {{id: string, seq: number, rev: string, deleted: boolean, version?: number}} Doc version: what it shows
 */
class Shards {
  /** @type {Map<string, Doc>[]} */
  #shards
  #revs = 0
  /** What there was after each write. @type {string[]} */
  history

  /** @param {number} count @param {() => void} work lets the writer do some of its work */
  constructor (count, work) {
    this.#shards = Array.from({ length: count }, () => new Map())
    this.work = work
    this.history = [this.outline()]
  }

  #shardOf (id) {
    return this.#shards[[...id].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % this.#shards.length]
  }

  get (id) {
    return this.#shardOf(id).get(id)
  }

  /** @param {string} id @param {number | null} version null: deleted */
  write (id, version) {
    const shard = this.#shardOf(id)
    const seq = Math.max(0, ...[...shard.values()].map(doc => doc.seq)) + 1
    shard.set(id, { id, seq, rev: `1-${++this.#revs}`, deleted: version === null, version: version ?? undefined })
    this.history.push(this.outline())
  }

  outline () {
    return outlineOf(this.#shards.flatMap(shard => [...shard.values()]))
  }

  /** As a peer answers: of every shard what has changed since, each read at a moment of its own. */
  async changes ({ since, limit }) {
    const places = since === 0 ? this.#shards.map(() => 0) : JSON.parse(since)
    const rows = []
    let pending = 0
    for (const [index, shard] of this.#shards.entries()) {
      this.work()
      const changed = [...shard.values()].filter(({ seq }) => seq > places[index]).sort((a, b) => a.seq - b.seq)
      const taken = changed.slice(0, Math.max(0, limit - rows.length))
      pending += changed.length - taken.length
      rows.push(...taken.map(doc => ({ ...doc, revs: [doc.rev] })))
      if (taken.length) places[index] = taken[taken.length - 1].seq
    }
    this.work()
    return { rows, last: JSON.stringify(places), pending }
  }
}

/** @param {Iterable<Doc>} docs */
const outlineOf = docs => [...docs].map(({ id, rev }) => `${id} ${rev}`).sort().join('\n')

const RUNS = process.env.TILECOUCH_LONG ? 5000 : 150
const TILES = 4
const time = version => `20${String(10 + version)}-01-01T00:00:00Z`
const pastOf = (head, version) => `${head}@${time(version)}`
const headOf = id => id.split('@')[0]
const headId = tile => `osm:9:${tile}:0`

/** What is done to a tile, document by document, in the order in which tilecouch does it. */
const works = {
  * load (store, head, next) {
    const now = store.get(head)
    if (now && !now.deleted) yield [pastOf(head, now.version), now.version]
    yield [head, next()]
  },
  * fallBack (store, head) {
    const before = pastVersions(store, head).at(-1)
    if (before === undefined) return
    yield [head, before]
    yield [pastOf(head, before), null]
  },
  * remove (store, head) {
    for (const version of pastVersions(store, head)) yield [pastOf(head, version), null]
    if (store.get(head) && !store.get(head).deleted) yield [head, null]
  }
}

const pastVersions = (store, head) => Array.from({ length: 80 }, (_, version) => version).filter(version => {
  const doc = store.get(pastOf(head, version))
  return doc && !doc.deleted
})

/** Somebody who writes: how many documents each time he gets his turn is told by the list, over and over. */
function writer (jobs, turns) {
  let version = 0
  let turn = 0
  const todo = jobs[Symbol.iterator]()
  let doing
  const step = store => {
    for (;;) {
      const { done, value } = doing?.next() ?? { done: true }
      if (!done) return store.write(...value)
      const job = todo.next()
      if (job.done) return
      const [name, tile] = job.value
      doing = works[name](store, headId(tile), () => version++)
    }
  }
  return store => { for (let count = turns[turn++ % turns.length]; count > 0; count--) step(store) }
}

const jobs = fc.array(fc.tuple(fc.constantFrom('load', 'load', 'load', 'fallBack', 'remove'), fc.nat(TILES - 1)),
  { minLength: 5, maxLength: 60 })
const turns = fc.array(fc.nat(4), { minLength: 1, maxLength: 7 })
const settings = fc.record(
  { jobs, turns, shards: fc.integer({ min: 1, max: 3 }), page: fc.integer({ min: 1, max: 6 }), early: fc.nat(20) }
)

/** The documents as a restore would have them. */
async function read ({ jobs: list, turns: when, shards, page, early }, quiet) {
  const write = writer(list, when)
  const store = new Shards(shards, () => write(store))
  for (let turn = 0; turn < early; turn++) write(store)
  const snapshot = new SnapshotReader(/** @type {any} */ (store),
    { since: 0, limits: { ...backupDefaults, page, quiet }, signal: new AbortController().signal })
  const docs = new Map()
  const take = async rows => { for (const row of rows) docs.set(row.id, row) }
  await snapshot.readExisting(take)
  const end = await snapshot.readChanges(async pages => { for await (const rows of pages) await take(rows) })
  return { store, docs, end }
}

const ofTile = (outline, tile) => outline.split('\n').filter(line => headOf(line.split(' ')[0]) === headId(tile))
  .join('\n')

describe('the moment of a backup', function () {
  this.timeout(600000)

  it('is one moment of the store: no document is newer or ' +
    'older than the others', () => fc.assert(fc.asyncProperty(settings, async given => {
    const { store, docs, end } = await read(given, backupDefaults.quiet)
    assert.equal(end.moment, 'store')
    assert.ok(store.history.includes(outlineOf(docs.values())))
  }), { numRuns: RUNS }))

  it('is one moment of each tile where the store ' +
    'keeps changing', () => fc.assert(fc.asyncProperty(settings, async given => {
    const { store, docs, end } = await read(given, 0)
    assert.equal(end.moment, 'tile')
    for (const tile of Array(TILES).keys()) {
      const own = outlineOf([...docs.values()].filter(({ id }) => headOf(id) === headId(tile)))
      assert.ok(store.history.some(outline => ofTile(outline, tile) === own), `tile ${tile}: ${own}`)
    }
  }), { numRuns: RUNS }))

  it('of a quiet store takes one more request', async () => {
    let looks = 0
    const store = new Shards(2, () => {})
    for (let version = 0; version < 10; version++) store.write(`osm:9:${version}:0`, version)
    const peer = { changes: options => { looks++; return store.changes(options) } }
    const snapshot = new SnapshotReader(/** @type {any} */ (peer),
      { since: 0, limits: { ...backupDefaults, page: 20 }, signal: new AbortController().signal })
    await snapshot.readExisting(async () => {})
    assert.equal((await snapshot.readChanges(async () => {})).moment, 'store')
    assert.equal(looks, 2)
  })
})
