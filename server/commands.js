// The commands that need what only server/ has.
import { addCommand } from '../loader/cli/command.js'
import { addServeCommand } from './serve-command.js'
import { upCommand } from './up-command.js'

/** @param {import('commander').Command} program @param {import('../loader/cli/program.js').Run} run */
export function addServerCommands (program, run) {
  addCommand(program, run, upCommand)
  addServeCommand(program, run)
}
