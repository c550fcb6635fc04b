// Where a command goes: an environment of .couchapprc, a URL, or the name of a database on this machine, as in couchapp.
import { homedir } from 'node:os'
import path from 'node:path'
import { TilecouchError } from '../../core/index.js'
import { readSmallFile } from '../regular-file.js'
import { withPassword } from '../secrets.js'
import { parseDatabaseUrl } from '../store/address.js'

const LOCAL = 'http://127.0.0.1:5984/'
const IS_URL = /^https?:\/\//i

/** The database a bare server URL means. */
export const DEFAULT_DATABASE = 'tiles'

/**
 * @param {string} [target] what --db says
 * @param {{cwd?: string, home?: string, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<string | null>} the URL of a database; null: the embedded store
 */
export async function resolveDatabase (target, { cwd = process.cwd(), home = homedir(), env = process.env } = {}) {
  const url = await addressOf(target, { cwd, home, env })
  return url && withPassword(url, env)
}

async function addressOf (target, { cwd, home, env }) {
  if (target && IS_URL.test(target)) return withDatabase(target)
  const environments = { ...await userEnvironments(home), ...await projectEnvironments(cwd) }
  const entry = Object.hasOwn(environments, target ?? 'default') ? environments[target ?? 'default'] : undefined
  if (entry) return IS_URL.test(entry.db) ? withDatabase(entry.db) : local(entry.db)
  if (target) return local(target)
  return env.COUCHDB_URL ? withDatabase(env.COUCHDB_URL) : null
}

/** A database on this machine. A URL whose beginning was lost is none, and its password is not repeated. */
function local (name) {
  if (/[:@]|\.\./.test(name)) throw new TilecouchError('BAD_DATABASE', { value: name.replace(/.*@/s, '…@') })
  parseDatabaseUrl(LOCAL + name)
  return LOCAL + name
}

/** COUCHDB_URL and the like may name a server only. */
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

/** The nearest .couchapprc from here upwards. It belongs to the project and is committed: it holds no password. */
async function projectEnvironments (folder) {
  const file = path.join(folder, '.couchapprc')
  const environments = await readEnvironments(file)
  if (environments) {
    for (const { db } of Object.values(environments)) {
      if (IS_URL.test(db) && /^[^/]*\/\/[^/]*@/.test(db)) throw new TilecouchError('PASSWORD_IN_FILE', { file })
    }
    return environments
  }
  const parent = path.dirname(folder)
  return parent === folder ? {} : projectEnvironments(parent)
}

/** ~/.couchapp.conf is the user's own and may hold passwords, as couchapp has it. */
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
  } catch (error) {
    throw new TilecouchError('CONFIG_INVALID', { file, why: `bad JSON: ${error.message}` })
  }
  for (const [name, environment] of Object.entries(environments)) {
    if (typeof environment?.db !== 'string') throw new TilecouchError('CONFIG_INVALID', { file, why: `environment ${name} needs { "db": "URL" }` })
  }
  return environments
}
