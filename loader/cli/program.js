// The command line. It parses and prints; each command calls one library function that returns a value.
//
//   const { run } = createProgram({ openEmbedded })
//   process.exitCode = await run(process.argv.slice(2))
import { Command, CommanderError, Option } from 'commander'
import { TilecouchError } from '../errors.js'
import { accessCommand } from './access.js'
import { backupCommand, restoreCommand } from './backup.js'
import { checkCommand } from './check.js'
import { addCommand } from './command.js'
import { copyCommand } from './copy.js'
import { diffCommand } from './diff.js'
import { doctorCommand } from './doctor.js'
import { exportCommand } from './export.js'
import { getCommand } from './get.js'
import { infoCommand } from './info.js'
import { layerCommand } from './layer.js'
import { loadCommand } from './load.js'
import { mirrorCommand } from './mirror.js'
import { DATA, meaningOf, refuse } from './options.js'
import { Output } from './output.js'
import { completePasswords } from './passwords.js'
import { pruneCommand } from './prune.js'
import { pushCommand } from './push.js'
import { removeCommand } from './remove.js'
import { seedCommand } from './seed.js'
import { settingsCommand } from './settings.js'
import { tokenCommand } from './token.js'
import { typedArguments } from './store.js'
import { version, description } from '../store/package.js'
import { switchOf } from '../../core/values.js'

const FIRST = 'Get started:'

/** The commands by task, as `tilecouch --help` lists them. `up` and `serve` are in server/. */
export const groups = {
  [FIRST]: ['up', 'doctor'],
  'Load tiles:': ['load', 'seed', 'layer'],
  'Look:': ['info', 'get', 'diff', 'check'],
  'Serve maps:': ['serve', 'mirror'],
  'Keep and tidy up:': ['backup', 'restore', 'prune', 'remove'],
  'Move tiles:': ['export', 'copy'],
  'Administer:': ['settings', 'push', 'access', 'token']
}

/** Refuses a TILECOUCH_DEBUG that is neither on nor off. */
function checkDebug () {
  const text = process.env.TILECOUCH_DEBUG
  if (text && switchOf(text) === undefined) refuse('TILECOUCH_DEBUG', text, 'it takes true or false')
}

/** Those of server/ are added by `extend`. */
const commands = [
  doctorCommand, loadCommand, seedCommand, layerCommand, infoCommand, getCommand, diffCommand, checkCommand,
  mirrorCommand, backupCommand, restoreCommand, pruneCommand, removeCommand, exportCommand, copyCommand,
  settingsCommand, pushCommand, accessCommand, tokenCommand
]

const COMMON = ['--db <env|url>', '--data <folder>', '--password-file <file>', '--json']
const FOR_ALL = 'Options of all commands:'

const HELP = `
First steps:
  tilecouch up
  tilecouch load tiles/ --layer osm --time 2024-03-01
  tilecouch info

The store is named by --db, else by COUCHDB_URL, else by the environment
"default" of .couchapprc (not for up and serve). If nothing names one, it is the
embedded store in the folder of --data. Without --db the command says which one
it uses. An address names a database: http://localhost:5984/tiles.

An address needs only a user name: http://anna@localhost:5984/tiles. Its
password is in COUCHDB_PASSWORD, in the file of COUCHDB_PASSWORD_FILE or of
--password-file; else a terminal asks for it.`

/** Exit codes. Anything but 0 means that something that was asked for was not done. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 }

/**
 * What a command is given besides its arguments.
 * @typedef {object} Context
 * @property {Output} output
 * @property {(dir: string) => Promise<{url: string, started?: boolean, close: () => Promise<void>}>} openEmbedded
 *   started: false: its server runs already
 * @property {any} [stdin]
 * @property {AbortSignal} signal aborted by Ctrl-C
 * @property {string[]} args what was typed, without passwords and the store
 *
 * @typedef {(context: Context, options: any, ...args: any[]) => Promise<number | void>} Action returns the exit code
 *
 * @typedef {(action: Action) => (...args: any[]) => Promise<void>} Run wraps the action of a command
 */

/**
 * @param {object} environment
 * @param {Context['openEmbedded']} environment.openEmbedded opens the embedded store, which is in server/
 * @param {(program: Command, run: Run) => void} [environment.extend] adds the commands of server/
 * @param {{stdin?: any, stdout?: NodeJS.WritableStream, stderr?: NodeJS.WritableStream}} [environment.streams]
 */
export function createProgram ({ openEmbedded, extend, streams = {} }) {
  const { stdout = process.stdout, stderr = process.stderr, stdin = process.stdin } = streams
  const program = new Command('tilecouch')
    .description(description)
    .version(version)
    .addHelpText('after', HELP)
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: command => command.name() })
    .addHelpCommand(new Command('help').argument('[command]').summary('show the options of a command').helpGroup(FIRST))
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) })
  let exitCode = EXIT.ok
  let typed = /** @type {string[]} */ ([])

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
      checkDebug()
      const values = await completePasswords(options, args.slice(0, -2), { output, stdin })
      const { signal } = interrupt
      exitCode = await action({ output, openEmbedded, stdin, signal, args: typed }, options, ...values) ?? EXIT.ok
    } catch (error) {
      exitCode = reportError(output, error)
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    }
  }

  for (const command of commands) addCommand(program, run, command)
  extend?.(program, run)
  for (const command of program.commands) {
    addCommonOptions(command)
    checkNeededLast(command)
    for (const option of command.options) option.description = meaningOf(command.name(), option)
  }
  arrange(program)

  return {
    program,
    /** @param {string[]} argv without node and script */
    async run (argv) {
      typed = typedArguments(argv)
      try {
        await program.parseAsync(argv, { from: 'user' })
      } catch (error) {
        if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
        return reportError(new Output({ json: argv.includes('--json'), stdout, stderr }), error)
      }
      return exitCode
    }
  }
}

/** @param {Output} output @param {any} error @returns {number} the exit code */
function reportError (output, error) {
  const reported = knownError(error)
  output.error(reported, switchOf(process.env.TILECOUCH_DEBUG) ? error : undefined)
  return reported.code === 'ABORTED' ? EXIT.interrupted : EXIT.failed
}

/** Of an error that no part of the program has met. */
function knownError (error) {
  if (error instanceof TilecouchError) return error
  const { code, path } = error
  if (path && ['EACCES', 'EPERM', 'EROFS'].includes(code)) return new TilecouchError('NO_PERMISSION', { path })
  return new TilecouchError('INTERNAL', { why: error.message })
}

function addCommonOptions (command) {
  const isWithoutStore = command.name() === 'token'
  for (const flags of isWithoutStore ? COMMON.slice(2) : COMMON) {
    const option = new Option(flags)
    const declared = command.options.find(({ long }) => long === option.long)
    if (declared) declared.helpGroup(FOR_ALL)
    else command.addOption(option.helpGroup(FOR_ALL))
  }
  command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(FOR_ALL))
}

/** Commander names an option that is missing before one that is mistyped, which is probably the missing one. */
function checkNeededLast (command) {
  const needed = command.options.filter(({ mandatory }) => mandatory)
  for (const option of needed) option.makeOptionMandatory(false)
  command.hook('preAction', () => {
    const missing = needed.find(option => command.getOptionValue(option.attributeName()) === undefined)
    if (missing) command.error(`error: required option '${missing.flags}' not specified`)
  })
}

/** Sorts the commands into their groups. @param {Command} program */
function arrange (program) {
  const order = Object.values(groups).flat()
  const sorted = /** @type {Command[]} */ (program.commands)
  sorted.sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()))
  for (const command of sorted) {
    command.helpGroup(Object.keys(groups).find(heading => groups[heading].includes(command.name())) ?? '')
  }
}
