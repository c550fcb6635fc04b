// A question to /db of somebody who may not see everything: asked as it is when it is about layers that he may see, asked of
// those alone when it can be, and else refused.
import { TilecouchError } from '../../../core/index.js'
import { Refusal, badRequest, notFound } from '../db/refusal.js'
import { scopeOf } from './scope.js'

const LONGEST_FEED = 3600 // seconds: then a feed has to be asked for anew, by whoever still may

/**
 * @typedef {import('../db/reading.js').Reading} Reading
 * @typedef {{reading: Reading, body: any, keep?: (row: any) => boolean, seconds?: number}} Narrowed keep: of the rows of the answer; seconds: a feed may last
 */

/**
 * @param {import('./visitor.js').Visitor} visitor
 * @param {Reading} reading
 * @param {any} body of a POST, parsed
 * @param {import('node:http').ServerResponse} res
 * @param {() => Promise<{layer: string}[]>} list of the layers that there are
 * @returns {Promise<Narrowed>}
 */
export async function narrow (visitor, reading, body, res, list) {
  if (reading.names[0] === '_local') {
    await visitor.settle()
    if (!visitor.mayAll) throw notFound() // places of mirrors, notes of those who write: PouchDB goes on without
  }
  const scope = scopeOf(reading, reading.query, body)
  if (scope && 'layers' in scope) {
    for (const layer of scope.layers) await visitor.enter(layer, res)
    return { reading, body }
  }
  await visitor.enterSome(res)
  if (visitor.mayAll) return { reading, body, ...(reading.waits && { seconds: lasting(visitor, [undefined]) }) }
  if (scope && 'layerOf' in scope) return { reading, body, keep: row => mayKeep(visitor, scope.layerOf(row)) }
  if (!scope) throw visitor.refusal(res)
  return narrowFeed(visitor, reading, body, res, (await list()).map(({ layer }) => layer))
}

const mayKeep = (visitor, layer) => layer !== undefined && visitor.may(layer)

/** Seconds for which all of these are to be seen. @param {import('./visitor.js').Visitor} visitor @param {(string | undefined)[]} layers nothing: everything */
const lasting = (visitor, layers) => Math.min(LONGEST_FEED, ...layers.map(layer => (visitor.until(layer) - visitor.access.now()) / 1000))

/** @param {string[]} names of all layers @returns {Narrowed} */
function narrowFeed (visitor, reading, body, res, names) {
  const filter = reading.query.get('filter') ?? ''
  if (!['', '_selector', '_doc_ids'].includes(filter)) throw visitor.refusal(res)
  const allowed = names.filter(name => visitor.may(name))
  const ours = allowed.filter(name => visitor.access.isPrivate(name))
  const seconds = ours.length ? lasting(visitor, ours) : undefined
  if (filter === '_doc_ids') {
    const ids = body?.doc_ids ?? reading.args.doc_ids ?? []
    const scope = scopeOf({ names: [], question: '_bulk_get' }, reading.query, { docs: ids.map(id => ({ id })) })
    if (!scope || !('layers' in scope) || [...scope.layers].some(layer => !visitor.may(layer))) throw visitor.refusal(res)
    return { reading, body, seconds }
  }
  // by id and not by field: a deleted document has no fields left
  const one = `(?:${allowed.join('|')})`
  const own = { _id: allowed.length ? { $regex: `^(?:layer:${one}$|edition:${one}@|${one}:)` } : { $in: [] } }
  const query = new URLSearchParams(reading.query)
  query.set('filter', '_selector')
  const theirs = filter === '_selector' ? body?.selector : undefined
  if (filter === '_selector' && theirs === undefined) throw badRequest('Selector must be specified in POST payload')
  return {
    reading: { ...reading, method: 'POST', search: `?${query}` },
    body: { ...body, selector: theirs === undefined ? own : { $and: [own, theirs] } },
    seconds
  }
}

/**
 * The rows that are for a visitor. Where there are some and none of them is, that is said: an empty list would look like an
 * empty store.
 * @param {import('./visitor.js').Visitor} visitor
 * @param {any} answer @param {(row: any) => boolean} keep
 * @param {import('node:http').ServerResponse} res
 */
export function keepRows (visitor, answer, keep, res) {
  const rows = answer.rows.filter(keep)
  if (answer.rows.length && !rows.length && !visitor.isSomebody) throw visitor.refusal(res)
  return { rows }
}

/** A refusal in the words of CouchDB, whose clients ask here. @param {TilecouchError} error */
export function inWords ({ code, status, message, advice, details: { seconds } }) {
  /** @type {Record<string, string>} */
  const headers = status === 429 ? { 'Retry-After': `${seconds}` } : {}
  return new Refusal(status, status === 401 ? 'unauthorized' : status === 403 ? 'forbidden' : 'error', message, headers, { code, ...(advice && { advice }) })
}

/** What a mirror looks at, to know whether everybody may read what it reads. */
export const SECURITY = { admins: { names: [], roles: [] }, members: { names: [], roles: ['tilecouch-private-layers'] } }

/** @param {any} error */
export const isAboutAccess = error => error instanceof TilecouchError && /^(ACCESS_|TOKEN_|TOO_MANY_GUESSES)/.test(error.code)
