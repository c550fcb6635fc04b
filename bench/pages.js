// Which result makes which page. A result NAME.json has its tables and plots from bench/NAME/page.js; a page is a text in
// docs/benchmarks with places for them, and docs/benchmarks.md is the way in.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { budgetTables } from './budgets.js'
import { learnt } from './learnt.js'
import { lossTable } from './losses.js'
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

/** What the pages of all results make, by name. @param {Record<string, any>} results @param {(page: any, result: any) => Record<string, any>} make */
async function together (results, make) {
  /** @type {Record<string, any>} */
  const all = {}
  for (const [name, result] of Object.entries(results)) {
    const made = make(await import(`./${name}/page.js`), result)
    const twice = Object.keys(made).find(key => Object.hasOwn(all, key))
    if (twice) throw new Error(`bench/${name}/page.js: another page makes ${twice} as well`)
    Object.assign(all, made)
  }
  return all
}

/** Tables by the name of their marker. @param {Record<string, any>} results @returns {Promise<Record<string, string>>} */
export const makeTables = async results => ({ ...await together(results, (page, result) => page.tables(result, table)), ...budgetTables(results, table), learnt: learnt(results), losses: lossTable(results, table) })

/** Plots by name, as SVG. @param {Record<string, any>} results @returns {Promise<Record<string, string>>} */
export async function makePlots (results) {
  const charts = await together(results, (page, result) => page.plots(result))
  return Object.fromEntries(await Promise.all(Object.entries(charts).map(async ([name, chart]) => [name, await render(chart)])))
}

const MARKER = /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g

/**
 * A text with its tables.
 * @param {string} text
 * @param {Record<string, string>} tables by the names of their markers
 * @param {(old: string, name: string) => string} absent what stands where a table is not there
 */
export const fill = (text, tables, absent) => text.replace(MARKER, (old, begin, name, end) => Object.hasOwn(tables, name) ? `${begin}\n${tables[name]}\n\n${end}` : absent(old, name))

/** The texts of the pages that have one, by their names below docs. @returns {Promise<[string, string][]>} */
async function readTexts () {
  const names = ['benchmarks.md', ...Object.keys(pages).map(name => `benchmarks/${name}.md`)]
  const read = await Promise.all(names.map(async name => /** @type {[string, string]} */ ([name, await readFile(path.join(texts, name), 'utf8').catch(missing)])))
  return read.filter(([, text]) => text !== undefined)
}

const IMAGE = /!\[[^\]]*\]\((?:\.\.\/)?images\/bench\/([\w-]+)\.svg\)/g
const NOT = '*Not measured in this run.*'

/**
 * Pages and plots from a folder of results. In docs itself a page whose results are not there yet stays as it is; in another
 * folder it says what was not measured, and links lead back to what is not made anew.
 * @param {{results: string, docs: string}} folders
 * @returns {Promise<Record<string, string>>} contents by their names below docs
 */
export async function makePages ({ results: folder, docs }) {
  const results = await readResults(folder)
  const [tables, plots] = [await makeTables(results), await makePlots(results)]
  const files = Object.fromEntries(Object.entries(plots).map(([name, svg]) => [`images/bench/${name}.svg`, svg]))
  for (const [name, text] of await readTexts()) {
    const here = path.resolve(docs) === path.resolve(texts)
    const page = fill(text, tables, here ? (old, marker) => stays(old, marker, name, results) : () => NOT)
    files[name] = here ? page : linked(page.replace(IMAGE, (image, plot) => Object.hasOwn(plots, plot) ? image : NOT), name, docs)
  }
  return files
}

function stays (old, marker, name, results) {
  const own = pages[path.basename(name, '.md')]
  if (own?.every(one => results[one])) throw new Error(`${name}: no benchmark makes the table ${marker}`)
  return old
}

/** Links to what is not made anew lead to where it is. */
const linked = (text, name, docs) => text.replace(/\]\(([^):#]+\.(?!svg)\w+)/g, (link, target) => {
  const meant = path.join(path.dirname(name), target)
  return meant === 'benchmarks.md' || path.dirname(meant) === 'benchmarks' ? link : `](${path.relative(path.dirname(path.resolve(docs, name)), path.join(texts, meant))}`
})

/**
 * Writes what makePages makes, and takes away plots that nothing makes any more.
 * @param {{results: string, docs: string}} folders
 * @returns {Promise<string[]>} the files that were written
 */
export async function writePages (folders) {
  const made = Object.entries(await makePages(folders)).map(([name, content]) => [path.join(folders.docs, name), content])
  await rm(path.join(folders.docs, 'images', 'bench'), { recursive: true, force: true })
  for (const [file, content] of made) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  return made.map(([file]) => file)
}
