// The moments of a layer, newest first: the times of its versions and of its editions. There may be a million of them, so
// that both are read in pages.
import { editionId, faultIn, isExactTime } from '../../core/index.js'
import { BY_TIME } from '../store/reader.js'

/**
 * @typedef {object} Moment
 * @property {string} time
 * @property {number} versions of this time
 * @property {any} [edition] its document
 *
 * @typedef {{page: number, signal?: AbortSignal}} Reading page: rows a request
 */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {Reading} options
 * @returns {AsyncGenerator<Moment>}
 */
export async function * momentsOf (couch, layer, options) {
  const editions = editionsOf(couch, layer, options)
  const times = timesOf(couch, layer, options)
  try {
    let edition = await take(editions)
    for await (const { time, versions } of times) {
      for (; edition && edition.time > time; edition = await take(editions)) yield { time: edition.time, versions: 0, edition }
      if (edition?.time !== time) yield { time, versions }
      else {
        yield { time, versions, edition }
        edition = await take(editions)
      }
    }
    for (; edition; edition = await take(editions)) yield { time: edition.time, versions: 0, edition }
  } finally {
    await Promise.all([times.return(undefined), editions.return(undefined)])
  }
}

const take = async generator => (await generator.next()).value

/** @param {Reading} options @returns {AsyncGenerator<{time: string, versions: number}>} */
async function * timesOf (couch, layer, options) {
  const { page, signal } = options
  // what is before [layer, time] when it is read backwards: [layer, time, z] is after it
  for (let startkey = [layer, {}]; ;) {
    const rows = await couch.view(BY_TIME, { startkey, endkey: [layer], descending: true, group_level: 2, limit: page }, signal)
    for (const { key: [, time], value: { count } } of rows) yield { time, versions: count }
    if (rows.length < page) return
    startkey = [layer, rows[rows.length - 1].key[1]]
  }
}

/** @param {Reading} options @returns {AsyncGenerator<any>} documents */
async function * editionsOf (couch, layer, options) {
  const { page, signal } = options
  const endkey = editionId(layer, '')
  for (let startkey = `${endkey}~`; ;) {
    const rows = await couch.page({ startkey, endkey, descending: true, limit: page, include_docs: true }, signal)
    for (const { id, doc } of rows) {
      const time = id.slice(endkey.length)
      // of one that is not valid nobody knows what it is for: nothing of its time goes
      if (doc && isExactTime(time)) yield faultIn(doc) ? { _id: id, _rev: doc._rev, time, isUnknown: true } : doc
    }
    if (rows.length < page) return
    startkey = rows[rows.length - 1].id.slice(0, -1) // of ids that begin alike none is before it
  }
}
