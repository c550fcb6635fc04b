// The layers: what has expired and stays, editions that were never finished, versions that a policy does not keep.
import { count, plural } from '../cli/output.js'

/** @param {import('./visit.js').Visit} visit */
export async function lookAtLayers (visit) {
  await visit.look('layers', 'layers', 'a member', async () => {
    const most = visit.limits.layers
    const { rows } = await visit.ask({ path: '_all_docs', qs: { startkey: 'layer:', endkey: 'layer;', include_docs: true, limit: most + 1 } })
    const docs = rows.map(({ doc }) => doc).filter(Boolean).slice(0, most)
    await Promise.all([
      visit.look('layers', 'expired', 'a member', () => expired(visit)),
      ...docs.map(doc => visit.look('layers', `editions of ${doc.layer}`, 'a member', () => editions(visit, doc)))
    ])
    return { state: 'ok', found: `${plural(Math.min(rows.length, most), 'layer')}${rows.length > most ? ', and more that were not looked at' : ''}` }
  })
}

/** Those with an expiry of their own. @returns {Promise<import('./visit.js').Found>} */
async function expired (visit) {
  const { rows: most, expired: many } = visit.limits
  const { rows } = await visit.rows('_design/lifecycle/_view/expiring', { endkey: [visit.now, {}], limit: most, reduce: false })
  const figures = { expired: rows.length }
  if (rows.length < many) return { state: 'ok', found: rows.length ? plural(rows.length, 'tile') : 'none', figures }
  const layers = [...new Set(rows.map(({ key }) => key[1]))]
  return { state: 'warning', found: `${count(rows.length)} tiles${rows.length === most ? ' and more' : ''} of ${layers.slice(0, 5).join(', ')}`, why: 'They are shown until somebody asks for them and the upstream says otherwise.', advice: 'tilecouch expire --all --refresh, or --remove; see docs/expiry.md', figures }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function editions (visit, { layer }) {
  const { editions: most, unfinished } = visit.limits
  const { rows } = await visit.ask({ path: '_all_docs', qs: { startkey: `edition:${layer}@~`, endkey: `edition:${layer}@`, descending: true, limit: most, include_docs: true } })
  const docs = rows.map(({ doc }) => doc).filter(Boolean)
  const open = docs.filter(({ finished, started }) => !finished && (visit.clock() - Date.parse(started ?? 0)) / 1000 > unfinished)
  const failed = docs.filter(({ finished, failed: number }) => finished && number > 0)
  const figures = { unfinished: open.length, failed: failed.length }
  const names = list => list.slice(0, 3).map(({ time }) => time).join(', ') + (list.length > 3 ? ', …' : '')
  if (open.length) return { state: 'warning', found: `${plural(open.length, 'edition')} begun and not finished: ${names(open)}`, why: 'A part of the map is of that time, the rest is older.', advice: `Run that load again, or: tilecouch remove ${layer} --edition TIME`, figures }
  if (failed.length) return { state: 'warning', found: `${plural(failed.length, 'edition')} with tiles that could not be stored: ${names(failed)}`, why: 'They show what was there before.', advice: 'Run that load again: it says which tiles, and why.', figures }
  return { state: 'ok', found: docs.length ? plural(docs.length, 'edition') : 'no editions', figures }
}
