// Opens a database that tiles are loaded from. It may belong to others: the name and password of the environment are
// sent only to the server that is loaded into.
import { TilecouchError } from '../../errors.js'
import { Couch } from '../../store/couch.js'
import { Store } from '../../store/index.js'
import { sourceLimits } from '../../formats/reading.js'

const FIRST = { retries: 2 } // a mistyped address fails at once; later on, a server that restarts is waited for

export async function openDatabase (name, options) {
  return new Couch(name, await reach(name, options))
}

export async function openStore (name, options) {
  const settings = await reach(name, options)
  try {
    return await Store.open(name, settings)
  } catch (error) {
    if (error.code !== 'NOT_A_STORE') throw error
    const why = `it is no store of tilecouch, and holds documents such as ${JSON.stringify(error.details.value)}; ` +
      'when they are tiles, say how they are called with --id-template'
    throw new TilecouchError('SOURCE_UNREADABLE', { value: name, why }, { cause: error })
  }
}

/**
 * @param {string} name
 * @param {{home?: string, signal?: AbortSignal}} options home: address of the target store
 */
async function reach (name, { home, signal }) {
  const ambient = home === undefined || originOfUrl(home) === originOfUrl(name)
  const settings = { ambient, signal, most: sourceLimits.answer }
  try {
    const couch = new Couch(name, { ...FIRST, ...settings })
    const info = await couch.request({ path: '' })
    if (typeof info.db_name !== 'string') {
      throw new TilecouchError('BAD_ANSWER', { url: couch.url, why: 'it is no database' })
    }
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') {
      throw new TilecouchError('SOURCE_NOT_FOUND', { value: name }, { cause: error })
    }
    throw error
  }
  return settings
}

/**
 * Reads the tiles of some documents. If they are too large for one answer, each tile is read later by itself.
 * @template T
 * @param {T[]} items
 * @param {(items: T[]) => Promise<(Buffer | null)[]>} read
 * @returns {Promise<import('./ahead.js').TileContent[]>}
 */
export async function readWithin (items, read) {
  try {
    return await read(items)
  } catch (error) {
    if (error.code !== 'ANSWER_TOO_LARGE') throw error
    return items.map(item => async () => (await read([item]))[0])
  }
}

const originOfUrl = url => URL.canParse(url) ? new URL(url).origin : undefined
