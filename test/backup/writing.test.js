// A backup is one moment of a store, although the store changes during the read of its feed. Tested on a model of
// shards and writers, and on a store with constant writes, where the file equals the store after a number of writes. A
// backup between two requests of a removal or a load is restored without unsettled tiles.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { backup, backupDefaults } from '../../loader/backup/index.js'
import { SnapshotReader } from '../../loader/backup/snapshot.js'
import { Store, addSeconds, check, removeTiles, restore } from '../../loader/index.js'
import { readFileParts } from '../../loader/backup/reader.js'
import { until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { png, square, yearStart } from '../support/tiles.js'
import { T1 } from '../support/backups.js'
import { HISTORY, Z, storeOf } from '../support/removals.js'

/**
 * @typedef {{id: string, seq: number, rev: string, deleted: boolean, version?: number}} Doc version: the shown one
 */
class Shards {
  #shards
  #revs = 0
  /** The outline of all documents after each write. @type {string[]} */
  history

  /** @param {number} count @param {() => void} work called between two reads, lets the writer work */
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

  /** Answers as a peer does: the changes of every shard since its place. Each shard is read at its own moment. */
  async changes ({ since, limit }) {
    const places = since === 0 ? this.#shards.map(() => 0) : JSON.parse(since)
    const rows = []
    let pending = 0
    for (const [index, shard] of this.#shards.entries()) {
      this.work()
      const changedDocs = [...shard.values()].filter(({ seq }) => seq > places[index]).sort((a, b) => a.seq - b.seq)
      const takenDocs = changedDocs.slice(0, Math.max(0, limit - rows.length))
      pending += changedDocs.length - takenDocs.length
      rows.push(...takenDocs.map(doc => ({ ...doc, revs: [doc.rev] })))
      if (takenDocs.length) places[index] = takenDocs[takenDocs.length - 1].seq
    }
    this.work()
    return { rows, last: JSON.stringify(places), pending }
  }
}

/** @param {Iterable<Doc>} docs */
const outlineOf = docs => [...docs].map(({ id, rev }) => `${id} ${rev}`).sort().join('\n')

const RUNS = process.env.TILECOUCH_LONG ? 5000 : 150
const TILES = 4
const timeOf = version => `20${String(10 + version)}-01-01T00:00:00Z`
const pastOf = (head, version) => `${head}@${timeOf(version)}`
const headOf = id => id.split('@')[0]
const headId = tile => `osm:9:${tile}:0`

/** The changes to a tile, document by document, in the order in which tilecouch makes them. */
const works = {
  * load (store, head, next) {
    const current = store.get(head)
    if (current && !current.deleted) yield [pastOf(head, current.version), current.version]
    yield [head, next()]
  },
  * fallBack (store, head) {
    const lastVersion = pastVersions(store, head).at(-1)
    if (lastVersion === undefined) return
    yield [head, lastVersion]
    yield [pastOf(head, lastVersion), null]
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

/** A writer. `turns` gives the number of documents that it writes in each turn, over and over. */
function writer (jobs, turns) {
  let version = 0
  let turn = 0
  const pendingJobs = jobs[Symbol.iterator]()
  let runningJob
  const step = store => {
    for (;;) {
      const { done, value } = runningJob?.next() ?? { done: true }
      if (!done) return store.write(...value)
      const job = pendingJobs.next()
      if (job.done) return
      const [name, tile] = job.value
      runningJob = works[name](store, headId(tile), () => version++)
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

/** Reads a backup while a writer works. `docs` are the documents that a restore would write. */
async function read ({ jobs: jobList, turns: turnList, shards, page, early }, quiet) {
  const write = writer(jobList, turnList)
  const store = new Shards(shards, () => write(store))
  for (let turn = 0; turn < early; turn++) write(store)
  const snapshot = new SnapshotReader(store,
    { since: 0, limits: { ...backupDefaults, page, quiet }, signal: new AbortController().signal })
  const docs = new Map()
  const take = async rows => { for (const row of rows) docs.set(row.id, row) }
  await snapshot.readExisting(take)
  const end = await snapshot.readChanges(async pages => { for await (const rows of pages) await take(rows) })
  return { store, docs, end }
}

const linesOf = (outline, tile) => outline.split('\n').filter(line => headOf(line.split(' ')[0]) === headId(tile))
  .join('\n')

describe('the moment of a backup', function () {
  this.timeout(600000)

  it('is one moment of the store: no document is newer or ' +
    'older than the others', () => fc.assert(fc.asyncProperty(settings, async setting => {
    const { store, docs, end } = await read(setting, backupDefaults.quiet)
    assert.equal(end.moment, 'store')
    assert.ok(store.history.includes(outlineOf(docs.values())))
  }), { numRuns: RUNS }))

  it('is one moment of each tile where the store ' +
    'keeps changing', () => fc.assert(fc.asyncProperty(settings, async setting => {
    const { store, docs, end } = await read(setting, 0)
    assert.equal(end.moment, 'tile')
    for (const tile of Array(TILES).keys()) {
      const tileOutline = outlineOf([...docs.values()].filter(({ id }) => headOf(id) === headId(tile)))
      assert.ok(store.history.some(outline => linesOf(outline, tile) === tileOutline), `tile ${tile}: ${tileOutline}`)
    }
  }), { numRuns: RUNS }))

  it('of a quiet store takes one more request', async () => {
    let requestCount = 0
    const store = new Shards(2, () => {})
    for (let version = 0; version < 10; version++) store.write(`osm:9:${version}:0`, version)
    const peer = { changes: options => { requestCount++; return store.changes(options) } }
    const snapshot = new SnapshotReader(peer,
      { since: 0, limits: { ...backupDefaults, page: 20 }, signal: new AbortController().signal })
    await snapshot.readExisting(async () => {})
    assert.equal((await snapshot.readChanges(async () => {})).moment, 'store')
    assert.equal(requestCount, 2)
  })
})

const ROUNDS = process.env.TILECOUCH_LONG ? 30 : 2
const SIDE = 7 // side of the square of tiles that is loaded edition by edition
const NUMBERED = 5 // tiles of the other layer, which get one version after the other

/**
 * Starts two writers that write until they are stopped: one writes single, numbered versions, the other editions in
 * batches.
 */
function startWriters (store) {
  let isOver = false
  const done = { writes: 0, editions: 0 }
  const writeNumbered = async () => {
    for (let number = 1; !isOver; number++) {
      const bytes = png(number % 300)
      await store.write([{ layer: 'numbered', z: 8, x: number % NUMBERED, y: 0, time: addSeconds(T1, number), bytes }])
      done.writes = number
    }
  }
  const writeEditions = async () => {
    for (let number = 1; !isOver; number++) {
      const seed = (x, y) => (x + y + number) % 3 ? (x * SIDE + y + number * 7) % 300 : undefined
      await store.write(square({ layer: 'osm', time: addSeconds(T1, number), side: SIDE, seed }))
      done.editions = number
    }
  }
  const running = Promise.all([writeNumbered(), writeEditions()])
  return { done, stop: () => { isOver = true; return running } }
}

/** Reads the documents that a restore of a file would write, and its trailer. */
async function contentsOf (file) {
  const docs = new Map()
  let trailer
  for await (const part of readFileParts(file)) {
    if (part.kind === 'documents') for (const doc of part.documents.docs) docs.set(doc._id, doc)
    else if (part.kind === 'trailer') trailer = part.trailer
  }
  return { docs, trailer }
}

const numberOf = time => (Date.parse(time) - Date.parse(T1)) / 1000
/**
 * The numbers of the versions of each numbered tile. A copy of the head that is about to be overwritten has the same
 * number.
 */
function numbersOf (docs) {
  const tiles = new Map()
  for (const { layer, x, time, current } of docs.values()) {
    if (layer !== 'numbered' || !time) continue
    if (!tiles.has(x)) tiles.set(x, { heads: 0, numbers: new Set() })
    tiles.get(x).numbers.add(numberOf(time))
    if (current) tiles.get(x).heads++
  }
  return [...tiles.values()]
}

onEachStore('a backup of a store that is written to', backend => {
  const folder = useFolder()

  const couchDbShards = process.env.TILECOUCH_LONG ? [1, 2, 8] : [2]
  for (const q of backend.name === 'CouchDB' ? couchDbShards : [1]) {
    it(`contains all writes up to one number, and none after it (q=${q})`, async () => {
      const store = await Store.create(await backend.database(), { q })
      const writers = startWriters(store)
      try {
        await until(() => writers.done.writes > 20)
        let before = 0
        for (let round = 0; round < ROUNDS; round++) {
          const file = folder.path(`${round}.tcb`)
          const first = writers.done.writes
          const summary =
            await backup(store, file, { base: round ? folder.path(`${round - 1}.tcb`) : undefined })
          const last = writers.done.writes
          assert.equal(summary.moment, 'store')
          const { docs } = await contentsOf(file)
          if (!round) {
            const numbers = numbersOf(docs).flatMap(tile => [...tile.numbers]).sort((a, b) => a - b)
            assert.deepEqual(numbers, numbers.map((_, index) => index + 1), 'none without those before it')
            assert.ok(numbers.length >= first && numbers.length <= last + 1, `${first} <= ${numbers.length} <= ${last}`)
          }
          assert.ok(last > before, 'it was written to meanwhile')
          before = last
        }
        await writers.stop()
        const files = Array.from({ length: ROUNDS }, (_, round) => folder.path(`${round}.tcb`))
        const restored = await backend.database()
        assert.equal((await restore(files, restored, { rights: 'give' })).differences, 0)
        const tiles = await checkInvariants(restored, { settled: false })
        const numbers = [...tiles].filter(([id]) => id.startsWith('numbered'))
          .flatMap(([, versions]) => [...new Set(versions.map(({ time }) => numberOf(time)))]).sort((a, b) => a - b)
        assert.deepEqual(numbers, numbers.map((_, index) => index + 1))
      } finally {
        await writers.stop()
      }
    })
  }

  it('has each tile as of one moment if the store keeps changing; the next backup has the rest', async () => {
    const store = await Store.create(await backend.database(), { q: backend.name === 'CouchDB' ? 2 : 1 })
    const writers = startWriters(store)
    const [first, second] = ['a.tcb', 'b.tcb'].map(name => folder.path(name))
    try {
      await until(() => writers.done.writes > 5)
      const { moment } = await backup(store, first, { limits: { ...backupDefaults, quiet: 0 } })
      assert.equal(moment, 'tile')
    } finally {
      await writers.stop()
    }
    const { docs, trailer } = await contentsOf(first)
    assert.equal(trailer.moment, 'tile')
    for (const { heads, numbers } of numbersOf(docs)) {
      assert.equal(heads, 1)
      const sorted = [...numbers].sort((a, b) => a - b)
      const [lowest] = sorted
      assert.deepEqual(sorted, sorted.map((_, index) => lowest + index * NUMBERED), 'no version is missing')
    }
    assert.equal((await backup(store, second, { base: first })).moment, 'store')
    const wholeBackup = await backup(store, folder.path('whole.tcb'))
    const chained = await restore([second, first], await backend.database(), { dryRun: true })
    assert.deepEqual([chained.revisions, chained.tiles], [wholeBackup.documents, wholeBackup.tiles])
  })
}, { timeout: 600000 })

const UNSETTLED = new Set(['head-too-old', 'no-head', 'version-twice'])

onEachStore('a backup between two requests', backend => {
  const folder = useFolder()

  /** Runs work with a backup after each request that writes. Returns the faults of all restored stores. */
  async function backups (work) {
    const url = await backend.database()
    const sourceStore = await storeOf(url, HISTORY)
    const store = await Store.open(url)
    const originalRequest = store.couch.request.bind(store.couch)
    const files = []
    store.couch.request = async options => {
      const answer = await originalRequest(options)
      if (/^_bulk_docs/.test(options.path ?? '')) {
        const file = folder.path(`${files.length}.tcb`)
        await backup(sourceStore, file)
        files.push(file)
      }
      return answer
    }
    await work(store)
    assert.ok(files.length > 1, `${files.length} requests to write`)
    const faults = []
    for (const [index, file] of files.entries()) {
      const to = await backend.database()
      await restore([file], to, { rights: 'give' })
      await check(await Store.open(to), { decode: false, onFinding: ({ code, where }) => {
        if (UNSETTLED.has(code)) faults.push(`after request ${index + 1} of ${files.length}: ${code} ${where}`)
      } })
      await request(to, { method: 'DELETE' })
    }
    await sourceStore.destroy()
    return faults
  }

  it('of a removal is restored to a store without unsettled tiles', async () => {
    assert.deepEqual(await backups(store => removeTiles(store, 'osm', { since: '2022', until: '2022' })), [])
  })

  it('of a removal during an older load is restored to a store without unsettled tiles', async () => {
    const faults = await backups(async store => {
      const originalRequest = store.couch.request
      let hasMet = false
      store.couch.request = async options => {
        // The load has read the heads before they fall back. It writes its decision afterwards.
        const answer = await originalRequest(options)
        const isFallBack = options.path === '_bulk_docs' && /"current":true/.test(options.body.toString())
        if (isFallBack && !hasMet) {
          hasMet = true
          const doc = {
            _id: `osm:${Z}:1:3@${yearStart(2021)}`, type: 'tile', layer: 'osm', z: Z, x: 1, y: 3, current: false,
            time: yearStart(2021), stored: yearStart(2021),
            _attachments: { tile: { content_type: 'image/png', data: png(40).toString('base64') } }
          }
          await originalRequest({ method: 'POST', path: '_bulk_docs', body: { docs: [doc] } })
        }
        return answer
      }
      await removeTiles(store, 'osm', { since: '2022', until: '2022' })
    })
    assert.deepEqual(faults, [])
  })

  it('of a load is restored to a store without unsettled tiles', async () => {
    const versions = [1, 2, 3, 4].map(y => ({ layer: 'osm', z: Z, x: 1, y, time: yearStart(2024), bytes: png(50 + y) }))
    assert.deepEqual(await backups(store => store.write(versions)), [])
  })
}, { timeout: 120000 })
