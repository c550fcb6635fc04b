#!/usr/bin/env node
// The command `tilecouch`. It is here because only server/ may import both the loader and the embedded store.
import './title.js' // alone: other static imports would be loaded before it

// the reader has closed the pipe: `tilecouch info … | head`
process.stdout.on('error', error => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const { createProgram } = await import('../loader/cli/program.js')
const { addServerCommands } = await import('./commands.js')

// the server that runs on the folder, or a new one on any port while the command runs; PouchDB is loaded only when
// needed
const openEmbedded = async dir => (await import('./up.js')).openEmbedded(dir, { port: 0 })
const { run } = createProgram({ openEmbedded, extend: addServerCommands })
process.exitCode = await run(process.argv.slice(2))
