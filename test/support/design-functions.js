// Design functions as CouchDB runs them: the text of one function expression, evaluated with nothing but its own
// globals.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { withModules } from '../../loader/store/design-source.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A design function, with the modules inside as the composer puts them there.
 * @param {string} file from the root of the project
 */
export const source = file => withModules(readFileSync(path.join(root, file), 'utf8'), file)

// what comes out of another realm has other prototypes, which deepEqual tells apart
const plain = value => value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** @param {string} file @param {Record<string, any>} [globals] getRow, send, emit, … */
export function loadDesign (file, globals = {}) {
  const made = vm.runInNewContext(source(file), globals, { filename: file })
  return (...args) => plain(made(...args))
}

const rewrite = loadDesign('_design/tiles/rewrites.js')

/** What becomes of a URL below _rewrite, as CouchDB calls the function. */
export function rewritten (url, { method = 'GET', headers = {}, raw = `/tiles/_design/tiles/_rewrite${url}` } = {}) {
  const [pathname, search = ''] = url.split('?')
  const path_ = ['tiles', '_design', 'tiles', '_rewrite',
    ...pathname.split('/').filter(part => part !== '').map(decodeURIComponent)]
  const query = Object.fromEntries(new URLSearchParams(search))
  return rewrite({ method, path: path_, raw_path: raw, query, headers })
}

/** The error of an answer, or nothing. */
export const errorOf = answer => answer.body && answer.code >= 400 ? JSON.parse(answer.body).error : undefined

// one context a list: making one takes longer than running any of them
const lists = new Map()
let current

function listFunction (name) {
  if (!lists.has(name)) {
    lists.set(name, loadDesign(`_design/tiles/lists/${name}.js`, {
      getRow: () => current.rows.shift() ?? null,
      start: given => { Object.assign(current.answer, plain(given)) },
      send: text => { current.answer.body += text }
    }))
  }
  return lists.get(name)
}

/** Runs a list function over rows: what it starts with, and what it sends. */
export function runList (name, rows, query = {}, headers = {}) {
  current = { rows: [...rows], answer: { code: 200, headers: {}, body: '' } }
  listFunction(name)({ total_rows: rows.length, offset: 0 }, { query, headers })
  return { ...current.answer, json: JSON.parse(current.answer.body) }
}

/** What a map function emits for a document. */
export function emitted (view, doc) {
  const rows = []
  loadDesign(`views/${view}/map.js`, { emit: (key, value) => rows.push(plain({ key, value })) })(doc)
  return rows
}
