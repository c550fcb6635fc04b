// Masters that are loaded separately, replicate documents one by one in any order, and are resolved at any moment, by a
// run that may be killed. In the end all hold the same documents with one leaf each, and every version that any of them
// ever stored. The tests run in memory, where thousands of such histories take seconds.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fromSeconds, isTileId, parseTileId, toSeconds } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { resolve } from '../../loader/check/conflicts.js'
import { png } from '../support/tiles.js'
import { MemoryCouch } from './memory-couch.js'

const RUNS = +(process.env.TILECOUCH_HISTORIES ?? 200)
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const FIRST = toSeconds('2024-01-01T00:00:00Z')
const MASTERS = 3

const master = fc.nat(MASTERS - 1)
// Few tiles, few images, and adjacent times: a version that has to move finds its place taken.
const load = fc.record(
  { does: fc.constant('load'), at: master, x: fc.constantFrom(0,
    0, 0, 1), second: fc.nat(3), image: fc.option(fc.nat(3), { freq: 8 }), stored: fc.nat(2) }
)
const hand = fc.record({ does: fc.constant('hand'), from: master, at: master, which: fc.option(fc.nat(1023)) })
const remove = fc.record({ does: fc.constant('remove'), at: master, which: fc.nat(20) })
// A run may be killed, and another writer may write during the run.
const mend = fc.record(
  { does: fc.constant('mend'), at: master, lives: fc.option(fc.nat(6)), meanwhile: fc.option(
    fc.record({ writes: fc.nat(2), step: fc.oneof(load, hand) })
  ) }
)
const steps = fc.array(fc.oneof({ arbitrary: load, weight: 6 }, { arbitrary: hand, weight: 4 },
  { arbitrary: mend, weight: 3 }, { arbitrary: remove, weight: 1 }), { minLength: 6, maxLength: 40, size: 'max' })

const digestIn = doc => doc._attachments?.tile.digest ?? ''
const keyOf = doc => `${doc.x} ${doc.contested ?? doc.time} ${digestIn(doc)}`

class World {
  masters = Array.from({ length: MASTERS }, (_, index) => new MemoryCouch(`m${index}`))
  /** Versions that a master has reported as stored. */
  stored = new Set()
  /**
   * Versions that were deleted. A load that found such a version on another master, before the deletion arrived, did
   * not store it again.
   */
  removed = new Set()
  /** Whether a head was deleted. An older leaf without conflicts may then be shown. */
  beheaded = false

  async play (step) {
    const couch = this.masters[step.at]
    if (step.does === 'load') return this.#load(couch, step)
    if (step.does === 'hand') {
      const from = this.masters[step.from]
      return couch.take(from, from.ids.filter((id, index) => step.which === null || step.which >> index % 10 & 1))
    }
    if (step.does === 'remove') return this.#remove(couch, step.which)
    couch.lives = step.lives ?? Infinity
    if (step.meanwhile) {
      couch.meanwhile = { ...step.meanwhile, run: () => this.play({ ...step.meanwhile.step, at: step.at }) }
    }
    await this.mend(couch).catch(error => { assert.equal(error.code, 'ABORTED') })
    couch.lives = Infinity
    couch.meanwhile = undefined
  }

  /** Deletes a leaf. Another master may still have it. */
  async #remove (couch, number) {
    const livingIds = couch.ids.filter(id => couch.living(id).length)
    const [leaf] = livingIds.length ? couch.living(livingIds[number % livingIds.length]) : []
    if (!leaf) return
    this.removed.add(keyOf(leaf.doc))
    this.beheaded ||= leaf.doc.current
    await couch.bulk([{ _id: leaf.doc._id, _rev: leaf.rev, _deleted: true }])
  }

  async #load (couch, { x, second, image, stored }) {
    const version = { layer: 'osm', z: 1, x, y: 0, time: fromSeconds(FIRST + second), ...(
      image === null ? { gone: true } : { bytes: png(image) }
    ) }
    const { lives } = couch
    couch.lives = Infinity // only a resolve run is killed, not the load
    const summary = await new Store(couch).write([version], { stored: fromSeconds(FIRST + 1000 + stored) })
    couch.lives = lives
    if (summary.created + summary.advanced + summary.backfilled) {
      this.stored.add(`${x} ${version.time} ${image === null ? '' : digestOf(png(image))}`)
    }
  }

  mend (couch) {
    return resolve(new Store(couch))
  }

  async settle () {
    for (let turn = 0; turn < 20; turn++) {
      for (const a of this.masters) for (const b of this.masters) if (a !== b) a.take(b, b.ids)
      if (this.masters.every(couch => couch.ids.every(id => couch.living(id).length < 2))) return
      for (const couch of this.masters) await this.mend(couch)
    }
    assert.fail('there are always new conflicts')
  }

  check () {
    const [first, ...otherMasters] =
      this.masters.map(couch => couch.ids.map(id => [id, couch.leavesAt(id).map(({ rev }) => rev)]))
    for (const other of otherMasters) assert.deepEqual(other, first)
    const [couch] = this.masters
    const kept = new Set()
    const heads = new Map()
    const docs = couch.ids.filter(isTileId).flatMap(id => couch.living(id).map(({ doc }) => doc))
    for (const doc of docs) if (doc.current) heads.set(doc.x, doc)
    for (const doc of docs) {
      const digest = digestIn(doc)
      const { time } = parseTileId(doc._id)
      assert.equal(doc.time, time ?? doc.time)
      kept.add(keyOf(doc))
      const head = heads.get(doc.x)
      if (this.beheaded) continue
      assert.ok(head, `${doc._id} has a head`)
      assert.ok(doc.time <= head.time, `${doc._id} is not newer than its head`)
      if (doc.time === head.time) assert.equal(digest, digestIn(head), `${doc._id} is a copy of its head`)
    }
    for (const version of this.stored) assert.ok(kept.has(version) || this.removed.has(version), `${version} is there`)
  }
}

describe(`masters that were loaded apart (seed ${SEED})`, function () {
  this.timeout(600000)

  it('become the same, lose nothing and have no conflicts left, after random actions', async () => {
    await fc.assert(fc.asyncProperty(steps, async history => {
      const world = new World()
      for (const step of history) await world.play(step)
      await world.settle()
      world.check()
    }), { seed: SEED, numRuns: RUNS })
  })
})
