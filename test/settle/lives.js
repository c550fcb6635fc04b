// Random lives of a layer, in memory, with all that ships: loads, single writes, removals, two masters; overlapping,
// killed and repeated. After each, every tile shows at every time what was said of it, whatever the order.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { resolve } from '../../loader/check/conflicts.js'
import { digestOf } from '../../loader/store/tile.js'
import { png } from '../support/tiles.js'
import { Database, Turns, random, shown, storeOf } from './memory.js'

const TILES = [[1, 0, 0], [1, 0, 1]]
const idOf = ([z, x, y]) => `osm:${z}:${x}:${y}`
const timeOf = year => `20${String(year).padStart(2, '0')}-01-01T00:00:00Z`
const digests = new Map(['A', 'B'].map((content, index) => [content, digestOf(png(index + 1))]))
const bytesOf = content => content === null ? null : png(content === 'A' ? 1 : 2)

/**
 * @typedef {{kind: 'load' | 'write' | 'remove', time: number, tiles?: Record<string, string | null>, complete?:
 *   boolean, order?: number}} Op
 */

/** The newest statement of a tile at a time. @param {Op[]} ops in the order of their runs */
function truth (ops, id, time) {
  let best
  for (const op of ops) {
    const tiles = /** @type {Record<string, string | null>} */ (op.tiles)
    if (op.time > time || (!(id in tiles) && !op.complete)) continue
    if (!best || op.time > best.time || (op.time === best.time && op.order > best.order)) {
      best = { ...op, content: tiles[id] ?? null }
    }
  }
  return best?.content ?? null
}

function sourceOf ({ tiles }) {
  return {
    name: 'memory', fields: {}, counts: undefined, total: undefined,
    diff: Object.values(tiles).includes(null) || !Object.keys(tiles).length,
    async * tiles () {
      for (const tile of TILES) {
        const content = tiles[idOf(tile)]
        const [z, x, y] = tile
        if (content !== undefined) {
          yield { z, x, y, ...(content === null ? { gone: true } : { read: async () => bytesOf(content) }) }
        }
      }
    },
    async close () {}
  }
}

/** @param {import('../../loader/store/index.js').Store} store @param {Op} op */
async function perform (store, op) {
  if (op.kind === 'load') {
    const summary = await load(store, /** @type {any} */ (sourceOf(op)),
      { layer: 'osm', time: timeOf(op.time), complete: op.complete })
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
  } else if (op.kind === 'write') {
    const [[id, content]] = Object.entries(/** @type {any} */ (op.tiles))
    const [, z, x, y] = id.split(':')
    const summary = await store.write(
      [
        { layer: 'osm', z: +z, x: +x, y: +
          y, time: timeOf(op.time), ...(content === null ? { gone: true } : { bytes: bytesOf(content) }) }
      ]
    )
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
  } else await removeEdition(store, 'osm', timeOf(op.time))
}

/**
 * The clock and chance of a life are its own, so that it can be lived again.
 * @param {() => number} rnd
 * @param {() => Promise<void>} body
 */
async function within (rnd, body) {
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
export const live = (seed, options) => within(random(seed + 1e6), () => play(seed, options))

/** @param {number} seed @param {{masters?: number, removals?: boolean, log?: (line: string) => void}} [options] */
async function play (seed, { masters: most = 2, removals = true, log = () => {} } = {}) {
  const rnd = random(seed)
  const pick = list => list[Math.floor(rnd() * list.length)]
  const times = [1, 2, 3, 4, 5]
  const free = [...times].sort(() => rnd() - 0.5)
  const masters = Array.from({ length: rnd() < 0.5 ? 1 : most }, (_, index) => new Database(`m${index}`))
  for (const master of masters) {
    await master.request(
      { method: 'PUT', path: 'tilecouch', body: { type: 'store', schema: 1, created: timeOf(0), uuid: 'u' } }
    )
  }
  /** @type {Op[]} */
  let ops = []
  let order = 0
  /** @type {Map<number, Database>} */
  const freed = new Map()
  const check = (master, round, told = []) => {
    for (const tile of TILES) {
      for (const time of times) {
        if (
          told.some(({ id, reason }) => id === idOf(tile) && timeOf(time) >= (/@(\S+) has/.exec(reason)?.[1] ?? ''))
        ) {
          continue
        }
        const said = truth(ops, idOf(tile), time)
        assert.equal(shown(master, idOf(tile), timeOf(time)), said && digests.get(said),
          `seed ${seed}, round ${round}, ${master.name}: ${idOf(tile)} as of ${time} is ${said}`)
      }
    }
  }
  for (let round = 0; round < 4; round++) {
    const turns = new Turns(rnd)
    /** @type {{op: Op, master: Database}[]} */
    const now = []
    for (let many = 1 + Math.floor(rnd() * 3); many--;) {
      const gone = ops.filter(op => !now.some(one => one.op.time === op.time))
      if (removals && rnd() < 0.25 && gone.length && !now.some(({ op }) => op.kind === 'remove')) {
        const { time } = pick(gone)
        now.push({ op: { kind: 'remove', time }, master: pick(masters) })
        ops = ops.filter(op => op.time !== time)
        continue
      }
      const time = free.shift()
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
      // a time that was taken out is free where the removal is known
      now.push({ op, master: freed.get(time) ?? pick(masters) })
    }
    for (const { op, master } of now) log(`round ${round} ${master.name} ${JSON.stringify(op)}`)
    await turns.run(now.map(({ op, master }) => process => perform(storeOf(master, turns, process), op)), 2)
    for (const { op, master } of now) {
      if (op.kind === 'remove') {
        free.push(op.time)
        freed.set(op.time, master)
      }
      if (op.kind !== 'remove') ops.push({ ...op, order: order++ })
    }
    if (masters.length === 1) check(masters[0], round)
    else {
      exchange(rnd, masters, rnd())
      if (rnd() < 0.5) await settleAlone(pick(masters), rnd)
    }
  }
  // the one thing that cannot be: one master removed the last bytes while the other confirmed them. It is told, never
  // silent
  let told = []
  for (let turn = 0; turn < 4; turn++) {
    exchange(rnd, masters, 1)
    told = []
    for (const master of masters) {
      told.push(...(await settleAlone(master, rnd)).named.filter(({ what }) => what === 'unknown'))
    }
  }
  for (const master of masters) check(master, 'last', masters.length > 1 ? told : [])
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
