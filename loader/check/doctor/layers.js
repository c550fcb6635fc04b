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
  const most = inspection.limits.layers
  const range = { startkey: 'layer:', endkey: 'layer;', limit: most + 1 }
  const rows = await inspection.couch.page({ ...range, include_docs: true })
  const faults = []
  const note = ({ _id: id }, why) => faults.push(`${id}: ${why}`)
  const docs = soundLayers(rows.slice(0, most).map(({ doc }) => doc), note)
  if (faults.length) {
    inspection.add('layers', 'documents of layers', invalid(faults, 'layer',
      'The gateway and all commands ignore them: these layers are not listed, and their settings have no effect.',
      'Correct their fields with `tilecouch layer NAME`, or the documents in the database.'))
  }
  const look = (check, task) => inspection.look({ area: 'layers', check, needs: 'a member', look: task })
  await look('expired', async () => ifIndexed(inspection, await expired(inspection, docs)))
  for (const doc of docs) { // one after the other: there may be many
    await look(`${doc.layer}: editions`, () => editions(inspection, doc))
    const tryPolicy = async () => ifIndexed(inspection, await retention(inspection, doc))
    if (doc.retention) await look(`${doc.layer}: retention`, tryPolicy)
  }
  return ok(`${plural(docs.length, 'layer')}${rows.length > most ? '; more were not checked' : ''}`)
}

/** As the gateway and `tilecouch prune --expired` count them. */
async function expired ({ couch, now, signal, limits }, docs) {
  const { expired: many } = limits
  const layers = new Map(docs.map(doc => [doc.layer, doc]))
  const seen = { tiles: 0, layers: new Set(), first: '' }
  for await (const page of findExpired(couch, { layers, all: true, at: now, page: many, signal })) {
    for (const { layer, expires } of page) {
      seen.layers.add(layer)
      if (!seen.first || expires < seen.first) seen.first = expires
    }
    seen.tiles += page.length
    if (seen.tiles >= many) break
  }
  const figures = { expired: seen.tiles }
  if (seen.tiles < many) return ok(plural(seen.tiles, 'tile').replace(/^0 /, 'no '), figures)
  const layerNames = [...seen.layers].slice(0, 5).join(', ')
  return warning(`${count(seen.tiles)} tiles or more, of ${layerNames}, the first since ${seen.first}`,
    'They are shown until somebody requests them and the upstream sends newer ones; without an upstream, for ever.',
    'tilecouch seed --expired --all, or tilecouch prune --expired --all; regularly: deploy/tilecouch-seed.timer',
    { figures })
}

async function editions ({ couch, signal, clock, limits }, { layer }) {
  const { editions: limit, unfinished } = limits
  const range = { startkey: `edition:${layer}@~`, endkey: `edition:${layer}@`, descending: true }
  const rows = await couch.page({ ...range, limit, include_docs: true })
  const faults = []
  const docs = soundOf(rows.map(({ doc }) => doc), 'edition', ({ _id: id }, why) => faults.push(`${id}: ${why}`))
  if (faults.length) {
    return invalid(faults, 'edition', 'They are missing in every list.',
      'Run the load again with its --time: it writes the edition again. Delete one whose id is invalid.')
  }
  const newest = await newestOf(couch, layer, docs[0]?.time, signal)
  const isOverdue = started => started && (clock() - Date.parse(started)) / 1000 > unfinished
  const open = docs.filter(({ finished, started }) => !finished && isOverdue(started))
  const failed = docs.filter(doc => doc.finished && doc.failed > 0)
  const figures = { unfinished: open.length, failed: failed.length }
  const names = list => list.slice(0, 3).map(({ time }) => time).join(', ') + (list.length > 3 ? ', …' : '')
  if (newest && isAhead(newest, clock())) {
    return warning(`the newest tiles are of ${newest}, in the future`,
      'Loads for earlier times go into the past: the map does not change.',
      `If that time is a mistake: tilecouch remove ${layer} --edition ${newest}, then load again with the right time.`,
      { figures })
  }
  if (open.length) {
    return warning(`${plural(open.length, 'load')} not finished: ${names(open)}`,
      'Only a part of the map is from that time.',
      `Run the load again with its --time: it continues. Or: tilecouch remove ${layer} --edition TIME`, { figures })
  }
  if (failed.length) {
    return warning(`${plural(failed.length, 'load')} with tiles that could not be stored: ${names(failed)}`,
      'These tiles show what was there before.',
      'Run the load again with its --time: it reports which tiles, and why.', { figures })
  }
  return ok(docs.length ? `${count(docs.length)}${docs.length === limit ? ' looked at' : ''}` : 'none', figures)
}

/** Of documents that are not valid. */
function invalid (faults, what, why, advice) {
  const firstFaults = `${faults.slice(0, 5).join('; ')}${faults.length > 5 ? '; …' : ''}`
  const finding = `${plural(faults.length, `${what} document`)} not valid: ${firstFaults}`
  return bad(finding, why, advice, { figures: { invalid: faults.length } })
}

/** Tries the policy of a layer on some of its versions. */
async function retention (inspection, { layer, retention: policy }) {
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
  const versions = [...(await sample(inspection, layer)).values()]
  const notKept = versions.reduce((sum, own) => sum + plan.versionsToPrune(own).length, 0)
  const looked = versions.flat().length
  const figures = { looked, doomed: notKept } // names that dashboards know
  const share = looked ? Math.round(100 * notKept / looked) : 0
  const finding = `${share} % of ${plural(looked, 'version')} looked at ${notKept === 1 ? 'is' : 'are'} not kept by it`
  if (notKept <= inspection.limits.notKept * looked) return ok(finding, figures)
  return warning(finding, 'The layer has a policy, but nobody applies it: the store grows.',
    `tilecouch prune ${layer}; regularly: deploy/tilecouch-prune.timer`, { figures })
}

/** Some tiles of the first and last zooms with all their versions, oldest first. A large layer takes no longer. */
async function sample (inspection, layer) {
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
