// Helpers of the tests of partial mirrors: a replication of a part between two databases, and readers of both.
import { parseArea } from '../../core/index.js'
import { Replication, Selection, visiblePastOf } from '../../core/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { peerOf } from '../../loader/store/peer.js'
import { initialFill } from '../../loader/maintain/mirror/initial-fill.js'
import { json, request } from '../support/backends.js'
import { until } from '../../bench/wait.js'

const selectionOf =
  ({ bbox, polygon, ...otherOptions }) => new Selection({ ...otherOptions, area: bbox ? parseArea({ bbox }) : polygon })

/**
 * @param {string} from @param {string} to a database, created if it does not exist
 * @param {Parameters<typeof selectionOf>[0]} selectionOptions
 * @param {{live?: boolean, signal?: AbortSignal, shortcut?:
 *   Partial<import('../../loader/maintain/mirror/initial-fill.js').initialFillDefaults>, limits?: any, onRequest?:
 *   (request: any) => void}} [options]
 */
export async function replicationOf (from, to, selectionOptions, { shortcut, onRequest, ...options } = {}) {
  await request(to, { method: 'PUT' })
  const selection = selectionOf(selectionOptions)
  const source = new Couch(from)
  if (onRequest) {
    const sendRequest = source.request.bind(source)
    source.request = async requestOptions => {
      await onRequest(requestOptions)
      return sendRequest(requestOptions)
    }
  }
  return new Replication({
    source: peerOf(source),
    target: peerOf(new Couch(to)),
    selection,
    visiblePast: selection.since ? visiblePastOf(source, selection.since) : undefined,
    fill: shortcut && initialFill(source, selection, shortcut),
    ...options
  })
}

/** Reads all documents except design documents. */
export async function documentsOf (url) {
  const { rows } = await json(`${url}/_all_docs?include_docs=true`)
  // the embedded store lists a document that was deleted meanwhile with `doc: null`
  return rows.map(({ doc }) => doc).filter(doc => doc && !doc._id.startsWith('_design/'))
}

/** Waits until a replication has read all present changes of its source. */
export async function caughtUp (replication, url) {
  const { results } = await json(`${url}/_changes`) // update_seq would count _security too
  const newest = parseInt(results[results.length - 1]?.seq ?? 0)
  try {
    await until(() => parseInt(replication.status().since) >= newest, { timeout: 25000 })
  } catch {
    throw new Error(`the mirror did not get to ${newest}: ${JSON.stringify(replication.status())}`)
  }
}
