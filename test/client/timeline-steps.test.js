import assert from 'node:assert/strict'
import fc from 'fast-check'
import { indexAsOf, nextToPlay, skipTo, stepFrom, uniteChanges,
  uniteExtents, within } from '../../client/timeline/steps.js'
import { timelineWords } from '../../client/timeline/words.js'

const day = number => `2024-01-${String(number).padStart(2, '0')}T00:00:00Z`
const days = fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1 })
  .map(list => list.sort((a, b) => a - b).map(day))
const anyDay = fc.integer({ min: 1, max: 31 }).map(day)

describe('changes of several layers', () => {
  it('are united in one list, with the tiles of equal times added up', () => {
    const { changes, complete } = uniteChanges([[{ time: day(1), tiles: 2, bytes: 10 }, { time: day(5), tiles: 1 }],
      [{ time: day(1), tiles: 3, bytes: 5 }, { time: day(2), tiles: 7, bytes: 1 }]])
    assert.deepEqual(changes, [{ time: day(1), tiles: 5, bytes: 15 },
      { time: day(2), tiles: 7, bytes: 1 }, { time: day(5), tiles: 1, bytes: 0 }])
    assert.equal(complete, true)
    assert.deepEqual(uniteChanges([null, [{ time: day(1), tiles: 1, bytes: 1 }]]),
      { changes: [{ time: day(1), tiles: 1, bytes: 1 }], complete: false })
  })

  it('have an extent from the earliest first time to the latest last time', () => {
    assert.equal(uniteExtents([null]), null)
    assert.deepEqual(uniteExtents([null, { first: day(3), last: day(9) }, { first: day(1), last: day(4) }]),
      { first: day(1), last: day(9) })
  })
})

describe('steps', () => {
  const times = [1, 5, 9, 12].map(day)

  it('go to the next and the previous change, and stay at the ends', () => {
    assert.equal(stepFrom(times, day(1), 1), day(5))
    assert.equal(stepFrom(times, day(6), 1), day(9), 'from between')
    assert.equal(stepFrom(times, day(6), -1), day(5))
    assert.equal(stepFrom(times, day(12), 1), day(12))
    assert.equal(stepFrom(times, day(1), -1), day(1))
    assert.equal(stepFrom(times, day(1), 10), day(12))
    assert.equal(stepFrom(times, day(12), -10), day(1))
    assert.equal(stepFrom([], day(3), 1), day(3))
  })

  it('never go in the wrong direction from a time outside of all changes', () => {
    assert.equal(stepFrom(times, day(20), 1), day(20))
    assert.equal(stepFrom(times, day(20), -1), day(12))
    assert.equal(stepFrom(times.slice(1), day(2), -1), day(2))
  })

  it('go from the newest back to the change before the last, and not forward', () => {
    assert.equal(stepFrom(times, null, 1), null)
    assert.equal(stepFrom(times, null, -1), day(9))
    assert.equal(stepFrom(times.slice(0, 1), null, -1), day(1))
  })

  it('equal the result of a simple count in the list of changes', () => {
    fc.assert(fc.property(days, anyDay, fc.integer({ min: 1, max: 5 }), (list, time, steps) => {
      const after = list.filter(each => each > time)
      const before = list.filter(each => each < time)
      assert.equal(stepFrom(list, time, steps), after.length ? after[Math.min(steps, after.length) - 1] : time)
      assert.equal(stepFrom(list, time, -steps), before.length ? before[Math.max(before.length - steps, 0)] : time)
      assert.equal(indexAsOf(list, time), list.findLastIndex(each => each <= time))
    }))
  })

  it('stay in the range during play, and start again only on request', () => {
    const range = { from: day(4), to: day(10) }
    assert.deepEqual(within(times, range), [day(5), day(9)])
    assert.equal(nextToPlay(times, day(1), { range }), day(5))
    assert.equal(nextToPlay(times, day(5), { range }), day(9))
    assert.equal(nextToPlay(times, day(9), { range }), null)
    assert.equal(nextToPlay(times, day(9), { range, again: true }), day(5))
    assert.equal(nextToPlay(times, null), null)
    assert.equal(nextToPlay(times, null, { again: true }), day(1))
    assert.equal(nextToPlay([day(1)], day(1), { again: true }), null, 'one change is no film')
    assert.equal(nextToPlay([], null, { again: true }), null)
  })

  it('skip changes that a pace would show for less than a moment', () => {
    const DAY = 86400000
    assert.equal(skipTo(times, day(1), day(5), 2 * DAY), day(5), 'the next one, however far it is')
    assert.equal(skipTo(times, day(1), day(5), 9 * DAY), day(9))
    assert.equal(skipTo(times, day(1), day(5), 90 * DAY), day(12))
    assert.equal(skipTo(times, day(12), day(1), 90 * DAY), day(1), 'back to the beginning')
  })
})

describe('the words of the timeline', () => {
  it('write sizes in bytes, kB, MB and GB', () => {
    assert.deepEqual([1, 999, 1000, 12345, 999700, 5e9].map(timelineWords.size),
      ['1 byte', '999 bytes', '1.0 kB', '12.3 kB', '1.0 MB', '5.0 GB'])
  })
})
