// Which database a command means: an environment of .couchapprc, a URL, or a database on this machine, as in couchapp.
import { homedir } from 'node:os'
import path from 'node:path'
import { TilecouchError } from '../errors.js'
import { readSmallFile } from '../regular-file.js'
import { isWorldWritable, refuseForeignServer, warnIfUnencrypted, jsonErrorLine, withPassword } from '../secrets.js'
import { parseDatabaseUrl } from '../store/address.js'

const LOCAL = 'http://127.0.0.1:5984/'
const IS_URL = /^https?:\/\//i

/** The database of a URL that names only a server. */
export const DEFAULT_DATABASE = 'tiles'

/**
 * First what was typed, then COUCHDB_URL, then the environment "default".
 * @param {string} [target] from --db
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {string} [options.home]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {import('../secrets.js').Side | null} [options.side] whose name and password to use; null: none
 * @returns {Promise<string | null>} the URL of a database; null: the embedded store
 */
export async function resolveDatabase (target, options = {}) {
  const { cwd = process.cwd(), home = homedir(), env = process.env, side = 'COUCHDB' } = options
  const { url, file } = await addressOf(target || env.COUCHDB_URL || undefined, { cwd, home, typed: Boolean(target) })
  if (!url || !side) return url
  if (file) refuseForeignServer(url, file, side, env)
  warnIfUnencrypted(url, side, env)
  return withPassword(url, env, side)
}

/** file: the project's file that named it. @returns {Promise<{url: string | null, file?: string}>} */
async function addressOf (target, { cwd, home, typed }) {
  if (target && (IS_URL.test(target) || !typed)) return { url: withDatabase(target) }
  const name = target ?? 'default'
  const { file, environments } = await projectEnvironments(cwd)
  if (Object.hasOwn(environments, name)) return { url: urlOf(environments[name]), file }
  const own = await userEnvironments(home)
  if (Object.hasOwn(own, name)) return { url: urlOf(own[name]) }
  return { url: target ? local(target) : null }
}

const urlOf = ({ db }) => IS_URL.test(db) ? withDatabase(db) : local(db)

/** A database on this machine. A URL without its beginning is refused; the error does not show its password. */
function local (name) {
  if (/[:@]|\.\./.test(name)) throw new TilecouchError('BAD_DATABASE', { value: name.replace(/.*@/s, '…@') })
  parseDatabaseUrl(LOCAL + name)
  return LOCAL + name
}

/** Adds the default database to the URL of a server. */
export function withDatabase (url) {
  let parsed
  try {
    parsed = new URL(url)
  } catch {
    throw new TilecouchError('BAD_DATABASE', { value: url })
  }
  if (parsed.pathname === '/' || parsed.pathname === '') parsed.pathname = `/${DEFAULT_DATABASE}`
  return parsed.href
}

/** The nearest .couchapprc from here upwards. It is committed with the project, so it must not contain a password. */
async function projectEnvironments (folder) {
  const file = path.join(folder, '.couchapprc')
  // in a folder like /tmp anybody could have put it there
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

/** ~/.couchapp.conf belongs to the user and may contain passwords, as in couchapp. */
const userEnvironments = async home => await readEnvironments(path.join(home, '.couchapp.conf')) ?? {}

async function readEnvironments (file) {
  let text
  try {
    text = String(readSmallFile(file))
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
