// The commands that need a server. Only server/ may import them.

/** @type {import('../loader/cli/program.js').Loaders} */
export const serverCommands = {
  up: async () => (await import('./up-command.js')).upCommand,
  serve: async () => (await import('./serve-command.js')).serveCommand
}
