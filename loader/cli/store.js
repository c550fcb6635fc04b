// The store of a command: opens it, says which one it is when the command line does not, and notes in it what a long
// command does (loader/store/work.js).
import { existsSync } from 'node:fs'
import path from 'node:path'
import { scrub, workDefaults } from '../../core/index.js'
import { databaseAt, findDatabase } from '../couchapp/environments.js'
import { TilecouchError } from '../errors.js'
import { retryDefaults } from '../store/couch.js'
import { Store } from '../store/index.js'
import { Work } from '../store/work.js'

/**
 * @typedef {import('./program.js').Context} Context
 * @typedef {{db?: string, data: string}} Target of the options
 * @typedef {Pick<Work, 'show'>} Shown
 */

/**
 * @template T
 * @param {Context} context
 * @param {Target} options
 * @param {(url: string, folder?: string) => Promise<T>} action folder: of an embedded store that ends with the command
 * @param {{creates?: boolean}} [more] creates: a command that makes stores; others leave no folder behind
 */
export async function withDatabase ({ output, openEmbedded }, { db, data }, action, { creates = false } = {}) {
  const { url, namedBy } = await findDatabase(db, { data })
  if (url) {
    if (namedBy) output.note(`Store: ${scrub(url)} (${namedBy})`)
    return action(url)
  }
  const isThere = existsSync(path.join(data, 'databases'))
  if (!isThere && !creates) throw new TilecouchError('DATABASE_NOT_FOUND', { folder: data })
  output.note(isThere
    ? `Store: the embedded one in ${data}`
    : `Store: a new embedded one in ${path.resolve(data)}. For another one: --db or --data.`)
  const embedded = await openEmbedded(data)
  try {
    return await action(databaseAt(embedded.url), embedded.started === false ? undefined : data)
  } finally {
    await embedded.close()
  }
}

/** @template T @param {Context} context @param {Target} options @param {(store: Store) => Promise<T>} action */
export const withStore = (context, options, action) =>
  withDatabase(context, options, async url => action(await Store.open(url, { retries: 3 })))

const LIVE_RETRIES = 2 // of a request with --live: a missing store is reported soon, and waited for

/**
 * As withStore, for long commands: once open, they wait when the store restarts.
 * @template T
 * @param {Context} context @param {Target & {live?: boolean}} options @param {(store: Store) => Promise<T>} action
 */
export const withPatientStore = (context, options, action) => withStore(context, options, store => {
  store.couch.options.retries = options.live ? LIVE_RETRIES : retryDefaults.retries
  return action(store)
})

const NOWHERE = { show () {} }

/**
 * Runs a task, and says in the store how far it is and how it ended.
 * @template T
 * @param {{args?: string[], signal: AbortSignal}} context
 * @param {import('../store/couch.js').Couch | undefined} couch undefined: a command that changes nothing says nothing
 * @param {import('../store/work.js').About & {follows?: boolean}} about follows: it goes on until it is stopped
 * @param {(work: Shown) => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withWork ({ args, signal }, couch, { follows, ...about }, task) {
  if (!couch) return task(NOWHERE)
  const work = new Work(couch, { args, ...(follows && { every: workDefaults.quiet }), ...about })
  try {
    const result = await task(work)
    await work.end(follows && signal.aborted ? new TilecouchError('ABORTED') : undefined)
    return result
  } catch (error) {
    await work.end(error)
    throw error
  }
}

/**
 * Opens the store of a long command, which waits when the store restarts, and says in it how far the command is.
 * @template T
 * @param {Context} context
 * @param {any} options of the command; with `dryRun` the store does not hear of it
 * @param {Parameters<typeof withWork>[2]} about
 * @param {(store: Store, work: Shown) => Promise<T>} task
 */
export const withStoreWork = (context, options, about, task) => withPatientStore(context, options, store =>
  withWork(context, options.dryRun ? undefined : store.couch, about, work => task(store, work)))

/**
 * What a document of work says of a command that follows a store.
 * @param {{state: string, lag?: number | null, upToDate?: string | number | null, error?: string, reason?: string}} of
 *   lag: seconds; upToDate: when it last had everything
 * @param {Record<string, any>} about more
 */
export const followed = ({ state, lag, upToDate, error, reason }, about) => ({
  ...about,
  state,
  lag: Number.isFinite(lag) ? Math.round(Number(lag)) : undefined,
  success: upToDate ? new Date(upToDate).toISOString().slice(0, 19) + 'Z' : undefined,
  error,
  reason
})

/** How far a command that follows is behind, from its `onState`. */
export class LiveState {
  state = 'reading'
  upToDate = /** @type {number | undefined} */ (undefined)
  error = /** @type {string | undefined} */ (undefined)
  reason = /** @type {string | undefined} */ (undefined)

  /** @param {{state: string, error?: string, reason?: string}} change */
  note ({ state, error, reason }) {
    if ([this.state, state].includes('following')) this.upToDate = Date.now()
    Object.assign(this, { state, error, reason })
  }

  get lag () {
    if (this.state === 'following') this.upToDate = Date.now()
    return this.upToDate === undefined ? undefined : (Date.now() - this.upToDate) / 1000
  }
}

const SECRET = '[\\w-]*(?:key|token|secret|pass|auth|cred|sig|headers)[\\w-]*='
const IN_ADDRESS = new RegExp(`([?&;]${SECRET})[^&\\s"'#]+`, 'gi')
const IN_SETTING = new RegExp(`^((?:--set=)?${SECRET})[^]+`, 'i') // of --set

const OF_STORE = ['--db', '--password-file'] // where the store is, the reader of its document knows

/**
 * What was typed, without passwords, tokens and keys, and without the store.
 * @param {string[]} argv without node and script
 */
export const typedArguments = argv => argv
  .filter((argument, index) => !OF_STORE.some(option =>
    [argument, argv[index - 1]].includes(option) || argument.startsWith(`${option}=`)))
  .map(argument => scrub(argument).replace(IN_ADDRESS, '$1(hidden)').replace(IN_SETTING, '$1(hidden)'))
