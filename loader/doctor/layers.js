// The layers: invalid documents, expired tiles, unfinished loads, and versions that the retention policy does not keep.
import { findExpired } from '../expired/find.js'
import { pruneDefaults, PrunePlan } from '../prune/plan.js'
import { newestOf } from '../load/future.js'
import { BY_TILE } from '../store/reader.js'
import { timeoutSignal } from '../../core/abort.js'
import { isAhead, soundOf, tileId } from '../../core/index.js'
import { count, plural } from '../text.js'
import { ifIndexed } from './indexes.js'

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const layerConditions = [{ area: 'layers', check: 'layers', needs: 'a member', look: lookAtLayers }]

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function lookAtLayers (inspection) {
  const most = inspection.limits.layers
  const qs = { startkey: 'layer:', endkey: 'layer;', include_docs: true, limit: most + 1 }
  const rows = await inspection.couch.page(qs)
  const faults = []
  const docs = soundOf(rows.slice(0, most).map(({ doc }) => doc), 'layer', ({ _id: id }, why) => faults.push(`${id}: ${why}`))
  if (faults.length) {
    const why = 'The gateway and all commands ignore them: these layers are not listed, and their settings have no effect.'
    inspection.add('layers', 'documents of layers', invalid(faults, 'layer', why, 'Correct their fields with `tilecouch layer NAME`, or the documents in the database.'))
  }
  const look = (check, id, task) => inspection.look({ area: 'layers', check, needs: 'a member', look: async () => id ? ifIndexed(inspection, id, await task()) : task() })
  await look('expired', '_design/lifecycle', () => expired(inspection, docs))
  for (const doc of docs) { // one after the other: there may be many
    await look(`${doc.layer}: editions`, undefined, () => editions(inspection, doc))
    if (doc.retention) await look(`${doc.layer}: retention`, '_design/versions', () => retention(inspection, doc))
  }
  return { state: 'ok', found: `${plural(docs.length, 'layer')}${rows.length > most ? '; more were not checked' : ''}` }
}

/** As the gateway and `tilecouch prune --expired` count them. @returns {Promise<Found>} */
async function expired (inspection, docs) {
  const { expired: many } = inspection.limits
  const found = { tiles: 0, layers: new Set(), first: '' }
  const pages = findExpired(inspection.couch, { layers: new Map(docs.map(doc => [doc.layer, doc])), all: true, at: inspection.now, page: many, signal: inspection.signal })
  for await (const page of pages) {
    for (const { layer, expires } of page) {
      found.layers.add(layer)
      if (!found.first || expires < found.first) found.first = expires
    }
    found.tiles += page.length
    if (found.tiles >= many) break
  }
  const figures = { expired: found.tiles }
  if (found.tiles < many) return { state: 'ok', found: plural(found.tiles, 'tile').replace(/^0 /, 'no '), figures }
  return {
    state: 'warning', found: `${count(found.tiles)} tiles or more, of ${[...found.layers].slice(0, 5).join(', ')}, the first since ${found.first}`, figures,
    why: 'They are shown until somebody requests them and the upstream sends newer ones; without an upstream, for ever.',
    advice: 'tilecouch seed --expired --all, or tilecouch prune --expired --all; regularly: deploy/tilecouch-seed.timer'
  }
}

/** @param {Inspection} inspection @returns {Promise<Found>} */
async function editions (inspection, { layer }) {
  const { editions: most, unfinished } = inspection.limits
  const rows = await inspection.couch.page({
    startkey: `edition:${layer}@~`, endkey: `edition:${layer}@`, descending: true, limit: most, include_docs: true
  })
  const faults = []
  const docs = soundOf(rows.map(({ doc }) => doc), 'edition', ({ _id: id }, why) => faults.push(`${id}: ${why}`))
  if (faults.length) return invalid(faults, 'edition', 'They are missing in every list.', 'Run the load again with its --time: it writes the edition again. Delete one whose id is invalid.')
  const newest = await newestOf(inspection.couch, layer, docs[0]?.time, inspection.signal)
  const open = docs.filter(({ finished, started }) => !finished && started && (inspection.clock() - Date.parse(started)) / 1000 > unfinished)
  const failed = docs.filter(({ finished, failed: number }) => finished && number > 0)
  const figures = { unfinished: open.length, failed: failed.length }
  const names = list => list.slice(0, 3).map(({ time }) => time).join(', ') + (list.length > 3 ? ', …' : '')
  if (newest && isAhead(newest, inspection.clock())) {
    return { state: 'warning', found: `the newest tiles are of ${newest}, in the future`, why: 'Loads for earlier times go into the past: the map does not change.', advice: `If that time is a mistake: tilecouch remove ${layer} --edition ${newest}, then load again with the right time.`, figures }
  }
  if (open.length) return { state: 'warning', found: `${plural(open.length, 'load')} not finished: ${names(open)}`, why: 'Only a part of the map is from that time.', advice: `Run the load again with its --time: it continues. Or: tilecouch remove ${layer} --edition TIME`, figures }
  if (failed.length) return { state: 'warning', found: `${plural(failed.length, 'load')} with tiles that could not be stored: ${names(failed)}`, why: 'These tiles show what was there before.', advice: 'Run the load again with its --time: it reports which tiles, and why.', figures }
  return { state: 'ok', found: docs.length ? `${count(docs.length)}${docs.length === most ? ' looked at' : ''}` : 'none', figures }
}

/** Of documents that are not valid. @returns {Found} */
const invalid = (faults, what, why, advice) => ({
  state: 'bad', found: `${plural(faults.length, `${what} document`)} not valid: ${faults.slice(0, 5).join('; ')}${faults.length > 5 ? '; …' : ''}`, why, advice, figures: { invalid: faults.length }
})

/** Tries the policy of a layer on some of its versions. @returns {Promise<Found>} */
async function retention (inspection, { layer, retention: policy }) {
  const plan = new PrunePlan(layer, policy, { now: () => inspection.now, limits: pruneDefaults })
  const waiting = timeoutSignal(inspection.limits.patience, inspection.signal)
  try {
    await plan.read(inspection.couch, waiting.signal)
  } catch (error) {
    if (waiting.isOver) return { state: 'unknown', found: 'too many moments to check in time', advice: `tilecouch prune ${layer} --dry-run` }
    throw error
  } finally {
    waiting.end()
  }
  const versions = await sample(inspection, layer)
  const doomed = [...versions.values()].reduce((sum, own) => sum + plan.versionsToPrune(own).length, 0)
  const total = [...versions.values()].reduce((sum, { length }) => sum + length, 0)
  const figures = { looked: total, doomed }
  const found = `${total ? Math.round(100 * doomed / total) : 0} % of ${plural(total, 'version')} looked at ${doomed === 1 ? 'is' : 'are'} not kept by it`
  if (doomed <= inspection.limits.doomed * total) return { state: 'ok', found, figures }
  return { state: 'warning', found, why: 'The layer has a policy, but nobody applies it: the store grows.', advice: `tilecouch prune ${layer}; regularly: deploy/tilecouch-prune.timer`, figures }
}

/** Some tiles of the first and last zooms with all their versions, oldest first: as many for a large layer as for a small one. */
async function sample (inspection, layer) {
  const limit = inspection.limits.sample / 2
  const [first, last] = [{ startkey: [layer], endkey: [layer, {}] }, { startkey: [layer, {}], endkey: [layer], descending: true }]
  const tiles = new Map()
  for (const rows of await inspection.couch.queries(BY_TILE, [first, last].map(range => ({ ...range, limit, reduce: false })), inspection.signal)) {
    const own = new Map()
    for (const { key: [, z, x, y, time], value: { gone, bytes } } of rows) {
      const id = tileId(layer, z, x, y)
      own.set(id, [...own.get(id) ?? [], { time, gone, size: bytes }])
    }
    if (rows.length === limit) own.delete([...own.keys()].at(-1)) // it may have more versions
    for (const [id, versions] of own) tiles.set(id, versions.sort((a, b) => a.time < b.time ? -1 : 1))
  }
  return tiles
}
