import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { geojsonLimits } from '../../core/geojson.js'
import { seedDefaults } from '../../loader/seed/index.js'
import { fetchDefaults } from '../../loader/seed/fetcher.js'
import { saveDefaults } from '../../loader/seed/saver.js'

describe('the page on seeding', () => {
  it('says the numbers that the code has', () => {
    const page = readFileSync(new URL('../../docs/seeding.md', import.meta.url), 'utf8')
    const { attempts, failures, patience, refusals, silent, longestDelay, grace } = fetchDefaults
    for (const text of [
      `${seedDefaults.lookup} tiles a request`,
      `asks ${attempts} times, then lists`,
      `After ${failures} failed tiles in a row`,
      `up to ${longestDelay / 1000} seconds between`,
      `after ${patience} seconds without any answer`,
      `asked ${silent} times in vain`,
      `After ${refusals} in a row`,
      `requests in flight, ${grace} seconds at most`,
      `two seconds' worth and ${(saveDefaults.inFlight + 1) * saveDefaults.tiles} tiles`,
      `down to -${geojsonLimits.longitude}`,
      `a step of ${geojsonLimits.step} to 360 degrees`
    ]) assert.ok(page.includes(text), text)
    assert.equal(saveDefaults.wait, 2000)
  })
})
