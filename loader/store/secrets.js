// Finds passwords that are not in an address: in the environment, in a file that it names, or by asking the user.
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { decodedText } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { findEmbedded } from './embedded.js'
import { plainTextOf, readSmallFile } from '../formats/files.js'
import { LOOPBACK } from '../formats/system.js'

const MOST = 4096 // bytes of a file with one password
const OTHERS_WRITE = 0o002
const OTHERS_READ = 0o004
const OWN_FILES_ONLY = 0o1000 // the sticky bit, as in /tmp: others may add files, but not replace them
const IS_LOCAL = /^(localhost|127\.0\.0\.1):\d+$/ // with a port, as the embedded store has

/**
 * A password as Docker passes it: in COUCHDB_PASSWORD, or in the file that COUCHDB_PASSWORD_FILE names.
 * @param {string} name @param {NodeJS.ProcessEnv} [env]
 * @returns {string | undefined}
 */
export const secretOf = (name, env = process.env) => env[name] || readSecret(env[`${name}_FILE`])

const hasMode = (file, bit) =>
  process.platform !== 'win32' && ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & bit) !== 0

/** Whether everybody on this machine may write into a folder. @param {string} folder */
export const isWorldWritable = folder => hasMode(folder, OTHERS_WRITE)

/** Whether every user of this machine may read a file. @param {string} file */
export const isWorldReadable = file => hasMode(file, OTHERS_READ)

function readSecret (file) {
  if (!file) return undefined
  const secret = readSecretFile(file).replace(/\r?\n$/, '')
  if (!secret || /[\r\n\0]/.test(secret)) {
    throw new TilecouchError('CONFIG_INVALID', { file, why: 'it must contain one line, the password' })
  }
  return secret
}

/** Reads a file with a password. Errors do not show its content. @param {string} file */
function readSecretFile (file) {
  const refuse = why => { throw new TilecouchError('CONFIG_INVALID', { file, why }) }
  let text, stats, parent
  try {
    stats = statSync(file)
    parent = path.dirname(realpathSync(file))
    if (!stats.isFile() || stats.size > MOST) refuse('this is not a file with one password')
    text = plainTextOf(readSmallFile(file, MOST))
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    throw new TilecouchError('CONFIG_INVALID', { file, why: `it cannot be read: ${error.code ?? error.message}` })
  }
  // every user who may write there could replace the password
  if (isWorldWritable(file)) refuse('everybody on this machine may write it: chmod 600')
  if (isWorldWritable(parent) && !(statSync(parent).mode & OWN_FILES_ONLY)) {
    refuse('everybody on this machine may replace it: chmod o-w the folder')
  }
  return text
}

/** The files with passwords that every user of this machine may read, as the files of containers are. */
export function readableSecretFiles (env = process.env) {
  const files = ['COUCHDB_PASSWORD_FILE', 'TILECOUCH_FROM_PASSWORD_FILE'].map(name => env[name])
  return files.filter(file => file !== undefined && isWorldReadable(file))
}

/**
 * The password in the environment for a user, unless it belongs to another user.
 * @param {string} prefix COUCHDB for the store, TILECOUCH_FROM for the store that is copied from
 * @param {string} user @param {NodeJS.ProcessEnv} [env]
 */
export const passwordOf = (prefix, user, env = process.env) =>
  [undefined, '', user].includes(env[`${prefix}_USER`]) ? secretOf(`${prefix}_PASSWORD`, env) : undefined

/**
 * The line of an error in JSON. The parser's own message shows a piece of the text, which may be a secret.
 * @param {string} text
 */
export function jsonErrorLine (text) {
  try {
    JSON.parse(text)
  } catch (error) {
    const [, position] = /position (\d+)/.exec(error.message) ?? []
    if (position !== undefined) return ` (line ${text.slice(0, +position).split('\n').length})`
  }
  return ''
}

/** @typedef {(who: string, where: string) => Promise<string>} Ask */

/** @type {Ask | undefined} */
let ask
let warn = /** @type {(text: string) => void} */ (() => {})
const typed = new Map() // passwords
const warned = new Set() // hosts

/**
 * Sets how to ask for a password and how to warn, as the command line does on a terminal.
 * @param {Ask} [prompt] @param {(text: string) => void} [warning]
 */
export function usePrompt (prompt, warning = () => {}) {
  [ask, warn] = [prompt, warning]
  typed.clear()
  warned.clear()
}

/** @typedef {'COUCHDB' | 'TILECOUCH_FROM'} Side the store, or the store that is copied from */

/**
 * Refuses to send the name and password of the environment to a server that a project's file names. They belong to the
 * server of COUCHDB_URL or of the command line. Others are refused, except this machine if COUCHDB_URL is not set.
 * @param {string} url named by the file
 * @param {string} file
 * @param {Side} side
 * @param {NodeJS.ProcessEnv} env
 */
export function refuseForeignServer (url, file, side, env) {
  if (!env[`${side}_USER`] || !secretOf(`${side}_PASSWORD`, env)) return
  const { COUCHDB_URL: environmentUrl } = env
  const isSameServer = environmentUrl
    ? serverOf(environmentUrl) === serverOf(url)
    : serverOf(url)?.startsWith(HERE)
  if (side === 'COUCHDB' && isSameServer) return
  throw new TilecouchError('PASSWORD_NOT_SENT', { value: `${side}_USER`, url: new URL(url).origin, file })
}

const HERE = 'this machine:'

/** The same text for one server, however its URL is written. @param {string} url */
function serverOf (url) {
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname, port } = new URL(url)
  return `${LOOPBACK.test(hostname) ? HERE : `${hostname}:`}${port} ${protocol}`
}

/**
 * Warns, once per server, that its password is sent unencrypted.
 * @param {string} url @param {Side} side @param {NodeJS.ProcessEnv} env
 */
export function warnIfUnencrypted (url, side, env) {
  const { protocol, hostname, host, username } = new URL(url)
  if (protocol !== 'http:' || LOOPBACK.test(hostname) || !(username || env[`${side}_USER`]) || warned.has(host)) return
  warned.add(host)
  warn(`The password for http://${host} is sent unencrypted. Use https where others share the network.`)
}

/** @type {string | undefined} */
let folder

/** Sets the folder of the embedded store, whose password is in it. @param {string} [dir] */
export function useDataFolder (dir) {
  folder = dir
}

/**
 * Adds the password to an address. That of the embedded store comes from its folder. Otherwise the user is asked, once
 * per name and server, if there is a name without a password.
 * @param {string} url @param {NodeJS.ProcessEnv} [env] @param {Side} [side]
 */
export async function withPassword (url, env = process.env, side = 'COUCHDB') {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  if (folder !== undefined && !parsed.username && IS_LOCAL.test(parsed.host)) {
    const embedded = await findEmbedded(folder)
    // localhost may be the server of another user
    if (embedded && new URL(embedded).port === parsed.port) return `${embedded}${parsed.pathname}`
  }
  if (!ask) return url
  const user = parsed.username ? decodedText(parsed.username) : env[`${side}_USER`]
  const hasPassword = () => ['COUCHDB', 'TILECOUCH_FROM'].some(prefix => passwordOf(prefix, user ?? '', env))
  if (!user || parsed.password || hasPassword()) return url
  const key = `${parsed.host} ${user}`
  if (!typed.has(key)) typed.set(key, await ask(user, parsed.host))
  parsed.username = encodeURIComponent(user)
  parsed.password = encodeURIComponent(typed.get(key))
  return parsed.href
}

// Addresses of databases.

const DATABASE = /^[a-z][a-z0-9_$()+/-]{0,235}$/

/**
 * Parses a database URL. The result's `url` may be shown: it never has a password.
 * @param {string} url
 * @param {{ambient?: boolean}} [options] ambient: take a missing name and password from the environment (default: true)
 */
export function parseDatabaseUrl (url, { ambient = true } = {}) {
  let parsed, slash, db
  try {
    parsed = new URL(url)
    slash = parsed.pathname.replace(/\/+$/, '').lastIndexOf('/')
    db = decodeURIComponent(parsed.pathname.replace(/\/+$/, '').slice(slash + 1))
    // a bad % in a name or password would fail later, where it is decoded
    decodeURIComponent(parsed.username + parsed.password)
  } catch {
    throw new TilecouchError('BAD_DATABASE', { value: url })
  }
  if (!/^https?:$/.test(parsed.protocol) || !DATABASE.test(db)) throw new TilecouchError('BAD_DATABASE', { value: url })
  const base = parsed.pathname.slice(0, slash < 0 ? 0 : slash)
  const user = parsed.username || (ambient && process.env.COUCHDB_USER)
  const namedPassword = () => parsed.password || (ambient && storedPassword(parsed.username)) || ''
  const ambientPassword = () => user ? encodeURIComponent(secretOf('COUCHDB_PASSWORD') ?? '') : ''
  const password = parsed.username ? namedPassword() : ambientPassword()
  const auth = user ? `${parsed.username || encodeURIComponent(user)}:${password}@` : ''
  return {
    db,
    url: `${parsed.protocol}//${parsed.host}${base}/${encodeURIComponent(db)}`,
    serverUrl: `${parsed.protocol}//${parsed.host}${base}`,
    authorised: `${parsed.protocol}//${auth}${parsed.host}${base}`
  }
}

const storedPassword = username => encodeURIComponent(passwordOf('COUCHDB', decodeURIComponent(username)) ?? '')
