// Passwords that stand in no address: in the environment, in a file that it names, or typed in by whoever is asked.
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { TilecouchError } from '../core/index.js'
import { findEmbedded } from './embedded.js'
import { readSmallFile } from './regular-file.js'
import { LOOPBACK } from './this-machine.js'

const MOST = 4096 // bytes of a file that holds one password
const OTHERS_WRITE = 0o002
const OTHERS_READ = 0o004
const OWN_FILES_ONLY = 0o1000 // as in /tmp: others may add files, and not replace them
const IS_LOCAL = /^(localhost|127\.0\.0\.1):\d+$/ // a port of its own, as the embedded store has

/**
 * The password of this name, as Docker has it: COUCHDB_PASSWORD, or what stands in the file COUCHDB_PASSWORD_FILE.
 * @param {string} name @param {NodeJS.ProcessEnv} [env]
 * @returns {string | undefined}
 */
export const secretOf = (name, env = process.env) => env[name] || readSecret(env[`${name}_FILE`])

/** Whether everybody on this machine may put files into a folder. @param {string} folder */
export const isForAll = folder => process.platform !== 'win32' && ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS_WRITE) !== 0

/** @param {string | undefined} file */
function readSecret (file) {
  if (!file) return undefined
  const secret = readSecretFile(file, 'one password').replace(/\r?\n$/, '')
  if (!secret || /[\r\n\0]/.test(secret)) throw new TilecouchError('CONFIG_INVALID', { file, why: 'it must hold one line, the password' })
  return secret
}

/**
 * A file with a password or keys, of which what it says is not shown.
 * @param {string} file @param {string} what it holds @param {number} [most] bytes
 */
export function readSecretFile (file, what, most = MOST) {
  const refuse = why => { throw new TilecouchError('CONFIG_INVALID', { file, why }) }
  let text, found, above
  try {
    found = statSync(file)
    above = path.dirname(realpathSync(file))
    if (!found.isFile() || found.size > most) refuse(`this is no file with ${what}`)
    text = String(readSmallFile(file, most))
  } catch (error) {
    throw error instanceof TilecouchError ? error : new TilecouchError('CONFIG_INVALID', { file, why: `what is in it cannot be read: ${error.code ?? error.message}` })
  }
  // whoever writes there may have us send another's password, or none, to the store, or encrypt for himself
  if (process.platform !== 'win32' && found.mode & OTHERS_WRITE) refuse('everybody on this machine may write it: chmod 600')
  if (isForAll(above) && !(statSync(above).mode & OWN_FILES_ONLY)) refuse('everybody on this machine may put another in its place: chmod o-w the folder')
  return text
}

/** Whether every user of this machine may read it. @param {string} file */
export const isReadByAll = file => process.platform !== 'win32' && ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS_READ) !== 0

/**
 * Files with passwords that every user of this machine may read. In containers that is how they are given, so that it is said and not refused.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function openSecretFiles (env = process.env) {
  return ['COUCHDB_PASSWORD_FILE', 'TILECOUCH_FROM_PASSWORD_FILE'].map(name => env[name]).filter(file => file !== undefined && isReadByAll(file))
}

/**
 * The password of a name that was given without one: that of the environment, unless it is another's.
 * @param {string} prefix COUCHDB for the store, TILECOUCH_FROM for what is copied from
 * @param {string} user @param {NodeJS.ProcessEnv} [env]
 */
export const passwordOf = (prefix, user, env = process.env) =>
  [undefined, '', user].includes(env[`${prefix}_USER`]) ? secretOf(`${prefix}_PASSWORD`, env) : undefined

/** The line of a text that is no JSON: what the parser says shows a piece of it, which may be the secret. @param {string} text */
export function whereJsonEnds (text) {
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
let tell = /** @type {(text: string) => void} */ (() => {})
const typed = new Map()
const told = new Set()

/**
 * How somebody is asked for a password, where there is somebody: the command line on a terminal. And how he is told of one.
 * @param {Ask} [asking] @param {(text: string) => void} [telling]
 */
export function askWith (asking, telling = () => {}) {
  [ask, tell] = [asking, telling]
  typed.clear()
  told.clear()
}

/** @typedef {'COUCHDB' | 'TILECOUCH_FROM'} Side whose name and password are meant: those of the store, or of what is copied from */

/**
 * A name and password of the environment are for the server that the operator named, in COUCHDB_URL or on the command line.
 * A file that came with a project names servers as well: it gets those of the store for COUCHDB_URL's server, without that
 * for this machine.
 * @param {string} url that the file names
 * @param {string} file
 * @param {Side} side
 * @param {NodeJS.ProcessEnv} env
 */
export function refuseToLend (url, file, side, env) {
  if (!env[`${side}_USER`] || !secretOf(`${side}_PASSWORD`, env)) return
  const { COUCHDB_URL: own } = env
  if (side === 'COUCHDB' && (own ? serverOf(own) === serverOf(url) : serverOf(url)?.startsWith(HERE))) return
  throw new TilecouchError('PASSWORD_NOT_SENT', { value: `${side}_USER`, url: new URL(url).origin, file })
}

const HERE = 'this machine:'

/** One text for one server, however it is written. @param {string} url */
function serverOf (url) {
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname, port } = new URL(url)
  return `${LOOPBACK.test(hostname) ? HERE : `${hostname}:`}${port} ${protocol}`
}

/**
 * Says, once of each server, that its password crosses the network so that everybody in between can read it.
 * @param {string} url @param {Side} side @param {NodeJS.ProcessEnv} env
 */
export function tellIfReadable (url, side, env) {
  const { protocol, hostname, host, username } = new URL(url)
  if (protocol !== 'http:' || LOOPBACK.test(hostname) || !(username || env[`${side}_USER`]) || told.has(host)) return
  told.add(host)
  tell(`The password for http://${host} crosses the network unencrypted. Use https where others share that network.`)
}

/** @type {string | undefined} */
let folder

/** The folder whose embedded store is not asked for without a name: its admin's stands there. @param {string} [dir] */
export function useFolder (dir) {
  folder = dir
}

/**
 * The address with its password, where it has a name and none: nobody is asked twice, nor for what the environment holds.
 * With both, where it is that of the embedded store in the folder.
 * @param {string} url @param {NodeJS.ProcessEnv} [env] @param {Side} [side]
 */
export async function withPassword (url, env = process.env, side = 'COUCHDB') {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  if (folder !== undefined && !parsed.username && IS_LOCAL.test(parsed.host)) {
    const own = await findEmbedded(folder)
    if (own && new URL(own).port === parsed.port) return `${own}${parsed.pathname}` // localhost may be somebody else's there
  }
  if (!ask) return url
  const user = parsed.username ? decode(parsed.username) : env[`${side}_USER`]
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
