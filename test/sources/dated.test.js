import assert from 'node:assert/strict'
import { addSeconds } from '../../core/index.js'
import { nameTime, timeInName } from '../../loader/index.js'
import { seeded } from '../loader/helpers.js'

describe('the time in a name', () => {
  for (const [name, time] of Object.entries({
    'tiles-2023-06-01': '2023-06-01T00:00:00Z',
    'survey_20240301.mbtiles': '2024-03-01T00:00:00Z',
    'survey20240301b.mbtiles': '2024-03-01T00:00:00Z',
    'osm@2024-03-01T121500Z.pmtiles': '2024-03-01T12:15:00Z',
    'osm@2024-03-01T12:15:00Z.zip': '2024-03-01T12:15:00Z',
    'flight 20240301T1215.tar.gz': '2024-03-01T12:15:00Z',
    '20240301T12': '2024-03-01T12:00:00Z',
    '20240301_121530.tif.mbtiles': '2024-03-01T12:15:30Z',
    'a.2024.03.01.mbtiles': '2024-03-01T00:00:00Z',
    'a 2024_3_1': '2024-03-01T00:00:00Z',
    'town-2024-03': '2024-03-01T00:00:00Z',
    town_2024_03_v2: '2024-03-01T00:00:00Z',
    'town202403.mbtiles': '2024-03-01T00:00:00Z',
    'town-199803': '1998-03-01T00:00:00Z',
    2024: '2024-01-01T00:00:00Z',
    'tiles_z0-14_2024.mbtiles': '2024-01-01T00:00:00Z',
    'id12345678_2024-03-01': '2024-03-01T00:00:00Z', // what is no date is no second time
    '2024-01-01_2024': '2024-01-01T00:00:00Z' // said twice
  })) it(`is ${time} in ${name}`, () => assert.equal(timeInName(name), time))

  for (const name of ['tiles', '', 'v2', 'epsg2056.mbtiles', 'tile2048px', '0099', '3024', '20240', '1234567890', 'ﾟ２０２４', 'tiles-12']) {
    it(`is none in ${JSON.stringify(name)}`, () => assert.equal(timeInName(name), undefined))
  }

  for (const [name, why] of Object.entries({
    '2023-2024': /several: 2023, 2024/,
    'from-2023-06-01-to-2023-07-01.mbtiles': /several: 2023-06-01, 2023-07-01/,
    '20240301_1215': /several/,
    '2024-02-30': /2024-02-30 is not on the calendar/,
    '20241301.mbtiles': /20241301 is not on the calendar/,
    '2024-13': /not on the calendar/,
    '2024-03-01T25': /not on the calendar/,
    '01-03-2024': /01-03-2024 can be read in two ways/,
    '1.3.2024': /two ways/,
    '2024-3': /two ways/,
    200903: /two ways/
  })) it(`is not guessed in ${name}`, () => assert.throws(() => timeInName(name), error => error.code === 'NO_TIME_IN_NAME' && why.test(error.message)))

  it('is what was written into it, whatever stands around it', () => {
    const random = seeded(20240301)
    for (let round = 0; round < 2000; round++) {
      const seconds = Math.floor(random() * 63e9) - 30e9 // the years 1019 to 3000
      const time = addSeconds('1970-01-01T00:00:00Z', round % 2 ? seconds : seconds - seconds % 86400)
      if (time < '1000' || time > '3000') continue
      assert.doesNotMatch(nameTime(time), /[:/\\]/)
      for (const name of [nameTime(time), `osm@${nameTime(time)}.mbtiles`, `a_${nameTime(time)}_b`]) assert.equal(timeInName(name), time, name)
    }
    assert.equal(nameTime('2024-03-01T00:00:00Z'), '2024-03-01')
    assert.equal(nameTime('2024-03-01T12:15:00Z'), '2024-03-01T121500Z')
    assert.throws(() => nameTime('2024'), { code: 'BAD_TIME' })
  })

  it('is found or not in any name at all, and quickly', () => {
    const random = seeded(7)
    const letters = '0123456789-_.:TZ@ \n\u0000é2024'
    const started = performance.now()
    for (let round = 0; round < 20000; round++) {
      const name = Array.from({ length: Math.floor(random() * 40) }, () => letters[Math.floor(random() * letters.length)]).join('')
      try {
        const time = timeInName(name)
        if (time !== undefined) assert.match(time, /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      } catch (error) {
        assert.equal(error.code, 'NO_TIME_IN_NAME', error.stack)
      }
    }
    for (const long of ['2024-'.repeat(20000), '2'.repeat(100000), '20240301_'.repeat(10000)]) {
      try { timeInName(long) } catch (error) { assert.equal(error.code, 'NO_TIME_IN_NAME') }
    }
    assert.ok(performance.now() - started < 10000)
  })
})
