// Passwords that stand in no address: in the environment, in a file that it names, or typed in by whoever is asked.
import { statSync } from 'node:fs'
import { TilecouchError } from '../core/index.js'
import { readSmallFile } from './regular-file.js'

const MOST = 4096 // bytes of a file that holds one password
const OTHERS_WRITE = 0o002
const OTHERS_READ = 0o004

/**
 * The password of this name, as Docker has it: COUCHDB_PASSWORD, or what stands in the file COUCHDB_PASSWORD_FILE.
 * @param {string} name @param {NodeJS.ProcessEnv} [env]
 * @returns {string | undefined}
 */
export const secretOf = (name, env = process.env) => env[name] || readSecret(env[`${name}_FILE`])

/** @param {string | undefined} file */
function readSecret (file) {
  if (!file) return undefined
  const refuse = why => { throw new TilecouchError('CONFIG_INVALID', { file, why }) }
  let text, mode
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > MOST) refuse('this is no file with one password')
    mode = stats.mode
    text = String(readSmallFile(file, MOST))
  } catch (error) {
    throw error instanceof TilecouchError ? error : new TilecouchError('CONFIG_INVALID', { file, why: `the password in it cannot be read: ${error.code ?? error.message}` })
  }
  // whoever writes there may have us send another's password, or none, to the store
  if (process.platform !== 'win32' && mode & OTHERS_WRITE) refuse('everybody on this machine may write it: chmod 600')
  const secret = text.replace(/\r?\n$/, '')
  if (!secret || /[\r\n\0]/.test(secret)) refuse('it must hold one line, the password')
  return secret
}

/**
 * Files with passwords that every user of this machine may read. In containers that is how they are given, so that it is said and not refused.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function openSecretFiles (env = process.env) {
  const files = ['COUCHDB_PASSWORD_FILE', 'TILECOUCH_FROM_PASSWORD_FILE'].map(name => env[name]).filter(file => file !== undefined)
  return process.platform === 'win32' ? [] : files.filter(file => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS_READ) !== 0)
}

/**
 * The password of a name that was given without one: that of the environment, unless it is another's.
 * @param {string} prefix COUCHDB for the store, TILECOUCH_FROM for what is copied from
 * @param {string} user @param {NodeJS.ProcessEnv} [env]
 */
export const passwordOf = (prefix, user, env = process.env) =>
  [undefined, '', user].includes(env[`${prefix}_USER`]) ? secretOf(`${prefix}_PASSWORD`, env) : undefined

/** @typedef {(who: string, where: string) => Promise<string>} Ask */

/** @type {Ask | undefined} */
let ask
const typed = new Map()

/**
 * How somebody is asked for a password, where there is somebody: the command line on a terminal.
 * @param {Ask} [asking]
 */
export function askWith (asking) {
  ask = asking
  typed.clear()
}

/**
 * The address with its password, where it has a name and none: nobody is asked twice, nor for what the environment holds.
 * @param {string} url @param {NodeJS.ProcessEnv} [env]
 */
export async function withPassword (url, env = process.env) {
  if (!ask || !URL.canParse(url)) return url
  const parsed = new URL(url)
  const user = parsed.username ? decode(parsed.username) : env.COUCHDB_USER
  if (!user || parsed.password || ['COUCHDB', 'TILECOUCH_FROM'].some(prefix => passwordOf(prefix, user, env))) return url
  const key = `${parsed.host} ${user}`
  if (!typed.has(key)) typed.set(key, await ask(user, parsed.host))
  parsed.username = encodeURIComponent(user)
  parsed.password = encodeURIComponent(typed.get(key))
  return parsed.href
}

function decode (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
