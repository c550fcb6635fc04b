// Asks a SQLite file the questions of the command line, each a statement, and writes the rows as JSON lines: [question, ...row],
// or [question, null, error]. A process of its own: questions to a large file take minutes in which nothing else happens, and
// only a process can be ended in the middle of one.
import { open } from './open.js'

const [file, ...questions] = process.argv.slice(2)
const db = open(file)
const tell = line => process.stdout.write(JSON.stringify(line) + '\n') // waits for the reader: a pipe is written at once
for (const [index, question] of questions.entries()) {
  try {
    for (const row of /** @type {Iterable<any[]>} */ (db.prepare(question).raw().iterate())) tell([index, ...row])
  } catch (error) {
    tell([index, null, error.message])
  }
}
db.close()
