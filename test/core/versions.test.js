// The versions of a tile in the order of their times, compared with a simple model.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { asOf, timeline } from '../../core/index.js'

const HOURS = Array.from({ length: 12 }, (_, hour) => `2024-01-01T${String(hour).padStart(2, '0')}:00:00Z`)

const version = fc.record({ time: fc.constantFrom(...HOURS), digest: fc.constantFrom('a', 'b', 'c', null) })
const ascending = fc.uniqueArray(version, { selector: ({ time }) => time })
  .map(list => list.sort((a, b) => a.time < b.time ? -1 : 1))

describe('the versions of a tile', () => {
  it('have the version with the greatest time up to a moment as of this moment', () => {
    fc.assert(fc.property(ascending, fc.constantFrom(...HOURS), (versions, moment) => {
      let expected
      for (const candidate of versions) if (candidate.time <= moment) expected = candidate
      assert.equal(asOf(versions, moment), expected)
    }))
  })

  it('are listed by time, each time once, and the head wins over a copy of its time', () => {
    fc.assert(fc.property(ascending, fc.array(version), (past, copies) => {
      const head = { time: HOURS[5], digest: 'head', current: true }
      const listed = timeline([...copies, head, ...past])
      const times = [...new Set([...past, ...copies, head].map(({ time }) => time))].sort()
      assert.deepEqual(listed.map(({ time }) => time), times)
      assert.equal(listed.find(({ time }) => time === head.time), head)
    }))
  })
})
