// Finding the sources of a dated set, and the time in a name. Faults are refused before anything is loaded.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { TIME_FACTOR } from '../../bench/wait.js'
import { addSeconds, nameTime, openSet, timeInName } from '../../loader/index.js'
import { random as seeded } from '../../bench/tiles.js'
import { useFolder } from '../support/folder.js'
import { codeOf } from '../upstream/support.js'
import { png } from '../support/tiles.js'
import { writeMbtiles } from './archive-writers.js'

describe('a dated set', () => {
  const folder = useFolder()
  const tiles = (name, seed = 1) => folder.write({ [`${name}/0/0/0.png`]: png(seed) })
  const mbtiles = (name, metadata) => writeMbtiles(folder.path(name), [{ z: 0, x: 0, y: 0, bytes: png(1) }], metadata)
  const findMembers = async (names, options) => {
    const { members, passedOver } = await openSet(names.map(name => folder.path(name)), options)
    return [members.map(({ name, time }) => `${name} ${time.slice(0, 10)}`),
      passedOver.map(file => path.relative(folder.dir, file))]
  }

  it('is a folder of folders and archives, in the order of their times', async () => {
    tiles('set/tiles-2024-06-01')
    tiles('set/2023')
    mbtiles('set/survey_20231231.mbtiles')
    assert.deepEqual(await findMembers(['set']),
      [['2023 2023-01-01', 'survey_20231231 2023-12-31', 'tiles-2024-06-01 2024-06-01'], []])
    assert.deepEqual(await findMembers(['set/']), await findMembers(['set']))
  })

  it('has the named sources, given one by one or by a pattern', async () => {
    tiles('b-2024')
    tiles('a-2023')
    mbtiles('c-2022.mbtiles')
    tiles('other')
    assert.deepEqual((await findMembers(['b-2024/', 'c-2022.mbtiles', 'a-2023']))[0],
      ['c-2022 2022-01-01', 'a-2023 2023-01-01', 'b-2024 2024-01-01'])
    assert.deepEqual((await findMembers(['?-202[234]*']).catch(error => error)).code,
      'SOURCE_NOT_FOUND', 'there are * and ? and no more')
    assert.deepEqual((await findMembers(['?-20*']))[0].length, 3)
    assert.deepEqual((await findMembers(['*.mbtiles', 'c-2022.mbtiles', 'c-*']))[0],
      ['c-2022 2022-01-01'], 'what is named twice is one')
  })

  it('skips and lists files and folders that are not sources', async () => {
    mbtiles('set/town-2024.mbtiles')
    mbtiles('set/town-2025.mbtiles.part')
    folder.write({
      'set/README-2021.txt': 'hello', 'set/.DS_Store': 'x', 'set/town-2024.mbtiles-wal': '',
      'set/docs-2020/index.html': '<p>'
    })
    assert.deepEqual(await findMembers(['set']), [['town-2024 2024-01-01'],
      ['set/.DS_Store', 'set/README-2021.txt', 'set/docs-2020', 'set/town-2024.mbtiles-wal',
        'set/town-2025.mbtiles.part']])
  })

  it('takes the time of a source from its metadata when its name has none', async () => {
    mbtiles('set/final.mbtiles', { 'tilecouch:time': '2024-05-06T00:00:00Z' })
    mbtiles('set/2023.mbtiles', { 'tilecouch:time': '1999-01-01T00:00:00Z' })
    assert.deepEqual((await findMembers(['set']))[0], ['2023 2023-01-01', 'final 2024-05-06'], 'but names count first')
  })

  it('refuses names without a time or with two times, and two sources of one time', async () => {
    mbtiles('none/final.mbtiles')
    mbtiles('several/2023-2024.mbtiles')
    mbtiles('twins/a-2024.mbtiles')
    mbtiles('twins/b-2024-01-01.mbtiles')
    assert.equal(await codeOf(findMembers(['none'])), 'NO_TIME_IN_NAME')
    assert.equal(await codeOf(findMembers(['several'])), 'NO_TIME_IN_NAME')
    await assert.rejects(findMembers(['twins']), ({ code, message }) => code === 'BAD_OPTION' &&
      /both .*a-2024.mbtiles and .*b-2024-01-01.mbtiles are of that time/.test(message))
  })

  it('reports all missing, damaged, empty and unknown sources before anything is loaded', async () => {
    mbtiles('set/a-2021.mbtiles')
    folder.write(
      { 'set/b-2022.mbtiles': 'no database', 'set/c-2023.pmtiles': 'PMTiles\u0003', 'set/d-2024/0/0/readme.txt': '' }
    )
    const problems = []
    const code = await codeOf(findMembers(['set'], { onProblem: error => problems.push(error.code) }))
    assert.deepEqual([code, ...problems], ['SOURCE_UNREADABLE', 'ARCHIVE_INVALID', 'SOURCE_EMPTY'])
    assert.equal(await codeOf(findMembers(['set/a-2021.mbtiles', 'set/z-2029.mbtiles'])), 'SOURCE_NOT_FOUND')
    assert.equal(await codeOf(findMembers(['none/*.mbtiles'])), 'SOURCE_NOT_FOUND')
    assert.equal(await codeOf(findMembers(['set/*.sqlite'])), 'SOURCE_NOT_FOUND')
    assert.equal(await codeOf(findMembers(['set/a-2021.mbtiles'], { zooms: { min: 5, max: 6 } })), 'SOURCE_EMPTY')
    assert.equal(await codeOf(findMembers(['set'], { signal: AbortSignal.abort() })), 'ABORTED')
  })

  it('accepts names with any special characters', async () => {
    tiles('$(rm -rf)/x 2021 ; `echo`')
    tiles('$(rm -rf)/\u001b[31mred\n2022')
    tiles('$(rm -rf)/+(a|b)[c]{2023}')
    tiles('$(rm -rf)/*-2024')
    assert.equal((await findMembers(['$(rm -rf)']))[0].length, 4)
    assert.deepEqual((await findMembers(['$(rm -rf)/*-2024']))[0], ['*-2024 2024-01-01'],
      'a name that is there is no pattern')
    assert.deepEqual((await findMembers(['$(rm -rf)/+(a|b)[c]{*']))[0], ['+(a|b)[c]{2023} 2023-01-01'])
  })

  it('follows links to sources, and fails when a link leads nowhere', async () => {
    tiles('set/data/x')
    symlinkSync(folder.path('set/data/x'), folder.path('set/tiles-2024'))
    symlinkSync(folder.path('nowhere'), folder.path('set/tiles-2025'))
    assert.equal(await codeOf(findMembers(['set'])), 'SOURCE_NOT_FOUND')
    assert.deepEqual((await findMembers(['set/*4']))[0], ['tiles-2024 2024-01-01'])
  })
})

describe('the time in a name', () => {
  for (const [name, time] of Object.entries({
    'tiles-2023-06-01': '2023-06-01T00:00:00Z',
    'survey_20240301.mbtiles': '2024-03-01T00:00:00Z',
    'survey20240301b.mbtiles': '2024-03-01T00:00:00Z',
    'osm@2024-03-01T121500Z.pmtiles': '2024-03-01T12:15:00Z',
    'osm@2024-03-01T12:15:00Z.mbtiles': '2024-03-01T12:15:00Z',
    'flight 20240301T1215.a.pmtiles': '2024-03-01T12:15:00Z',
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
    'id12345678_2024-03-01': '2024-03-01T00:00:00Z', // a number that is no date is ignored
    '2024-01-01_2024': '2024-01-01T00:00:00Z' // the same time twice
  })) it(`is ${time} in ${name}`, () => assert.equal(timeInName(name), time))

  for (const name of ['tiles', '', 'v2', 'epsg2056.mbtiles', 'tile2048px',
    '0099', '3024', '20240', '1234567890', 'ﾟ２０２４', 'tiles-12']) {
    it(`is not found in ${JSON.stringify(name)}`, () => assert.equal(timeInName(name), undefined))
  }

  for (const [name, message] of Object.entries({
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
  })) {
    it(`is not guessed in ${name}`, () => assert.throws(() => timeInName(name),
      error => error.code === 'NO_TIME_IN_NAME' && message.test(error.message)))
  }

  it('is read back from a name that contains it', () => {
    const random = seeded(20240301)
    for (let round = 0; round < 2000; round++) {
      const seconds = Math.floor(random() * 63e9) - 30e9 // the years 1019 to 3000
      const time = addSeconds('1970-01-01T00:00:00Z', round % 2 ? seconds : seconds - seconds % 86400)
      if (time < '1000' || time > '3000') continue
      assert.doesNotMatch(nameTime(time), /[:/\\]/)
      for (const name of [nameTime(time), `osm@${nameTime(time)}.mbtiles`, `a_${nameTime(time)}_b`]) {
        assert.equal(timeInName(name), time, name)
      }
    }
    assert.equal(nameTime('2024-03-01T00:00:00Z'), '2024-03-01')
    assert.equal(nameTime('2024-03-01T12:15:00Z'), '2024-03-01T121500Z')
    assert.throws(() => nameTime('2024'), { code: 'BAD_TIME' })
  })

  it('is found or refused in any name within seconds', () => {
    const random = seeded(7)
    const letters = '0123456789-_.:TZ@ \n\u0000é2024'
    const started = performance.now()
    for (let round = 0; round < 20000; round++) {
      const name =
        Array.from({ length: Math.floor(random() * 40) }, () => letters[Math.floor(random() * letters.length)]).join('')
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
    assert.ok(performance.now() - started < 10000 * TIME_FACTOR)
  })
})
