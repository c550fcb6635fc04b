// Random histories of a layer in memory, with the real code: loads, single writes and removals on one store or on two
// masters. They run at the same time, and are killed before any request and run again. In the end every tile shows the
// stated version at every time, whatever the order. A seed always gives the same history.
import assert from 'node:assert/strict'
import { random } from '../../bench/tiles.js'
import { load } from '../../loader/load/index.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { resolve } from '../../loader/check/conflicts.js'
import { digestOf } from '../../loader/store/tile.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { Database, Turns, shown, storeOf } from './memory.js'

const LIVES = +(process.env.TILECOUCH_LIVES ?? (process.env.TILECOUCH_LONG ? 5000 : 120))
const FIRST = +(process.env.TILECOUCH_SEED ?? 1)
const TILES = [[1, 0, 0], [1, 0, 1]]
const idOf = ([z, x, y]) => `osm:${z}:${x}:${y}`
const timeOf = year => `20${String(year).padStart(2, '0')}-01-01T00:00:00Z`
const digests = new Map(['A', 'B'].map((content, index) => [content, digestOf(png(index + 1))]))
const bytesOf = content => content === null ? null : png(content === 'A' ? 1 : 2)

/**
 * @typedef {{kind: 'load' | 'write' | 'remove', time: number, tiles?: Record<string, string | null>, complete?:
 *   boolean, order?: number}} Op
 */

/** The content of the newest statement about a tile at a time. @param {Op[]} ops in the order of their runs */
function expectedContent (ops, id, time) {
  let newest
  for (const op of ops) {
    const tiles = /** @type {Record<string, string | null>} */ (op.tiles)
    if (op.time > time || (!(id in tiles) && !op.complete)) continue
    if (!newest || op.time > newest.time || (op.time === newest.time && op.order > newest.order)) {
      newest = { ...op, content: tiles[id] ?? null }
    }
  }
  return newest?.content ?? null
}

function sourceOf ({ tiles }) {
  const namedTiles = TILES.filter(tile => tiles[idOf(tile)] !== undefined)
  return memorySource(Object.fromEntries(namedTiles.map(tile => [tile.join('/'), bytesOf(tiles[idOf(tile)])])),
    { diff: Object.values(tiles).includes(null) || !Object.keys(tiles).length })
}

/** @param {import('../../loader/store/index.js').Store} store @param {Op} op */
async function perform (store, op) {
  if (op.kind === 'load') {
    const summary = await load(store, /** @type {any} */ (sourceOf(op)),
      { layer: 'osm', time: timeOf(op.time), complete: op.complete })
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
  } else if (op.kind === 'write') {
    const [[id, content]] = Object.entries(/** @type {any} */ (op.tiles))
    const [z, x, y] = id.split(':').slice(1).map(Number)
    const fields = content === null ? { gone: true } : { bytes: bytesOf(content) }
    const summary = await store.write([{ layer: 'osm', z, x, y, time: timeOf(op.time), ...fields }])
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
  } else await removeEdition(store, 'osm', timeOf(op.time))
}

/**
 * Runs a function with its own clock and random numbers, so that a seed always gives the same history.
 * @param {() => number} rnd
 * @param {() => Promise<void>} body
 */
async function withSeededClock (rnd, body) {
  const [RealDate, realRandom] = [Date, Math.random]
  let now = RealDate.parse('2026-01-01T00:00:00Z')
  globalThis.Date = /** @type {any} */ (class extends RealDate {
    constructor (/** @type {any[]} */ ...parts) {
      if (parts.length) super(.../** @type {[any]} */ (parts))
      else super(now++)
    }

    static now () {
      return now++
    }
  })
  Math.random = rnd
  try {
    await body()
  } finally {
    globalThis.Date = RealDate
    Math.random = realRandom
  }
}

/** @param {number} seed @param {Parameters<typeof play>[1]} [options] */
const live = (seed, options) => withSeededClock(random(seed + 1e6), () => play(seed, options))

/** @param {number} seed @param {{masters?: number, removals?: boolean}} [options] */
async function play (seed, { masters: maxMasters = 2, removals = true } = {}) {
  const rnd = random(seed)
  const pick = list => list[Math.floor(rnd() * list.length)]
  const times = [1, 2, 3, 4, 5]
  const freeTimes = [...times].sort(() => rnd() - 0.5)
  const masters = Array.from({ length: rnd() < 0.5 ? 1 : maxMasters }, (_, index) => new Database(`m${index}`))
  for (const master of masters) {
    await master.request(
      { method: 'PUT', path: 'tilecouch', body: { type: 'store', schema: 1, created: timeOf(0), uuid: 'u' } }
    )
  }
  /** @type {Op[]} */
  let ops = []
  let order = 0
  /** @type {Map<number, Database>} */
  const masterByFreedTime = new Map()
  const check = (master, round, unknown = []) => {
    for (const tile of TILES) {
      for (const time of times) {
        if (
          unknown.some(({ id, reason }) => id === idOf(tile) && timeOf(time) >= (/@(\S+) has/.exec(reason)?.[1] ?? ''))
        ) {
          continue
        }
        const expected = expectedContent(ops, idOf(tile), time)
        assert.equal(shown(master, idOf(tile), timeOf(time)), expected && digests.get(expected),
          `seed ${seed}, round ${round}, ${master.name}: ${idOf(tile)} as of ${time} is ${expected}`)
      }
    }
  }
  for (let round = 0; round < 4; round++) {
    const turns = new Turns(rnd)
    /** @type {{op: Op, master: Database}[]} */
    const roundOps = []
    for (let remaining = 1 + Math.floor(rnd() * 3); remaining--;) {
      const removableOps = ops.filter(op => !roundOps.some(entry => entry.op.time === op.time))
      if (removals && rnd() < 0.25 && removableOps.length && !roundOps.some(({ op }) => op.kind === 'remove')) {
        const { time } = pick(removableOps)
        roundOps.push({ op: { kind: 'remove', time }, master: pick(masters) })
        ops = ops.filter(op => op.time !== time)
        continue
      }
      const time = freeTimes.shift()
      if (time === undefined) continue
      const content = () => pick(['A', 'B', 'A', 'B', null])
      const op = /** @type {Op} */ (rnd() < 0.3
        ? { kind: 'write', time, tiles: { [idOf(pick(TILES))]: pick(['A', 'B']) } }
        : { kind: 'load', time, tiles: Object.fromEntries(
          TILES.filter(() => rnd() < 0.7).map(tile => [idOf(tile), content()])
        ) })
      if (op.kind === 'load' && !Object.values(op.tiles ?? {}).includes(null) && Object.keys(op.tiles ?? {}).length) {
        op.complete = rnd() < 0.4
      }
      // a removed time is free only on the master that has the removal
      roundOps.push({ op, master: masterByFreedTime.get(time) ?? pick(masters) })
    }
    await turns.run(roundOps.map(({ op, master }) => process => perform(storeOf(master, turns, process), op)), 2)
    for (const { op, master } of roundOps) {
      if (op.kind === 'remove') {
        freeTimes.push(op.time)
        masterByFreedTime.set(op.time, master)
      }
      if (op.kind !== 'remove') ops.push({ ...op, order: order++ })
    }
    if (masters.length === 1) check(masters[0], round)
    else {
      exchange(rnd, masters, rnd())
      if (rnd() < 0.5) await settleAlone(pick(masters), rnd)
    }
  }
  // an image is lost if one master removed the last bytes while the other confirmed them: `resolve` must report it
  let unknown = []
  for (let turn = 0; turn < 4; turn++) {
    exchange(rnd, masters, 1)
    unknown = []
    for (const master of masters) {
      unknown.push(...(await settleAlone(master, rnd)).named.filter(({ what }) => what === 'unknown'))
    }
  }
  for (const master of masters) check(master, 'last', masters.length > 1 ? unknown : [])
}

async function settleAlone (master, rnd) {
  const turns = new Turns(rnd)
  let summary
  await turns.run([async process => { summary = await resolve(storeOf(master, turns, process)) }])
  return /** @type {Awaited<ReturnType<typeof resolve>>} */ (/** @type {unknown} */ (summary))
}

function exchange (rnd, masters, share) {
  for (const from of masters) for (const to of masters) if (from !== to) {
    to.take(from, from.ids.filter(() => rnd() < share).sort(() => rnd() - 0.5))
  }
}

describe(`random loads, writes and removals of a layer (seeds ${FIRST} to ${FIRST + LIVES - 1})`, function () {
  this.timeout(20000 + LIVES * 500)
  this.slow(20000)

  /** @param {Parameters<typeof live>[1]} options */
  const liveAll = async options => {
    const failures = []
    for (let seed = FIRST; seed < FIRST + LIVES; seed++) {
      await live(seed, options).catch(error => failures.push(`seed ${seed}: ${error.message}`))
    }
    if (failures.length) {
      throw new Error(`${failures.length} of ${LIVES} lives went wrong:\n${failures.slice(0, 5).join('\n')}`)
    }
  }

  it('show the stated versions in any order of steps, on one store and on two masters', () => liveAll({ masters: 2 }))

  // a load that stores nothing must not delete a removal of its layer, nor the layer of a load that just began
  for (const seed of [2542, 3388, 9760, 15337]) {
    it(`show the stated versions with seed ${seed}, in which a load stores nothing`, () => live(seed, { masters: 2 }))
  }

  // a repeated write after a kill must not take the leaf of a removed run for its own
  for (const seed of [100704, 100775]) {
    it(`show the stated versions with seed ${seed}, which once lost a version`, () => live(seed))
  }
})
