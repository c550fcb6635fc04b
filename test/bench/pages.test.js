// The pages of the benchmarks agree with the results, and results are written as compact JSON.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { budgetRows } from '../../bench/budgets.js'
import { makePages, readResults } from '../../bench/pages.js'
import { compactJson } from '../../bench/results.js'

const docs = new URL('../../docs/', import.meta.url)

describe('the pages of the benchmarks', () => {
  it('agree with the results, and so do the plots (npm run docs writes them)', async () => {
    const contents = await makePages()
    for (const [name, content] of Object.entries(contents)) {
      assert.ok(await readFile(new URL(name, docs), 'utf8') === content, `${name}: not as npm run docs writes it`)
    }
    const plots = (await readdir(new URL('images/bench', docs))).map(name => `images/bench/${name}`)
    assert.deepEqual(plots.filter(name => !Object.hasOwn(contents, name)), [])
    const plotsOfPages = Object.values(contents)
      .flatMap(text => [...text.matchAll(/images\/bench\/[\w-]+\.svg/g)].map(([name]) => name))
    assert.deepEqual(plotsOfPages.filter(name => !Object.hasOwn(contents, name)), [])
  })

  it('have a measured figure for every budget of the design', async () => {
    const rows = budgetRows(await readResults())
    assert.equal(new Set(rows.map(({ what }) => what)).size, 16)
    for (const { what, measured, figure } of rows) assert.notEqual(figure, 'not measured', `${what}: ${measured}`)
  })
})

describe('the results of benchmarks', () => {
  it('are written as JSON with one line for each row', () => {
    const rows =
      Array.from({ length: 20 }, (_, at) => ({ name: `way ${at}`, rates: [1, 2.5, at], median: 2.5, left: undefined }))
    const text = compactJson({ rows, empty: [], nothing: null })
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify({ rows, empty: [], nothing: null })))
    assert.equal(text.split('\n').length, 20 + 6)
  })
})
