// The command line. It parses and prints; each command calls one library function that returns a value.
//
//   const { run } = createProgram({ openEmbedded })
//   process.exitCode = await run(process.argv.slice(2))
import { Command, CommanderError, Option } from 'commander'
import { TilecouchError } from '../errors.js'
import { scrub } from '../../core/errors.js'
import { shared } from '../../core/promises.js'
import { switchOf } from '../../core/values.js'
import { declare } from './command.js'
import { DATA, meaningOf, refuse } from './options.js'
import { Output } from './output.js'
import { completePasswords } from './passwords.js'
import { version, description } from '../store/package.js'

const FIRST = 'Get started:'

/** The commands by task, as `tilecouch --help` lists them, and what each does. `up` and `serve` are in server/. */
export const groups = {
  [FIRST]: {
    up: 'start a store with a demo map: the embedded one, or a CouchDB',
    doctor: 'find problems of a CouchDB and its store; --fix solves them'
  },
  'Load tiles:': {
    load: 'load tiles as an edition of a layer',
    seed: 'fetch tiles of an area, or expired tiles, from a tile server',
    layer: 'create a layer, or show and change its settings and style'
  },
  'Look:': {
    info: 'show layers, editions and the versions of a tile',
    get: 'save one tile to a file, as it is now or as it was',
    diff: 'compare two times of a layer, or two layers',
    check: 'find faults in a store or in files; --fix repairs them'
  },
  'Serve maps:': {
    serve: 'start the gateway, an HTTP server for maps',
    mirror: 'copy a store to another one, all of it or a part, once or live'
  },
  'Keep and tidy up:': {
    backup: 'write the store to one file, as it was at one moment',
    restore: 'create a database from a backup, and compare it with the files',
    prune: 'remove past versions by rules, or expired tiles',
    remove: 'remove tiles, versions, an edition, a style or a layer'
  },
  'Move tiles:': {
    export: 'write a layer to a folder, .mbtiles or .pmtiles',
    copy: 'copy a layer or a part of it with its past, or rename it'
  },
  'Administer:': {
    settings: 'show or set the title, logo, colours and base map of the viewer',
    push: 'deploy the design documents, or write them as couchapp folders',
    access: 'show or set who may read and write the store',
    token: 'create a token for private layers of a gateway'
  }
}

const OF_SERVER = ['up', 'serve'] // declared in server/
const FILES = { restore: 'backup' } // of commands whose file has another name

/** Loads the declaration of a command and its modules, only for the command that runs. */
const loadCommand = async name => (await import(`./${FILES[name] ?? name}.js`))[`${name}Command`]

/** Refuses a TILECOUCH_DEBUG that is neither on nor off. */
function checkDebug () {
  const text = process.env.TILECOUCH_DEBUG
  if (text && switchOf(text) === undefined) refuse('TILECOUCH_DEBUG', text, 'it takes true or false')
}

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

/** Exit codes. Any code but 0 means that the command did not do everything that it should. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 }

/**
 * The environment of a command.
 * @typedef {object} Context
 * @property {Output} output
 * @property {(dir: string) => Promise<{url: string, started?: boolean, close: () => Promise<void>}>} openEmbedded
 *   started: false: its server runs already
 * @property {any} [stdin]
 * @property {AbortSignal} signal aborted by Ctrl-C
 * @property {string[]} args the typed arguments, without passwords and the store
 *
 * @typedef {(context: Context, options: any, ...args: any[]) => Promise<number | void>} Action returns the exit code
 *
 * @typedef {(action: Action) => (...args: any[]) => Promise<void>} Run wraps the action of a command
 *
 * @typedef {Record<string, () => Promise<import('./command.js').Declaration>>} Loaders by the name of the command
 */

/**
 * @param {object} environment
 * @param {Context['openEmbedded']} environment.openEmbedded opens the embedded store, which is in server/
 * @param {Loaders} [environment.more] the commands of server/
 * @param {{stdin?: any, stdout?: NodeJS.WritableStream, stderr?: NodeJS.WritableStream}} [environment.streams]
 */
export function createProgram ({ openEmbedded, more = {}, streams = {} }) {
  const { stdout = process.stdout, stderr = process.stderr, stdin = process.stdin } = streams
  const program = newProgram(stdout, stderr)
  let exitCode = EXIT.ok
  let typedArgs = /** @type {string[]} */ ([])

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
      exitCode = await action({ output, openEmbedded, stdin, signal, args: typedArgs }, options, ...values) ?? EXIT.ok
    } catch (error) {
      exitCode = reportError(output, error)
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    }
  }

  /** @type {Map<string, () => Promise<void>>} */
  const commands = new Map()
  for (const [heading, descriptions] of Object.entries(groups)) {
    for (const [name, meaning] of Object.entries(descriptions)) {
      if (OF_SERVER.includes(name) && !more[name]) continue
      const loadDeclaration = more[name] ?? (() => loadCommand(name))
      const command = program.command(name).description(meaning).helpGroup(heading)
      commands.set(name, shared(async () => complete(command, run, await loadDeclaration())))
    }
  }

  return {
    /** The program with all options of all commands. */
    async completed () {
      for (const completeCommand of commands.values()) await completeCommand()
      return program
    },

    /** @param {string[]} argv without node and script */
    async run (argv) {
      typedArgs = typedArguments(argv)
      try {
        for (const name of argv.slice(0, 2)) await commands.get(name)?.() // the second: after `help`
        await program.parseAsync(argv, { from: 'user' })
      } catch (error) {
        if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
        return reportError(new Output({ json: argv.includes('--json'), stdout, stderr }), error)
      }
      return exitCode
    }
  }
}

const newProgram = (stdout, stderr) => new Command('tilecouch')
  .description(description)
  .version(version)
  .addHelpText('after', HELP)
  .helpOption('-h, --help', 'show this help')
  .configureHelp({ subcommandTerm: command => command.name() })
  .addHelpCommand(new Command('help').argument('[command]').summary('show the options of a command').helpGroup(FIRST))
  .showHelpAfterError('(see --help)')
  .exitOverride()
  .configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) })

/**
 * Gives a command its arguments and options.
 * @param {Command} command @param {Run} run @param {import('./command.js').Declaration} declaration
 */
function complete (command, run, declaration) {
  declare(command, run, declaration)
  addCommonOptions(command)
  checkNeededLast(command)
  for (const option of command.options) option.description = meaningOf(command.name(), option)
}

/** @param {Output} output @param {any} error @returns {number} the exit code */
function reportError (output, error) {
  const reported = knownError(error)
  output.error(reported, switchOf(process.env.TILECOUCH_DEBUG) ? error : undefined)
  return reported.code === 'ABORTED' ? EXIT.interrupted : EXIT.failed
}

/** Turns an error that no part of the program has caught into an error of the catalogue. */
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

const SECRET = '[\\w-]*(?:key|token|secret|pass|auth|cred|sig|headers)[\\w-]*='
const IN_ADDRESS = new RegExp(`([?&;]${SECRET})[^&\\s"'#]+`, 'gi')
const IN_SETTING = new RegExp(`^((?:--set=)?${SECRET})[^]+`, 'i') // of --set

const OF_STORE = ['--db', '--password-file'] // readers of a document in the store know where the store is

/**
 * The typed arguments, without passwords, tokens and keys, and without the store.
 * @param {string[]} argv without node and script
 */
export const typedArguments = argv => argv
  .filter((argument, index) => !OF_STORE.some(option =>
    [argument, argv[index - 1]].includes(option) || argument.startsWith(`${option}=`)))
  .map(argument => scrub(argument).replace(IN_ADDRESS, '$1(hidden)').replace(IN_SETTING, '$1(hidden)'))
