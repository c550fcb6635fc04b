// The commands that need what only server/ has.
import { addServeCommand } from './serve-command.js'
import { addUpCommand } from './up-command.js'

/** @param {import('commander').Command} program @param {import('../loader/cli/program.js').Run} run */
export function addServerCommands (program, run) {
  addUpCommand(program, run)
  addServeCommand(program, run)
}
