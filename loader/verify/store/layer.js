// The document of a layer, and its editions.
import { RESERVED, TilecouchError, editionId, examine, faultIn, isAhead, layerDocument, layerId } from '../../../core/index.js'

const COUNTS = ['tiles', 'created', 'advanced', 'backfilled', 'unchanged', 'failed', 'gone', 'bytes']

/**
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {import('../report.js').Report} report
 * @returns {Promise<Record<string, any> | undefined>} the document, as far as it is valid
 */
export async function checkLayerDocument (couch, layer, report) {
  if (RESERVED.has(layer)) report.add('reserved-name', layerId(layer))
  const doc = await couch.find({ path: encodeURIComponent(layerId(layer)), qs: { conflicts: true } })
  if (!doc) return undefined
  const { _id, _rev, _conflicts, type, layer: name } = doc
  if (_conflicts?.length) report.add('conflict', _id, `${_rev} and ${_conflicts}`)
  if (type !== 'layer' || name !== layer) report.add('bad-layer', _id, `type ${JSON.stringify(type)}, layer ${JSON.stringify(name)}`)
  const { faults, valid } = examine({ ...doc, type: 'layer', layer })
  for (const fault of faults) report.add('bad-layer', _id, fault)
  for (const field of ['upstream', 'retention']) {
    try {
      layerDocument(layer, { [field]: valid[field] })
    } catch (error) {
      if (!(error instanceof TilecouchError)) throw error
      report.add('bad-layer', _id, error.message)
    }
  }
  return valid
}

/**
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {import('../report.js').Report} report
 * @returns {Promise<any[]>} those that are valid
 */
export async function checkEditions (couch, layer, report) {
  const start = editionId(layer, '')
  const rows = await couch.page({ startkey: start, endkey: `${start}~`, include_docs: true, conflicts: true })
  const docs = rows.map(row => row.doc).filter(Boolean)
  return docs.filter(doc => {
    if (doc._conflicts?.length) report.add('conflict', doc._id, `${doc._rev} and ${doc._conflicts}`)
    const why = wrongWith(doc)
    if (!why && isAhead(doc.time)) report.add('future-time', doc._id)
    if (why) report.add('bad-edition', doc._id, why)
    else if (!doc.finished) report.add('unfinished-edition', doc._id, doc.source && `from ${doc.source}`)
    else if (doc.failed) report.add('failed-edition', doc._id, `${doc.failed} of ${doc.tiles} tiles`)
    return !why
  })
}

function wrongWith (doc) {
  const fault = doc.type === 'edition' ? faultIn(doc) : `type ${JSON.stringify(doc.type)}`
  if (fault) return fault
  if (COUNTS.some(field => doc[field] === undefined)) return undefined // by another program, or on its way
  const sum = doc.created + doc.advanced + doc.backfilled + doc.unchanged + doc.failed
  // a load that was run again for the same time counts what both have written
  if (sum < doc.tiles) return `${doc.tiles} tiles, but ${sum} new, changed, unchanged or failed`
  if (doc.gone > doc.advanced + doc.backfilled) return `${doc.gone} gone, but ${doc.advanced + doc.backfilled} changed`
}

/**
 * Versions that an edition wrote, and that are not there any more.
 * @param {any[]} editions
 * @param {Map<string, number>} versions of each time
 * @param {import('../report.js').Report} report
 * @param {boolean} isPruned versions that say "gone" may be missed: with nothing before them they say nothing
 */
export function checkCounts (editions, versions, report, isPruned) {
  for (const { _id, time, finished, created = 0, advanced = 0, backfilled = 0, gone = 0 } of editions) {
    const written = created + advanced + backfilled - (isPruned ? gone : 0)
    const found = versions.get(time) ?? 0
    if (finished && found < written) report.add('short-edition', _id, `${written} written, ${found} found`)
  }
}
