// Backups of a store that is written to all the time: what is in the file is the store after exactly so many writes. A
// backup that is made between two requests of a removal or a load is restored to a store with nothing half done.
import assert from 'node:assert/strict'
import path from 'node:path'
import { Store } from '../../loader/index.js'
import { check } from '../../loader/check/index.js'
import { removeTiles } from '../../loader/maintain/remove/index.js'
import { backup, backupDefaults } from '../../loader/backup/index.js'
import { readFileParts } from '../../loader/backup/reader.js'
import { restore } from '../../loader/backup/restore.js'
import { addSeconds } from '../../core/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { png, square } from '../support/tiles.js'
import { T1 } from '../support/backups.js'
import { HISTORY, T, Z, storeOf } from '../support/removals.js'

const ROUNDS = process.env.TILECOUCH_LONG ? 30 : 2
const SIDE = 7 // of the square of tiles that is loaded edition by edition
const NUMBERED = 5 // tiles of the other layer, one version after the other

/** Two that write until they are stopped: one version at a time, numbered; and editions in batches. */
function startWriters (store) {
  let isOver = false
  const done = { writes: 0, editions: 0 }
  const one = async () => {
    for (let n = 1; !isOver; n++) {
      await store.write(
        [{ layer: 'numbered', z: 8, x: n % NUMBERED, y: 0, time: addSeconds(T1, n), bytes: png(n % 300) }]
      )
      done.writes = n
    }
  }
  const many = async () => {
    for (let n = 1; !isOver; n++) {
      await store.write(
        square({ layer: 'osm', time: addSeconds(T1, n), side: SIDE, seed: (x, y) => (x + y + n) % 3
          ? (x * SIDE + y + n * 7) % 300 : undefined })
      )
      done.editions = n
    }
  }
  const running = Promise.all([one(), many()])
  return { done, stop: () => { isOver = true; return running } }
}

/** What a restore would make of a file. */
async function contentsOf (file) {
  const docs = new Map()
  let trailer
  for await (const part of readFileParts(file)) {
    if (part.kind === 'documents') for (const doc of part.documents.docs) docs.set(doc._id, doc)
    else if (part.kind === 'trailer') trailer = part.trailer
  }
  return { docs, trailer }
}

/**
 * The numbers of the versions of each numbered tile; the copy of a head that is about to be overwritten is the same
 * number.
 */
function numbersOf (docs) {
  const tiles = new Map()
  for (const { layer, x, time, current } of docs.values()) {
    if (layer !== 'numbered' || !time) continue
    if (!tiles.has(x)) tiles.set(x, { heads: 0, numbers: new Set() })
    tiles.get(x).numbers.add((Date.parse(time) - Date.parse(T1)) / 1000)
    if (current) tiles.get(x).heads++
  }
  return [...tiles.values()]
}

onEachStore('a backup of a store that is written to', backend => {
  const folder = useFolder()

  for (const q of backend.name !== 'CouchDB' ? [1] : process.env.TILECOUCH_LONG ? [1, 2, 8] : [2]) {
    it(`contains all writes up to one number, and none after it (q=${q})`, async () => {
      const store = await Store.create(await backend.database(), { q })
      const writers = startWriters(store)
      try {
        await until(() => writers.done.writes > 20)
        let before = 0
        for (let round = 0; round < ROUNDS; round++) {
          const file = path.join(folder.dir, `${round}.tcb`)
          const from = writers.done.writes
          const summary =
            await backup(store, file, { base: round ? path.join(folder.dir, `${round - 1}.tcb`) : undefined })
          const to = writers.done.writes
          assert.equal(summary.moment, 'store')
          const { docs } = await contentsOf(file)
          if (!round) {
            const numbers = numbersOf(docs).flatMap(tile => [...tile.numbers]).sort((a, b) => a - b)
            assert.deepEqual(numbers, numbers.map((_, index) => index + 1), 'none without those before it')
            assert.ok(numbers.length >= from && numbers.length <= to + 1, `${from} <= ${numbers.length} <= ${to}`)
          }
          assert.ok(to > before, 'it was written to meanwhile')
          before = to
        }
        await writers.stop()
        const files = Array.from({ length: ROUNDS }, (_, round) => path.join(folder.dir, `${round}.tcb`))
        const restored = await backend.database()
        assert.equal((await restore(files, restored, { rights: 'give' })).differences, 0)
        const tiles = await checkInvariants(restored, { settled: false })
        const numbers = [...tiles].filter(([id]) => id.startsWith('numbered'))
          .flatMap(
            ([, versions]) => [...new Set(versions.map(({ time }) => (Date.parse(time) - Date.parse(T1)) / 1000))]
          ).sort((a, b) => a - b)
        assert.deepEqual(numbers, numbers.map((_, index) => index + 1))
      } finally {
        await writers.stop()
      }
    })
  }

  it('has each tile as of one moment if the store keeps changing; the next backup has the rest', async () => {
    const store = await Store.create(await backend.database(), { q: backend.name === 'CouchDB' ? 2 : 1 })
    const writers = startWriters(store)
    const [first, second] = ['a.tcb', 'b.tcb'].map(name => path.join(folder.dir, name))
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
      sorted.forEach(
        (number, index) => { if (index) assert.equal(number, sorted[index - 1] + NUMBERED, 'no version is missing') }
      )
    }
    assert.equal((await backup(store, second, { base: first })).moment, 'store')
    const whole = await backup(store, path.join(folder.dir, 'whole.tcb'))
    const chained = await restore([second, first], await backend.database(), { dryRun: true })
    assert.deepEqual([chained.revisions, chained.tiles], [whole.documents, whole.tiles])
  })
}, { timeout: 600000 })

const UNSETTLED = new Set(['head-too-old', 'no-head', 'version-twice'])

onEachStore('a backup between two requests', backend => {
  const folder = useFolder()

  /** Does something, with a backup after each request to write; answers what is wrong with each restored store. */
  async function backups (work) {
    const url = await backend.database()
    const settled = await storeOf(url, HISTORY)
    const store = await Store.open(url)
    const ask = store.couch.request.bind(store.couch)
    const files = []
    store.couch.request = async asked => {
      const answer = await ask(asked)
      if (/^_bulk_docs/.test(asked.path ?? '')) {
        const file = path.join(folder.dir, `${files.length}.tcb`)
        await backup(settled, file)
        files.push(file)
      }
      return answer
    }
    await work(store)
    assert.ok(files.length > 1, `${files.length} requests to write`)
    const wrong = []
    for (const [at, file] of files.entries()) {
      const to = await backend.database()
      await restore([file], to, { rights: 'give' })
      await check(await Store.open(to), { decode: false, onFinding: ({ code, where }) => {
        if (UNSETTLED.has(code)) wrong.push(`after request ${at + 1} of ${files.length}: ${code} ${where}`)
      } })
      await request(to, { method: 'DELETE' })
    }
    await settled.destroy()
    return wrong
  }

  it('of a removal is restored to a store without unsettled tiles', async () => {
    assert.deepEqual(await backups(store => removeTiles(store, 'osm', { since: '2022', until: '2022' })), [])
  })

  it('of a removal during an older load is restored to a store without unsettled tiles', async () => {
    const wrong = await backups(async store => {
      const ask = store.couch.request
      let met = false
      store.couch.request = async asked => {
        // the load has looked at the heads before they fall back, and writes what it decided after that
        const answer = await ask(asked)
        const falls = asked.path === '_bulk_docs' && /"current":true/.test(asked.body.toString())
        if (falls && !met) {
          met = true
          const doc = {
            type: 'tile', layer: 'osm', z: Z, x: 1, y: 3, current: false, time: T(2021),
            stored: T(2021), _attachments: { tile: { content_type: 'image/png', data: png(40).toString('base64') } }
          }
          await ask(
            { method: 'POST', path: '_bulk_docs', body: { docs: [{ _id: `osm:${Z}:1:3@${T(2021)}`, ...doc }] } }
          )
        }
        return answer
      }
      await removeTiles(store, 'osm', { since: '2022', until: '2022' })
    })
    assert.deepEqual(wrong, [])
  })

  it('of a load is restored to a store without unsettled tiles', async () => {
    const versions = [1, 2, 3, 4].map(y => ({ layer: 'osm', z: Z, x: 1, y, time: T(2024), bytes: png(50 + y) }))
    assert.deepEqual(await backups(store => store.write(versions)), [])
  })
}, { timeout: 120000 })
