// Reads a SQLite file for sqlite.js, in a process of its own. The binding ends the process if a text is not UTF-8. A
// view may never come to an end, and only the end of the process stops it. The limit of memory holds for all of SQLite
// in a process. The parent asks for rows ({ ask: sql, each: parameters, cursor }), for more of them ({ more: cursor }),
// or for one row for each of a list of parameters ({ get: sql, each: parameters }). The answers, in the order of the
// questions: { rows, done, error }.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { openDatabase } from '../database.js'

const ROWS = 500 // in an answer
const BYTES = 2e6 // in an answer of small rows, about
const LARGE = 8e6 // in an answer of large ones, about
const WATCH = 1000 // milliseconds between two checks whether the parent still runs

const [, , file, memoryLimit, parent] = process.argv
const cursors = new Map()
const statements = new Map()
let db

process.on('message', (/** @type {any} */ question) => {
  const answer = { rows: [], done: true }
  try {
    answerQuestion(question, answer)
  } catch (error) {
    const isLarge = /out of memory/i.test(error.message)
    cursors.delete(question.more ?? question.cursor)
    Object.assign(answer, { error: isLarge ? `it takes more than ${memoryLimit} bytes of memory` : error.message })
  }
  if (process.connected) /** @type {any} */ (process).send(answer)
})

function answerQuestion ({ ask, get, more, each = [[]], cursor, end }, answer) {
  if (get) return getEach(get, each, answer)
  if (end !== undefined) return void cursors.delete(end)
  if (ask) cursors.set(cursor, rowsOf(ask, each))
  fetchRows(more ?? cursor, answer)
}

/** Reads small rows: the binding takes a hundred of them at once. */
function * rowsOf (sql, parameterLists) {
  for (const parameters of parameterLists) yield * prepareOnce(sql).iterate(parameters)
}

function fetchRows (id, answer) {
  const rows = cursors.get(id)
  for (let size = 0; answer.rows.length < ROWS && size < BYTES;) {
    const { done, value } = rows.next()
    if (done) return void cursors.delete(id)
    answer.rows.push(value)
    size += sizeOf(value)
  }
  answer.done = false
}

/** Reads as many rows as fit into an answer, and one at least. The parent asks again for rows after an error. */
function getEach (sql, parameterLists, answer) {
  for (let size = 0; answer.rows.length < parameterLists.length && size < LARGE;) {
    const row = prepareOnce(sql).get(parameterLists[answer.rows.length]) ?? null
    answer.rows.push(row)
    if (row) size += sizeOf(row)
  }
}

const sizeOf = row => row.reduce((sum, cell) => sum + (cell?.length ?? 8), 0)

function prepareOnce (sql) {
  db ??= open()
  if (!statements.has(sql)) statements.set(sql, db.prepare(sql).raw())
  return statements.get(sql)
}

function open () {
  // libsql ignores its readonly option; SQLite itself does not
  const { pathname } = pathToFileURL(path.resolve(file))
  // sorted rows need not fit into memory; views of the file may call no function with side effects
  return openDatabase(`file:${pathname}?mode=ro${isAtRest() ? '&immutable=1' : ''}`, {
    hard_heap_limit: memoryLimit, temp_store: 'FILE', trusted_schema: 'OFF', query_only: 'ON', cell_size_check: 'ON'
  })
}

/** Whether a file in write-ahead mode has no log now: SQLite would create one, and a second file, beside it. */
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

// while SQLite works, only a worker can notice that the parent has ended
new Worker(`setInterval(() => { if (process.ppid !== ${Number(parent)}) process.kill(process.pid, 'SIGKILL') }, ` +
  `${WATCH})`, { eval: true }).unref()
