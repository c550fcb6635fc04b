// The layers: invalid documents, expired tiles, unfinished loads, and versions that the retention policy does not keep.
import { findExpired } from '../../maintain/expired/find.js'
import { pruneDefaults, PrunePlan } from '../../maintain/prune/plan.js'
import { newestOf } from '../../load/baseline.js'
import { BY_TILE } from '../../store/reader.js'
import { timeoutSignal } from '../../../core/promises.js'
import { isAhead, soundLayers, soundOf, tileId } from '../../../core/index.js'
import { count, plural } from '../../text.js'
import { ifIndexed } from './indexes.js'
import { bad, ok, unknown, warning } from './inspection.js'

export const layerConditions = [{ area: 'layers', check: 'layers', needs: 'a member', look: lookAtLayers }]

async function lookAtLayers (inspection) {
  const limit = inspection.limits.layers
  const range = { startkey: 'layer:', endkey: 'layer;', limit: limit + 1 }
  const rows = await inspection.couch.page({ ...range, include_docs: true })
  const faults = []
  const note = ({ _id: id }, why) => faults.push(`${id}: ${why}`)
  const docs = soundLayers(rows.slice(0, limit).map(({ doc }) => doc), note)
  if (faults.length) {
    inspection.add('layers', 'documents of layers', invalidFinding(faults, 'layer',
      'The gateway and all commands ignore them: these layers are not listed, and their settings have no effect.',
      'Correct their fields with `tilecouch layer NAME`, or the documents in the database.'))
  }
  const look = (check, task) => inspection.look({ area: 'layers', check, needs: 'a member', look: task })
  await look('expired', async () => ifIndexed(inspection, await checkExpired(inspection, docs)))
  for (const doc of docs) { // one after the other: there may be many
    await look(`${doc.layer}: editions`, () => checkEditions(inspection, doc))
    const tryPolicy = async () => ifIndexed(inspection, await checkRetention(inspection, doc))
    if (doc.retention) await look(`${doc.layer}: retention`, tryPolicy)
  }
  return ok(`${plural(docs.length, 'layer')}${rows.length > limit ? '; more were not checked' : ''}`)
}

/** Counts expired tiles as the gateway and `tilecouch prune --expired` do. */
async function checkExpired ({ couch, now, signal, limits }, docs) {
  const { expired: threshold } = limits
  const layers = new Map(docs.map(doc => [doc.layer, doc]))
  const totals = { tiles: 0, layers: new Set(), first: '' }
  for await (const page of findExpired(couch, { layers, all: true, at: now, page: threshold, signal })) {
    for (const { layer, expires } of page) {
      totals.layers.add(layer)
      if (!totals.first || expires < totals.first) totals.first = expires
    }
    totals.tiles += page.length
    if (totals.tiles >= threshold) break
  }
  const figures = { expired: totals.tiles }
  if (totals.tiles < threshold) return ok(plural(totals.tiles, 'tile').replace(/^0 /, 'no '), figures)
  const layerNames = [...totals.layers].slice(0, 5).join(', ')
  return warning(`${count(totals.tiles)} tiles or more, of ${layerNames}, the first since ${totals.first}`,
    'They are shown until somebody requests them and the upstream sends newer ones; without an upstream, for ever.',
    'tilecouch seed --expired --all, or tilecouch prune --expired --all; regularly: deploy/tilecouch-seed.timer',
    { figures })
}

async function checkEditions ({ couch, signal, clock, limits }, { layer }) {
  const { editions: limit, unfinished } = limits
  const range = { startkey: `edition:${layer}@~`, endkey: `edition:${layer}@`, descending: true }
  const rows = await couch.page({ ...range, limit, include_docs: true })
  const faults = []
  const docs = soundOf(rows.map(({ doc }) => doc), 'edition', ({ _id: id }, why) => faults.push(`${id}: ${why}`))
  if (faults.length) {
    return invalidFinding(faults, 'edition', 'They are missing in every list.',
      'Run the load again with its --time: it writes the edition again. Delete one whose id is invalid.')
  }
  const newest = await newestOf(couch, layer, docs[0]?.time, signal)
  const isOverdue = started => started && (clock() - Date.parse(started)) / 1000 > unfinished
  const unfinishedLoads = docs.filter(({ finished, started }) => !finished && isOverdue(started))
  const failedLoads = docs.filter(doc => doc.finished && doc.failed > 0)
  const figures = { unfinished: unfinishedLoads.length, failed: failedLoads.length }
  const timesOf = loads => loads.slice(0, 3).map(({ time }) => time).join(', ') + (loads.length > 3 ? ', …' : '')
  if (newest && isAhead(newest, clock())) {
    return warning(`the newest tiles are of ${newest}, in the future`,
      'Loads for earlier times go into the past: the map does not change.',
      `If that time is a mistake: tilecouch remove ${layer} --edition ${newest}, then load again with the right time.`,
      { figures })
  }
  if (unfinishedLoads.length) {
    return warning(`${plural(unfinishedLoads.length, 'load')} not finished: ${timesOf(unfinishedLoads)}`,
      'Only a part of the map is from that time.',
      `Run the load again with its --time: it continues. Or: tilecouch remove ${layer} --edition TIME`, { figures })
  }
  if (failedLoads.length) {
    return warning(`${plural(failedLoads.length, 'load')} with tiles that could not be stored: ${timesOf(failedLoads)}`,
      'These tiles show what was there before.',
      'Run the load again with its --time: it reports which tiles, and why.', { figures })
  }
  return ok(docs.length ? `${count(docs.length)}${docs.length === limit ? ' looked at' : ''}` : 'none', figures)
}

/** Makes the finding about invalid documents. */
function invalidFinding (faults, kind, why, advice) {
  const firstFaults = `${faults.slice(0, 5).join('; ')}${faults.length > 5 ? '; …' : ''}`
  const finding = `${plural(faults.length, `${kind} document`)} not valid: ${firstFaults}`
  return bad(finding, why, advice, { figures: { invalid: faults.length } })
}

/** Tries the policy of a layer on some of its versions. */
async function checkRetention (inspection, { layer, retention: policy }) {
  const plan = new PrunePlan(layer, policy, { now: () => inspection.now, limits: pruneDefaults })
  const waiting = timeoutSignal(inspection.limits.timeout, inspection.signal)
  try {
    await plan.read(inspection.couch, waiting.signal)
  } catch (error) {
    if (waiting.isOver) return unknown('too many moments to check in time', `tilecouch prune ${layer} --dry-run`)
    throw error
  } finally {
    waiting.end()
  }
  const versions = [...(await readSample(inspection, layer)).values()]
  const notKept = versions.reduce((sum, tileVersions) => sum + plan.versionsToPrune(tileVersions).length, 0)
  const looked = versions.flat().length
  const figures = { looked, doomed: notKept } // dashboards know these names
  const share = looked ? Math.round(100 * notKept / looked) : 0
  const finding = `${share} % of ${plural(looked, 'version')} looked at ${notKept === 1 ? 'is' : 'are'} not kept by it`
  if (notKept <= inspection.limits.notKept * looked) return ok(finding, figures)
  return warning(finding, 'The layer has a policy, but nobody applies it: the store grows.',
    `tilecouch prune ${layer}; regularly: deploy/tilecouch-prune.timer`, { figures })
}

/** Reads tiles of the first and last zooms with all their versions, oldest first. A large layer takes no longer. */
async function readSample (inspection, layer) {
  const limit = inspection.limits.sample / 2
  const ranges = [
    { startkey: [layer], endkey: [layer, {}], limit, reduce: false },
    { startkey: [layer, {}], endkey: [layer], descending: true, limit, reduce: false }
  ]
  const tiles = new Map()
  for (const rows of await inspection.couch.queries(BY_TILE, ranges, inspection.signal)) {
    const versionsById = new Map()
    for (const { key: [, z, x, y, time], value: { gone, bytes } } of rows) {
      const id = tileId(layer, z, x, y)
      versionsById.set(id, [...versionsById.get(id) ?? [], { time, gone, size: bytes }])
    }
    if (rows.length === limit) versionsById.delete([...versionsById.keys()].at(-1)) // it may have more versions
    for (const [id, versions] of versionsById) tiles.set(id, versions.sort((a, b) => a.time < b.time ? -1 : 1))
  }
  return tiles
}
