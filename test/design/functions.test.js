import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { Linter } from 'eslint'
import { root, source } from '../support/design-functions.js'

const files = ['_design', 'views']
  .flatMap(folder => readdirSync(path.join(root, folder), { recursive: true })
    .map(name => path.join(folder, String(name))))
  .filter(file => file.endsWith('.js'))
  .sort()

describe('design functions', () => {
  it('are found in _design and views', () => { assert.ok(files.length >= 12) })

  for (const file of files.filter(name => !name.endsWith('reduce.js'))) {
    it(`${file} is one anonymous function in ES5`, () => {
      const text = source(file)
      const made = vm.runInNewContext(text)
      assert.equal(typeof made, 'function')
      assert.equal(made.name, '')
      assert.ok(text.trimEnd().endsWith(`(${made})`), 'nothing but comments stands around it')
      const problems = new Linter().verify(text, { languageOptions: { ecmaVersion: 5, sourceType: 'script' } })
      assert.deepEqual(problems.map(({ message }) => message), [])
    })
  }

  for (const file of files.filter(name => name.endsWith('reduce.js'))) {
    it(`${file} is a reducer that CouchDB has built in`, () => {
      assert.match(source(file).trim(), /^_(count|sum|stats|approx_count_distinct)$/)
    })
  }

  it('are refused by the linter when their syntax is newer than ES5', () => {
    const problems = new Linter()
      .verify('(function (a) { return a?.b })', { languageOptions: { ecmaVersion: 5, sourceType: 'script' } })
    assert.equal(problems.length, 1)
  })
})
