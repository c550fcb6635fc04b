#!/usr/bin/env node
// The command line. It lives here since only server/ may know both the loader and the embedded store.
import './title.js' // alone: what is imported beside it would be read first

// whoever read the output has seen enough: `tilecouch history … | head`
process.stdout.on('error', error => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const [{ createProgram }, { addServerCommands }] = await Promise.all([import('../loader/cli/program.js'), import('./commands.js')])

// the server that runs on the folder, or one of its own, on any port, for as long as the command takes
const openEmbedded = async dir => (await import('./up.js')).openEmbedded(dir, { port: 0 }) // PouchDB is for those alone who use it
const { run } = createProgram({ openEmbedded, extend: addServerCommands })
process.exitCode = await run(process.argv.slice(2))
