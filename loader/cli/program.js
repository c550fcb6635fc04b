// The command line. It parses and prints; each command calls one library function that returns a value.
//
//   const { run } = createProgram({ openEmbedded })
//   process.exitCode = await run(process.argv.slice(2))
import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { TilecouchError } from '../errors.js'
import { addAccessCommand } from './access.js'
import { addBackupCommand } from './backup.js'
import { addCheckCommand } from './check.js'
import { addCopyCommand } from './copy.js'
import { addDiffCommand } from './diff.js'
import { addDoctorCommand } from './doctor.js'
import { addExportCommand } from './export.js'
import { addGetCommand } from './get.js'
import { addInfoCommand } from './info.js'
import { addLayerCommand } from './layer.js'
import { addLoadCommand } from './load.js'
import { addMirrorCommand } from './mirror.js'
import { meanings } from './options.js'
import { Output } from './output.js'
import { completePasswords } from './passwords.js'
import { addPruneCommand } from './prune.js'
import { addPushCommand } from './push.js'
import { addRemoveCommand } from './remove.js'
import { addSeedCommand } from './seed.js'
import { addTokenCommand } from './token.js'

const { version, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** The commands by task, as `tilecouch --help` lists them. `up` and `serve` are in server/. */
export const groups = {
  'Get started:': ['up', 'doctor'],
  'Load tiles:': ['load', 'seed', 'layer'],
  'Look:': ['info', 'get', 'diff', 'check'],
  'Serve maps:': ['serve', 'mirror'],
  'Keep and tidy up:': ['backup', 'restore', 'prune', 'remove'],
  'Move tiles:': ['export', 'copy'],
  'Administer:': ['push', 'access', 'token']
}

const commands = [
  addDoctorCommand, addLoadCommand, addSeedCommand, addLayerCommand, addInfoCommand, addGetCommand, addDiffCommand, addCheckCommand,
  addMirrorCommand, addBackupCommand, addPruneCommand, addRemoveCommand, addExportCommand, addCopyCommand, addPushCommand,
  addAccessCommand, addTokenCommand
]

const DATA = './data' // folder of the embedded store

/** Commands that open no store, and those whose stores are arguments. */
const WITHOUT_DB = ['mirror', 'token']

const HELP = `
Which store: --db, else COUCHDB_URL, else the environment "default" of .couchapprc (not for up and serve), else the embedded
store in --data.
Passwords: an address needs only the name (http://anna@localhost:5984/tiles). The password is asked for, or taken from
COUCHDB_PASSWORD, COUCHDB_PASSWORD_FILE or --password-file.`

/** Exit codes. Anything but 0 means that something that was asked for was not done. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 }

/**
 * What a command is given besides its arguments.
 * @typedef {object} Context
 * @property {Output} output
 * @property {(dir: string) => Promise<{url: string, close: () => Promise<void>}>} openEmbedded
 * @property {any} [stdin]
 * @property {AbortSignal} signal aborted by Ctrl-C
 *
 * @typedef {(action: (context: Context, options: any, ...args: any[]) => Promise<number | void>) => (...args: any[]) => Promise<void>} Run
 * wraps the action of a command, which returns the exit code
 */

/**
 * @param {object} environment
 * @param {Context['openEmbedded']} environment.openEmbedded opens the embedded store of server/, which this folder does not import
 * @param {(program: Command, run: Run) => void} [environment.extend] adds the commands of server/
 * @param {{stdin?: any, stdout?: NodeJS.WritableStream, stderr?: NodeJS.WritableStream}} [environment.streams]
 */
export function createProgram ({ openEmbedded, extend, streams = {} }) {
  const { stdout = process.stdout, stderr = process.stderr, stdin = process.stdin } = streams
  const program = new Command('tilecouch')
    .description(description)
    .version(version)
    .addHelpText('after', HELP)
    .addHelpCommand(new Command('help').argument('[command]').description('show the options of a command').helpGroup('Get started:'))
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) })
  let exitCode = EXIT.ok

  /** @type {Run} */
  const run = action => async (...args) => {
    const command = args.at(-1)
    const options = command.optsWithGlobals()
    if (command.name() !== 'serve') options.data ??= DATA // serve may find it in the environment or its file
    const output = new Output({ json: Boolean(options.json), stdout, stderr })
    const interrupt = new AbortController()
    const onSignal = () => interrupt.abort()
    process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
    try {
      const given = await completePasswords(options, args.slice(0, -2), { output, stdin })
      exitCode = await action({ output, openEmbedded, stdin, signal: interrupt.signal }, options, ...given) ?? EXIT.ok
    } catch (error) {
      const known = error instanceof TilecouchError ? error : new TilecouchError('INTERNAL', { why: error.message }, { cause: error })
      output.error(known, process.env.TILECOUCH_DEBUG ? error : undefined)
      exitCode = known.code === 'ABORTED' ? EXIT.interrupted : EXIT.failed
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    }
  }

  for (const add of commands) add(program, run)
  extend?.(program, run)
  for (const command of program.commands) {
    addCommonOptions(command)
    for (const option of command.options) option.description = meanings[option.long ?? ''] ?? option.description
  }
  arrange(program)

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
      return exitCode
    }
  }
}

function addCommonOptions (command) {
  const add = option => command.options.some(({ long }) => long === option.long) || command.addOption(option.helpGroup('Options of all commands:'))
  if (!WITHOUT_DB.includes(command.name())) add(new Option('--db <env|url>'))
  if (!WITHOUT_DB.includes(command.name())) add(new Option('--data <folder>'))
  add(new Option('--password-file <file>'))
  add(new Option('--json'))
}

/** Sorts the commands into their groups. @param {Command} program */
function arrange (program) {
  const order = Object.values(groups).flat()
  const all = /** @type {Command[]} */ (program.commands)
  all.sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()))
  for (const [heading, names] of Object.entries(groups)) {
    for (const command of all.filter(one => names.includes(one.name()))) command.helpGroup(heading)
  }
}
