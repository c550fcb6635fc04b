// The command line: it parses and prints. Each command is one library function that returns a value.
import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { TilecouchError } from '../../core/index.js'
import { addAccessCommand } from './access.js'
import { addBackupCommand } from './backup.js'
import { addCheckCommand } from './check.js'
import { addCopyCommand } from './copy.js'
import { addDeployCommands } from './deploy.js'
import { addDiffCommand } from './diff.js'
import { addDoctorCommand } from './doctor.js'
import { addExportCommand } from './export.js'
import { addLayerCommand } from './layer.js'
import { addLoadCommand } from './load.js'
import { addMirrorCommand } from './mirror.js'
import { addPruneCommand } from './prune.js'
import { addReadCommands } from './read.js'
import { addRemoveCommand } from './remove.js'
import { addSeedCommand } from './seed.js'
import { addTokenCommand } from './token.js'
import { Output } from './output.js'
import { withSecrets } from './secrets.js'

const { version, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Exit codes. Anything but 0 means that something asked for was not done. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 }

/**
 * What a command is given besides its arguments.
 * @typedef {object} Context
 * @property {Output} output
 * @property {(dir: string) => Promise<{url: string, close: () => Promise<void>}>} openEmbedded
 * @property {AbortSignal} signal aborted by Ctrl-C
 */

/**
 * @param {object} environment
 * @param {Context['openEmbedded']} environment.openEmbedded the embedded store lives in server/, which this folder does not import
 * @param {(program: Command, run: Run) => void} [environment.extend] adds commands of server/
 * @param {{stdin?: any, stdout?: NodeJS.WritableStream, stderr?: NodeJS.WritableStream}} [environment.streams]
 */
export function createProgram ({ openEmbedded, extend, streams = {} }) {
  const stdout = streams.stdout ?? process.stdout
  const stderr = streams.stderr ?? process.stderr
  const stdin = streams.stdin ?? process.stdin
  const program = new Command('tilecouch')
    .description(description)
    .version(version)
    .addHelpText('after', '\nA name without a password in an address (http://anna@localhost:5984/tiles): it is asked for, or COUCHDB_PASSWORD, COUCHDB_PASSWORD_FILE or --password-file has it.')
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) })
  const state = { exitCode: EXIT.ok }

  /** Wraps an action: context in, errors out as text or JSON, exit code kept. */
  const run = action => async (...args) => {
    const command = args.at(-1)
    const options = command.optsWithGlobals()
    const output = new Output({ json: Boolean(options.json), stdout, stderr })
    const interrupt = new AbortController()
    const onSignal = () => interrupt.abort()
    process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
    try {
      const given = await withSecrets(options, args.slice(0, -2), { output, stdin })
      state.exitCode = await action({ output, openEmbedded, stdin, signal: interrupt.signal }, options, ...given) ?? EXIT.ok
    } catch (error) {
      const known = error instanceof TilecouchError ? error : new TilecouchError('INTERNAL', { why: error.message }, { cause: error })
      output.error(known, process.env.TILECOUCH_DEBUG ? error : undefined)
      state.exitCode = known.code === 'ABORTED' ? EXIT.interrupted : EXIT.failed
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    }
  }

  addLoadCommand(program, run)
  addLayerCommand(program, run)
  addSeedCommand(program, run)
  addExportCommand(program, run)
  addDiffCommand(program, run)
  addMirrorCommand(program, run)
  addReadCommands(program, run)
  addPruneCommand(program, run)
  addRemoveCommand(program, run)
  addCopyCommand(program, run)
  addCheckCommand(program, run)
  addBackupCommand(program, run)
  addDeployCommands(program, run)
  addAccessCommand(program, run)
  addTokenCommand(program, run)
  addDoctorCommand(program, run)
  extend?.(program, run)
  for (const command of program.commands) addCommonOptions(command)

  return {
    program,
    /** @param {string[]} argv without node and script */
    async run (argv) {
      try {
        await program.parseAsync(argv, { from: 'user' })
      } catch (error) {
        if (!(error instanceof CommanderError)) throw error
        return error.exitCode === 0 ? EXIT.ok : EXIT.usage
      }
      return state.exitCode
    }
  }
}

/** @typedef {(action: (context: Context, options: any, ...args: any[]) => Promise<number | void>) => (...args: any[]) => Promise<void>} Run */

function addCommonOptions (command) {
  const has = long => command.options.some(option => option.long === long)
  if (!has('--json')) command.option('--json', 'print one JSON object, for programs')
  if (command.name() !== 'build') command.option('--password-file <file>', 'the password of the database, for a name in its address or COUCHDB_USER (default: COUCHDB_PASSWORD_FILE)')
  if (!['build', 'mirror', 'token'].includes(command.name()) && !has('--db')) {
    command.addOption(new Option('--db <env|url>', 'database: an environment of .couchapprc, a URL, or a name on this machine (default: COUCHDB_URL, else the environment "default", else the embedded store)'))
    command.addOption(new Option('--data <folder>', 'where the embedded store keeps its data').default('./data'))
  }
}
