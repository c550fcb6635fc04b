import assert from 'node:assert/strict'
import { sunAltitude, sunAt } from '../../server/demo/sun.js'

const near = (actual, expected, tolerance, what) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected} within ${tolerance}`)

describe('the sun of the demo', () => {
  // declinations: solstices and equinoxes of 2024 to the minute, as the almanacs have them
  for (const [time, declination] of /** @type {[string, number][]} */ ([
    ['2024-03-20T03:06:00Z', 0],
    ['2024-06-20T20:51:00Z', 23.44],
    ['2024-09-22T12:44:00Z', 0],
    ['2024-12-21T09:21:00Z', -23.44]
  ])) {
    it(`stands ${declination} degrees north of the equator at ${time}`, () => {
      near(sunAt(time).declination, declination, 0.02, 'declination')
    })
  }

  // extremes and a zero of the equation of time, in minutes
  for (const [time, minutes] of /** @type {[string, number][]} */ ([
    ['2024-02-11T12:00:00Z', -14.2],
    ['2024-04-15T12:00:00Z', 0],
    ['2024-05-14T12:00:00Z', 3.7],
    ['2024-07-26T12:00:00Z', -6.5],
    ['2024-11-03T12:00:00Z', 16.4]
  ])) {
    it(`is ${minutes} minutes ahead of the clock on ${time.slice(0, 10)}`, () => {
      near(sunAt(time).equationOfTime, minutes, 0.2, 'equation of time')
    })
  }

  it('is over Greenwich about noon, and moves 15 degrees west an hour', () => {
    near(sunAt('2024-04-15T12:00:00Z').longitude, 0, 0.1, 'longitude')
    near(sunAt('2024-04-15T18:00:00Z').longitude, -90, 0.1, 'longitude')
    near(sunAt('2024-04-15T00:00:00Z').longitude % 360, -180, 0.3, 'longitude')
  })

  it('sets in Zurich on 20 June 2024 at 19:26 UTC', () => {
    near(sunAltitude(sunAt('2024-06-20T19:26:00Z'), 8.54, 47.37), -0.833, 0.3, 'altitude')
  })

  it('is in the zenith where it is said to be', () => {
    const sun = sunAt('2024-08-01T07:30:00Z')
    near(sunAltitude(sun, sun.longitude, sun.declination), 90, 0.001, 'altitude')
  })
})
