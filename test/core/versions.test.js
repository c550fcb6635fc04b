// The rules of the timeline, compared with a simple model.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { asOf, decide, timeline } from '../../core/index.js'

const timeOf = hour => `2024-01-01T${String(hour).padStart(2, '0')}:00:00Z`
const HOURS = Array.from({ length: 12 }, (_, hour) => timeOf(hour))

/** A version with one of few digests, so that equal ones occur; null is gone. */
const version = fc.record({ time: fc.constantFrom(...HOURS), digest: fc.constantFrom('a', 'b', 'c', null) })

/** A tile that is written as decide() says: one head, and a past. */
class Tile {
  head = null
  past = []

  write (newVersion) {
    let action = decide(newVersion, this.head)
    if (action === 'ask') action = decide(newVersion, this.head, asOf(this.past, newVersion.time) ?? null)
    if (action === 'advance') this.#keep(this.head)
    if (action === 'advance' || action === 'create') this.head = newVersion
    if (action === 'backfill') this.#keep(newVersion)
    return action
  }

  #keep (pastVersion) {
    assert.ok(!this.past.some(({ time }) => time === pastVersion.time), 'a past version never changes')
    this.past.push(pastVersion)
    this.past.sort((a, b) => a.time < b.time ? -1 : 1)
  }

  shows (time) {
    return asOf([...this.past, ...(this.head ? [this.head] : [])], time)?.digest ?? null
  }
}

/** A simple model of a tile: digests by time. It skips a digest that is already shown, and overwrites none. */
class Model {
  versions = {}

  shows (time) {
    const times = Object.keys(this.versions).filter(versionTime => versionTime <= time).sort()
    return times.length ? this.versions[times.at(-1)] : null
  }

  write ({ time, digest }) {
    if (this.shows(time) === digest) return false
    if (time in this.versions) return false
    this.versions[time] = digest
    return true
  }
}

describe('the rules of the timeline', () => {
  it('give the same map at every time as a simple model, in any order of loads', () => {
    fc.assert(fc.property(fc.array(version, { maxLength: 15 }), versions => {
      const tile = new Tile()
      const model = new Model()
      for (const newVersion of versions) {
        const wrote = !['unchanged', 'taken'].includes(tile.write({ ...newVersion }))
        assert.equal(wrote, model.write(newVersion), 'written only when something changes')
        for (const time of HOURS) assert.equal(tile.shows(time), model.shows(time), `as of ${time}`)
      }
    }), { numRuns: 1000 })
  })

  it('never lose a version, keep the head newest, and change nothing for a repeated write', () => {
    fc.assert(fc.property(fc.array(version, { maxLength: 15 }), versions => {
      const tile = new Tile()
      let oldVersions = []
      for (const newVersion of versions) {
        const action = tile.write(newVersion)
        assert.equal(tile.write(newVersion), action === 'taken' ? 'taken' : 'unchanged')
        const tileVersions = [...tile.past, ...(tile.head ? [tile.head] : [])]
        for (const oldVersion of oldVersions) assert.ok(tileVersions.includes(oldVersion))
        for (const { time } of tile.past) assert.ok(time < tile.head.time)
        oldVersions = tileVersions
      }
    }))
  })

  it('change nothing when an edition is loaded again after later ones', () => {
    const ascending = fc.uniqueArray(version, { selector: ({ time }) => time, maxLength: 10 })
      .map(list => list.sort((a, b) => a.time < b.time ? -1 : 1))
    fc.assert(fc.property(ascending, versions => {
      const tile = new Tile()
      for (const newVersion of versions) tile.write(newVersion)
      for (const newVersion of versions) assert.equal(tile.write(newVersion), 'unchanged')
    }))
  })

  it('decide on the action of each row of a table', () => {
    const head = { time: timeOf(5), digest: 'a' }
    const table = [
      // version, head, before, action
      [['a', 5], null, undefined, 'create'],
      [[null, 5], null, undefined, 'unchanged'],
      [['b', 6], head, undefined, 'advance'],
      [['a', 6], head, undefined, 'unchanged'],
      [[null, 6], head, undefined, 'advance'],
      [['a', 5], head, undefined, 'unchanged'],
      [['b', 5], head, undefined, 'taken'],
      [[null, 5], head, undefined, 'taken'],
      [['b', 4], head, undefined, 'ask'],
      [['b', 4], head, null, 'backfill'],
      [['a', 4], head, null, 'backfill'],
      [[null, 4], head, null, 'unchanged'],
      [['b', 4], head, ['b', 3], 'unchanged'],
      [['c', 4], head, ['b', 3], 'backfill'],
      [['c', 4], head, ['b', 4], 'taken'],
      [['b', 4], head, ['b', 4], 'unchanged'],
      [['a', 6], { time: timeOf(5), digest: null }, undefined, 'advance']
    ]
    const make = pair => pair && { digest: pair[0], time: timeOf(pair[1]) }
    for (const [added, newest, before, action] of table) {
      assert.equal(decide(make(added), newest, before === undefined ? undefined : make(before)),
        action, JSON.stringify([added, newest, before]))
    }
  })
})

describe('the version as of a time', () => {
  it('is the one with the greatest time not after it', () => {
    const times = fc.uniqueArray(fc.constantFrom(...HOURS), { minLength: 0 })
      .map(list => list.sort().map(time => ({ time })))
    fc.assert(fc.property(times, fc.constantFrom(...HOURS), (versions, time) => {
      assert.equal(asOf(versions, time), versions.filter(candidate => candidate.time <= time).at(-1))
    }))
    assert.equal(asOf([], timeOf(1)), undefined)
  })
})

describe('a timeline', () => {
  it('is sorted, and has the head instead of its copy in the past', () => {
    const copy = { time: timeOf(3), id: 'copy', current: false }
    const head = { time: timeOf(3), id: 'head', current: true }
    const old = { time: timeOf(1), id: 'old', current: false }
    assert.deepEqual(timeline([copy, old, head]), [old, head])
    assert.deepEqual(timeline([head, copy, old]), [old, head])
    assert.deepEqual(timeline([]), [])
  })
})
