// Reads a SQLite file for remote.js, in a process of its own: a damaged file can end the process that reads it, since the
// binding aborts where a text is no UTF-8, and a question to a large one takes minutes in which nothing else happens.
// The parent asks ({ ask: sql }) and fetches rows ({ more }); the answers are { rows, done } or { error }.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'libsql'

const ROWS = 500 // in an answer
const BYTES = 2e6 // in an answer, about

const send = answer => /** @type {any} */ (process).send(answer)

// libsql ignores its readonly option; SQLite itself does not
const file = `file:${pathToFileURL(path.resolve(process.argv[2])).pathname}?mode=ro`
let db
let rows

process.on('message', (/** @type {{ask?: string}} */ { ask }) => {
  try {
    if (ask) {
      db ??= new Database(file)
      rows = db.prepare(ask).raw().iterate()
    }
    send(fetch())
  } catch (error) {
    send({ error: error.message })
  }
})

function fetch () {
  const fetched = []
  for (let size = 0; fetched.length < ROWS && size < BYTES;) {
    const { done, value } = rows.next()
    if (done) return { rows: fetched, done }
    fetched.push(value)
    size += value.reduce((sum, cell) => sum + (cell?.length ?? 8), 0)
  }
  return { rows: fetched, done: false }
}

process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group: the parent says when it is over
