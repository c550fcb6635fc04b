// Which result makes which page. A result NAME.json has its tables and plots from bench/NAME/page.js; a page is a text in
// docs/benchmarks with places for them, and docs/benchmarks.md is the way in.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { budgetTables } from './budgets.js'
import { render } from './plots/render.js'
import { table } from './plots/words.js'

/** Pages in docs/benchmarks by name, and the results that each of them tells. */
export const pages = {
  tilecache: ['tilecache'],
  bulk: ['bulk'],
  tilestache: ['tilestache'],
  keyspace: ['keyspace'],
  diskcache: ['diskcache'],
  load: ['load', 'memory'],
  growth: ['growth'],
  history: ['history'],
  serve: ['serve', 'serve-memory'],
  export: ['export'],
  mirror: ['mirror'],
  offline: ['offline']
}

const texts = fileURLToPath(new URL('../docs/', import.meta.url))
const missing = error => { if (error.code !== 'ENOENT') throw error }

/** The results in a folder, by name; what is not there is left out. @param {string} folder @returns {Promise<Record<string, any>>} */
export async function readResults (folder) {
  const read = Object.values(pages).flat().map(async name => [name, await readFile(path.join(folder, `${name}.json`), 'utf8').then(JSON.parse, missing)])
  return Object.fromEntries((await Promise.all(read)).filter(([, result]) => result))
}

const together = async (results, make) => Object.assign({}, ...await Promise.all(Object.entries(results).map(async ([name, result]) => make(await import(`./${name}/page.js`), result))))

/** Tables by the name of their marker. @param {Record<string, any>} results @returns {Promise<Record<string, string>>} */
export const makeTables = async results => ({ ...await together(results, (page, result) => page.tables(result, table)), ...budgetTables(results, table) })

/** Plots by name, as SVG. @param {Record<string, any>} results @returns {Promise<Record<string, string>>} */
export async function makePlots (results) {
  const charts = await together(results, (page, result) => page.plots(result))
  return Object.fromEntries(await Promise.all(Object.entries(charts).map(async ([name, chart]) => [name, await render(chart)])))
}

const MARKER = /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g

/** A text with its tables; `absent` says what stands where one is not there. @param {string} text @param {Record<string, string>} tables @param {(old: string, name: string) => string} absent */
export const fill = (text, tables, absent) => text.replace(MARKER, (old, begin, name, end) => Object.hasOwn(tables, name) ? `${begin}\n${tables[name]}\n\n${end}` : absent(old, name))

/** The pages that can be there: the way in, and each that has a text. @returns {Promise<Record<string, string>>} by their names below docs */
export async function readTexts () {
  const names = ['benchmarks.md', ...Object.keys(pages).map(name => `benchmarks/${name}.md`)]
  const read = await Promise.all(names.map(async name => [name, await readFile(path.join(texts, name), 'utf8').catch(missing)]))
  return Object.fromEntries(read.filter(([, text]) => text !== undefined))
}

const IMAGE = /!\[[^\]]*\]\((?:\.\.\/)?images\/bench\/([\w-]+)\.svg\)/g
const NOT = '*Not measured in this run.*'

/**
 * The same pages from another folder of results into another folder.
 * @param {{results: string, docs: string}} folders
 * @returns {Promise<string[]>} the files that were written
 */
export async function writePages ({ results: folder, docs }) {
  const results = await readResults(folder)
  const [tables, plots] = [await makeTables(results), await makePlots(results)]
  const files = Object.entries(plots).map(([name, svg]) => [`images/bench/${name}.svg`, svg])
  for (const [name, text] of Object.entries(await readTexts())) {
    const own = fill(text, tables, () => NOT).replace(IMAGE, (image, plot) => Object.hasOwn(plots, plot) ? image : NOT)
    files.push([name, docs === texts ? own : linked(own, name, docs)])
  }
  for (const [name, content] of files) {
    await mkdir(path.dirname(path.join(docs, name)), { recursive: true })
    await writeFile(path.join(docs, name), content)
  }
  return files.map(([name]) => path.join(docs, name))
}

/** Links to what is not written again lead to where it is. */
const linked = (text, name, docs) => text.replace(/\]\(([^):#]+\.(?!svg)\w+)/g, (link, target) => {
  const meant = path.join(path.dirname(name), target)
  return meant === 'benchmarks.md' || path.dirname(meant) === 'benchmarks' ? link : `](${path.relative(path.dirname(path.join(docs, name)), path.join(texts, meant))}`
})
