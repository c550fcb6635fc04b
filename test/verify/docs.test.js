// Tests that each kind of finding is in the source, in docs/checking.md and in a test, and how a report counts them.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findingItem } from '../../docs/verify-lists.js'
import { faults } from '../../loader/check/files/faults.js'
import { Report, reportDefaults } from '../../loader/check/files/report.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Reads files of a folder. @param {string} folder @param {(name: string) => boolean} isIncluded */
const textsOf = (folder, isIncluded) => readdirSync(path.join(root, folder), { recursive: true })
  .map(String).filter(isIncluded).map(name => readFileSync(path.join(root, folder, name), 'utf8'))
const sources = ['loader/formats', 'loader/check'].flatMap(
  folder => textsOf(folder, name => /\.js$/.test(name) && !/^faults\.js$/.test(name))
)
const tests = ['test/verify', 'test/check', 'test/settle'].flatMap(
  folder => textsOf(folder, name => /\.js$/.test(name) && !/^docs\.test/.test(name))
).join('\n')
const page = readFileSync(path.join(root, 'docs/checking.md'), 'utf8')

/** The list of findings of a level on the page. @param {'fault' | 'warning'} level */
const listOf = level => page.split(`<!-- table: ${level}s -->`)[1].split('<!-- end -->')[0]

describe('the kinds of findings', () => {
  for (const [code, fault] of Object.entries(faults)) {
    it(`have ${code} in the source, in the documentation and in a test`, () => {
      assert.match(code, /^[a-z]+(-[a-z]+)*$/)
      assert.ok(sources.some(text => text.includes(`'${code}'`)), 'the source')
      assert.ok(
        listOf(fault.level).includes(`\n${findingItem(code)}\n`) && findingItem(code).includes(fault.means),
        'docs/checking.md: npm run docs'
      )
      assert.ok(tests.includes(code), 'a test')
    })
  }

  it('of the source are all in the catalogue', () => {
    for (const text of sources) {
      for (const [, code] of text.matchAll(/\['([a-z]+(?:-[a-z]+)+)',|(?:add|onFault)\('([a-z]+(?:-[a-z]+)+)'/g)) {
        if (code) assert.ok(faults[code], code)
      }
    }
  })
})

describe('a report', () => {
  it('counts all findings, keeps the first hundred and an example of each kind, with short reasons', () => {
    const reported = []
    const report = new Report({ onFault: finding => reported.push(finding) })
    for (let index = 0; index < 250; index++) report.add(index % 2 ? 'odd-size' : 'empty-tile', `osm:3:0:${index}`)
    assert.deepEqual([report.faults, report.warnings, report.first.length, reported.length],
      [125, 125, reportDefaults.first, 250])
    assert.deepEqual([report.kinds, report.examples['odd-size'].where],
      [{ 'empty-tile': 125, 'odd-size': 125 }, 'osm:3:0:1'])
    const long = new Report()
    long.add('not-a-tile-name', 'a', `line\none\u001b[31m${'x'.repeat(500)}`)
    assert.equal(long.first[0].why?.length, 200)
    assert.match(long.first[0].why ?? '', /^line one \[31mx/)
  })
})
