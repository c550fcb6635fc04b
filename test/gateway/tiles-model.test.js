// Random writers and readers against a naive model: whatever is answered, the store held it at some moment from one
// second before the question on. Memory is small, answers are late, and the feed breaks now and then.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Store, compose, push } from '../../loader/index.js'
import { random } from '../../bench/tiles.js'
import { onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { openService } from '../support/gateway/stand.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const LASTS = +(process.env.TILECOUCH_MODEL_SECONDS ?? 5) * 1000 // milliseconds
const OLDEST = 1000 // milliseconds that an answer may be behind
const TILES = 9
const WRITERS = 3

const timeOf = year => `${2000 + year}-01-01T00:00:00Z`

/**
 * One tile: everything that was said of it, and when. A statement is [year, seed], seed null when it is gone; one that
 * changes nothing counts when something comes before it.
 */
class History {
  constructor () {
    this.states = [{ versions: [], from: -Infinity, to: Infinity }]
    this.year = 0
    this.fills = 0 // before the newest
  }

  /** From the moment the write begins the store may hold it; from the moment it has ended it holds nothing older. */
  begin (year, seed) {
    const before = this.states[this.states.length - 1]
    const older = before.versions.filter(([then]) => then < year)
    const versions = [...older, [year, seed], ...before.versions.filter(([then]) => then > year)]
    this.states.push({ versions, from: performance.now(), to: Infinity })
    return () => { before.to = performance.now() }
  }

  /** Everything that may have been shown as of a year, or as the present, between two moments. */
  shown (year, from, to) {
    return this.states.filter(state => state.from <= to && state.to >= from)
      .map(({ versions }) => versions.filter(([then]) => year === undefined || then <= year).at(-1)?.[1] ?? null)
  }
}

onEachStore(`tiles of a gateway against a model (seed ${SEED})`, backend => {
  let store, service
  afterEach(async () => {
    await service?.close()
    await store?.destroy()
  })

  it('are never more than a second behind the store', async function () {
    await live(this, { missing: 60000 })
  })

  it('are never more than a second behind with the most read-ahead and guessed versions', async function () {
    await live(this, {
      missing: 60000, aheadPart: 1, sides: [4], near: 9, credit: 1e9, learn: 1, share: 0.05, indexPause: 1
    })
  })

  async function live (test, limits) {
    test.timeout(LASTS + 60000)
    const next = random(SEED)
    const pick = most => Math.floor(next() * most)
    const db = await backend.database()
    store = await Store.create(db)
    await store.defineLayer('osm', {})
    await push(store.couch, (await compose()).filter(({ _id }) => _id === '_design/versions'))
    // room for a part of the versions and timelines
    service = await openService(db, { memory: 50000, limits })
    const tiles = Array.from({ length: TILES }, () => new History())
    const counts = { reads: 0, hits: 0, writes: 0, breaks: 0 }
    const until = performance.now() + LASTS
    const running = () => performance.now() < until

    // a part of the answers comes late: what the store held when it was asked
    service.front.rule(async ({ kind, path, body }) => {
      if (kind === 'changes' || !body || next() < 0.6) return
      const headers = { 'content-type': 'application/json', accept: path.startsWith('_bulk_get')
        ? 'multipart/mixed, application/json;q=0.5' : 'application/json' }
      const answer = await request(`${db}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const bytes = Buffer.from(await answer.arrayBuffer())
      await sleep(pick(100))
      return {
        status: answer.status, body: bytes, headers: { 'Content-Type': answer.headers.get('content-type') ?? '' }
      }
    })

    // each writer has tiles of its own: what two write to one at once has no order that a model could know
    async function write (writer) {
      while (running()) {
        const x = pick(TILES / WRITERS) * WRITERS + writer
        const tile = tiles[x]
        // pushed out of memory, so that it is likely to be read while it is written
        for (const key of [`osm:5:${x}:0`, `osm:5:${x}:0@`]) service.memory.delete(key)
        await sleep(pick(50))
        // most are newer than all before, some are for a time in the past
        const year = next() < 0.4 && tile.year ? tile.year - 10 + ++tile.fills : tile.year += 10
        if (year % 10 === 0) tile.fills = 0
        if (tile.fills > 8) continue
        const seed = next() < 0.2 ? null : pick(40)
        const end = tile.begin(year, seed)
        const { failed } = await store.write(
          [{
            layer: 'osm', z: 5, x, y: 0, time: timeOf(year), ...(seed === null ? { gone: true } : { bytes: png(seed) })
          }]
        )
        end()
        assert.equal(failed, 0)
        counts.writes++
        // long enough between two that what was kept wrongly is seen
        await sleep(pick(1000))
      }
    }

    async function read () {
      while (running()) {
        const x = pick(TILES)
        const year = next() < 0.5 ? undefined : Math.max(0, tiles[x].year + 1 - pick(20))
        const started = performance.now()
        const found = await service.tiles.get('osm', 5, x, 0, year === undefined ? undefined : timeOf(year))
          .catch(error => {
          if (error.code === 'TILE_NOT_FOUND') return null
          // an answer that was broken off, time and again: no answer is no wrong one
          if (error.code === 'UNREACHABLE' || error.code === 'BAD_ANSWER') return undefined
          throw error
        })
        if (found === undefined) continue
        const allowed = tiles[x].shown(year, started - OLDEST, performance.now())
        const isAllowed = allowed.some(seed => seed === null ? found === null : found?.entry.bytes.equals(png(seed)))
        assert.ok(isAllowed,
          `tile ${x} as of ${year ?? 'now'}: ${found?.outcome} ${found?.entry.time} is none of ${allowed}`)
        counts.reads++
        if (found?.outcome === 'hit') counts.hits++
        assert.ok(service.memory.bytes <= service.memory.maxBytes)
        if (next() < 0.2) await sleep(pick(10))
      }
    }

    async function breakFeed () {
      while (running()) {
        await sleep(300 + pick(400))
        // every connection breaks, in the middle of whatever it carries
        const port = +new URL(service.front.url).port
        await service.front.stop()
        await service.front.restart(port)
        counts.breaks++
      }
    }

    await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)),
      ...Array.from({ length: 8 }, read), breakFeed()])
    console.log(`      ${JSON.stringify(counts)}`)
    assert.ok(counts.reads > 50 && counts.hits > 10 && counts.writes > 5, JSON.stringify(counts))

    // when all is quiet, all is as the store has it
    service.front.reset()
    await sleep(OLDEST)
    for (const [x, tile] of tiles.entries()) {
      for (let year = 0; year <= tile.year; year += 5) {
        const [expected] = tile.shown(year, performance.now(), Infinity)
        const found = await service.tiles.get('osm', 5, x, 0, timeOf(year)).catch(() => null)
        assert.ok(expected === null ? !found : found?.entry.bytes.equals(png(expected)), `tile ${x} as of ${year}`)
      }
    }
  }
})
