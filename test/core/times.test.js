// Times, partial times, and durations.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  AFTER, addSeconds, endOf, expiryOf, fromSeconds, isExactTime, now, parseDuration, parsePeriod, startOf, toSeconds
} from '../../core/index.js'
import { iso, refusesAll, seconds, time } from '../support/samples.js'

/** written -> [start, end] */
const periods = {
  2024: ['2024-01-01T00:00:00Z', '2024-12-31T23:59:59Z'],
  '2024-01': ['2024-01-01T00:00:00Z', '2024-01-31T23:59:59Z'],
  '2024-02': ['2024-02-01T00:00:00Z', '2024-02-29T23:59:59Z'],
  '2023-02': ['2023-02-01T00:00:00Z', '2023-02-28T23:59:59Z'],
  '1900-02': ['1900-02-01T00:00:00Z', '1900-02-28T23:59:59Z'],
  '2000-02': ['2000-02-01T00:00:00Z', '2000-02-29T23:59:59Z'],
  '2024-04': ['2024-04-01T00:00:00Z', '2024-04-30T23:59:59Z'],
  '2024-12': ['2024-12-01T00:00:00Z', '2024-12-31T23:59:59Z'],
  '2024-02-29': ['2024-02-29T00:00:00Z', '2024-02-29T23:59:59Z'],
  '2024-03-01T12': ['2024-03-01T12:00:00Z', '2024-03-01T12:59:59Z'],
  '2024-03-01T12Z': ['2024-03-01T12:00:00Z', '2024-03-01T12:59:59Z'],
  '2024-03-01T12:30': ['2024-03-01T12:30:00Z', '2024-03-01T12:30:59Z'],
  '2024-03-01 12:30': ['2024-03-01T12:30:00Z', '2024-03-01T12:30:59Z'],
  '2024-03-01T12:30:15': ['2024-03-01T12:30:15Z', '2024-03-01T12:30:15Z'],
  '2024-03-01T12:30:15.999Z': ['2024-03-01T12:30:15Z', '2024-03-01T12:30:15Z'],
  '2024-03-01T12:30:15Z': ['2024-03-01T12:30:15Z', '2024-03-01T12:30:15Z'],
  '2024-03-01T01:30+02:00': ['2024-02-29T23:30:00Z', '2024-02-29T23:30:59Z'],
  '2024-12-31T23:30:00-0130': ['2025-01-01T01:00:00Z', '2025-01-01T01:00:00Z'],
  9999: ['9999-01-01T00:00:00Z', '9999-12-31T23:59:59Z']
}

describe('times', () => {
  it('that are partial name a period', () => {
    for (const [text, [start, end]] of Object.entries(periods)) {
      assert.deepEqual([startOf(text), endOf(text)], [start, end], text)
    }
  })

  it('say whether they were exact to the second', () => {
    assert.equal(parsePeriod('2024-03-01T12:30').exact, false)
    assert.equal(parsePeriod('2024-03-01T12:30:00').exact, true)
    assert.equal(parsePeriod('2024-03-01T12:30:00+01:00').exact, true)
  })

  it('may be given as a Date', () => {
    assert.equal(startOf(new Date(Date.UTC(2024, 2, 1, 12, 0, 0, 500))), '2024-03-01T12:00:00Z')
    refusesAll(startOf, [new Date(NaN), new Date(8.64e15)], 'BAD_TIME')
  })

  it('that no calendar or clock has are refused', () => {
    refusesAll(startOf, [
      '2024-02-30', '2023-02-29', '1900-02-29', '2024-00', '2024-13', '2024-01-00', '2024-01-32', '2024-04-31',
      '2024-03-01T24:00', '2024-03-01T24:00:00Z', '2024-03-01T23:60',
      '2024-03-01T23:59:60Z', '2024-03-01T12:00+15:00', '2024-03-01T12:00+01:60',
      '9999-12-31T23:00-02:00', '0000-01-01T00:30+01:00'
    ], 'BAD_TIME')
  })

  it('that are not times are refused', () => {
    refusesAll(startOf, [
      '', ' ', 'now', 'yesterday', '24', '202', '20240301', '2024-3-1', '2024/03/01',
      '2024-03-01T', '2024-03-01T1', '2024-03-01T12:3', '2024T12', '2024-03T12', '2024-03-01Z', '2024-03-01+02:00',
      '2024-03-01T12:30:15.', '2024-', '2024 ', ' 2024', '2024\n',
      '../2024', '2024-03-01T12:30:15ZZ', '-2024', '+2024-01-01', '12024', null, undefined, 2024, {}, []
    ], 'BAD_TIME')
  })

  it('are exact only when complete, normal and on the calendar', () => {
    assert.ok(isExactTime('2024-02-29T23:59:59Z'))
    for (const text of ['2024', '2024-02-30T00:00:00Z', '2024-01-01T24:00:00Z',
      '2024-01-01T00:00:00', '2024-01-01t00:00:00z', '2024-01-01T00:00:00.0Z',
      '2024-01-01T00:00:60Z', '+02024-01-01T00:00:00Z', null, 2024, new Date()]) {
      assert.equal(isExactTime(text), false, String(text))
    }
  })

  it('of the clock and of whole seconds are exact', () => {
    assert.ok(isExactTime(now()))
    fc.assert(fc.property(time, text => { assert.ok(isExactTime(text)) }))
  })

  it('sort as strings as they do in time', () => {
    fc.assert(fc.property(seconds, seconds, (a, b) => {
      assert.equal(Math.sign(a - b), Number(iso(a) > iso(b)) - Number(iso(a) < iso(b)))
    }))
  })

  it('up to the end of a partial time include all that begin with it, and none later', () => {
    fc.assert(fc.property(seconds, seconds, fc.constantFrom(4, 7, 10, 13, 16, 19), (a, b, length) => {
      const text = iso(a).slice(0, length)
      assert.equal(iso(b) <= endOf(text), iso(b) <= text + AFTER, `${iso(b)} as of ${text}`)
      assert.ok(startOf(text) <= iso(a) && iso(a) <= endOf(text))
    }))
  })

  it('with an offset are converted to UTC', () => {
    fc.assert(fc.property(seconds, fc.integer({ min: -14 * 60 + 1, max: 14 * 60 - 1 }), (instant, offset) => {
      const pad = value => String(Math.abs(Math.trunc(value))).padStart(2, '0')
      const text = iso(instant + offset * 60).slice(0, 19) +
        `${offset < 0 ? '-' : '+'}${pad(offset / 60)}:${pad(offset % 60)}`
      assert.equal(startOf(text), iso(instant))
    }))
  })

  it('are seconds since 1970 and back', () => {
    assert.equal(toSeconds('1970-01-02T00:00:00Z'), 86400)
    fc.assert(fc.property(seconds, instant => { assert.equal(toSeconds(fromSeconds(instant)), instant) }))
    assert.equal(addSeconds('2024-02-28T23:59:59Z', 1), '2024-02-29T00:00:00Z')
  })
})

describe('durations', () => {
  it('are a number and a unit', () => {
    const golden = {
      '90s': 90, '15m': 900, '12h': 43200, '7d': 604800, '4w': 2419200,
      '1y': 31536000, '1.5h': 5400, ' 2 d ': 172800, 30: 30, '7D': 604800
    }
    for (const [text, expected] of Object.entries(golden)) assert.equal(parseDuration(text), expected, text)
    assert.equal(parseDuration(60), 60)
    refusesAll(parseDuration,
      ['', 'd', '7x', '-7d', '7d2h', '1e9s', '7 days', 'Infinity', '.5h', null, undefined, NaN, -1], 'BAD_DURATION')
  })

  it('decide when a tile expires: its own time, else the ttl of its layer, else never', () => {
    assert.equal(expiryOf({ expires: '2025-01-01T00:00:00Z', stored: '2024-01-01T00:00:00Z' }, { ttl: 60 }),
      '2025-01-01T00:00:00Z')
    assert.equal(expiryOf({ stored: '2024-01-01T00:00:00Z' }, { ttl: 60 }), '2024-01-01T00:01:00Z')
    assert.equal(expiryOf({ stored: '2024-01-01T00:00:00Z' }, {}), null)
    assert.equal(expiryOf({ stored: '2024-01-01T00:00:00Z' }), null)
    assert.equal(expiryOf({}, { ttl: 60 }), null)
  })

  it('ignore values of other programs that are not valid times or numbers', () => {
    const stored = '2024-01-01T00:00:00Z'
    const badValues = ['soon', '2024-02-30T00:00:00Z', '2024-01-01', 5, true, null, '']
    for (const expires of badValues) {
      assert.equal(expiryOf({ expires, stored }, { ttl: 60 }), '2024-01-01T00:01:00Z', `${expires}`)
    }
    for (const value of badValues) assert.equal(expiryOf({ stored: value }, { ttl: 60 }), null, `${value}`)
    for (const ttl of ['60', 0, -1, NaN, Infinity, 1e15, null]) {
      assert.equal(expiryOf({ stored }, { ttl }), null, `${ttl}`)
    }
    assert.equal(expiryOf({ stored: '9999-12-31T23:59:58Z' }, { ttl: 1 }), '9999-12-31T23:59:59Z')
    assert.equal(expiryOf({ stored: '9999-12-31T23:59:58Z' }, { ttl: 2 }), null)
  })
})
