// The commands that need what only server/ has.

/** @type {import('../loader/cli/program.js').Loaders} */
export const serverCommands = {
  up: async () => (await import('./up-command.js')).upCommand,
  serve: async () => (await import('./serve-command.js')).serveCommand
}
