// Finding the sources of a dated set, and refusing what is wrong with one before anything is loaded.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { openSet } from '../../loader/index.js'
import { useFolder } from '../loader/helpers.js'
import { codeOf } from '../upstream/support.js'
import { png } from '../support/tiles.js'
import { writeMbtiles } from './mbtiles-writer.js'

describe('a dated set', () => {
  const folder = useFolder()
  const at = name => path.join(folder.dir, name)
  const tiles = (name, seed = 1) => folder.write({ [`${name}/0/0/0.png`]: png(seed) })
  const mbtiles = (name, metadata) => writeMbtiles(at(name), [{ z: 0, x: 0, y: 0, bytes: png(1) }], metadata)
  const found = async (names, options) => {
    const { members, passedOver } = await openSet(names.map(at), options)
    return [members.map(({ name, time }) => `${name} ${time.slice(0, 10)}`), passedOver.map(one => path.relative(folder.dir, one))]
  }

  it('is a folder of folders and archives, in the order of their times', async () => {
    tiles('set/tiles-2024-06-01')
    tiles('set/2023')
    mbtiles('set/survey_20231231.mbtiles')
    assert.deepEqual(await found(['set']), [['2023 2023-01-01', 'survey_20231231 2023-12-31', 'tiles-2024-06-01 2024-06-01'], []])
    assert.deepEqual(await found(['set/']), await found(['set']))
  })

  it('is what is named, one by one or by a pattern', async () => {
    tiles('b-2024')
    tiles('a-2023')
    mbtiles('c-2022.mbtiles')
    tiles('other')
    assert.deepEqual((await found(['b-2024/', 'c-2022.mbtiles', 'a-2023']))[0], ['c-2022 2022-01-01', 'a-2023 2023-01-01', 'b-2024 2024-01-01'])
    assert.deepEqual((await found(['?-202[234]*']).catch(error => error)).code, 'SOURCE_NOT_FOUND', 'there are * and ? and no more')
    assert.deepEqual((await found(['?-20*']))[0].length, 3)
    assert.deepEqual((await found(['*.mbtiles', 'c-2022.mbtiles', 'c-*']))[0], ['c-2022 2022-01-01'], 'what is named twice is one')
  })

  it('passes over what is no source, and says so', async () => {
    mbtiles('set/town-2024.mbtiles')
    mbtiles('set/town-2025.mbtiles.part')
    folder.write({ 'set/README-2021.txt': 'hello', 'set/.DS_Store': 'x', 'set/town-2024.mbtiles-wal': '', 'set/docs-2020/index.html': '<p>' })
    assert.deepEqual(await found(['set']), [['town-2024 2024-01-01'],
      ['set/.DS_Store', 'set/README-2021.txt', 'set/docs-2020', 'set/town-2024.mbtiles-wal', 'set/town-2025.mbtiles.part']])
  })

  it('may hold sources that say their time themselves', async () => {
    mbtiles('set/final.mbtiles', { 'tilecouch:time': '2024-05-06T00:00:00Z' })
    mbtiles('set/2023.mbtiles', { 'tilecouch:time': '1999-01-01T00:00:00Z' })
    assert.deepEqual((await found(['set']))[0], ['2023 2023-01-01', 'final 2024-05-06'], 'but names count first')
  })

  it('refuses names without a time, with two, and two of one time', async () => {
    mbtiles('none/final.mbtiles')
    mbtiles('several/2023-2024.mbtiles')
    mbtiles('twins/a-2024.mbtiles')
    mbtiles('twins/b-2024-01-01.mbtiles')
    assert.equal(await codeOf(found(['none'])), 'NO_TIME_IN_NAME')
    assert.equal(await codeOf(found(['several'])), 'NO_TIME_IN_NAME')
    await assert.rejects(found(['twins']), ({ code, message }) => code === 'BAD_OPTION' && /both .*a-2024.mbtiles and .*b-2024-01-01.mbtiles are of that time/.test(message))
  })

  it('refuses what is missing, damaged, empty or no source before anything is loaded, and all of it at once', async () => {
    mbtiles('set/a-2021.mbtiles')
    folder.write({ 'set/b-2022.mbtiles': 'no database', 'set/c-2023.pmtiles': 'PMTiles\u0003', 'set/d-2024/0/0/readme.txt': '' })
    const problems = []
    const code = await codeOf(found(['set'], { onProblem: error => problems.push(error.code) }))
    assert.deepEqual([code, ...problems], ['SOURCE_UNREADABLE', 'ARCHIVE_INVALID', 'SOURCE_EMPTY'])
    assert.equal(await codeOf(found(['set/a-2021.mbtiles', 'set/z-2029.mbtiles'])), 'SOURCE_NOT_FOUND')
    assert.equal(await codeOf(found(['none/*.mbtiles'])), 'SOURCE_NOT_FOUND')
    assert.equal(await codeOf(found(['set/*.zip'])), 'SOURCE_NOT_FOUND')
    assert.equal(await codeOf(found(['set/a-2021.mbtiles'], { zooms: { min: 5, max: 6 } })), 'SOURCE_EMPTY')
    assert.equal(await codeOf(found(['set'], { signal: AbortSignal.abort() })), 'ABORTED')
  })

  it('takes names as they are, whatever they hold', async () => {
    tiles('$(rm -rf)/x 2021 ; `echo`')
    tiles('$(rm -rf)/\u001b[31mred\n2022')
    tiles('$(rm -rf)/+(a|b)[c]{2023}')
    tiles('$(rm -rf)/*-2024')
    assert.equal((await found(['$(rm -rf)']))[0].length, 4)
    assert.deepEqual((await found(['$(rm -rf)/*-2024']))[0], ['*-2024 2024-01-01'], 'a name that is there is no pattern')
    assert.deepEqual((await found(['$(rm -rf)/+(a|b)[c]{*']))[0], ['+(a|b)[c]{2023} 2023-01-01'])
  })

  it('follows links to sources in the folder, and none that lead nowhere', async () => {
    tiles('set/data/x')
    symlinkSync(at('set/data/x'), at('set/tiles-2024'))
    symlinkSync(at('nowhere'), at('set/tiles-2025'))
    assert.equal(await codeOf(found(['set'])), 'SOURCE_NOT_FOUND')
    assert.deepEqual((await found(['set/*4']))[0], ['tiles-2024 2024-01-01'])
  })
})
