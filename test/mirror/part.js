// A mirror of a part, as tests have it: a replication between two databases, and what is in either.
import { parseArea } from '../../core/index.js'
import { Replication, Selection, visiblePastOf } from '../../core/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { peerOf } from '../../loader/store/peer.js'
import { initialFill } from '../../loader/maintain/mirror/initial-fill.js'
import { json, request } from '../support/backends.js'
import { until } from '../../bench/wait.js'

const selectionOf =
  ({ bbox, polygon, ...rest }) => new Selection({ ...rest, area: bbox ? parseArea({ bbox }) : polygon })

/**
 * @param {string} from @param {string} to a database, made if it is not there
 * @param {Parameters<typeof selectionOf>[0]} wanted
 * @param {{live?: boolean, signal?: AbortSignal, shortcut?:
 *   Partial<import('../../loader/maintain/mirror/initial-fill.js').initialFillDefaults>, limits?: any, onRequest?:
 *   (request: any) => void}} [options]
 */
export async function replicationOf (from, to, wanted, { shortcut, onRequest, ...options } = {}) {
  await request(to, { method: 'PUT' })
  const selection = selectionOf(wanted)
  const source = new Couch(from)
  if (onRequest) {
    const ask = source.request.bind(source)
    source.request = async asked => {
      await onRequest(asked)
      return ask(asked)
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

/** Every document as it is now. */
export async function documentsOf (url) {
  const { rows } = await json(`${url}/_all_docs?include_docs=true`)
  // the embedded store lists what is removed meanwhile, without a document
  return rows.map(({ doc }) => doc).filter(doc => doc && !doc._id.startsWith('_design/'))
}

/** Resolves when everything that the source has now was looked at. */
export async function caughtUp (replication, url) {
  const { results } = await json(`${url}/_changes`) // not what the database says of itself: its security counts there
  const newest = parseInt(results[results.length - 1]?.seq ?? 0)
  try {
    await until(() => parseInt(replication.status().since) >= newest, { timeout: 25000 })
  } catch {
    throw new Error(`the mirror did not get to ${newest}: ${JSON.stringify(replication.status())}`)
  }
}
