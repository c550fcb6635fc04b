import assert from 'node:assert/strict'
import fc from 'fast-check'
import { axisOf } from '../../client/timeline/time-scale.js'
import { ticksOf } from '../../client/timeline/ticks.js'
import { zoneOf } from '../../client/timeline/zones.js'

const ZONES = ['utc', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const ticks = (from, to, width = 1200, zone = 'utc') =>
  ticksOf(axisOf({ from: Date.parse(from), to: Date.parse(to) }, width, 12), zoneOf(zone))
const labels = (...args) => ticks(.../** @type {[any, any]} */ (args))
  .ticks.filter(tick => tick.label).map(tick => tick.label)

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
    const any = fc.record({
      from: fc.integer({ min: Date.parse('1800-01-01'), max: Date.parse('2090-01-01') }),
      length: fc.double({ min: Math.log(30e3), max: Math.log(9e12), noNaN: true }).map(Math.exp),
      width: fc.integer({ min: 250, max: 2000 }),
      zone: fc.constantFrom(...ZONES)
    })
    const measure = text => text.length * 6.7
    fc.assert(fc.property(any, ({ from, length, width, zone }) => {
      const axis = axisOf({ from, to: from + length }, width, 12)
      const { ticks: found, context } = ticksOf(axis, zoneOf(zone), { measure })
      assert.ok(found.length < width / 4, `${found.length} ticks`)
      let end = context ? measure(context) + 5 : -Infinity
      let last = -Infinity
      for (const { ms, x, label } of found) {
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
      assert.ok(found.some(tick => tick.label) || context || width < 300, 'something is written')
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
      const back = zone.instant(zone.civil(ms))
      assert.equal(zone.civil(back), zone.civil(ms))
    }))
  })

  it('have short names that follow summer time', () => {
    const berlin = zoneOf('Europe/Berlin')
    assert.notEqual(berlin.label(Date.parse('2024-01-01')), berlin.label(Date.parse('2024-07-01')))
    assert.equal(zoneOf('utc').label(0), 'UTC')
    assert.equal(zoneOf('local').civil(0) + new Date(0).getTimezoneOffset() * 60000, 0)
  })
})
