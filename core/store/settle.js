// Settles tiles: reads them, executes the plan of plan.js, and reads them again, until their heads and past versions
// match all statements about them. It may be killed at any point: the next settling of the tile continues. HeadWriter
// (head-writer.js) uses it for tiles whose head alone does not decide.
import { TilecouchError } from '../errors.js'
import { TILE_ATTACHMENT, compareIds, headId, parseTileId } from '../ids.js'
import { beganAt } from '../runs.js'
import { isExactTime } from '../times.js'
import { isRefusal } from '../couch/answers.js'
import { GONE } from './blocks.js'
import { imageAnew, readTileLeaves } from './documents.js'
import { planTile, versionIn } from './plan.js'

const ROUNDS = 40 // of reading and writing before the error CONTENDED; a long past may need a dozen

/**
 * @typedef {import('./plan.js').Version} Version
 * @typedef {import('./plan.js').Incoming} Incoming
 * @typedef {import('./plan.js').TileFacts} TileFacts
 * @typedef {import('./plan.js').Statement} Statement
 * @typedef {import('./plan.js').Write} Write
 *
 * @typedef {object} TileAccess how settleTiles reads and writes
 * @property {import('../couch/client.js').CouchClient} couch
 * @property {(docs: any[], signal?: AbortSignal) => Promise<import('../couch/client.js').Written[]>} send new revisions
 * @property {(of: {id: string, rev: string}[], signal?: AbortSignal) => Promise<any[]>} fetch revisions with bytes
 * @property {(docs: {doc: any, over: string}[], signal?: AbortSignal) => Promise<void>} [replace] replaces the past
 * version of the revision `over`; without it `tilecouch check --fix` has to do that
 *
 * @typedef {object} Settled the result for a tile
 * @property {Statement[]} unknown statements whose bytes no version has
 * @property {TilecouchError} [error]
 * @property {any} [odd] a document of the tile that is not valid: then the tile is not changed
 * @property {Version[]} before the stored versions, oldest first; the head last
 * @property {(Write & {done: 'put' | 'ended'})[]} done
 */

/**
 * @param {TileAccess} access
 * @param {string[]} ids of heads
 * @param {object} options
 * @param {(ids: string[]) => Promise<(id: string) => TileFacts>} options.readFacts called in every round
 * @param {(id: string) => Incoming[]} [options.incomingOf]
 * @param {(id: string, versions: Version[], facts: TileFacts) => TilecouchError | undefined} [options.refuse] called
 *   before the first write
 * @param {boolean} [options.dryRun] returns the planned writes without writing
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Map<string, Settled>>}
 */
export async function settleTiles (access, ids, options) {
  const { readFacts, incomingOf = () => [], refuse = () => undefined, dryRun = false, signal } = options
  const result = new Map(ids.map(id => [id, /** @type {Settled} */ ({ unknown: [], before: [], done: [] })]))
  for (let [pending, round] = [ids, 0]; pending.length; round++) {
    const factsOf = await readFacts(pending)
    const tiles = await readTileLeaves(access.couch, pending, signal)
    /** @type {Write[]} */
    const writes = []
    const writtenIds = new Set()
    for (const { id, heads, pasts } of tiles) {
      const settled = /** @type {Settled} */ (result.get(id))
      settled.odd = [...heads, ...pasts].find(doc => !isTile(doc))
      if (settled.odd) {
        settled.error = new TilecouchError('REFUSED', { id, reason: `${settled.odd._id} is no valid tile` })
        continue
      }
      const [headVersions, pastVersions] = [heads.map(versionIn), pasts.map(versionIn)]
      if (!round) {
        settled.before = [...pastVersions, ...headVersions]
        settled.error = refuse(id, settled.before, factsOf(id))
        if (settled.error) continue
      }
      const plan = planTile(id, headVersions, pastVersions, factsOf(id), incomingOf(id))
      settled.unknown = plan.unknown
      if (!plan.writes.length) continue
      if (round === ROUNDS) settled.error = contended(id, ROUNDS)
      else if (dryRun) settled.done = rehearse(id, headVersions, pastVersions, factsOf(id))
      else {
        writtenIds.add(id)
        writes.push(...plan.writes)
      }
    }
    if (!writes.length) return result
    for (const [id, error] of await executeWrites(access, writes, result, signal)) {
      writtenIds.delete(id)
      Object.assign(result.get(id) ?? {}, { error })
    }
    pending = [...writtenIds]
  }
  return result
}

const contended = (id, attempts) => new TilecouchError('CONTENDED', { id, attempts })

/** Whether a document is a valid tile: other programs write here, too. */
function isTile (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  const isHead = time === undefined
  return doc.type === 'tile' && doc.layer === layer && doc.z === z && doc.x === x && doc.y === y &&
    doc.current === isHead && (isHead || doc.time === time) && isExactTime(doc.time) &&
    Boolean(doc._attachments?.[TILE_ATTACHMENT]) !== (doc.gone === true)
}

/** Plans all rounds of a tile without writing. */
function rehearse (id, heads, pasts, facts) {
  /** @type {Settled['done']} */
  const plannedWrites = []
  for (let round = 0; round < ROUNDS; round++) {
    const { writes } = planTile(id, heads, pasts, facts)
    if (!writes.length) break
    for (const step of writes) {
      const { id: writtenId, rev, version: planned, end } = step
      plannedWrites.push({ ...step, done: end ? 'ended' : 'put' })
      const isHead = writtenId === id
      const unchanged = (isHead ? heads : pasts).filter(version => version.id !== writtenId || version.rev !== rev)
      const written = { ...planned, id: writtenId, rev: `${ROUNDS + round}-rehearsed` }
      const remaining = end ? unchanged : [written, ...unchanged]
      if (isHead) heads = remaining
      else pasts = remaining
    }
  }
  return plannedWrites
}

/** Overwrites heads, writes past versions, deletes. @returns {Promise<Map<string, TilecouchError>>} of failed tiles */
async function executeWrites (access, writes, result, signal) {
  const failed = new Map()
  const { sent, replacements } = composeDocs(writes, await fetchSources(access, writes, signal))
  if (replacements.length && access.replace) await access.replace(replacements, signal)
  for (const { doc, step } of replacements) {
    if (access.replace) result.get(headId(doc._id)).done.push({ ...step, done: 'put' })
    else failed.set(headId(doc._id), contended(doc._id, 1))
  }
  if (!sent.size) return failed
  const sorted = [...sent.values()].map(({ doc }) => doc).sort((a, b) => compareIds(a._id, b._id))
  const answers = new Map((await access.send(sorted, signal)).map(answer => [answer.id, answer]))
  for (const [id, { step }] of sent) {
    const { rev, error, reason } = answers.get(id) ?? { error: 'no answer' }
    if (rev && !error) result.get(headId(id)).done.push({ ...step, done: step.end ? 'ended' : 'put' })
    else if (isRefusal(error)) failed.set(headId(id), new TilecouchError('REFUSED', { id, reason: reason || error }))
    // after a conflict, or if a shard failed: read again
  }
  return failed
}

/** Reads the stored documents whose bytes are written. @returns {Promise<Map<string, any>>} by id and revision */
async function fetchSources (access, writes, signal) {
  const revisions = new Map()
  for (const { from } of writes) if (from?.rev) revisions.set(`${from.id} ${from.rev}`, { id: from.id, rev: from.rev })
  const docs = revisions.size ? await access.fetch([...revisions.values()], signal) : []
  return new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
}

/** Makes the documents to send, by id, and the past versions that replace others. @param {Write[]} writes */
function composeDocs (writes, sources) {
  const sent = /** @type {Map<string, {doc: any, step: Write}>} */ (new Map())
  const replacements = /** @type {{doc: any, over: string, step: Write}[]} */ ([])
  for (const step of writes) {
    const { id, rev, end, version, from } = step
    if (end) {
      // one leaf of a document per round
      if (!sent.has(id)) sent.set(id, { doc: { _id: id, _rev: rev, _deleted: true }, step })
      continue
    }
    const source = from?.rev ? sources.get(`${from.id} ${from.rev}`) : from?.documentOf?.()
    if (from && !source) continue // another writer changed it: read again
    const doc = documentOf(id, version, source)
    if (id.includes('@') && rev) replacements.push({ doc, over: rev, step })
    else sent.set(id, { doc: { ...doc, ...(rev && { _rev: rev }) }, step })
  }
  return { sent, replacements }
}

/** A planned version as a document. @param {any} [source] a document with the same bytes */
function documentOf (id, version, source = {}) {
  const { time, content, run, seen, contested } = version
  const isHead = !id.includes('@')
  const { layer, z, x, y } = parseTileId(id)
  const {
    _id, _rev, _revisions, _conflicts, _attachments, seen: oldSeen, contested: oldContested, origin, gone, ...fields
  } = source
  const isSourceOfTime = source.time === time || Boolean(contested)
  const hasFields = isSourceOfTime || (isHead && origin?.checked === time)
  // a later check of the upstream is in `origin.checked`
  const confirmations = isSourceOfTime ? seen.filter(([seenAt]) => seenAt !== origin?.checked) : seen
  return {
    ...(hasFields && fields),
    _id: id,
    type: 'tile',
    layer,
    z,
    x,
    y,
    current: isHead,
    time,
    stored: (hasFields && fields.stored) || beganAt(run),
    ...(run && { run }),
    ...(hasFields && origin && { origin }),
    ...(confirmations.length && { seen: confirmations }),
    ...(contested && { contested }),
    ...(content === GONE ? { gone: true } : imageAnew(source))
  }
}
