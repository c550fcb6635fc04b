// Opens, creates and publishes the store of a command. Notes say who may read it when it is created, and when it is
// published.
import { editionId, layerId } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { isOpen, isUntouched } from '../store/access.js'
import { counted, recordActivity } from '../store/activity.js'
import { briefRequest } from '../store/administrative.js'
import { isPublished, publish, warmIndexes } from '../couchapp/publish.js'
import { Store } from '../store/index.js'
import { withDatabase } from './store.js'
import { runTask } from './task.js'
import { DATA, refuse } from './options.js'
import { secondsSince } from './output.js'
import { IndexProgress } from './progress.js'

/** @typedef {import('./program.js').Context} Context */

/**
 * @param {string} url of a store that was opened
 * @param {string} [folder] of an embedded store whose address ends with the command
 */
export function openedWords (url, folder) {
  if (folder === undefined) {
    return `Everybody who can reach ${url} may read it now. \`tilecouch access --private\` closes it.`
  }
  return `\`tilecouch up${folder === DATA ? '' : ` --data ${folder}`}\` shows it, on this machine only.`
}

/**
 * Opens a store, or creates one for admins only. publishNew opens it to readers.
 * @param {Pick<Context, 'output'>} context
 * @param {string} url
 * @param {{private?: boolean}} options private: only admins, and the readers that an operator names
 * @param {string} [folder] of an embedded store whose address ends with the command
 */
export async function createStore ({ output }, url, { private: closed = false }, folder) {
  const store = await Store.create(url, { public: false, closed })
  if (closed && !store.isNew) await keepClosed(store)
  const name = folder === undefined ? store.url : 'The store'
  if (store.isNew && closed) {
    output.note(`${name} is new and private: only admins read it. \`tilecouch access --readers ROLES\` lets others in.`)
  } else if (store.isNew && folder === undefined) {
    output.note(`${name} is new. When this command ends, everybody who can reach it may read it; --private keeps it ` +
      'closed.')
  }
  return store
}

/** Opens a store; undefined if there is none yet. @param {string} url */
export const openExisting = url => Store.open(url, { retries: 3 }).catch(ignoring('DATABASE_NOT_FOUND'))

/** Keeps an existing store private. Its rights stay, unless they were never set. */
export async function keepClosed (store) {
  const security = await store.security()
  if (isOpen(security)) {
    refuse('--private', true, 'everybody may read this store already; `tilecouch access --private` closes it')
  }
  if (isUntouched(security)) await store.secure({ ...security, tilecouch: { ...security.tilecouch, closed: true } })
}

/**
 * Publishes a store that was never published.
 * @param {Context} context
 * @param {Store} store
 * @param {string} [folder] of an embedded store whose address ends with the command
 * @returns {Promise<boolean>} whether it did
 */
export async function publishNew ({ output, signal }, store, folder) {
  if (await isPublished(store)) return false
  output.note('Deploying the design documents and building their indexes …')
  const progress = new IndexProgress(output)
  const { opened } = await publish(store, { signal, onProgress: progress.show }).finally(() => progress.end())
  if (opened) output.note(openedWords(store.url, folder))
  return true
}

/**
 * Fills a store: creates it if needed, and publishes it afterwards, since an index is built faster in one go. A load
 * ends when the map can be asked, so its report comes after the index.
 * @param {Context} context
 * @param {any} options of the command
 * @param {Omit<import('./task.js').Task, 'run'> & {run: (filling: Filling) => Promise<any>}} task
 *
 * @typedef {object} Filling the argument of the task
 * @property {Store} store
 * @property {string} url
 * @property {(tally: any) => void} onProgress
 * @property {Pick<import('../store/work.js').Work, 'show'>} work
 */
export const fillStore = (context, options, task) => withDatabase(context, options, async (url, folder) => {
  const store = await createStore(context, url, options, folder)
  const { layer = '', command = '' } = task
  const idsBefore = await idsOf(store, layer)
  const record = async summary => {
    const idsAfter = await idsOf(store, layer, briefRequest()).catch(() => idsBefore)
    await recordActivity(store.couch, command, loadChange(layer, idsBefore, idsAfter, summary))
  }
  const run = async (onProgress, work) => {
    const started = performance.now()
    const result = await task.run({ store, url, onProgress, work }).catch(async error => {
      if (error.summary) await record(error.summary) // the written tiles stay
      throw error
    })
    const writingSeconds = secondsSince(started)
    work.show({ about: { step: 'indexing' } })
    const isEmpty = result.failed > 0 && result.failed >= result.tiles
    const failure = isEmpty ? undefined : await buildIndexes(context, store, folder).catch(error => error)
    await record(result)
    if (failure) throw Object.assign(failure, { summary: result }) // the tiles are stored
    work.show({ about: { step: undefined } })
    return { ...result, writingSeconds }
  }
  return runTask(context, store.couch, { ...task, run, isFaulty: ({ failed }) => failed })
}, { creates: true })

async function buildIndexes (context, store, folder) {
  if (await publishNew(context, store, folder)) return
  const progress = new IndexProgress(context.output)
  await warmIndexes(store, { signal: context.signal, onProgress: progress.show }).finally(() => progress.end())
}

/** The ids of a layer and its editions. @param {Store} store @returns {Promise<string[]>} */
async function idsOf ({ couch }, layer, options = {}) {
  const start = editionId(layer, '')
  const rows = await couch.page({ startkey: start, endkey: `${start}~` }, undefined, options)
  const doc = await couch.get(layerId(layer), undefined, options)
  return [...rows.map(({ id }) => id), ...doc ? [layerId(layer)] : []]
}

/**
 * The change by a load: a new layer, new editions, or other tiles.
 * @param {string} layer
 * @param {string[]} before ids of documents before the load
 * @param {string[]} after
 * @param {any} result of load or loadSet
 * @returns {import('../../core/activity.js').Change | undefined} undefined: nothing has changed
 */
function loadChange (layer, before, after, { time, tiles, created = 0, advanced = 0, backfilled = 0, gone = 0 }) {
  const newIds = after.filter(id => !before.includes(id))
  const times = newIds.filter(id => id !== layerId(layer)).map(id => id.slice(editionId(layer, '').length))
  if (!newIds.length && !(created + advanced + backfilled + gone)) return undefined
  return {
    what: newIds.includes(layerId(layer)) ? 'layer' : 'edition',
    done: newIds.length ? 'created' : 'changed',
    layer,
    edition: times.at(-1) ?? time,
    fields: counted({ editions: times.length > 1 ? times.length : 0, tiles, created, advanced, backfilled, gone })
  }
}
