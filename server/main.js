// The command `tilecouch`. It is here because only server/ may import both the loader and the embedded store.
import './title.js' // alone: other static imports would be loaded before it

// The reader of the results has closed the pipe, as in `tilecouch info … | head`: the command ends like others,
// with 128 plus the number of SIGPIPE. It goes on if only the reader of its messages has gone.
const READER_GONE = 141
process.stdout.on('error', error => {
  if (error.code !== 'EPIPE') throw error
  process.exit(READER_GONE)
})
process.stderr.on('error', error => {
  if (error.code !== 'EPIPE') throw error
})

const { createProgram } = await import('../loader/cli/program.js')
const { serverCommands } = await import('./commands.js')

// the server that runs on the folder, or a new one on any port while the command runs; PouchDB is loaded only when
// needed
const openEmbedded = async dir => (await import('./up.js')).openEmbedded(dir, { port: 0 })
const { run } = createProgram({ openEmbedded, more: serverCommands })
process.exitCode = await run(process.argv.slice(2))
