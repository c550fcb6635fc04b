// Finds the database of a command: an environment of .couchapprc, a URL, or a database on this machine, as in couchapp.
import { homedir } from 'node:os'
import path from 'node:path'
import { findEmbedded } from '../store/embedded.js'
import { TilecouchError } from '../errors.js'
import { plainTextOf, readSmallFile } from '../formats/files.js'
import {
  isWorldWritable, jsonErrorLine, parseDatabaseUrl, refuseForeignServer, warnIfUnencrypted, withPassword
} from '../store/secrets.js'
import { LOOPBACK } from '../formats/system.js'

const PORT = '5984' // of CouchDB, and of `tilecouch up` unless it is taken
const LOCAL = `http://127.0.0.1:${PORT}/`
const IS_URL = /^https?:\/\//i

const DATABASE = 'tiles' // of an embedded store

/**
 * @typedef {object} DatabaseOptions
 * @property {string} [cwd]
 * @property {string} [home]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {import('../store/secrets.js').Side | null} [side] whose name and password to use; null: none
 * @property {string} [data] folder of the embedded store
 *
 * @typedef {object} FoundDatabase
 * @property {string | null} url of a database; null: the embedded store
 * @property {string} [namedBy] the variable or file that named it, unless it was typed
 */

/**
 * Finds the database of a command: the typed name or URL, else COUCHDB_URL, else the environment "default".
 * @param {string} [target] from --db
 * @param {DatabaseOptions} [options]
 * @returns {Promise<FoundDatabase>}
 */
export async function findDatabase (target, options = {}) {
  const { cwd = process.cwd(), home = homedir(), env = process.env, side = 'COUCHDB', data } = options
  const address = await addressOf(target || env.COUCHDB_URL || undefined, { cwd, home, typed: Boolean(target) })
  const { url, file, namedBy } = address
  if (url && namedBy && data !== undefined && isUsual(url)) {
    const running = await findEmbedded(data)
    if (running) return { url: databaseAt(running), namedBy: `\`tilecouch up\` in ${data}` }
  }
  const nameSource = target ? {} : { namedBy: env.COUCHDB_URL ? 'COUCHDB_URL' : namedBy }
  if (!url || !side) return { url, ...nameSource }
  if (file) refuseForeignServer(url, file, side, env)
  warnIfUnencrypted(url, side, env)
  return { url: await withPassword(url, env, side), ...nameSource }
}

/**
 * Like findDatabase, but returns only the URL.
 * @param {string} [target]
 * @param {DatabaseOptions} [options]
 * @returns {Promise<string | null>}
 */
export const resolveDatabase = async (target, options) => (await findDatabase(target, options)).url

/** Whether `tilecouch up` serves a store at this address by default. If the port is taken, it uses another one. */
function isUsual (url) {
  const { protocol, hostname, port, pathname } = new URL(url)
  return protocol === 'http:' && LOOPBACK.test(hostname) && port === PORT && pathname === `/${DATABASE}`
}

/**
 * file: the project's file that named it; namedBy: the file that calls it default.
 * @returns {Promise<{url: string | null, file?: string, namedBy?: string}>}
 */
async function addressOf (target, { cwd, home, typed }) {
  if (target && (IS_URL.test(target) || !typed)) return { url: checkNamed(target) }
  const name = target ?? 'default'
  const { file, environments } = await projectEnvironments(cwd)
  const nameSourceOf = where => target ? {} : { namedBy: `"default" in ${where}` }
  if (Object.hasOwn(environments, name)) return { url: urlOf(environments[name]), file, ...nameSourceOf(file) }
  const userSettings = await userEnvironments(home)
  if (Object.hasOwn(userSettings, name)) return { url: urlOf(userSettings[name]), ...nameSourceOf(USER_FILE) }
  return { url: target ? localUrl(target) : null }
}

const urlOf = ({ db }) => IS_URL.test(db) ? checkNamed(db) : localUrl(db)

/** The URL of a database on this machine. A URL without its scheme is refused; the error does not show its password. */
function localUrl (name) {
  if (/[:@]|\.\./.test(name)) throw new TilecouchError('BAD_DATABASE', { value: name.replace(/.*@/s, '…@') })
  parseDatabaseUrl(LOCAL + name)
  return LOCAL + name
}

/** The URL of a database. One that names only a server is refused: a load would fill an unintended database. */
export function checkNamed (url) {
  let parsed
  try {
    parsed = new URL(url)
  } catch {
    throw new TilecouchError('BAD_DATABASE', { value: url })
  }
  if (parsed.pathname !== '/') return parsed.href
  throw new TilecouchError('NO_DATABASE_NAMED', { url: `${parsed.origin}/`, where: databaseAt(parsed.origin) })
}

/** The database of an embedded store at the address of its server. @param {string} server */
export const databaseAt = server => `${server.replace(/\/$/, '')}/${DATABASE}`

/** The nearest .couchapprc from here upwards. It is committed with the project, so it must not contain a password. */
async function projectEnvironments (folder) {
  const file = path.join(folder, '.couchapprc')
  // in a folder like /tmp any user could have put it there
  const environments = isWorldWritable(folder) ? null : await readEnvironments(file)
  if (environments) {
    const isUnsafe = Object.values(environments).some(({ db }) => IS_URL.test(db) && hasUser(db))
    if (isUnsafe) throw new TilecouchError('PASSWORD_IN_FILE', { file })
    return { file, environments }
  }
  const parent = path.dirname(folder)
  return parent === folder ? { environments: {} } : projectEnvironments(parent)
}

const hasUser = url => URL.canParse(url) ? new URL(url).username + new URL(url).password !== '' : url.includes('@')

const USER_FILE = '~/.couchapp.conf' // belongs to the user and may contain passwords, as in couchapp

const userEnvironments = async home => await readEnvironments(path.join(home, path.basename(USER_FILE))) ?? {}

async function readEnvironments (file) {
  let text
  try {
    text = plainTextOf(readSmallFile(file))
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw new TilecouchError('CONFIG_INVALID', { file, why: error.message })
  }
  let environments
  try {
    environments = JSON.parse(text).env ?? {}
  } catch {
    throw new TilecouchError('CONFIG_INVALID', { file, why: `not a JSON object${jsonErrorLine(text)}` })
  }
  for (const [name, environment] of Object.entries(environments)) {
    if (typeof environment?.db === 'string') continue
    throw new TilecouchError('CONFIG_INVALID', { file, why: `environment ${name} needs { "db": "URL" }` })
  }
  return environments
}
