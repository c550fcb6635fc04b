// The rules of retention: by examples, and compared with a naive implementation of the promises of restic and borg.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MomentSelector, addSeconds, asOf, checkRetention, versionsToPrune, isKept } from '../../core/index.js'
import { naiveKept, naiveStay } from './naive.js'

const RUNS = process.env.TILECOUCH_LONG ? 20000 : 200
const NOW = '2026-01-01T00:00:00Z'
const SPAN = 3 * 365 * 24 // hours before NOW, the range of random times
const descending = times => [...new Set(times)].sort().reverse().map(time => ({ time }))

/** The moments that a policy keeps of these times and editions, as prune computes them. */
function keptMoments (policy, times, { now, editions = [] } = {}) {
  const selector = new MomentSelector(policy, { now })
  const editionTimes = new Set(editions)
  const allTimes = new Set([...editionTimes, ...Array.from(times, ({ time }) => time)])
  for (const time of [...allTimes].sort().reverse()) selector.take({ time, edition: editionTimes.has(time) })
  const { moments, from } = selector.end()
  return { moments, from }
}

const kept = (policy, times, options = {}) => keptMoments(policy, descending(times), { now: () => NOW, ...options })

// crowded times: often in one hour or day, sometimes years apart, at ends of periods, and after now
const time = fc.oneof(
  fc.integer({ min: -SPAN, max: 100 }).map(hours => addSeconds(NOW, hours * 3600)),
  fc.integer({ min: -400, max: 10 }).map(minutes => addSeconds(NOW, minutes * 600)),
  fc.integer({ min: -900, max: 0 }).map(days => addSeconds(NOW, days * 86400 - 1))
)
const few = fc.nat(4)
const policy = fc.record({
  last: few, hourly: few, daily: few, weekly: few, monthly: few, yearly: few,
  within: fc.constantFrom(0, 0, 0, 3600, 86400, 90 * 86400),
  editions: fc.constantFrom(undefined, undefined, true, ['2025'], ['2025-12-31', '2024'])
}, { requiredKeys: [] }).filter(rules => Object.values(rules).some(Boolean))
const versions = fc.uniqueArray(fc.record({ time, gone: fc.boolean() }),
  { selector: version => version.time, minLength: 1, maxLength: 8 })
  .map(list => list.sort((a, b) => a.time < b.time ? -1 : 1))
const layer = fc.record(
  { tiles: fc.array(versions, { minLength: 1, maxLength: 5 }), editions: fc.array(time, { maxLength: 4 }), policy }
)

const timesOf = tiles => tiles.flat().map(version => version.time)
const pruned = (tiles, rules) => tiles.map(tile => {
  const doomed = new Set(versionsToPrune(tile, rules))
  return tile.filter(version => !doomed.has(version))
}).filter(tile => tile.length)

describe('kept moments', () => {
  const days = n => Array.from({ length: n }, (_, day) => addSeconds('2025-12-01T12:00:00Z', day * 86400))

  it('are the last ones of each of the newest n periods that have moments', () => {
    const times = ['2025-01-01T10:00:00Z', '2025-01-01T23:59:59Z',
      '2025-03-05T00:00:00Z', '2025-03-05T08:10:00Z', '2025-03-05T08:50:00Z', '2025-12-30T09:00:00Z']
    const daily = n => kept({ daily: n }, times).moments
    assert.deepEqual(daily(1), ['2025-12-30T09:00:00Z'])
    assert.deepEqual(daily(2), ['2025-03-05T08:50:00Z', '2025-12-30T09:00:00Z'])
    assert.deepEqual(daily(3), ['2025-01-01T23:59:59Z', '2025-03-05T08:50:00Z', '2025-12-30T09:00:00Z'])
    assert.deepEqual(kept({ hourly: 3 }, times).moments,
      ['2025-03-05T00:00:00Z', '2025-03-05T08:50:00Z', '2025-12-30T09:00:00Z'])
    assert.deepEqual(kept({ last: 3 }, times).moments,
      ['2025-03-05T08:10:00Z', '2025-03-05T08:50:00Z', '2025-12-30T09:00:00Z'])
    assert.deepEqual(kept({ monthly: 2 }, times).moments, ['2025-03-05T08:50:00Z', '2025-12-30T09:00:00Z'])
  })

  it('include the oldest moment while a rule has fewer periods than it allows', () => {
    const times = days(5)
    assert.deepEqual(kept({ yearly: 10 }, times).moments, [times[0], times[4]])
    assert.deepEqual(kept({ yearly: 1 }, times).moments, [times[4]])
    assert.deepEqual(kept({ daily: 5 }, times).moments, times)
    assert.deepEqual(kept({ daily: 4 }, times).moments, times.slice(1))
  })

  it('are grouped by weeks of ISO 8601, even over the end of a year', () => {
    // week 52; 1, 1, 1; 2
    const times = ['2024-12-29T23:59:59Z', '2024-12-30T00:00:00Z',
      '2025-01-01T00:00:00Z', '2025-01-05T23:59:59Z', '2025-01-06T00:00:00Z']
    assert.deepEqual(kept({ weekly: 3 }, times).moments, [times[0], times[3], times[4]])
  })

  it('are all within the duration before the newest moment that is not in the future', () => {
    const times = [...days(20), '2099-01-01T00:00:00Z']
    assert.deepEqual(kept({ within: 5 * 86400 }, times), { moments: [], from: addSeconds(times[19], -5 * 86400) })
    assert.deepEqual(kept({ within: 5 * 86400, last: 22 }, times).moments, times.slice(0, 14))
    assert.deepEqual(kept({ within: 86400 }, ['2099-01-01T00:00:00Z']), { moments: [], from: addSeconds(NOW, -86400) })
    assert.deepEqual(keptMoments({ within: 86400 }, descending(times)).from,
      '2098-12-31T00:00:00Z', 'without a clock nothing is in the future')
  })

  it('include the times of all or named editions, even without a version at that time', () => {
    const options = { editions: ['2024-05-01T00:00:00Z', '2025-12-03T12:00:00Z'] }
    assert.deepEqual(kept({ editions: true }, days(5), options).moments, options.editions)
    assert.deepEqual(kept({ editions: ['2024'] }, days(5), options).moments, [options.editions[0]])
    assert.deepEqual(kept({ editions: ['2025-12', '2025-12-02T12:00:00Z'] }, days(5), options).moments,
      [options.editions[1]], 'what is named must be an edition')
    assert.deepEqual(kept({ last: 2 }, days(5), { editions: ['2025-12-31T00:00:00Z'] }).moments,
      [days(5)[4], '2025-12-31T00:00:00Z'])
  })

  it('are none when the layer has no moments', () => {
    assert.deepEqual(kept({ last: 3, within: 60, editions: true }, []), { moments: [], from: null })
  })

  it('are the same as those of a naive implementation', () => {
    fc.assert(fc.property(layer, ({ tiles, editions, policy: rules }) => {
      const expected = naiveKept(rules, timesOf(tiles), editions, NOW)
      const plan = kept(rules, timesOf(tiles), { editions })
      for (const moment of [...timesOf(tiles), ...editions]) {
        assert.equal(isKept(plan, moment), expected.moments.has(moment), moment)
      }
      assert.equal(plan.from ?? '~', expected.from)
      assert.ok(plan.moments.every((moment, at) => expected.moments.has(moment) && !(plan.moments[at - 1] >= moment)),
        'ascending, and nothing else')
    }), { numRuns: RUNS })
  })
})

describe('versions to prune', () => {
  it('are those that no kept moment shows, but never the newest', () => {
    const tile = ['2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z',
      '2025-03-01T00:00:00Z', '2025-04-01T00:00:00Z'].map(when => ({ time: when, gone: false }))
    const going = rules => versionsToPrune(tile, { moments: [], from: null, ...rules })
      .map(version => tile.indexOf(version))
    assert.deepEqual(going({}), [0, 1, 2])
    assert.deepEqual(going({ moments: ['2025-01-31T23:59:59Z'] }), [1, 2])
    assert.deepEqual(going({ moments: ['2025-02-01T00:00:00Z', '2025-03-15T00:00:00Z'] }), [0])
    assert.deepEqual(going({ from: '2025-02-15T00:00:00Z' }), [0], 'what was valid at its beginning stays')
    assert.deepEqual(going({ from: '2025-03-01T00:00:00Z' }), [0, 1])
    assert.deepEqual(going({ from: '2030-01-01T00:00:00Z' }), [0, 1, 2])
  })

  it('include gone versions before the first image', () => {
    const tile = (...gone) => gone.map((value, index) => ({ time: `2025-0${index + 1}-01T00:00:00Z`, gone: value }))
    const rules = { moments: [], from: '2000-01-01T00:00:00Z' }
    const going = (versionsOf, options) => versionsToPrune(versionsOf, rules, options)
      .map(({ time: when }) => +when.slice(5, 7))
    assert.deepEqual(going(tile(true, true, false, true)), [1, 2])
    assert.deepEqual(going(tile(true)), [], 'the newest says something to whoever loads an older time')
    assert.deepEqual(going(tile(true, true)), [1])
    assert.deepEqual(going(tile(true, true, false), { isProtected: ({ time: when }) => when.startsWith('2025-02') }),
      [1], 'what has not been reckoned with stays')
    assert.deepEqual(versionsToPrune(tile(false, true), { moments: [], from: null },
      { isProtected: ({ time: when }) => when.startsWith('2025-01') }), [], 'and what comes after it says something')
  })

  it('leave the same as a naive implementation: every kept moment unchanged, and no other versions', () => {
    fc.assert(fc.property(layer, ({ tiles, editions, policy: rules }) => {
      const plan = kept(rules, timesOf(tiles), { editions })
      const expected = naiveKept(rules, timesOf(tiles), editions, NOW)
      const after = pruned(tiles, plan)
      assert.deepEqual(after, tiles.map(tile => naiveStay(tile, expected)).filter(tile => tile.length))
      const shownAt = (tile, moment) => {
        const version = tile && asOf(tile, moment); return version?.gone ? undefined : version
      }
      for (const tile of tiles) {
        const remaining = after.find(other => other.includes(tile[tile.length - 1]))
        for (const moment of [...expected.moments, '9999-01-01T00:00:00Z']) {
          assert.equal(shownAt(remaining, moment), shownAt(tile, moment), moment)
        }
      }
    }), { numRuns: RUNS })
  })

  it('are none when a layer is pruned again by the same rules', () => {
    fc.assert(fc.property(layer, ({ tiles, editions, policy: rules }) => {
      const first = kept(rules, timesOf(tiles), { editions })
      const once = pruned(tiles, first)
      const second = kept(rules, timesOf(once), { editions: editions.filter(edition => isKept(first, edition)) })
      assert.deepEqual(pruned(once, second), once)
    }), { numRuns: RUNS })
  })

  // Prunes the versions up to a border, adds the later ones, and prunes again.
  const inTwo = ({ tiles, editions, policy: rules }, border) => {
    const upTo = ({ time: when }) => when <= border
    const before = tiles.map(tile => tile.filter(upTo)).filter(tile => tile.length)
    const early = editions.filter(edition => edition <= border)
    const first = keptMoments(rules, descending(timesOf(before)), { now: () => border, editions: early })
    const between = pruned(before, first)
    const allTiles = tiles.map(tile => [...between.find(other => other.some(version => tile.includes(version))) ?? [],
      ...tile.filter(version => !upTo(version))]).filter(tile => tile.length)
    const left = [...editions.filter(edition => edition > border), ...early.filter(edition => isKept(first, edition))]
    const now = () => border > NOW ? border : NOW
    return {
      inTwo: pruned(allTiles, kept(rules, timesOf(allTiles), { now, editions: left })),
      atOnce: pruned(tiles, kept(rules, timesOf(tiles), { now, editions }))
    }
  }

  it('are the same in the end, even with another prune in between', () => {
    fc.assert(fc.property(layer, time, (input, border) => {
      const tiles = input.tiles.map(tile => tile.map(version => ({ ...version, gone: false })))
      const results = inTwo({ ...input, tiles }, border)
      assert.deepEqual(results.inTwo, results.atOnce)
    }), { numRuns: RUNS })
  })

  it('are the same or fewer with a prune in between when tiles were gone', () => {
    fc.assert(fc.property(layer, time, (input, border) => {
      const results = inTwo(input, border)
      for (const tile of results.atOnce) for (const version of tile) {
        assert.ok(results.inTwo.some(other => other.includes(version)), version.time)
      }
    }), { numRuns: RUNS })
  })
})

describe('a policy', () => {
  it('keeps only the rules that are set', () => {
    assert.deepEqual(checkRetention({ last: 0, daily: 3, within: 0, editions: undefined, yearly: null }), { daily: 3 })
    assert.deepEqual(checkRetention({ editions: ['2024', '2024-03-01T00:00:00Z'] }),
      { editions: ['2024', '2024-03-01T00:00:00Z'] })
  })

  it('is refused with a reason when it keeps nothing or is malformed', () => {
    for (const emptyPolicy of [{}, { daily: 0 }, { editions: [] }, { within: null }]) {
      assert.throws(() => checkRetention(emptyPolicy), { code: 'BAD_RETENTION', message: /keeps nothing/ })
    }
    for (const invalid of [null, undefined, 3, 'daily', [], true]) {
      assert.throws(() => checkRetention(invalid), { code: 'BAD_RETENTION', message: /no object/ })
    }
    const badValues = {
      daily: [-1, 1.5, '3', NaN, Infinity, 1e9, true, []], within: ['90d', -1, 0.5, 1e12],
      editions: [false, 'all', [3], ['yesterday'], {}], keep: [1], secondly: [1], constructor: [1]
    }
    for (const [field, values] of Object.entries(badValues)) {
      for (const value of values) {
        assert.throws(() => checkRetention({ last: 1, [field]: value }), ({ code, message }) => [
          'BAD_RETENTION', 'BAD_TIME'
        ].includes(code) && (code === 'BAD_TIME' || message.includes(field)), `${field} ${value}`)
      }
    }
  })
})
