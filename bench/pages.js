// Makes the pages of the benchmarks. A result NAME.json has its tables and plots in bench/NAME/page.js; a page is a
// text in docs/benchmarks with markers for them. `npm run docs` writes the pages.
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { budgetLists } from './budgets.js'
import { render } from './plots/render.js'
import { table } from './plots/words.js'
import { readResult } from './results.js'

/** Pages in docs/benchmarks by name, and the results that each page shows. */
export const pages = {
  tilecache: ['tilecache'],
  bulk: ['bulk'],
  tilestache: ['tilestache'],
  keyspace: ['keyspace'],
  diskcache: ['diskcache'],
  load: ['load', 'command', 'memory'],
  history: ['history'],
  growth: ['growth'],
  serve: ['serve'],
  cold: ['cold'],
  export: ['export'],
  mirror: ['mirror'],
  cluster: ['cluster'],
  offline: ['offline']
}

const docs = fileURLToPath(new URL('../docs/', import.meta.url))
const plotFolder = path.join(docs, 'images/bench')

/** The results by name. @returns {Promise<Record<string, any>>} */
export async function readResults (folder = new URL('results/', import.meta.url)) {
  const pending = Object.values(pages).flat()
    .map(async name => [name, await readResult(path.join(fileURLToPath(folder), `${name}.json`))])
  return Object.fromEntries((await Promise.all(pending)).filter(([, result]) => result))
}

/**
 * @param {Record<string, any>} results
 * @param {(page: any, result: any) => Record<string, any>} make makes the parts of one page
 * @returns {Promise<Record<string, any>>} by name
 */
async function makeParts (results, make) {
  const parts = await Promise.all(
    Object.entries(results).map(async ([name, result]) => make(await import(`./${name}/page.js`), result))
  )
  return Object.assign({}, ...parts)
}

/**
 * Tables by the name of their marker.
 * @param {Record<string, any>} results
 * @returns {Promise<Record<string, string>>}
 */
export const makeTables = async results => (
  { ...await makeParts(results, (page, result) => page.tables(result, table)), ...budgetLists(results) }
)

const MARKER = /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g

/** A text with its tables filled in. @param {Record<string, string>} tables by the names of their markers */
export const fill = (text, tables) => text.replace(MARKER, (_, begin, name, end) => {
  if (!Object.hasOwn(tables, name)) throw new Error(`no table ${name}`)
  return `${begin}\n${tables[name]}\n\n${end}`
})

/**
 * The contents of all pages and plots.
 * @returns {Promise<Record<string, string>>} contents by paths relative to docs
 */
export async function makePages () {
  const results = await readResults()
  const tables = await makeTables(results)
  const charts = await makeParts(results, (page, result) => page.plots(result))
  const plots = Object.entries(charts).map(async ([name, chart]) => [`images/bench/${name}.svg`, await render(chart)])
  const texts = ['benchmarks.md', ...Object.keys(pages).map(name => `benchmarks/${name}.md`)]
    .map(async name => [name, fill(await readFile(path.join(docs, name), 'utf8'), tables)])
  return Object.fromEntries(await Promise.all([...plots, ...texts]))
}

/** Writes the files of makePages, and removes plots that no page uses any more. */
export async function writePages () {
  const contents = await makePages()
  for (const name of await readdir(plotFolder)) if (!Object.hasOwn(contents, `images/bench/${name}`)) {
    await rm(path.join(plotFolder, name))
  }
  for (const [name, content] of Object.entries(contents)) await writeFile(path.join(docs, name), content)
}
