// The layers: what has expired and stays, editions that were never finished, versions that no policy keeps.
import { findExpired } from '../expired/find.js'
import { pruneDefaults, PrunePlan } from '../prune/plan.js'
import { newestOf } from '../load/future.js'
import { BY_TILE } from '../store/reader.js'
import { timeoutSignal } from '../../core/abort.js'
import { isAhead, soundOf, tileId } from '../../core/index.js'
import { count, plural } from '../cli/output.js'
import { asFarAs } from './views.js'

/** @typedef {import('./visit.js').Found} Found */

/** @param {import('./visit.js').Visit} visit */
export async function lookAtLayers (visit) {
  await visit.look('layers', 'layers', 'a member', async () => {
    const most = visit.limits.layers
    const rows = await visit.couch.page({ startkey: 'layer:', endkey: 'layer;', include_docs: true, limit: most + 1 })
    const faults = []
    const docs = soundOf(rows.slice(0, most).map(({ doc }) => doc), 'layer', ({ _id: id }, why) => faults.push(`${id}: ${why}`))
    if (faults.length) visit.add('layers', 'documents of layers', invalid(faults, 'layer', 'The gateway and all commands leave them out: those layers are not listed, and what they say of their tiles counts nowhere.', 'Put their fields right with `tilecouch layer NAME`, or the documents in the database.'))
    await visit.look('layers', 'expired', 'a member', async () => asFarAs(visit, '_design/lifecycle', await expired(visit, docs)))
    for (const doc of docs) { // one after the other: there may be many
      await visit.look('layers', `${doc.layer}: editions`, 'a member', () => editions(visit, doc))
      if (doc.retention) await visit.look('layers', `${doc.layer}: retention`, 'a member', async () => asFarAs(visit, '_design/versions', await retention(visit, doc)))
    }
    return { state: 'ok', found: `${plural(docs.length, 'layer')}${rows.length > most ? ', and more that were not looked at' : ''}` }
  })
}

/** As the gateway says it, and `tilecouch prune --expired`. @returns {Promise<Found>} */
async function expired (visit, docs) {
  const { expired: many } = visit.limits
  const found = { tiles: 0, layers: new Set(), first: '' }
  const pages = findExpired(visit.couch, { layers: new Map(docs.map(doc => [doc.layer, doc])), all: true, at: visit.now, page: many, signal: visit.signal })
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
    why: 'They are shown until somebody asks for them and the upstream says otherwise; without an upstream for ever.',
    advice: 'tilecouch seed --expired --all, or tilecouch prune --expired --all; by a timer: deploy/tilecouch-seed.timer'
  }
}

/** @returns {Promise<Found>} */
async function editions (visit, { layer }) {
  const { editions: most, unfinished } = visit.limits
  const rows = await visit.couch.page({ startkey: `edition:${layer}@~`, endkey: `edition:${layer}@`, descending: true, limit: most, include_docs: true })
  const faults = []
  const docs = soundOf(rows.map(({ doc }) => doc), 'edition', ({ _id: id }, why) => faults.push(`${id}: ${why}`))
  if (faults.length) return invalid(faults, 'edition', 'They are left out of every list.', 'Run that load again with --time and that time: it writes the edition anew. Delete one whose id is not valid.')
  const newest = await newestOf(visit.couch, layer, docs[0]?.time, visit.signal)
  const open = docs.filter(({ finished, started }) => !finished && started && (visit.clock() - Date.parse(started)) / 1000 > unfinished)
  const failed = docs.filter(({ finished, failed: number }) => finished && number > 0)
  const figures = { unfinished: open.length, failed: failed.length }
  const names = list => list.slice(0, 3).map(({ time }) => time).join(', ') + (list.length > 3 ? ', …' : '')
  if (newest && isAhead(newest, visit.clock())) {
    return { state: 'warning', found: `the newest tiles are of ${newest}, in the future`, why: 'What is loaded for an earlier time goes into the past: the map does not change.', advice: `If that time is a mistake: tilecouch remove ${layer} --edition ${newest}, then load it again for the right one.`, figures }
  }
  if (open.length) return { state: 'warning', found: `${plural(open.length, 'load')} begun and not finished: ${names(open)}`, why: 'A part of the map is of that time, the rest is older.', advice: `Run that load again with --time and that time: it resumes. Or: tilecouch remove ${layer} --edition TIME`, figures }
  if (failed.length) return { state: 'warning', found: `${plural(failed.length, 'load')} with tiles that could not be stored: ${names(failed)}`, why: 'They show what was there before.', advice: 'Run that load again with --time and that time: it says which tiles, and why.', figures }
  return { state: 'ok', found: docs.length ? `${count(docs.length)}${docs.length === most ? ' looked at' : ''}` : 'none', figures }
}

/** Documents that are not valid. @returns {Found} */
const invalid = (faults, what, why, advice) => ({
  state: 'bad', found: `${plural(faults.length, `${what} document`)} not valid: ${faults.slice(0, 5).join('; ')}${faults.length > 5 ? '; …' : ''}`, why, advice, figures: { invalid: faults.length }
})

/** The policy of a layer, tried on some of its versions. @returns {Promise<Found>} */
async function retention (visit, { layer, retention: policy }) {
  const reckoning = new PrunePlan(layer, policy, { now: () => visit.now, limits: pruneDefaults })
  const waiting = timeoutSignal(visit.limits.patience, visit.signal)
  try {
    await reckoning.read(visit.couch, waiting.signal)
  } catch (error) {
    if (waiting.isOver) return { state: 'unknown', found: 'too many moments to look at in time', advice: `tilecouch prune ${layer} --dry-run` }
    throw error
  } finally {
    waiting.end()
  }
  const versions = await sample(visit, layer)
  const doomed = [...versions.values()].reduce((sum, own) => sum + reckoning.doomed(own).length, 0)
  const total = [...versions.values()].reduce((sum, { length }) => sum + length, 0)
  const figures = { looked: total, doomed }
  const found = `${total ? Math.round(100 * doomed / total) : 0} % of ${plural(total, 'version')} looked at ${doomed === 1 ? 'is' : 'are'} not kept by it`
  if (doomed <= visit.limits.doomed * total) return { state: 'ok', found, figures }
  return { state: 'warning', found, why: 'The policy stands on the layer, and nobody applies it: the store grows.', advice: `tilecouch prune ${layer}; by a timer: deploy/tilecouch-prune.timer`, figures }
}

/** Tiles with all their versions, oldest first, of the first and of the last zooms: a look must not take longer for a larger layer. */
async function sample (visit, layer) {
  const limit = visit.limits.sample / 2
  const [first, last] = [{ startkey: [layer], endkey: [layer, {}] }, { startkey: [layer, {}], endkey: [layer], descending: true }]
  const tiles = new Map()
  for (const rows of await visit.couch.queries(BY_TILE, [first, last].map(range => ({ ...range, limit, reduce: false })), visit.signal)) {
    const own = new Map()
    for (const { key: [, z, x, y, time], value: { gone, bytes } } of rows) {
      const id = tileId(layer, z, x, y)
      own.set(id, [...own.get(id) ?? [], { time, gone, size: bytes }])
    }
    if (rows.length === limit) own.delete([...own.keys()].at(-1)) // the rest of it was not read
    for (const [id, versions] of own) tiles.set(id, versions.sort((a, b) => a.time < b.time ? -1 : 1))
  }
  return tiles
}
