// Tests the computations of the timeline: its axis with bars, ticks and time zones, and the steps between changes.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  airy, axisOf, clampSpan, domainOf, followSpan, moveSpan, pinchSpan, roundTime, snapTime, zoomSpan
} from '../../client/timeline/time-scale.js'
import { barHeight, barPath, barWidth, binAt, binChanges } from '../../client/timeline/axis.js'
import {
  indexAsOf, nextToPlay, skipTo, stepFrom, uniteChanges, uniteExtents, within
} from '../../client/timeline/steps.js'
import { ticksOf } from '../../client/timeline/ticks.js'
import { timelineWords } from '../../client/timeline/words.js'
import { zoneOf } from '../../client/timeline/zones.js'

const msOf = text => Date.parse(text)
const DAY = 864e5
const spans = fc.tuple(fc.integer({ min: -1e12, max: 2e12 }), fc.integer({ min: 60e3, max: 3e12 }))
  .map(([from, length]) => ({ from, to: from + length }))
const assertClose = (a, b, tolerance = 1) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`)

describe('the axis of the timeline', () => {
  it('converts pixels to times and back', () => {
    fc.assert(fc.property(spans, fc.integer({ min: 100, max: 3000 }), fc.integer({
      min: 0, max: 20
    }), fc.double({ min: 0, max: 1, noNaN: true }), (span, width, inset, share) => {
      const axis = axisOf(span, width, inset)
      assertClose(axis.x(span.from), inset, 1e-6)
      assertClose(axis.x(span.to), width - inset, 1e-6)
      assertClose(axis.x(axis.ms(share * width)), share * width, 1e-3)
    }))
  })

  it('spans the extent of its layers, a day for a single time, and at least 30 seconds', () => {
    assert.equal(domainOf(null, []), null)
    assert.deepEqual(domainOf({ first: '2020-01-01T00:00:00Z', last: '2024-01-01T00:00:00Z' }),
      { from: msOf('2020-01-01'), to: msOf('2024-01-01') })
    assert.deepEqual(domainOf({ first: '2020-01-01T12:00:00Z', last: '2020-01-01T12:00:00Z' }),
      { from: msOf('2020-01-01'), to: msOf('2020-01-02') })
    assert.deepEqual(domainOf({ first: '2020-01-01T00:00:00Z', last: '2020-01-01T00:00:10Z' }),
      { from: msOf('2020-01-01') - 10e3, to: msOf('2020-01-01') + 20e3 })
    assert.deepEqual(domainOf(null, [{ time: '2020-01-01T00:00:00Z' }, { time: '2021-01-01T00:00:00Z' }]),
      { from: msOf('2020-01-01'), to: msOf('2021-01-01') }, 'changes say enough while the extent is unknown')
  })

  it('keeps a zoomed span within the extent, and drops it when it covers everything', () => {
    fc.assert(fc.property(spans, spans, (span, domain) => {
      const clamped = clampSpan(span, domain)
      if (!clamped) {
        return assert.ok(span.to - span.from >= (domain.to - domain.from) * 0.99 || domain.to - domain.from <= 30e3)
      }
      assert.ok(clamped.from >= domain.from - 1 && clamped.to <= domain.to + 1)
      assertClose(clamped.to - clamped.from, Math.max(span.to - span.from, 30e3))
    }))
  })

  it('zooms around the time under the pointer', () => {
    fc.assert(fc.property(spans, fc.double({ min: 0.1, max: 10, noNaN: true }), fc.integer({
      min: 0, max: 1000
    }), (span, factor, x) => {
      const around = axisOf(span, 1000).ms(x)
      const next = zoomSpan(span, factor, around)
      assertClose(axisOf(next, 1000).x(around), x, 1e-2)
      assertClose((next.to - next.from) * factor, span.to - span.from)
    }))
  })

  it('keeps two times under two fingers', () => {
    fc.assert(fc.property(spans, fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({
      min: 500, max: 1000
    })), fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 500, max: 1000 })), (span, before, after) => {
      const times = before.map(x => axisOf(span, 1000, 12).ms(x))
      const next = axisOf(pinchSpan(times, after, 1000, 12), 1000, 12)
      assertClose(next.x(times[0]), after[0], 1e-2)
      assertClose(next.x(times[1]), after[1], 1e-2)
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
    assert.equal(roundTime(msOf('2024-06-20T14:03:12.400Z'), DAY), msOf('2024-06-20T14:00:00Z'))
    assert.equal(roundTime(msOf('2024-06-20T14:03:12.400Z'), 90e3), msOf('2024-06-20T14:03:00Z'))
    assert.equal(roundTime(msOf('2024-06-20T14:03:12.400Z'), 10), msOf('2024-06-20T14:03:12Z'))
  })

  it('snaps to the nearest change within reach and to none beyond', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 1e6 }), {
      maxLength: 50
    }), fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 1e5 }), (times, ms, reach) => {
      times.sort((a, b) => a - b)
      const expected = Math.min(...times.map(time => Math.abs(time - ms)))
      const snapped = snapTime(ms, times, reach)
      if (expected > reach) assert.equal(snapped, null)
      else assert.equal(Math.abs(Number(snapped) - ms), expected)
    }))
  })
})

describe('the bars of the timeline', () => {
  const change = ms => ({ time: new Date(ms).toISOString().slice(0, 19) + 'Z', tiles: 2, bytes: 10 })
  const seconds = fc.uniqueArray(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 300 })
    .map(list => list.sort((a, b) => a - b).map(second => change(second * 1000)))

  it('join changes that are too close, lose none, and never touch', () => {
    fc.assert(fc.property(seconds, fc.integer({ min: 200, max: 2000 }), (changes, width) => {
      const bins = binChanges(changes, axisOf({ from: 0, to: 1e9 }, width, 12))
      assert.equal(bins.reduce((sum, bin) => sum + bin.changes, 0), changes.length)
      assert.equal(bins.reduce((sum, bin) => sum + bin.tiles, 0), 2 * changes.length)
      assert.equal(bins.reduce((sum, bin) => sum + bin.bytes, 0), 10 * changes.length)
      const bar = barWidth(bins)
      bins.forEach((bin, index) => {
        assert.equal(changes[bin.index].time, change(bin.from).time)
        assert.ok(!index || bin.x - bins[index - 1].x >= bar + 0.9, 'a gap between neighbours')
      })
    }))
  })

  it('join the same changes while the axis is moved', () => {
    fc.assert(fc.property(seconds, fc.integer({ min: -1e9, max: 1e9 }), (changes, offset) => {
      const span = { from: 2e8, to: 7e8 }
      const bars = shift => binChanges(changes, axisOf(moveSpan(span, shift), 1000)).map(bin => bin.from)
      assert.deepEqual(bars(offset), bars(0))
    }))
  })

  it('are wider when they are further apart', () => {
    const spread = distance => [0, 1, 2].map(index => ({ x: index * distance }))
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
    const bins = [{ x: 10 }, { x: 20 }, { x: 100 }]
    assert.equal(binAt(bins, 14, 8), bins[0])
    assert.equal(binAt(bins, 16, 8), bins[1])
    assert.equal(binAt(bins, 60, 8), null)
  })

  it('have round tops', () => {
    assert.equal(barPath(10, 40, 4, 20), 'M8 40V22a2 2 0 0 1 4 0V40Z')
  })
})

const day = number => `2024-01-${String(number).padStart(2, '0')}T00:00:00Z`
const anyDays = fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1 })
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
    fc.assert(fc.property(anyDays, anyDay, fc.integer({ min: 1, max: 5 }), (list, time, steps) => {
      const after = list.filter(candidate => candidate > time)
      const before = list.filter(candidate => candidate < time)
      assert.equal(stepFrom(list, time, steps), after.length ? after[Math.min(steps, after.length) - 1] : time)
      assert.equal(stepFrom(list, time, -steps), before.length ? before[Math.max(before.length - steps, 0)] : time)
      assert.equal(indexAsOf(list, time), list.findLastIndex(candidate => candidate <= time))
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

const ZONES = ['utc', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const ticks = (from, to, width = 1200, zone = 'utc') =>
  ticksOf(axisOf({ from: Date.parse(from), to: Date.parse(to) }, width, 12), zoneOf(zone))
const labels = (...args) => ticks(...args).ticks.filter(tick => tick.label).map(tick => tick.label)

describe('the ticks of the timeline', () => {
  it('adapt their labels to the span, from centuries to seconds', () => {
    assert.deepEqual(labels('2012-02-03', '2024-05-01', 340), ['2014', '2016', '2018', '2020', '2022', '2024'])
    assert.deepEqual(labels('2023-10-03', '2024-05-01', 340), ['Nov', 'Dec', '2024', 'Feb', 'Mar', 'Apr', 'May'])
    assert.deepEqual(labels('2024-06-29T10:00:00Z', '2024-07-02T10:00:00Z', 600),
      ['30 Jun', '12:00', '1 Jul', '12:00', '2 Jul'])
    assert.deepEqual(labels('2024-06-20T00:00:00Z', '2024-06-20T00:01:00Z', 340), ['00:00:30', '00:00:45'])
    assert.deepEqual(labels('1500-01-01', '2024-01-01', 340), ['1600', '1700', '1800', '1900', '2000'])
  })

  it('have a context at the left end with the date parts that the labels leave out', () => {
    assert.equal(ticks('2023-10-03', '2024-05-01').context, '2023')
    assert.equal(ticks('2024-06-20T09:00:00Z', '2024-06-20T12:00:00Z').context, '20 Jun 2024')
    assert.equal(ticks('2024-06-12', '2024-06-20', 340).context, 'Jun 2024')
    assert.equal(ticks('1900-01-01', '2024-01-01').context, '', 'years say all')
  })

  it('stand at the midnights of the time zone, also when summer time begins', () => {
    const days = ticks('2024-03-29', '2024-04-02', 340, 'Europe/Berlin').ticks.filter(tick => tick.label)
    assert.deepEqual(days.map(tick => tick.label), ['30', '31', 'Apr', '2'])
    assert.deepEqual(days.map(tick => new Date(tick.ms).toISOString().slice(0, 16)),
      ['2024-03-29T23:00', '2024-03-30T23:00', '2024-03-31T22:00', '2024-04-01T22:00'])
  })

  it('leave out the hour that the start of summer time skips', () => {
    const hours = labels('2024-03-30T23:00:00Z', '2024-03-31T04:00:00Z', 400, 'Europe/Berlin')
    assert.ok(hours.includes('03:00') && !hours.includes('02:00'), hours.join())
  })

  it('ascend, have correct labels and never overlap for random spans, widths and zones', () => {
    const randomAxis = fc.record({
      from: fc.integer({ min: Date.parse('1800-01-01'), max: Date.parse('2090-01-01') }),
      length: fc.double({ min: Math.log(30e3), max: Math.log(9e12), noNaN: true }).map(Math.exp),
      width: fc.integer({ min: 250, max: 2000 }),
      zone: fc.constantFrom(...ZONES)
    })
    const measure = text => text.length * 6.7
    fc.assert(fc.property(randomAxis, ({ from, length, width, zone }) => {
      const axis = axisOf({ from, to: from + length }, width, 12)
      const { ticks: drawnTicks, context } = ticksOf(axis, zoneOf(zone), { measure })
      assert.ok(drawnTicks.length < width / 4, `${drawnTicks.length} ticks`)
      let end = context ? measure(context) + 5 : -Infinity
      let last = -Infinity
      for (const { ms, x, label } of drawnTicks) {
        assert.ok(ms > last, 'ascending')
        last = ms
        if (!label) continue
        assert.ok(x - measure(label) / 2 >= end - 0.01, `"${label}" overlaps`)
        end = x + measure(label) / 2 + 5
        assert.ok(end <= width + 5.01, `"${label}" is cut off`)
        const wall = new Date(zoneOf(zone).civil(ms)).toISOString()
        const clockTime = /\d\d:\d\d(:\d\d)?/.exec(label)
        if (clockTime) assert.ok(wall.slice(11).startsWith(clockTime[0]))
        const year = /\d{4}/.exec(label)
        if (year) assert.ok(wall.startsWith(year[0]))
      }
      assert.ok(drawnTicks.some(tick => tick.label) || context || width < 300, 'something is written')
    }), { numRuns: 200 })
  })
})

describe('time zones', () => {
  it('convert a civil time to an instant with the same civil time', () => {
    fc.assert(fc.property(fc.integer({
      min: Date.parse('1970-01-01') / 1000, max: Date.parse('2040-01-01') / 1000
    }), fc.constantFrom(...ZONES), (seconds, name) => {
      const zone = zoneOf(name)
      const ms = seconds * 1000
      const instant = zone.instant(zone.civil(ms))
      assert.equal(zone.civil(instant), zone.civil(ms))
    }))
  })

  it('keep the first hundred years, also their leap days', () => {
    for (const name of ZONES) {
      for (const date of ['0001-06-15', '0050-01-01', '0096-02-29', '0099-12-31']) {
        const zone = zoneOf(name)
        const wall = Date.parse(`${date}T12:00:00Z`)
        assert.equal(zone.civil(zone.instant(wall)), wall, `${date} in ${name}`)
      }
    }
  })

  it('have short names that follow summer time', () => {
    const berlin = zoneOf('Europe/Berlin')
    assert.notEqual(berlin.label(Date.parse('2024-01-01')), berlin.label(Date.parse('2024-07-01')))
    assert.equal(zoneOf('utc').label(0), 'UTC')
    assert.equal(zoneOf('local').civil(0) + new Date(0).getTimezoneOffset() * 60000, 0)
  })
})
