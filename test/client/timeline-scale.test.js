import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  airy, axisOf, clampSpan, domainOf, followSpan, moveSpan, pinchSpan, roundTime, snapTime, zoomSpan
} from '../../client/timeline/time-scale.js'
import { barHeight, barPath, barWidth, binAt, binChanges } from '../../client/timeline/axis.js'

const at = text => Date.parse(text)
const DAY = 864e5
const spans = fc.tuple(fc.integer({ min: -1e12, max: 2e12 }), fc.integer({ min: 60e3, max: 3e12 }))
  .map(([from, length]) => ({ from, to: from + length }))
const close = (a, b, by = 1) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b}`)

describe('the axis of the timeline', () => {
  it('converts pixels to times and back', () => {
    fc.assert(fc.property(spans, fc.integer({ min: 100, max: 3000 }), fc.integer({
      min: 0, max: 20
    }), fc.double({ min: 0, max: 1, noNaN: true }), (span, width, inset, share) => {
      const axis = axisOf(span, width, inset)
      close(axis.x(span.from), inset, 1e-6)
      close(axis.x(span.to), width - inset, 1e-6)
      close(axis.x(axis.ms(share * width)), share * width, 1e-3)
    }))
  })

  it('spans the extent of its layers, a day for a single time, and at least 30 seconds', () => {
    assert.equal(domainOf(null, []), null)
    assert.deepEqual(domainOf({ first: '2020-01-01T00:00:00Z', last: '2024-01-01T00:00:00Z' }),
      { from: at('2020-01-01'), to: at('2024-01-01') })
    assert.deepEqual(domainOf({ first: '2020-01-01T12:00:00Z', last: '2020-01-01T12:00:00Z' }),
      { from: at('2020-01-01'), to: at('2020-01-02') })
    assert.deepEqual(domainOf({ first: '2020-01-01T00:00:00Z', last: '2020-01-01T00:00:10Z' }),
      { from: at('2020-01-01') - 10e3, to: at('2020-01-01') + 20e3 })
    assert.deepEqual(domainOf(null, [{ time: '2020-01-01T00:00:00Z' }, { time: '2021-01-01T00:00:00Z' }]),
      { from: at('2020-01-01'), to: at('2021-01-01') }, 'changes say enough while the extent is unknown')
  })

  it('keeps a zoomed span within the extent, and drops it when it covers everything', () => {
    fc.assert(fc.property(spans, spans, (span, domain) => {
      const clamped = clampSpan(span, domain)
      if (!clamped) {
        return assert.ok(span.to - span.from >= (domain.to - domain.from) * 0.99 || domain.to - domain.from <= 30e3)
      }
      assert.ok(clamped.from >= domain.from - 1 && clamped.to <= domain.to + 1)
      close(clamped.to - clamped.from, Math.max(span.to - span.from, 30e3))
    }))
  })

  it('zooms around the time under the pointer', () => {
    fc.assert(fc.property(spans, fc.double({ min: 0.1, max: 10, noNaN: true }), fc.integer({
      min: 0, max: 1000
    }), (span, factor, x) => {
      const around = axisOf(span, 1000).ms(x)
      const next = zoomSpan(span, factor, around)
      close(axisOf(next, 1000).x(around), x, 1e-2)
      close((next.to - next.from) * factor, span.to - span.from)
    }))
  })

  it('keeps two times under two fingers', () => {
    fc.assert(fc.property(spans, fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({
      min: 500, max: 1000
    })), fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 500, max: 1000 })), (span, before, after) => {
      const times = /** @type {[number, number]} */ (before.map(x => axisOf(span, 1000, 12).ms(x)))
      const next = axisOf(pinchSpan(times, after, 1000, 12), 1000, 12)
      close(next.x(times[0]), after[0], 1e-2)
      close(next.x(times[1]), after[1], 1e-2)
    }))
    const flat = pinchSpan([0, 1000], [300, 300], 1000, 12)
    assert.ok(Number.isFinite(flat.from) && flat.to > flat.from, 'fingers on one spot')
  })

  it('moves by its own length when the time leaves it on either side', () => {
    const span = { from: 0, to: 1000 }
    assert.equal(followSpan(span, 500), span)
    assert.deepEqual(followSpan(span, 1100), { from: 1000, to: 2000 })
    assert.deepEqual(followSpan(span, -100), { from: -1000, to: 0 })
    assert.deepEqual(moveSpan(span, 5), { from: 5, to: 1005 })
    assert.ok(airy({ from: 0, to: 0 }).to > 0, 'a single change in a range can be zoomed to')
  })

  it('rounds times to the precision of a pixel', () => {
    assert.equal(roundTime(at('2024-06-20T14:03:12.400Z'), DAY), at('2024-06-20T14:00:00Z'))
    assert.equal(roundTime(at('2024-06-20T14:03:12.400Z'), 90e3), at('2024-06-20T14:03:00Z'))
    assert.equal(roundTime(at('2024-06-20T14:03:12.400Z'), 10), at('2024-06-20T14:03:12Z'))
  })

  it('snaps to the nearest change within reach and to none beyond', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 1e6 }), {
      maxLength: 50
    }), fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 1e5 }), (times, ms, reach) => {
      times.sort((a, b) => a - b)
      const expected = Math.min(...times.map(time => Math.abs(time - ms)))
      const found = snapTime(ms, times, reach)
      if (expected > reach) assert.equal(found, null)
      else assert.equal(Math.abs(Number(found) - ms), expected)
    }))
  })
})

describe('the bars of the timeline', () => {
  const change = ms => ({ time: new Date(ms).toISOString().slice(0, 19) + 'Z', tiles: 2, bytes: 10 })
  const seconds = fc.uniqueArray(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 300 })
    .map(list => list.sort((a, b) => a - b).map(each => change(each * 1000)))

  it('join changes that are too close, lose none, and never touch', () => {
    fc.assert(fc.property(seconds, fc.integer({ min: 200, max: 2000 }), (changes, width) => {
      const bins = binChanges(changes, axisOf({ from: 0, to: 1e9 }, width, 12))
      assert.equal(bins.reduce((sum, bin) => sum + bin.changes, 0), changes.length)
      assert.equal(bins.reduce((sum, bin) => sum + bin.tiles, 0), 2 * changes.length)
      assert.equal(bins.reduce((sum, bin) => sum + bin.bytes, 0), 10 * changes.length)
      const bar = barWidth(bins)
      bins.forEach((bin, i) => {
        assert.equal(changes[bin.index].time, change(bin.from).time)
        assert.ok(!i || bin.x - bins[i - 1].x >= bar + 0.9, 'a gap between neighbours')
      })
    }))
  })

  it('join the same changes while the axis is moved', () => {
    fc.assert(fc.property(seconds, fc.integer({ min: -1e9, max: 1e9 }), (changes, by) => {
      const span = { from: 2e8, to: 7e8 }
      const bars = shift => binChanges(changes, axisOf(moveSpan(span, shift), 1000)).map(bin => bin.from)
      assert.deepEqual(bars(by), bars(0))
    }))
  })

  it('are wider when they are further apart', () => {
    const spread = apart => [0, 1, 2].map(i => /** @type {any} */ ({ x: i * apart }))
    assert.equal(barWidth([]), 8)
    assert.equal(barWidth(spread(40)), 8)
    assert.equal(barWidth(spread(10)), 6)
    assert.equal(barWidth(spread(5)), 4)
  })

  it('have heights by the square root of their tiles, and a minimum height', () => {
    assert.equal(barHeight(5000, 5000, 40), 40)
    assert.equal(barHeight(1250, 5000, 40), 20, 'a quarter of the tiles: half the height')
    assert.equal(barHeight(1, 5000, 40), 4)
    assert.ok(barHeight(2500, 5000, 40) < 30)
  })

  it('are found by a pointer nearby', () => {
    const bins = /** @type {any[]} */ ([{ x: 10 }, { x: 20 }, { x: 100 }])
    assert.equal(binAt(bins, 14, 8), bins[0])
    assert.equal(binAt(bins, 16, 8), bins[1])
    assert.equal(binAt(bins, 60, 8), null)
  })

  it('have round tops', () => {
    assert.equal(barPath(10, 40, 4, 20), 'M8 40V22a2 2 0 0 1 4 0V40Z')
  })
})
