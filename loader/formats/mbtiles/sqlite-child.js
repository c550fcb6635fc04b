// Reads a SQLite file for sqlite.js, in a process of its own: a damaged file can end the process that reads it, since
// the binding aborts where a text is no UTF-8; a view in it may never come to an end, and nothing but the end of the
// process stops that; and the limit of memory holds for all of SQLite in a process. The parent asks for rows ({ ask:
// sql, each: parameters, cursor }), for more of them ({ more: cursor }), or for one row for each of a list of
// parameters ({ get: sql, each: parameters }). The answers, in the order of the questions: { rows, done, error }.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import Database from 'libsql'

const ROWS = 500 // in an answer
const BYTES = 2e6 // in an answer of small rows, about
const LARGE = 8e6 // in an answer of large ones, about
const WATCH = 1000 // milliseconds between two looks whether the parent still runs

const [, , file, memory, parent] = process.argv
const cursors = new Map()
const statements = new Map()
let db

process.on('message', (/** @type {any} */ question) => {
  const answer = { rows: [], done: true }
  try {
    work(question, answer)
  } catch (error) {
    const isLarge = /out of memory/i.test(error.message)
    Object.assign(answer, { error: isLarge ? `it takes more than ${memory} bytes of memory` : error.message })
  }
  if (process.connected) /** @type {any} */ (process).send(answer)
})

function work ({ ask, get, more, each = [[]], cursor, end }, answer) {
  if (get) return getEach(get, each, answer)
  if (end !== undefined) return void cursors.delete(end)
  if (ask) cursors.set(cursor, rowsOf(ask, each))
  fetch(more ?? cursor, answer)
}

/** Small rows: the binding takes a hundred of them at once. */
function * rowsOf (sql, each) {
  for (const parameters of each) yield * prepared(sql).iterate(parameters)
}

function fetch (id, answer) {
  const rows = cursors.get(id)
  for (let size = 0; answer.rows.length < ROWS && size < BYTES;) {
    const { done, value } = rows.next()
    if (done) return void cursors.delete(id)
    answer.rows.push(value)
    size += sizeOf(value)
  }
  answer.done = false
}

/** As many as are good for an answer, and one at least. What comes behind an error is asked for again. */
function getEach (sql, each, answer) {
  for (let size = 0; answer.rows.length < each.length && size < LARGE;) {
    const row = prepared(sql).get(each[answer.rows.length]) ?? null
    answer.rows.push(row)
    if (row) size += sizeOf(row)
  }
}

const sizeOf = row => row.reduce((sum, cell) => sum + (cell?.length ?? 8), 0)

function prepared (sql) {
  db ??= open()
  if (!statements.has(sql)) statements.set(sql, db.prepare(sql).raw())
  return statements.get(sql)
}

function open () {
  // libsql ignores its readonly option; SQLite itself does not
  const { pathname } = pathToFileURL(path.resolve(file))
  const opened = new Database(`file:${pathname}?mode=ro${isAtRest() ? '&immutable=1' : ''}`)
  opened.prepare(`PRAGMA hard_heap_limit = ${memory}`).raw().get()
  // what is sorted need not fit into memory; what a file defines itself may call nothing that does more than compute
  for (const setting of ['temp_store = FILE', 'trusted_schema = OFF', 'query_only = ON', 'cell_size_check = ON']) {
    opened.exec(`PRAGMA ${setting}`)
  }
  return opened
}

/** Whether a file with a write-ahead log has none now: SQLite would make one, and a second file, beside it. */
function isAtRest () {
  const versions = Buffer.alloc(2)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, versions, 0, 2, 18)
  } finally {
    closeSync(handle)
  }
  return versions.readUInt16BE() === 0x0202 && !existsSync(`${file}-wal`)
}

process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group: the parent ends this process

// while SQLite works nothing else here hears that the parent is gone
new Worker(`setInterval(() => { if (process.ppid !== ${Number(parent)}) process.kill(process.pid, 'SIGKILL') }, ` +
  `${WATCH})`, { eval: true }).unref()
