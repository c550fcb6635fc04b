// Tiles that are dated in the future, by a mistake mostly: every later load of an earlier time goes into their past,
// and the map no longer changes. Said when such a load is made, and by every load that meets it.
import { isAhead } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { BY_TIME } from '../store/reader.js'

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layer: string, time: string, editions: any[], signal?: AbortSignal}} of time: that is loaded; editions: that
 *   there were before
 * @returns {Promise<TilecouchError[]>} none, or what is wrong
 */
export async function futureWarnings (couch, { layer, time, editions, signal }) {
  const newest = await newestOf(couch, layer, editions.at(-1)?.time, signal)
  if (newest && newest > time && isAhead(newest)) return [new TilecouchError('FUTURE_TIME', { layer, time, newest })]
  return isAhead(time) ? [new TilecouchError('FUTURE_TIME', { layer, time })] : []
}

/**
 * The newest time of a layer: of its last edition, or of what was written without one, as far as the index knows it by
 * now.
 * @returns {Promise<string | undefined>}
 */
export async function newestOf (couch, layer, edition, signal) {
  const newest = { startkey: [layer, {}], endkey: [layer], descending: true, limit: 1, reduce: false, update: false }
  const [row] = await couch.view(BY_TIME, newest, signal).catch(error => {
    if (error.code === 'INDEX_MISSING') return [] // not published yet
    throw error
  })
  const written = row?.key[1]
  return !edition || written > edition ? written : edition
}
