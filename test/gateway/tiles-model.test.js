// Tests of the tile service with random writers and readers against a simple model. Each answer must be a state that
// the store had at most a second before the request. Memory is small, answers come late, and the feed breaks.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Store, compose, push } from '../../loader/index.js'
import { random } from '../../bench/tiles.js'
import { onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { openService } from '../support/gateway/stand.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const DURATION = +(process.env.TILECOUCH_MODEL_SECONDS ?? 5) * 1000 // milliseconds
const MAX_AGE = 1000 // milliseconds that an answer may be old
const TILES = 9
const WRITERS = 3

const timeOf = year => `${2000 + year}-01-01T00:00:00Z`

/**
 * The states of one tile, and when the store had them. A statement is [year, seed]; the seed is null if the tile is
 * gone. A statement without a change counts once an earlier one precedes it.
 */
class History {
  constructor () {
    this.states = [{ versions: [], from: -Infinity, to: Infinity }]
    this.year = 0
    this.fills = 0 // statements before the newest
  }

  /** Begins a write: the store may have the new state from now on. The returned function ends the old state. */
  begin (year, seed) {
    const previous = this.states[this.states.length - 1]
    const older = previous.versions.filter(([statementYear]) => statementYear < year)
    const versions = [...older, [year, seed], ...previous.versions.filter(([statementYear]) => statementYear > year)]
    this.states.push({ versions, from: performance.now(), to: Infinity })
    return () => { previous.to = performance.now() }
  }

  /** Returns the seeds that may be shown as of a year, or now if it is undefined, between two moments. */
  shown (year, from, to) {
    return this.states.filter(state => state.from <= to && state.to >= from)
      .map(({ versions }) => versions
        .filter(([statementYear]) => year === undefined || statementYear <= year).at(-1)?.[1] ?? null)
  }
}

onEachStore(`tiles of a gateway against a model (seed ${SEED})`, backend => {
  let store, service
  afterEach(async () => {
    await service?.close()
    await store?.destroy()
  })

  it('are never more than a second behind the store', async function () {
    await runModel(this, { missing: 60000 })
  })

  it('are never more than a second behind with the most read-ahead and guessed versions', async function () {
    await runModel(this, {
      missing: 60000, aheadPart: 1, sides: [4], near: 9, credit: 1e9, learn: 1, share: 0.05, indexPause: 1
    })
  })

  async function runModel (test, limits) {
    test.timeout(DURATION + 60000)
    const next = random(SEED)
    const pick = limit => Math.floor(next() * limit)
    const db = await backend.database()
    store = await Store.create(db)
    await store.defineLayer('osm', {})
    await push(store.couch, (await compose()).filter(({ _id }) => _id === '_design/versions'))
    // memory has room for some of the versions and timelines
    service = await openService(db, { memory: 50000, limits })
    const tiles = Array.from({ length: TILES }, () => new History())
    const counts = { reads: 0, hits: 0, writes: 0, breaks: 0 }
    const deadline = performance.now() + DURATION
    const isRunning = () => performance.now() < deadline

    // delay some answers, which then have the state at the time of the request
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

    // each writer has its own tiles, because the model cannot know the order of concurrent writes to one tile
    async function write (writer) {
      while (isRunning()) {
        const x = pick(TILES / WRITERS) * WRITERS + writer
        const tile = tiles[x]
        // remove the tile from memory, so that a read during the write is likely
        for (const key of [`osm:5:${x}:0`, `osm:5:${x}:0@`]) service.memory.delete(key)
        await sleep(pick(50))
        // most writes add the newest version, some add one to the past
        const year = next() < 0.4 && tile.year ? tile.year - 10 + ++tile.fills : tile.year += 10
        if (year % 10 === 0) tile.fills = 0
        if (tile.fills > 8) continue
        const seed = next() < 0.2 ? null : pick(40)
        const endWrite = tile.begin(year, seed)
        const { failed } = await store.write(
          [{
            layer: 'osm', z: 5, x, y: 0, time: timeOf(year), ...(seed === null ? { gone: true } : { bytes: png(seed) })
          }]
        )
        endWrite()
        assert.equal(failed, 0)
        counts.writes++
        // wait long enough between writes for readers to notice a wrong tile in memory
        await sleep(pick(1000))
      }
    }

    async function read () {
      while (isRunning()) {
        const x = pick(TILES)
        const year = next() < 0.5 ? undefined : Math.max(0, tiles[x].year + 1 - pick(20))
        const started = performance.now()
        const answer = await service.tiles.get('osm', 5, x, 0, year === undefined ? undefined : timeOf(year))
          .catch(error => {
          if (error.code === 'TILE_NOT_FOUND') return null
          // each retry was cut off: a missing answer is not wrong
          if (error.code === 'UNREACHABLE' || error.code === 'BAD_ANSWER') return undefined
          throw error
        })
        if (answer === undefined) continue
        const allowed = tiles[x].shown(year, started - MAX_AGE, performance.now())
        const isAllowed = allowed.some(seed => seed === null ? answer === null : answer?.entry.bytes.equals(png(seed)))
        assert.ok(isAllowed,
          `tile ${x} as of ${year ?? 'now'}: ${answer?.outcome} ${answer?.entry.time} is none of ${allowed}`)
        counts.reads++
        if (answer?.outcome === 'hit') counts.hits++
        assert.ok(service.memory.bytes <= service.memory.maxBytes)
        if (next() < 0.2) await sleep(pick(10))
      }
    }

    async function breakFeed () {
      while (isRunning()) {
        await sleep(300 + pick(400))
        // this breaks every connection, even in the middle of an answer
        await service.front.stop()
        await service.front.restart()
        counts.breaks++
      }
    }

    await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)),
      ...Array.from({ length: 8 }, read), breakFeed()])
    console.log(`      ${JSON.stringify(counts)}`)
    assert.ok(counts.reads > 50 && counts.hits > 10 && counts.writes > 5, JSON.stringify(counts))

    // without writes, every answer must be the current state of the store
    service.front.reset()
    await sleep(MAX_AGE)
    for (const [x, tile] of tiles.entries()) {
      for (let year = 0; year <= tile.year; year += 5) {
        const [expected] = tile.shown(year, performance.now(), Infinity)
        const answer = await service.tiles.get('osm', 5, x, 0, timeOf(year)).catch(() => null)
        assert.ok(expected === null ? !answer : answer?.entry.bytes.equals(png(expected)), `tile ${x} as of ${year}`)
      }
    }
  }
})
