import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { budgetRows } from '../../bench/budgets.js'
import { makePages, makeTables, pages, readResults, writePages } from '../../bench/pages.js'
import { benchmarks } from '../../docs/tables.js'

const { docs, results: folder } = benchmarks
const IMAGE = /!\[([^\]]*)\]\(((?:\.\.\/)?images\/bench\/([\w-]+)\.svg)\)/g
const textOf = name => readFile(path.join(docs, name), 'utf8')

describe('the pages of the benchmarks', function () {
  this.timeout(20_000)
  /** @type {Record<string, any>} */
  let results
  /** @type {Record<string, string>} */
  let made
  /** @type {string[]} */
  let written // names of the pages that have a text
  before(async () => {
    results = await readResults(folder)
    made = await makePages(benchmarks)
    written = ['benchmarks.md', ...(await readdir(path.join(docs, 'benchmarks'))).map(name => `benchmarks/${name}`)]
  })

  it('agree with the results, and so do the plots (npm run docs writes them)', async () => {
    for (const [name, content] of Object.entries(made)) assert.ok(await textOf(name) === content, `${name}: not as npm run docs writes it`) // a difference of two plots says nothing
  })

  it('are there for every result', () => {
    for (const [name, needed] of Object.entries(pages)) {
      if (needed.some(one => results[one])) assert.ok(written.includes(`benchmarks/${name}.md`), `docs/benchmarks/${name}.md`)
    }
    for (const name of written.slice(1)) assert.ok(Object.hasOwn(pages, path.basename(name, '.md')), `${name} is registered in bench/pages.js`)
  })

  it('show every plot that is made on its page, and no other lies about', async () => {
    assert.deepEqual((await readdir(path.join(docs, 'images/bench'))).sort(), Object.keys(made).filter(name => name.endsWith('.svg')).map(name => path.basename(name)).sort())
    for (const [name, needed] of Object.entries(pages)) {
      for (const one of needed.filter(result => results[result])) {
        const { plots: own } = await import(`../../bench/${one}/page.js`)
        for (const plot of Object.keys(own(results[one]))) {
          assert.ok(plot.startsWith(`${one}-`), `${plot} begins with ${one}`)
          assert.ok((await textOf(`benchmarks/${name}.md`)).includes(`(../images/bench/${plot}.svg)`), `docs/benchmarks/${name}.md shows ${plot}`)
        }
      }
    }
  })

  it('show no plot that is not there, and say in words what is to be seen', async () => {
    const names = Object.values(pages).flat().sort()
    for (const name of written) {
      for (const [, alt, target, plot] of (await textOf(name)).matchAll(IMAGE)) {
        assert.ok(alt.split(' ').length >= 5, `${name}: ${target}: ${alt}`)
        const owner = names.filter(one => plot.startsWith(`${one}-`)).pop() // serve-memory, not serve
        assert.ok(owner, `${name}: ${target} is a plot of a benchmark`)
        if (results[owner]) assert.ok(existsSync(path.join(docs, path.dirname(name), target)), `${name} shows ${target}`)
      }
    }
  })

  it('show every table of a result', async () => {
    for (const [name, needed] of Object.entries(pages)) {
      const own = Object.fromEntries(needed.filter(one => results[one]).map(one => [one, results[one]]))
      if (!Object.keys(own).length) continue
      const text = await textOf(`benchmarks/${name}.md`)
      const others = await makeTables({}) // what the way in shows
      for (const marker of Object.keys(await makeTables(own))) {
        if (!Object.hasOwn(others, marker)) assert.ok(text.includes(`<!-- table: ${marker} -->`), `docs/benchmarks/${name}.md shows ${marker}`)
      }
    }
  })

  it('lead to one another', async () => {
    const start = await textOf('benchmarks.md')
    for (const name of written.slice(1)) {
      assert.ok(start.includes(`(${name})`), `docs/benchmarks.md leads to ${name}`)
      assert.match(await textOf(name), /\]\(\.\.\/benchmarks\.md[)#]/, `${name} leads back`)
    }
  })

  describe('from another folder', () => {
    let dir, from, to
    before(async () => {
      dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-pages-'))
      ;[from, to] = [path.join(dir, 'results'), path.join(dir, 'pages')]
      await mkdir(from)
      const mirror = structuredClone(results.mirror)
      mirror.sizes[0].results['tilecouch mirror'] = { rates: [7777], median: 7777, min: 7777, max: 7777 }
      await writeFile(path.join(from, 'mirror.json'), JSON.stringify(mirror))
    })
    after(() => rm(dir, { recursive: true, force: true }))

    it('have its figures, say what was not measured, and link to what is there', async () => {
      const files = await writePages({ results: from, docs: to })
      assert.ok(files.includes(path.join(to, 'benchmarks/mirror.md')))
      const page = await readFile(path.join(to, 'benchmarks/mirror.md'), 'utf8')
      assert.match(page, /\| tilecouch mirror \| 7,777\/s \|/)
      assert.match(await readFile(path.join(to, 'images/bench/mirror-rates.svg'), 'utf8'), />7,777</)
      const other = await readFile(path.join(to, 'benchmarks/export.md'), 'utf8')
      assert.match(other, /Not measured in this run/)
      assert.doesNotMatch(other, /!\[|<!-- table/)
      for (const file of files.filter(name => name.endsWith('.md'))) {
        for (const [, target] of (await readFile(file, 'utf8')).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
          const at = path.resolve(path.dirname(file), target)
          if (written.includes(path.relative(to, at)) || !at.startsWith(to)) assert.ok(existsSync(at), `${file} links to ${target}`)
        }
      }
    })

    it('are made of short runs, and of runs without rivals, as well', async () => {
      const { serve, export: out } = structuredClone(results)
      const few = Object.entries(serve.results).filter(([name]) => /^(gateway|CouchDB|one Node)/.test(name))
      const short = { ...serve, quick: true, levels: [32], programs: {}, missing: { nginx: 'not installed' }, results: Object.fromEntries(few) }
      await writeFile(path.join(from, 'serve.json'), JSON.stringify(short))
      await writeFile(path.join(from, 'export.json'), JSON.stringify({ ...out, quick: true, outside: [], served: null, missing: { nginx: 'not installed', pmtiles: 'no Python' } }))
      const anew = await makePages({ results: from, docs: to })
      assert.match(anew['benchmarks/serve.md'], /A short run \(`--quick`\).*\n[\s\S]*\| nginx \| {2}\| \*\*not measured\*\*: not installed \|/)
      assert.match(anew['benchmarks/export.md'], /Not measured: pmtiles: no Python/)
      for (const plot of ['serve-connections', 'export-served']) assert.ok(!Object.hasOwn(anew, `images/bench/${plot}.svg`), plot)
      for (const content of Object.values(anew)) assert.doesNotMatch(content, /undefined|NaN/)
      for (const name of ['serve', 'export']) await rm(path.join(from, `${name}.json`))
    })

    it('lose the plots of an earlier run', async () => {
      await rm(path.join(from, 'mirror.json'))
      await writePages({ results: from, docs: to })
      assert.ok(!existsSync(path.join(to, 'images/bench/mirror-rates.svg')))
    })
  })
})

describe('the budgets', () => {
  it('are the eleven of the design, each answered by rows of the results', async () => {
    const results = await readResults(folder)
    const rows = budgetRows(results)
    assert.equal(new Set(rows.map(({ what }) => what)).size, 11)
    for (const { what, measured, figure } of rows) assert.notEqual(figure, 'not measured', `${what}: ${measured}`)
    for (const row of rows.filter(({ judged }) => judged === 'pass')) assert.ok(Object.values(results).some(({ budgets }) => budgets.some(({ what, met }) => what === row.measured && met)), row.measured)
  })

  it('say what was not measured', () => {
    const rows = budgetRows({ mirror: { budgets: [{ what: 'memory of a mirror', target: '<= 300 MB', figure: '400 MB', met: false }] } })
    assert.equal(rows.filter(({ figure }) => figure === 'not measured').length, rows.length - 1)
    assert.deepEqual(rows.filter(({ what }) => what.startsWith('memory')).map(({ figure, judged }) => [figure, judged]), [['not measured', 'not measured'], ['400 MB', '**falls short**'], ['not measured', 'not measured']])
  })
})
