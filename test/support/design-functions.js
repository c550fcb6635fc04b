// Runs design functions as CouchDB does: evaluates the text of one function expression in a context that has only its
// own globals.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { withModules } from '../../loader/store/design-source.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The source of a design function, with the modules that the composer inserts.
 * @param {string} file path from the root of the project
 */
export const source = file => withModules(readFileSync(path.join(root, file), 'utf8'), file)

// values of another realm have other prototypes, which deepEqual compares
const plain = value => value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** @param {string} file @param {Record<string, any>} [globals] getRow, send, emit, … */
export function loadDesign (file, globals = {}) {
  const designFunction = vm.runInNewContext(source(file), globals, { filename: file })
  return (...args) => plain(designFunction(...args))
}

const rewrite = loadDesign('_design/tiles/rewrites.js')

/** Calls the rewrite function for a URL below _rewrite, as CouchDB does. */
export function rewritten (url, { method = 'GET', headers = {}, raw = `/tiles/_design/tiles/_rewrite${url}` } = {}) {
  const [pathname, search = ''] = url.split('?')
  const segments = ['tiles', '_design', 'tiles', '_rewrite',
    ...pathname.split('/').filter(part => part !== '').map(decodeURIComponent)]
  const query = Object.fromEntries(new URLSearchParams(search))
  return rewrite({ method, path: segments, raw_path: raw, query, headers })
}

/** The error code of an answer, or undefined. */
export const errorOf = answer => answer.body && answer.code >= 400 ? JSON.parse(answer.body).error : undefined

// one context for each list function: to create a context takes longer than to run a function
const lists = new Map()
let current

function listFunction (name) {
  if (!lists.has(name)) {
    lists.set(name, loadDesign(`_design/tiles/lists/${name}.js`, {
      getRow: () => current.rows.shift() ?? null,
      start: fields => { Object.assign(current.answer, plain(fields)) },
      send: text => { current.answer.body += text }
    }))
  }
  return lists.get(name)
}

/** Runs a list function over rows, and returns its code, headers and body. */
export function runList (name, rows, query = {}, headers = {}) {
  current = { rows: [...rows], answer: { code: 200, headers: {}, body: '' } }
  listFunction(name)({ total_rows: rows.length, offset: 0 }, { query, headers })
  return { ...current.answer, json: JSON.parse(current.answer.body) }
}

/** The rows that a map function emits for a document. */
export function emitted (view, doc) {
  const rows = []
  loadDesign(`views/${view}/map.js`, { emit: (key, value) => rows.push(plain({ key, value })) })(doc)
  return rows
}
