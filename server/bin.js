#!/usr/bin/env node
// The command line. It lives here since only server/ may know both the loader and the embedded store.
import { createProgram } from '../loader/cli/program.js'
import { startEmbedded, findEmbedded } from './embedded/index.js'
import { addUpCommand } from './up-command.js'

/** The server that runs on a folder, or one of its own for as long as a command takes. */
async function openEmbedded (dir) {
  const url = await findEmbedded(dir)
  return url ? { url, close: async () => {} } : startEmbedded({ dir })
}

const { run } = createProgram({ openEmbedded, extend: addUpCommand })
process.exitCode = await run(process.argv.slice(2))
