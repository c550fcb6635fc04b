// Settles tiles: reads them, writes what plan.js says, and reads them again, until their heads and past versions are
// what all statements about them together say. It may be killed anywhere: it continues where the tile is settled next.
// HeadWriter (head-writer.js) overwrites heads itself, where the head alone decides.
import { TilecouchError } from '../errors.js'
import { TILE_ATTACHMENT, compareIds, headId, parseTileId } from '../ids.js'
import { beganAt } from '../runs.js'
import { isExactTime } from '../times.js'
import { isRefusal } from '../couch/answers.js'
import { GONE } from './blocks.js'
import { imageAnew, readTileLeaves } from './documents.js'
import { planTile, versionIn } from './plan.js'

const ROUNDS = 40 // of reading and writing before a tile is given up as contended: a long past may need a dozen

/**
 * @typedef {import('./plan.js').Version} Version
 * @typedef {import('./plan.js').Incoming} Incoming
 * @typedef {import('./plan.js').Known} Known
 * @typedef {import('./plan.js').Statement} Statement
 * @typedef {import('./plan.js').Write} Write
 *
 * @typedef {object} TileAccess how settleTiles reads and writes
 * @property {import('../couch/client.js').CouchClient} couch
 * @property {(docs: any[], signal?: AbortSignal) => Promise<import('../couch/client.js').Written[]>} send new revisions
 * @property {(asked: {id: string, rev: string}[], signal?: AbortSignal) => Promise<any[]>} fetch revisions with bytes
 * @property {(docs: {doc: any, over: string}[], signal?: AbortSignal) => Promise<void>} [replace] writes past versions
 * instead of the revision `over`; without it that is left to `tilecouch check --fix`
 *
 * @typedef {object} Settled what became of a tile
 * @property {Statement[]} unknown statements whose bytes are nowhere
 * @property {TilecouchError} [error]
 * @property {any} [odd] a document of it that is no valid tile: then nothing of it is touched
 * @property {Version[]} before what was stored, oldest first; the head last
 * @property {(Write & {done: 'put' | 'ended'})[]} done
 */

/**
 * @param {TileAccess} access
 * @param {string[]} ids of heads
 * @param {object} options
 * @param {(ids: string[]) => Promise<(id: string) => Known>} options.knownOf called in every round
 * @param {(id: string) => Incoming[]} [options.incomingOf]
 * @param {(id: string, versions: Version[], known: Known) => TilecouchError | undefined} [options.refuse] called before
 *   anything is written
 * @param {boolean} [options.dryRun] reports what would be written
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Map<string, Settled>>}
 */
export async function settleTiles (access, ids, options) {
  const { knownOf, incomingOf = () => [], refuse = () => undefined, dryRun = false, signal } = options
  const result = new Map(ids.map(id => [id, /** @type {Settled} */ ({ unknown: [], before: [], done: [] })]))
  for (let [pending, round] = [ids, 0]; pending.length; round++) {
    const knownOfTile = await knownOf(pending)
    const tiles = await readTileLeaves(access.couch, pending, signal)
    /** @type {Write[]} */
    const writes = []
    const busy = new Set()
    for (const { id, heads, pasts } of tiles) {
      const settled = /** @type {Settled} */ (result.get(id))
      settled.odd = [...heads, ...pasts].find(doc => !isTile(doc))
      if (settled.odd) {
        settled.error = new TilecouchError('REFUSED', { id, reason: `${settled.odd._id} is no valid tile` })
        continue
      }
      const [living, old] = [heads.map(versionIn), pasts.map(versionIn)]
      if (!round) {
        settled.before = [...old, ...living]
        settled.error = refuse(id, settled.before, knownOfTile(id))
        if (settled.error) continue
      }
      const plan = planTile(id, living, old, knownOfTile(id), incomingOf(id))
      settled.unknown = plan.unknown
      if (!plan.writes.length) continue
      if (round === ROUNDS) settled.error = new TilecouchError('CONTENDED', { id, attempts: ROUNDS })
      else if (dryRun) settled.done = rehearse(id, living, old, knownOfTile(id))
      else {
        busy.add(id)
        writes.push(...plan.writes)
      }
    }
    if (!writes.length) return result
    for (const [id, error] of await write(access, writes, result, signal)) {
      busy.delete(id)
      Object.assign(result.get(id) ?? {}, { error })
    }
    pending = [...busy]
  }
  return result
}

/** Whether a document is a valid tile: other programs write here, too. */
function isTile (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  const isHead = time === undefined
  return doc.type === 'tile' && doc.layer === layer && doc.z === z && doc.x === x && doc.y === y &&
    doc.current === isHead && (isHead || doc.time === time) && isExactTime(doc.time) &&
    Boolean(doc._attachments?.[TILE_ATTACHMENT]) !== (doc.gone === true)
}

/** What would be written, step by step. */
function rehearse (id, heads, pasts, known) {
  /** @type {Settled['done']} */
  const done = []
  for (let round = 0; round < ROUNDS; round++) {
    const { writes } = planTile(id, heads, pasts, known)
    if (!writes.length) break
    for (const step of writes) {
      const { id: at, rev, want, end } = step
      done.push({ ...step, done: end ? 'ended' : 'put' })
      const isHead = at === id
      const others = (isHead ? heads : pasts).filter(version => version.id !== at || version.rev !== rev)
      const left = end ? others : [{ ...want, id: at, rev: `${ROUNDS + round}-rehearsed` }, ...others]
      if (isHead) heads = left
      else pasts = left
    }
  }
  return done
}

/** Overwrites heads, writes past versions, deletes. @returns {Promise<Map<string, TilecouchError>>} of failed tiles */
async function write (access, writes, result, signal) {
  const failed = new Map()
  const stored = writes.flatMap(({ from }) => from?.rev ? [{ id: from.id, rev: from.rev }] : [])
  const asked = [...new Map(stored.map(one => [`${one.id} ${one.rev}`, one])).values()]
  const fetched = asked.length ? await access.fetch(asked, signal) : []
  const docs = new Map(fetched.map(doc => [`${doc._id} ${doc._rev}`, doc]))
  /** @type {Map<string, {doc: any, step: Write}>} */
  const sent = new Map()
  /** @type {{doc: any, over: string}[]} */
  const over = []
  for (const step of writes) {
    const { id, rev, end, want, from } = step
    if (end) {
      // one leaf of a document at a time
      if (!sent.has(id)) sent.set(id, { doc: { _id: id, _rev: rev, _deleted: true }, step })
      continue
    }
    const source = from?.rev ? docs.get(`${from.id} ${from.rev}`) : from?.documentOf?.()
    if (from && !source) continue // somebody wrote it meanwhile: read again
    const doc = documentOf(id, want, source)
    if (id.includes('@') && rev) over.push({ doc, over: rev })
    else sent.set(id, { doc: { ...doc, ...(rev && { _rev: rev }) }, step })
  }
  const contended = id => failed.set(headId(id), new TilecouchError('CONTENDED', { id, attempts: 1 }))
  if (over.length && access.replace) await access.replace(over, signal)
  else for (const { doc } of over) contended(doc._id)
  if (!sent.size) return failed
  const sorted = [...sent.values()].map(({ doc }) => doc).sort((a, b) => compareIds(a._id, b._id))
  const answers = new Map((await access.send(sorted, signal)).map(answer => [answer.id, answer]))
  for (const [id, { step }] of sent) {
    const { rev, error, reason } = answers.get(id) ?? { error: 'no answer' }
    if (rev && !error) result.get(headId(id)).done.push({ ...step, done: step.end ? 'ended' : 'put' })
    else if (isRefusal(error)) failed.set(headId(id), new TilecouchError('REFUSED', { id, reason: reason || error }))
    // a conflict, or a shard in trouble: read again
  }
  return failed
}

/** A wanted version as a document. source: a document with the same bytes */
function documentOf (id, want, source) {
  const { time, content, run, seen, contested } = want
  const isHead = !id.includes('@')
  const { layer, z, x, y } = parseTileId(id)
  const {
    _id, _rev, _revisions, _conflicts, _attachments, seen: own, contested: was, origin, gone, ...fields
  } = source ?? {}
  const isOwn = source?.time === time || Boolean(contested)
  const isHere = isOwn || (isHead && origin?.checked === time)
  // that an upstream was asked later is in `origin.checked`
  const others = isOwn && origin?.checked ? seen.filter(([at]) => at !== origin.checked) : seen
  return {
    ...(isHere && fields),
    _id: id,
    type: 'tile',
    layer,
    z,
    x,
    y,
    current: isHead,
    time,
    stored: isHere && fields.stored ? fields.stored : beganAt(run),
    ...(run && { run }),
    ...(isHere && origin && { origin }),
    ...(others.length && { seen: others }),
    ...(contested && { contested }),
    ...(content === GONE ? { gone: true } : imageAnew(source))
  }
}
